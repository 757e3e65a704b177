/* The hash index in the pool, byte by byte (README.md draws it), and the reading of it.
 *
 * Reference word (hx_root.dir, words of a directory):
 *   bits  0-47  offset of the child, 0: nothing there (only as a page)
 *   bits 48-51  depth: how many bits of its directory's index the child has used; 0 in the root word
 *   bit  52     the child is a directory
 *   bits 53-56  a directory: its width; a page: its buckets less one; 0 when nothing is there
 *   bits 57-62  root word only: no page is deeper than this (hx_random's hint), 0 elsewhere
 * A child of depth d in a directory of width w serves a run of 2^(w-d) words: the first names it, the others hold
 * the depth alone. */
#ifndef STRUCT_HX_LAYOUT_H
#define STRUCT_HX_LAYOUT_H

#include "struct/hx.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the pool's format is little-endian"
#endif

#define HX_FAN 9u       /* widest directory: 2^9 words */
#define HX_DIR_BITS 44u /* hash bits 63..20 choose the page */
#define HX_LEVELS 5u    /* directories on a path: 4 * 9 + 8 bits */
#define HX_BUCKETS 16u  /* of a page at most; 1, 2, 4, 8, 12 or 16 (each divides HX_CUTS) */
#define HX_CUTS 48u
#define HX_SLOTS 32u /* of a bucket */
#define HX_STASH 30u /* slots of a page for items of full buckets */
#define HX_PART 256u /* bytes of the stash with its header, and of a bucket */
#define HX_HALF 16u  /* slots edited together */
#define HX_CAP (HX_BUCKETS * HX_SLOTS + HX_STASH)

/* An item: bits 0-39 offset / 16, bits 40-47 the byte of the hash that holds the next directory bits (hx__window). */
struct hx__slot {
	uint8_t b[6];
};

/* Part 0 of a page. Tag 0: the slot is empty and its other bytes mean nothing. */
struct hx__stash_layout {
	struct st_obj obj;    /* flags: buckets of the page */
	uint16_t mask;        /* bit b: the stash holds items of bucket b */
	struct hx__slot next; /* next page of a chain (offset / 16, buckets less one in bits 40-47), only where the
	                             * directory bits are used up */
	uint16_t tag[HX_STASH];
	struct hx__slot slot[HX_STASH];
};

/* A bucket. Three parts for st_edit_part: the tags, and the slots by halves. So a replaced reference copies and
 * compares 96 bytes, a removal 64. */
struct hx__bucket_layout {
	uint16_t tag[HX_SLOTS]; /* hash bits 15..0, 1 for 0; the bucket is tag * buckets / 2^16 */
	struct hx__slot slot[HX_SLOTS];
};

struct hx__dir_layout {
	struct st_obj obj;
	uint32_t w; /* width */
	uint32_t pad;
	uint64_t ref[]; /* 2^w */
};

_Static_assert(sizeof(struct hx__stash_layout) == HX_PART, "a part");
_Static_assert(sizeof(struct hx__bucket_layout) == HX_PART, "a part");
_Static_assert(sizeof(struct hx__dir_layout) == 16, "header of a directory");

#define HX__OFF ((1ull << 48) - 1)
#define HX__IS_DIR (1ull << 52)
#define HX__DEEP_SHIFT 57
#define HX__DEEP (63ull << HX__DEEP_SHIFT)

static inline st_off hx__ref_off(uint64_t ref)
{
	return ref & HX__OFF;
}

static inline unsigned hx__ref_depth(uint64_t ref)
{
	return (unsigned)(ref >> 48) & 15;
}

static inline unsigned hx__ref_width(uint64_t ref)
{
	return (unsigned)(ref >> 53) & 15;
}

static inline unsigned hx__ref_deep(uint64_t ref)
{
	return (unsigned)(ref >> HX__DEEP_SHIFT) & 63;
}

/* A page as the files of the index hand it around: offset and buckets, as they stand in a reference word. 0: none. */
#define HX__PAGE (HX__OFF | 15ull << 53)

static inline uint64_t hx__page(st_off off, unsigned buckets)
{
	return off | (uint64_t)(buckets - 1) << 53;
}

static inline unsigned hx__buckets(uint64_t page)
{
	return ((unsigned)(page >> 53) & 15) + 1;
}

static inline size_t hx__page_bytes(unsigned buckets)
{
	return HX_PART * (1 + (size_t)buckets);
}

static inline uint64_t hx__ref_page(uint64_t page, unsigned depth)
{
	return page | (uint64_t)depth << 48;
}

static inline uint64_t hx__ref_dir(st_off off, unsigned depth, unsigned width)
{
	return off | (uint64_t)depth << 48 | HX__IS_DIR | (uint64_t)width << 53;
}

/* ---- hash bits ---- */

static inline uint16_t hx__tag(uint64_t hash)
{
	uint16_t t = (uint16_t)hash;
	return (uint16_t)(t + (t == 0));
}

static inline unsigned hx__bucket(uint16_t tag, unsigned buckets)
{
	return tag * buckets >> 16;
}

/* Where a bucket's tags start in its page, and the half of its slots that slot i belongs to. */
static inline size_t hx__tags_at(unsigned bucket)
{
	return HX_PART * (1 + (size_t)bucket);
}

static inline size_t hx__half_at(unsigned bucket, unsigned i)
{
	return hx__tags_at(bucket) + sizeof(uint16_t[HX_SLOTS]) + i / HX_HALF * sizeof(struct hx__slot[HX_HALF]);
}

/* The byte of the hash that slots keep in a page of this depth: it holds the directory bits depth/8*8 .. +7, so seven
 * splits of eight need not look at a single item. */
static inline uint8_t hx__window(uint64_t hash, unsigned depth)
{
	return (uint8_t)(hash >> (56 - (depth & ~7u)));
}

/* ---- slots ---- */

static inline uint64_t hx__slot_get(const struct hx__slot *s)
{
	uint32_t lo;
	uint16_t hi;
	memcpy(&lo, s->b, 4);
	memcpy(&hi, s->b + 4, 2);
	return lo | (uint64_t)hi << 32;
}

static inline void hx__slot_put(struct hx__slot *s, uint64_t v)
{
	uint32_t lo = (uint32_t)v;
	uint16_t hi = (uint16_t)(v >> 32);
	memcpy(s->b, &lo, 4);
	memcpy(s->b + 4, &hi, 2);
}

static inline uint64_t hx__slot_make(st_off off, uint8_t extra)
{
	return off >> 4 | (uint64_t)extra << 40;
}

static inline st_off hx__slot_off(uint64_t v)
{
	return (v & ((1ull << 40) - 1)) << 4;
}

static inline uint8_t hx__slot_extra(uint64_t v)
{
	return (uint8_t)(v >> 40);
}

/* The page behind this one. */
static inline uint64_t hx__chain(const struct hx__stash_layout *s)
{
	uint64_t v = hx__slot_get(&s->next);
	return v ? hx__page(hx__slot_off(v), hx__slot_extra(v) + 1u) : 0;
}

static inline void hx__chain_put(struct hx__stash_layout *s, uint64_t page)
{
	hx__slot_put(&s->next, page ? hx__slot_make(hx__ref_off(page), (uint8_t)(hx__buckets(page) - 1)) : 0);
}

static inline const uint16_t *hx__tags(const struct store *st, st_off page, unsigned bucket)
{
	return st_view_part(st, page, hx__tags_at(bucket));
}

static inline uint64_t hx__slot(const struct store *st, st_off page, unsigned bucket, unsigned i)
{
	const struct hx__slot *half = st_view_part(st, page, hx__half_at(bucket, i));
	return hx__slot_get(&half[i % HX_HALF]);
}

/* ---- descent ---- */

/* The word that names the child on the hash's way; the hash is already shifted by the bits used above. */
static inline uint64_t hx__dir_word(const struct hx__dir_layout *d, unsigned w, uint64_t hash)
{
	uint64_t i = hash >> (64 - w);
	unsigned depth = hx__ref_depth(d->ref[i]);
	return d->ref[i & (~0ull << (w - depth))];
}

/* The page for the hash (0: none) and, in *depth_out when asked, how many hash bits lead to it. */
static inline uint64_t hx__page_of(const struct store *st, const struct hx_root *r, uint64_t hash, unsigned *depth_out)
{
	uint64_t ref = r->dir;
	unsigned depth = 0;

	if (ref & HX__IS_DIR) {
		ref = hx__dir_word(st_view(st, hx__ref_off(ref)), hx__ref_width(ref), hash);
		while (ref & HX__IS_DIR) {
			hash <<= HX_FAN;
			depth += HX_FAN;
			ref = hx__dir_word(st_view(st, hx__ref_off(ref)), hx__ref_width(ref), hash);
		}
	}
	if (depth_out)
		*depth_out = depth + hx__ref_depth(ref);
	return ref & HX__PAGE;
}

#endif
