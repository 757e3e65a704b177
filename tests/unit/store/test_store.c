/* The store by itself: a table of objects on the simulated medium, changed at random, cut off at random, reopened and
 * compared with a model. The crash tests proper (tests/crash) run the keyspace on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "store/internal.h"
#include "store/sim.h"

#include <stdio.h>
#include <stdlib.h>

#define SLOTS 40
#define PART 256u
#define PARTS 4u

/* Root: header, then SLOTS references. A leaf: header, slot number, tag, then words that follow from the tag.
 * A paged object is edited by parts of 256 bytes, each with a tag of its own at its end. A tree is a node with
 * references to leaves. */
struct root {
	uint64_t obj, ref[SLOTS];
};
struct leaf {
	struct st_obj obj;
	uint64_t slot, tag, words, w[];
};
struct tree {
	uint64_t obj, slot, tag, n, ref[8];
};

static const enum st_kind PAGE_KIND = ST_KIND_HX_PAGE, LEAF_KIND = ST_KIND_RECORD, TREE_KIND = ST_KIND_DB;

static void root_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct root *r = obj;
	(void)n;
	for (int i = 0; i < SLOTS; i++)
		if (r->ref[i])
			visit(ctx, r->ref[i]);
}

static void tree_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct tree *t = obj;
	(void)n;
	for (uint64_t i = 0; i < t->n && i < 8; i++)
		visit(ctx, t->ref[i]);
}

static const struct st_kind_ops root_ops = {"root", root_children, NULL}, leaf_ops = {"leaf", NULL, NULL},
								page_ops = {"page", NULL, NULL}, tree_ops = {"tree", tree_children, NULL};

/* What each slot should hold: 0 nothing, else kind and tags. */
struct model {
	struct {
		int kind;
		uint64_t tag[PARTS];
	} s[SLOTS];
};

static void register_kinds(struct store *st)
{
	st_register(st, ST_KIND_DATASET, &root_ops);
	st_register(st, LEAF_KIND, &leaf_ops);
	st_register(st, PAGE_KIND, &page_ops);
	st_register(st, TREE_KIND, &tree_ops);
}

static struct store *try_open(struct st_sim *sim, struct errinfo *ei)
{
	struct store *st = NULL;
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = sim};
	if (st_open(&o, &st, ei))
		return NULL;
	register_kinds(st);
	return st;
}

static struct store *open_sim(struct st_sim *sim)
{
	struct errinfo ei = {0};
	struct store *st = try_open(sim, &ei);
	if (!st)
		fail_msg("open: %s", ei.msg);
	return st;
}

static void fill_leaf(struct leaf *l, uint64_t slot, uint64_t tag, uint64_t words)
{
	l->slot = slot;
	l->tag = tag;
	l->words = words;
	for (uint64_t i = 0; i < words; i++)
		l->w[i] = tag * 31 + i;
}

static st_off new_leaf(struct store *st, uint64_t slot, uint64_t tag, uint64_t words)
{
	st_off off;
	struct leaf *l = st_alloc(st, sizeof(*l) + words * 8, LEAF_KIND, &off);
	assert_non_null(l);
	fill_leaf(l, slot, tag, words);
	return off;
}

static void part_set(char *p, uint64_t tag)
{
	uint64_t *w = (uint64_t *)(void *)p;
	for (unsigned i = 1; i < PART / 8; i++)
		w[i] = tag + i;
}

static void unlink_slot(struct store *st, struct model *m, int i, struct root *r)
{
	if (m->s[i].kind == TREE_KIND)
		st_drop(st, r->ref[i]);
	else
		st_free(st, r->ref[i]);
	r->ref[i] = 0;
	m->s[i].kind = 0;
}

static void make(struct store *st, struct model *m, int i, struct root *r, struct rng *rng)
{
	uint64_t tag = rng_next(rng) >> 8;
	unsigned what = (unsigned)rng_below(rng, 8);
	st_off off;
	if (what == 0) {
		char *p = st_alloc(st, PART * PARTS, PAGE_KIND, &off);
		for (unsigned k = 0; k < PARTS; k++) {
			m->s[i].tag[k] = tag + k * 1000;
			part_set(p + k * PART, tag + k * 1000);
		}
		m->s[i].kind = PAGE_KIND;
	} else if (what == 1) {
		struct tree *t = st_alloc(st, sizeof(*t), TREE_KIND, &off);
		t->slot = (uint64_t)i;
		t->tag = tag;
		t->n = rng_below(rng, 9);
		for (uint64_t k = 0; k < t->n; k++)
			t->ref[k] = new_leaf(st, (uint64_t)i, tag + k, rng_below(rng, 30));
		m->s[i].kind = TREE_KIND;
		m->s[i].tag[0] = tag;
	} else {
		static const unsigned sizes[] = {0, 1, 5, 12, 12, 12, 40, 120, 300, 1500};
		off = new_leaf(st, (uint64_t)i, tag, sizes[rng_below(rng, 10)]);
		m->s[i].kind = LEAF_KIND;
		m->s[i].tag[0] = tag;
	}
	r->ref[i] = off;
}

static void change(struct store *st, struct model *m, int i, struct root *r, struct rng *rng)
{
	uint64_t tag = rng_next(rng) >> 8;
	if (m->s[i].kind == LEAF_KIND) {
		struct leaf *l = st_edit(st, &r->ref[i]);
		fill_leaf(l, (uint64_t)i, tag, l->words);
		m->s[i].tag[0] = tag;
	} else if (m->s[i].kind == PAGE_KIND) {
		unsigned k = (unsigned)rng_below(rng, PARTS);
		part_set(st_edit_part(st, &r->ref[i], k * PART, PART), tag);
		m->s[i].tag[k] = tag;
	} else {
		struct tree *t = st_edit(st, &r->ref[i]);
		if (t->n) {
			st_free(st, t->ref[--t->n]);
		}
	}
}

static void step(struct store *st, struct model *m, struct rng *rng)
{
	int i = (int)rng_below(rng, SLOTS);
	if (!st_reserve(st, 64 * 1024, false))
		return;
	struct root *r = st_edit_root(st);
	unsigned what = (unsigned)rng_below(rng, 10);
	if (m->s[i].kind == 0) {
		make(st, m, i, r, rng);
	} else if (what < 5) {
		change(st, m, i, r, rng);
	} else if (what < 8) {
		unlink_slot(st, m, i, r);
		make(st, m, i, r, rng);
	} else {
		unlink_slot(st, m, i, r);
	}
}

/* NULL, or how what hangs at a root differs from the model. */
static const char *differs_at(struct store *st, st_off root, const struct model *m)
{
	const struct root *r = root ? st_view(st, root) : NULL;
	for (int i = 0; i < SLOTS; i++) {
		st_off off = r ? r->ref[i] : 0;
		if ((off != 0) != (m->s[i].kind != 0))
			return "a slot is filled where the model's is not, or the other way round";
		if (!off)
			continue;
		const struct leaf *l = st_view(st, off);
		if (l->obj.kind != m->s[i].kind)
			return "a slot holds another kind";
		if (l->obj.kind == PAGE_KIND) {
			for (unsigned k = 0; k < PARTS; k++)
				for (unsigned w = 1; w < PART / 8; w++)
					if (((const uint64_t *)st_view_part(st, off, k * PART))[w] != m->s[i].tag[k] + w)
						return "a page part differs";
		} else if (l->obj.kind == LEAF_KIND) {
			for (uint64_t w = 0; w < l->words; w++)
				if (l->w[w] != m->s[i].tag[0] * 31 + w)
					return "a leaf's words differ";
			if (l->tag != m->s[i].tag[0])
				return "a leaf's tag differs";
		} else if (((const struct tree *)(const void *)l)->tag != m->s[i].tag[0]) {
			return "a tree's tag differs";
		}
	}
	return NULL;
}

/* NULL, or how the store differs from the model. */
static const char *differs(struct store *st, const struct model *m)
{
	static char why[400];
	struct st_verify v;
	st_verify(st, &v);
	if (v.errors) {
		snprintf(why, sizeof(why), "verifier: %llu errors: %s", (unsigned long long)v.errors, v.first);
		return why;
	}
	return differs_at(st, st_root(st), m);
}

static void make_root(struct store *st)
{
	st_off off;
	assert_true(st_reserve(st, 4096, false));
	struct root *r = st_alloc(st, sizeof(*r), ST_KIND_DATASET, &off);
	memset(r->ref, 0, sizeof(r->ref));
	st_set_root(st, off);
}

static void test_commit_and_reopen_keep_everything(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct st_sim *sim = st_sim_new(8 << 20, NULL);
		struct store *st = open_sim(sim);
		struct rng rng;
		struct model m = {0};
		rng_seed(&rng, seed);
		make_root(st);
		for (int tick = 0; tick < 400; tick++) {
			if (rng_below(&rng, 3) == 0)
				st_work(st, 5);
			for (uint64_t k = rng_below(&rng, 20); k > 0; k--)
				step(st, &m, &rng);
			st_commit(st);
			if (tick % 50 == 0) {
				const char *why = differs(st, &m);
				if (why)
					fail_msg("seed %d tick %d: %s", (int)seed, tick, why);
			}
			if (rng_below(&rng, 100) == 0) {
				st_close(st);
				st = open_sim(sim);
			}
		}
		while (st_work(st, 100))
			st_commit(st);
		st_commit(st);
		const char *why = differs(st, &m);
		if (why)
			fail_msg("seed %d: %s", (int)seed, why);
		st_close(st);
		st_sim_free(sim);
	}
}

static void test_unit_undo_takes_everything_back(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct st_sim *sim = st_sim_new(8 << 20, NULL);
		struct store *st = open_sim(sim);
		struct rng rng;
		struct model m = {0};
		rng_seed(&rng, seed);
		make_root(st);
		for (int tick = 0; tick < 100; tick++) {
			for (uint64_t unit = rng_below(&rng, 4); unit > 0; unit--) {
				struct model before = m;
				bool undo = rng_below(&rng, 2);
				st_unit_begin(st);
				for (uint64_t k = rng_below(&rng, 12); k > 0; k--)
					step(st, &m, &rng);
				if (undo) {
					st_unit_undo(st);
					m = before;
				} else {
					st_unit_end(st);
				}
			}
			st_commit(st);
			const char *why = differs(st, &m);
			if (why)
				fail_msg("seed %d tick %d: %s", (int)seed, tick, why);
		}
		st_close(st);
		st_sim_free(sim);
	}
}

/* What is born at or before the floor is never changed, whatever the head does. */
static void test_shared_objects_are_cloned_not_changed(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct st_sim *sim = st_sim_new(16 << 20, NULL);
		struct store *st = open_sim(sim);
		struct rng rng;
		struct model m = {0}, then[4];
		st_off root[4];
		rng_seed(&rng, seed);
		make_root(st);
		for (int freeze = 0; freeze < 4; freeze++) {
			for (int tick = 0; tick < 40; tick++) {
				if (rng_below(&rng, 3) == 0)
					st_work(st, 5);
				for (uint64_t k = rng_below(&rng, 8); k > 0; k--)
					step(st, &m, &rng);
				st_commit(st);
				const char *why = differs_at(st, st_root(st), &m);
				for (int f = 0; f < freeze && !why; f++)
					why = differs_at(st, root[f], &then[f]);
				if (why)
					fail_msg("seed %d freeze %d tick %d: %s", (int)seed, freeze, tick, why);
			}
			then[freeze] = m;
			root[freeze] = st_root(st);
			struct st__meta_layout *meta = st__meta_edit(st);
			meta->floor = meta->epoch++;
			st_commit(st);
			assert_int_equal(st_epoch(st), freeze + 2);
		}
		st_close(st);
		st_sim_free(sim);
	}
}

/* A pinned object's bytes stay, through edits, frees and reuse of everything around it. */
static void test_pinned_bytes_stay_until_unpinned(void **state)
{
	(void)state;
	struct st_sim *sim = st_sim_new(8 << 20, NULL);
	struct store *st = open_sim(sim);
	struct rng rng;
	struct model m = {0};
	rng_seed(&rng, 5);
	make_root(st);
	struct {
		st_off off;
		char bytes[64];
	} pin[30];
	unsigned pins = 0;
	for (int tick = 0; tick < 3000; tick++) {
		for (int k = 0; k < 6; k++)
			step(st, &m, &rng);
		const struct root *r = st_view(st, st_root(st));
		st_off off = r->ref[rng_below(&rng, SLOTS)];
		if (off && pins < 30 && st_pin(st, off)) {
			pin[pins].off = off;
			memcpy(pin[pins++].bytes, st_home(st, off), st_size(st, off) < 64 ? st_size(st, off) : 64);
		}
		for (int k = 0; k < 6; k++)
			step(st, &m, &rng);
		st_commit(st);
		for (unsigned i = 0; i < pins; i++) {
			size_t n = ((const struct st_obj *)(const void *)pin[i].bytes)->cls == 0 ? 32 : 48;
			assert_memory_equal(st_home(st, pin[i].off), pin[i].bytes, n);
		}
		while (pins && (pins == 30 || rng_below(&rng, 3) == 0)) {
			unsigned i = (unsigned)rng_below(&rng, pins);
			st_unpin(st, pin[i].off);
			pin[i] = pin[--pins];
		}
		if (tick % 100 == 0) {
			const char *why = differs(st, &m);
			if (why)
				fail_msg("tick %d: %s", tick, why);
		}
	}
	while (pins)
		st_unpin(st, pin[--pins].off);
	st_commit(st);
	assert_null(differs(st, &m));
	st_close(st);
	st_sim_free(sim);
}

/* A record bigger than the ring goes through slabs, again and again, and survives. */
static void test_big_tick_spills_and_recovers(void **state)
{
	(void)state;
	struct st_sim *sim = st_sim_new(32 << 20, NULL);
	struct store *st = open_sim(sim);
	st_off root, ref[100];
	assert_true(st_reserve(st, 100 * 32768, false));
	struct root *r = st_alloc(st, sizeof(*r), ST_KIND_DATASET, &root);
	memset(r->ref, 0, sizeof(r->ref));
	for (int i = 0; i < SLOTS; i++) {
		struct leaf *l = st_alloc(st, 32000, LEAF_KIND, &ref[i]);
		fill_leaf(l, (uint64_t)i, 1, 3900);
		r->ref[i] = ref[i];
	}
	st_set_root(st, root);
	st_commit(st);
	for (uint64_t tag = 2; tag < 12; tag++) {
		uint64_t slabs_before, log_before = st->stats.log_bytes;
		assert_true(st_reserve(st, 40 * 32768, false));
		slabs_before = st->free_slabs;
		r = st_edit_root(st);
		for (int i = 0; i < SLOTS; i++)
			fill_leaf(st_edit(st, &r->ref[i]), (uint64_t)i, tag, 3900);
		st_commit(st);
		assert_true(st->stats.log_bytes - log_before > 1000000);
		assert_true(st->free_slabs <= slabs_before);
		if (tag % 3 == 0) {
			/* As a crash right after the commit leaves it. */
			char *image = mem_alloc(32 << 20);
			struct rng rng;
			rng_seed(&rng, tag);
			st_sim_image(sim, ST_SIM_NOTHING, &rng, image);
			st_abandon(st);
			st_sim_free(sim);
			sim = st_sim_new(32 << 20, image);
			mem_free(image);
			st = open_sim(sim);
		}
		struct st_verify v;
		st_verify(st, &v);
		assert_int_equal(v.errors, 0);
		const struct root *now = st_view(st, st_root(st));
		for (int i = 0; i < SLOTS; i++)
			assert_int_equal(((const struct leaf *)st_view(st, now->ref[i]))->w[3899], tag * 31 + 3899);
	}
	st_close(st);
	st_sim_free(sim);
}

/* ---- power loss ---- */

struct cut {
	struct st_sim *sim;
	struct rng rng;
	uint64_t at; /* event to cut at */
	enum st_sim_subset subset;
	char *image;
	bool taken;
	bool acked_then; /* the tick under way was durable when the image was taken */
	struct store *st;
	uint64_t seq_before;
};

static void watch(void *ctx, enum st_sim_event ev)
{
	struct cut *c = ctx;
	(void)ev;
	if (c->taken || st_sim_events(c->sim) != c->at)
		return;
	st_sim_image(c->sim, c->subset, &c->rng, c->image);
	c->taken = true;
	c->acked_then = c->st && st_durable(c->st) > c->seq_before;
}

/* Runs a random workload to a cut, opens what it leaves (once more after a cut in the recovery), compares. Returns
 * what is wrong or NULL. */
static const char *one_life(uint64_t seed, char *image)
{
	struct rng rng;
	struct model m = {0}, before;
	rng_seed(&rng, seed);
	struct st_sim *sim = st_sim_new(4 << 20, NULL);
	struct store *st = open_sim(sim);
	make_root(st);
	st_commit(st);
	struct cut c = {
		.sim = sim, .image = image, .st = st, .subset = (enum st_sim_subset)rng_below(&rng, ST_SIM_SUBSETS)};
	rng_seed(&c.rng, seed * 7919);
	c.at = st_sim_events(sim) + 1 + rng_below(&rng, rng_below(&rng, 2) ? 600 : 60);
	st_sim_watch(sim, watch, &c);
	bool before_ok = false;
	while (!c.taken) {
		before = m;
		c.seq_before = st_durable(st);
		if (rng_below(&rng, 2))
			st_work(st, 3);
		for (uint64_t k = 1 + rng_below(&rng, 6); k > 0; k--)
			step(st, &m, &rng);
		st_commit(st);
	}
	before_ok = !c.acked_then;
	st_sim_watch(sim, NULL, NULL);
	st_abandon(st);
	st_sim_free(sim);
	/* The reopening may be cut too. */
	struct errinfo ei = {0};
	for (int again = (int)rng_below(&rng, 3); again > 0; again--) {
		struct st_sim *next = st_sim_new(4 << 20, image);
		struct cut r = {.sim = next, .image = image, .subset = (enum st_sim_subset)rng_below(&rng, ST_SIM_SUBSETS)};
		rng_seed(&r.rng, seed * 31 + (uint64_t)again);
		r.at = 1 + rng_below(&rng, 12);
		st_sim_watch(next, watch, &r);
		struct store *half = try_open(next, &ei);
		st_sim_watch(next, NULL, NULL);
		if (half)
			st_abandon(half);
		st_sim_free(next);
	}
	sim = st_sim_over(4 << 20, image);
	st = try_open(sim, &ei);
	if (!st) {
		static char refused[600];
		st_sim_free(sim);
		snprintf(refused, sizeof(refused), "open refuses: %s", ei.msg);
		return refused;
	}
	const char *why = differs(st, &m);
	if (why && before_ok)
		why = differs(st, &before);
	/* And it goes on working. */
	if (!why) {
		for (int k = 0; k < 5; k++) {
			struct st_verify v;
			st_work(st, 10);
			st_commit(st);
			st_verify(st, &v);
			if (v.errors)
				why = "work after recovery breaks it";
		}
	}
	st_abandon(st);
	st_sim_free(sim);
	return why;
}

static unsigned lives(unsigned n, uint64_t seed0, char *first, size_t first_n)
{
	char *image = mem_alloc(4 << 20);
	unsigned broken = 0;
	for (unsigned i = 0; i < n; i++) {
		const char *why = one_life(seed0 + i, image);
		if (why && broken++ == 0)
			snprintf(first, first_n, "seed %u: %s", (unsigned)(seed0 + i), why);
	}
	mem_free(image);
	return broken;
}

static void test_power_loss_leaves_whole_ticks(void **state)
{
	char first[512] = "";
	(void)state;
	const char *n = getenv("PERDURE_LIVES");
	unsigned broken = lives(n ? (unsigned)strtoul(n, NULL, 10) : 1500, 1, first, sizeof(first));
	if (broken)
		fail_msg("%u lives broken; %s", broken, first);
}

#ifdef PERDURE_FAULTS
static void test_power_loss_test_has_teeth(void **state)
{
	(void)state;
	static const enum st__broken what[] = {ST__BROKEN_DROP_FLUSH, ST__BROKEN_DROP_FENCE, ST__BROKEN_APPLY_FIRST,
		ST__BROKEN_REPLAY_OLDER, ST__BROKEN_SKIP_SUM, ST__BROKEN_REUSE_EARLY};
	for (unsigned i = 0; i < sizeof(what) / sizeof(*what); i++) {
		char first[512] = "";
		unsigned broken = 0, tried = 0;
		st__broken = what[i];
		while (!broken && tried < 3000) {
			broken = lives(50, 1 + tried, first, sizeof(first));
			tried += 50;
		}
		st__broken = ST__BROKEN_NONE;
		print_message("broken build %u: caught within %u lives (%s)\n", what[i], tried, first);
		if (!broken)
			fail_msg("a build broken by switch %u passes the power loss test", what[i]);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commit_and_reopen_keep_everything),
		cmocka_unit_test(test_unit_undo_takes_everything_back),
		cmocka_unit_test(test_shared_objects_are_cloned_not_changed),
		cmocka_unit_test(test_pinned_bytes_stay_until_unpinned),
		cmocka_unit_test(test_big_tick_spills_and_recovers),
		cmocka_unit_test(test_power_loss_leaves_whole_ticks),
#ifdef PERDURE_FAULTS
		cmocka_unit_test(test_power_loss_test_has_teeth),
#endif
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
