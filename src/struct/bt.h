/* Counted B+tree in the pool: entries of a fixed size in the order of a comparison, found by key or by rank.
 * Nodes are small and slotted: an insertion moves a few slot bytes, never entries.
 *
 * The root is a struct bt_root inside an object of the owner, made writable by the owner before changing calls.
 * Crash: every change is part of the caller's tick. */
#ifndef STRUCT_BT_H
#define STRUCT_BT_H

#include "store/store.h"

struct bt_root {
	uint64_t node; /* 0: empty */
	uint64_t count;
	uint32_t levels;
	uint32_t pad;
};

struct bt_ops {
	uint32_t entry; /* bytes an entry, a multiple of 8, 8 to 64 */
	/* Orders the entry against a key; total. */
	int (*cmp)(const struct store *st, const void *entry, const void *key, void *ctx);
	void *ctx;
	/* References inside an entry, for walkers; NULL when entries hold none. */
	void (*children)(const void *entry, st_visit_fn visit, void *ctx);
	/* An entry may stand for itself as cmp's key: bt_check then checks the order. */
	bool entry_is_key;
};

/* Bytes one insertion or removal may allocate. */
#define BT_RESERVE (32u * 1024)

/* Adds the entry; key is the entry itself as cmp's key. False (nothing changed) when an equal one is there. */
bool bt_insert(struct store *st, struct bt_root *r, const struct bt_ops *ops, const void *entry, const void *key);
/* Takes the entry equal to key out, copying it to entry_out (may be NULL). False when it is not there. */
bool bt_remove(struct store *st, struct bt_root *r, const struct bt_ops *ops, const void *key, void *entry_out);
bool bt_find(
	const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key, void *entry_out);
/* Entries below key. */
uint64_t bt_rank(const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key);
/* The entry at a rank (< count). */
void bt_at(const struct store *st, const struct bt_root *r, const struct bt_ops *ops, uint64_t rank, void *entry_out);

/* Iterating: a stack, no sibling pointers. Any change of the tree ends it. */
#define BT_LEVELS 16
struct bt_iter {
	const struct store *st;
	const struct bt_ops *ops;
	uint32_t depth;
	struct {
		st_off node;
		uint32_t at;
	} path[BT_LEVELS];
};
/* At the first entry at or above key (NULL: the first); at the end when there is none. */
void bt_seek(
	struct bt_iter *it, const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key);
/* The current entry (valid until the tick changes the tree), NULL at the end and before the first. */
const void *bt_entry(const struct bt_iter *it);
/* From the end bt_prev leads to the last entry, from before the first bt_next to that. */
void bt_next(struct bt_iter *it);
void bt_prev(struct bt_iter *it);

/* Unlinks the whole tree. r becomes empty. */
void bt_drop(struct store *st, struct bt_root *r);
st_off bt_root_ref(const struct bt_root *r);
void bt_register(struct store *st);
const char *bt_check(const struct store *st, const struct bt_root *r, const struct bt_ops *ops);

#endif
