/* Adding an entry. The counts on the way change in any case, so the whole path is made writable, from the root down. */
#include "struct/bt_int.h"

unsigned bt__slot_open(struct bt__node_layout *x, unsigned i)
{
	uint8_t p = x->slot[x->n];

	memmove(x->slot + i + 1, x->slot + i, x->n - i);
	x->slot[i] = p;
	x->n++;
	return p;
}

void bt__slot_close(struct bt__node_layout *x, unsigned i)
{
	uint8_t p = x->slot[i];

	x->n--;
	memmove(x->slot + i, x->slot + i + 1, x->n - i);
	x->slot[x->n] = p;
}

void bt__path_edit(struct bt__path *p, struct store *st, struct bt_root *r, int delta)
{
	uint64_t *link = &r->node;

	for (unsigned k = 0; k < p->n; k++) {
		struct bt__node_layout *x = st_edit(st, link);
		p->s[k].node = x;
		if (k == p->n - 1)
			break;
		*bt__count(x, p->s[k].at) += (uint64_t)(int64_t)delta;
		link = bt__ref(x, p->s[k].at);
	}
}

/* ---- nodes ---- */

static struct bt__node_layout *node_new(struct store *st, enum st_kind kind, unsigned entry, st_off *off_out)
{
	bool leaf = kind == ST_KIND_BT_LEAF;
	size_t bytes = leaf ? BT__LEAF_BYTES : BT__INNER_BYTES;
	unsigned cap = 255;
	struct bt__node_layout *x = st_alloc(st, bytes, kind, off_out);

	CHECK2(x != NULL, kind, entry);
	while ((leaf ? bt__leaf_bytes(cap, entry) : bt__inner_bytes(cap, entry)) > bytes)
		cap--;
	x->n = 0;
	x->cap = (uint8_t)cap;
	x->entry = (uint8_t)entry;
	memset(x->pad, 0, sizeof(x->pad));
	for (unsigned i = 0; i < bt__slots_bytes(cap); i++)
		x->slot[i] = (uint8_t)i;
	return x;
}

static void leaf_put(struct bt__node_layout *leaf, unsigned i, const void *entry)
{
	memcpy(bt__entry_at(leaf, bt__slot_open(leaf, i)), entry, leaf->entry);
}

static void inner_put(struct bt__node_layout *x, unsigned i, st_off ref, uint64_t count, const void *key)
{
	unsigned p = bt__slot_open(x, i);

	*bt__ref_at(x, p) = ref;
	*bt__count_at(x, p) = count;
	memcpy(bt__key_at(x, p), key, x->entry);
}

static uint64_t inner_sum(const struct bt__node_layout *x)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < x->n; i++)
		sum += *bt__count(x, i);
	return sum;
}

/* A node that has come to stand right of another. */
struct split {
	st_off right;
	uint64_t left_n, right_n; /* entries below each */
	const void *key;          /* smallest entry of the right one */
};

/* Where to split a full node that gets something at position i: in the middle, but at an end of the tree that grows
 * there so that nodes are left full. Positions from there on move to the right. */
static unsigned split_at(const struct bt__node_layout *x, unsigned i, bool first, bool last)
{
	if (last && i == x->n)
		return x->n;
	if (first && i == 0)
		return 0;
	return x->n / 2u;
}

static struct split leaf_split(
	struct store *st, struct bt__node_layout *left, unsigned i, const void *entry, bool first, bool last)
{
	struct split s;
	unsigned m = split_at(left, i, first, last);
	struct bt__node_layout *right = node_new(st, ST_KIND_BT_LEAF, left->entry, &s.right);

	for (unsigned k = m; k < left->n; k++)
		leaf_put(right, k - m, bt__entry(left, k));
	left->n = (uint8_t)m;
	if (i < m || (i == m && right->n))
		leaf_put(left, i, entry);
	else
		leaf_put(right, i - m, entry);
	s.left_n = left->n;
	s.right_n = right->n;
	s.key = bt__entry(right, 0);
	return s;
}

/* The same for an inner node whose child i has split: `new` goes to i + 1. Its left part has its new count already. */
static struct split inner_split(
	struct store *st, struct bt__node_layout *left, unsigned i, const struct split *new, bool last)
{
	struct split s;
	unsigned at = i + 1, m = split_at(left, at, false, last);
	struct bt__node_layout *right = node_new(st, ST_KIND_BT_INNER, left->entry, &s.right);

	for (unsigned k = m; k < left->n; k++)
		inner_put(right, k - m, *bt__ref(left, k), *bt__count(left, k), bt__key(left, k));
	left->n = (uint8_t)m;
	if (at < m || (at == m && right->n))
		inner_put(left, at, new->right, new->right_n, new->key);
	else
		inner_put(right, at - m, new->right, new->right_n, new->key);
	s.left_n = inner_sum(left);
	s.right_n = inner_sum(right);
	s.key = bt__key(right, 0);
	return s;
}

/* The root has split: one more level. */
static void root_split(struct store *st, struct bt_root *r, unsigned entry, const struct split *s)
{
	st_off off;
	struct bt__node_layout *x = node_new(st, ST_KIND_BT_INNER, entry, &off);

	CHECK2(r->levels < BT_LEVELS, r->levels, r->count);
	inner_put(x, 0, r->node, s->left_n, s->key); /* a first child's key is not looked at */
	inner_put(x, 1, s->right, s->right_n, s->key);
	r->node = off;
	r->levels++;
}

static void insert_split(struct store *st, struct bt_root *r, struct bt__path *p, const void *entry)
{
	bool first = true, last = true;

	for (unsigned k = 0; k + 1 < p->n; k++) {
		first &= p->s[k].at == 0;
		last &= p->s[k].at + 1u == p->s[k].node->n;
	}
	unsigned k = p->n - 1;
	struct split s = leaf_split(st, p->s[k].node, p->s[k].at, entry, first, last);
	while (k-- > 0) {
		struct bt__node_layout *x = p->s[k].node;
		unsigned at = p->s[k].at;
		*bt__count(x, at) = s.left_n;
		if (x->n < x->cap) {
			inner_put(x, at + 1, s.right, s.right_n, s.key);
			return;
		}
		s = inner_split(st, x, at, &s, last);
	}
	root_split(st, r, p->s[0].node->entry, &s);
}

bool bt_insert(struct store *st, struct bt_root *r, const struct bt_ops *ops, const void *entry, const void *key)
{
	struct bt__path p;

	if (bt__path_find(&p, st, r, ops, key))
		return false;
	r->count++;
	if (p.n == 0) {
		leaf_put(node_new(st, ST_KIND_BT_LEAF, ops->entry, &r->node), 0, entry);
		r->levels = 1;
		return true;
	}
	bt__path_edit(&p, st, r, 1);
	struct bt__node_layout *leaf = p.s[p.n - 1].node;
	if (leaf->n < leaf->cap)
		leaf_put(leaf, p.s[p.n - 1].at, entry);
	else
		insert_split(st, r, &p, entry);
	return true;
}
