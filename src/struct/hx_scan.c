/* Walking the index from a cursor, and drawing from it.
 *
 * Order: directory bits of the hash, then tag, by whole buckets. A cursor (prefix of D bits, cut c) says: visited is
 * everything with smaller directory bits, and of the hashes with this prefix those whose tag is below c/48 of 2^16.
 * It stays true whatever happens to pages, as items change neither. Where the page has more or fewer buckets now, the
 * cut falls into one of them, which is visited whole; where it is deeper, the rest of the prefix is visited again from
 * the first bucket; where it is shallower, the whole page is, because the halves that merged in may be unvisited.
 *
 * As a number: bits 6-50 the prefix left-aligned in 44 bits, a 1 behind its last bit, zeros; bits 0-5 the cut. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

#include "base/rng.h"

struct place {
	uint64_t prefix; /* HX_DIR_BITS bits */
	unsigned depth;
	unsigned cut;
};

static uint64_t cursor_of(struct place at)
{
	return ((at.prefix << 1 | 1ull << (HX_DIR_BITS - at.depth)) << 6) | at.cut;
}

/* Any number is a cursor. */
static struct place place_of(uint64_t cursor)
{
	uint64_t x = cursor >> 6 & ((1ull << (HX_DIR_BITS + 1)) - 1);
	if (x == 0)
		return (struct place){0};
	unsigned low = (unsigned)__builtin_ctzll(x);
	unsigned cut = (unsigned)cursor & 63;
	return (struct place){(x & (x - 1)) >> 1, HX_DIR_BITS - low, cut < HX_CUTS ? cut : 0};
}

struct visit {
	const struct store *st;
	void (*fn)(void *ctx, st_off item);
	void *ctx;
};

/* Items that a bitmap names in 32 places of slots, prefetched before the first is visited. */
static size_t visit_slots(const struct visit *v, const struct hx__slot *slot, uint32_t m)
{
	for (uint32_t k = m; k; k &= k - 1)
		__builtin_prefetch(st_home(v->st, hx__slot_off(hx__slot_get(&slot[__builtin_ctz(k)]))));
	for (uint32_t k = m; k; k &= k - 1)
		v->fn(v->ctx, hx__slot_off(hx__slot_get(&slot[__builtin_ctz(k)])));
	return (size_t)__builtin_popcount(m);
}

/* The bucket of a page that starts at a cut or has it inside, stashed items included. Returns how many they were. */
static size_t visit_bucket(const struct visit *v, uint64_t page, unsigned cut)
{
	unsigned buckets = hx__buckets(page), bucket = cut * buckets / HX_CUTS;
	st_off off = hx__ref_off(page);
	const struct hx__stash_layout *s = st_view_part(v->st, off, 0);
	uint32_t used = hx__used_tags(hx__tags(v->st, off, bucket));

	return visit_slots(v, st_view_part(v->st, off, hx__half_at(bucket, 0)), used & 0xffff) +
		visit_slots(v, st_view_part(v->st, off, hx__half_at(bucket, HX_HALF)), used >> HX_HALF) +
		visit_slots(v, s->slot, hx__stash_of(s, bucket, buckets));
}

/* From a cut on one bucket of a page, and of the pages of its chain what has the same tags. *cut moves on. */
static size_t visit_cut(const struct visit *v, uint64_t page, unsigned *cut)
{
	unsigned buckets = hx__buckets(page), end = (*cut * buckets / HX_CUTS + 1) * HX_CUTS / buckets;
	size_t n = visit_bucket(v, page, *cut);

	while ((page = hx__chain(st_view_part(v->st, hx__ref_off(page), 0))) != 0) {
		unsigned step = HX_CUTS / hx__buckets(page);
		for (unsigned c = *cut / step * step; c < end; c += step)
			n += visit_bucket(v, page, c);
	}
	*cut = end;
	return n;
}

uint64_t hx_scan(const struct store *st, const struct hx_root *r, const struct hx_ops *ops, uint64_t cursor,
	size_t want, void (*fn)(void *ctx, st_off item), void *ctx)
{
	const struct visit v = {st, fn, ctx};
	struct place at = place_of(cursor);
	size_t n = 0;

	(void)ops;
	if (r->dir == 0)
		return 0;
	for (;;) {
		unsigned depth;
		uint64_t page = hx__page_of(st, r, at.prefix << (64 - HX_DIR_BITS), &depth);
		uint64_t width = 1ull << (HX_DIR_BITS - depth);
		if (depth < at.depth)
			at.cut = 0;
		at.prefix &= ~(width - 1);
		at.depth = depth;
		while (page && at.cut < HX_CUTS) {
			if (n >= want && n)
				return cursor_of(at);
			n += visit_cut(&v, page, &at.cut);
		}
		at.prefix += width;
		if (at.prefix >> HX_DIR_BITS)
			return 0;
		/* Nothing of what follows is visited: as if from a page as small as can be. */
		at.depth = HX_DIR_BITS;
		at.cut = 0;
		if (n >= want && n)
			return cursor_of(at);
	}
}

/* ---- random ---- */

/* The m-th item of a page, counted over its buckets and its stash. */
static st_off nth(const struct store *st, uint64_t page, unsigned m)
{
	st_off off = hx__ref_off(page);
	const struct hx__stash_layout *s = st_view_part(st, off, 0);

	for (unsigned k = 0; k <= hx__buckets(page); k++) {
		bool stash = k == hx__buckets(page);
		uint32_t used = stash ? hx__used_stash(s) : hx__used_tags(hx__tags(st, off, k));
		unsigned n = (unsigned)__builtin_popcount(used);
		if (m >= n) {
			m -= n;
			continue;
		}
		while (m--)
			used &= used - 1;
		unsigned i = (unsigned)__builtin_ctz(used);
		return hx__slot_off(stash ? hx__slot_get(&s->slot[i]) : hx__slot(st, off, k, i));
	}
	return 0;
}

/* Slot m of HX_CAP, as if every page had all buckets; 0 where nothing is. */
static st_off slot_at(const struct store *st, uint64_t page, unsigned m)
{
	st_off off = hx__ref_off(page);
	unsigned i = m % HX_SLOTS;

	if (m < HX_BUCKETS * HX_SLOTS) {
		unsigned k = m / HX_SLOTS;
		if (k >= hx__buckets(page) || hx__tags(st, off, k)[i] == 0)
			return 0;
		return hx__slot_off(hx__slot(st, off, k, i));
	}
	const struct hx__stash_layout *s = st_view_part(st, off, 0);
	return s->tag[i] ? hx__slot_off(hx__slot_get(&s->slot[i])) : 0;
}

/* A page of the chain, each equally likely. */
static uint64_t chained(const struct store *st, uint64_t page, struct rng *rng)
{
	unsigned n = 0;

	for (uint64_t p = page; p; p = hx__chain(st_view_part(st, hx__ref_off(p), 0)))
		n++;
	for (uint64_t k = rng_below(rng, n); k; k--)
		page = hx__chain(st_view_part(st, hx__ref_off(page), 0));
	return page;
}

/* The first item at or after a place, and round. */
static void first_item(void *ctx, st_off item)
{
	st_off *out = ctx;
	if (*out == 0)
		*out = item;
}

static st_off any_item(const struct store *st, const struct hx_root *r, uint64_t prefix)
{
	st_off item = 0;

	hx_scan(st, r, NULL, cursor_of((struct place){prefix, HX_DIR_BITS, 0}), 1, first_item, &item);
	if (item == 0)
		hx_scan(st, r, NULL, 0, 1, first_item, &item);
	return item;
}

/* No page that holds its share of the items is deeper than this. */
static unsigned depth_bound(const struct hx_root *r)
{
	unsigned deep = hx__ref_deep(r->dir), by_count = 64 - (unsigned)__builtin_clzll(r->count / 64 + 1);
	return deep < by_count ? deep : by_count;
}

st_off hx_random(const struct store *st, const struct hx_root *r, struct rng *rng)
{
	if (r->count == 0)
		return 0;
	if (!(r->dir & HX__IS_DIR))
		return nth(st, r->dir & HX__PAGE, (unsigned)rng_below(rng, r->count));

	/* A random prefix meets a page with chance 2^-depth, so shallow pages are taken less often, by as much. */
	unsigned bound = depth_bound(r);
	for (unsigned tries = 0; tries < 2000; tries++) {
		uint64_t x = rng_next(rng);
		unsigned depth;
		uint64_t page = hx__page_of(st, r, x, &depth);
		if (page == 0 || (depth < bound && x << (64 - (bound - depth)) != 0))
			continue;
		if (UNLIKELY(depth == HX_DIR_BITS))
			page = chained(st, page, rng);
		st_off item = slot_at(st, page, (unsigned)rng_below(rng, HX_CAP));
		if (item)
			return item;
	}
	return any_item(st, r, rng_next(rng) >> (64 - HX_DIR_BITS));
}
