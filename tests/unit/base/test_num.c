/* Floating point answers are those of redis-server 7.0.15: INCRBYFLOAT for long doubles, ZSCORE for doubles. */
#include "unit.h"

#include "base/num.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

static void test_i64_takes_one_spelling_of_each_value(void **state)
{
	static const char *const bad[] = {
		"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1a", "a1", "0x1", "1.0", "1e3", "--1", "-a",
		"9223372036854775808", "-9223372036854775809", "18446744073709551616", "99999999999999999999",
		"-99999999999999999999", "100000000000000000000", "1\n",
	};
	static const struct {
		const char *s;
		int64_t v;
	} good[] = {
		{"0", 0}, {"7", 7}, {"-1", -1}, {"10", 10}, {"-120", -120}, {"1000000000000000000", 1000000000000000000},
		{"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN}, {"-9223372036854775807", -INT64_MAX},
	};
	int64_t v = 42;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_false(num_i64(bytes_of(bad[i]), &v));
		assert_int_equal(v, 42);
	}
	assert_false(num_i64(BYTES_LIT("1\0"), &v));
	assert_false(num_i64((struct bytes){NULL, 0}, &v));
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(num_i64(bytes_of(good[i].s), &v));
		assert_int_equal(v, good[i].v);
	}
}

static void test_u64_reaches_the_whole_range(void **state)
{
	static const char *const bad[] = {
		"", "-1", "-0", "+1", "01", "18446744073709551616", "18446744073709551620", "18446744073709551700",
		"28446744073709551615", "99999999999999999999", "184467440737095516150",
	};
	uint64_t v = 42;

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(num_u64(bytes_of(bad[i]), &v));
	assert_true(num_u64(BYTES_LIT("18446744073709551615"), &v));
	assert_true(v == UINT64_MAX);
	assert_true(num_u64(BYTES_LIT("10000000000000000000"), &v));
	assert_true(v == UINT64_C(10000000000000000000));
	assert_true(num_u64(BYTES_LIT("0"), &v));
	assert_true(v == 0);
}

static void check_put(int64_t v)
{
	char got[NUM_I64_MAX + 1], want[32];
	size_t n = num_put_i64(got, v);
	int64_t back;

	assert_true(n <= NUM_I64_MAX);
	got[n] = '\0';
	snprintf(want, sizeof(want), "%" PRId64, v);
	assert_string_equal(got, want);
	assert_true(num_i64((struct bytes){got, n}, &back) && back == v);
	n = num_put_u64(got, (uint64_t)v);
	got[n] = '\0';
	snprintf(want, sizeof(want), "%" PRIu64, (uint64_t)v);
	assert_string_equal(got, want);
}

static void test_integers_are_written_as_printf_does_around_every_power(void **state)
{
	(void)state;
	for (int64_t v = -1100; v <= 1100; v++)
		check_put(v);
	for (int64_t p = 1000; p <= INT64_MAX / 10; p *= 10) {
		for (int64_t d = -2; d <= 2; d++) {
			check_put(p + d);
			check_put(-p + d);
			check_put(p * 9 + d);
		}
	}
	for (int bit = 0; bit < 64; bit++) {
		check_put((int64_t)(UINT64_C(1) << bit));
		check_put((int64_t)((UINT64_C(1) << bit) - 1));
		check_put((int64_t)(0 - (UINT64_C(1) << bit)));
	}
}

static const char *sum(const char *a, const char *b)
{
	static char out[NUM_LD_MAX + 1];
	long double x, y;

	if (!num_ld(bytes_of(a), &x) || !num_ld(bytes_of(b), &y))
		return "error";
	out[num_put_ld(out, x + y)] = '\0';
	return out;
}

static void test_long_doubles_add_as_incrbyfloat_does(void **state)
{
	static const struct {
		const char *a, *b, *want;
	} cases[] = {
		{"3.0", "0", "3"}, {"10.50", "0.1", "10.6"}, {"5.0e3", "2.0e2", "5200"}, {"0.1", "0.2", "0.3"},
		{"1", "-1", "0"}, {"-1", "1", "0"}, {"-0.00000000000000000001", "0", "0"},
		{"1e-17", "0", "0.00000000000000001"}, {"4.9e-18", "0", "0"}, {"5.1e-18", "0", "0.00000000000000001"},
		{"17179869184", "1.5", "17179869185.5"}, {"0x1.8p3", "0x10", "28"}, {".5", "5.", "5.5"}, {"-0", "0", "0"},
		{"-1.10", "0", "-1.1"}, {"100.00", "0", "100"}, {"+5", "0", "5"}, {"007", "0", "7"},
		{"infinity", "0", "inf"}, {"-inf", "0", "-inf"}, {"1e", "0", "error"}, {"", "0", "error"},
		{" 1", "0", "error"}, {"1 ", "0", "error"}, {"\t1", "0", "error"}, {"nan", "0", "error"},
		{"-nan", "0", "error"}, {"nan(12)", "0", "error"}, {"1e5000", "0", "error"}, {"-1e5000", "0", "error"},
		{"1e-5000", "0", "error"}, {"1,5", "0", "error"}, {"abc", "0", "error"}, {"1_0", "0", "error"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(sum(cases[i].a, cases[i].b), cases[i].want);
}

static void test_long_doubles_have_the_precision_of_x86(void **state)
{
#if LDBL_MANT_DIG == 64
	static const struct {
		const char *a, *b, *want;
	} cases[] = {
		{"9223372036854775807", "1", "9223372036854775808"},
		{"-9223372036854775808", "-0.5", "-9223372036854775808"},
		{"18446744073709551616", "0", "18446744073709551616"},
		{"1e30", "0", "1000000000000000000024696061952"},
		{"123456789.123456789", "0", "123456789.12345678899873747"},
		{"3.14159265358979323846", "0", "3.14159265358979324"},
		{"1e100", "0",
			"9999999999999999999669353532207342619498699019828496079271391541752018669482644324418977840117055488"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(sum(cases[i].a, cases[i].b), cases[i].want);
#else
	(void)state;
	skip();
#endif
}

static void test_the_largest_long_double_fits(void **state)
{
	char out[NUM_LD_MAX];
	size_t n = num_put_ld(out, -LDBL_MAX);

	(void)state;
	assert_int_equal(n, 1 + LDBL_MAX_10_EXP + 1);
	assert_memory_equal(out, "-1189731495357231765", 20);
}

static void test_doubles_are_read_and_written_as_scores(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"0.1", "0.10000000000000001"}, {"0.5", "0.5"}, {"-1.5", "-1.5"}, {"3", "3"}, {"-0", "-0"}, {"0", "0"},
		{"1e15", "1000000000000000"}, {"1e16", "10000000000000000"}, {"99999999999999999", "1e+17"},
		{"99999999999999984", "99999999999999984"}, {"-1e17", "-1e+17"}, {"1e21", "1e+21"},
		{"-123456789012", "-123456789012"}, {"1e-5", "1.0000000000000001e-05"}, {"0.0001", "0.0001"},
		{"0.00001234", "1.234e-05"}, {"123456.789", "123456.789"}, {"3.141592653589793", "3.1415926535897931"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"}, {"5e-324", "4.9406564584124654e-324"},
		{"inf", "inf"}, {"-inf", "-inf"}, {"+inf", "inf"}, {"Infinity", "inf"}, {"0x10", "16"}, {"5.", "5"},
		{"9007199254740993", "9007199254740992"}, {"0.30000000000000004", "0.30000000000000004"},
		{"-1e-7", "-9.9999999999999995e-08"},
	};
	static const char *const bad[] = {
		"", " 1", "1 ", "nan", "1e309", "-1e309", "1e-400", "x", "1x", "--1", "1e+", ".", "\v1",
	};
	char out[NUM_D_MAX + 1];
	double v = 42;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_true(num_d(bytes_of(cases[i].in), &v));
		out[num_put_d(out, v)] = '\0';
		assert_string_equal(out, cases[i].want);
	}
	v = 42;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(num_d(bytes_of(bad[i]), &v));
	assert_true(v == 42);
	assert_false(num_d(BYTES_LIT("1\0"), &v));
	assert_false(num_d(BYTES_LIT("1\0002"), &v));
	out[num_put_d(out, NAN)] = '\0';
	assert_string_equal(out, "nan");
}

static void test_numbers_longer_than_5_kib_are_refused(void **state)
{
	static char text[NUM_LD_MAX];
	long double ld;
	double d;

	(void)state;
	memset(text, '0', sizeof(text));
	text[sizeof(text) - 2] = '7';
	assert_true(num_ld((struct bytes){text, sizeof(text) - 1}, &ld));
	assert_true(ld == 7);
	assert_true(num_d((struct bytes){text, sizeof(text) - 1}, &d));
	assert_true(d == 7);
	assert_false(num_ld((struct bytes){text, sizeof(text)}, &ld));
	assert_false(num_d((struct bytes){text, sizeof(text)}, &d));
}

static void test_memory_sizes_have_units(void **state)
{
	static const struct {
		const char *s;
		int64_t v;
	} good[] = {
		{"0", 0}, {"7", 7}, {"7b", 7}, {"10k", 10000}, {"10kb", 10240}, {"10KB", 10240}, {"2m", 2000000},
		{"512mb", 536870912}, {"512Mb", 536870912}, {"1g", 1000000000}, {"1gb", 1073741824}, {"007Mb", 7340032},
		{"9223372036854775807", INT64_MAX}, {"8589934591gb", INT64_C(8589934591) << 30},
	};
	static const char *const bad[] = {
		"", "gb", "-1", "+1", " 1", "1 ", "1.5gb", "1tb", "1kib", "1 kb", "1bb", "9223372036854775808", "8589934592gb",
		"99999999999999999999", "0x10",
	};
	int64_t v = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(num_memory(bytes_of(good[i].s), &v));
		assert_int_equal(v, good[i].v);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(num_memory(bytes_of(bad[i]), &v));
}

static void test_human_sizes_have_two_decimals(void **state)
{
	static const struct {
		uint64_t n;
		const char *want;
	} cases[] = {
		{0, "0B"}, {1023, "1023B"}, {1024, "1.00K"}, {1536, "1.50K"}, {524288, "512.00K"}, {1048576, "1.00M"},
		{1572864, "1.50M"}, {1073741823, "1024.00M"}, {1073741824, "1.00G"}, {UINT64_C(1) << 40, "1.00T"},
		{UINT64_C(3) << 49, "1.50P"},
	};
	char out[33];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		out[num_put_human(out, cases[i].n)] = '\0';
		assert_string_equal(out, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_i64_takes_one_spelling_of_each_value),
		cmocka_unit_test(test_u64_reaches_the_whole_range),
		cmocka_unit_test(test_integers_are_written_as_printf_does_around_every_power),
		cmocka_unit_test(test_long_doubles_add_as_incrbyfloat_does),
		cmocka_unit_test(test_long_doubles_have_the_precision_of_x86),
		cmocka_unit_test(test_the_largest_long_double_fits),
		cmocka_unit_test(test_doubles_are_read_and_written_as_scores),
		cmocka_unit_test(test_numbers_longer_than_5_kib_are_refused),
		cmocka_unit_test(test_memory_sizes_have_units),
		cmocka_unit_test(test_human_sizes_have_two_decimals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
