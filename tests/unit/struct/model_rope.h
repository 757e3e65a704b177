/* The rope against a plain array of bytes. */
#ifndef TESTS_STRUCT_MODEL_ROPE_H
#define TESTS_STRUCT_MODEL_ROPE_H

#include "unit/struct/owner.h"

struct mrope {
	struct world w;
	struct rng rng;
	uint64_t max;
	uint64_t len;
	char *bytes; /* zeros behind len */
	char *scratch, *junk;
	uint64_t frozen_len;
	char *frozen;
	st_off frozen_root;
	st_off pinned[8]; /* pieces that a reader keeps */
	const char *pinned_at[8];
	size_t pinned_n[8];
	char *pinned_copy[8];
};

static inline const struct rope_root *mrope_root(const struct mrope *m)
{
	return &owner_view(&m->w)->rope;
}

static inline void mrope_open(struct mrope *m, struct world w, uint64_t seed, uint64_t max)
{
	*m = (struct mrope){.w = w, .max = max};
	rng_seed(&m->rng, seed);
	m->bytes = calloc(1, max);
	m->scratch = malloc(max);
	m->frozen = malloc(max);
	m->junk = malloc(max);
	for (uint64_t i = 0; i < max; i += 8) {
		uint64_t x = rng_next(&m->rng);
		memcpy(m->junk + i, &x, max - i < 8 ? max - i : 8);
	}
	for (unsigned i = 0; i < 8; i++)
		m->pinned_copy[i] = malloc(ROPE_CHUNK);
}

static inline void mrope_close(struct mrope *m)
{
	free(m->bytes);
	free(m->scratch);
	free(m->frozen);
	free(m->junk);
	for (unsigned i = 0; i < 8; i++)
		free(m->pinned_copy[i]);
}

static inline void mrope_same(
	const struct mrope *m, const struct rope_root *r, const char *bytes, uint64_t at, uint64_t n)
{
	rope_read(m->w.st, r, at, m->scratch, n);
	if (memcmp(m->scratch, bytes + at, n) == 0)
		return;
	for (uint64_t i = 0; i < n; i++)
		if (m->scratch[i] != bytes[at + i])
			fail_msg("byte %lu of %lu: %02x, not %02x", at + i, r->len, (uint8_t)m->scratch[i], (uint8_t)bytes[at + i]);
}

static inline void mrope_check(const struct mrope *m)
{
	const char *wrong = rope_check(m->w.st, mrope_root(m));

	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(mrope_root(m)->len, m->len);
	mrope_same(m, mrope_root(m), m->bytes, 0, m->len);
}

static inline void mrope_write(struct mrope *m, uint64_t at, uint64_t n)
{
	const char *src = m->junk + rng_below(&m->rng, m->max - n + 1);

	assert_true(st_reserve(m->w.st, rope_reserve(n) + 8192, false));
	rope_write(m->w.st, &owner_edit(&m->w)->rope, at, (struct bytes){src, n});
	memcpy(m->bytes + at, src, n);
	if (n && at + n > m->len)
		m->len = at + n;
}

static inline uint64_t mrope_length(struct mrope *m)
{
	static const uint32_t sizes[] = {1, 8, 100, 512, 5000, ROPE_CHUNK, 3 * ROPE_CHUNK + 7, 100 * ROPE_CHUNK};
	uint64_t max = sizes[rng_below(&m->rng, rng_below(&m->rng, 4) ? 5 : 8)];
	return 1 + rng_below(&m->rng, max < m->max ? max : m->max);
}

static inline void mrope_truncate(struct mrope *m, uint64_t len)
{
	assert_true(st_reserve(m->w.st, rope_reserve(1) + 8192, true));
	rope_truncate(m->w.st, &owner_edit(&m->w)->rope, len);
	memset(m->bytes + len, 0, m->len - len);
	m->len = len;
}

/* ---- pieces ---- */

struct mrope_pieces {
	struct mrope *m;
	uint64_t at, end;
	unsigned stop;
};

static inline bool mrope_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct mrope_pieces *v = ctx;
	struct mrope *m = v->m;
	unsigned i = (unsigned)rng_below(&m->rng, 8);

	assert_true(n > 0 && v->at + n <= v->end);
	assert_memory_equal(p, m->bytes + v->at, n);
	v->at += n;
	if (chunk && m->pinned[i] == 0 && rng_below(&m->rng, 4) == 0) {
		assert_true(st_pin(m->w.st, chunk));
		m->pinned[i] = chunk;
		m->pinned_at[i] = p;
		m->pinned_n[i] = n;
		memcpy(m->pinned_copy[i], p, n);
	}
	return --v->stop != 0;
}

static inline void mrope_unpin(struct mrope *m, unsigned i)
{
	if (m->pinned[i] == 0)
		return;
	/* Whatever came since: the bytes are what they were. */
	assert_memory_equal(m->pinned_at[i], m->pinned_copy[i], m->pinned_n[i]);
	st_unpin(m->w.st, m->pinned[i]);
	m->pinned[i] = 0;
}

static inline void mrope_each(struct mrope *m)
{
	uint64_t at = rng_below(&m->rng, m->len + 1), n = rng_below(&m->rng, m->len - at + 1);
	struct mrope_pieces v = {m, at, at + n, (unsigned)rng_below(&m->rng, 20) + 1};

	rope_each(m->w.st, mrope_root(m), at, n, mrope_piece, &v);
	assert_true(v.at == v.end || v.stop == 0);
}

/* ---- the rest ---- */

static inline void mrope_copy(struct mrope *m)
{
	struct rope_root copy;

	assert_true(st_reserve(m->w.st, rope_reserve(m->len) + 8192, false));
	rope_copy(m->w.st, mrope_root(m), &copy);
	assert_null(rope_check(m->w.st, &copy));
	assert_int_equal(copy.len, m->len);
	mrope_same(m, &copy, m->bytes, 0, m->len);
	/* A copy stands on its own. */
	if (rng_below(&m->rng, 2)) {
		struct owner *o = owner_edit(&m->w);
		rope_drop(m->w.st, &o->rope);
		o->rope = copy;
	} else {
		rope_drop(m->w.st, &copy);
		assert_int_equal(copy.node, 0);
	}
}

static inline void mrope_byte(struct mrope *m)
{
	uint64_t at = rng_below(&m->rng, m->len);

	assert_true(st_reserve(m->w.st, rope_reserve(1) + 8192, false));
	uint8_t *p = rope_byte(m->w.st, &owner_edit(&m->w)->rope, at);
	assert_int_equal(*p, (uint8_t)m->bytes[at]);
	*p ^= (uint8_t)(1u << rng_below(&m->rng, 8));
	m->bytes[at] = (char)*p;
}

static inline void mrope_toggle_snapshot(struct mrope *m)
{
	if (!m->w.snapshot)
		return;
	world_commit(&m->w);
	if (m->frozen_root) {
		const struct owner *o = st_view(m->w.st, m->frozen_root);
		assert_null(rope_check(m->w.st, &o->rope));
		assert_int_equal(o->rope.len, m->frozen_len);
		mrope_same(m, &o->rope, m->frozen, 0, m->frozen_len);
		m->w.release(m->w.st);
		m->frozen_root = 0;
	} else {
		m->frozen_len = m->len;
		memcpy(m->frozen, m->bytes, m->len);
		m->frozen_root = st_root(m->w.st);
		m->w.snapshot(m->w.st);
	}
}

static inline void mrope_step(struct mrope *m)
{
	unsigned what = (unsigned)rng_below(&m->rng, 100);
	uint64_t n = mrope_length(m);

	if (what < 30) {
		uint64_t at = m->len;
		if (at + n <= m->max)
			mrope_write(m, at, n);
	} else if (what < 55) {
		uint64_t at = rng_below(&m->rng, m->len + 1);
		if (at + n <= m->max)
			mrope_write(m, at, n);
	} else if (what < 57) {
		uint64_t at = rng_below(&m->rng, m->max - n + 1);
		mrope_write(m, at, n);
	} else if (what < 67 && m->len) {
		mrope_byte(m);
	} else if (what < 69 && m->len) {
		mrope_truncate(m, rng_below(&m->rng, m->len + 1));
	} else if (what < 71) {
		mrope_truncate(m, m->len - rng_below(&m->rng, m->len < 20000 ? m->len + 1 : 20000));
	} else if (what < 72 && m->len < m->max / 8) {
		mrope_copy(m);
	} else if (what < 80) {
		mrope_each(m);
	} else if (what < 90) {
		uint64_t at = rng_below(&m->rng, m->len + 1), k = rng_below(&m->rng, m->len - at + 1);
		mrope_same(m, mrope_root(m), m->bytes, at, k < 50000 ? k : 50000);
	} else {
		mrope_unpin(m, (unsigned)rng_below(&m->rng, 8));
	}
	if (rng_below(&m->rng, 10) == 0)
		world_commit(&m->w);
}

static inline void mrope_run(struct mrope *m, uint64_t ops)
{
	for (uint64_t i = 0; i < ops; i++) {
		mrope_step(m);
		if (i % 200 == 199) {
			mrope_check(m);
			mrope_toggle_snapshot(m);
		}
		if (rng_below(&m->rng, 500) == 0)
			mrope_truncate(m, 0);
	}
	while (m->frozen_root)
		mrope_toggle_snapshot(m);
	world_commit(&m->w);
	mrope_check(m);
	for (unsigned i = 0; i < 8; i++)
		mrope_unpin(m, i);
	if (m->w.verify)
		m->w.verify(m->w.st);
}

#endif
