/* Keys as such: DEL, EXISTS, TOUCH, TYPE. */
#include "commands/families.h"

/* What is done with each of many keys; true counts. */
typedef bool (*each_fn)(struct call *c, struct ks_key key);

/* Answers the number of keys (all arguments) for which fn says true. */
static void for_each_key(struct call *c, bool writes, each_fn fn)
{
	struct ks_key keys[FAM_BATCH];
	int64_t count = 0;
	uint32_t n;

	for (uint32_t at = 1; at < c->argc; at += n) {
		n = c->argc - at < FAM_BATCH ? c->argc - at : FAM_BATCH;
		fam_keys(c, at, 1, n, writes, keys);
		for (uint32_t i = 0; i < n; i++)
			count += fn(c, keys[i]);
	}
	reply_i64(c->r, count);
}

static bool delete_one(struct call *c, struct ks_key key)
{
	struct ks_ref r;

	if (!fam_find_write(c, key, &r))
		return false;
	ks_delete(&r);
	ks_event(c->ks, KS_EV_GENERIC, "del", c->db, key.name);
	return true;
}

/* DEL and UNLINK: a big value is reclaimed a slice a tick either way. */
void cmd_del(struct call *c)
{
	if (fam_reserve_free(c))
		for_each_key(c, true, delete_one);
}

static bool exists_one(struct call *c, struct ks_key key)
{
	struct ks_ref r;

	return fam_look(c, key, &r);
}

void cmd_exists(struct call *c)
{
	for_each_key(c, false, exists_one);
}

/* TOUCH moves the access clock even for a client that asked not to. */
static bool touch_one(struct call *c, struct ks_key key)
{
	struct ks_ref r;

	return ks_find(c->ks, c->db, key, &r);
}

void cmd_touch(struct call *c)
{
	for_each_key(c, false, touch_one);
}

void cmd_type(struct call *c)
{
	struct ks_ref r;

	reply_status(c->r, fam_look(c, call_key(c, 1), &r) ? ks_type_name(ks_ref_type(&r)) : "none");
}
