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

static void page_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct hx__stash_layout *s = obj;

	if (n < HX_PAGE_BYTES)
		return;
	for (unsigned k = 1; k <= HX_BUCKETS; k++) {
		const struct hx__bucket_layout *b = (const void *)((const char *)obj + HX_PART * (size_t)k);
		for (uint32_t m = ~hx__match_bucket(b, 0); m; m &= m - 1)
			visit(ctx, hx__slot_off(hx__slot_get(&b->slot[__builtin_ctz(m)])));
	}
	for (uint32_t m = ~hx__match_stash(s, 0) & HX__STASH_LANES; m; m &= m - 1)
		visit(ctx, hx__slot_off(hx__slot_get(&s->slot[__builtin_ctz(m)])));
	if (hx__chain(s))
		visit(ctx, hx__chain(s));
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
		} else if (hx__ref_width(d->ref[i])) {
			return "page reference with a width";
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
	if (n < HX_PAGE_BYTES)
		return "bucket page too small";
	for (uint32_t m = ~hx__match_stash(s, 0) & HX__STASH_LANES; m; m &= m - 1) {
		uint64_t v = hx__slot_get(&s->slot[__builtin_ctz(m)]);
		if (hx__slot_extra(v) >= HX_BUCKETS)
			return "stashed item of an impossible bucket";
		if (hx__slot_off(v) == 0)
			return "stashed item without a reference";
		mask |= 1u << hx__slot_extra(v);
	}
	if (mask != s->mask)
		return "stash and its mask disagree";
	for (unsigned k = 1; k <= HX_BUCKETS; k++) {
		const struct hx__bucket_layout *b = (const void *)((const char *)obj + HX_PART * (size_t)k);
		for (uint32_t m = ~hx__match_bucket(b, 0); m; m &= m - 1)
			if (hx__slot_off(hx__slot_get(&b->slot[__builtin_ctz(m)])) == 0)
				return "item without a reference";
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
	unsigned deep;            /* the root's hint */
};

static void check_item(struct walk *w, uint64_t v, uint16_t tag, unsigned bucket, unsigned depth, uint64_t prefix, bool stashed)
{
	st_off item = hx__slot_off(v);
	uint64_t hash = w->ops->hash(w->st, item);

	if (depth && (hash ^ prefix) >> (64 - depth))
		w->wrong = "item in a page of another prefix";
	else if (hx__bucket(hash) != bucket)
		w->wrong = "item in a bucket of another hash";
	else if (hx__tag(hash) != tag)
		w->wrong = "item under another tag";
	else if (!stashed && hx__slot_extra(v) != hx__window(hash, depth))
		w->wrong = "slot with other directory bits than its item";
}

static void walk_page(struct walk *w, st_off page, unsigned depth, uint64_t prefix)
{
	for (unsigned links = 0; page && !w->wrong; links++) {
		const struct hx__stash_layout *s = st_view_part(w->st, page, 0);
		unsigned used = hx__page_count(w->st, page);
		w->stats.pages++;
		w->stats.page_bytes += st_size(w->st, page);
		w->stats.slots_used += used;
		if (used == 0)
			w->wrong = "empty page";
		if ((links || hx__chain(s)) && depth != HX_DIR_BITS)
			w->wrong = "chained page above the last depth";
		for (unsigned k = 0; w->ops && k < HX_BUCKETS; k++) {
			const struct hx__bucket_layout *b = st_view_part(w->st, page, HX_PART * (1 + (size_t)k));
			for (uint32_t m = ~hx__match_bucket(b, 0); m && !w->wrong; m &= m - 1) {
				unsigned i = (unsigned)__builtin_ctz(m);
				check_item(w, hx__slot_get(&b->slot[i]), b->tag[i], k, depth, prefix, false);
			}
		}
		for (uint32_t m = w->ops ? ~hx__match_stash(s, 0) & HX__STASH_LANES : 0; m && !w->wrong; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			uint64_t v = hx__slot_get(&s->slot[i]);
			check_item(w, v, s->tag[i], hx__slot_extra(v), depth, prefix, true);
		}
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
			walk_page(w, hx__ref_off(d->ref[i]), all, here);
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
		walk_page(w, hx__ref_off(r->dir), 0, 0);
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
