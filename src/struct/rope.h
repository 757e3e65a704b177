/* Rope: a long string in the pool, a radix tree over chunks of a fixed size. Reading or writing at a position touches
 * one chunk and the path to it; bytes never written cost nothing (a chunk that is not there reads as zeros).
 *
 * The root is a struct rope_root inside an object of the owner, made writable by the owner before changing calls.
 * Crash: every change is part of the caller's tick. */
#ifndef STRUCT_ROPE_H
#define STRUCT_ROPE_H

#include "store/store.h"

#define ROPE_CHUNK 8176u /* payload bytes of a chunk; with the header one eighth of a slab */

struct rope_root {
	uint64_t len;  /* bytes */
	uint64_t node; /* chunk (levels 0) or radix node; 0: all zeros */
	uint32_t levels;
	uint32_t pad;
};

/* Bytes that writing n bytes anywhere may allocate: what to st_reserve. */
size_t rope_reserve(size_t n);

/* Writes [at, at+s.n), growing the rope; bytes between the old end and at read as zeros. */
void rope_write(struct store *st, struct rope_root *r, uint64_t at, struct bytes s);
/* Makes the byte at `at` (< len) writable. */
uint8_t *rope_byte(struct store *st, struct rope_root *r, uint64_t at);
/* Copies [at, at+n) out; the range must lie inside. */
void rope_read(const struct store *st, const struct rope_root *r, uint64_t at, void *out, size_t n);
/* Calls fn with the pieces of [at, at+n) in order. chunk: what to st_pin to keep the piece beyond the tick; 0:
 * nothing to pin, who wants to keep the bytes copies them (zeros that are not stored, and what this tick has
 * edited). fn returns false to stop. */
typedef bool (*rope_piece_fn)(void *ctx, const char *p, size_t n, st_off chunk);
void rope_each(const struct store *st, const struct rope_root *r, uint64_t at, uint64_t n, rope_piece_fn fn, void *ctx);
/* Cuts to len bytes (<= r->len). */
void rope_truncate(struct store *st, struct rope_root *r, uint64_t len);
/* A copy of its own. Needs rope_reserve(len). Holes stay holes. */
void rope_copy(struct store *st, const struct rope_root *from, struct rope_root *to);
/* Unlinks the whole rope: small ones are freed, long ones handed to the reclaimer. r becomes empty. */
void rope_drop(struct store *st, struct rope_root *r);
/* Bytes of pool memory it takes. */
uint64_t rope_bytes(const struct store *st, const struct rope_root *r);

void rope_register(struct store *st);
const char *rope_check(const struct store *st, const struct rope_root *r);

#endif
