/* Access clocks: idle times and LFU counters from the table in DRAM. */
#include "world.h"

static int64_t idle(struct world *w, const char *name)
{
	struct ks_ref r = world_ref(w, 0, name);

	return ks_ref_idle(&r);
}

static unsigned freq(struct world *w, const char *name)
{
	struct ks_ref r = world_ref(w, 0, name);

	return ks_ref_freq(&r);
}

static void test_idle_time_runs_from_the_last_access(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set(&w, 0, "k", "v");
	assert_int_equal(idle(&w, "k"), 0);
	ks_set_now(w.ks, 1003500);
	assert_int_equal(idle(&w, "k"), 3500);
	/* Peeking, as OBJECT and TTL do, is no access. */
	assert_true(world_has(&w, 0, "k"));
	assert_int_equal(idle(&w, "k"), 3500);
	assert_non_null(world_get(&w, 0, "k"));
	assert_int_equal(idle(&w, "k"), 0);
	/* A clock that was set back. */
	ks_set_now(w.ks, 1000000);
	assert_int_equal(idle(&w, "k"), 0);
	/* More than a month. */
	ks_set_now(w.ks, 1003500 + 4000000000);
	assert_int_equal(idle(&w, "k"), 4000000000);
	world_close(&w);
}

static void test_after_opening_idle_runs_from_the_opening(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set(&w, 0, "k", "v");
	st_commit(w.st);
	ks_set_now(w.ks, 1500000);
	world_reopen(&w, false);
	ks_set_now(w.ks, 1502000);
	assert_int_equal(idle(&w, "k"), 2000);
	world_close(&w);
}

static void test_the_big_table_remembers_every_key(void **state)
{
	struct world w;
	char name[32];

	(void)state;
	world_open(&w, 64 << 20, 1);
	ks_track_access(w.ks, true);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		ks_set_now(w.ks, 1000000 + i);
		world_set(&w, 0, name, "v");
	}
	{
		int exact = 0;

		for (int i = 0; i < 2000; i++) {
			snprintf(name, sizeof(name), "key:%d", i);
			exact += idle(&w, name) == 1999 - i;
			assert_true(idle(&w, name) <= 1999 - i);
		}
		assert_in_range(exact, 1900, 2000);
	}
	world_close(&w);
}

static void test_counters_grow_slowly_and_decay(void **state)
{
	struct world w;
	unsigned after;

	(void)state;
	world_open(&w, 16 << 20, 1);
	rng_seed(&w.ks->access.rng, 11);
	ks_track_access(w.ks, true);
	world_set(&w, 0, "k", "v");
	assert_int_equal(freq(&w, "k"), 5);
	for (int i = 0; i < 1000; i++)
		world_get(&w, 0, "k");
	after = freq(&w, "k");
	/* With a factor of 10 a thousand hits give about 18. */
	assert_in_range(after, 12, 25);
	ks_set_now(w.ks, 1000000 + 3 * 60000);
	assert_int_equal(freq(&w, "k"), after - 3);
	ks_set_now(w.ks, 1000000 + 300 * 60000);
	assert_int_equal(freq(&w, "k"), 0);
	ks_set_lfu(w.ks, 0, 0);
	assert_int_equal(freq(&w, "k"), after);
	/* A factor of 0 counts every access, up to 255. */
	for (int i = 0; i < 300; i++)
		world_get(&w, 0, "k");
	assert_int_equal(freq(&w, "k"), 255);
	ks_track_access(w.ks, false);
	assert_int_equal(freq(&w, "k"), 5);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_time_runs_from_the_last_access),
		cmocka_unit_test(test_after_opening_idle_runs_from_the_opening),
		cmocka_unit_test(test_the_big_table_remembers_every_key),
		cmocka_unit_test(test_counters_grow_slowly_and_decay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
