/* Deadlines: when keys die, what the TTL tree holds meanwhile, and that two keys may share a hash. */
#include "world.h"

static uint64_t entries(struct world *w, unsigned db)
{
	return ks__db(w->ks, db)->ttl.count;
}

static int64_t filed(struct world *w, unsigned db, const char *name)
{
	return rec_dates_get(ks__record(w->ks, world_item(w, db, name))).filed;
}

static void set_deadline(struct world *w, const char *name, int64_t at)
{
	struct ks_ref r = world_ref(w, 0, name);

	world_reserve(w, 0);
	ks_set_deadline(&r, at);
	assert_int_equal(ks_ref_deadline(&r), at < 0 ? 0 : at);
}

static void persist(struct world *w, const char *name)
{
	struct ks_ref r = world_ref(w, 0, name);

	world_reserve(w, 0);
	ks_persist(&r);
	assert_int_equal(ks_ref_deadline(&r), -1);
}

static void test_a_key_lives_through_the_millisecond_of_its_deadline(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "k", "v", 1000500);
	ks_set_now(w.ks, 1000500);
	assert_int_equal(ks_expire_due(w.ks, 10), 0);
	assert_string_equal(world_get(&w, 0, "k"), "v");
	ks_set_now(w.ks, 1000501);
	w.touched = 0;
	assert_false(ks_find(w.ks, 0, world_key(&w, "k"), &r));
	assert_int_equal(w.expired, 1);
	assert_int_equal(w.touched, 1);
	assert_string_equal(w.last, "k");
	assert_int_equal(ks_count(w.ks, 0), 0);
	assert_int_equal(ks_stats(w.ks)->expired, 1);
	assert_int_equal(ks_stats(w.ks)->expired_active, 0);
	world_check(&w);
	world_close(&w);
}

static void test_active_expiry_takes_due_keys_of_all_databases_oldest_first(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 3);
	world_set_at(&w, 0, "a", "v", 1000010);
	world_set_at(&w, 0, "d", "v", 1000040);
	world_set_at(&w, 1, "b", "v", 1000020);
	world_set_at(&w, 2, "c", "v", 1000030);
	world_set_at(&w, 2, "later", "v", 1000090);
	assert_int_equal(ks_next_deadline(w.ks), 1000010);
	ks_set_now(w.ks, 1000050);
	assert_int_equal(ks_expire_due(w.ks, 1), 1);
	assert_string_equal(w.last, "a");
	assert_int_equal(ks_next_deadline(w.ks), 1000020);
	assert_int_equal(ks_expire_due(w.ks, 1), 1);
	assert_string_equal(w.last, "b");
	assert_int_equal(ks_expire_due(w.ks, 1), 1);
	assert_string_equal(w.last, "c");
	assert_int_equal(ks_expire_due(w.ks, 100), 1);
	assert_string_equal(w.last, "d");
	assert_int_equal(ks_expire_due(w.ks, 100), 0);
	assert_int_equal(w.expired, 4);
	assert_int_equal(ks_stats(w.ks)->expired_active, 4);
	assert_int_equal(ks_next_deadline(w.ks), 1000090);
	world_check(&w);
	world_close(&w);
}

static void note_order(void *ctx, unsigned db, struct bytes key)
{
	char *order = ctx;

	(void)db;
	strncat(order, key.p, key.n);
}

static void test_one_call_goes_back_and_forth_between_databases(void **state)
{
	struct world w;
	char order[32] = "";

	(void)state;
	world_open(&w, 16 << 20, 3);
	world_set_at(&w, 0, "b", "v", 1000020);
	world_set_at(&w, 0, "e", "v", 1000050);
	world_set_at(&w, 1, "a", "v", 1000010);
	world_set_at(&w, 1, "d", "v", 1000040);
	world_set_at(&w, 2, "c", "v", 1000030);
	world_set_at(&w, 2, "f", "v", 1000060);
	ks_observe(w.ks, &(struct ks_observer){order, note_order, NULL, NULL});
	ks_set_now(w.ks, 1000100);
	assert_int_equal(ks_expire_due(w.ks, 100), 6);
	assert_string_equal(order, "abcdef");
	world_check(&w);
	world_close(&w);
}

static void test_many_keys_of_one_deadline_expire_within_the_bound(void **state)
{
	struct world w;
	char name[32];

	(void)state;
	world_open(&w, 32 << 20, 2);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set_at(&w, (unsigned)i % 2, name, "v", 1000010);
	}
	ks_set_now(w.ks, 1000011);
	assert_int_equal(ks_expire_due(w.ks, 300), 300);
	assert_int_equal(ks_count(w.ks, 0) + ks_count(w.ks, 1), 700);
	world_check(&w);
	assert_int_equal(ks_expire_due(w.ks, 10000), 700);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	world_check(&w);
	world_close(&w);
}

static void test_extending_refiles_only_when_the_old_entry_fires(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "k", "v", 1000100);
	for (int i = 1; i <= 10; i++)
		set_deadline(&w, "k", 1000100 + i * 100);
	assert_int_equal(filed(&w, 0, "k"), 1000100);
	assert_int_equal(entries(&w, 0), 1);
	assert_int_equal(ks_next_deadline(w.ks), 1000100);
	/* An overwrite with a later deadline carries it over as well. */
	world_set_at(&w, 0, "k", "w", 1002000);
	assert_int_equal(filed(&w, 0, "k"), 1000100);
	world_check(&w);
	ks_set_now(w.ks, 1000101);
	assert_int_equal(ks_expire_due(w.ks, 10), 0);
	assert_int_equal(filed(&w, 0, "k"), 1002000);
	assert_int_equal(ks_next_deadline(w.ks), 1002000);
	assert_string_equal(world_get(&w, 0, "k"), "w");
	world_check(&w);
	ks_set_now(w.ks, 1002001);
	assert_int_equal(ks_expire_due(w.ks, 10), 1);
	world_check(&w);
	world_close(&w);
}

static void test_shortening_refiles_at_once(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "k", "v", 1000900);
	set_deadline(&w, "k", 1000200);
	assert_int_equal(filed(&w, 0, "k"), 1000200);
	assert_int_equal(entries(&w, 0), 1);
	assert_int_equal(ks_next_deadline(w.ks), 1000200);
	world_set_at(&w, 0, "k", "v", 1000150);
	assert_int_equal(ks_next_deadline(w.ks), 1000150);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	world_check(&w);
	/* A deadline that lies in the past, or before 1970, is stored; the key goes when it is met. */
	set_deadline(&w, "k", -5);
	assert_int_equal(ks_count(w.ks, 0), 1);
	assert_int_equal(ks_expire_due(w.ks, 10), 1);
	world_check(&w);
	world_close(&w);
}

static void test_persist_plain_set_and_delete_leave_no_entry(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "persisted", "v", 1000100);
	world_set_at(&w, 0, "overwritten", "v", 1000100);
	world_set_at(&w, 0, "deleted", "v", 1000100);
	world_set_at(&w, 0, "kept", "v", 1000100);
	assert_int_equal(entries(&w, 0), 4);
	persist(&w, "persisted");
	w.touched = 0;
	r = world_ref(&w, 0, "persisted");
	ks_persist(&r);
	assert_int_equal(w.touched, 0);
	world_set(&w, 0, "overwritten", "w");
	r = world_ref(&w, 0, "deleted");
	ks_delete(&r);
	world_set_at(&w, 0, "kept", "w", TSTR_TTL_KEEP);
	assert_int_equal(entries(&w, 0), 1);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	assert_int_equal(world_deadline(&w, 0, "kept"), 1000100);
	assert_int_equal(world_deadline(&w, 0, "overwritten"), -1);
	world_check(&w);
	set_deadline(&w, "persisted", 1000300);
	assert_int_equal(ks_count_expires(w.ks, 0), 2);
	world_check(&w);
	world_close(&w);
}

static void test_a_deadline_finds_room_in_every_form_of_record(void **state)
{
	static const size_t sizes[] = {1, 20, 64, 500, 513, 4000, TSTR_INLINE_MAX, TSTR_INLINE_MAX + 1};
	struct world w;

	(void)state;
	world_open(&w, 32 << 20, 1);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		world_put(&w, 0, "k", world_fill('d', sizes[i]), TSTR_TTL_NONE);
		set_deadline(&w, "k", 2000000);
		assert_int_equal(strlen(world_get(&w, 0, "k")), sizes[i]);
		assert_int_equal(strspn(world_get(&w, 0, "k"), "d"), sizes[i]);
		world_check(&w);
		persist(&w, "k");
		world_check(&w);
	}
	world_set(&w, 0, "i", "-77");
	set_deadline(&w, "i", 2000000);
	assert_string_equal(world_get(&w, 0, "i"), "-77");
	assert_string_equal(world_encoding(&w, 0, "i"), "int");
	world_check(&w);
	world_close(&w);
}

static void test_without_active_expiry_keys_go_when_they_are_met(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	ks_set_active_expire(w.ks, false);
	world_set_at(&w, 0, "a", "v", 1000010);
	world_set_at(&w, 0, "b", "v", 1000010);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	ks_set_now(w.ks, 1000100);
	assert_int_equal(ks_expire_due(w.ks, 10), 0);
	assert_int_equal(ks_count(w.ks, 0), 2);
	assert_false(world_has(&w, 0, "a"));
	assert_int_equal(ks_count(w.ks, 0), 1);
	ks_set_active_expire(w.ks, true);
	assert_int_equal(ks_next_deadline(w.ks), 1000010);
	assert_int_equal(ks_expire_due(w.ks, 10), 1);
	world_check(&w);
	world_close(&w);
}

static void test_rename_and_copy_over_an_expired_key_expire_it(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "old", "v", 1000010);
	world_set_at(&w, 0, "a", "new", 1005000);
	ks_set_now(w.ks, 1000100);
	r = world_ref(&w, 0, "a");
	world_reserve(&w, 0);
	ks_rename(&r, 0, world_key(&w, "old"));
	assert_int_equal(w.expired, 1);
	assert_string_equal(world_get(&w, 0, "old"), "new");
	assert_int_equal(world_deadline(&w, 0, "old"), 1005000);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	world_check(&w);
	world_close(&w);
}

/* Deadlines as far away as numbers go. */
static void test_a_deadline_at_the_end_of_time_is_kept(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "k", "v", INT64_MAX);
	world_check(&w);
	assert_int_equal(world_deadline(&w, 0, "k"), INT64_MAX);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	set_deadline(&w, "k", 1000010);
	assert_int_equal(ks_next_deadline(w.ks), 1000010);
	ks_set_now(w.ks, 1000011);
	assert_int_equal(ks_expire_due(w.ks, 10), 1);
	world_check(&w);
	world_close(&w);
}

static void test_average_lifetime_is_the_mean(void **state)
{
	struct world w;
	char name[32];

	(void)state;
	world_open(&w, 16 << 20, 1);
	assert_int_equal(ks_avg_ttl(w.ks, 0), 0);
	world_set_at(&w, 0, "a", "v", 1000100);
	world_set_at(&w, 0, "b", "v", 1000300);
	assert_int_equal(ks_avg_ttl(w.ks, 0), 200);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set_at(&w, 0, name, "v", 1000000 + 10 * i);
	}
	assert_in_range(ks_avg_ttl(w.ks, 0), 4700, 5300);
	world_close(&w);
}

/* ---- colliding hashes ---- */

/* About three keys a hash, five deadlines: entries are shared all the time. */
static void test_keys_of_one_hash_and_deadline_share_an_entry(void **state)
{
	enum { N = 3000 };
	struct world w = {.bytes = 64 << 20, .databases = 1, .weak = true};
	uint64_t shared;
	char name[32];

	(void)state;
	world_mount(&w, NULL);
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set_at(&w, 0, name, "v", 1000010 + i % 5 * 10);
	}
	world_check(&w);
	assert_int_equal(ks_count(w.ks, 0), N);
	assert_int_equal(ks_count_expires(w.ks, 0), N);
	shared = entries(&w, 0);
	assert_true(shared < N - 100);
	/* Some leave their shared entries by each of the ways. */
	for (int i = 0; i < N; i += 10) {
		struct ks_ref r;

		snprintf(name, sizeof(name), "key:%d", i);
		persist(&w, name);
		snprintf(name, sizeof(name), "key:%d", i + 1);
		r = world_ref(&w, 0, name);
		assert_true(ks_reserve_free(w.ks));
		ks_delete(&r);
		snprintf(name, sizeof(name), "key:%d", i + 2);
		set_deadline(&w, name, 1000005);
		snprintf(name, sizeof(name), "key:%d", i + 3);
		set_deadline(&w, name, 1000095);
	}
	world_check(&w);
	assert_int_equal(ks_count_expires(w.ks, 0), N - 2 * N / 10);
	ks_set_now(w.ks, 1000051);
	assert_int_equal(ks_expire_due(w.ks, 100 * N), N - 3 * N / 10);
	world_check(&w);
	assert_int_equal(ks_count(w.ks, 0), 2 * N / 10);
	ks_set_now(w.ks, 1000096);
	assert_int_equal(ks_expire_due(w.ks, 100 * N), N / 10);
	assert_int_equal(ks_count(w.ks, 0), N / 10);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	world_check(&w);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_lives_through_the_millisecond_of_its_deadline),
		cmocka_unit_test(test_active_expiry_takes_due_keys_of_all_databases_oldest_first),
		cmocka_unit_test(test_one_call_goes_back_and_forth_between_databases),
		cmocka_unit_test(test_many_keys_of_one_deadline_expire_within_the_bound),
		cmocka_unit_test(test_extending_refiles_only_when_the_old_entry_fires),
		cmocka_unit_test(test_shortening_refiles_at_once),
		cmocka_unit_test(test_persist_plain_set_and_delete_leave_no_entry),
		cmocka_unit_test(test_a_deadline_finds_room_in_every_form_of_record),
		cmocka_unit_test(test_without_active_expiry_keys_go_when_they_are_met),
		cmocka_unit_test(test_rename_and_copy_over_an_expired_key_expire_it),
		cmocka_unit_test(test_a_deadline_at_the_end_of_time_is_kept),
		cmocka_unit_test(test_average_lifetime_is_the_mean),
		cmocka_unit_test(test_keys_of_one_hash_and_deadline_share_an_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
