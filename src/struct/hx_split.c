/* An item for a page that is full: tidy it, make it larger, split it, or chain another. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

/* The byte of the hash that a set's items hold is good for these levels. */
static unsigned window_end(unsigned depth)
{
	return (depth & ~7u) + 8;
}

/* The first level at or below depth on which the set's hashes differ, HX_DIR_BITS when they never do. The set's bytes
 * are those for that level afterwards. */
static unsigned first_difference(struct hx__set *s, const struct store *st, const struct hx_ops *ops, unsigned depth)
{
	while (depth < HX_DIR_BITS) {
		uint8_t any = 0, all = 0xff;
		for (unsigned i = 0; i < s->n; i++) {
			any |= hx__slot_extra(s->e[i].v);
			all &= hx__slot_extra(s->e[i].v);
		}
		unsigned differ = (unsigned)(any ^ all) & 0xffu >> (depth & 7);
		if (differ) {
			unsigned level = (depth & ~7u) + (unsigned)__builtin_clz(differ) - 24;
			return level < HX_DIR_BITS ? level : HX_DIR_BITS;
		}
		depth = window_end(depth);
		if (depth < HX_DIR_BITS)
			hx__set_window(s, st, ops, depth);
	}
	return HX_DIR_BITS;
}

/* Sorts the set by its hash bit of a level; returns how many have 0 there. */
static unsigned part(struct hx__set *s, unsigned level)
{
	unsigned zeros = 0, bit = 7 - (level & 7);

	for (unsigned i = 0; i < s->n; i++)
		if (!(hx__slot_extra(s->e[i].v) >> bit & 1)) {
			struct hx__item e = s->e[i];
			s->e[i] = s->e[zeros];
			s->e[zeros++] = e;
		}
	return zeros;
}

/* All of a set have the bits of this hash down to a level. */
static void follow(struct hx__path *p, unsigned level, uint64_t hash)
{
	while (hx__path_depth(p) < level)
		hx__path_deepen(p, hash >> (63 - hx__path_depth(p)) & 1);
}

/* Puts a set under a path that ends in a run naming nothing. More than one round only where hashes are alike. */
static void place(struct hx__path *p, struct hx__set *s, const struct hx_ops *ops)
{
	struct store *st = p->st;

	while (!hx__set_fits(s->e, s->n, HX_BUCKETS) && hx__path_depth(p) < HX_DIR_BITS) {
		unsigned level = first_difference(s, st, ops, hx__path_depth(p));
		if (level > hx__path_depth(p))
			follow(p, level, ops->hash(st, hx__slot_off(s->e[0].v)));
		if (level == HX_DIR_BITS)
			break;
		unsigned zeros = part(s, level);
		hx__path_deepen(p, 0);
		if (window_end(level) == level + 1)
			hx__set_window(s, st, ops, level + 1);
		/* Of the two halves at most one does not fit; that one goes on. */
		if (hx__set_fits(s->e, zeros, HX_BUCKETS)) {
			hx__path_set(p, hx__page_build(st, s->e, zeros, 0));
			hx__path_flip(p);
			s->n -= zeros;
			memmove(s->e, s->e + zeros, s->n * sizeof(s->e[0]));
		} else {
			hx__path_flip(p);
			hx__path_set(p, hx__page_build(st, s->e + zeros, s->n - zeros, 0));
			hx__path_flip(p);
			s->n = zeros;
		}
	}
	hx__path_set(p, hx__page_build(st, s->e, s->n, 0));
}

/* Moves stashed items into their buckets where these have room again. True when that made room in the stash. */
static bool tidy(struct store *st, struct hx_root *r, uint64_t hash, uint64_t page)
{
	st_off off = hx__ref_off(page);
	unsigned buckets = hx__buckets(page);
	bool moved = false;

	for (unsigned k = 0; k < buckets; k++) {
		uint32_t stashed = hx__stash_of(st_view_part(st, off, 0), k, buckets);
		uint32_t empty = stashed ? hx__match(hx__tags(st, off, k), 0) : 0;
		if (!empty)
			continue;
		struct hx__stash_layout *s = hx__stash_edit(st, r, hash, &off);
		uint16_t *tag = hx__tags_edit(st, r, hash, &off, k);
		for (; stashed && empty; stashed &= stashed - 1, empty &= empty - 1) {
			unsigned from = (unsigned)__builtin_ctz(stashed), to = (unsigned)__builtin_ctz(empty);
			tag[to] = s->tag[from];
			*hx__slot_edit(st, r, hash, &off, k, to) = s->slot[from];
			s->tag[from] = 0;
		}
		if (!stashed)
			s->mask = (uint16_t)(s->mask & ~(1u << k));
		moved = true;
	}
	return moved;
}

/* Where all directory bits are used up: a larger page, or one more before the others. */
static void chain(struct hx__path *p, struct hx__item new)
{
	struct store *st = p->st;
	uint64_t head = hx__path_page(p);
	struct hx__set s;

	for (uint64_t page = head; page; page = hx__chain(st_view_part(st, hx__ref_off(page), 0))) {
		if (hx__buckets(page) == HX_BUCKETS)
			continue;
		s.n = 0;
		hx__set_take(&s, st, page);
		s.e[s.n++] = new;
		if (hx__set_fits(s.e, s.n, HX_BUCKETS)) {
			uint64_t next = hx__chain(st_view_part(st, hx__ref_off(page), 0));
			hx__relink(st, p->r, p->hash, hx__ref_off(page), hx__page_build(st, s.e, s.n, next));
			st_free(st, hx__ref_off(page));
			return;
		}
	}
	hx__path_set(p, hx__page_build(st, &new, 1, head));
}

void hx__overflow(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, st_off item)
{
	struct hx__path p;

	hx__path_find(&p, st, r, hash);
	unsigned depth = hx__path_depth(&p);
	uint64_t page = hx__path_page(&p);
	struct hx__item new = hx__item_of(item, hash, depth);

	if (depth == HX_DIR_BITS) {
		chain(&p, new);
		return;
	}
	if (tidy(st, r, hash, page)) {
		bool in = hx__put(st, r, hash, hx__page_of(st, r, hash, NULL), new);
		CHECK2(in, item, hash);
		return;
	}
	struct hx__set s;
	s.n = 0;
	hx__set_take(&s, st, page);
	s.e[s.n++] = new;
	hx__path_set(&p, 0);
	st_free(st, hx__ref_off(page));
	place(&p, &s, ops);
}
