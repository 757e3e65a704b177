/* Writing into a rope. A part of a chunk that is there is edited in place; nodes are touched only where a reference
 * changes: a new chunk, one that has to grow, one that a snapshot or a reader shares, or one that is mostly
 * rewritten, which is cheaper fresh than through the log. */
#include "struct/rope_int.h"

/* A write of at least this much of a committed chunk makes a fresh one. */
#define REWRITE (ROPE_CHUNK / 2)

size_t rope_reserve(size_t n)
{
	size_t chunks = n / ROPE_CHUNK + 2, nodes = chunks / ROPE__FAN + 2 + 2 * ROPE__LEVELS;
	return chunks * st_class_size(sizeof(struct rope__chunk_layout) + ROPE_CHUNK) +
		nodes * st_class_size(sizeof(struct rope__node_layout) + ROPE__FAN * sizeof(uint64_t));
}

/* ---- nodes ---- */

/* A fresh node for at least cap references, all holes. */
static struct rope__node_layout *node_new(struct store *st, size_t cap, st_off *off_out)
{
	struct rope__node_layout *n;
	size_t size = st_class_size(sizeof(*n) + cap * sizeof(n->ref[0]));

	n = st_alloc(st, size, ST_KIND_ROPE_NODE, off_out);
	CHECK2(n != NULL, cap, size);
	cap = (size - sizeof(*n)) / sizeof(n->ref[0]);
	n->cap = cap < ROPE__FAN ? (uint32_t)cap : ROPE__FAN;
	n->pad = 0;
	memset(n->ref, 0, n->cap * sizeof(n->ref[0]));
	return n;
}

/* The node at *link, writable and with a place for child i; child `last` will follow. */
static struct rope__node_layout *node_edit(struct store *st, uint64_t *link, size_t i, size_t last)
{
	if (*link == 0)
		return node_new(st, last + 1, link);
	const struct rope__node_layout *old = st_view(st, *link);
	if (i < old->cap)
		return st_edit(st, link);

	size_t cap = old->cap + old->cap / 2;
	if (cap > ROPE__FAN)
		cap = ROPE__FAN;
	st_off off;
	struct rope__node_layout *n = node_new(st, cap > last ? cap : last + 1, &off);
	old = st_view(st, *link);
	memcpy(n->ref, old->ref, old->cap * sizeof(n->ref[0]));
	st_free(st, *link);
	*link = off;
	return n;
}

/* The reference of a chunk, in a writable node or the root. Chunks up to `last` will be written. */
static uint64_t *link_edit(struct store *st, struct rope_root *r, uint64_t index, uint64_t last)
{
	uint64_t *link = &r->node;

	for (uint32_t level = r->levels; level; level--) {
		unsigned shift = ROPE__FAN_BITS * (level - 1);
		size_t i = index >> shift & (ROPE__FAN - 1), to = ROPE__FAN - 1;
		if (last >> shift >> ROPE__FAN_BITS == index >> shift >> ROPE__FAN_BITS)
			to = last >> shift & (ROPE__FAN - 1);
		link = &node_edit(st, link, i, to)->ref[i];
	}
	return link;
}

/* Makes the tree high enough for len bytes. */
static void levels_grow(struct store *st, struct rope_root *r, uint64_t len)
{
	uint32_t levels = rope__levels(len);

	CHECK2(levels <= ROPE__LEVELS, levels, len);
	while (r->levels < levels) {
		r->levels++;
		if (r->node) {
			st_off off;
			struct rope__node_layout *n = node_new(st, 2, &off);
			n->ref[0] = r->node;
			r->node = off;
		}
	}
}

/* ---- chunks ---- */

struct target {
	struct store *st;
	struct rope_root *r;
	uint64_t index, last; /* this chunk; the last one of the write */
	st_off chunk;
};

/* A part of the chunk, writable. The chunk is not shared. */
static char *part_edit(struct target *t, size_t part, size_t size)
{
	st_off chunk = t->chunk;
	char *p = st_edit_part(t->st, &chunk, part, size - part < ROPE__PART ? size - part : ROPE__PART);

	CHECK2(chunk == t->chunk, chunk, t->chunk);
	return p;
}

/* Payload bytes [at, at+n) become src, or zeros. */
static void chunk_put(struct target *t, size_t at, const char *src, size_t n)
{
	size_t size = st_size(t->st, t->chunk);

	at += sizeof(struct rope__chunk_layout);
	for (size_t k; n; n -= k, at += k) {
		size_t part = at & ~(size_t)(ROPE__PART - 1);
		k = part + ROPE__PART - at < n ? part + ROPE__PART - at : n;
		char *p = part_edit(t, part, size) + (at - part);
		if (src) {
			memcpy(p, src, k);
			src += k;
		} else {
			memset(p, 0, k);
		}
	}
}

/* A fresh chunk with room for cap bytes: those of the old one (0: none), with src at `at`. */
static void chunk_fresh(struct target *t, size_t cap, size_t at, const char *src, size_t n)
{
	struct store *st = t->st;
	size_t used = t->chunk ? rope__used(st, t->chunk) : 0, before = used < at ? used : at;
	struct rope__chunk_layout *c;
	st_off off;

	/* The whole class is asked for: later writes in this tick may use it in place. */
	c = st_alloc(st, st_class_size(sizeof(*c) + cap), ST_KIND_ROPE_CHUNK, &off);
	CHECK2(c != NULL, cap, n);
	c->used = (uint32_t)(used > at + n ? used : at + n);
	c->pad = 0;
	if (before)
		rope__chunk_get(st, t->chunk, 0, c->b, before);
	memset(c->b + before, 0, at - before);
	st_fill(st, c->b + at, src, n);
	if (used > at + n)
		rope__chunk_get(st, t->chunk, at + n, c->b + at + n, used - at - n);
	if (t->chunk)
		st_free(st, t->chunk);
	*link_edit(st, t->r, t->index, t->last) = off;
	t->chunk = off;
}

/* A copy takes the place of a chunk that a snapshot or a reader shares. */
static void chunk_unshare(struct target *t)
{
	if (UNLIKELY(st_shared(t->st, t->chunk)))
		chunk_fresh(t, st_size(t->st, t->chunk) - sizeof(struct rope__chunk_layout), 0, "", 0);
}

/* Writes n bytes at payload byte `at` of one chunk. */
static void chunk_write(struct target *t, size_t at, const char *src, size_t n)
{
	size_t need = at + n;

	if (t->chunk == 0) {
		chunk_fresh(t, need, at, src, n);
		return;
	}
	size_t cap = st_size(t->st, t->chunk) - sizeof(struct rope__chunk_layout);
	if (need > cap || n >= REWRITE || UNLIKELY(st_shared(t->st, t->chunk))) {
		if (need > cap) {
			/* Grows by half, so that appending byte by byte copies each byte a few times only. */
			cap += cap / 2;
			cap = cap < need ? need : cap;
		}
		chunk_fresh(t, cap < ROPE_CHUNK ? cap : ROPE_CHUNK, at, src, n);
		return;
	}
	size_t used = rope__used(t->st, t->chunk);
	if (at > used)
		chunk_put(t, used, NULL, at - used);
	chunk_put(t, at, src, n);
	if (need > used) {
		struct rope__chunk_layout *c = (void *)part_edit(t, 0, st_size(t->st, t->chunk));
		c->used = (uint32_t)need;
	}
}

void rope_write(struct store *st, struct rope_root *r, uint64_t at, struct bytes s)
{
	if (s.n == 0)
		return;
	struct target t = {.st = st, .r = r, .last = (at + s.n - 1) / ROPE_CHUNK};
	if (at + s.n > r->len) {
		levels_grow(st, r, at + s.n);
		r->len = at + s.n;
	}
	while (s.n) {
		size_t in = at % ROPE_CHUNK, k = ROPE_CHUNK - in < s.n ? ROPE_CHUNK - in : s.n;
		t.index = at / ROPE_CHUNK;
		t.chunk = rope__chunk(st, r, t.index);
		chunk_write(&t, in, s.p, k);
		s.p += k;
		s.n -= k;
		at += k;
	}
}

uint8_t *rope_byte(struct store *st, struct rope_root *r, uint64_t at)
{
	struct target t = {.st = st, .r = r, .index = at / ROPE_CHUNK, .last = at / ROPE_CHUNK};
	size_t in = at % ROPE_CHUNK;

	DCHECK2(at < r->len, at, r->len);
	t.chunk = rope__chunk(st, r, t.index);
	if (t.chunk == 0 || in >= rope__used(st, t.chunk))
		chunk_write(&t, in, "", 1);
	else
		chunk_unshare(&t);
	size_t byte = in + sizeof(struct rope__chunk_layout), part = byte & ~(size_t)(ROPE__PART - 1);
	return (uint8_t *)part_edit(&t, part, st_size(st, t.chunk)) + (byte - part);
}

/* ---- cutting ---- */

/* A subtree goes; chunks and nodes with few of them at once, others when the store has time. */
static void tree_free(struct store *st, st_off node, uint32_t level)
{
	if (level) {
		const struct rope__node_layout *n = st_view(st, node);
		if (level > 1 || n->cap > 64) {
			st_drop(st, node);
			return;
		}
		for (uint32_t i = 0; i < n->cap; i++)
			if (n->ref[i])
				st_free(st, n->ref[i]);
	}
	st_free(st, node);
}

/* Frees what stands behind chunk `last` in the subtree at *link. */
static void tree_cut(struct store *st, uint64_t *link, uint32_t level, uint64_t last)
{
	if (level == 0 || *link == 0)
		return;
	unsigned shift = ROPE__FAN_BITS * (level - 1);
	uint32_t keep = (uint32_t)(last >> shift) & (ROPE__FAN - 1);
	struct rope__node_layout *n = st_edit(st, link);
	for (uint32_t i = keep + 1; i < n->cap; i++)
		if (n->ref[i]) {
			tree_free(st, n->ref[i], level - 1);
			n->ref[i] = 0;
		}
	if (keep < n->cap)
		tree_cut(st, &n->ref[keep], level - 1, last);
}

void rope_truncate(struct store *st, struct rope_root *r, uint64_t len)
{
	DCHECK2(len <= r->len, len, r->len);
	if (len == 0) {
		rope_drop(st, r);
		return;
	}
	uint64_t last = (len - 1) / ROPE_CHUNK;
	if (last != (r->len - 1) / ROPE_CHUNK)
		tree_cut(st, &r->node, r->levels, last);
	for (uint32_t levels = rope__levels(len); r->levels > levels; r->levels--) {
		if (r->node == 0)
			continue;
		const struct rope__node_layout *n = st_view(st, r->node);
		st_off child = n->ref[0];
		st_free(st, r->node);
		r->node = child;
	}
	struct target t = {.st = st, .r = r, .index = last, .last = last, .chunk = rope__chunk(st, r, last)};
	uint32_t left = (uint32_t)(len - last * ROPE_CHUNK);
	if (t.chunk && rope__used(st, t.chunk) > left) {
		chunk_unshare(&t);
		struct rope__chunk_layout *c = (void *)part_edit(&t, 0, st_size(st, t.chunk));
		c->used = left;
	}
	r->len = len;
}

void rope_drop(struct store *st, struct rope_root *r)
{
	if (r->node)
		tree_free(st, r->node, r->levels);
	*r = (struct rope_root){0};
}

/* ---- copying ---- */

static st_off tree_copy(struct store *st, st_off from, uint32_t level)
{
	st_off off = 0;

	if (from && level == 0) {
		uint32_t used = rope__used(st, from);
		struct rope__chunk_layout *c = st_alloc(st, st_class_size(sizeof(*c) + used), ST_KIND_ROPE_CHUNK, &off);
		CHECK2(c != NULL, used, 0);
		c->used = used;
		c->pad = 0;
		if (rope__home(st, from))
			st_fill(st, c->b, ((const struct rope__chunk_layout *)st_home(st, from))->b, used);
		else
			rope__chunk_get(st, from, 0, c->b, used);
	} else if (from) {
		uint32_t cap = ((const struct rope__node_layout *)st_view(st, from))->cap;
		struct rope__node_layout *n = node_new(st, cap, &off);
		for (uint32_t i = 0; i < cap; i++)
			n->ref[i] = tree_copy(st, ((const struct rope__node_layout *)st_view(st, from))->ref[i], level - 1);
	}
	return off;
}

void rope_copy(struct store *st, const struct rope_root *from, struct rope_root *to)
{
	*to = (struct rope_root){.len = from->len, .node = tree_copy(st, from->node, from->levels), .levels = from->levels};
}
