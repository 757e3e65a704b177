/* Changes of keys that leave their values alone: deleting, deadlines, new names, copies. */
#include "types/internal.h"

void ks_delete(struct ks_ref *r)
{
	ks__ref_fresh(r);
	ks__record_destroy(r);
	ks__touched(r->ks, r->db, r->key.name);
}

/* ---- deadlines ---- */

/* Fixed part and bytes of a value into a fresh record of the same form. */
static void value_move(struct ks *ks, struct ks__record_layout *to, const struct ks__record_layout *from)
{
	struct bytes v = rec_value(from);
	size_t at = rec_fixed_at(from->obj.flags);

	memcpy(rec_fixed(to), (const char *)from + at, rec_key_at(from->obj.flags) - at);
	st_fill(ks->st, (char *)to + rec_key_at(to->obj.flags) + to->klen, v.p, v.n);
}

/* A fresh record with this name and deadline and the value of `from`, whose references move into it. */
static st_off record_like(struct ks *ks, const struct ks__record_layout *from, struct bytes name,
	struct ks__deadline_layout dates)
{
	unsigned flags = from->obj.flags & ~REC_DEADLINE;
	st_off off;

	if (dates.deadline != KS__NONE)
		flags |= REC_DEADLINE;
	value_move(ks, ks__record_new(ks, flags, name, from->vlen, 0, dates, &off), from);
	return off;
}

/* Gives r's record a deadline part. */
static void widen(struct ks_ref *r, struct ks__deadline_layout dates)
{
	const struct ks__record_layout *v = ks__record(r->ks, r->pos.item);
	struct ks__record_layout *w;
	size_t n = rec_total(v);

	if (v->vlen > KS__IN_PLACE || n + sizeof(dates) > st_size(r->ks->st, r->pos.item)) {
		ks__record_replace(r, record_like(r->ks, v, rec_name(v), dates));
		return;
	}
	w = ks__record_edit(r);
	memmove((char *)w + REC_HEAD + sizeof(dates), (char *)w + REC_HEAD, n - REC_HEAD);
	w->obj.flags |= REC_DEADLINE;
	*rec_dates(w) = dates;
}

static void deadline_change(struct ks_ref *r, int64_t deadline)
{
	const struct ks__record_layout *v = ks__record(r->ks, r->pos.item);
	struct ks__deadline_layout old = rec_dates_get(v), dates = rec_dates_next(old, deadline);

	if (v->obj.flags & REC_DEADLINE)
		*rec_dates(ks__record_edit(r)) = dates;
	else
		widen(r, dates);
	ks__ttl_move(r->ks, r->db, r->key.hash, old.filed, dates.filed);
	ks__touched(r->ks, r->db, r->key.name);
}

void ks_set_deadline(struct ks_ref *r, int64_t deadline_ms)
{
	ks__ref_fresh(r);
	deadline_change(r, deadline_ms < 0 ? 0 : deadline_ms);
}

void ks_persist(struct ks_ref *r)
{
	ks__ref_fresh(r);
	/* The deadline part stays, empty: giving a deadline again is then a matter of two words. */
	if (rec_dates_get(ks__record(r->ks, r->pos.item)).deadline != KS__NONE)
		deadline_change(r, KS__NONE);
}

/* ---- other names ---- */

void ks__record_put(struct ks *ks, unsigned db, struct ks_key key, st_off item)
{
	struct ks_ref there;
	const struct ks__record_layout *old;
	int64_t from;

	/* An expired one goes as such, with its event. */
	if (!ks_peek(ks, db, key, &there)) {
		ks__record_insert(ks, db, key, item);
		return;
	}
	old = ks__record(ks, there.pos.item);
	from = rec_dates_get(old).filed;
	ks__value_drop(ks, old);
	ks__record_replace(&there, item);
	ks__ttl_move(ks, db, key.hash, from, rec_dates_get(ks__record(ks, item)).filed);
}

void ks_rename(struct ks_ref *r, unsigned db, struct ks_key to)
{
	struct ks *ks = r->ks;
	st_off from, item;
	int64_t deadline;

	ks__ref_fresh(r);
	from = r->pos.item;
	deadline = rec_dates_get(ks__record(ks, from)).deadline;
	item = record_like(ks, ks__record(ks, from), to.name, (struct ks__deadline_layout){deadline, deadline});
	ks__record_remove(r);
	st_free(ks->st, from);
	ks__record_put(ks, db, to, item);
	ks__touched(ks, r->db, r->key.name);
	ks__touched(ks, db, to.name);
}

void ks_copy(struct ks_ref *r, unsigned db, struct ks_key to)
{
	struct ks *ks = r->ks;
	const struct ks__record_layout *from = ks__ref_record(r);
	int64_t deadline = rec_dates_get(from).deadline;
	st_off item = record_like(ks, from, to.name, (struct ks__deadline_layout){deadline, deadline});

	if (rec_form(from) == REC_ROPE) {
		/* The new record is fresh: st_edit would give it back as it is. */
		struct rope_root *own = rec_fixed(st_edit(ks->st, &item));

		*own = (struct rope_root){0};
		rope_copy(ks->st, rec_rope(from), own);
	}
	ks__record_put(ks, db, to, item);
	ks__touched(ks, db, to.name);
}
