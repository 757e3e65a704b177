#include "unit.h"

#include "base/buf.h"
#include "base/mem.h"

static void test_room_of_an_empty_buffer_is_usable_even_for_nothing(void **state)
{
	struct buf b = {0};

	(void)state;
	assert_non_null(buf_room(&b, 0));
	assert_int_equal(b.n, 0);
	buf_free(&b);
	assert_null(b.p);
	assert_int_equal(b.cap, 0);
}

static void test_appended_pieces_follow_each_other(void **state)
{
	struct buf b = {0};

	(void)state;
	buf_add(&b, "ab\0c", 4);
	buf_add(&b, NULL, 0);
	buf_adds(&b, "-");
	buf_addf(&b, "%d/%s", 42, "x");
	assert_bytes(buf_bytes(&b), BYTES_LIT("ab\0c-42/x"));
	buf_free(&b);
}

static void test_formatted_text_of_any_length_arrives_whole(void **state)
{
	(void)state;
	for (int width = 1; width < 300; width++) {
		struct buf b = {0};

		buf_adds(&b, "<");
		buf_addf(&b, "%*d", width, 7);
		buf_adds(&b, ">");
		assert_int_equal(b.n, width + 2);
		assert_int_equal(b.p[0], '<');
		assert_int_equal(b.p[width], '7');
		assert_int_equal(b.p[width + 1], '>');
		buf_free(&b);
	}
}

static void test_shift_drops_the_front(void **state)
{
	struct buf b = {0};

	(void)state;
	buf_adds(&b, "abcdef");
	buf_shift(&b, 0);
	assert_bytes(buf_bytes(&b), BYTES_LIT("abcdef"));
	buf_shift(&b, 2);
	assert_bytes(buf_bytes(&b), BYTES_LIT("cdef"));
	buf_shift(&b, 4);
	assert_int_equal(b.n, 0);
	buf_adds(&b, "z");
	assert_bytes(buf_bytes(&b), BYTES_LIT("z"));
	buf_free(&b);
}

static void test_one_big_wish_gets_its_exact_size(void **state)
{
	struct buf b = {0};

	(void)state;
	buf_room(&b, 5000000);
	assert_int_equal(b.cap, 5000000);
	b.n = 5000000;
	/* Growing byte by byte from there takes few steps. */
	buf_add(&b, "x", 1);
	assert_int_equal(b.cap, 7500000);
	buf_free(&b);
}

static void test_growth_by_single_bytes_moves_rarely(void **state)
{
	struct buf b = {0};
	unsigned grown = 0;

	(void)state;
	for (unsigned i = 0; i < 3000000; i++) {
		size_t cap = b.cap;

		buf_add(&b, &(char){(char)(i * 7)}, 1);
		grown += b.cap != cap;
	}
	assert_int_equal(b.n, 3000000);
	for (unsigned i = 0; i < 3000000; i += 997)
		assert_int_equal(b.p[i], (char)(i * 7));
	/* 64 bytes to 1 MiB in 15 steps, then three by half. */
	assert_int_equal(grown, 18);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_of_an_empty_buffer_is_usable_even_for_nothing),
		cmocka_unit_test(test_appended_pieces_follow_each_other),
		cmocka_unit_test(test_formatted_text_of_any_length_arrives_whole),
		cmocka_unit_test(test_shift_drops_the_front),
		cmocka_unit_test(test_one_big_wish_gets_its_exact_size),
		cmocka_unit_test(test_growth_by_single_bytes_moves_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
