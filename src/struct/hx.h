/* Hash index: an extendible hash in the pool, a trie of directory nodes over bucket pages. Grows and shrinks a
 * page at a time; no rehash. DESIGN and format: struct/README.md.
 *
 * The index holds references (st_off) to items that it does not understand; its owner hands it the hash and,
 * for look-ups, the question "is this the one?". Its root is a struct hx_root inside an object of the owner, which
 * the owner makes writable (st_edit of that object) before any call that takes a non-const root.
 *
 * Crash: every change is part of the caller's tick. */
#ifndef STRUCT_HX_H
#define STRUCT_HX_H

#include "store/store.h"

/* In the pool, inside the owner's object. All zero is an empty index. */
struct hx_root {
	uint64_t dir;   /* tagged reference of the top node, 0 when empty */
	uint64_t count; /* items */
};

/* Makes a uniform 64-bit hash one whose upper 44 bits are denser, by up to two, towards one end: x + x(1-x)/3 for x
 * in 0..1, near log2(1+x). Pages of uniform hashes fill up and split all at the same time, so that how full they are
 * goes up and down with every doubling; with this some split at any time, and the bytes of index a key stay the
 * same. Owners of big indexes hash through it once; the index itself takes any 64-bit hash. */
static inline uint64_t hx_spread(uint64_t hash)
{
	uint64_t t = (uint64_t)((unsigned __int128)hash * ~hash >> 64);
	uint64_t top = hash + (uint64_t)((unsigned __int128)t * 0x5555555555555555ull >> 64);
	return (top & ~0xfffffull) | (hash & 0xfffff);
}

/* How the index asks about an item. */
struct hx_ops {
	uint64_t (*hash)(const struct store *st, st_off item); /* as it was at insertion */
};

typedef bool (*hx_eq)(const struct store *st, st_off item, const void *key);

/* The item with this hash for which eq says yes, or 0. */
st_off hx_find(const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key);

/* Where an item stands, for replacing it or taking it out right after finding it (no other change between). */
struct hx_pos {
	st_off item;
	st_off page;
	uint32_t slot;
};
bool hx_locate(
	const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key, struct hx_pos *out);

/* Bytes that one hx_insert, hx_replace or hx_edit may allocate: what to st_reserve beside the item. */
#define HX_RESERVE (64u * 1024)

/* Adds an item that is not there. */
void hx_insert(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, st_off item);
/* The item at pos becomes `item` (same hash, same key). Frees nothing. */
void hx_replace(struct store *st, struct hx_root *r, uint64_t hash, const struct hx_pos *pos, st_off item);
/* Makes the item itself writable through its slot (st_edit of the slot's reference, page copied only if the item
 * moves). Returns the item's writable bytes; pos->item is updated. */
void *hx_edit(struct store *st, struct hx_root *r, uint64_t hash, struct hx_pos *pos);
/* Takes the item at pos out; frees nothing but index nodes. */
void hx_remove(struct store *st, struct hx_root *r, const struct hx_ops *ops, uint64_t hash, const struct hx_pos *pos);

/* ---- batch prefetch: three passes over many look-ups, each touching only what the one before brought ---- */
void hx_prefetch_bucket(const struct store *st, const struct hx_root *r, uint64_t hash); /* the bucket's tags */
void hx_prefetch_slot(const struct store *st, const struct hx_root *r, uint64_t hash);   /* the matching slot */
/* The item that most likely matches, prefetched (its first n bytes' lines); 0 when no tag fits. */
st_off hx_prefetch_item(const struct store *st, const struct hx_root *r, uint64_t hash, size_t n);

/* ---- walking ---- */

/* Visits the items of one or more whole buckets from cursor on, at least `want` where there are as many; returns the
 * next cursor, 0 at the end. Cursors are below 2^53, and any number is taken for one. Items that are there from the
 * first call to the last are visited at least once, whatever splits, merges, insertions and removals come between.
 * fn must not change the index. */
uint64_t hx_scan(const struct store *st, const struct hx_root *r, const struct hx_ops *ops, uint64_t cursor,
	size_t want, void (*fn)(void *ctx, st_off item), void *ctx);
/* An item, each (nearly) equally likely; 0 when empty. */
struct rng;
st_off hx_random(const struct store *st, const struct hx_root *r, struct rng *rng);

/* Unlinks the whole index, items included: the reclaimer frees them by their kinds. r becomes empty. O(1). */
void hx_drop(struct store *st, struct hx_root *r);

/* Reference of the top node for a parent's children(), 0 when empty. */
st_off hx_root_ref(const struct hx_root *r);
/* To be called once a store: registers the kinds of this module. */
void hx_register(struct store *st);

struct hx_stats {
	uint64_t pages, dirs, dir_bytes, page_bytes, slots_used, depth_max;
};
void hx_stats_get(const struct store *st, const struct hx_root *r, struct hx_stats *out);
/* Checks every invariant of the index; NULL, or what is wrong. */
const char *hx_check(const struct store *st, const struct hx_root *r, const struct hx_ops *ops);

#endif
