/* Shrinking: empty pages go, small siblings merge, pages far too large for their items get smaller, directories
 * narrow and collapse. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

/* Takes empty pages out of the chain for the hash. Returns false when it is still a chain. */
static bool unchain(struct store *st, struct hx_root *r, uint64_t hash)
{
	unsigned kept = 0;

	for (uint64_t page = hx__page_of(st, r, hash, NULL), next; page; page = next) {
		next = hx__chain(st_view_part(st, hx__ref_off(page), 0));
		if (hx__page_count(st, page)) {
			kept++;
			continue;
		}
		hx__relink(st, r, hash, hx__ref_off(page), next);
		st_free(st, hx__ref_off(page));
	}
	return kept <= 1;
}

/* What the merge of two siblings would hold, or more than a page where they must not merge. */
static unsigned sum_of(const struct store *st, uint64_t sibling, unsigned depth, unsigned own)
{
	uint64_t page = sibling & HX__PAGE;

	if (sibling & HX__IS_DIR || hx__ref_depth(sibling) != depth)
		return HX_CAP + 1;
	if (page == 0)
		return own;
	if (hx__chain(st_view_part(st, hx__ref_off(page), 0)))
		return HX_CAP + 1;
	return own + hx__page_count(st, page);
}

/* One page of two: a fresh one, or the only one there is where its slots can stay. */
static bool merge(struct hx__path *p, const struct hx_ops *ops, uint64_t a, uint64_t b)
{
	struct store *st = p->st;
	unsigned depth = hx__path_depth(p);
	bool same_window = depth % 8 != 0;
	struct hx__set s;

	if ((a == 0 || b == 0) && (same_window || (a | b) == 0)) {
		hx__path_join(p, a | b);
		return true;
	}
	s.n = 0;
	if (a)
		hx__set_take(&s, st, a);
	if (b)
		hx__set_take(&s, st, b);
	if (!hx__set_fits(s.e, s.n, HX_BUCKETS))
		return false;
	if (!same_window)
		hx__set_window(&s, st, ops, depth - 1);
	if (a)
		st_free(st, hx__ref_off(a));
	if (b)
		st_free(st, hx__ref_off(b));
	hx__path_join(p, hx__page_build(st, s.e, s.n, 0));
	return true;
}

/* A page with room for twice as many items as it has, and more, gets smaller. */
static void page_shrink(struct hx__path *p, uint64_t page, unsigned n)
{
	struct hx__set s;

	if (page == 0 || hx__page_suits(2 * n) >= hx__buckets(page) || hx__chain(st_view_part(p->st, hx__ref_off(page), 0)))
		return;
	s.n = 0;
	hx__set_take(&s, p->st, page);
	st_free(p->st, hx__ref_off(page));
	hx__path_set(p, hx__page_build(p->st, s.e, s.n, 0));
}

void hx__shrink(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash)
{
	struct hx__path p;

	hx__path_find(&p, st, r, hash);
	if (hx__path_depth(&p) == HX_DIR_BITS) {
		if (!unchain(st, r, hash))
			return;
		hx__path_find(&p, st, r, hash);
	}
	uint64_t page = hx__path_page(&p);
	unsigned own = page ? hx__page_count(st, page) : 0;
	if (page && own == 0) {
		hx__path_set(&p, 0);
		st_free(st, hx__ref_off(page));
		page = 0;
	}
	while (p.n && own <= HX__QUARTER_PAGE) {
		uint64_t sibling = hx__path_sibling(&p);
		unsigned sum = sum_of(st, sibling, p.s[p.n - 1].depth, own);
		if (sum > HX__HALF_PAGE || !merge(&p, ops, page, sibling & HX__PAGE))
			break;
		page = hx__path_page(&p);
		own = sum;
	}
	page_shrink(&p, page, own);
}
