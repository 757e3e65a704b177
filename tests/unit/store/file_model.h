/* A small dataset on a store, changed at random a tick at a time, with a model of what every tick left. For tests of
 * the file medium. */
#ifndef TESTS_FILE_MODEL_H
#define TESTS_FILE_MODEL_H

#include "store/internal.h"

#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#define SLOTS 200u
#define MIB (1ull << 20)

struct root {
	struct st_obj obj;
	uint64_t tick;
	uint64_t ref[SLOTS];
};
struct leaf {
	struct st_obj obj;
	uint64_t slot, tag, words, w[];
};

static void root_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct root *r = obj;
	(void)n;
	for (unsigned i = 0; i < SLOTS; i++)
		if (r->ref[i])
			visit(ctx, r->ref[i]);
}

/* The state after a tick: 0 nothing in the slot, else its leaf's tag and length. */
struct state {
	uint64_t lsn;
	struct {
		uint64_t tag;
		uint32_t words;
	} s[SLOTS];
};

struct world {
	struct store *st;
	struct rng rng;
	struct state *past;  /* by tick; 0 is the empty pool's */
	uint64_t ticks, cap;
};

static inline void world_register(struct world *w)
{
	static const struct st_kind_ops root_ops = {"root", root_children, NULL}, leaf_ops = {"leaf", NULL, NULL};
	st_register(w->st, ST_KIND_DATASET, &root_ops);
	st_register(w->st, ST_KIND_RECORD, &leaf_ops);
}

static inline struct state *world_next(struct world *w)
{
	if (w->ticks + 2 > w->cap) {
		w->cap = w->cap ? 2 * w->cap : 64;
		w->past = mem_realloc(w->past, w->cap * sizeof(*w->past));
	}
	if (w->ticks == 0)
		memset(&w->past[0], 0, sizeof(w->past[0]));
	w->past[w->ticks + 1] = w->past[w->ticks];
	return &w->past[++w->ticks];
}

static inline struct root *world_root(struct world *w)
{
	if (st_root(w->st) == 0) {
		st_off off;
		struct root *r = st_alloc(w->st, sizeof(*r), ST_KIND_DATASET, &off);
		memset((char *)r + 8, 0, sizeof(*r) - 8);
		st_set_root(w->st, off);
		return r;
	}
	return st_edit_root(w->st);
}

static inline void leaf_fill(struct leaf *l, uint64_t slot, uint64_t tag, uint64_t words)
{
	l->slot = slot;
	l->tag = tag;
	l->words = words;
	for (uint64_t i = 0; i < words; i++)
		l->w[i] = tag * 31 + i;
}

static inline void world_set(struct world *w, struct state *s, unsigned slot, uint32_t words)
{
	struct root *r = world_root(w);
	uint64_t tag = (rng_next(&w->rng) >> 8) + 1;
	assert_true(st_reserve(w->st, words * 8 + 4096, false));
	r = world_root(w);
	if (s->s[slot].tag && s->s[slot].words == words) { /* in place */
		struct leaf *l = st_edit(w->st, &r->ref[slot]);
		leaf_fill(l, slot, tag, words);
	} else {
		st_off off;
		struct leaf *l = st_alloc(w->st, sizeof(*l) + words * 8, ST_KIND_RECORD, &off);
		assert_non_null(l);
		leaf_fill(l, slot, tag, words);
		if (r->ref[slot])
			st_free(w->st, r->ref[slot]);
		r->ref[slot] = off;
	}
	s->s[slot].tag = tag;
	s->s[slot].words = words;
}

static inline void world_delete(struct world *w, struct state *s, unsigned slot)
{
	struct root *r = world_root(w);
	if (!r->ref[slot])
		return;
	st_free(w->st, r->ref[slot]);
	r->ref[slot] = 0;
	s->s[slot].tag = 0;
}

/* Ends the tick that `s` describes. */
static inline uint64_t world_commit(struct world *w, struct state *s)
{
	world_root(w)->tick = w->ticks;
	s->lsn = st_commit(w->st);
	return s->lsn;
}

/* A tick of up to `most` random changes. */
static inline uint64_t world_tick(struct world *w, unsigned most)
{
	struct state *s = world_next(w);
	unsigned n = 1 + (unsigned)rng_below(&w->rng, most);
	for (unsigned i = 0; i < n; i++) {
		unsigned slot = (unsigned)rng_below(&w->rng, SLOTS);
		unsigned what = (unsigned)rng_below(&w->rng, 10);
		if (what == 0)
			world_delete(w, s, slot);
		else if (what == 1)
			world_set(w, s, slot, (uint32_t)rng_below(&w->rng, 7000));
		else
			world_set(w, s, slot, what == 2 ? 100 : (uint32_t)rng_below(&w->rng, 60));
	}
	return world_commit(w, s);
}

/* The pool's state is that after some tick from `least` on, whole; returns which. */
static inline uint64_t world_check(struct world *w, uint64_t least)
{
	struct st_verify v;
	st_verify(w->st, &v);
	if (v.errors)
		fail_msg("verify: %s", v.first);
	const struct root *r = st_root(w->st) ? st_view(w->st, st_root(w->st)) : NULL;
	uint64_t tick = r ? r->tick : 0;
	if (tick < least || tick > w->ticks)
		fail_msg("the pool is at tick %llu, acknowledged were %llu of %llu", (unsigned long long)tick,
			(unsigned long long)least, (unsigned long long)w->ticks);
	for (unsigned i = 0; r && i < SLOTS; i++) {
		const struct state *s = &w->past[tick];
		if (!s->s[i].tag) {
			assert_int_equal(r->ref[i], 0);
			continue;
		}
		assert_int_not_equal(r->ref[i], 0);
		const struct leaf *l = st_view(w->st, r->ref[i]);
		assert_int_equal(l->slot, i);
		assert_int_equal(l->tag, s->s[i].tag);
		assert_int_equal(l->words, s->s[i].words);
		for (uint64_t k = 0; k < l->words; k++)
			assert_int_equal(l->w[k], l->tag * 31 + k);
	}
	return tick;
}

/* Goes on from the tick that a recovery gave. */
static inline void world_resume(struct world *w, uint64_t tick)
{
	w->ticks = tick;
}

static inline uint64_t world_acked(const struct world *w)
{
	uint64_t lsn = st_durable(w->st), t = w->ticks;
	while (t > 0 && w->past[t].lsn > lsn)
		t--;
	return t;
}

static inline bool world_try_open(struct world *w, const struct st_options *o, struct errinfo *ei)
{
	w->st = NULL;
	if (st_open(o, &w->st, ei))
		return false;
	world_register(w);
	return true;
}

static inline void world_open(struct world *w, const struct st_options *o)
{
	struct errinfo ei = {0};
	if (!world_try_open(w, o, &ei))
		fail_msg("open: %s", ei.msg);
}

static inline void world_free(struct world *w)
{
	mem_free(w->past);
	w->past = NULL;
	w->ticks = w->cap = 0;
}

#endif
