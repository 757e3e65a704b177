/* ks_check: what the objects say together. Each object by itself is the business of kinds.c and the store's
 * verifier. */
#include "types/internal.h"

#include <stdio.h>

struct check {
	struct ks *ks;
	unsigned db;
	const struct ks__db_layout *d;
	uint64_t records, dated;
	const char *wrong;
};

static void check_record(void *ctx, st_off item)
{
	struct check *c = ctx;
	const struct ks__record_layout *r = ks__record(c->ks, item);
	struct ks__ttl_layout e = {rec_dates_get(r).filed, ks__record_hash(c->ks, r)};
	struct bytes name = rec_name(r);

	if (c->wrong)
		return;
	c->records++;
	if (r->obj.kind != ST_KIND_RECORD)
		c->wrong = "the index holds something that is no record";
	else if (hx_find(c->ks->st, &c->d->keys, e.hash, ks__same_name, &name) != item)
		c->wrong = "a key leads to another record";
	else if (rec_form(r) == REC_ROPE)
		c->wrong = rope_check(c->ks->st, rec_rope(r));
	if (e.filed == KS__NONE)
		return;
	c->dated++;
	if (!c->wrong && !bt_find(c->ks->st, &c->d->ttl, &c->ks->ttl, &e, NULL))
		c->wrong = "a record with a deadline has no entry in the TTL tree";
}

struct filed_key {
	const struct ks *ks;
	struct ks__ttl_layout at;
};

static bool filed_at(const struct store *st, st_off item, const void *key)
{
	const struct ks__record_layout *r = st_view(st, item);
	const struct filed_key *k = key;

	return rec_dates_get(r).filed == k->at.filed && ks__record_hash(k->ks, r) == k->at.hash;
}

/* Every entry of the TTL tree has its record, and the first is the one the database names. */
static const char *check_ttl(struct check *c)
{
	const struct ks__ttl_layout *e;
	struct bt_iter it;
	int64_t first = INT64_MAX;
	uint64_t n = 0;

	bt_seek(&it, c->ks->st, &c->d->ttl, &c->ks->ttl, NULL);
	for (; (e = bt_entry(&it)) != NULL; bt_next(&it), n++) {
		struct filed_key k = {c->ks, *e};

		if (n == 0)
			first = e->filed;
		if (!hx_find(c->ks->st, &c->d->keys, e->hash, filed_at, &k))
			return "an entry of the TTL tree has no record";
	}
	if (n != c->d->ttl.count)
		return "the TTL tree's count is wrong";
	return first == c->d->first ? NULL : "the first deadline is wrong";
}

static const char *check_db(struct check *c)
{
	struct ks *ks = c->ks;
	const char *wrong = hx_check(ks->st, &c->d->keys, &ks->hx);
	uint64_t cursor = 0;

	if (!wrong)
		wrong = bt_check(ks->st, &c->d->ttl, &ks->ttl);
	if (wrong)
		return wrong;
	/* Nothing changes meanwhile, so each record comes once. */
	do {
		cursor = hx_scan(ks->st, &c->d->keys, &ks->hx, cursor, 1000, check_record, c);
	} while (cursor && !c->wrong);
	if (c->wrong)
		return c->wrong;
	if (c->records != c->d->keys.count)
		return "the number of keys is wrong";
	if (c->dated != c->d->expires)
		return "the number of keys with a deadline is wrong";
	return check_ttl(c);
}

const char *ks_check(struct ks *ks)
{
	for (unsigned i = 0; i < ks->databases; i++) {
		struct check c = {.ks = ks, .db = i, .d = ks__db(ks, i)};
		const char *wrong = c.d ? check_db(&c) : NULL;

		if (wrong) {
			snprintf(ks->said, sizeof(ks->said), "database %u: %s", i, wrong);
			return ks->said;
		}
	}
	return NULL;
}
