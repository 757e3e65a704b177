/* A growing byte buffer, owned by whoever holds the struct. All zero is empty and valid. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "bytes.h"
#include "check.h"

#include <stdarg.h>

struct buf {
	char *p;
	size_t n;
	size_t cap;
};

/* The slow half of buf_room: makes cap at least b->n + n. */
char *buf__grow(struct buf *b, size_t n);

/* Room for n more bytes at p + n; returns that place. Never NULL: no memory ends the process. The caller adds
 * to b->n what it wrote. Grows by doubling below 1 MiB, by half above; one big wish gets exactly its size. */
static inline char *buf_room(struct buf *b, size_t n)
{
	if (LIKELY(n < b->cap - b->n))
		return b->p + b->n;
	return buf__grow(b, n);
}

void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Drops the first n bytes. Moves what is left: for consumers of small pieces, count an offset instead. */
void buf_shift(struct buf *b, size_t n);
/* Gives the memory back; the struct is empty and usable again. */
void buf_free(struct buf *b);

static inline struct bytes buf_bytes(const struct buf *b)
{
	return (struct bytes){b->p, b->n};
}

#endif
