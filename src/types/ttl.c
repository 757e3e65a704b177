/* The TTL tree: which record dies when. README.md: what filing means.
 *
 * Invariant: a database's tree holds (filed, hash) exactly when it has a record with this key hash that is filed
 * under this deadline. Two keys with the same hash and filed deadline share the entry: whoever leaves it looks for
 * the other. */
#include "types/internal.h"

int ks__ttl_cmp(const struct store *st, const void *entry, const void *key, void *ctx)
{
	const struct ks__ttl_layout *a = entry, *b = key;

	(void)st;
	(void)ctx;
	if (a->filed != b->filed)
		return a->filed < b->filed ? -1 : 1;
	return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* ---- records by hash and filed deadline ---- */

struct filed {
	const struct ks *ks;
	struct ks__ttl_layout at;
};

static bool is_filed(const struct store *st, st_off item, const void *key)
{
	const struct ks__record_layout *r = st_view(st, item);
	const struct filed *f = key;

	return rec_dates_get(r).filed == f->at.filed && ks__record_hash(f->ks, r) == f->at.hash;
}

/* ---- keeping the tree ---- */

static int64_t first_of(struct ks *ks, const struct ks__db_layout *d)
{
	struct bt_iter it;
	const struct ks__ttl_layout *e;

	bt_seek(&it, ks->st, &d->ttl, &ks->ttl, NULL);
	e = bt_entry(&it);
	return e ? e->filed : INT64_MAX;
}

static void entry_remove(struct ks *ks, struct ks__db_layout *d, struct ks__ttl_layout e)
{
	bt_remove(ks->st, &d->ttl, &ks->ttl, &e, NULL);
	if (e.filed == d->first)
		d->first = first_of(ks, d);
}

void ks__ttl_move(struct ks *ks, unsigned db, uint64_t hash, int64_t from, int64_t to)
{
	struct ks__db_layout *d;

	if (LIKELY(from == to))
		return;
	d = ks__db_edit(ks, db);
	if (from == KS__NONE) {
		d->expires++;
	} else {
		struct filed f = {ks, {from, hash}};

		if (LIKELY(!hx_find(ks->st, &d->keys, hash, is_filed, &f)))
			entry_remove(ks, d, f.at);
	}
	if (to == KS__NONE) {
		d->expires--;
	} else {
		struct ks__ttl_layout e = {to, hash};

		bt_insert(ks->st, &d->ttl, &ks->ttl, &e, &e);
		if (to < d->first)
			d->first = to;
	}
}

/* ---- dying ---- */

static bool may_free(struct ks *ks)
{
	return !st_write_error(ks->st) && ks_reserve_free(ks);
}

bool ks__expire(struct ks_ref *r)
{
	struct ks *ks = r->ks;
	struct bytes name = r->key.name;

	if (!may_free(ks))
		return false;
	ks__record_destroy(r);
	ks->stats.expired++;
	ks__touched(ks, r->db, name);
	ks_event(ks, KS_EV_EXPIRED, "expired", r->db, name);
	return true;
}

/* The entry's record lives on: its deadline was moved after it was filed. */
static void refile(struct ks_ref *r, int64_t from)
{
	struct ks__record_layout *rec = ks__record_edit(r);
	int64_t to = rec_dates(rec)->deadline;

	rec_dates(rec)->filed = to;
	ks__ttl_move(r->ks, r->db, r->key.hash, from, to);
}

/* What a due entry asks for; true when a key was deleted. */
static bool fire(struct ks *ks, unsigned db, struct ks__ttl_layout e)
{
	const struct ks__db_layout *d = ks__db(ks, db);
	struct filed f = {ks, e};
	struct ks_ref r = {.ks = ks, .db = db, .moves = ks->moves};
	const struct ks__record_layout *rec;

	if (!hx_locate(ks->st, &d->keys, e.hash, is_filed, &f, &r.pos)) {
		/* Cannot be; but an entry that nobody ever takes would be met for ever. */
		DCHECK2(false, e.filed, e.hash);
		entry_remove(ks, ks__db_edit(ks, db), e);
		return false;
	}
	rec = ks__record(ks, r.pos.item);
	memcpy(ks->name, rec_key(rec), rec->klen);
	r.key = (struct ks_key){{ks->name, rec->klen}, e.hash};
	if (!rec_expired(rec, ks->now)) {
		if (may_free(ks))
			refile(&r, e.filed);
		return false;
	}
	if (!ks__expire(&r))
		return false;
	ks->stats.expired_active++;
	return true;
}

/* The database with the earliest due entry, and the last deadline up to which it comes before all others; -1:
 * nothing is due. */
static int earliest(const struct ks *ks, int64_t *until_out)
{
	int64_t first = ks->now, second = ks->now - 1;
	int db = -1;

	for (unsigned i = 0; i < ks->databases; i++) {
		const struct ks__db_layout *d = ks__db(ks, i);

		if (!d || d->first >= ks->now)
			continue;
		if (d->first < first) {
			second = db < 0 ? second : first;
			first = d->first;
			db = (int)i;
		} else if (d->first < second) {
			second = d->first;
		}
	}
	*until_out = second;
	return db;
}

#define BATCH 16

/* The first entries of a database's tree, brought near; their number. */
static unsigned gather(struct ks *ks, unsigned db, int64_t until, unsigned max, struct ks__ttl_layout due[BATCH])
{
	const struct ks__db_layout *d = ks__db(ks, db);
	const struct ks__ttl_layout *e;
	struct bt_iter it;
	unsigned n = 0;

	bt_seek(&it, ks->st, &d->ttl, &ks->ttl, NULL);
	for (; n < max && (e = bt_entry(&it)) != NULL && e->filed <= until; bt_next(&it))
		due[n++] = *e;
	for (unsigned i = 0; i < n; i++)
		ks_prefetch1(ks, db, due[i].hash);
	for (unsigned i = 0; i < n; i++)
		ks_prefetch2(ks, db, due[i].hash);
	for (unsigned i = 0; i < n; i++)
		ks_prefetch3(ks, db, due[i].hash, true);
	return n;
}

unsigned ks_expire_due(struct ks *ks, unsigned max)
{
	struct ks__ttl_layout due[BATCH];
	unsigned left = max, dead = 0;
	int64_t until;
	int db;

	if (!ks->active_expire)
		return 0;
	while (left && (db = earliest(ks, &until)) >= 0) {
		unsigned n;

		if (!may_free(ks))
			break;
		n = gather(ks, (unsigned)db, until, left < BATCH ? left : BATCH, due);
		for (unsigned i = 0; i < n; i++)
			dead += fire(ks, (unsigned)db, due[i]);
		left -= n;
	}
	return dead;
}

int64_t ks_next_deadline(const struct ks *ks)
{
	int64_t next = INT64_MAX;

	if (!ks->active_expire)
		return next;
	for (unsigned i = 0; i < ks->databases; i++) {
		const struct ks__db_layout *d = ks__db(ks, i);

		if (d && d->first < next)
			next = d->first;
	}
	return next;
}

void ks_hold_expired(struct ks *ks, bool on)
{
	ks->hold_expired = on;
}

void ks_set_active_expire(struct ks *ks, bool on)
{
	ks->active_expire = on;
}
