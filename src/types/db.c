/* Whole databases: making, counting, flushing, swapping. */
#include "types/internal.h"

static st_off db_new(struct ks *ks, struct ks__dataset_layout *d)
{
	struct ks__db_layout *p;
	st_off off;

	p = st_alloc(ks->st, sizeof(*p), ST_KIND_DB, &off);
	CHECK(p != NULL);
	memset((char *)p + sizeof(p->obj), 0, sizeof(*p) - sizeof(p->obj));
	p->identity = d->next_identity++;
	p->first = INT64_MAX;
	return off;
}

struct ks__db_layout *ks__db_edit(struct ks *ks, unsigned db)
{
	const struct ks__dataset_layout *v = st_view(ks->st, st_root(ks->st));
	struct ks__dataset_layout *d;
	st_off off = v->db[db];

	DCHECK2(db < ks->databases, db, ks->databases);
	/* A database that no snapshot shares stays where it is: the dataset needs no edit. */
	if (LIKELY(off && !st_shared(ks->st, off)))
		return st_edit(ks->st, &off);
	d = st_edit_root(ks->st);
	if (!d->db[db])
		d->db[db] = db_new(ks, d);
	return st_edit(ks->st, &d->db[db]);
}

unsigned ks_databases(const struct ks *ks)
{
	return ks->databases;
}

uint64_t ks_count(const struct ks *ks, unsigned db)
{
	const struct ks__db_layout *d = ks__db(ks, db);

	return d ? d->keys.count : 0;
}

uint64_t ks_count_expires(const struct ks *ks, unsigned db)
{
	const struct ks__db_layout *d = ks__db(ks, db);

	return d ? d->expires : 0;
}

int64_t ks_avg_ttl(const struct ks *ks, unsigned db)
{
	enum { SAMPLES = 16 };
	const struct ks__db_layout *d = ks__db(ks, db);
	uint64_t n;
	double sum = 0;

	if (!d || !d->ttl.count)
		return 0;
	n = d->ttl.count < SAMPLES ? d->ttl.count : SAMPLES;
	for (uint64_t i = 0; i < n; i++) {
		struct ks__ttl_layout e;

		/* The middle of each of n equal shares of the keys. */
		bt_at(ks->st, &d->ttl, &ks->ttl, (2 * i + 1) * d->ttl.count / (2 * n), &e);
		if (e.filed > ks->now)
			sum += (double)(e.filed - ks->now);
	}
	return (int64_t)(sum / (double)n);
}

static void flush_one(struct ks *ks, unsigned db)
{
	struct ks__dataset_layout *root;
	struct ks__db_layout *d;

	if (!ks__db(ks, db))
		return;
	root = st_edit_root(ks->st);
	d = st_edit(ks->st, &root->db[db]);
	hx_drop(ks->st, &d->keys);
	bt_drop(ks->st, &d->ttl);
	d->expires = 0;
	d->first = INT64_MAX;
	d->identity = root->next_identity++;
	ks->moves++;
}

void ks_flush(struct ks *ks, int db)
{
	if (db >= 0)
		flush_one(ks, (unsigned)db);
	else
		for (unsigned i = 0; i < ks->databases; i++)
			flush_one(ks, i);
	ks__flushed(ks, db);
}

void ks_swap(struct ks *ks, unsigned a, unsigned b)
{
	struct ks__dataset_layout *d;
	uint64_t off;

	DCHECK2(a < ks->databases && b < ks->databases, a, b);
	if (a == b)
		return;
	d = st_edit_root(ks->st);
	off = d->db[a];
	d->db[a] = d->db[b];
	d->db[b] = off;
	ks->moves++;
	ks__flushed(ks, (int)a);
	ks__flushed(ks, (int)b);
}
