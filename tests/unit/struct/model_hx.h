/* The hash index against an array: random operations, commits, snapshots, scans that live across all of them. */
#ifndef TESTS_STRUCT_MODEL_HX_H
#define TESTS_STRUCT_MODEL_HX_H

#include "unit/struct/owner.h"

struct hitem {
	struct st_obj obj;
	uint64_t hash;
	uint32_t key, version;
	uint64_t pad;
};

/* How keys become hashes. */
enum hashing { HASH_GOOD, HASH_SPREAD, HASH_FEW, HASH_ONE_BUCKET, HASH_DEEP, HASH_SAME_PAGE };

static inline uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15ull;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static inline uint64_t hash_of(enum hashing how, uint32_t key)
{
	switch (how) {
	case HASH_SPREAD: return hx_spread(mix(key));
	case HASH_FEW: /* many keys of one hash: pages chain */ return mix(key % 7);
	case HASH_ONE_BUCKET: /* buckets overflow into stash and splits early */ return (mix(key) & ~0xf000ull) | 0x5000;
	case HASH_DEEP: /* alike in the first 30 bits */ return mix(key) >> 30 | 0x5555555400000000ull;
	case HASH_SAME_PAGE: /* alike in all directory bits but two */
		return (mix(key) & 0xfffff) | (uint64_t)(key & 1) << 20 | (uint64_t)(key >> 1 & 1) << 63;
	default: return mix(key);
	}
}

#define MHX_SCANS 3
struct mhx_scan {
	uint64_t cursor;
	bool open;
	uint8_t *due; /* keys there since it began and not seen yet */
};
struct mhx {
	struct world w;
	struct rng rng;
	enum hashing how;
	uint32_t universe, count;
	uint32_t *version;  /* of a key, 0: not there */
	uint32_t *frozen;   /* the same at the snapshot */
	st_off frozen_root; /* 0: no snapshot */
	uint64_t frozen_count;
	struct mhx_scan scan[MHX_SCANS];
	uint64_t scans, rounds;
};

static inline uint64_t mhx_item_hash(const struct store *st, st_off item)
{
	return ((const struct hitem *)st_view(st, item))->hash;
}

static inline bool mhx_eq(const struct store *st, st_off item, const void *key)
{
	return ((const struct hitem *)st_view(st, item))->key == *(const uint32_t *)key;
}

static const struct hx_ops mhx_ops = {mhx_item_hash};

static inline const struct hx_root *mhx_root(const struct mhx *m)
{
	return &owner_view(&m->w)->hx;
}

static inline void mhx_open(struct mhx *m, struct world w, uint64_t seed, enum hashing how, uint32_t universe)
{
	*m = (struct mhx){.w = w, .how = how, .universe = universe};
	rng_seed(&m->rng, seed);
	m->version = calloc(universe, sizeof(*m->version));
	m->frozen = calloc(universe, sizeof(*m->frozen));
	for (unsigned i = 0; i < MHX_SCANS; i++)
		m->scan[i].due = calloc(universe, 1);
}

static inline void mhx_close(struct mhx *m)
{
	free(m->version);
	free(m->frozen);
	for (unsigned i = 0; i < MHX_SCANS; i++)
		free(m->scan[i].due);
}

/* ---- operations ---- */

static inline st_off mhx_item(struct mhx *m, uint32_t key, uint32_t version)
{
	st_off off;
	struct hitem *it = st_alloc(m->w.st, sizeof(*it), ST_KIND_RECORD, &off);

	it->hash = hash_of(m->how, key);
	it->key = key;
	it->version = version;
	it->pad = ~(uint64_t)key;
	return off;
}

static inline void mhx_insert(struct mhx *m, uint32_t key)
{
	assert_true(st_reserve(m->w.st, HX_RESERVE + sizeof(struct hitem) + 4096, false));
	assert_int_equal(hx_find(m->w.st, mhx_root(m), hash_of(m->how, key), mhx_eq, &key), 0);
	st_off item = mhx_item(m, key, 1);
	hx_insert(m->w.st, &owner_edit(&m->w)->hx, &mhx_ops, hash_of(m->how, key), item);
	m->version[key] = 1;
	m->count++;
}

static inline void mhx_locate(const struct mhx *m, uint32_t key, struct hx_pos *pos)
{
	assert_true(hx_locate(m->w.st, mhx_root(m), hash_of(m->how, key), mhx_eq, &key, pos));
	const struct hitem *it = st_view(m->w.st, pos->item);
	assert_int_equal(it->key, key);
	assert_int_equal(it->version, m->version[key]);
	assert_int_equal(it->pad, ~(uint64_t)key);
}

static inline void mhx_remove(struct mhx *m, uint32_t key)
{
	struct hx_pos pos;

	assert_true(st_reserve(m->w.st, HX_RESERVE, true));
	mhx_locate(m, key, &pos);
	hx_remove(m->w.st, &owner_edit(&m->w)->hx, &mhx_ops, hash_of(m->how, key), &pos);
	st_free(m->w.st, pos.item);
	m->version[key] = 0;
	m->count--;
	for (unsigned i = 0; i < MHX_SCANS; i++)
		m->scan[i].due[key] = 0;
}

static inline void mhx_replace(struct mhx *m, uint32_t key)
{
	struct hx_pos pos;

	assert_true(st_reserve(m->w.st, HX_RESERVE + sizeof(struct hitem) + 4096, false));
	mhx_locate(m, key, &pos);
	st_off item = mhx_item(m, key, ++m->version[key]);
	hx_replace(m->w.st, &owner_edit(&m->w)->hx, hash_of(m->how, key), &pos, item);
	st_free(m->w.st, pos.item);
}

static inline void mhx_edit(struct mhx *m, uint32_t key)
{
	struct hx_pos pos;

	assert_true(st_reserve(m->w.st, HX_RESERVE + sizeof(struct hitem) + 4096, false));
	mhx_locate(m, key, &pos);
	struct hitem *it = hx_edit(m->w.st, &owner_edit(&m->w)->hx, hash_of(m->how, key), &pos);
	it->version = ++m->version[key];
	mhx_locate(m, key, &pos);
}

static inline void mhx_miss(const struct mhx *m, uint32_t key)
{
	assert_int_equal(hx_find(m->w.st, mhx_root(m), hash_of(m->how, key), mhx_eq, &key), 0);
}

static inline void mhx_random(struct mhx *m)
{
	st_off item = hx_random(m->w.st, mhx_root(m), &m->rng);

	assert_int_equal(item == 0, m->count == 0);
	if (item) {
		const struct hitem *it = st_view(m->w.st, item);
		assert_true(it->key < m->universe);
		assert_int_equal(it->version, m->version[it->key]);
	}
}

static inline void mhx_prefetch(const struct mhx *m, uint32_t key)
{
	uint64_t hash = hash_of(m->how, key);

	hx_prefetch_bucket(m->w.st, mhx_root(m), hash);
	hx_prefetch_slot(m->w.st, mhx_root(m), hash);
	hx_prefetch_item(m->w.st, mhx_root(m), hash, sizeof(struct hitem));
}

/* ---- scans ---- */

struct mhx_visit {
	const struct mhx *m;
	struct mhx_scan *s;
	size_t n;
};

static inline void mhx_seen(void *ctx, st_off item)
{
	struct mhx_visit *v = ctx;
	const struct hitem *it = st_view(v->m->w.st, item);

	assert_true(it->key < v->m->universe);
	assert_int_equal(it->version, v->m->version[it->key]);
	v->s->due[it->key] = 0;
	v->n++;
}

static inline void mhx_scan_step(struct mhx *m, struct mhx_scan *s, size_t want)
{
	if (!s->open) {
		s->open = true;
		s->cursor = 0;
		for (uint32_t k = 0; k < m->universe; k++)
			s->due[k] = m->version[k] != 0;
	}
	struct mhx_visit v = {m, s, 0};
	s->cursor = hx_scan(m->w.st, mhx_root(m), &mhx_ops, s->cursor, want, mhx_seen, &v);
	m->scans++;
	assert_true(s->cursor < 1ull << 53);
	if (s->cursor) {
		assert_true(v.n >= want);
		return;
	}
	s->open = false;
	m->rounds++;
	for (uint32_t k = 0; k < m->universe; k++)
		if (s->due[k])
			fail_msg("key %u was there throughout a scan and was not visited", k);
}

/* ---- ticks ---- */

static inline void mhx_check(const struct mhx *m)
{
	const char *wrong = hx_check(m->w.st, mhx_root(m), &mhx_ops);

	if (wrong)
		fail_msg("%s", wrong);
	assert_int_equal(mhx_root(m)->count, m->count);
}

static inline void mhx_check_frozen(const struct mhx *m)
{
	const struct owner *o = st_view(m->w.st, m->frozen_root);
	const char *wrong = hx_check(m->w.st, &o->hx, &mhx_ops);

	if (wrong)
		fail_msg("in the snapshot: %s", wrong);
	assert_int_equal(o->hx.count, m->frozen_count);
	for (uint32_t k = 0; k < m->universe; k++) {
		st_off item = hx_find(m->w.st, &o->hx, hash_of(m->how, k), mhx_eq, &k);
		assert_int_equal(item != 0, m->frozen[k] != 0);
		if (item)
			assert_int_equal(((const struct hitem *)st_view(m->w.st, item))->version, m->frozen[k]);
	}
}

static inline void mhx_toggle_snapshot(struct mhx *m)
{
	if (!m->w.snapshot)
		return;
	world_commit(&m->w);
	if (m->frozen_root) {
		mhx_check_frozen(m);
		m->w.release(m->w.st);
		m->frozen_root = 0;
	} else {
		memcpy(m->frozen, m->version, m->universe * sizeof(*m->frozen));
		m->frozen_count = m->count;
		m->frozen_root = st_root(m->w.st);
		m->w.snapshot(m->w.st);
	}
}

/* One random operation; grow: out of 100, how often a key is put in rather than taken out. */
static inline void mhx_step(struct mhx *m, unsigned grow)
{
	uint32_t key = (uint32_t)rng_below(&m->rng, m->universe);
	unsigned what = (unsigned)rng_below(&m->rng, 100);

	if (what < 60) {
		bool in = rng_below(&m->rng, 100) < grow;
		if (in && !m->version[key])
			mhx_insert(m, key);
		else if (!in && m->version[key])
			mhx_remove(m, key);
	} else if (what < 70) {
		m->version[key] ? mhx_replace(m, key) : mhx_miss(m, key);
	} else if (what < 80) {
		m->version[key] ? mhx_edit(m, key) : mhx_miss(m, key);
	} else if (what < 90) {
		struct hx_pos pos;
		mhx_prefetch(m, key);
		m->version[key] ? mhx_locate(m, key, &pos) : mhx_miss(m, key);
	} else if (what < 92) {
		mhx_random(m);
	} else if (what < 97) {
		mhx_scan_step(m, &m->scan[rng_below(&m->rng, MHX_SCANS)], (size_t)rng_below(&m->rng, 60));
	}
	if (rng_below(&m->rng, 20) == 0)
		world_commit(&m->w);
}

/* A long run: waves of growth and decline. */
static inline void mhx_run(struct mhx *m, uint64_t ops, uint64_t wave)
{
	static const unsigned grow[] = {95, 50, 10, 70, 30, 0};

	for (uint64_t i = 0; i < ops; i++) {
		mhx_step(m, grow[i / wave % 6]);
		if (i % wave == wave / 3) {
			mhx_check(m);
			mhx_toggle_snapshot(m);
		}
	}
	while (m->frozen_root)
		mhx_toggle_snapshot(m);
	world_commit(&m->w);
	mhx_check(m);
	if (m->w.verify)
		m->w.verify(m->w.st);
}

/* Takes everything out one by one: nothing of the index must be left. */
static inline void mhx_empty(struct mhx *m)
{
	for (uint32_t k = 0; k < m->universe; k++)
		if (m->version[k])
			mhx_remove(m, k);
	world_commit(&m->w);
	mhx_check(m);
	assert_int_equal(mhx_root(m)->dir, 0);
}

#endif
