/* Changing one slot: insert, replace, edit, remove. Each edits the part of the page that the item stands in and,
 * for a stashed one, nothing else; directories and chains only where a snapshot forces the page to move. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

void hx__relink(struct store *st, struct hx_root *r, uint64_t hash, st_off from, uint64_t to)
{
	struct hx__path p;

	hx__path_find(&p, st, r, hash);
	uint64_t page = hx__path_page(&p);
	if (hx__ref_off(page) == from) {
		hx__path_set(&p, to);
		return;
	}
	for (uint64_t next;; page = next) {
		CHECK2(page != 0, from, to);
		next = hx__chain(st_view_part(st, hx__ref_off(page), 0));
		if (hx__ref_off(next) == from)
			break;
	}
	st_off off = hx__ref_off(page);
	struct hx__stash_layout *s = hx__page_edit(st, r, hash, &off, 0);
	hx__chain_put(s, to);
}

void *hx__page_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off, size_t at)
{
	st_off was = *off;
	void *p = st_edit_part(st, off, at, HX_PART);

	if (UNLIKELY(*off != was)) {
		const struct st_obj *o = st_view_part(st, *off, 0);
		hx__relink(st, r, hash, was, hx__page(*off, o->flags));
	}
	return p;
}

bool hx__put(struct store *st, struct hx_root *r, uint64_t hash, uint64_t page, struct hx__item e)
{
	st_off off = hx__ref_off(page);
	unsigned bucket = hx__bucket(e.tag, hx__buckets(page));
	uint32_t empty = hx__match_bucket(st_view_part(st, off, hx__part_at(bucket)), 0);

	if (LIKELY(empty != 0)) {
		struct hx__bucket_layout *b = hx__page_edit(st, r, hash, &off, hx__part_at(bucket));
		unsigned i = (unsigned)__builtin_ctz(empty);
		b->tag[i] = e.tag;
		hx__slot_put(&b->slot[i], e.v);
		return true;
	}
	empty = hx__match_stash(st_view_part(st, off, 0), 0);
	if (empty == 0)
		return false;
	struct hx__stash_layout *s = hx__page_edit(st, r, hash, &off, 0);
	unsigned i = (unsigned)__builtin_ctz(empty);
	s->tag[i] = e.tag;
	hx__slot_put(&s->slot[i], e.v);
	s->mask = (uint16_t)(s->mask | 1u << bucket);
	return true;
}

void hx_insert(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, st_off item)
{
	unsigned depth;
	uint64_t page = hx__page_of(st, r, hash, &depth);
	struct hx__item e = hx__item_of(item, hash, depth);

	DCHECK2(item != 0 && item % ST_ALIGN == 0, item, hash);
	r->count++;
	if (UNLIKELY(page == 0)) {
		hx__relink(st, r, hash, 0, hx__page_build(st, &e, 1, 0));
		return;
	}
	do {
		if (LIKELY(hx__put(st, r, hash, page, e)))
			return;
		page = hx__chain(st_view_part(st, hx__ref_off(page), 0));
	} while (page);
	hx__overflow(st, r, ops, hash, item);
}

/* The slot of a position, in a writable part. */
static struct hx__slot *slot_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *page, uint32_t slot)
{
	unsigned part = slot / HX_SLOTS, i = slot % HX_SLOTS;
	void *p = hx__page_edit(st, r, hash, page, HX_PART * (size_t)part);

	return part ? &((struct hx__bucket_layout *)p)->slot[i] : &((struct hx__stash_layout *)p)->slot[i];
}

void hx_replace(struct store *st, struct hx_root *r, uint64_t hash, const struct hx_pos *pos, st_off item)
{
	st_off page = pos->page;
	struct hx__slot *s = slot_edit(st, r, hash, &page, pos->slot);
	uint64_t v = hx__slot_get(s);

	DCHECK2(hx__slot_off(v) == pos->item, hx__slot_off(v), pos->item);
	hx__slot_put(s, hx__slot_make(item, hx__slot_extra(v)));
}

void *hx_edit(struct store *st, struct hx_root *r, uint64_t hash, struct hx_pos *pos)
{
	st_off item = pos->item;

	if (UNLIKELY(st_shared(st, item))) {
		/* The page first: who clones goes from the root down. */
		struct hx__slot *s = slot_edit(st, r, hash, &pos->page, pos->slot);
		void *p = st_edit(st, &item);
		hx__slot_put(s, hx__slot_make(item, hx__slot_extra(hx__slot_get(s))));
		pos->item = item;
		return p;
	}
	void *p = st_edit(st, &item);
	DCHECK2(item == pos->item, item, pos->item);
	return p;
}

/* Empties a slot of the stash; returns how many items are left in it. */
static unsigned remove_stashed(struct store *st, struct hx_root *r, uint64_t hash, st_off *page, unsigned i)
{
	struct hx__stash_layout *s = hx__page_edit(st, r, hash, page, 0);
	unsigned buckets = s->obj.flags, bucket = hx__bucket(s->tag[i], buckets);

	DCHECK2(s->tag[i] == hx__tag(hash), s->tag[i], hash);
	s->tag[i] = 0;
	if (hx__stash_of(s, bucket, buckets) == 0)
		s->mask = (uint16_t)(s->mask & ~(1u << bucket));
	return (unsigned)__builtin_popcount(hx__used_stash(s));
}

/* Empties a slot of a bucket; returns how many items are left in it. */
static unsigned remove_bucketed(struct store *st, struct hx_root *r, uint64_t hash, st_off *page, unsigned part, unsigned i)
{
	struct hx__bucket_layout *b = hx__page_edit(st, r, hash, page, HX_PART * (size_t)part);

	DCHECK2(b->tag[i] == hx__tag(hash), b->tag[i], hash);
	b->tag[i] = 0;
	return (unsigned)__builtin_popcount(hx__used_bucket(b));
}

void hx_remove(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, const struct hx_pos *pos)
{
	st_off page = pos->page;
	unsigned part = pos->slot / HX_SLOTS, i = pos->slot % HX_SLOTS;
	unsigned left = part ? remove_bucketed(st, r, hash, &page, part, i) : remove_stashed(st, r, hash, &page, i);

	r->count--;
	/* A page keeps no count, so that an insertion need not log one. The buckets tell when it is worth counting: at 0,
	 * or the page could be empty, and at two fills well below a quarter. */
	if (UNLIKELY(left == 0 || (part && (left == 3 || left == 6))))
		hx__shrink(st, r, ops, hash);
}
