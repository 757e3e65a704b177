/* The counted B+tree against a set of numbers with counts (a Fenwick tree). */
#ifndef TESTS_STRUCT_MODEL_BT_H
#define TESTS_STRUCT_MODEL_BT_H

#include "unit/struct/owner.h"

struct mbt {
	struct world w;
	struct rng rng;
	struct bt_ops ops;
	uint32_t universe; /* a power of two */
	uint32_t count;
	uint32_t *there; /* version of a key, 0: not there */
	uint32_t *below; /* Fenwick */
	uint32_t *frozen, frozen_count;
	st_off frozen_root;
};

static int mbt_cmp(const struct store *st, const void *entry, const void *key, void *ctx)
{
	uint64_t a, b;

	(void)st;
	++*(uint64_t *)ctx;
	memcpy(&a, entry, 8);
	memcpy(&b, key, 8);
	return (a > b) - (a < b);
}

static uint64_t mbt_compared;

static inline const struct bt_root *mbt_root(const struct mbt *m)
{
	return &owner_view(&m->w)->bt;
}

static inline void mbt_open(struct mbt *m, struct world w, uint64_t seed, uint32_t universe, uint32_t entry)
{
	*m = (struct mbt){.w = w, .universe = universe, .ops = {entry, mbt_cmp, &mbt_compared, NULL, true}};
	rng_seed(&m->rng, seed);
	m->there = calloc(universe, sizeof(uint32_t));
	m->below = calloc(universe + 1, sizeof(uint32_t));
	m->frozen = calloc(universe, sizeof(uint32_t));
}

static inline void mbt_close(struct mbt *m)
{
	free(m->there);
	free(m->below);
	free(m->frozen);
}

/* ---- the model ---- */

static inline void mbt_set(struct mbt *m, uint32_t key, uint32_t version)
{
	uint32_t delta = (version != 0) - (m->there[key] != 0);

	m->there[key] = version;
	m->count += delta;
	for (uint32_t i = key + 1; i <= m->universe; i += i & -i)
		m->below[i] += delta;
}

static inline uint32_t mbt_rank(const struct mbt *m, uint32_t key)
{
	uint32_t n = 0;

	for (uint32_t i = key; i; i -= i & -i)
		n += m->below[i];
	return n;
}

static inline uint32_t mbt_key_at(const struct mbt *m, uint32_t rank)
{
	uint32_t key = 0;

	for (uint32_t step = m->universe; step; step /= 2)
		if (key + step <= m->universe && m->below[key + step] <= rank) {
			key += step;
			rank -= m->below[key];
		}
	return key;
}

/* ---- entries: the key, then bytes that follow from key and version ---- */

static inline void mbt_entry(const struct mbt *m, uint32_t key, uint32_t version, uint64_t out[8])
{
	out[0] = key;
	for (uint32_t i = 1; i < m->ops.entry / 8; i++)
		out[i] = (uint64_t)key << 32 | (version + i);
}

static inline void mbt_same(const struct mbt *m, const void *entry, uint32_t key)
{
	uint64_t e[8];

	mbt_entry(m, key, m->there[key], e);
	assert_memory_equal(entry, e, m->ops.entry);
}

static inline void mbt_insert(struct mbt *m, uint32_t key)
{
	uint64_t e[8];
	uint32_t version = 1 + (uint32_t)rng_below(&m->rng, 1000);

	assert_true(st_reserve(m->w.st, BT_RESERVE + 4096, false));
	mbt_entry(m, key, version, e);
	bool was = m->there[key] != 0;
	assert_int_equal(bt_insert(m->w.st, &owner_edit(&m->w)->bt, &m->ops, e, e), !was);
	if (!was)
		mbt_set(m, key, version);
}

static inline void mbt_remove(struct mbt *m, uint32_t key)
{
	uint64_t k = key, e[8], want[8];

	assert_true(st_reserve(m->w.st, BT_RESERVE, true));
	bool was = m->there[key] != 0;
	mbt_entry(m, key, m->there[key], want);
	assert_int_equal(bt_remove(m->w.st, &owner_edit(&m->w)->bt, &m->ops, &k, e), was);
	if (was) {
		assert_memory_equal(e, want, m->ops.entry);
		mbt_set(m, key, 0);
	}
}

static inline void mbt_look(struct mbt *m, uint32_t key)
{
	uint64_t k = key, e[8];
	bool there = m->there[key] != 0;

	assert_int_equal(bt_find(m->w.st, mbt_root(m), &m->ops, &k, e), there);
	if (there)
		mbt_same(m, e, key);
	assert_int_equal(bt_rank(m->w.st, mbt_root(m), &m->ops, &k), mbt_rank(m, key));
	if (m->count) {
		uint32_t rank = (uint32_t)rng_below(&m->rng, m->count);
		bt_at(m->w.st, mbt_root(m), &m->ops, rank, e);
		mbt_same(m, e, mbt_key_at(m, rank));
	}
}

/* Seeks and goes to and fro. */
static inline void mbt_walk(struct mbt *m, uint32_t key, unsigned steps)
{
	uint64_t k = key;
	struct bt_iter it;
	bool first = rng_below(&m->rng, 10) == 0;
	/* Rank of the current entry; -1 before the first, count at the end. */
	int64_t at = first ? 0 : mbt_rank(m, key);

	bt_seek(&it, m->w.st, mbt_root(m), &m->ops, first ? NULL : &k);
	unsigned forth = (unsigned)rng_below(&m->rng, 101);
	for (unsigned i = 0; i < steps; i++) {
		const void *e = bt_entry(&it);
		assert_int_equal(e != NULL, at >= 0 && at < m->count);
		if (e)
			mbt_same(m, e, mbt_key_at(m, (uint32_t)at));
		if (rng_below(&m->rng, 100) < forth) {
			bt_next(&it);
			at += at < m->count;
		} else {
			bt_prev(&it);
			at -= m->count && at >= 0;
		}
	}
}

static inline void mbt_check(const struct mbt *m)
{
	const char *wrong = bt_check(m->w.st, mbt_root(m), &m->ops);

	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(mbt_root(m)->count, m->count);
}

static inline void mbt_toggle_snapshot(struct mbt *m)
{
	if (!m->w.snapshot)
		return;
	world_commit(&m->w);
	if (!m->frozen_root) {
		memcpy(m->frozen, m->there, m->universe * sizeof(uint32_t));
		m->frozen_count = m->count;
		m->frozen_root = st_root(m->w.st);
		m->w.snapshot(m->w.st);
		return;
	}
	const struct owner *o = st_view(m->w.st, m->frozen_root);
	assert_null(bt_check(m->w.st, &o->bt, &m->ops));
	assert_int_equal(o->bt.count, m->frozen_count);
	struct bt_iter it;
	uint64_t e[8];
	bt_seek(&it, m->w.st, &o->bt, &m->ops, NULL);
	for (uint32_t k = 0; k < m->universe; k++)
		if (m->frozen[k]) {
			mbt_entry(m, k, m->frozen[k], e);
			assert_non_null(bt_entry(&it));
			assert_memory_equal(bt_entry(&it), e, m->ops.entry);
			bt_next(&it);
		}
	assert_null(bt_entry(&it));
	m->w.release(m->w.st);
	m->frozen_root = 0;
}

static inline void mbt_step(struct mbt *m, unsigned grow)
{
	unsigned what = (unsigned)rng_below(&m->rng, 100);
	uint32_t key = (uint32_t)rng_below(&m->rng, m->universe);

	if (what < 70)
		rng_below(&m->rng, 100) < grow ? mbt_insert(m, key) : mbt_remove(m, key);
	else if (what < 72 && m->count)
		mbt_remove(m, mbt_key_at(m, 0));
	else if (what < 74 && m->count)
		mbt_remove(m, mbt_key_at(m, m->count - 1));
	else if (what < 90)
		mbt_look(m, key);
	else if (what < 93)
		mbt_walk(m, key, 100);
	if (rng_below(&m->rng, 20) == 0)
		world_commit(&m->w);
}

static inline void mbt_run(struct mbt *m, uint64_t ops, uint64_t wave)
{
	static const unsigned grow[] = {95, 50, 10, 70, 30, 0};

	for (uint64_t i = 0; i < ops; i++) {
		mbt_step(m, grow[i / wave % 6]);
		if (i % wave == wave / 3) {
			mbt_check(m);
			mbt_toggle_snapshot(m);
		}
	}
	while (m->frozen_root)
		mbt_toggle_snapshot(m);
	world_commit(&m->w);
	mbt_check(m);
	if (m->w.verify)
		m->w.verify(m->w.st);
}

#endif
