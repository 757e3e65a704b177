/* Keys: finding, deleting, renaming, copying, whole databases, walking, and who is told. */
#include "world.h"

#include <stdlib.h>

static void test_a_key_is_found_in_its_database_only(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 16 << 20, 4);
	assert_false(ks_find(w.ks, 2, world_key(&w, "k"), &r));
	world_set(&w, 2, "k", "v");
	assert_string_equal(world_get(&w, 2, "k"), "v");
	assert_null(world_get(&w, 1, "k"));
	assert_null(world_get(&w, 2, "K"));
	assert_int_equal(ks_count(w.ks, 2), 1);
	assert_int_equal(ks_count(w.ks, 1), 0);
	assert_int_equal(ks_stats(w.ks)->hits, 1);
	assert_int_equal(ks_stats(w.ks)->misses, 3);
	r = world_ref(&w, 2, "k");
	assert_int_equal(ks_ref_type(&r), KS_STRING);
	assert_true(bytes_eq(ks_ref_name(&r), BYTES_LIT("k")));
	assert_true(ks_find_write(w.ks, 2, world_key(&w, "k"), &r));
	assert_int_equal(ks_stats(w.ks)->hits, 1);
	world_check(&w);
	world_close(&w);
}

static void test_keys_of_every_length_are_told_apart(void **state)
{
	static char name[KS_KEY_MAX];
	static const size_t lengths[] = {0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 100, 1000, 16384, KS_KEY_MAX};
	enum { N = sizeof(lengths) / sizeof(lengths[0]) };
	struct world w;

	(void)state;
	world_open(&w, 32 << 20, 1);
	memset(name, 'x', sizeof(name));
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < N; i++) {
			struct ks_ref r;
			struct ks_key k;

			/* The second time one byte in the middle differs. */
			if (pass && lengths[i])
				name[lengths[i] / 2] = 'y';
			k = ks_key(w.ks, (struct bytes){name, lengths[i]});
			assert_int_equal(ks_find(w.ks, 0, k, &r), pass && lengths[i] == 0);
			world_reserve(&w, lengths[i] + 8);
			if (!pass || lengths[i])
				tstr_put_i64(w.ks, 0, k, NULL, (int64_t)(pass * 100 + i), TSTR_TTL_NONE);
			if (pass && lengths[i])
				name[lengths[i] / 2] = 'x';
			st_commit(w.st);
		}
	}
	assert_int_equal(ks_count(w.ks, 0), 2 * N - 1);
	for (unsigned i = 0; i < N; i++) {
		struct ks_ref r;
		int64_t v;

		assert_true(ks_find(w.ks, 0, ks_key(w.ks, (struct bytes){name, lengths[i]}), &r));
		assert_true(tstr_held_i64(&r, &v));
		assert_int_equal(v, i);
		assert_int_equal(ks_ref_name(&r).n, lengths[i]);
	}
	world_check(&w);
	world_close(&w);
}

/* Hashes that collide leave it to the comparison of the bytes, wherever these differ. */
static void test_keys_of_one_hash_are_told_apart_by_any_byte(void **state)
{
	enum { N = 2500 };
	static const char *const forms[] = {"%04d", "%04d----", "----%04d----", "%04d------------", "--------%04d--------",
		"------------%04d", "--------%04d----------------",
		"----------------%04d------------", "----------------%04d----------------"};
	struct world w = {.bytes = 64 << 20, .databases = 9, .weak = true};
	char name[64];

	(void)state;
	world_mount(&w, NULL);
	for (unsigned f = 0; f < 9; f++) {
		for (int i = 0; i < N; i++) {
			struct ks_ref r;

			snprintf(name, sizeof(name), forms[f], i);
			assert_false(ks_find(w.ks, f, world_key(&w, name), &r));
			world_reserve(&w, 64);
			tstr_put_i64(w.ks, f, world_key(&w, name), NULL, i, TSTR_TTL_NONE);
		}
		st_commit(w.st);
		for (int i = 0; i < N; i++) {
			struct ks_ref r;
			int64_t v;

			snprintf(name, sizeof(name), forms[f], i);
			r = world_ref(&w, f, name);
			assert_true(tstr_held_i64(&r, &v));
			assert_int_equal(v, i);
		}
	}
	world_check(&w);
	world_close(&w);
}

static void test_delete_takes_key_deadline_and_rope(void **state)
{
	struct world w;
	struct ks_ref r;
	struct st_stats before, after;

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_set(&w, 0, "other", "1");
	world_check(&w);
	st_stats_get(w.st, &before);
	world_put(&w, 0, "big", world_fill('b', 100000), 5000000);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	st_commit(w.st);
	w.touched = 0;
	r = world_ref(&w, 0, "big");
	assert_true(ks_reserve_free(w.ks));
	ks_delete(&r);
	assert_int_equal(w.touched, 1);
	assert_string_equal(w.last, "big");
	assert_false(world_has(&w, 0, "big"));
	assert_int_equal(ks_count(w.ks, 0), 1);
	assert_int_equal(ks_count_expires(w.ks, 0), 0);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	while (st_work(w.st, 1000))
		st_commit(w.st);
	world_check(&w);
	st_stats_get(w.st, &after);
	assert_int_equal(after.object_bytes, before.object_bytes);
	world_close(&w);
}

static void test_a_ref_outlives_changes_of_other_keys(void **state)
{
	struct world w;
	struct ks_ref r;
	char name[32];

	(void)state;
	world_open(&w, 64 << 20, 1);
	world_set(&w, 0, "kept", "before");
	r = world_ref(&w, 0, "kept");
	/* Enough insertions to split the page that the ref stands in. */
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set(&w, 0, name, "x");
	}
	assert_int_equal(ks_ref_type(&r), KS_STRING);
	world_reserve(&w, 1000);
	tstr_put(w.ks, 0, r.key, &r, world_fill('z', 700), 2000000);
	assert_int_equal(strlen(world_get(&w, 0, "kept")), 700);
	for (int i = 0; i < 3000; i++) {
		struct ks_ref gone;

		snprintf(name, sizeof(name), "key:%d", i);
		gone = world_ref(&w, 0, name);
		assert_true(ks_reserve_free(w.ks));
		ks_delete(&gone);
	}
	ks_persist(&r);
	assert_int_equal(ks_ref_deadline(&r), -1);
	ks_delete(&r);
	assert_int_equal(ks_count(w.ks, 0), 0);
	world_check(&w);
	world_close(&w);
}

static void test_a_ref_follows_what_another_ref_of_its_key_does(void **state)
{
	struct world w;
	struct ks_ref a, b;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set(&w, 0, "k", "short");
	a = world_ref(&w, 0, "k");
	b = world_ref(&w, 0, "k");
	world_reserve(&w, 1000);
	tstr_put(w.ks, 0, a.key, &a, world_fill('L', 900), TSTR_TTL_NONE);
	ks_set_deadline(&b, 2000000);
	assert_int_equal(ks_ref_deadline(&a), 2000000);
	assert_int_equal(strspn(world_get(&w, 0, "k"), "L"), 900);
	ks_delete(&a);
	world_check(&w);
	world_close(&w);
}

static void test_rename_moves_value_and_deadline(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 32 << 20, 2);
	world_set_at(&w, 0, "a", "value", 2000000);
	world_set_at(&w, 0, "b", "victim", 1500000);
	w.touched = 0;
	r = world_ref(&w, 0, "a");
	world_reserve(&w, 0);
	ks_rename(&r, 0, world_key(&w, "b"));
	assert_int_equal(w.touched, 2);
	assert_false(world_has(&w, 0, "a"));
	assert_string_equal(world_get(&w, 0, "b"), "value");
	assert_int_equal(world_deadline(&w, 0, "b"), 2000000);
	assert_int_equal(ks_count(w.ks, 0), 1);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	assert_int_equal(ks_next_deadline(w.ks), 2000000);
	world_check(&w);

	/* To a database that was never used, under the same name. */
	r = world_ref(&w, 0, "b");
	world_reserve(&w, 0);
	ks_rename(&r, 1, world_key(&w, "b"));
	assert_int_equal(ks_count(w.ks, 0), 0);
	assert_int_equal(ks_count(w.ks, 1), 1);
	assert_string_equal(world_get(&w, 1, "b"), "value");
	assert_int_equal(ks_count_expires(w.ks, 0), 0);
	assert_int_equal(ks_count_expires(w.ks, 1), 1);
	world_check(&w);
	world_close(&w);
}

static void test_rename_moves_a_rope_without_copying_it(void **state)
{
	struct world w;
	struct ks_ref r;
	struct tstr before, after;

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_put(&w, 0, "a", world_fill('r', 50000), TSTR_TTL_NONE);
	r = world_ref(&w, 0, "a");
	tstr_view(&r, &before);
	world_reserve(&w, 0);
	ks_rename(&r, 0, world_key(&w, "a much longer name than before"));
	r = world_ref(&w, 0, "a much longer name than before");
	tstr_view(&r, &after);
	assert_int_equal(after.form, TSTR_ROPE);
	assert_int_equal(after.rope.node, before.rope.node);
	assert_int_equal(after.len, 50000);
	world_check(&w);
	world_close(&w);
}

static void test_copy_is_deep_and_keeps_encoding_and_deadline(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 32 << 20, 2);
	world_put(&w, 0, "rope", world_fill('r', 40000), 2000000);
	r = world_ref(&w, 0, "rope");
	assert_true(ks_reserve(w.ks, ks_ref_bytes(&r)));
	ks_copy(&r, 1, world_key(&w, "rope2"));
	world_check(&w);
	world_reserve(&w, 40000);
	tstr_write(w.ks, 0, r.key, &r, 20000, BYTES_LIT("changed"));
	assert_memory_equal(world_get(&w, 1, "rope2") + 20000, "rrrrrrr", 7);
	assert_memory_equal(world_get(&w, 0, "rope") + 20000, "changed", 7);
	assert_int_equal(world_deadline(&w, 1, "rope2"), 2000000);

	world_set(&w, 0, "n", "12");
	r = world_ref(&w, 0, "n");
	world_reserve(&w, 100);
	tstr_write(w.ks, 0, r.key, &r, 2, BYTES_LIT("3"));
	ks_copy(&r, 0, world_key(&w, "n2"));
	assert_string_equal(world_get(&w, 0, "n2"), "123");
	assert_string_equal(world_encoding(&w, 0, "n2"), "raw");
	/* Onto itself in another database, over a value that goes. */
	ks_copy(&r, 1, world_key(&w, "rope2"));
	assert_string_equal(world_get(&w, 1, "rope2"), "123");
	assert_int_equal(ks_count_expires(w.ks, 1), 0);
	while (st_work(w.st, 1000))
		st_commit(w.st);
	world_check(&w);
	world_close(&w);
}

static void test_flush_empties_one_or_all_databases_at_once(void **state)
{
	struct world w;
	struct st_stats empty, after;
	char name[32];

	(void)state;
	world_open(&w, 64 << 20, 3);
	for (unsigned db = 0; db < 3; db++) {
		world_set(&w, db, "x", "x");
		ks_flush(w.ks, (int)db);
	}
	while (st_work(w.st, 1000))
		st_commit(w.st);
	world_check(&w);
	st_stats_get(w.st, &empty);
	w.flushed = 0;
	for (unsigned db = 0; db < 3; db++) {
		for (int i = 0; i < 2000; i++) {
			snprintf(name, sizeof(name), "key:%d", i);
			world_set_at(&w, db, name, "value", i % 3 ? TSTR_TTL_NONE : 5000000 + i);
		}
		world_put(&w, db, "big", world_fill('b', 300000), TSTR_TTL_NONE);
		st_commit(w.st);
	}
	ks_flush(w.ks, 1);
	assert_int_equal(w.flushed, 1);
	assert_int_equal(w.flushed_db, 1);
	assert_int_equal(ks_count(w.ks, 0), 2001);
	assert_int_equal(ks_count(w.ks, 1), 0);
	assert_int_equal(ks_count_expires(w.ks, 1), 0);
	world_check(&w);
	world_set(&w, 1, "again", "1");
	ks_flush(w.ks, -1);
	assert_int_equal(w.flushed_db, -1);
	for (unsigned db = 0; db < 3; db++)
		assert_int_equal(ks_count(w.ks, db), 0);
	assert_int_equal(ks_next_deadline(w.ks), INT64_MAX);
	world_check(&w);
	while (st_work(w.st, 100))
		st_commit(w.st);
	world_check(&w);
	st_stats_get(w.st, &after);
	assert_int_equal(after.objects, empty.objects);
	assert_int_equal(after.object_bytes, empty.object_bytes);
	world_close(&w);
}

static void test_flush_gives_the_database_a_new_identity_and_swap_moves_it(void **state)
{
	struct world w;
	uint64_t a, b;

	(void)state;
	world_open(&w, 16 << 20, 2);
	world_set(&w, 0, "k", "zero");
	world_set(&w, 1, "k", "one");
	a = ks__db(w.ks, 0)->identity;
	b = ks__db(w.ks, 1)->identity;
	assert_int_equal(a, 1);
	assert_int_equal(b, 2);
	ks_swap(w.ks, 0, 1);
	assert_int_equal(w.flushed, 2);
	assert_string_equal(world_get(&w, 0, "k"), "one");
	assert_string_equal(world_get(&w, 1, "k"), "zero");
	assert_int_equal(ks__db(w.ks, 0)->identity, b);
	ks_flush(w.ks, 0);
	assert_int_equal(ks__db(w.ks, 0)->identity, 3);
	world_check(&w);
	world_close(&w);
}

static void test_reopening_keeps_everything_and_databases_may_grow(void **state)
{
	struct world w;
	struct errinfo ei = {0};
	struct ks *ks = NULL;

	(void)state;
	world_open(&w, 32 << 20, 2);
	world_set_at(&w, 1, "k", "value", 3000000);
	world_put(&w, 0, "rope", world_fill('q', 70000), TSTR_TTL_NONE);
	st_commit(w.st);
	world_reopen(&w, false);
	assert_string_equal(world_get(&w, 1, "k"), "value");
	assert_int_equal(world_deadline(&w, 1, "k"), 3000000);
	w.databases = 20;
	world_reopen(&w, true);
	assert_int_equal(ks_databases(w.ks), 20);
	assert_string_equal(world_get(&w, 1, "k"), "value");
	assert_int_equal(strlen(world_get(&w, 0, "rope")), 70000);
	world_set(&w, 19, "last", "1");
	world_check(&w);

	assert_int_equal(ks_open(w.st, &(struct ks_options){.databases = 19}, &ks, &ei), ERR_ARGUMENT);
	assert_non_null(strstr(ei.msg, "database 19"));
	assert_null(ks);
	assert_int_equal(ks_open(w.st, &(struct ks_options){.databases = 0}, &ks, NULL), ERR_OK);
	assert_int_equal(ks_databases(ks), 20);
	assert_false(st_dirty(w.st));
	ks_close(ks);
	world_close(&w);
}

static void test_open_refuses_what_is_no_dataset_of_this_format(void **state)
{
	struct world w;
	struct errinfo ei = {0};
	struct ks *ks = NULL;
	struct ks__dataset_layout *d;
	st_off off;

	(void)state;
	world_open(&w, 16 << 20, 2);
	d = st_edit_root(w.st);
	d->version = 9;
	assert_int_equal(ks_open(w.st, &(struct ks_options){.databases = 2}, &ks, &ei), ERR_VERSION);
	d->version = KS__DATASET_VERSION;
	st_commit(w.st);
	st_unit_begin(w.st);
	assert_non_null(st_alloc(w.st, 64, ST_KIND_RECORD, &off));
	st_set_root(w.st, off);
	ei = (struct errinfo){0};
	assert_int_equal(ks_open(w.st, &(struct ks_options){.databases = 2}, &ks, &ei), ERR_CORRUPT);
	st_set_root(w.st, 0);
	ei = (struct errinfo){0};
	assert_int_equal(ks_open(w.st, &(struct ks_options){.databases = 0}, &ks, &ei), ERR_MISSING);
	st_unit_undo(w.st);
	world_close(&w);
}

/* ---- walking ---- */

struct seen {
	unsigned n;
	unsigned char times[2000];
};

static void see(void *ctx, struct bytes name, enum ks_type type)
{
	struct seen *s = ctx;
	char text[32] = {0};

	assert_int_equal(type, KS_STRING);
	assert_true(name.n < sizeof(text));
	memcpy(text, name.p, name.n);
	s->n++;
	s->times[atoi(text + 4)]++;
}

static void test_scan_visits_each_live_key_once(void **state)
{
	static struct seen s;
	struct world w;
	uint64_t cursor = 0;
	unsigned calls = 0;
	char name[32];

	(void)state;
	world_open(&w, 32 << 20, 1);
	assert_int_equal(ks_scan(w.ks, 0, 0, 10, see, &s), 0);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set_at(&w, 0, name, "v", i % 2 ? TSTR_TTL_NONE : 1000100);
	}
	ks_set_now(w.ks, 1000101);
	memset(&s, 0, sizeof(s));
	do {
		cursor = ks_scan(w.ks, 0, cursor, 10, see, &s);
		calls++;
	} while (cursor);
	assert_int_equal(s.n, 1000);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(s.times[i], i % 2);
	assert_true(calls > 1);
	/* Skipped, not deleted. */
	assert_int_equal(ks_count(w.ks, 0), 2000);
	world_check(&w);
	world_close(&w);
}

static void test_random_gives_live_keys_and_ends_when_all_are_expired(void **state)
{
	struct world w;
	struct ks_ref r;
	struct rng rng;
	char name[32];

	(void)state;
	rng_seed(&rng, 7);
	world_open(&w, 32 << 20, 1);
	assert_false(ks_random(w.ks, 0, &rng, &r));
	for (int i = 0; i < 1500; i++) {
		snprintf(name, sizeof(name), "key:%d", i);
		world_set_at(&w, 0, name, "v", 1000100);
	}
	world_set(&w, 0, "alive", "yes");
	assert_true(ks_random(w.ks, 0, &rng, &r));
	ks_set_active_expire(w.ks, false);
	ks_set_now(w.ks, 1000101);
	assert_true(ks_random(w.ks, 0, &rng, &r));
	assert_true(bytes_eq(ks_ref_name(&r), BYTES_LIT("alive")));
	/* What it met is gone. */
	assert_true(ks_count(w.ks, 0) < 1501);
	ks_delete(&r);
	assert_false(ks_random(w.ks, 0, &rng, &r));
	world_check(&w);
	world_close(&w);
}

static void test_bytes_of_a_key_count_object_slot_and_rope(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_put(&w, 0, "0123456789abcdef", world_fill('v', 64), TSTR_TTL_NONE);
	r = world_ref(&w, 0, "0123456789abcdef");
	assert_int_equal(ks_ref_bytes(&r), 96 + 8);
	world_reserve(&w, 0);
	ks_set_deadline(&r, 2000000);
	assert_int_equal(ks_ref_bytes(&r), 112 + 8 + 16);
	world_put(&w, 0, "rope", world_fill('v', 4 * ROPE_CHUNK), TSTR_TTL_NONE);
	r = world_ref(&w, 0, "rope");
	assert_true(ks_ref_bytes(&r) > 4 * ROPE_CHUNK);
	assert_true(ks_ref_bytes(&r) < 5 * ROPE_CHUNK);
	world_close(&w);
}

static void test_an_undone_unit_leaves_the_keyspace_as_it_was(void **state)
{
	struct world w;
	struct ks_ref r;

	(void)state;
	world_open(&w, 32 << 20, 3);
	world_set_at(&w, 0, "a", "1", 2000000);
	world_set(&w, 0, "b", "2");
	st_commit(w.st);
	world_set(&w, 0, "same tick", "3");
	st_unit_begin(w.st);
	world_set_at(&w, 2, "new db", "4", 1500000);
	r = world_ref(&w, 0, "a");
	world_reserve(&w, 0);
	ks_delete(&r);
	ks_flush(w.ks, 0);
	world_set(&w, 0, "b", "5");
	assert_int_equal(ks_next_deadline(w.ks), 1500000);
	st_unit_undo(w.st);
	assert_int_equal(ks_next_deadline(w.ks), 2000000);
	assert_int_equal(ks_count(w.ks, 0), 3);
	assert_int_equal(ks_count(w.ks, 2), 0);
	assert_string_equal(world_get(&w, 0, "a"), "1");
	assert_string_equal(world_get(&w, 0, "b"), "2");
	assert_string_equal(world_get(&w, 0, "same tick"), "3");
	world_check(&w);
	world_close(&w);
}

static void test_reserve_says_no_when_the_pool_is_full_and_deletes_still_work(void **state)
{
	struct world w;
	char name[32];
	int n = 0;

	(void)state;
	world_open(&w, 8 << 20, 1);
	for (; n < 100000; n++) {
		struct ks_key k;

		snprintf(name, sizeof(name), "key:%d", n);
		k = world_key(&w, name);
		if (!ks_reserve(w.ks, 1000))
			break;
		tstr_put(w.ks, 0, k, NULL, world_fill('f', 900), 1000000 + n);
		if (n % 16 == 0)
			st_commit(w.st);
	}
	assert_in_range(n, 1000, 99999);
	st_commit(w.st);
	/* Expiry by reads and by the tree, in the pool that is full. */
	ks_set_now(w.ks, 1000000 + n);
	assert_false(world_has(&w, 0, "key:0"));
	while (ks_expire_due(w.ks, 100) > 0)
		st_commit(w.st);
	assert_int_equal(ks_count(w.ks, 0), 0);
	st_commit(w.st);
	assert_true(ks_reserve(w.ks, 1000));
	world_check(&w);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_key_is_found_in_its_database_only),
		cmocka_unit_test(test_keys_of_every_length_are_told_apart),
		cmocka_unit_test(test_keys_of_one_hash_are_told_apart_by_any_byte),
		cmocka_unit_test(test_delete_takes_key_deadline_and_rope),
		cmocka_unit_test(test_a_ref_outlives_changes_of_other_keys),
		cmocka_unit_test(test_a_ref_follows_what_another_ref_of_its_key_does),
		cmocka_unit_test(test_rename_moves_value_and_deadline),
		cmocka_unit_test(test_rename_moves_a_rope_without_copying_it),
		cmocka_unit_test(test_copy_is_deep_and_keeps_encoding_and_deadline),
		cmocka_unit_test(test_flush_empties_one_or_all_databases_at_once),
		cmocka_unit_test(test_flush_gives_the_database_a_new_identity_and_swap_moves_it),
		cmocka_unit_test(test_reopening_keeps_everything_and_databases_may_grow),
		cmocka_unit_test(test_open_refuses_what_is_no_dataset_of_this_format),
		cmocka_unit_test(test_scan_visits_each_live_key_once),
		cmocka_unit_test(test_random_gives_live_keys_and_ends_when_all_are_expired),
		cmocka_unit_test(test_bytes_of_a_key_count_object_slot_and_rope),
		cmocka_unit_test(test_an_undone_unit_leaves_the_keyspace_as_it_was),
		cmocka_unit_test(test_reserve_says_no_when_the_pool_is_full_and_deletes_still_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
