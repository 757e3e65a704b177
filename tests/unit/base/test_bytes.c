#include "unit.h"

static int sign(int c)
{
	return (c > 0) - (c < 0);
}

static void test_cmp_orders_by_bytes_then_by_length(void **state)
{
	static const struct {
		const char *a, *b;
		int want;
	} cases[] = {
		{"", "", 0}, {"", "a", -1}, {"a", "", 1}, {"a", "a", 0}, {"a", "ab", -1}, {"ab", "a", 1},
		{"b", "ab", 1}, {"\x80", "a", 1}, {"a", "\xff", -1}, {"aZ", "aa", -1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(sign(bytes_cmp(bytes_of(cases[i].a), bytes_of(cases[i].b))), cases[i].want);
	assert_int_equal(sign(bytes_cmp(BYTES_LIT("a\0b"), BYTES_LIT("a\0c"))), -1);
	assert_int_equal(sign(bytes_cmp((struct bytes){NULL, 0}, (struct bytes){NULL, 0})), 0);
}

static void test_eq_compares_length_and_content(void **state)
{
	(void)state;
	assert_true(bytes_eq(BYTES_LIT("a\0b"), BYTES_LIT("a\0b")));
	assert_false(bytes_eq(BYTES_LIT("a\0b"), BYTES_LIT("a\0c")));
	assert_false(bytes_eq(BYTES_LIT("a"), BYTES_LIT("a\0")));
	assert_true(bytes_eq((struct bytes){NULL, 0}, BYTES_LIT("")));
}

static void test_ieq_ignores_case_of_ascii_letters_only(void **state)
{
	(void)state;
	assert_true(bytes_ieq(BYTES_LIT("MaxMemory"), "maxmemory"));
	assert_true(bytes_ieq(BYTES_LIT("azAZ09-_"), "AZaz09-_"));
	assert_true(bytes_ieq(BYTES_LIT(""), ""));
	assert_false(bytes_ieq(BYTES_LIT("ab"), "abc"));
	assert_false(bytes_ieq(BYTES_LIT("abc"), "ab"));
	assert_false(bytes_ieq(BYTES_LIT("ab\0"), "ab"));
	assert_false(bytes_ieq(BYTES_LIT("@"), "`"));
	assert_false(bytes_ieq(BYTES_LIT("["), "{"));
	assert_false(bytes_ieq(BYTES_LIT("\xc4"), "\xe4"));
	assert_true(bytes_ieq(BYTES_LIT("\xe4"), "\xe4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmp_orders_by_bytes_then_by_length),
		cmocka_unit_test(test_eq_compares_length_and_content),
		cmocka_unit_test(test_ieq_ignores_case_of_ascii_letters_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
