/* Persistent stacks of objects: the reclaim queue (unlinked trees, freed a slice a tick) and the dead list
 * (objects that died while a snapshot shares them). Blocks of 62 entries, newest first. */
#include "internal.h"

/* Room for one more entry on top of a stack, allocating a block where the top one is full. */
static struct st__stack_layout *top_block(struct store *st, bool queue, uint64_t **n_out)
{
	struct st__meta_layout *m = st__meta_edit(st);
	uint64_t *top = queue ? &m->queue : &m->dead, *n = queue ? &m->queue_n : &m->dead_n;
	if (*top == 0 || *n == ST__STACK_MAX) {
		st_off off;
		struct st__stack_layout *b = st_alloc(st, sizeof(*b), queue ? ST_KIND_QUEUE : ST_KIND_DEADLIST, &off);
		CHECK2(b != NULL, off, 0);
		b->next = *top;
		memset(b->e, 0, sizeof(b->e));
		m = st__meta_edit(st);
		*top = off;
		*n = 0;
	}
	*n_out = n;
	/* The store's own blocks are never shared: edited in place whatever their birth. */
	return st__edit_own(st, *top);
}

void st__push(struct store *st, bool queue, st_off off, uint32_t birth, uint32_t bytes)
{
	uint64_t *n;
	struct st__stack_layout *b = top_block(st, queue, &n);
	b->e[*n].off = off;
	b->e[*n].birth = birth;
	b->e[*n].bytes = bytes;
	++*n;
}

void st_drop(struct store *st, st_off root)
{
	const struct st_obj *o = st_view(st, root);
	st__push(st, true, root, o->birth, (uint32_t)st_size(st, root));
	st->stats.reclaim_pending++;
}

static st_off pop(struct store *st)
{
	struct st__meta_layout *m = st__meta_edit(st);
	const struct st__stack_layout *b = st_view(st, m->queue);
	st_off off = b->e[--m->queue_n].off;
	if (m->queue_n == 0) {
		st_off empty = m->queue;
		m->queue = b->next;
		m->queue_n = b->next ? ST__STACK_MAX : 0;
		st__free_own(st, empty);
	}
	return off;
}

struct slice {
	struct store *st;
	unsigned freed;
};

static void count_child(void *ctx, st_off child)
{
	(void)child;
	++*(unsigned *)ctx;
}

static bool has_children(const struct store *st, st_off off)
{
	const struct st_obj *o = st_view(st, off);
	const struct st_kind_ops *k = st->kinds[o->kind];
	unsigned n = 0;
	if (k && k->children)
		k->children(o, st_size(st, off), count_child, &n);
	return n != 0;
}

/* Leaves are freed with their parent; what has children of its own waits in the queue. */
static void visit(void *ctx, st_off child)
{
	struct slice *s = ctx;
	if (has_children(s->st, child)) {
		const struct st_obj *o = st_view(s->st, child);
		st__push(s->st, true, child, o->birth, (uint32_t)st_size(s->st, child));
	} else {
		st_free(s->st, child);
		s->freed++;
	}
}

static void prefetch_child(void *ctx, st_off child)
{
	const struct store *st = ctx;
	__builtin_prefetch(st_home(st, child));
}

bool st_work(struct store *st, unsigned objects)
{
	struct slice s = {st, 0};
	/* Walkers look at homes: what this tick has edited so far may have been unlinked by it too. */
	if (st->front.overlay_n)
		return st__meta(st)->queue != 0;
	/* Long values replaced tick after tick would otherwise be queued faster than they are freed. */
	if (objects < 2 * st->born_before)
		objects = 2 * st->born_before;
	while (st__meta(st)->queue) {
		if (s.freed >= objects || !st_reserve(st, 0, true))
			return true;
		st_off off = pop(st);
		const struct st_obj *o = st_view(st, off);
		const struct st_kind_ops *k = st->kinds[o->kind];
		if (k && k->children) {
			size_t n = st_size(st, off);
			k->children(o, n, prefetch_child, st);
			k->children(o, n, visit, &s);
		}
		st_free(st, off);
		s.freed++;
	}
	st->stats.reclaim_pending = 0;
	return false;
}
