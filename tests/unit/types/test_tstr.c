/* Strings: forms, labels, what is changed in place, growth. */
#include "world.h"

static void write_at(struct world *w, const char *name, uint64_t at, struct bytes s)
{
	struct ks_key k = world_key(w, name);
	struct ks_ref r;
	bool found = ks_find_write(w->ks, 0, k, &r);

	world_reserve(w, k.name.n + tstr_write_reserve(found ? &r : NULL, at, s.n));
	tstr_write(w->ks, 0, k, found ? &r : NULL, at, s);
}

static void append(struct world *w, const char *name, struct bytes s)
{
	struct ks_ref r = world_ref(w, 0, name);
	struct tstr v;

	tstr_view(&r, &v);
	write_at(w, name, v.len, s);
}

static void put_as(struct world *w, const char *name, struct bytes s, enum tstr_as as)
{
	struct ks_key k = world_key(w, name);
	struct ks_ref r;
	bool found = ks_find_write(w->ks, 0, k, &r);

	world_reserve(w, k.name.n + s.n);
	tstr_put_as(w->ks, 0, k, found ? &r : NULL, s, as, TSTR_TTL_NONE);
}

static enum tstr_form form(struct world *w, const char *name)
{
	struct ks_ref r = world_ref(w, 0, name);
	struct tstr v;

	tstr_view(&r, &v);
	return v.form;
}

static void test_strict_integers_are_held_as_integers(void **state)
{
	static const char *const integers[] = {
		"0", "7", "-1", "12345", "9223372036854775807", "-9223372036854775808", "10000000000000000000"};
	static const char *const text[] = {"", "-0", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "0x1", "-"};
	struct world w;
	struct ks_ref r;
	struct tstr v;
	int64_t i = 0;

	(void)state;
	world_open(&w, 16 << 20, 1);
	for (int k = 0; k < 6; k++) {
		world_set(&w, 0, "k", integers[k]);
		assert_string_equal(world_get(&w, 0, "k"), integers[k]);
		assert_int_equal(form(&w, "k"), TSTR_INT);
		assert_string_equal(world_encoding(&w, 0, "k"), "int");
		r = world_ref(&w, 0, "k");
		tstr_view(&r, &v);
		assert_int_equal(v.len, strlen(integers[k]));
		assert_true(tstr_i64(&r, &v, &i));
		assert_true(tstr_held_i64(&r, &i));
	}
	assert_true(i == INT64_MIN);
	for (unsigned k = 0; k < sizeof(text) / sizeof(text[0]); k++) {
		world_set(&w, 0, "k", text[k]);
		assert_string_equal(world_get(&w, 0, "k"), text[k]);
		assert_string_equal(world_encoding(&w, 0, "k"), "embstr");
		r = world_ref(&w, 0, "k");
		tstr_view(&r, &v);
		assert_false(tstr_i64(&r, &v, &i));
		assert_false(tstr_held_i64(&r, &i));
	}
	world_check(&w);
	world_close(&w);
}

static void test_labels_follow_redis(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "k", world_fill('a', 44), TSTR_TTL_NONE);
	assert_string_equal(world_encoding(&w, 0, "k"), "embstr");
	world_put(&w, 0, "k", world_fill('a', 45), TSTR_TTL_NONE);
	assert_string_equal(world_encoding(&w, 0, "k"), "raw");
	world_put(&w, 0, "k", world_fill('a', 100000), TSTR_TTL_NONE);
	assert_string_equal(world_encoding(&w, 0, "k"), "raw");

	/* INCRBYFLOAT's "12" is text; BITOP's result is raw. */
	put_as(&w, "k", BYTES_LIT("12"), TSTR_AS_TEXT);
	assert_string_equal(world_encoding(&w, 0, "k"), "embstr");
	put_as(&w, "k", world_fill('1', 50), TSTR_AS_TEXT);
	assert_string_equal(world_encoding(&w, 0, "k"), "raw");
	put_as(&w, "k", BYTES_LIT("12"), TSTR_AS_RAW);
	assert_string_equal(world_encoding(&w, 0, "k"), "raw");
	/* But both still count as numbers. */
	{
		struct ks_ref r = world_ref(&w, 0, "k");
		struct tstr v;
		int64_t i;

		tstr_view(&r, &v);
		assert_true(tstr_i64(&r, &v, &i));
		assert_int_equal(i, 12);
	}

	world_set(&w, 0, "i", "10");
	append(&w, "i", BYTES_LIT("0"));
	assert_string_equal(world_get(&w, 0, "i"), "100");
	assert_string_equal(world_encoding(&w, 0, "i"), "raw");
	world_set(&w, 0, "i", "10");
	append(&w, "i", BYTES_LIT(""));
	assert_string_equal(world_get(&w, 0, "i"), "10");
	assert_string_equal(world_encoding(&w, 0, "i"), "raw");
	world_set(&w, 0, "e", "text");
	write_at(&w, "e", 1, BYTES_LIT("E"));
	assert_string_equal(world_get(&w, 0, "e"), "tExt");
	assert_string_equal(world_encoding(&w, 0, "e"), "raw");
	write_at(&w, "new", 0, BYTES_LIT("5"));
	assert_string_equal(world_encoding(&w, 0, "new"), "raw");
	world_set(&w, 0, "new", "6");
	assert_string_equal(world_encoding(&w, 0, "new"), "int");
	world_check(&w);
	world_close(&w);
}

static void test_small_overwrites_that_fit_stay_in_place(void **state)
{
	struct world w;
	st_off at;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "0123456789abcdef", world_fill('a', 64), TSTR_TTL_NONE);
	st_commit(w.st);
	at = world_item(&w, 0, "0123456789abcdef");
	assert_int_equal(st_size(w.st, at), 96);
	for (size_t n = 0; n <= 64; n++) {
		world_put(&w, 0, "0123456789abcdef", world_fill('b', n), TSTR_TTL_NONE);
		assert_int_equal(world_item(&w, 0, "0123456789abcdef"), at);
		assert_int_equal(strspn(world_get(&w, 0, "0123456789abcdef"), "b"), n);
		assert_int_equal(strlen(world_get(&w, 0, "0123456789abcdef")), n);
		st_commit(w.st);
	}
	/* An integer instead of bytes, and back: the key moves inside the record. */
	world_set(&w, 0, "0123456789abcdef", "42");
	assert_int_equal(world_item(&w, 0, "0123456789abcdef"), at);
	world_check(&w);
	world_set(&w, 0, "0123456789abcdef", "text again");
	assert_int_equal(world_item(&w, 0, "0123456789abcdef"), at);
	world_check(&w);
	/* A deadline fits beside a short value. */
	world_set_at(&w, 0, "0123456789abcdef", "with deadline", 2000000);
	assert_int_equal(world_item(&w, 0, "0123456789abcdef"), at);
	world_check(&w);
	world_put(&w, 0, "0123456789abcdef", world_fill('c', 65), TSTR_TTL_NONE);
	assert_int_not_equal(world_item(&w, 0, "0123456789abcdef"), at);
	world_check(&w);
	world_close(&w);
}

static void test_an_overwrite_in_place_edits_no_database_object(void **state)
{
	struct world w;
	struct st_stats a, b;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "0123456789abcdef", world_fill('a', 64), TSTR_TTL_NONE);
	world_set(&w, 0, "counter", "1");
	st_commit(w.st);
	st_stats_get(w.st, &a);
	world_put(&w, 0, "0123456789abcdef", world_fill('b', 64), TSTR_TTL_NONE);
	st_commit(w.st);
	st_stats_get(w.st, &b);
	/* 64 bytes of value and nothing else go home. */
	assert_int_equal(b.apply_bytes - a.apply_bytes, 64);
	assert_int_equal(b.fresh_bytes - a.fresh_bytes, 0);
	world_set(&w, 0, "counter", "2");
	st_commit(w.st);
	st_stats_get(w.st, &a);
	assert_int_equal(a.apply_bytes - b.apply_bytes, 8);
	world_close(&w);
}

static void test_big_values_are_written_once_in_fresh_records(void **state)
{
	struct world w;
	st_off at;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "k", world_fill('a', 512), TSTR_TTL_NONE);
	at = world_item(&w, 0, "k");
	world_put(&w, 0, "k", world_fill('b', 512), TSTR_TTL_NONE);
	assert_int_equal(world_item(&w, 0, "k"), at);
	world_put(&w, 0, "k", world_fill('a', 513), TSTR_TTL_NONE);
	at = world_item(&w, 0, "k");
	world_put(&w, 0, "k", world_fill('b', 513), TSTR_TTL_NONE);
	assert_int_not_equal(world_item(&w, 0, "k"), at);
	/* A short value does not keep a long record. */
	world_set(&w, 0, "k", "short");
	assert_int_equal(st_size(w.st, world_item(&w, 0, "k")), 32);
	world_check(&w);
	world_close(&w);
}

static void test_the_border_between_inline_and_rope(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_put(&w, 0, "k", world_fill('a', TSTR_INLINE_MAX), TSTR_TTL_NONE);
	assert_int_equal(form(&w, "k"), TSTR_BYTES);
	world_check(&w);
	append(&w, "k", BYTES_LIT("bc"));
	assert_int_equal(form(&w, "k"), TSTR_ROPE);
	assert_int_equal(strlen(world_get(&w, 0, "k")), TSTR_INLINE_MAX + 2);
	assert_string_equal(world_get(&w, 0, "k") + TSTR_INLINE_MAX - 1, "abc");
	world_check(&w);
	append(&w, "k", BYTES_LIT(""));
	append(&w, "k", BYTES_LIT("d"));
	assert_string_equal(world_get(&w, 0, "k") + TSTR_INLINE_MAX - 1, "abcd");
	world_put(&w, 0, "k", world_fill('r', TSTR_INLINE_MAX + 1), TSTR_TTL_NONE);
	assert_int_equal(form(&w, "k"), TSTR_ROPE);
	world_set(&w, 0, "k", "inline");
	assert_string_equal(world_get(&w, 0, "k"), "inline");
	while (st_work(w.st, 1000))
		st_commit(w.st);
	world_check(&w);
	world_close(&w);
}

static void test_writing_beyond_the_end_fills_with_zeros(void **state)
{
	static const char small[] = "ab\0\0\0xyz", zeros[4096];
	struct world w;
	struct ks_ref r;
	struct tstr v;
	char part[16];

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_set(&w, 0, "k", "abcdefghijklmnopqrstuvwxyz");
	world_set(&w, 0, "k", "ab");
	write_at(&w, "k", 5, BYTES_LIT("xyz"));
	r = world_ref(&w, 0, "k");
	tstr_view(&r, &v);
	assert_int_equal(v.len, 8);
	assert_memory_equal(v.b.p, small, 8);

	write_at(&w, "new", 3, BYTES_LIT("q"));
	assert_memory_equal(world_get(&w, 0, "new"), "\0\0\0q", 4);
	write_at(&w, "i", 0, BYTES_LIT("1"));
	world_set(&w, 0, "i", "17");
	write_at(&w, "i", 4, BYTES_LIT("5"));
	assert_memory_equal(world_get(&w, 0, "i"), "17\0\0" "5", 5);

	/* Far beyond: a rope with a hole. */
	write_at(&w, "k", 300 << 20, BYTES_LIT("end"));
	world_check(&w);
	r = world_ref(&w, 0, "k");
	tstr_view(&r, &v);
	assert_int_equal(v.form, TSTR_ROPE);
	assert_int_equal(v.len, (300 << 20) + 3);
	tstr_read(&r, &v, 0, part, 16);
	assert_memory_equal(part, small, 8);
	assert_memory_equal(part + 8, zeros, 8);
	tstr_read(&r, &v, (300 << 20) - 5, part, 8);
	assert_memory_equal(part, "\0\0\0\0\0end", 8);
	assert_true(ks_ref_bytes(&r) < 100000);
	write_at(&w, "hole", 1 << 20, BYTES_LIT("h"));
	r = world_ref(&w, 0, "hole");
	tstr_view(&r, &v);
	assert_int_equal(v.len, (1 << 20) + 1);
	world_check(&w);
	world_close(&w);
}

static void test_a_write_keeps_the_deadline(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set_at(&w, 0, "k", "12", 2000000);
	append(&w, "k", BYTES_LIT("3"));
	assert_int_equal(world_deadline(&w, 0, "k"), 2000000);
	append(&w, "k", world_fill('x', 1000));
	append(&w, "k", world_fill('x', 20000));
	assert_int_equal(form(&w, "k"), TSTR_ROPE);
	assert_int_equal(world_deadline(&w, 0, "k"), 2000000);
	assert_int_equal(ks_count_expires(w.ks, 0), 1);
	world_check(&w);
	world_close(&w);
}

static void test_small_appends_are_amortised(void **state)
{
	struct world w;
	st_off at = 0;
	unsigned moves = 0;

	(void)state;
	world_open(&w, 32 << 20, 1);
	world_set(&w, 0, "k", "a");
	/* A plain SET has no slack: 16 + 1 + 1 bytes, of the least class. */
	assert_int_equal(st_size(w.st, world_item(&w, 0, "k")), 32);
	for (int i = 0; i < 10000; i++) {
		append(&w, "k", BYTES_LIT("a"));
		moves += world_item(&w, 0, "k") != at;
		at = world_item(&w, 0, "k");
		if (i % 16 == 0)
			st_commit(w.st);
	}
	assert_in_range(moves, 5, 16);
	assert_int_equal(strlen(world_get(&w, 0, "k")), 10001);
	assert_true(st_size(w.st, at) <= 21840);
	world_check(&w);
	world_close(&w);
}

static bool count_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	uint64_t *total = ctx;

	assert_non_null(p);
	total[0] += n;
	total[1]++;
	total[2] |= chunk != 0;
	return true;
}

static void test_pieces_cover_a_range(void **state)
{
	struct world w;
	struct ks_ref r;
	struct tstr v;
	uint64_t got[3] = {0};

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set(&w, 0, "k", "0123456789");
	r = world_ref(&w, 0, "k");
	tstr_view(&r, &v);
	tstr_each(&r, &v, 2, 5, count_piece, got);
	tstr_each(&r, &v, 10, 0, count_piece, got);
	assert_int_equal(got[0], 5);
	assert_int_equal(got[1], 1);
	assert_int_equal(got[2], 0);
	world_put(&w, 0, "k", world_fill('p', 3 * ROPE_CHUNK), TSTR_TTL_NONE);
	r = world_ref(&w, 0, "k");
	tstr_view(&r, &v);
	memset(got, 0, sizeof(got));
	tstr_each(&r, &v, 100, 2 * ROPE_CHUNK, count_piece, got);
	assert_int_equal(got[0], 2 * ROPE_CHUNK);
	assert_int_equal(got[1], 3);
	assert_int_equal(got[2], 1);
	world_close(&w);
}

static void test_put_and_write_tell_once(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_set(&w, 0, "k", "v");
	assert_int_equal(w.touched, 1);
	world_set_at(&w, 0, "k", "w", 2000000);
	assert_int_equal(w.touched, 2);
	append(&w, "k", BYTES_LIT("x"));
	assert_int_equal(w.touched, 3);
	world_reserve(&w, 0);
	tstr_put_i64(w.ks, 0, world_key(&w, "n"), NULL, 1, TSTR_TTL_KEEP);
	assert_int_equal(w.touched, 4);
	assert_string_equal(w.last, "n");
	assert_int_equal(world_deadline(&w, 0, "n"), -1);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strict_integers_are_held_as_integers),
		cmocka_unit_test(test_labels_follow_redis),
		cmocka_unit_test(test_small_overwrites_that_fit_stay_in_place),
		cmocka_unit_test(test_an_overwrite_in_place_edits_no_database_object),
		cmocka_unit_test(test_big_values_are_written_once_in_fresh_records),
		cmocka_unit_test(test_the_border_between_inline_and_rope),
		cmocka_unit_test(test_writing_beyond_the_end_fills_with_zeros),
		cmocka_unit_test(test_a_write_keeps_the_deadline),
		cmocka_unit_test(test_small_appends_are_amortised),
		cmocka_unit_test(test_pieces_cover_a_range),
		cmocka_unit_test(test_put_and_write_tell_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
