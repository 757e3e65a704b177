/* The way from the root to a page. Every reference is written here. */
#include "struct/hx_int.h"

static const struct hx__dir_layout *dir_view(const struct hx__path *p, unsigned i)
{
	return p->s[i].dir ? p->s[i].dir : st_view(p->st, p->s[i].off);
}

void hx__path_find(struct hx__path *p, struct store *st, struct hx_root *r, uint64_t hash)
{
	uint64_t ref = r->dir;

	p->st = st;
	p->r = r;
	p->hash = hash;
	p->n = 0;
	while (ref & HX__IS_DIR) {
		CHECK2(p->n < HX_LEVELS, p->n, hash);
		struct hx__step *s = &p->s[p->n++];
		*s = (struct hx__step){.off = hx__ref_off(ref), .w = hx__ref_width(ref)};
		const struct hx__dir_layout *d = st_view(st, s->off);
		s->at = (unsigned)(hash >> (64 - s->w));
		s->depth = hx__ref_depth(d->ref[s->at]);
		s->at &= ~0u << (s->w - s->depth);
		ref = d->ref[s->at];
		hash <<= HX_FAN;
	}
}

static struct hx__dir_layout *dir_edit(struct hx__path *p, unsigned i);

/* The word that names directory i, writable. */
static uint64_t *dir_link(struct hx__path *p, unsigned i)
{
	return i ? &dir_edit(p, i - 1)->ref[p->s[i - 1].at] : &p->r->dir;
}

static void dir_relink(struct hx__path *p, unsigned i)
{
	uint64_t *link = dir_link(p, i);
	*link = (*link & HX__DEEP) | hx__ref_dir(p->s[i].off, i ? p->s[i - 1].depth : 0, p->s[i].w);
}

static struct hx__dir_layout *dir_edit(struct hx__path *p, unsigned i)
{
	struct hx__step *s = &p->s[i];

	if (s->dir == NULL) {
		bool moves = st_shared(p->st, s->off);
		if (UNLIKELY(moves))
			dir_link(p, i); /* parents first */
		s->dir = st_edit(p->st, &s->off);
		if (UNLIKELY(moves))
			dir_relink(p, i);
	}
	return s->dir;
}

uint64_t hx__path_ref(const struct hx__path *p)
{
	return p->n ? dir_view(p, p->n - 1)->ref[p->s[p->n - 1].at] : p->r->dir & ~HX__DEEP;
}

uint64_t hx__path_sibling(const struct hx__path *p)
{
	const struct hx__step *s = &p->s[p->n - 1];
	return dir_view(p, p->n - 1)->ref[s->at ^ 1u << (s->w - s->depth)];
}

void hx__path_set(struct hx__path *p, uint64_t page)
{
	if (p->n == 0) {
		p->r->dir = page ? (p->r->dir & HX__DEEP) | page : 0;
		return;
	}
	struct hx__step *s = &p->s[p->n - 1];
	dir_edit(p, p->n - 1)->ref[s->at] = hx__ref_page(page, s->depth);
}

static struct hx__dir_layout *dir_new(struct store *st, unsigned w, st_off *off_out)
{
	struct hx__dir_layout *d = st_alloc(st, sizeof(*d) + (sizeof(uint64_t) << w), ST_KIND_HX_DIR, off_out);
	CHECK2(d != NULL, w, 0);
	d->w = w;
	d->pad = 0;
	return d;
}

/* The last directory of the path goes by a fresh one of another width. */
static void dir_swap(struct hx__path *p, struct hx__dir_layout *d, st_off off)
{
	struct hx__step *s = &p->s[p->n - 1];

	st_free(p->st, s->off);
	*s = (struct hx__step){.off = off, .dir = d, .w = d->w, .at = s->at, .depth = s->depth};
	dir_relink(p, p->n - 1);
}

/* Every word becomes two. */
static void dir_widen(struct hx__path *p)
{
	struct hx__step *s = &p->s[p->n - 1];
	st_off off;
	struct hx__dir_layout *d = dir_new(p->st, s->w + 1, &off);
	const struct hx__dir_layout *old = dir_view(p, p->n - 1);

	for (unsigned i = 0; i < 1u << s->w; i++) {
		d->ref[2 * i] = old->ref[i];
		d->ref[2 * i + 1] = hx__ref_page(0, hx__ref_depth(old->ref[i]));
	}
	s->at *= 2;
	dir_swap(p, d, off);
}

/* Two words become one; no run may be one word long. */
static void dir_narrow(struct hx__path *p)
{
	struct hx__step *s = &p->s[p->n - 1];
	st_off off;
	struct hx__dir_layout *d = dir_new(p->st, s->w - 1, &off);
	const struct hx__dir_layout *old = dir_view(p, p->n - 1);

	for (unsigned i = 0; i < 1u << d->w; i++)
		d->ref[i] = old->ref[2 * i];
	s->at /= 2;
	dir_swap(p, d, off);
}

/* A directory of one run without a page takes the place of the word that the path ends in. */
static void dir_grow(struct hx__path *p)
{
	st_off off;
	struct hx__dir_layout *d = dir_new(p->st, 1, &off);

	CHECK2(p->n < HX_LEVELS, p->n, 0);
	d->ref[0] = d->ref[1] = hx__ref_page(0, 0);
	p->s[p->n++] = (struct hx__step){.off = off, .dir = d, .w = 1};
	dir_relink(p, p->n - 1);
}

/* The depth of a run, in every word of it. */
static void run_set(struct hx__dir_layout *d, unsigned at, unsigned words, uint64_t page, unsigned depth)
{
	d->ref[at] = hx__ref_page(page, depth);
	for (unsigned i = 1; i < words; i++)
		d->ref[at + i] = hx__ref_page(0, depth);
}

void hx__path_deepen(struct hx__path *p, unsigned side)
{
	DCHECK2(hx__path_depth(p) < HX_DIR_BITS, hx__path_depth(p), side);
	if (p->n == 0 || p->s[p->n - 1].depth == HX_FAN)
		dir_grow(p);
	else if (p->s[p->n - 1].depth == p->s[p->n - 1].w)
		dir_widen(p);

	struct hx__step *s = &p->s[p->n - 1];
	struct hx__dir_layout *d = dir_edit(p, p->n - 1);
	unsigned words = 1u << (s->w - ++s->depth);
	run_set(d, s->at, words, 0, s->depth);
	run_set(d, s->at + words, words, 0, s->depth);
	s->at += side * words;

	unsigned depth = hx__path_depth(p);
	if (depth > hx__ref_deep(p->r->dir))
		p->r->dir = (p->r->dir & ~HX__DEEP) | (uint64_t)depth << HX__DEEP_SHIFT;
}

static bool full_depth_left(const struct hx__dir_layout *d, unsigned w)
{
	for (unsigned i = 0; i < 1u << w; i += 2)
		if (hx__ref_depth(d->ref[i]) == w)
			return true;
	return false;
}

void hx__path_join(struct hx__path *p, uint64_t page)
{
	struct hx__step *s = &p->s[p->n - 1];
	unsigned was = s->depth;

	if (s->depth == 1) {
		/* One run is left: the directory goes. */
		st_off gone = s->off;
		p->n--;
		if (p->n == 0)
			p->r->dir &= HX__DEEP;
		hx__path_set(p, page);
		st_free(p->st, gone);
		return;
	}
	struct hx__dir_layout *d = dir_edit(p, p->n - 1);
	s->depth--;
	s->at &= ~0u << (s->w - s->depth);
	run_set(d, s->at, 1u << (s->w - s->depth), page, s->depth);
	if (was == s->w && !full_depth_left(d, s->w))
		dir_narrow(p);
}
