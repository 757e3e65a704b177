/* The contents of a page, taken out and put into fresh pages: what splits and merges are made of. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

static void set_add(struct hx__set *s, uint64_t v, uint16_t tag, unsigned bucket)
{
	CHECK2(s->n < HX_CAP + 1, s->n, bucket);
	s->e[s->n++] = (struct hx__item){v, tag, (uint8_t)bucket};
}

/* Stashed items keep their bucket's number where others keep hash bits, so these few are asked for their hash. */
static void take_stash(struct hx__set *s, const struct store *st, const struct hx_ops *ops, st_off page, unsigned depth)
{
	const struct hx__stash_layout *p = st_view_part(st, page, 0);
	uint32_t used = ~hx__match_stash(p, 0) & HX__STASH_LANES;

	for (uint32_t m = used; m; m &= m - 1)
		__builtin_prefetch(st_home(st, hx__slot_off(hx__slot_get(&p->slot[__builtin_ctz(m)]))));
	for (uint32_t m = used; m; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);
		uint64_t v = hx__slot_get(&p->slot[i]);
		st_off item = hx__slot_off(v);
		set_add(s, hx__slot_make(item, hx__window(ops->hash(st, item), depth)), p->tag[i], hx__slot_extra(v));
	}
}

void hx__set_take(struct hx__set *s, const struct store *st, const struct hx_ops *ops, st_off page, unsigned depth)
{
	for (unsigned k = 0; k < HX_BUCKETS; k++) {
		const struct hx__bucket_layout *b = st_view_part(st, page, HX_PART * (1 + k));
		for (uint32_t m = ~hx__match_bucket(b, 0); m; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			set_add(s, hx__slot_get(&b->slot[i]), b->tag[i], k);
		}
	}
	take_stash(s, st, ops, page, depth);
}

void hx__set_window(struct hx__set *s, const struct store *st, const struct hx_ops *ops, unsigned depth)
{
	const unsigned ahead = 16;

	for (unsigned i = 0; i < s->n && i < ahead; i++)
		__builtin_prefetch(st_home(st, hx__slot_off(s->e[i].v)));
	for (unsigned i = 0; i < s->n; i++) {
		if (i + ahead < s->n)
			__builtin_prefetch(st_home(st, hx__slot_off(s->e[i + ahead].v)));
		st_off item = hx__slot_off(s->e[i].v);
		uint64_t hash = ops->hash(st, item);
		DCHECK2(hx__tag(hash) == s->e[i].tag && hx__bucket(hash) == s->e[i].bucket, item, hash);
		s->e[i].v = hx__slot_make(item, hx__window(hash, depth));
	}
}

bool hx__set_fits(const struct hx__item *e, unsigned n)
{
	uint16_t in[HX_BUCKETS] = {0};
	unsigned beyond = 0;

	if (n > HX_CAP)
		return false;
	for (unsigned i = 0; i < n; i++)
		beyond += ++in[e[i].bucket] > HX_SLOTS;
	return beyond <= HX_STASH;
}

/* Puts one item into a fresh page where there is room. */
static bool page_add(char *page, uint16_t used[HX_BUCKETS + 1], const struct hx__item *e)
{
	struct hx__stash_layout *s = (struct hx__stash_layout *)(void *)page;
	struct hx__bucket_layout *b = (struct hx__bucket_layout *)(void *)(page + HX_PART * (1 + (size_t)e->bucket));
	unsigned i = used[e->bucket];

	if (LIKELY(i < HX_SLOTS)) {
		b->tag[i] = e->tag;
		hx__slot_put(&b->slot[i], e->v);
		used[e->bucket]++;
		return true;
	}
	i = used[HX_BUCKETS];
	if (i == HX_STASH)
		return false;
	s->tag[i] = e->tag;
	hx__slot_put(&s->slot[i], hx__slot_make(hx__slot_off(e->v), e->bucket));
	s->mask = (uint16_t)(s->mask | 1u << e->bucket);
	used[HX_BUCKETS]++;
	return true;
}

st_off hx__page_build(struct store *st, const struct hx__item *e, unsigned n, st_off chain)
{
	struct hx__item left[HX_CAP + 1];

	while (n) {
		uint16_t used[HX_BUCKETS + 1] = {0};
		unsigned beyond = 0;
		st_off off;
		char *page = st_alloc(st, HX_PAGE_BYTES, ST_KIND_HX_PAGE, &off);
		CHECK2(page != NULL, n, 0);
		memset(page + sizeof(struct st_obj), 0, HX_PAGE_BYTES - sizeof(struct st_obj));
		hx__slot_put(&((struct hx__stash_layout *)(void *)page)->next, hx__slot_make(chain, 0));
		for (unsigned i = 0; i < n; i++)
			if (UNLIKELY(!page_add(page, used, &e[i])))
				left[beyond++] = e[i];
		chain = off;
		e = left;
		n = beyond;
	}
	return chain;
}

unsigned hx__page_count(const struct store *st, st_off page)
{
	const struct hx__stash_layout *s = st_view_part(st, page, 0);
	unsigned n = (unsigned)__builtin_popcount(~hx__match_stash(s, 0) & HX__STASH_LANES);

	for (unsigned k = 0; k < HX_BUCKETS; k++)
		n += (unsigned)__builtin_popcount(~hx__match_bucket(st_view_part(st, page, HX_PART * (1 + k)), 0));
	return n;
}
