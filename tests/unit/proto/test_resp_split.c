/* What these lines split into was compared with redis-server 7.0.15, sent to it as inline commands. */
#include "unit/base/unit.h"

#include "base/mem.h"
#include "proto/resp.h"

/* The arguments as "count|first|second|"; "unbalanced" when refused. */
static const char *split(struct bytes line)
{
	static char text[512];
	struct buf store = {0}, show = {0};
	struct bytes *argv = NULL;
	size_t argc = 0;

	if (!resp_split_line(line, &store, &argv, &argc)) {
		buf_free(&store);
		return "unbalanced";
	}
	buf_addf(&show, "%zu|", argc);
	for (size_t i = 0; i < argc; i++) {
		buf_add(&show, argv[i].p, argv[i].n);
		buf_adds(&show, "|");
	}
	assert_true(show.n < sizeof(text));
	memcpy(text, show.p, show.n);
	text[show.n] = '\0';
	assert_true((argv == NULL) == (argc == 0));
	mem_free(argv);
	buf_free(&store);
	buf_free(&show);
	return text;
}

#define assert_split(line, want) assert_string_equal(split(BYTES_LIT(line)), want)

static void test_words_are_parted_by_any_space(void **state)
{
	(void)state;
	assert_split("", "0|");
	assert_split(" \t \r", "0|");
	assert_split("PING", "1|PING|");
	assert_split("  SET  k\tv  ", "3|SET|k|v|");
	assert_split("a\rb", "2|a|b|");
	/* Vertical tab and form feed lead a word but do not end one. */
	assert_split("\va\vb \fc", "2|a\vb|c|");
}

static void test_double_quotes_have_escapes(void **state)
{
	(void)state;
	assert_split("\"a b\" c", "2|a b|c|");
	assert_split("\"\"", "1||");
	assert_split("x\"y z\"", "1|xy z|");
	assert_split("\"\\n\\r\\t\\b\\a\\q\\\\\\\"\"", "1|\n\r\t\b\aq\\\"|");
	assert_split("\"\\x41\\x4a\\x4Az\"", "1|AJJz|");
	assert_split("\"\\x4g\\x\"", "1|x4gx|");
	assert_split("\"it's\"", "1|it's|");
}

static void test_single_quotes_escape_only_themselves(void **state)
{
	(void)state;
	assert_split("'a \"b\"'", "1|a \"b\"|");
	assert_split("'it\\'s'", "1|it's|");
	assert_split("'\\x41\\n\\\\n'", "1|\\x41\\n\\\\n|");
	assert_split("''", "1||");
}

static void test_unbalanced_quotes_are_refused(void **state)
{
	(void)state;
	assert_split("\"", "unbalanced");
	assert_split("\"abc", "unbalanced");
	assert_split("'abc", "unbalanced");
	assert_split("\"a\"b", "unbalanced");
	assert_split("'a'b", "unbalanced");
	assert_split("\"a\"'b'", "unbalanced");
	assert_split("\"\\\"", "unbalanced");
	assert_split("'\\'", "unbalanced");
	assert_split("ok \"\\x4", "unbalanced");
	assert_split("\"\\", "unbalanced");
}

static void test_bytes_of_any_value_pass(void **state)
{
	struct buf store = {0};
	struct bytes *argv;
	size_t argc;

	(void)state;
	assert_true(resp_split_line(BYTES_LIT("\"\\x00\\xff\" a\0b"), &store, &argv, &argc));
	assert_int_equal(argc, 2);
	assert_bytes(argv[0], BYTES_LIT("\0\xff"));
	assert_bytes(argv[1], BYTES_LIT("a\0b"));
	mem_free(argv);
	buf_free(&store);
}

static void test_arguments_are_appended_to_the_store(void **state)
{
	struct buf store = {0};
	struct bytes *argv;
	size_t argc;

	(void)state;
	buf_adds(&store, "before");
	assert_true(resp_split_line(BYTES_LIT("a 'b c'"), &store, &argv, &argc));
	assert_bytes(buf_bytes(&store), BYTES_LIT("beforeab c"));
	assert_ptr_equal(argv[1].p, store.p + 7);
	mem_free(argv);
	assert_false(resp_split_line(BYTES_LIT("a 'b c"), &store, &argv, &argc));
	assert_bytes(buf_bytes(&store), BYTES_LIT("beforeab c"));
	buf_free(&store);
}

static void test_many_words(void **state)
{
	struct buf line = {0}, store = {0};
	struct bytes *argv;
	size_t argc;

	(void)state;
	for (int i = 0; i < 5000; i++)
		buf_addf(&line, "%d ", i);
	assert_true(resp_split_line(buf_bytes(&line), &store, &argv, &argc));
	assert_int_equal(argc, 5000);
	assert_bytes(argv[0], BYTES_LIT("0"));
	assert_bytes(argv[4999], BYTES_LIT("4999"));
	mem_free(argv);
	buf_free(&line);
	buf_free(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_parted_by_any_space),
		cmocka_unit_test(test_double_quotes_have_escapes),
		cmocka_unit_test(test_single_quotes_escape_only_themselves),
		cmocka_unit_test(test_unbalanced_quotes_are_refused),
		cmocka_unit_test(test_bytes_of_any_value_pass),
		cmocka_unit_test(test_arguments_are_appended_to_the_store),
		cmocka_unit_test(test_many_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
