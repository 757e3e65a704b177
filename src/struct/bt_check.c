/* The kinds of the tree for the store's walkers, and the check of its invariants. */
#include "struct/bt_int.h"

static const char *node_check(const struct bt__node_layout *x, size_t n, bool inner)
{
	uint8_t seen[32] = {0};

	if (n < sizeof(*x) || x->cap == 0 || x->entry == 0 || x->entry % 8 || x->entry > 64 ||
		(inner ? bt__inner_bytes(x->cap, x->entry) : bt__leaf_bytes(x->cap, x->entry)) > n)
		return "tree node of an impossible shape";
	if (x->n == 0 || x->n > x->cap)
		return "tree node with an impossible number of entries";
	for (unsigned i = 0; i < x->cap; i++) {
		unsigned p = x->slot[i];
		if (p >= x->cap || seen[p / 8] >> (p % 8) & 1)
			return "tree node whose slots are no permutation";
		seen[p / 8] = (uint8_t)(seen[p / 8] | 1u << p % 8);
	}
	return NULL;
}

static void inner_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct bt__node_layout *x = obj;

	if (node_check(x, n, true))
		return;
	for (unsigned i = 0; i < x->n; i++)
		visit(ctx, *bt__ref(x, i));
}

static const char *inner_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct bt__node_layout *x = obj;
	const char *wrong = node_check(x, n, true);

	(void)st;
	(void)off;
	for (unsigned i = 0; !wrong && i < x->n; i++)
		if (*bt__ref(x, i) == 0 || *bt__ref(x, i) % ST_ALIGN || *bt__ref(x, i) >> ST_OFF_BITS)
			wrong = "impossible reference in a tree node";
	return wrong;
}

static const char *leaf_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	(void)st;
	(void)off;
	return node_check(obj, n, false);
}

void bt_register(struct store *st)
{
	static const struct st_kind_ops inner = {"tree node", inner_children, inner_object_check};
	static const struct st_kind_ops leaf = {"tree leaf", NULL, leaf_object_check};

	st_register(st, ST_KIND_BT_INNER, &inner);
	st_register(st, ST_KIND_BT_LEAF, &leaf);
}

st_off bt_root_ref(const struct bt_root *r)
{
	return r->node;
}

struct walk {
	const struct store *st;
	const struct bt_ops *ops;
	const void *before; /* the last entry seen */
	const char *wrong;
};

static uint64_t walk_leaf(struct walk *w, const struct bt__node_layout *leaf)
{
	for (unsigned i = 0; i < leaf->n; i++) {
		const void *e = bt__entry(leaf, i);
		if (w->before && w->ops->entry_is_key && w->ops->cmp(w->st, w->before, e, w->ops->ctx) >= 0)
			w->wrong = "entries out of order";
		w->before = e;
	}
	return leaf->n;
}

/* Entries below the node; *first_out: the smallest. */
static uint64_t walk_node(struct walk *w, st_off off, unsigned levels, const void **first_out)
{
	const struct bt__node_layout *x = st_view(w->st, off);
	uint64_t sum = 0;

	if (x->obj.kind != (levels > 1 ? ST_KIND_BT_INNER : ST_KIND_BT_LEAF)) {
		w->wrong = "tree reference to another kind of object";
		return 0;
	}
	w->wrong = node_check(x, st_size(w->st, off), levels > 1);
	if (!w->wrong && x->entry != w->ops->entry)
		w->wrong = "tree node with entries of another size";
	if (w->wrong)
		return 0;
	if (levels == 1) {
		*first_out = bt__entry(x, 0);
		return walk_leaf(w, x);
	}
	for (unsigned i = 0; i < x->n && !w->wrong; i++) {
		const void *first = NULL;
		uint64_t n = walk_node(w, *bt__ref(x, i), levels - 1, &first);
		if (w->wrong)
			break;
		if (n != *bt__count(x, i))
			w->wrong = "tree node with a wrong count";
		else if (i > 0 && memcmp(bt__key(x, i), first, x->entry) != 0)
			w->wrong = "tree node whose key is not the smallest entry";
		if (i == 0)
			*first_out = first;
		sum += n;
	}
	return sum;
}

const char *bt_check(const struct store *st, const struct bt_root *r, const struct bt_ops *ops)
{
	struct walk w = {.st = st, .ops = ops};
	const void *first;

	if ((r->node == 0) != (r->count == 0) || (r->node == 0) != (r->levels == 0) || r->levels > BT_LEVELS)
		return "impossible root of a tree";
	if (r->node == 0)
		return NULL;
	if (r->levels > 1 && ((const struct bt__node_layout *)st_view(st, r->node))->n < 2)
		return "tree higher than it needs";
	uint64_t n = walk_node(&w, r->node, r->levels, &first);
	if (!w.wrong && n != r->count)
		return "tree with a wrong count";
	return w.wrong;
}
