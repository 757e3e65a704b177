/* Records in their database: making, editing, replacing, taking out. */
#include "types/internal.h"

uint64_t ks__record_hash(const struct ks *ks, const struct ks__record_layout *r)
{
	return ks_hash(ks, rec_name(r));
}

struct ks__record_layout *ks__record_new(struct ks *ks, unsigned flags, struct bytes name, size_t vlen, size_t spare,
	struct ks__deadline_layout dates, st_off *off_out)
{
	size_t n = rec_bytes(flags, name.n, vlen);
	struct ks__record_layout *r;

	DCHECK2(name.n <= KS_KEY_MAX, name.n, vlen);
	/* The whole class: a later change in this tick may use all of it, and what was not asked for is not made
	 * durable. */
	r = st_alloc(ks->st, st_class_size(n + spare), ST_KIND_RECORD, off_out);
	CHECK2(r != NULL, n, spare);
	r->obj.flags = (uint16_t)flags;
	r->vlen = (uint32_t)vlen;
	r->klen = (uint16_t)name.n;
	r->reserved = 0;
	if (flags & REC_DEADLINE)
		*rec_dates(r) = dates;
	memcpy((char *)r + rec_key_at(flags), name.p, name.n);
	return r;
}

/* An index root, for calls that will not change it. Only where nothing above the record has to be cloned: a record
 * that no snapshot shares has no shared ancestor, because putting it where it is cloned them all. So an overwrite
 * edits no database object. */
static struct hx_root root_as_is(const struct ks_ref *r)
{
	return ks__db(r->ks, r->db)->keys;
}

struct ks__record_layout *ks__record_edit(struct ks_ref *r)
{
	struct ks *ks = r->ks;
	st_off before = r->pos.item;
	void *p;

	if (LIKELY(!st_shared(ks->st, before))) {
		struct hx_root root = root_as_is(r);
		uint64_t dir = root.dir;

		p = hx_edit(ks->st, &root, r->key.hash, &r->pos);
		CHECK2(root.dir == dir && r->pos.item == before, root.dir, dir);
		return p;
	}
	p = hx_edit(ks->st, &ks__db_edit(ks, r->db)->keys, r->key.hash, &r->pos);
	ks->moves++;
	ks__ref_refresh(r);
	return p;
}

void ks__record_replace(struct ks_ref *r, st_off item)
{
	struct ks *ks = r->ks;
	st_off old = r->pos.item;

	ks->moves++;
	if (LIKELY(!st_shared(ks->st, old))) {
		struct hx_root root = root_as_is(r);
		uint64_t dir = root.dir;

		hx_replace(ks->st, &root, r->key.hash, &r->pos, item);
		CHECK2(root.dir == dir, root.dir, dir);
		r->pos.item = item;
		r->moves = ks->moves;
	} else {
		hx_replace(ks->st, &ks__db_edit(ks, r->db)->keys, r->key.hash, &r->pos, item);
		ks__ref_refresh(r);
	}
	st_free(ks->st, old);
}

void ks__record_remove(struct ks_ref *r)
{
	struct ks *ks = r->ks;
	int64_t filed = rec_dates_get(ks__record(ks, r->pos.item)).filed;

	hx_remove(ks->st, &ks__db_edit(ks, r->db)->keys, &ks->hx, r->key.hash, &r->pos);
	ks->moves++;
	ks__ttl_move(ks, r->db, r->key.hash, filed, KS__NONE);
}

void ks__record_destroy(struct ks_ref *r)
{
	st_off item = r->pos.item;

	ks__record_remove(r);
	ks__value_drop(r->ks, ks__record(r->ks, item));
	st_free(r->ks->st, item);
}

void ks__record_insert(struct ks *ks, unsigned db, struct ks_key key, st_off item)
{
	int64_t filed = rec_dates_get(ks__record(ks, item)).filed;

	hx_insert(ks->st, &ks__db_edit(ks, db)->keys, &ks->hx, key.hash, item);
	ks->moves++;
	ks__ttl_move(ks, db, key.hash, KS__NONE, filed);
	ks__access(ks, key.hash);
}

void ks__value_drop(struct ks *ks, const struct ks__record_layout *r)
{
	if (rec_form(r) == REC_ROPE) {
		struct rope_root rope = *rec_rope(r);

		rope_drop(ks->st, &rope);
	}
}
