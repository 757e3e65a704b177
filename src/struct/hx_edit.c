/* Changing one slot: insert, replace, edit, remove. Each edits the parts of the page that the item's tag and slot stand
 * in, and no more; directories and chains only where a snapshot forces the page to move. */
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
	hx__chain_put(hx__stash_edit(st, r, hash, &off), to);
}

static void *part_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off, size_t at, size_t n)
{
	st_off was = *off;
	void *p = st_edit_part(st, off, at, n);

	if (UNLIKELY(*off != was)) {
		const struct st_obj *o = st_view_part(st, *off, 0);
		hx__relink(st, r, hash, was, hx__page(*off, o->flags));
	}
	return p;
}

struct hx__stash_layout *hx__stash_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off)
{
	return part_edit(st, r, hash, off, 0, HX_PART);
}

uint16_t *hx__tags_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off, unsigned bucket)
{
	return part_edit(st, r, hash, off, hx__tags_at(bucket), sizeof(uint16_t[HX_SLOTS]));
}

struct hx__slot *hx__slot_edit(
	struct store *st, struct hx_root *r, uint64_t hash, st_off *off, unsigned bucket, unsigned i)
{
	struct hx__slot *half = part_edit(st, r, hash, off, hx__half_at(bucket, i), sizeof(struct hx__slot[HX_HALF]));
	return &half[i % HX_HALF];
}

bool hx__put(struct store *st, struct hx_root *r, uint64_t hash, uint64_t page, struct hx__item e)
{
	st_off off = hx__ref_off(page);
	unsigned bucket = hx__bucket(e.tag, hx__buckets(page));
	uint32_t empty = hx__match(hx__tags(st, off, bucket), 0);

	if (LIKELY(empty != 0)) {
		unsigned i = (unsigned)__builtin_ctz(empty);
		hx__tags_edit(st, r, hash, &off, bucket)[i] = e.tag;
		hx__slot_put(hx__slot_edit(st, r, hash, &off, bucket, i), e.v);
		return true;
	}
	empty = hx__match_stash(st_view_part(st, off, 0), 0);
	if (empty == 0)
		return false;
	struct hx__stash_layout *s = hx__stash_edit(st, r, hash, &off);
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
static struct hx__slot *pos_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *page, uint32_t slot)
{
	unsigned part = slot / HX_SLOTS, i = slot % HX_SLOTS;

	return part ? hx__slot_edit(st, r, hash, page, part - 1, i) : &hx__stash_edit(st, r, hash, page)->slot[i];
}

void hx_replace(struct store *st, struct hx_root *r, uint64_t hash, const struct hx_pos *pos, st_off item)
{
	st_off page = pos->page;
	struct hx__slot *s = pos_edit(st, r, hash, &page, pos->slot);
	uint64_t v = hx__slot_get(s);

	DCHECK2(hx__slot_off(v) == pos->item, hx__slot_off(v), pos->item);
	hx__slot_put(s, hx__slot_make(item, hx__slot_extra(v)));
}

void *hx_edit(struct store *st, struct hx_root *r, uint64_t hash, struct hx_pos *pos)
{
	st_off item = pos->item;

	if (UNLIKELY(st_shared(st, item))) {
		/* The page first: who clones goes from the root down. */
		struct hx__slot *s = pos_edit(st, r, hash, &pos->page, pos->slot);
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
	struct hx__stash_layout *s = hx__stash_edit(st, r, hash, page);
	unsigned buckets = s->obj.flags, bucket = hx__bucket(s->tag[i], buckets);

	DCHECK2(s->tag[i] == hx__tag(hash), s->tag[i], hash);
	s->tag[i] = 0;
	if (hx__stash_of(s, bucket, buckets) == 0)
		s->mask = (uint16_t)(s->mask & ~(1u << bucket));
	return (unsigned)__builtin_popcount(hx__used_stash(s));
}

/* Empties a slot of a bucket; returns how many items are left in it. */
static unsigned remove_bucketed(
	struct store *st, struct hx_root *r, uint64_t hash, st_off *page, unsigned bucket, unsigned i)
{
	uint16_t *tag = hx__tags_edit(st, r, hash, page, bucket);

	DCHECK2(tag[i] == hx__tag(hash), tag[i], hash);
	tag[i] = 0;
	return (unsigned)__builtin_popcount(hx__used_tags(tag));
}

void hx_remove(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, const struct hx_pos *pos)
{
	st_off page = pos->page;
	unsigned part = pos->slot / HX_SLOTS, i = pos->slot % HX_SLOTS;
	unsigned left = part ? remove_bucketed(st, r, hash, &page, part - 1, i) : remove_stashed(st, r, hash, &page, i);

	r->count--;
	/* A page keeps no count, so that an insertion need not log one. The buckets tell when it is worth counting: at 0,
	 * or the page could be empty, and at two fills well below a quarter. */
	if (UNLIKELY(left == 0 || (part && (left == 3 || left == 6))))
		hx__shrink(st, r, ops, hash);
}
