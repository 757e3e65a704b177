/* Walking the keys of a database, and taking one at random. */
#include "types/internal.h"

struct scan {
	struct ks *ks;
	ks_scan_fn fn;
	void *ctx;
};

static void scan_item(void *ctx, st_off item)
{
	const struct scan *s = ctx;
	const struct ks__record_layout *r = ks__record(s->ks, item);

	if (LIKELY(!rec_expired(r, s->ks->now)))
		s->fn(s->ctx, rec_name(r), (enum ks_type)rec_type(r));
}

uint64_t ks_scan(struct ks *ks, unsigned db, uint64_t cursor, size_t want, ks_scan_fn fn, void *ctx)
{
	const struct ks__db_layout *d = ks__db(ks, db);
	struct scan s = {ks, fn, ctx};

	return d ? hx_scan(ks->st, &d->keys, &ks->hx, cursor, want, scan_item, &s) : 0;
}

/* ---- random ---- */

static struct ks_key key_of(const struct ks *ks, st_off item)
{
	return ks_key(ks, rec_name(ks__record(ks, item)));
}

struct first_live {
	struct ks *ks;
	st_off item;
};

static void take_live(void *ctx, st_off item)
{
	struct first_live *f = ctx;

	if (!f->item && !rec_expired(ks__record(f->ks, item), f->ks->now))
		f->item = item;
}

/* Draws that may fall on expired keys, then calls of hx_scan, before a database counts as empty. */
#define RANDOM_TRIES 100
#define RANDOM_SCANS 1000
#define RANDOM_WANT 16

bool ks_random(struct ks *ks, unsigned db, struct rng *rng, struct ks_ref *out)
{
	struct first_live f = {ks, 0};
	const struct ks__db_layout *d;
	uint64_t cursor = 0;

	for (unsigned i = 0; i < RANDOM_TRIES; i++) {
		st_off item;

		d = ks__db(ks, db);
		item = d ? hx_random(ks->st, &d->keys, rng) : 0;
		if (!item)
			return false;
		/* Deletes an expired one. */
		if (ks_peek(ks, db, key_of(ks, item), out))
			return true;
	}
	/* Nearly all are expired: any live one will do. */
	for (unsigned i = 0; i < RANDOM_SCANS && !f.item; i++) {
		d = ks__db(ks, db);
		cursor = hx_scan(ks->st, &d->keys, &ks->hx, cursor, RANDOM_WANT, take_live, &f);
		if (!cursor)
			break;
	}
	if (!f.item)
		return false;
	return ks_peek(ks, db, key_of(ks, f.item), out);
}
