/* The counted B+tree in the pool, byte by byte, and what its files share.
 *
 * A node is slotted: entries never move, the bytes of slot[] do. slot[] is a permutation of 0..cap-1: the first n name
 * the entries (or children) in order, the others are free places, the next one to use first.
 * Leaf:  header, slot[cap] (padded to 8), entry[cap].
 * Inner: header, slot[cap] (padded to 8), count[cap], ref[cap], key[cap]. count: entries below the child. key: a copy
 * of the smallest entry below it; of the first child in order it is not kept up. */
#ifndef STRUCT_BT_INT_H
#define STRUCT_BT_INT_H

#include "struct/bt.h"

/* Measured with 512 to 2,048: README.md. */
#define BT__LEAF_BYTES 1024u
#define BT__INNER_BYTES 1024u

struct bt__node_layout {
	struct st_obj obj;
	uint8_t n;
	uint8_t cap;
	uint8_t entry; /* bytes an entry */
	uint8_t pad[5];
	uint8_t slot[];
};
_Static_assert(sizeof(struct bt__node_layout) == 16, "header of a node");

static inline size_t bt__slots_bytes(unsigned cap)
{
	return (cap + 7u) & ~7u;
}

/* ---- places by their physical number ---- */

static inline void *bt__entry_at(const struct bt__node_layout *l, unsigned p)
{
	return (char *)(uintptr_t)l + sizeof(*l) + bt__slots_bytes(l->cap) + (size_t)p * l->entry;
}

static inline uint64_t *bt__count_at(const struct bt__node_layout *x, unsigned p)
{
	return (uint64_t *)(void *)((char *)(uintptr_t)x + sizeof(*x) + bt__slots_bytes(x->cap)) + p;
}

static inline uint64_t *bt__ref_at(const struct bt__node_layout *x, unsigned p)
{
	return bt__count_at(x, x->cap + p);
}

static inline void *bt__key_at(const struct bt__node_layout *x, unsigned p)
{
	return (char *)bt__count_at(x, 2u * x->cap) + (size_t)p * x->entry;
}

/* ---- and by their order ---- */

static inline void *bt__entry(const struct bt__node_layout *l, unsigned i)
{
	return bt__entry_at(l, l->slot[i]);
}

static inline uint64_t *bt__count(const struct bt__node_layout *x, unsigned i)
{
	return bt__count_at(x, x->slot[i]);
}

static inline uint64_t *bt__ref(const struct bt__node_layout *x, unsigned i)
{
	return bt__ref_at(x, x->slot[i]);
}

static inline void *bt__key(const struct bt__node_layout *x, unsigned i)
{
	return bt__key_at(x, x->slot[i]);
}

static inline size_t bt__leaf_bytes(unsigned cap, unsigned entry)
{
	return sizeof(struct bt__node_layout) + bt__slots_bytes(cap) + (size_t)cap * entry;
}

static inline size_t bt__inner_bytes(unsigned cap, unsigned entry)
{
	return sizeof(struct bt__node_layout) + bt__slots_bytes(cap) + (size_t)cap * (16 + entry);
}

/* A search of a node that is far away would wait for one line after the other; this asks for all at once. */
static inline void bt__near(const void *node, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 64)
		__builtin_prefetch((const char *)node + at);
}

/* ---- bt.c ---- */

/* The first entry of a leaf at or above key. */
unsigned bt__lower(
	const struct store *st, const struct bt_ops *ops, const struct bt__node_layout *leaf, const void *key);
/* The child of an inner node that key belongs to. */
unsigned bt__child(const struct store *st, const struct bt_ops *ops, const struct bt__node_layout *x, const void *key);

/* The way to a leaf, root first. */
struct bt__path {
	unsigned n;
	struct {
		struct bt__node_layout *node; /* writable after bt__path_edit */
		unsigned at;                  /* child taken; in the leaf: the entry */
	} s[BT_LEVELS];
};
/* Finds key's place. True when an equal entry stands there. The nodes are only for reading. */
bool bt__path_find(
	struct bt__path *p, const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key);
/* Makes every node on the path writable, and adds delta to the counts on it. */
void bt__path_edit(struct bt__path *p, struct store *st, struct bt_root *r, int delta);

/* Takes a free place for position i, and gives the one of position i back. */
unsigned bt__slot_open(struct bt__node_layout *x, unsigned i);
void bt__slot_close(struct bt__node_layout *x, unsigned i);

#endif
