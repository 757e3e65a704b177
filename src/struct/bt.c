/* Finding in a counted B+tree: by key, by rank, and along. */
#include "struct/bt_int.h"

unsigned bt__lower(
	const struct store *st, const struct bt_ops *ops, const struct bt__node_layout *leaf, const void *key)
{
	unsigned lo = 0, hi = leaf->n;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		if (ops->cmp(st, bt__entry(leaf, mid), key, ops->ctx) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

unsigned bt__child(const struct store *st, const struct bt_ops *ops, const struct bt__node_layout *x, const void *key)
{
	unsigned lo = 1, hi = x->n;

	/* The last child whose smallest entry is not above key. */
	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		if (ops->cmp(st, bt__key(x, mid), key, ops->ctx) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

bool bt__path_find(
	struct bt__path *p, const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key)
{
	st_off off = r->node;

	p->n = r->levels;
	CHECK2(p->n <= BT_LEVELS, p->n, 0);
	for (unsigned k = 0; k < p->n; k++) {
		struct bt__node_layout *x = (void *)(uintptr_t)st_view(st, off);
		bt__near(x, k == p->n - 1 ? BT__LEAF_BYTES : BT__INNER_BYTES);
		p->s[k].node = x;
		if (k == p->n - 1) {
			unsigned i = bt__lower(st, ops, x, key);
			p->s[k].at = i;
			return i < x->n && ops->cmp(st, bt__entry(x, i), key, ops->ctx) == 0;
		}
		p->s[k].at = bt__child(st, ops, x, key);
		off = *bt__ref(x, p->s[k].at);
	}
	return false;
}

bool bt_find(
	const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key, void *entry_out)
{
	struct bt__path p;

	if (!bt__path_find(&p, st, r, ops, key))
		return false;
	if (entry_out)
		memcpy(entry_out, bt__entry(p.s[p.n - 1].node, p.s[p.n - 1].at), ops->entry);
	return true;
}

uint64_t bt_rank(const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key)
{
	struct bt__path p;
	uint64_t rank = 0;

	bt__path_find(&p, st, r, ops, key);
	for (unsigned k = 0; k < p.n; k++) {
		if (k == p.n - 1)
			return rank + p.s[k].at;
		for (unsigned i = 0; i < p.s[k].at; i++)
			rank += *bt__count(p.s[k].node, i);
	}
	return rank;
}

void bt_at(const struct store *st, const struct bt_root *r, const struct bt_ops *ops, uint64_t rank, void *entry_out)
{
	st_off off = r->node;

	CHECK2(rank < r->count, rank, r->count);
	for (unsigned k = 1; k < r->levels; k++) {
		const struct bt__node_layout *x = st_view(st, off);
		unsigned i = 0;
		for (; rank >= *bt__count(x, i); i++)
			rank -= *bt__count(x, i);
		off = *bt__ref(x, i);
	}
	memcpy(entry_out, bt__entry(st_view(st, off), (unsigned)rank), ops->entry);
}

/* ---- iterating: in the leaf `at` goes from -1 (before the first) to n (at the end) ---- */

#define BEFORE UINT32_MAX

static const struct bt__node_layout *node_of(const struct bt_iter *it, unsigned k)
{
	return st_view(it->st, it->path[k].node);
}

/* Down from level k along the first or the last children. */
static void descend(struct bt_iter *it, unsigned k, bool last)
{
	for (;; k++) {
		const struct bt__node_layout *x = node_of(it, k);
		it->path[k].at = last ? x->n - 1u : 0;
		if (k == it->depth - 1)
			return;
		it->path[k + 1].node = *bt__ref(x, it->path[k].at);
	}
}

/* To the next or the previous leaf, when there is one. */
static bool turn(struct bt_iter *it, bool back)
{
	for (unsigned k = it->depth - 1; k-- > 0;) {
		const struct bt__node_layout *x = node_of(it, k);
		if (back ? it->path[k].at > 0 : it->path[k].at + 1u < x->n) {
			it->path[k].at += back ? -1u : 1u;
			it->path[k + 1].node = *bt__ref(x, it->path[k].at);
			descend(it, k + 1, back);
			return true;
		}
	}
	return false;
}

void bt_seek(
	struct bt_iter *it, const struct store *st, const struct bt_root *r, const struct bt_ops *ops, const void *key)
{
	it->st = st;
	it->ops = ops;
	it->depth = r->levels;
	if (it->depth == 0)
		return;
	CHECK2(it->depth <= BT_LEVELS, it->depth, 0);
	it->path[0].node = r->node;
	if (key == NULL) {
		descend(it, 0, false);
		return;
	}
	for (unsigned k = 0; k < it->depth - 1; k++) {
		const struct bt__node_layout *x = node_of(it, k);
		it->path[k].at = bt__child(st, ops, x, key);
		it->path[k + 1].node = *bt__ref(x, it->path[k].at);
	}
	const struct bt__node_layout *leaf = node_of(it, it->depth - 1);
	it->path[it->depth - 1].at = bt__lower(st, ops, leaf, key);
	if (it->path[it->depth - 1].at == leaf->n)
		turn(it, false);
}

const void *bt_entry(const struct bt_iter *it)
{
	if (it->depth == 0)
		return NULL;
	const struct bt__node_layout *leaf = node_of(it, it->depth - 1);
	uint32_t at = it->path[it->depth - 1].at;
	return at < leaf->n ? bt__entry(leaf, at) : NULL;
}

void bt_next(struct bt_iter *it)
{
	if (it->depth == 0)
		return;
	uint32_t *at = &it->path[it->depth - 1].at;
	uint32_t n = node_of(it, it->depth - 1)->n;
	if (*at == n)
		return;
	/* From before the first it wraps to it. */
	if (++*at == n)
		turn(it, false);
}

void bt_prev(struct bt_iter *it)
{
	if (it->depth == 0 || it->path[it->depth - 1].at == BEFORE)
		return;
	uint32_t *at = &it->path[it->depth - 1].at;
	if (*at > 0 || !turn(it, true))
		--*at;
}
