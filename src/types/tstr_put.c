/* Setting strings: choosing the form, overwriting in place, fresh records. */
#include "base/num.h"
#include "types/internal.h"
#include "types/tstr.h"

/* OBJECT ENCODING's border between embstr and raw. */
#define EMBSTR_MAX 44u

/* A value in the form it will be held in. */
struct value {
	unsigned flags;         /* form and label */
	int64_t i;              /* REC_INT */
	struct bytes b;         /* REC_BYTES */
	struct rope_root rope;  /* REC_ROPE: fresh, nobody else's */
};

static void value_of_text(struct ks *ks, struct bytes s, enum tstr_as as, struct value *v)
{
	unsigned label = as == TSTR_AS_RAW || s.n > EMBSTR_MAX ? REC_LABEL_RAW : REC_LABEL_EMBSTR;

	v->b = (struct bytes){NULL, 0};
	if (as == TSTR_AS_VALUE && s.n <= 20 && num_i64(s, &v->i)) {
		v->flags = rec_flags(REC_INT, KS_STRING, REC_LABEL_INT);
	} else if (LIKELY(s.n <= TSTR_INLINE_MAX)) {
		v->flags = rec_flags(REC_BYTES, KS_STRING, label);
		v->b = s;
	} else {
		v->flags = rec_flags(REC_ROPE, KS_STRING, REC_LABEL_RAW);
		v->rope = (struct rope_root){0};
		rope_write(ks->st, &v->rope, 0, s);
	}
}

/* Values from here on go past the cache into fresh records. */
#define FILL_MIN 1024u

/* The value into a record whose header and key stand. `fresh`: the record was born in this tick. */
static void value_into(struct ks *ks, struct ks__record_layout *rec, const struct value *v, bool fresh)
{
	char *at = (char *)rec + rec_key_at(rec->obj.flags) + rec->klen;

	switch (rec_flags_form(v->flags)) {
	case REC_INT:
		*(int64_t *)rec_fixed(rec) = v->i;
		return;
	case REC_ROPE:
		*(struct rope_root *)rec_fixed(rec) = v->rope;
		return;
	default:
		if (fresh && v->b.n >= FILL_MIN)
			st_fill(ks->st, at, v->b.p, v->b.n);
		else if (v->b.n)
			memmove(at, v->b.p, v->b.n);
	}
}

static st_off record_of(struct ks *ks, struct bytes name, const struct value *v, struct ks__deadline_layout dates)
{
	unsigned flags = v->flags | (dates.deadline == KS__NONE ? 0 : REC_DEADLINE);
	struct ks__record_layout *rec;
	st_off off;

	rec = ks__record_new(ks, flags, name, v->b.n, 0, dates, &off);
	value_into(ks, rec, v, true);
	return off;
}

/* In place: small values that fit, unless they would leave most of a big object unused. */
static bool fits(const struct ks_ref *r, const struct value *v, unsigned flags)
{
	size_t n = rec_bytes(flags, r->key.name.n, v->b.n), have;

	if (v->b.n > KS__IN_PLACE)
		return false;
	have = st_size(r->ks->st, r->pos.item);
	return n <= have && (have <= 128 || n >= have / 2);
}

/* Value and deadline part of a record that is there become these, in its own bytes. */
static void overwrite(struct ks_ref *r, const struct value *v, unsigned flags, struct ks__deadline_layout dates)
{
	struct ks__record_layout *rec = ks__record_edit(r);
	size_t before = rec_key_at(rec->obj.flags), after = rec_key_at(flags);

	/* The key first: nothing that is written below reaches where it goes. */
	if (UNLIKELY(before != after))
		memmove((char *)rec + after, (char *)rec + before, rec->klen);
	rec->obj.flags = (uint16_t)flags;
	rec->vlen = (uint32_t)v->b.n;
	if (flags & REC_DEADLINE)
		*rec_dates(rec) = dates;
	value_into(r->ks, rec, v, false);
}

static void put_over(struct ks_ref *r, const struct value *v, int64_t deadline)
{
	const struct ks__record_layout *old = ks__record(r->ks, r->pos.item);
	struct ks__deadline_layout from = rec_dates_get(old), dates = from;
	unsigned flags = v->flags;

	if (deadline != TSTR_TTL_KEEP)
		dates = rec_dates_next(from, deadline);
	if (dates.deadline != KS__NONE)
		flags |= REC_DEADLINE;
	ks__value_drop(r->ks, old);
	if (LIKELY(fits(r, v, flags)))
		overwrite(r, v, flags, dates);
	else
		ks__record_replace(r, record_of(r->ks, rec_name(old), v, dates));
	ks__ttl_move(r->ks, r->db, r->key.hash, from.filed, dates.filed);
}

static void put(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, const struct value *v,
	int64_t deadline)
{
	if (deadline < 0 && deadline != TSTR_TTL_KEEP)
		deadline = KS__NONE;
	if (found) {
		ks__ref_fresh(found);
		put_over(found, v, deadline);
	} else {
		int64_t at = deadline == TSTR_TTL_KEEP ? KS__NONE : deadline;

		ks__record_insert(ks, db, key, record_of(ks, key.name, v, (struct ks__deadline_layout){at, at}));
	}
	ks__touched(ks, db, key.name);
}

void tstr_put_as(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, struct bytes value,
	enum tstr_as as, int64_t deadline)
{
	struct value v;

	DCHECK2(value.n <= TSTR_MAX, value.n, 0);
	value_of_text(ks, value, as, &v);
	put(ks, db, key, found, &v, deadline);
}

void tstr_put_i64(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, int64_t value, int64_t deadline)
{
	struct value v = {.flags = rec_flags(REC_INT, KS_STRING, REC_LABEL_INT), .i = value};

	put(ks, db, key, found, &v, deadline);
}
