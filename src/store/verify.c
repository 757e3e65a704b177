/* The verifier: walks all that is reachable and compares it with what the bitmaps, slab words and counters say.
 * It trusts nothing: a damaged pool gives errors, never a crash. */
#include "internal.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

struct walk {
	struct store *st;
	struct st_verify *v;
	uint64_t **seen;    /* a bitmap a slab, made when first needed */
	st_off *stack;
	size_t n, cap;
	st_off parent;
};

__attribute__((format(printf, 2, 3))) static void wrong(struct st_verify *v, const char *fmt, ...)
{
	if (v->errors++)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->first, sizeof(v->first), fmt, ap);
	va_end(ap);
}

/* The slab of an offset that may be anything, or NULL. */
static const struct st__slab *slab_at(const struct store *st, st_off off)
{
	if (off % ST_ALIGN || off >> ST__SLAB_SHIFT >= st->slab_n || !st__in_extents(st, off, ST__OBJ_MIN))
		return NULL;
	const struct st__slab *b = &st->slab[off >> ST__SLAB_SHIFT];
	return b->word_off && (b->state == ST__SLAB_PARTIAL || b->state == ST__SLAB_FULL) &&
		b->cls < st__class_count() ? b : NULL;
}

/* What keeps an offset from being an allocated object, or NULL. */
static const char *not_object(const struct store *st, st_off off, unsigned *number_out)
{
	const struct st__slab *b = slab_at(st, off);
	if (!b)
		return "leads outside the slabs in use";
	const struct st__class *c = &st__classes()[b->cls];
	uint32_t at = (uint32_t)(off & (ST__SLAB - 1));
	unsigned k = at / c->size;
	if (at % c->size || k >= c->per_slab)
		return "leads between objects";
	const uint64_t *bits = (const void *)(st->front.base + b->bits_off);
	if (!(bits[k / 64] >> (k & 63) & 1))
		return "leads to a free object";
	const struct st_obj *o = st_home(st, off);
	if (o->cls != b->cls)
		return "leads to an object of another class than its slab";
	if (o->birth == 0 || o->birth > st->epoch)
		return "leads to an object born in the future";
	if (o->kind >= ST_KIND_MAX || !st->kinds[o->kind])
		return "leads to an object of no known kind";
	*number_out = k;
	return NULL;
}

const char *st_check_ref(const struct store *st, st_off off, enum st_kind kind)
{
	unsigned k;
	const char *why = not_object(st, off, &k);
	if (why)
		return why;
	const struct st_obj *o = st_home(st, off);
	return o->kind == kind ? NULL : "leads to an object of another kind";
}

const char *st_check_object(const struct store *st, st_off off)
{
	const struct st_obj *o = st_home(st, off);
	const struct st_kind_ops *k = st->kinds[o->kind];
	return k->check ? k->check(st, off, o, st_size(st, off)) : NULL;
}

static void reach(void *ctx, st_off off)
{
	struct walk *w = ctx;
	unsigned k = 0;
	const char *why = not_object(w->st, off, &k);
	if (why) {
		wrong(w->v, "the reference to %#llx in the object at %#llx %s", (unsigned long long)off,
			(unsigned long long)w->parent, why);
		return;
	}
	uint64_t **seen = &w->seen[off >> ST__SLAB_SHIFT];
	if (!*seen)
		*seen = mem_zalloc(ST__BITMAP);
	if ((*seen)[k / 64] >> (k & 63) & 1) {
		wrong(w->v, "the object at %#llx is reached twice, last from %#llx", (unsigned long long)off,
			(unsigned long long)w->parent);
		return;
	}
	(*seen)[k / 64] |= 1ull << (k & 63);
	w->v->reachable++;
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 1024;
		w->stack = mem_realloc(w->stack, w->cap * sizeof(*w->stack));
	}
	w->stack[w->n++] = off;
}

static void drain(struct walk *w)
{
	while (w->n) {
		st_off off = w->stack[--w->n];
		const struct st_obj *o = st_home(w->st, off);
		const struct st_kind_ops *k = w->st->kinds[o->kind];
		size_t n = st_size(w->st, off);
		const char *why = k->check ? k->check(w->st, off, o, n) : NULL;
		w->parent = off;
		if (why)
			wrong(w->v, "the %s at %#llx: %s", k->name, (unsigned long long)off, why);
		else if (k->children)
			k->children(o, n, reach, w);
	}
}

/* The blocks of a stack and what their entries hold. */
static void walk_stack(struct walk *w, st_off block, uint64_t n)
{
	while (block) {
		uint64_t before = w->v->errors;
		w->parent = w->st->meta_off;
		reach(w, block);
		if (w->v->errors != before)
			return;
		const struct st__stack_layout *b = st_home(w->st, block);
		if (st_size(w->st, block) < sizeof(*b) || n > ST__STACK_MAX) {
			wrong(w->v, "the stack block at %#llx is damaged", (unsigned long long)block);
			return;
		}
		for (uint64_t i = 0; i < n; i++) {
			w->parent = block;
			reach(w, b->e[i].off);
			drain(w);
		}
		block = b->next;
		n = ST__STACK_MAX;
	}
}

/* One slab: bitmap against what was reached, word against count. */
static void compare_slab(struct walk *w, uint32_t s, uint64_t *bytes)
{
	struct store *st = w->st;
	const struct st__slab *b = &st->slab[s];
	const uint64_t *bits = (const void *)(st->front.base + b->bits_off);
	uint64_t word = *(const uint64_t *)(const void *)(st->front.base + b->word_off);
	unsigned state = word >> 8 & 0xff, cls = word & 0xff, used = 0;
	if (state == ST__SLAB_HEAD)
		return;
	if (word >> 16 || state > ST__SLAB_HEAD || cls >= st__class_count() || (state == ST__SLAB_FREE && word)) {
		wrong(w->v, "the word of slab %u is damaged (%#llx)", s, (unsigned long long)word);
		return;
	}
	unsigned per = state == ST__SLAB_FREE ? 0 : st__classes()[cls].per_slab;
	for (unsigned i = 0; i < ST__BITMAP / 8; i++) {
		uint64_t legal = i * 64 >= per ? 0 : per - i * 64 >= 64 ? ~0ull : (1ull << (per - i * 64)) - 1;
		uint64_t seen = w->seen[s] ? w->seen[s][i] : 0;
		if (bits[i] & ~legal)
			wrong(w->v, "the bitmap of slab %u has bits beyond its objects", s);
		if (bits[i] & legal & ~seen)
			wrong(w->v, "%u objects in slab %u (class %u) are allocated and unreachable, first number %u",
				(unsigned)__builtin_popcountll(bits[i] & legal & ~seen), s, per ? st__classes()[cls].size : 0,
				i * 64 + (unsigned)__builtin_ctzll(bits[i] & legal & ~seen));
		used += (unsigned)__builtin_popcountll(bits[i]);
	}
	unsigned want = used == 0 ? ST__SLAB_FREE : used == per ? ST__SLAB_FULL : ST__SLAB_PARTIAL;
	if (want != state)
		wrong(w->v, "slab %u holds %u of %u objects and its word says state %u", s, used, per, state);
	if (b->busy && b->used != used && b->state != ST__SLAB_HEAD)
		wrong(w->v, "slab %u holds %u objects and the allocator counts %u", s, used, b->used);
	w->v->allocated += used;
	*bytes += (uint64_t)used * (per ? st__classes()[cls].size : 0);
}

void st_verify(struct store *st, struct st_verify *out)
{
	CHECK2(st->front.overlay_n == 0, st->front.overlay_n, 0);
	*out = (struct st_verify){0};
	struct walk w = {.st = st, .v = out, .seen = mem_zalloc(st->slab_n * sizeof(*w.seen))};
	const struct st__meta_layout *m = st__meta(st);
	w.parent = st->meta_off;
	if (m->root)
		reach(&w, m->root);
	drain(&w);
	walk_stack(&w, m->queue, m->queue_n);
	walk_stack(&w, m->dead, m->dead_n);
	uint64_t bytes = 0;
	for (uint32_t i = 1; i < st->extents; i++)
		for (uint64_t u = 0; u < st->span[i].units; u++)
			compare_slab(&w, (uint32_t)(st->span[i].start >> ST__SLAB_SHIFT) + (uint32_t)u, &bytes);
	if (out->allocated != m->objects || bytes != m->object_bytes)
		wrong(out, "counters say %llu objects of %llu bytes, the bitmaps %llu of %llu", (unsigned long long)m->objects,
			(unsigned long long)m->object_bytes, (unsigned long long)out->allocated, (unsigned long long)bytes);
	for (uint64_t s = 0; s < st->slab_n; s++)
		mem_free(w.seen[s]);
	mem_free(w.seen);
	mem_free(w.stack);
}

void st_each(const struct store *st, void (*fn)(void *ctx, st_off off, const void *obj, size_t n), void *ctx)
{
	for (uint32_t i = 1; i < st->extents; i++)
		for (uint64_t u = 0; u < st->span[i].units; u++) {
			uint64_t s = (st->span[i].start >> ST__SLAB_SHIFT) + u;
			const struct st__slab *b = &st->slab[s];
			if (b->state != ST__SLAB_PARTIAL && b->state != ST__SLAB_FULL)
				continue;
			const struct st__class *c = &st__classes()[b->cls];
			const uint64_t *bits = (const void *)(st->front.base + b->bits_off);
			for (unsigned k = 0; k < c->per_slab; k++) {
				st_off off = (s << ST__SLAB_SHIFT) + (uint64_t)k * c->size;
				if (bits[k / 64] >> (k & 63) & 1)
					fn(ctx, off, st_home(st, off), c->size);
			}
		}
}
