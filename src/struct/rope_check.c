/* The kinds of the rope for the store's walkers, its size, and the check of its invariants. */
#include "struct/rope_int.h"

static void node_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct rope__node_layout *node = obj;

	if (node->cap > ROPE__FAN || sizeof(*node) + node->cap * sizeof(node->ref[0]) > n)
		return;
	for (uint32_t i = 0; i < node->cap; i++)
		if (node->ref[i])
			visit(ctx, node->ref[i]);
}

static const char *node_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct rope__node_layout *node = obj;

	(void)st;
	(void)off;
	if (n < sizeof(*node) || node->cap == 0 || node->cap > ROPE__FAN ||
		sizeof(*node) + node->cap * sizeof(node->ref[0]) > n)
		return "rope node of an impossible length";
	for (uint32_t i = 0; i < node->cap; i++)
		if (node->ref[i] % ST_ALIGN || node->ref[i] >> ST_OFF_BITS)
			return "impossible reference in a rope node";
	return NULL;
}

static const char *chunk_object_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct rope__chunk_layout *c = obj;

	(void)st;
	(void)off;
	if (n < sizeof(*c) || c->used == 0 || c->used > ROPE_CHUNK || sizeof(*c) + c->used > n)
		return "rope chunk of an impossible length";
	return NULL;
}

void rope_register(struct store *st)
{
	static const struct st_kind_ops node = {"rope node", node_children, node_object_check};
	static const struct st_kind_ops chunk = {"rope chunk", NULL, chunk_object_check};

	st_register(st, ST_KIND_ROPE_NODE, &node);
	st_register(st, ST_KIND_ROPE_CHUNK, &chunk);
}

static uint64_t tree_bytes(const struct store *st, st_off off, uint32_t level)
{
	uint64_t bytes = st_size(st, off);

	if (level) {
		const struct rope__node_layout *n = st_view(st, off);
		for (uint32_t i = 0; i < n->cap; i++)
			if (n->ref[i])
				bytes += tree_bytes(st, n->ref[i], level - 1);
	}
	return bytes;
}

uint64_t rope_bytes(const struct store *st, const struct rope_root *r)
{
	return r->node ? tree_bytes(st, r->node, r->levels) : 0;
}

/* first: the first chunk of the subtree. */
static const char *tree_check(const struct store *st, st_off off, uint32_t level, uint64_t first, uint64_t len)
{
	const struct st_obj *o = st_view_part(st, off, 0);
	size_t size = st_size(st, off);

	if (o->kind != (level ? ST_KIND_ROPE_NODE : ST_KIND_ROPE_CHUNK))
		return "rope reference to another kind of object";
	if (first * ROPE_CHUNK >= len)
		return "rope stores something behind its end";
	if (level == 0) {
		const char *wrong = chunk_object_check(st, off, o, size);
		if (!wrong && first * ROPE_CHUNK + ((const struct rope__chunk_layout *)(const void *)o)->used > len)
			wrong = "rope chunk reaches behind the end";
		return wrong;
	}
	const struct rope__node_layout *n = (const void *)o;
	const char *wrong = node_object_check(st, off, n, size);
	for (uint32_t i = 0; !wrong && i < n->cap; i++)
		if (n->ref[i])
			wrong = tree_check(st, n->ref[i], level - 1, first + ((uint64_t)i << ROPE__FAN_BITS * (level - 1)), len);
	return wrong;
}

const char *rope_check(const struct store *st, const struct rope_root *r)
{
	if (r->levels != rope__levels(r->len))
		return "rope of another height than its length asks for";
	if (r->len == 0 && r->node)
		return "empty rope with nodes";
	return r->node ? tree_check(st, r->node, r->levels, 0, r->len) : NULL;
}
