/* Shrinking: empty pages go, small siblings merge, directories narrow and collapse. */
#include "struct/hx_int.h"

/* Takes empty pages out of the chain for the hash. Returns false when it is still a chain. */
static bool unchain(struct store *st, struct hx_root *r, uint64_t hash)
{
	unsigned kept = 0;

	for (st_off page = hx__page_of(st, r, hash, NULL), next; page; page = next) {
		next = hx__chain(st_view_part(st, page, 0));
		if (hx__page_count(st, page)) {
			kept++;
			continue;
		}
		hx__relink(st, r, hash, page, next);
		st_free(st, page);
	}
	return kept <= 1;
}

/* What the merge of two siblings would hold, or more than a page where they must not merge. */
static unsigned sum_of(const struct store *st, uint64_t sibling, unsigned depth, unsigned own)
{
	st_off page = hx__ref_off(sibling);

	if (sibling & HX__IS_DIR || hx__ref_depth(sibling) != depth)
		return HX_CAP + 1;
	if (page == 0)
		return own;
	if (hx__chain(st_view_part(st, page, 0)))
		return HX_CAP + 1;
	return own + hx__page_count(st, page);
}

/* One page of two: a fresh one, or the only one there is where its slots can stay. */
static bool merge(struct hx__path *p, const struct hx_ops *ops, st_off a, st_off b)
{
	struct store *st = p->st;
	unsigned depth = hx__path_depth(p);
	bool same_window = depth % 8 != 0;

	if ((a == 0 || b == 0) && (same_window || a + b == 0)) {
		hx__path_join(p, a + b);
		return true;
	}
	struct hx__set s;
	s.n = 0;
	if (a)
		hx__set_take(&s, st, ops, a, depth);
	if (b)
		hx__set_take(&s, st, ops, b, depth);
	if (!hx__set_fits(s.e, s.n))
		return false;
	if (!same_window)
		hx__set_window(&s, st, ops, depth - 1);
	if (a)
		st_free(st, a);
	if (b)
		st_free(st, b);
	hx__path_join(p, hx__page_build(st, s.e, s.n, 0));
	return true;
}

void hx__shrink(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash)
{
	struct hx__path p;

	hx__path_find(&p, st, r, hash);
	st_off page = hx__ref_off(hx__path_ref(&p));
	if (p.n == 0 && r->count)
		return;
	if (hx__path_depth(&p) == HX_DIR_BITS) {
		if (!unchain(st, r, hash))
			return;
		hx__path_find(&p, st, r, hash);
		page = hx__ref_off(hx__path_ref(&p));
	}
	unsigned own = page ? hx__page_count(st, page) : 0;
	if (page && own == 0) {
		hx__path_set(&p, 0);
		st_free(st, page);
		page = 0;
	}
	while (p.n && own <= HX__QUARTER) {
		uint64_t sibling = hx__path_sibling(&p);
		unsigned sum = sum_of(st, sibling, p.s[p.n - 1].depth, own);
		if (sum > HX__HALF || !merge(&p, ops, page, hx__ref_off(sibling)))
			return;
		page = hx__ref_off(hx__path_ref(&p));
		own = sum;
	}
}
