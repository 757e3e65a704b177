/* Reading a rope. */
#include "struct/rope_int.h"

st_off rope__chunk(const struct store *st, const struct rope_root *r, uint64_t index)
{
	st_off ref = r->node;

	for (uint32_t level = r->levels; level && ref; level--) {
		const struct rope__node_layout *n = st_view(st, ref);
		uint64_t i = index >> ROPE__FAN_BITS * (level - 1) & (ROPE__FAN - 1);
		ref = i < n->cap ? n->ref[i] : 0;
	}
	return ref;
}

bool rope__home(const struct store *st, st_off chunk)
{
	const struct st_front *f = (const struct st_front *)(const void *)st;

	if (f->overlay_n == 0)
		return true;
	size_t size = st_size(st, chunk);
	for (size_t at = 0; at < size; at += ROPE__PART)
		if (st_view_part(st, chunk, at) != (const void *)((const char *)st_home(st, chunk) + at))
			return false;
	return true;
}

/* The longest run of payload bytes from `at` on that stands in one part. */
static const char *part_of(const struct store *st, st_off chunk, size_t at, size_t *n)
{
	at += sizeof(struct rope__chunk_layout);
	size_t part = at & ~(size_t)(ROPE__PART - 1);
	if (*n > part + ROPE__PART - at)
		*n = part + ROPE__PART - at;
	return (const char *)st_view_part(st, chunk, part) + (at - part);
}

void rope__chunk_get(const struct store *st, st_off chunk, size_t at, void *out, size_t n)
{
	if (rope__home(st, chunk)) {
		memcpy(out, ((const struct rope__chunk_layout *)st_home(st, chunk))->b + at, n);
		return;
	}
	for (size_t k; n; n -= k, at += k, out = (char *)out + k) {
		k = n;
		const char *p = part_of(st, chunk, at, &k);
		memcpy(out, p, k);
	}
}

void rope_read(const struct store *st, const struct rope_root *r, uint64_t at, void *out, size_t n)
{
	char *to = out;

	DCHECK2(at <= r->len && n <= r->len - at, at, n);
	while (n) {
		size_t in = at % ROPE_CHUNK, k = ROPE_CHUNK - in < n ? ROPE_CHUNK - in : n;
		st_off chunk = rope__chunk(st, r, at / ROPE_CHUNK);
		size_t used = chunk ? rope__used(st, chunk) : 0, have = used > in ? used - in : 0;
		if (have > k)
			have = k;
		if (have)
			rope__chunk_get(st, chunk, in, to, have);
		memset(to + have, 0, k - have);
		to += k;
		at += k;
		n -= k;
	}
}

struct each {
	const struct store *st;
	rope_piece_fn fn;
	void *ctx;
};

static bool each_zeros(const struct each *e, size_t n)
{
	static const char zeros[4096];

	for (size_t k; n; n -= k) {
		k = n < sizeof(zeros) ? n : sizeof(zeros);
		if (!e->fn(e->ctx, zeros, k, 0))
			return false;
	}
	return true;
}

static bool each_stored(const struct each *e, st_off chunk, size_t at, size_t n)
{
	if (rope__home(e->st, chunk)) {
		const struct rope__chunk_layout *c = st_home(e->st, chunk);
		return e->fn(e->ctx, (const char *)c->b + at, n, chunk);
	}
	for (size_t k; n; n -= k, at += k) {
		k = n;
		const char *p = part_of(e->st, chunk, at, &k);
		if (!e->fn(e->ctx, p, k, 0))
			return false;
	}
	return true;
}

void rope_each(const struct store *st, const struct rope_root *r, uint64_t at, uint64_t n, rope_piece_fn fn, void *ctx)
{
	const struct each e = {st, fn, ctx};

	DCHECK2(at <= r->len && n <= r->len - at, at, n);
	while (n) {
		size_t in = at % ROPE_CHUNK, k = ROPE_CHUNK - in < n ? ROPE_CHUNK - in : (size_t)n;
		st_off chunk = rope__chunk(st, r, at / ROPE_CHUNK);
		size_t used = chunk ? rope__used(st, chunk) : 0, have = used > in ? used - in : 0;
		if (have > k)
			have = k;
		if (have && !each_stored(&e, chunk, in, have))
			return;
		if (!each_zeros(&e, k - have))
			return;
		at += k;
		n -= k;
	}
}
