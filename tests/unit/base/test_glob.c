/* The expected answers are those of redis-server 7.0.15 (KEYS, and COMMAND LIST for patterns without case). */
#include "unit.h"

#include "base/glob.h"
#include "base/clock.h"

struct glob_case {
	const char *pattern, *text;
	bool want;
};

static void check_cases(const struct glob_case *c, size_t n, bool nocase)
{
	for (size_t i = 0; i < n; i++) {
		if (glob_match(bytes_of(c[i].pattern), bytes_of(c[i].text), nocase) == c[i].want)
			continue;
		print_error("pattern '%s', text '%s': want %d\n", c[i].pattern, c[i].text, c[i].want);
		fail();
	}
}

#define CHECK_CASES(cases, nocase) check_cases(cases, COUNT(cases), nocase)

static void test_literals_and_question_marks_take_one_byte(void **state)
{
	static const struct glob_case cases[] = {
		{"", "", true}, {"", "a", false}, {"a", "", false}, {"a", "a", true}, {"a", "A", false},
		{"ab", "a", false}, {"a", "ab", false}, {"?", "", false}, {"?", "x", true}, {"a?c", "abc", true},
		{"a?c", "ac", false}, {"??", "\xc3\xa4", true},
	};

	(void)state;
	CHECK_CASES(cases, false);
	assert_true(glob_match(BYTES_LIT("a\0?"), BYTES_LIT("a\0b"), false));
	assert_false(glob_match(BYTES_LIT("a\0b"), BYTES_LIT("a\0c"), false));
}

static void test_stars_take_any_run(void **state)
{
	static const struct glob_case cases[] = {
		{"*", "", true}, {"**", "", false}, {"*", "abc", true}, {"**", "a", true}, {"a*", "a", true},
		{"a**", "a", true}, {"*a", "ba", true}, {"*a", "ab", false}, {"h*llo", "heeeello", true},
		{"*ab*ab", "abxab", true}, {"*ab*ab", "ab", false}, {"a*b*c", "a-b-b-c", true}, {"*aab", "aaaab", true},
		{"*?", "", false}, {"?*?", "a", false}, {"?*?", "ab", true}, {"*.c*", "x.h.c", true},
	};

	(void)state;
	CHECK_CASES(cases, false);
}

static void test_sets_and_ranges(void **state)
{
	static const struct glob_case cases[] = {
		{"h[ae]llo", "hallo", true}, {"h[ae]llo", "hillo", false}, {"h[^e]llo", "hallo", true},
		{"h[^e]llo", "hello", false}, {"[a-c]", "b", true}, {"[a-c]", "d", false}, {"[c-a]", "b", true},
		{"[^a-c]", "b", false}, {"[a-]", "-", false}, {"[a-]", "^", true}, {"[-a]", "-", true},
		{"[]", "]", false}, {"[]a]", "a]", false},
		{"[^]", "a", true}, {"[^]a", "xa", true}, {"[\\]]", "]", true}, {"[\\-]", "-", true},
		{"[a\\", "\\", true},
		{"[a^]", "^", true}, {"[*?]", "*", true}, {"[*?]", "x", false}, {"[a-\\c]", "b", false},
		{"[a-\\]", "b", false}, {"[a", "a", true}, {"[", "[", false}, {"[^", "x", true}, {"[ab-", "-", true},
		{"[a-z", "q", true}, {"x[a]*", "xa", true}, {"[a][b]", "ab", true},
	};

	(void)state;
	CHECK_CASES(cases, false);
	/* Bytes compare signed, as on the machines that Redis is mostly run on. */
	assert_true(glob_match(BYTES_LIT("[\x80-\xff]"), BYTES_LIT("\xc3"), false));
	assert_false(glob_match(BYTES_LIT("[\x80-\xff]"), BYTES_LIT("a"), false));
}

static void test_backslash_takes_the_next_byte_as_it_is(void **state)
{
	static const struct glob_case cases[] = {
		{"\\*", "*", true}, {"\\*", "a", false}, {"\\?", "?", true}, {"\\[a]", "[a]", true},
		{"\\\\", "\\", true},
		{"a\\", "a\\", true}, {"\\a", "a", true}, {"*\\*", "ab*", true},
	};

	(void)state;
	CHECK_CASES(cases, false);
}

static void test_without_case_letters_are_alike_except_escaped_ones_in_sets(void **state)
{
	static const struct glob_case cases[] = {
		{"aBc", "AbC", true}, {"[a]", "A", true}, {"[A-C]", "b", true}, {"[a-c]", "B", true},
		{"\\A", "a", true},
		{"[\\A]", "a", false}, {"[\\A]", "A", true}, {"max*", "MAXMEMORY", true}, {"@", "`", false},
		/* The ends change places before they lose their case. */
		{"[P-_]", "q", false}, {"[_-P]", "q", false}, {"[g-Z]", "h", false}, {"[^P-_]", "q", true},
		{"[G-z]", "h", true},
	};

	(void)state;
	CHECK_CASES(cases, true);
}

static void test_hostile_patterns_end_soon(void **state)
{
	static char pattern[20001], text[100000];
	uint64_t begin;

	(void)state;
	for (size_t i = 0; i < sizeof(pattern) - 1; i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[sizeof(pattern) - 1] = 'b';
	memset(text, 'a', sizeof(text));
	begin = clock_mono_us();
	/* Exponential in old servers; here each star is left for good by the next one. */
	assert_false(glob_match((struct bytes){pattern, sizeof(pattern)}, (struct bytes){text, sizeof(text)}, false));
	text[sizeof(text) - 1] = 'b';
	assert_true(glob_match((struct bytes){pattern, sizeof(pattern)}, (struct bytes){text, sizeof(text)}, false));
	assert_in_range(clock_mono_us() - begin, 0, 2000000);
	/* An unending run of backslashes and brackets. */
	memset(pattern, '[', sizeof(pattern));
	assert_false(glob_match((struct bytes){pattern, sizeof(pattern)}, (struct bytes){text, sizeof(text)}, false));
	memset(pattern, '*', sizeof(pattern));
	assert_true(glob_match((struct bytes){pattern, sizeof(pattern)}, (struct bytes){text, sizeof(text)}, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_literals_and_question_marks_take_one_byte),
		cmocka_unit_test(test_stars_take_any_run),
		cmocka_unit_test(test_sets_and_ranges),
		cmocka_unit_test(test_backslash_takes_the_next_byte_as_it_is),
		cmocka_unit_test(test_without_case_letters_are_alike_except_escaped_ones_in_sets),
		cmocka_unit_test(test_hostile_patterns_end_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
