/* Strings. Three physical forms, chosen by bytes: an integer in the record, bytes in the record, a rope. */
#ifndef TYPES_TSTR_H
#define TYPES_TSTR_H

#include "struct/rope.h"
#include "types/ks.h"

/* Values longer than this become ropes. */
#define TSTR_INLINE_MAX 16384u
/* 512 MiB: Redis's limit of a string (proto-max-bulk-len may allow more in Redis; not here). */
#define TSTR_MAX (512ull * 1024 * 1024)

enum tstr_form { TSTR_INT, TSTR_BYTES, TSTR_ROPE };

/* A look at a value. Valid until the key changes or the tick ends. */
struct tstr {
	enum tstr_form form;
	int64_t i;             /* TSTR_INT */
	struct bytes b;        /* TSTR_BYTES: in the record. TSTR_INT: its digits, in digits[] */
	struct rope_root rope; /* TSTR_ROPE */
	uint64_t len;          /* of the value as text */
	char digits[24];
};

/* r must be of type KS_STRING. Note: out->b may point into *out; do not copy the struct. */
void tstr_view(const struct ks_ref *r, struct tstr *out);
/* Copies [at, at+n) of the value, n bytes that lie inside. */
void tstr_read(const struct ks_ref *r, const struct tstr *v, uint64_t at, void *out, size_t n);
/* The value as an integer, by the strict rule of num_i64. */
bool tstr_i64(const struct ks_ref *r, const struct tstr *v, int64_t *out);
/* The same without a view: true and cheap where the value is held as an integer (INCR). False says nothing. */
bool tstr_held_i64(const struct ks_ref *r, int64_t *out);

/* Deadline argument of tstr_put. */
#define TSTR_TTL_NONE (-1) /* the key has no deadline afterwards */
#define TSTR_TTL_KEEP (-2) /* whatever it was */

/* How tstr_put_as takes the text. */
enum tstr_as {
	TSTR_AS_VALUE, /* a strict integer becomes one: SET and most others */
	TSTR_AS_TEXT,  /* stays text, OBJECT ENCODING says embstr or raw by the length: INCRBYFLOAT */
	TSTR_AS_RAW    /* stays text, OBJECT ENCODING says raw: BITOP */
};

/* Sets the key to these bytes, whatever was there (of any type). `found`: a ref of the same key from ks_find in this
 * tick, or NULL when it is not there. Text that is a strict integer is stored as one. deadline: Unix ms or
 * TSTR_TTL_*. A `found` ref is valid afterwards. The value must not lie in the key's own record. Needs
 * ks_reserve(key + value). */
void tstr_put_as(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, struct bytes value,
	enum tstr_as as, int64_t deadline);
static inline void tstr_put(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, struct bytes value,
	int64_t deadline)
{
	tstr_put_as(ks, db, key, found, value, TSTR_AS_VALUE, deadline);
}
void tstr_put_i64(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, int64_t value, int64_t deadline);
/* Writes bytes at a position of an existing string (found) or of a new one (found NULL), zero-filling up to it; the
 * deadline stays. at + n <= TSTR_MAX; n may be 0 (APPEND of nothing), then at must not lie beyond the end. Returns
 * the new length. APPEND, SETRANGE, SETBIT, BITFIELD use it. OBJECT ENCODING says raw afterwards, as Redis does
 * after these commands (but APPEND to an absent key is tstr_put there, and should be here). s must not lie in the
 * key's own record. Needs ks_reserve(key + tstr_write_reserve). */
uint64_t tstr_write(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *found, uint64_t at, struct bytes s);
/* OBJECT ENCODING says raw from now on; the value is as it was, so nobody is told. Needs what an empty tstr_write
 * does. */
void tstr_make_raw(struct ks_ref *r);
/* What tstr_write may need, for ks_reserve. */
size_t tstr_write_reserve(const struct ks_ref *found, uint64_t at, size_t n);

/* Pieces of [at, at+n) in order; see rope_each. For inline values one piece with chunk 0 is given. */
void tstr_each(const struct ks_ref *r, const struct tstr *v, uint64_t at, uint64_t n, rope_piece_fn fn, void *ctx);

#endif
