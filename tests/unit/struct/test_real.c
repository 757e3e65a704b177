/* The structures on the real store: simulated medium, the store's verifier over everything, and pools opened again. */
#include "unit/struct/model_bt.h"
#include "unit/struct/model_hx.h"
#include "unit/struct/model_rope.h"

#include "store/internal.h"
#include "store/sim.h"

#define POOL_BYTES (40u << 20)

static void verify(struct store *st)
{
	struct st_verify v;

	while (st_work(st, 1000))
		st_commit(st);
	st_commit(st);
	st_verify(st, &v);
	if (v.errors)
		fail_msg("%s", v.first);
	assert_int_equal(v.reachable, v.allocated);
}

/* The floor epoch is raised by hand, as a snapshot raises it. What dies below it stays allocated, on the dead list. */
static void freeze(struct store *st)
{
	struct st__meta_layout *m = st__meta_edit(st);

	m->floor = m->epoch++;
	st_commit(st);
}

static struct world open_world(struct st_sim **sim, bool with_snapshots)
{
	struct errinfo ei = {0};
	struct st_options so = {.path = "sim", .medium = ST_MEDIUM_SIM};
	struct world w = {.snapshot = with_snapshots ? freeze : NULL, .verify = verify};

	so.sim = *sim = st_sim_new(POOL_BYTES, NULL);
	if (st_open(&so, &w.st, &ei))
		fail_msg("st_open: %s", ei.msg);
	owner_make(&w);
	return w;
}

/* As after a power cut that lost nothing that was fenced. */
static void reopen(struct world *w, struct st_sim **sim)
{
	struct errinfo ei = {0};
	struct st_options so = {.path = "sim", .medium = ST_MEDIUM_SIM};
	char *image = malloc(POOL_BYTES);
	struct rng rng;

	rng_seed(&rng, 1);
	st_sim_image(*sim, ST_SIM_NOTHING, &rng, image);
	st_abandon(w->st);
	st_sim_free(*sim);
	so.sim = *sim = st_sim_new(POOL_BYTES, image);
	free(image);
	if (st_open(&so, &w->st, &ei))
		fail_msg("st_open: %s", ei.msg);
	owner_register(w);
}

static void close_world(struct world *w, struct st_sim *sim, uint64_t left)
{
	struct owner *o = owner_edit(w);
	struct st_stats s;

	if (st_reserve(w->st, 0, true)) {
		hx_drop(w->st, &o->hx);
		rope_drop(w->st, &o->rope);
		bt_drop(w->st, &o->bt);
	}
	st_commit(w->st);
	verify(w->st);
	st_stats_get(w->st, &s);
	assert_int_equal(s.objects, left);
	st_close(w->st);
	st_sim_free(sim);
}

static void run_hx(uint64_t seed, enum hashing how, uint32_t universe, uint64_t ops, uint64_t wave)
{
	struct st_sim *sim;
	struct mhx m;
	struct world w = open_world(&sim, false);
	struct st_stats s;

	st_stats_get(w.st, &s);
	mhx_open(&m, w, seed, how, universe);
	for (unsigned round = 0; round < 3; round++) {
		mhx_run(&m, RUNS(ops), RUNS(wave));
		reopen(&m.w, &sim);
		mhx_check(&m);
	}
	close_world(&m.w, sim, s.objects);
	mhx_close(&m);
}

static void test_index_agrees(void **state)
{
	(void)state;
	run_hx(1, HASH_GOOD, 3000, 100000, 15000);
	run_hx(2, HASH_SPREAD, 50000, 200000, 70000);
	run_hx(3, HASH_SAME_PAGE, 5000, 100000, 20000);
}

static void test_rope_agrees(void **state)
{
	struct st_sim *sim;
	struct mrope m;
	struct world w = open_world(&sim, false);
	struct st_stats s;
	(void)state;

	st_stats_get(w.st, &s);
	mrope_open(&m, w, 4, 5000000);
	for (unsigned round = 0; round < 4; round++) {
		mrope_run(&m, RUNS(10000));
		reopen(&m.w, &sim);
		mrope_check(&m);
	}
	close_world(&m.w, sim, s.objects);
	mrope_close(&m);
}

static void test_tree_agrees(void **state)
{
	struct st_sim *sim;
	struct mbt m;
	struct world w = open_world(&sim, false);
	struct st_stats s;
	(void)state;

	st_stats_get(w.st, &s);
	mbt_open(&m, w, 5, 1u << 15, 16);
	for (unsigned round = 0; round < 4; round++) {
		mbt_run(&m, RUNS(100000), RUNS(30000));
		reopen(&m.w, &sim);
		mbt_check(&m);
	}
	close_world(&m.w, sim, s.objects);
	mbt_close(&m);
}

/* Sharing on the real store: the frozen index is what it was, however the other one changes. */
static void test_shared_index_does_not_change(void **state)
{
	struct st_sim *sim;
	struct mhx m;
	(void)state;

	mhx_open(&m, open_world(&sim, true), 6, HASH_GOOD, 5000);
	for (uint32_t k = 0; k < 4000; k++)
		mhx_insert(&m, k);
	mhx_toggle_snapshot(&m);
	for (unsigned i = 0; i < RUNS(100000); i++) {
		mhx_step(&m, i / 20000 % 2 ? 90 : 10);
		if (i % 5000 == 0)
			mhx_check_frozen(&m);
	}
	world_commit(&m.w);
	mhx_check(&m);
	mhx_check_frozen(&m);
	st_close(m.w.st);
	st_sim_free(sim);
	mhx_close(&m);
}

static void test_dropped_index_is_freed_in_slices(void **state)
{
	struct st_sim *sim;
	struct mhx m;
	struct world w = open_world(&sim, false);
	struct st_stats s;
	(void)state;

	st_stats_get(w.st, &s);
	uint64_t objects = s.objects;
	mhx_open(&m, w, 7, HASH_FEW, 4000);
	for (uint32_t k = 0; k < 4000; k++) {
		mhx_insert(&m, k);
		if (k % 16 == 0)
			world_commit(&m.w);
	}
	hx_drop(m.w.st, &owner_edit(&m.w)->hx);
	assert_int_equal(mhx_root(&m)->count, 0);
	st_commit(m.w.st);
	unsigned slices = 0;
	for (; st_work(m.w.st, 100); slices++)
		st_commit(m.w.st);
	st_commit(m.w.st);
	assert_in_range(slices, 10, 41);
	verify(m.w.st);
	st_stats_get(m.w.st, &s);
	assert_int_equal(s.objects, objects);
	st_close(m.w.st);
	st_sim_free(sim);
	mhx_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_agrees),
		cmocka_unit_test(test_rope_agrees),
		cmocka_unit_test(test_tree_agrees),
		cmocka_unit_test(test_shared_index_does_not_change),
		cmocka_unit_test(test_dropped_index_is_freed_in_slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
