/* The overlay: what the current tick has made of objects, in DRAM, keyed by offset. Committed memory is written by
 * nobody but tick.c's apply (DESIGN invariant 3); everybody else gets copies from here, or fresh objects in place. */
#include "internal.h"

#include "base/mem.h"

#define ARENA_BLOCK (256u * 1024)

static uint32_t slot_of(const struct store *st, st_off off)
{
	return (uint32_t)((off * 0x9E3779B97F4A7C15ull) >> 32) & st->table_mask;
}

struct st__entry *st__find(const struct store *st, st_off off)
{
	if (st->front.overlay_n == 0)
		return NULL;
	uint32_t bit = st_filter_bit(off);
	if (!(st->filter[bit >> 6] >> (bit & 63) & 1))
		return NULL;
	for (uint32_t h = slot_of(st, off); st->table[h]; h = (h + 1) & st->table_mask)
		if (st->entries[st->table[h] - 1].off == off)
			return &st->entries[st->table[h] - 1];
	return NULL;
}

const void *st_view_slow(const struct store *st, st_off off)
{
	const struct st__entry *e = st__find(st, off);
	return e && e->p ? e->p : st->front.base + off;
}

static void table_insert(struct store *st, uint32_t index)
{
	uint32_t h = slot_of(st, st->entries[index].off);
	while (st->table[h])
		h = (h + 1) & st->table_mask;
	st->table[h] = index + 1;
}

static void table_rebuild(struct store *st)
{
	if (!st->table)
		return; /* nothing was ever edited */
	memset(st->table, 0, (st->table_mask + 1) * sizeof(*st->table));
	for (uint32_t i = 0; i < st->front.overlay_n; i++)
		table_insert(st, i);
}

static void entries_grow(struct store *st)
{
	st->entries_cap = st->entries_cap ? st->entries_cap * 2 : 4096;
	st->entries = mem_realloc(st->entries, st->entries_cap * sizeof(*st->entries));
	mem_free(st->table);
	st->table_mask = st->entries_cap * 2 - 1;
	st->table = mem_alloc((st->table_mask + 1) * sizeof(*st->table));
	table_rebuild(st);
}

struct st__entry *st__put(struct store *st, st_off off, uint32_t n, uint32_t flags)
{
	if (UNLIKELY(st->front.overlay_n == st->entries_cap))
		entries_grow(st);
	uint32_t i = st->front.overlay_n++;
	struct st__entry *e = &st->entries[i];
	*e = (struct st__entry){.off = off, .n = n, .flags = flags, .unit = st->unit};
	table_insert(st, i);
	uint32_t bit = st_filter_bit(off);
	st->filter[bit >> 6] |= 1ull << (bit & 63);
	return e;
}

/* n bytes that live until the tick ends. */
static char *arena_take(struct store *st, size_t n)
{
	struct st__arena *a = &st->arena;
	n = (n + 15) & ~(size_t)15;
	DCHECK2(n <= ARENA_BLOCK, n, ARENA_BLOCK);
	if (a->at < a->n && a->used + n > ARENA_BLOCK) {
		a->at++;
		a->used = 0;
	}
	if (a->at == a->n) {
		if (a->n == a->cap) {
			a->cap = a->cap ? a->cap * 2 : 16;
			a->block = mem_realloc(a->block, a->cap * sizeof(*a->block));
		}
		a->block[a->n++] = mem_aligned(64, ARENA_BLOCK);
	}
	char *p = a->block[a->at] + a->used;
	a->used += n;
	return p;
}

/* Keeps an entry as it was before the open unit changes it, once a unit. */
void st__save(struct store *st, struct st__entry *e)
{
	if (LIKELY(st->unit == 0) || e->unit == st->unit)
		return;
	if (st->undo_n == st->undo_cap) {
		st->undo_cap = st->undo_cap ? st->undo_cap * 2 : 256;
		st->undo = mem_realloc(st->undo, st->undo_cap * sizeof(*st->undo));
	}
	struct st__undo *u = &st->undo[st->undo_n++];
	*u = (struct st__undo){.entry = (uint32_t)(e - st->entries), .flags = e->flags, .n = e->n, .p = e->p};
	if (e->flags & ST__FRESH)
		u->born = (uint32_t)e->owner;
	size_t n = e->flags & ST__FRESH ? st_size(st, e->off) : e->n;
	if (e->p && n) {
		u->saved = arena_take(st, n);
		memcpy(u->saved, e->p, n);
		st->copied += n;
	}
	e->unit = st->unit;
}

static void *copy_in(struct store *st, st_off off, uint32_t n, uint32_t flags, st_off owner)
{
	struct st__entry *e = st__put(st, off, n, flags);
	e->owner = owner;
	e->p = arena_take(st, n);
	memcpy(e->p, st->front.base + off, n);
	st->copied += n;
	return e->p;
}

void *st__edit_raw(struct store *st, uint64_t off, uint32_t n)
{
	struct st__entry *e = st__find(st, off);
	if (e) {
		st__save(st, e);
		return e->p;
	}
	return copy_in(st, off, n, ST__RAW, 0);
}

struct st__meta_layout *st__meta_edit(struct store *st)
{
	return st__edit_raw(st, st->meta_off, ST__META_EDIT);
}

static bool pinned(const struct store *st, st_off off)
{
	return UNLIKELY(st->pins_n != 0) && st__pin_find(st, off) != NULL;
}

bool st_shared(const struct store *st, st_off off)
{
	/* Without a floor the object need not be looked at: of a bucket page that would be a cache miss. */
	const struct st_obj *o = st_home(st, off);
	return (UNLIKELY(st->floor != 0) && o->birth <= st->floor) || pinned(st, off);
}

/* *ref is shared: a fresh copy takes its place. */
static void *clone(struct store *st, st_off *ref)
{
	st_off from = *ref, to;
	const struct st_obj *o = st_view(st, from);
	size_t n = st_size(st, from);
	struct st_obj *c = st_alloc(st, n, o->kind, &to);
	CHECK2(c != NULL, from, n);
	struct st_obj head = *c;
	o = st_view(st, from);
	memcpy(c, o, n);
	c->birth = head.birth;
	st_free(st, from);
	*ref = to;
	return c;
}

void *st_edit(struct store *st, st_off *ref)
{
	st_off off = *ref;
	struct st__entry *e = st__find(st, off);
	if (e) {
		DCHECK2(!(e->flags & (ST__DEAD | ST__RAW | ST__PART)), off, e->flags);
		if (e->flags & ST__FRESH && pinned(st, off))
			return clone(st, ref);
		st__save(st, e);
		e->filled_n = 0;
		return e->p;
	}
	if (UNLIKELY(st_shared(st, off)))
		return clone(st, ref);
	return copy_in(st, off, (uint32_t)st_size(st, off), 0, 0);
}

void *st__edit_own(struct store *st, st_off off)
{
	struct st__entry *e = st__find(st, off);
	if (e) {
		st__save(st, e);
		return e->p;
	}
	return copy_in(st, off, (uint32_t)st_size(st, off), 0, 0);
}

void *st_edit_part(struct store *st, st_off *ref, size_t at, size_t n)
{
	st_off off = *ref;
	struct st__entry *e = st__find(st, off);
	if (e && e->flags & ST__FRESH) {
		if (pinned(st, off))
			return (char *)clone(st, ref) + at;
		st__save(st, e);
		e->filled_n = 0;
		return e->p + at;
	}
	DCHECK2(!e || !(e->flags & ST__DEAD), off, at);
	if (UNLIKELY(!e && st_shared(st, off)))
		return (char *)clone(st, ref) + at;
	if (at)
		e = st__find(st, off + at);
	if (e) {
		st__save(st, e);
		return e->p;
	}
	return copy_in(st, off + at, (uint32_t)n, ST__PART, off);
}

void st__overlay_reset(struct store *st)
{
	uint32_t n = st->front.overlay_n;
	if (n > st->table_mask / 8)
		memset(st->table, 0, (st->table_mask + 1) * sizeof(*st->table));
	else
		for (uint32_t i = 0; i < n; i++) {
			uint32_t h = slot_of(st, st->entries[i].off);
			/* Places of one run of collisions are cleared by the entries that own them, in any order. */
			while (st->table[h] != i + 1)
				h = (h + 1) & st->table_mask;
			st->table[h] = 0;
			st->entries[i].off = 0;
		}
	memset(st->filter, 0, sizeof(st->filter));
	st->front.overlay_n = 0;
	/* A tick of unusual size gives its memory back. */
	while (st->arena.n > 64)
		mem_free(st->arena.block[--st->arena.n]);
	st->arena.at = 0;
	st->arena.used = 0;
	st->copied = 0;
}

/* ---- units ---- */

void st_unit_begin(struct store *st)
{
	CHECK2(st->unit == 0, st->unit, 0);
	if (++st->unit_serial == 0)
		st->unit_serial = 1;
	st->unit = st->unit_serial;
	st->unit_entries = st->front.overlay_n;
	st->unit_born = st->born_n;
	st->unit_died = st->died_n;
	st->undo_n = 0;
}

void st_unit_end(struct store *st)
{
	st->unit = 0;
}

void st_unit_undo(struct store *st)
{
	CHECK2(st->unit != 0, st->unit, 0);
	/* What the unit allocated and still has, goes. */
	for (uint32_t i = st->unit_born; i < st->born_n; i++)
		if (st->born[i])
			st__slab_unborn(st, st->born[i]);
	st->born_n = st->unit_born;
	for (uint32_t i = st->unit_died; i < st->died_n; i++)
		st__slab_undied(st, st->died[i]);
	st->died_n = st->unit_died;
	/* Older entries become what they were. */
	for (uint32_t i = st->undo_n; i-- > 0;) {
		struct st__undo *u = &st->undo[i];
		struct st__entry *e = &st->entries[u->entry];
		if (u->flags & ST__FRESH && !(u->flags & ST__DEAD)) {
			if (st->born[u->born] != e->off)
				st__slab_reborn(st, e->off);
			st->born[u->born] = e->off;
			e->owner = u->born;
		}
		e->flags = u->flags;
		e->filled_n = 0;
		e->n = u->n;
		e->p = u->p;
		if (u->saved)
			memcpy(e->p, u->saved, u->flags & ST__FRESH ? st_size(st, e->off) : e->n);
	}
	st->undo_n = 0;
	st->front.overlay_n = st->unit_entries;
	table_rebuild(st);
	st->unit = 0;
}
