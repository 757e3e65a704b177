/* MGET, MSET, MSETNX: many keys, their cache misses overlapped a batch at a time. */
#include "commands/families.h"

static uint32_t batch_of(uint32_t left)
{
	return left < FAM_BATCH ? left : FAM_BATCH;
}

void cmd_mget(struct call *c)
{
	struct ks_key keys[FAM_BATCH];
	uint32_t n;

	reply_array(c->r, c->argc - 1);
	for (uint32_t at = 1; at < c->argc; at += n) {
		n = batch_of(c->argc - at);
		fam_keys(c, at, 1, n, false, keys);
		for (uint32_t i = 0; i < n; i++) {
			struct ks_ref r;

			if (fam_find(c, keys[i], &r) && ks_ref_type(&r) == KS_STRING)
				fam_reply_value(c, &r);
			else
				reply_null(c->r);
		}
	}
}

/* Checks the pairs' form and finds room for all of them. False: error sent. */
static bool pairs_ready(struct call *c)
{
	size_t room = 0;

	if (c->argc % 2 == 0) {
		reply_arity(c->r, bytes_of(c->cmd->name));
		return false;
	}
	for (uint32_t i = 1; i < c->argc; i++)
		room += c->argv[i].n;
	return fam_room_many(c, 1, 2, room);
}

static void put_pairs(struct call *c)
{
	struct ks_key keys[FAM_BATCH];
	uint32_t n;

	for (uint32_t at = 1; at < c->argc; at += 2 * n) {
		n = batch_of((c->argc - at) / 2);
		fam_keys(c, at, 2, n, true, keys);
		for (uint32_t i = 0; i < n; i++) {
			struct ks_ref r;
			bool found = fam_find_write(c, keys[i], &r);

			tstr_put(c->ks, c->db, keys[i], found ? &r : NULL, c->argv[at + 2 * i + 1], TSTR_TTL_NONE);
			ks_event(c->ks, KS_EV_STRING, "set", c->db, keys[i].name);
		}
	}
}

void cmd_mset(struct call *c)
{
	if (!pairs_ready(c))
		return;
	put_pairs(c);
	reply_ok(c->r);
}

static bool any_exists(const struct call *c)
{
	struct ks_key keys[FAM_BATCH];
	uint32_t n;

	for (uint32_t at = 1; at < c->argc; at += 2 * n) {
		n = batch_of((c->argc - at) / 2);
		fam_keys(c, at, 2, n, false, keys);
		for (uint32_t i = 0; i < n; i++) {
			struct ks_ref r;

			if (fam_find_write(c, keys[i], &r))
				return true;
		}
	}
	return false;
}

void cmd_msetnx(struct call *c)
{
	if (c->argc % 2 != 0 && any_exists(c)) {
		reply_i64(c->r, 0);
		return;
	}
	if (!pairs_ready(c))
		return;
	put_pairs(c);
	reply_i64(c->r, 1);
}
