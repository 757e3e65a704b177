/* The kinds of the hash index for the store's walkers, dropping, facts, and the check of every invariant. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

/* ---- walking one object ---- */

static void dir_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct hx__dir_layout *d = obj;

	if (d->w > HX_FAN || sizeof(*d) + (sizeof(uint64_t) << d->w) > n)
		return;
	for (unsigned i = 0; i < 1u << d->w; i++)
		if (hx__ref_off(d->ref[i]))
			visit(ctx, hx__ref_off(d->ref[i]));
}

/* A page whose size does not fit its buckets is not to be read. */
static bool page_sound(const struct hx__stash_layout *s, size_t n)
{
	unsigned buckets = s->obj.flags;
	return buckets >= 1 && buckets <= HX_BUCKETS && HX_CUTS % buckets == 0 && hx__page_bytes(buckets) <= n;
}

static void page_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct hx__stash_layout *s = obj;

	if (!page_sound(s, n))
		return;
	for (unsigned k = 0; k < s->obj.flags; k++) {
		const struct hx__bucket_layout *b = (const void *)((const char *)obj + hx__tags_at(k));
		for (uint32_t m = hx__used_tags(b->tag); m; m &= m - 1)
			visit(ctx, hx__slot_off(hx__slot_get(&b->slot[__builtin_ctz(m)])));
	}
	for (uint32_t m = hx__used_stash(s); m; m &= m - 1)
		visit(ctx, hx__slot_off(hx__slot_get(&s->slot[__builtin_ctz(m)])));
	if (hx__chain(s))
		visit(ctx, hx__ref_off(hx__chain(s)));
}

static const char *dir_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct hx__dir_layout *d = obj;

	(void)st;
	(void)off;
	if (n < sizeof(*d) || d->w < 1 || d->w > HX_FAN || sizeof(*d) + (sizeof(uint64_t) << d->w) > n)
		return "directory of an impossible width";
	for (unsigned i = 0, words; i < 1u << d->w; i += words) {
		unsigned depth = hx__ref_depth(d->ref[i]);
		if (depth < 1 || depth > d->w)
			return "directory word of an impossible depth";
		words = 1u << (d->w - depth);
		if (i % words)
			return "directory run out of place";
		if (d->ref[i] & HX__DEEP || hx__ref_off(d->ref[i]) % ST_ALIGN || hx__ref_off(d->ref[i]) >> ST_OFF_BITS)
			return "directory word with impossible bits";
		if (d->ref[i] & HX__IS_DIR) {
			if (depth != HX_FAN || hx__ref_width(d->ref[i]) < 1 || hx__ref_width(d->ref[i]) > HX_FAN ||
				hx__ref_off(d->ref[i]) == 0)
				return "impossible reference to a directory";
		} else if (d->ref[i] & HX__PAGE && (hx__ref_off(d->ref[i]) == 0 || HX_CUTS % hx__buckets(d->ref[i]))) {
			return "impossible reference to a page";
		}
		for (unsigned k = 1; k < words; k++)
			if (d->ref[i + k] != hx__ref_page(0, depth))
				return "directory run with a wrong word";
	}
	return NULL;
}

static const char *page_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct hx__stash_layout *s = obj;
	unsigned mask = 0;

	(void)st;
	(void)off;
	if (!page_sound(s, n))
		return "bucket page of an impossible size";
	for (uint32_t m = hx__used_stash(s); m; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);
		if (hx__slot_off(hx__slot_get(&s->slot[i])) == 0)
			return "stashed item without a reference";
		mask |= 1u << hx__bucket(s->tag[i], s->obj.flags);
	}
	if (mask != s->mask)
		return "stash and its mask disagree";
	if (hx__chain(s) && (hx__ref_off(hx__chain(s)) == 0 || HX_CUTS % hx__buckets(hx__chain(s))))
		return "impossible reference to a chained page";
	for (unsigned k = 0; k < s->obj.flags; k++) {
		const struct hx__bucket_layout *b = (const void *)((const char *)obj + hx__tags_at(k));
		for (uint32_t m = hx__used_tags(b->tag); m; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			if (hx__bucket(b->tag[i], s->obj.flags) != k)
				return "item in a bucket of another tag";
			if (hx__slot_off(hx__slot_get(&b->slot[i])) == 0)
				return "item without a reference";
		}
	}
	return NULL;
}

void hx_register(struct store *st)
{
	static const struct st_kind_ops dir = {"hash index directory", dir_children, dir_object_check};
	static const struct st_kind_ops page = {"hash index page", page_children, page_object_check};

	st_register(st, ST_KIND_HX_DIR, &dir);
	st_register(st, ST_KIND_HX_PAGE, &page);
}

void hx_drop(struct store *st, struct hx_root *r)
{
	if (r->dir)
		st_drop(st, hx__ref_off(r->dir));
	r->dir = 0;
	r->count = 0;
}

st_off hx_root_ref(const struct hx_root *r)
{
	return hx__ref_off(r->dir);
}

/* ---- the whole index ---- */

struct walk {
	const struct store *st;
	const struct hx_ops *ops; /* NULL: items are not looked at */
	struct hx_stats stats;
	const char *wrong;
	unsigned deep; /* the root's hint */
};

static void check_item(struct walk *w, uint64_t v, uint16_t tag, unsigned depth, uint64_t prefix)
{
	uint64_t hash = w->ops->hash(w->st, hx__slot_off(v));

	if (depth && (hash ^ prefix) >> (64 - depth))
		w->wrong = "item in a page of another prefix";
	else if (hx__tag(hash) != tag)
		w->wrong = "item under another tag";
	else if (hx__slot_extra(v) != hx__window(hash, depth))
		w->wrong = "slot with other directory bits than its item";
}

static void walk_items(struct walk *w, uint64_t page, unsigned depth, uint64_t prefix)
{
	st_off off = hx__ref_off(page);
	const struct hx__stash_layout *s = st_view_part(w->st, off, 0);

	for (unsigned k = 0; k < hx__buckets(page); k++) {
		const uint16_t *tag = hx__tags(w->st, off, k);
		for (uint32_t m = hx__used_tags(tag); m && !w->wrong; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			check_item(w, hx__slot(w->st, off, k, i), tag[i], depth, prefix);
			if (hx__bucket(tag[i], hx__buckets(page)) != k)
				w->wrong = "item in a bucket of another tag";
		}
	}
	for (uint32_t m = hx__used_stash(s); m && !w->wrong; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m), k = hx__bucket(s->tag[i], hx__buckets(page));
		check_item(w, hx__slot_get(&s->slot[i]), s->tag[i], depth, prefix);
		if (!(s->mask >> k & 1))
			w->wrong = "stash and its mask disagree";
	}
}

static void walk_page(struct walk *w, uint64_t page, unsigned depth, uint64_t prefix)
{
	for (unsigned links = 0; page && !w->wrong; links++) {
		const struct hx__stash_layout *s = st_view_part(w->st, hx__ref_off(page), 0);
		unsigned used;
		if (s->obj.kind != ST_KIND_HX_PAGE || s->obj.flags != hx__buckets(page)) {
			w->wrong = "page of another size than its reference says";
			return;
		}
		used = hx__page_count(w->st, page);
		w->stats.pages++;
		w->stats.page_bytes += st_size(w->st, hx__ref_off(page));
		w->stats.slots_used += used;
		if (used == 0)
			w->wrong = "empty page";
		if ((links || hx__chain(s)) && depth != HX_DIR_BITS)
			w->wrong = "chained page above the last depth";
		if (w->ops)
			walk_items(w, page, depth, prefix);
		page = hx__chain(s);
	}
}

static void walk_dir(struct walk *w, uint64_t ref, unsigned base, uint64_t prefix)
{
	st_off off = hx__ref_off(ref);
	const struct hx__dir_layout *d = st_view(w->st, off);
	bool full_depth = false;

	w->stats.dirs++;
	w->stats.dir_bytes += st_size(w->st, off);
	w->wrong = dir_object_check(w->st, off, d, st_size(w->st, off));
	if (!w->wrong && d->w != hx__ref_width(ref))
		w->wrong = "directory of another width than its reference says";
	if (!w->wrong && base + d->w > HX_DIR_BITS)
		w->wrong = "directory deeper than the hash";
	for (unsigned i = 0, words; !w->wrong && i < 1u << d->w; i += words) {
		unsigned depth = hx__ref_depth(d->ref[i]), all = base + depth;
		words = 1u << (d->w - depth);
		uint64_t here = prefix | (uint64_t)(i / words) << (64 - all);
		full_depth |= depth == d->w;
		if (all > w->stats.depth_max)
			w->stats.depth_max = all;
		if (d->ref[i] & HX__IS_DIR)
			walk_dir(w, d->ref[i], base + HX_FAN, here);
		else if (hx__ref_off(d->ref[i]))
			walk_page(w, d->ref[i] & HX__PAGE, all, here);
		else if (d->ref[i ^ words] == d->ref[i])
			w->wrong = "two siblings without a page";
	}
	if (!w->wrong && !full_depth)
		w->wrong = "directory wider than it needs";
}

static void walk(struct walk *w, const struct hx_root *r)
{
	if (r->dir & HX__IS_DIR)
		walk_dir(w, r->dir & ~HX__DEEP, 0, 0);
	else if (hx__ref_off(r->dir))
		walk_page(w, r->dir & HX__PAGE, 0, 0);
}

void hx_stats_get(const struct store *st, const struct hx_root *r, struct hx_stats *out)
{
	struct walk w = {.st = st};

	walk(&w, r);
	*out = w.stats;
}

const char *hx_check(const struct store *st, const struct hx_root *r, const struct hx_ops *ops)
{
	struct walk w = {.st = st, .ops = ops};

	walk(&w, r);
	if (w.wrong)
		return w.wrong;
	if (w.stats.slots_used != r->count)
		return "count and items disagree";
	if (w.stats.depth_max > hx__ref_deep(r->dir))
		return "deeper than the root says";
	if (r->count == 0 && r->dir)
		return "empty index with nodes";
	return NULL;
}
