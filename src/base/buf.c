#include "buf.h"

#include "mem.h"

#include <stdio.h>

#define BUF_MIN 64
#define BUF_DOUBLING ((size_t)1 << 20)

char *buf__grow(struct buf *b, size_t n)
{
	size_t want, cap;

	if (UNLIKELY(n > SIZE_MAX / 2 - b->n))
		CANNOT("buffer larger than the address space");
	want = b->n + n;
	if (want <= b->cap && b->p)
		return b->p + b->n;
	cap = b->cap < BUF_DOUBLING ? b->cap * 2 : b->cap + b->cap / 2;
	if (cap < want)
		cap = want;
	if (cap < BUF_MIN)
		cap = BUF_MIN;
	b->p = mem_realloc(b->p, cap);
	b->cap = cap;
	return b->p + b->n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n == 0)
		return;
	memcpy(buf_room(b, n), p, n);
	b->n += n;
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	buf_room(b, BUF_MIN);
	room = b->cap - b->n;
	va_copy(again, ap);
	n = vsnprintf(b->p + b->n, room, fmt, ap);
	CHECK(n >= 0);
	if ((size_t)n >= room)
		vsnprintf(buf_room(b, (size_t)n + 1), (size_t)n + 1, fmt, again);
	va_end(again);
	b->n += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_shift(struct buf *b, size_t n)
{
	DCHECK2(n <= b->n, n, b->n);
	if (n == 0)
		return;
	b->n -= n;
	if (b->n)
		memmove(b->p, b->p + n, b->n);
}

void buf_free(struct buf *b)
{
	mem_free(b->p);
	*b = (struct buf){0};
}
