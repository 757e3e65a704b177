/* Taking an entry out. A node goes when it is empty, or when it and a neighbour under the same parent fit in three
 * quarters of one; nothing is borrowed. So two neighbours together are more than three eighths full, and a tree that
 * is eaten from one end (deadlines) moves no entry at all. */
#include "struct/bt_int.h"

/* The smallest entry below child p->s[k].at of the node at level k is another now: key. It is written into the nearest
 * ancestor for which that child is not the first. */
static void key_changed(struct bt__path *p, unsigned k, const void *key)
{
	for (k++; k-- > 0;)
		if (p->s[k].at > 0) {
			memcpy(bt__key(p->s[k].node, p->s[k].at), key, p->s[k].node->entry);
			return;
		}
}

static bool small(const struct bt__node_layout *x)
{
	return x->n <= x->cap * 3u / 8;
}

static bool fit(const struct bt__node_layout *x, uint64_t n)
{
	return n <= x->cap * 3u / 4;
}

/* Child i + 1 of parent moves into child i. */
static void merge(struct store *st, struct bt__node_layout *parent, unsigned i, bool leaves)
{
	struct bt__node_layout *left = st_edit(st, bt__ref(parent, i));
	st_off gone = *bt__ref(parent, i + 1);
	const struct bt__node_layout *right = st_view(st, gone);

	for (unsigned k = 0; k < right->n; k++) {
		unsigned p = bt__slot_open(left, left->n);
		if (leaves) {
			memcpy(bt__entry_at(left, p), bt__entry(right, k), left->entry);
			continue;
		}
		*bt__ref_at(left, p) = *bt__ref(right, k);
		*bt__count_at(left, p) = *bt__count(right, k);
		memcpy(bt__key_at(left, p), k ? bt__key(right, k) : bt__key(parent, i + 1), left->entry);
	}
	*bt__count(parent, i) += *bt__count(parent, i + 1);
	bt__slot_close(parent, i + 1);
	st_free(st, gone);
}

/* Entries or children of child i of an inner node. */
static unsigned size_of(const struct store *st, const struct bt__node_layout *parent, unsigned i, bool leaves)
{
	if (leaves)
		return (unsigned)*bt__count(parent, i);
	return ((const struct bt__node_layout *)st_view(st, *bt__ref(parent, i)))->n;
}

/* Merges the node at level k with a neighbour where the two fit. True when the parent has lost a child. */
static bool merge_near(struct store *st, struct bt__path *p, unsigned k)
{
	struct bt__node_layout *x = p->s[k].node, *parent = p->s[k - 1].node;
	unsigned at = p->s[k - 1].at;
	bool leaves = k == p->n - 1;

	if (at + 1u < parent->n && fit(x, (uint64_t)x->n + size_of(st, parent, at + 1, leaves))) {
		merge(st, parent, at, leaves);
		return true;
	}
	if (at > 0 && fit(x, (uint64_t)x->n + size_of(st, parent, at - 1, leaves))) {
		merge(st, parent, at - 1, leaves);
		return true;
	}
	return false;
}

/* The node at level k is empty and goes. */
static void unlink_child(struct store *st, struct bt__path *p, unsigned k)
{
	struct bt__node_layout *parent = p->s[k - 1].node;
	unsigned at = p->s[k - 1].at;

	st_free(st, *bt__ref(parent, at));
	bt__slot_close(parent, at);
	/* Another child is the first now, and with it another entry the smallest. */
	if (at == 0 && parent->n && k > 1)
		key_changed(p, k - 2, bt__key(parent, 0));
}

bool bt_remove(struct store *st, struct bt_root *r, const struct bt_ops *ops, const void *key, void *entry_out)
{
	struct bt__path p;

	if (!bt__path_find(&p, st, r, ops, key))
		return false;
	unsigned k = p.n - 1, at = p.s[k].at;
	if (entry_out)
		memcpy(entry_out, bt__entry(p.s[k].node, at), ops->entry);
	if (--r->count == 0) {
		bt_drop(st, r);
		return true;
	}
	bt__path_edit(&p, st, r, -1);
	struct bt__node_layout *leaf = p.s[k].node;
	bt__slot_close(leaf, at);
	if (at == 0 && leaf->n && k > 0)
		key_changed(&p, k - 1, bt__entry(leaf, 0));
	for (; k > 0; k--) {
		if (p.s[k].node->n == 0)
			unlink_child(st, &p, k);
		else if (!small(p.s[k].node) || !merge_near(st, &p, k))
			break;
	}
	while (r->levels > 1) {
		const struct bt__node_layout *x = st_view(st, r->node);
		if (x->n > 1)
			break;
		st_off child = *bt__ref(x, 0);
		st_free(st, r->node);
		r->node = child;
		r->levels--;
	}
	return true;
}

void bt_drop(struct store *st, struct bt_root *r)
{
	if (r->node && r->levels == 1)
		st_free(st, r->node);
	else if (r->node)
		st_drop(st, r->node);
	*r = (struct bt_root){0};
}
