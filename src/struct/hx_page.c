/* The contents of a page, taken out and put into fresh pages: what growth, splits and merges are made of. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

void hx__set_take(struct hx__set *s, const struct store *st, uint64_t page)
{
	st_off off = hx__ref_off(page);

	for (unsigned k = 0; k < hx__buckets(page); k++) {
		const uint16_t *tag = hx__tags(st, off, k);
		for (uint32_t m = hx__used_tags(tag); m; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			CHECK2(s->n < HX_CAP + 1, s->n, page);
			s->e[s->n++] = (struct hx__item){hx__slot(st, off, k, i), tag[i]};
		}
	}
	const struct hx__stash_layout *p = st_view_part(st, off, 0);
	for (uint32_t m = hx__used_stash(p); m; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);
		CHECK2(s->n < HX_CAP + 1, s->n, page);
		s->e[s->n++] = (struct hx__item){hx__slot_get(&p->slot[i]), p->tag[i]};
	}
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
		DCHECK2(hx__tag(hash) == s->e[i].tag, item, hash);
		s->e[i].v = hx__slot_make(item, hx__window(hash, depth));
	}
}

bool hx__set_fits(const struct hx__item *e, unsigned n, unsigned buckets)
{
	uint16_t in[HX_BUCKETS] = {0};
	unsigned beyond = 0;

	if (n > buckets * HX_SLOTS + HX_STASH)
		return false;
	for (unsigned i = 0; i < n; i++)
		beyond += ++in[hx__bucket(e[i].tag, buckets)] > HX_SLOTS;
	return beyond <= HX_STASH;
}

/* Pages grow by these steps. With 12 between 8 and 16 a page that has just split is two thirds full, not half. */
static unsigned larger(unsigned buckets)
{
	return buckets < 8 ? buckets * 2 : buckets + 4;
}

unsigned hx__page_suits(unsigned n)
{
	unsigned buckets = 1;

	/* A few more than that fit: room to grow by. */
	while (buckets < HX_BUCKETS && n > buckets * (HX_SLOTS - 4))
		buckets = larger(buckets);
	return buckets;
}

/* Puts one item into a fresh page where there is room. */
static bool page_add(char *page, unsigned buckets, uint16_t used[HX_BUCKETS + 1], const struct hx__item *e)
{
	unsigned bucket = hx__bucket(e->tag, buckets), i = used[bucket];
	struct hx__bucket_layout *b = (void *)(page + hx__tags_at(bucket));
	struct hx__stash_layout *s = (void *)page;

	if (LIKELY(i < HX_SLOTS)) {
		b->tag[i] = e->tag;
		hx__slot_put(&b->slot[i], e->v);
		used[bucket]++;
		return true;
	}
	i = used[HX_BUCKETS];
	if (i == HX_STASH)
		return false;
	s->tag[i] = e->tag;
	hx__slot_put(&s->slot[i], e->v);
	s->mask = (uint16_t)(s->mask | 1u << bucket);
	used[HX_BUCKETS]++;
	return true;
}

static char *page_new(struct store *st, unsigned buckets, uint64_t chain, uint64_t *page_out)
{
	st_off off;
	size_t bytes = hx__page_bytes(buckets);
	struct hx__stash_layout *s = st_alloc(st, bytes, ST_KIND_HX_PAGE, &off);

	CHECK2(s != NULL, buckets, bytes);
	s->obj.flags = (uint16_t)buckets;
	memset((char *)s + sizeof(s->obj), 0, bytes - sizeof(s->obj));
	hx__chain_put(s, chain);
	*page_out = hx__page(off, buckets);
	return (char *)s;
}

uint64_t hx__page_build(struct store *st, const struct hx__item *e, unsigned n, uint64_t chain)
{
	struct hx__item left[HX_CAP + 1];

	while (n) {
		uint16_t used[HX_BUCKETS + 1] = {0};
		unsigned beyond = 0, buckets = hx__page_suits(n);
		while (buckets < HX_BUCKETS && !hx__set_fits(e, n, buckets))
			buckets = larger(buckets);
		char *page = page_new(st, buckets, chain, &chain);
		for (unsigned i = 0; i < n; i++)
			if (UNLIKELY(!page_add(page, buckets, used, &e[i])))
				left[beyond++] = e[i];
		e = left;
		n = beyond;
	}
	return chain;
}

unsigned hx__page_count(const struct store *st, uint64_t page)
{
	st_off off = hx__ref_off(page);
	unsigned n = (unsigned)__builtin_popcount(hx__used_stash(st_view_part(st, off, 0)));

	for (unsigned k = 0; k < hx__buckets(page); k++)
		n += (unsigned)__builtin_popcount(hx__used_tags(hx__tags(st, off, k)));
	return n;
}
