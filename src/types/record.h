/* Reading and shaping records (layout.h). Nothing here edits committed memory: callers pass fresh or writable bytes. */
#ifndef TYPES_RECORD_H
#define TYPES_RECORD_H

#include "struct/rope.h"
#include "types/layout.h"

#define REC_HEAD sizeof(struct ks__record_layout)

static inline enum rec_form rec_flags_form(unsigned flags)
{
	return (enum rec_form)((flags & REC_FORM) >> REC_FORM_SHIFT);
}

static inline unsigned rec_flags(enum rec_form form, unsigned type, unsigned label)
{
	return type | (unsigned)form << REC_FORM_SHIFT | label << REC_LABEL_SHIFT;
}

/* Bytes before the fixed part. */
static inline size_t rec_fixed_at(unsigned flags)
{
	return REC_HEAD + (flags & REC_DEADLINE ? sizeof(struct ks__deadline_layout) : 0);
}

/* Bytes before the key. The constant holds the size of each form's fixed part, a byte a form: no table, no branch. */
static inline size_t rec_key_at(unsigned flags)
{
	return rec_fixed_at(flags) + (0x180008ull >> ((flags & REC_FORM) >> (REC_FORM_SHIFT - 3)) & 0xff);
}
_Static_assert(sizeof(struct rope_root) == 0x18, "the constant of rec_key_at");

/* Bytes in all. */
static inline size_t rec_bytes(unsigned flags, size_t klen, size_t vlen)
{
	return rec_key_at(flags) + klen + vlen;
}

static inline unsigned rec_type(const struct ks__record_layout *r)
{
	return r->obj.flags & REC_TYPE;
}

static inline enum rec_form rec_form(const struct ks__record_layout *r)
{
	return rec_flags_form(r->obj.flags);
}

static inline unsigned rec_label(const struct ks__record_layout *r)
{
	return (r->obj.flags & REC_LABEL) >> REC_LABEL_SHIFT;
}

static inline const char *rec_key(const struct ks__record_layout *r)
{
	return (const char *)r + rec_key_at(r->obj.flags);
}

static inline struct bytes rec_name(const struct ks__record_layout *r)
{
	return (struct bytes){rec_key(r), r->klen};
}

static inline struct bytes rec_value(const struct ks__record_layout *r)
{
	return (struct bytes){rec_key(r) + r->klen, r->vlen};
}

static inline size_t rec_total(const struct ks__record_layout *r)
{
	return rec_bytes(r->obj.flags, r->klen, r->vlen);
}

/* Integer or rope root; the form says which. */
static inline void *rec_fixed(struct ks__record_layout *r)
{
	return (char *)r + rec_fixed_at(r->obj.flags);
}

static inline int64_t rec_int(const struct ks__record_layout *r)
{
	return *(const int64_t *)(const void *)((const char *)r + rec_fixed_at(r->obj.flags));
}

static inline const struct rope_root *rec_rope(const struct ks__record_layout *r)
{
	return (const struct rope_root *)(const void *)((const char *)r + rec_fixed_at(r->obj.flags));
}

/* The deadline part; only where REC_DEADLINE is set. */
static inline struct ks__deadline_layout *rec_dates(struct ks__record_layout *r)
{
	return (struct ks__deadline_layout *)(void *)((char *)r + REC_HEAD);
}

static inline struct ks__deadline_layout rec_dates_get(const struct ks__record_layout *r)
{
	if (LIKELY(!(r->obj.flags & REC_DEADLINE)))
		return (struct ks__deadline_layout){KS__NONE, KS__NONE};
	return *(const struct ks__deadline_layout *)(const void *)((const char *)r + REC_HEAD);
}

/* The deadline part after a change of the deadline. Only an earlier one is filed anew; for a later one the old entry
 * stands until it fires. */
static inline struct ks__deadline_layout rec_dates_next(struct ks__deadline_layout old, int64_t deadline)
{
	if (deadline == KS__NONE || old.filed == KS__NONE || deadline < old.filed)
		return (struct ks__deadline_layout){deadline, deadline};
	return (struct ks__deadline_layout){deadline, old.filed};
}

/* As Redis: the millisecond of the deadline still belongs to the key's life. KS__NONE is the largest unsigned
 * number. */
static inline bool rec_expired(const struct ks__record_layout *r, int64_t now)
{
	if (LIKELY(!(r->obj.flags & REC_DEADLINE)))
		return false;
	return (uint64_t)rec_dates_get(r).deadline < (uint64_t)now;
}

#endif
