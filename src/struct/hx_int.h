/* Shared inside the hash index only. */
#ifndef STRUCT_HX_INT_H
#define STRUCT_HX_INT_H

#include "struct/hx_layout.h"

/* Pages at half fill merge; only a page below a quarter asks. */
#define HX__HALF_PAGE (HX_CAP / 2)
#define HX__QUARTER_PAGE (HX_CAP / 4)

/* ---- hx_path.c: the way from the root to a page, made writable only as far up as a change reaches ---- */

struct hx__step {
	st_off off;
	struct hx__dir_layout *dir; /* writable; NULL: not yet asked for */
	unsigned w;                 /* width */
	unsigned at;                /* first word of the run that the way takes */
	unsigned depth;             /* of that run */
};
struct hx__path {
	struct store *st;
	struct hx_root *r;
	uint64_t hash;
	unsigned n; /* directories; 0: the root names the page itself */
	struct hx__step s[HX_LEVELS];
};

void hx__path_find(struct hx__path *p, struct store *st, struct hx_root *r, uint64_t hash);
/* How many hash bits lead to the page. */
static inline unsigned hx__path_depth(const struct hx__path *p)
{
	return p->n ? (p->n - 1) * HX_FAN + p->s[p->n - 1].depth : 0;
}
/* The word that names the page (its deepest bits off), and the page in it. */
uint64_t hx__path_ref(const struct hx__path *p);
static inline uint64_t hx__path_page(const struct hx__path *p)
{
	return hx__path_ref(p) & HX__PAGE;
}
/* Names another page (0: none) there, at the same depth. */
void hx__path_set(struct hx__path *p, uint64_t page);
/* The word of the run beside it: the other half of the pair that they are at one depth less. Only with p->n > 0. */
uint64_t hx__path_sibling(const struct hx__path *p);
/* Splits the run, which must name nothing, in two of one bit more; the path takes the side asked for. Widens the
 * directory or grows a child one as needed. The path must be shallower than HX_DIR_BITS. */
void hx__path_deepen(struct hx__path *p, unsigned side);
/* Turns the path to the other one of the pair. */
static inline void hx__path_flip(struct hx__path *p)
{
	struct hx__step *s = &p->s[p->n - 1];
	s->at ^= 1u << (s->w - s->depth);
}
/* Makes the pair one run of one bit less that names page; directories that have become too wide, or are left with one
 * run, go. Neither of the two may name a directory. */
void hx__path_join(struct hx__path *p, uint64_t page);

/* ---- hx_page.c: the contents of a page, taken out and put in ---- */

struct hx__item {
	uint64_t v; /* as a slot holds it */
	uint16_t tag;
};
struct hx__set {
	unsigned n;
	struct hx__item e[HX_CAP + 1];
};
/* Adds a page's items (not its chain's). */
void hx__set_take(struct hx__set *s, const struct store *st, uint64_t page);
/* Looks all items' hashes up and keeps the bytes for a page of this depth. */
void hx__set_window(struct hx__set *s, const struct store *st, const struct hx_ops *ops, unsigned depth);
/* True when n items fit in one page of as many buckets. */
bool hx__set_fits(const struct hx__item *e, unsigned n, unsigned buckets);
/* A fresh page with these items, of as many buckets as suit, before the pages of `chain` (0: none); more than one where
 * they do not fit. Without items it is `chain` itself. */
uint64_t hx__page_build(struct store *st, const struct hx__item *e, unsigned n, uint64_t chain);
/* Items of a page (its own, not its chain's). */
unsigned hx__page_count(const struct store *st, uint64_t page);
/* How many buckets suit n items. */
unsigned hx__page_suits(unsigned n);

/* ---- hx_edit.c ---- */

static inline struct hx__item hx__item_of(st_off item, uint64_t hash, unsigned depth)
{
	return (struct hx__item){hx__slot_make(item, hx__window(hash, depth)), hx__tag(hash)};
}
/* Puts an item into a page of the chain for the hash. False: it is full. */
bool hx__put(struct store *st, struct hx_root *r, uint64_t hash, uint64_t page, struct hx__item e);
/* A part of a page, writable; the page's reference is corrected when it had to move. *off is updated. */
struct hx__stash_layout *hx__stash_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off);
uint16_t *hx__tags_edit(struct store *st, struct hx_root *r, uint64_t hash, st_off *off, unsigned bucket);
struct hx__slot *hx__slot_edit(
	struct store *st, struct hx_root *r, uint64_t hash, st_off *off, unsigned bucket, unsigned i);
/* The page at `from` of the chain for the hash gives its place to another one (0: to none). */
void hx__relink(struct store *st, struct hx_root *r, uint64_t hash, st_off from, uint64_t to);

/* ---- hx_split.c, hx_merge.c ---- */

/* Puts an item in, where the page for its hash is there and full. */
void hx__overflow(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, st_off item);
/* The page for the hash may be worth merging, or is empty. */
void hx__shrink(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash);

#endif
