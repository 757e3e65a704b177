/* The counted B+tree on a strict double of the store. */
#include "unit/struct/fake_store.c"
#include "unit/struct/model_bt.h"

static void world_verify(struct store *st)
{
	fake_verify(st);
}

static void open_bt(struct mbt *m, uint64_t seed, uint32_t universe, uint32_t entry)
{
	struct world w = {fake_open(1ull << 30, true), fake_snapshot, fake_release, world_verify};

	owner_make(&w);
	mbt_open(m, w, seed, universe, entry);
}

static void close_bt(struct mbt *m)
{
	bt_drop(m->w.st, &owner_edit(&m->w)->bt);
	do
		st_commit(m->w.st);
	while (st_work(m->w.st, 100));
	st_commit(m->w.st);
	fake_verify(m->w.st);
	assert_int_equal(m->w.st->objects, 1);
	fake_close(m->w.st);
	mbt_close(m);
}

static void run(uint64_t seed, uint32_t universe, uint32_t entry, uint64_t ops, uint64_t wave)
{
	struct mbt m;

	open_bt(&m, seed, universe, entry);
	mbt_run(&m, RUNS(ops), RUNS(wave));
	if (seed & 1) {
		for (uint32_t k = 0; k < universe; k++)
			if (m.there[k])
				mbt_remove(&m, k);
		st_commit(m.w.st);
		assert_int_equal(m.w.st->objects, 1);
	}
	close_bt(&m);
}

static void test_model_agrees(void **state)
{
	(void)state;
	run(1, 1u << 10, 8, 500000, 5000);
	run(2, 1u << 12, 16, 1000000, 20000);
	run(3, 1u << 16, 16, 1000000, 150000);
	run(4, 1u << 13, 24, 500000, 30000);
	run(5, 1u << 14, 40, 500000, 50000);
	run(6, 1u << 12, 64, 500000, 15000);
	run(7, 1u << 6, 64, 200000, 300);
}

static void test_empty_tree_has_no_node(void **state)
{
	struct mbt m;
	(void)state;

	open_bt(&m, 9, 64, 16);
	mbt_look(&m, 5);
	mbt_walk(&m, 5, 10);
	mbt_remove(&m, 5);
	mbt_insert(&m, 5);
	assert_int_equal(m.w.st->objects, 2);
	mbt_remove(&m, 5);
	st_commit(m.w.st);
	assert_int_equal(m.w.st->objects, 1);
	assert_int_equal(mbt_root(&m)->node, 0);
	assert_int_equal(mbt_root(&m)->levels, 0);
	close_bt(&m);
}

/* Deadlines mostly come in order: nodes are left full. */
static void test_growing_at_an_end_fills_nodes(void **state)
{
	struct mbt m;
	(void)state;

	for (unsigned down = 0; down < 2; down++) {
		open_bt(&m, 9, 1u << 16, 16);
		for (uint32_t k = 0; k < 1u << 16; k++) {
			mbt_insert(&m, down ? (1u << 16) - 1 - k : k);
			if (k % 16 == 0)
				st_commit(m.w.st);
		}
		st_commit(m.w.st);
		mbt_check(&m);
		assert_in_range(m.w.st->object_bytes, (1u << 16) * 16, (1u << 16) * 20);
		close_bt(&m);
	}
}

/* Eaten from the front, no node is rewritten. */
static void test_eating_from_the_front_logs_little(void **state)
{
	struct mbt m;
	(void)state;

	open_bt(&m, 9, 1u << 14, 16);
	for (uint32_t k = 0; k < 1u << 14; k++)
		mbt_insert(&m, k);
	st_commit(m.w.st);
	uint64_t words = m.w.st->log_words, fresh = m.w.st->fresh_bytes;
	for (uint32_t k = 0; k < 15000; k++) {
		mbt_remove(&m, k);
		st_commit(m.w.st);
		if (k % 1000 == 0)
			mbt_check(&m);
	}
	assert_int_equal(m.w.st->fresh_bytes, fresh);
	assert_in_range((m.w.st->log_words - words) / 15000, 3, 20);
	close_bt(&m);
}

static void test_insertion_logs_few_words(void **state)
{
	struct mbt m;
	(void)state;

	open_bt(&m, 9, 1u << 20, 16);
	for (uint32_t i = 0; i < 100000; i++)
		mbt_insert(&m, (uint32_t)rng_below(&m.rng, m.universe));
	st_commit(m.w.st);
	uint64_t words = m.w.st->log_words, n = m.count;
	for (uint32_t i = 0; i < 10000; i++) {
		mbt_insert(&m, (uint32_t)rng_below(&m.rng, m.universe));
		st_commit(m.w.st);
	}
	/* Root count, a count a level, slot bytes, entry. */
	assert_in_range((m.w.st->log_words - words) / (m.count - n), 5, 16);
	mbt_check(&m);
	close_bt(&m);
}

static void test_find_compares_logarithmically(void **state)
{
	struct mbt m;
	(void)state;

	open_bt(&m, 9, 1u << 17, 16);
	for (uint32_t k = 0; k < 1u << 17; k++)
		mbt_insert(&m, k);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t k = rng_below(&m.rng, m.universe);
		mbt_compared = 0;
		assert_true(bt_find(m.w.st, mbt_root(&m), &m.ops, &k, NULL));
		assert_in_range(mbt_compared, 10, 30);
	}
	close_bt(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_tree_has_no_node),
		cmocka_unit_test(test_growing_at_an_end_fills_nodes),
		cmocka_unit_test(test_eating_from_the_front_logs_little),
		cmocka_unit_test(test_insertion_logs_few_words),
		cmocka_unit_test(test_find_compares_logarithmically),
		cmocka_unit_test(test_model_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
