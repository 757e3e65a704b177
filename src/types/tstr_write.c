/* Writing into strings at a position: APPEND, SETRANGE, SETBIT, BITFIELD.
 *
 * A string that grows gets as much again as it needs, so that N small appends copy it some log N times; from
 * TSTR_INLINE_MAX on it is a rope, where an append touches one chunk. */
#include "base/num.h"
#include "types/internal.h"
#include "types/tstr.h"

struct write {
	struct ks *ks;
	uint64_t at;
	struct bytes s;
	uint64_t len;           /* of the value afterwards */
};

static const unsigned raw_bytes = (unsigned)REC_BYTES << REC_FORM_SHIFT | REC_LABEL_RAW << REC_LABEL_SHIFT | KS_STRING;
static const unsigned raw_rope = (unsigned)REC_ROPE << REC_FORM_SHIFT | REC_LABEL_RAW << REC_LABEL_SHIFT | KS_STRING;

/* The bytes of a value of which the first `old` stand, after the write. */
static void splice(char *value, size_t old, const struct write *w)
{
	if (w->at > old)
		memset(value + old, 0, w->at - old);
	if (w->s.n)
		memcpy(value + w->at, w->s.p, w->s.n);
}

/* A fresh inline record that begins with `old`. */
static st_off record_inline(const struct write *w, struct bytes name, struct bytes old,
	struct ks__deadline_layout dates, size_t spare)
{
	unsigned flags = raw_bytes | (dates.deadline == KS__NONE ? 0 : REC_DEADLINE);
	struct ks__record_layout *rec;
	char *value;
	st_off off;

	rec = ks__record_new(w->ks, flags, name, w->len, spare, dates, &off);
	value = (char *)rec + rec_key_at(flags) + name.n;
	if (old.n)
		memcpy(value, old.p, old.n);
	splice(value, old.n, w);
	return off;
}

static st_off record_rope(const struct write *w, struct bytes name, struct bytes old, struct ks__deadline_layout dates)
{
	unsigned flags = raw_rope | (dates.deadline == KS__NONE ? 0 : REC_DEADLINE);
	struct rope_root rope = {0};
	struct ks__record_layout *rec;
	st_off off;

	if (old.n)
		rope_write(w->ks->st, &rope, 0, old);
	rope_write(w->ks->st, &rope, w->at, w->s);
	rec = ks__record_new(w->ks, flags, name, 0, 0, dates, &off);
	*(struct rope_root *)rec_fixed(rec) = rope;
	return off;
}

static void write_rope(struct ks_ref *r, struct write *w)
{
	struct ks__record_layout *rec;

	if (w->s.n == 0)
		return;
	rec = ks__record_edit(r);
	rope_write(w->ks->st, rec_fixed(rec), w->at, w->s);
}

static void write_inline(struct ks_ref *r, const struct write *w, const struct ks__record_layout *old)
{
	struct ks__record_layout *rec = ks__record_edit(r);
	size_t had = old->vlen;

	rec->obj.flags = (uint16_t)((rec->obj.flags & ~REC_LABEL) | REC_LABEL_RAW << REC_LABEL_SHIFT);
	rec->vlen = (uint32_t)w->len;
	splice((char *)rec + rec_key_at(rec->obj.flags) + rec->klen, had, w);
}

/* Into a value that stands in its record, as bytes or as an integer. */
static void write_record(struct ks_ref *r, const struct write *w, const struct ks__record_layout *old)
{
	struct ks__deadline_layout dates = rec_dates_get(old);
	struct bytes value = rec_value(old);
	char digits[NUM_I64_MAX];
	size_t spare;

	if (rec_form(old) == REC_INT) {
		value = (struct bytes){digits, num_put_i64(digits, rec_int(old))};
	} else if (w->len <= TSTR_INLINE_MAX &&
		rec_total(old) - old->vlen + w->len <= st_size(w->ks->st, r->pos.item)) {
		write_inline(r, w, old);
		return;
	}
	if (w->len > TSTR_INLINE_MAX) {
		ks__record_replace(r, record_rope(w, rec_name(old), value, dates));
		return;
	}
	spare = w->len == value.n ? 0 : w->len;
	if (w->len + spare > TSTR_INLINE_MAX)
		spare = TSTR_INLINE_MAX - w->len;
	ks__record_replace(r, record_inline(w, rec_name(old), value, dates, spare));
}

static uint64_t length_of(const struct ks__record_layout *rec)
{
	char digits[NUM_I64_MAX];

	switch (rec_form(rec)) {
	case REC_INT:
		return num_put_i64(digits, rec_int(rec));
	case REC_ROPE:
		return rec_rope(rec)->len;
	default:
		return rec->vlen;
	}
}

uint64_t tstr_write(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, uint64_t at, struct bytes s)
{
	static const struct ks__deadline_layout never = {KS__NONE, KS__NONE};
	static const struct bytes nothing = {NULL, 0};
	struct write w = {ks, at, s, at + s.n};
	const struct ks__record_layout *old;

	DCHECK2(w.len <= TSTR_MAX, at, s.n);
	if (!found) {
		ks__record_insert(ks, db, key, w.len > TSTR_INLINE_MAX ? record_rope(&w, key.name, nothing, never) :
			record_inline(&w, key.name, nothing, never, 0));
	} else {
		ks__ref_fresh(found);
		old = ks__record(ks, found->pos.item);
		DCHECK2(rec_type(old) == KS_STRING, rec_type(old), 0);
		if (length_of(old) > w.len)
			w.len = length_of(old);
		if (rec_form(old) == REC_ROPE)
			write_rope(found, &w);
		else
			write_record(found, &w, old);
	}
	ks__touched(ks, db, key.name);
	return w.len;
}

void tstr_make_raw(struct ks_ref *r)
{
	struct tstr v;
	struct write w;

	tstr_view(r, &v);
	w = (struct write){r->ks, v.len, {NULL, 0}, v.len};
	if (v.form != TSTR_ROPE)
		write_record(r, &w, ks__record(r->ks, r->pos.item));
}

size_t tstr_write_reserve(const struct ks_ref *found, uint64_t at, size_t n)
{
	uint64_t had = found ? length_of(ks__ref_record(found)) : 0;
	uint64_t len = at + n > had ? at + n : had;

	/* Inline: the value and as much again to grow. */
	if (len <= TSTR_INLINE_MAX)
		return 2 * len;
	/* Bytes between the old end and `at` take no room. What was inline is written into chunks first. */
	return rope_reserve(n) + (had <= TSTR_INLINE_MAX ? rope_reserve(had) : 0);
}
