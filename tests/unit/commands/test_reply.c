/* Sinks: what each call puts, deferred heads, taking back, and the standard errors. */
#include "fixture.h"

struct sink {
	struct buf out;
	struct reply_buf rb;
};

static void sink_open(struct sink *k, int resp)
{
	memset(k, 0, sizeof(*k));
	reply_buf_init(&k->rb, &k->out, resp);
}

static void assert_out(struct sink *k, const char *expected)
{
	assert_int_equal(k->out.n, strlen(expected));
	assert_memory_equal(k->out.p, expected, k->out.n);
	buf_free(&k->out);
}

static void put_one_of_each(struct reply *r)
{
	reply_status(r, "S");
	reply_i64(r, -7);
	reply_bulk(r, BYTES_LIT("a\0b"));
	reply_str(r, "");
	reply_null(r);
	r->ops->null_array(r);
	reply_array(r, 2);
	reply_map(r, 2);
	reply_set(r, 3);
	r->ops->push(r, 1);
	r->ops->dbl(r, 1.5);
	r->ops->boolean(r, true);
	r->ops->bignum(r, BYTES_LIT("123456789012345678901"));
	r->ops->verbatim(r, "txt", BYTES_LIT("v"));
}

static void test_resp2_has_no_new_types(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 2);
	put_one_of_each(&k.rb.r);
	static const char expected[] = "+S\r\n:-7\r\n$3\r\na\0b\r\n$0\r\n\r\n$-1\r\n*-1\r\n*2\r\n*4\r\n*3\r\n*1\r\n"
		"$3\r\n1.5\r\n:1\r\n$21\r\n123456789012345678901\r\n$1\r\nv\r\n";
	assert_int_equal(k.out.n, sizeof(expected) - 1);
	assert_memory_equal(k.out.p, expected, k.out.n);
	buf_free(&k.out);
}

static void test_resp3_uses_them(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 3);
	put_one_of_each(&k.rb.r);
	static const char expected[] = "+S\r\n:-7\r\n$3\r\na\0b\r\n$0\r\n\r\n_\r\n_\r\n*2\r\n%2\r\n~3\r\n>1\r\n"
		",1.5\r\n#t\r\n(123456789012345678901\r\n=5\r\ntxt:v\r\n";
	assert_int_equal(k.out.n, sizeof(expected) - 1);
	assert_memory_equal(k.out.p, expected, k.out.n);
	buf_free(&k.out);
}

static void test_close_puts_the_head_before_nested_elements(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 3);
	struct reply *r = &k.rb.r;
	reply_status(r, "before");
	size_t outer = r->ops->open(r);
	reply_str(r, "k");
	size_t inner = r->ops->open(r);
	for (int i = 0; i < 12; i++)
		reply_i64(r, i);
	r->ops->close(r, inner, '~', 12);
	r->ops->close(r, outer, '%', 1);
	size_t empty = r->ops->open(r);
	r->ops->close(r, empty, '*', 0);
	assert_out(&k, "+before\r\n%1\r\n$1\r\nk\r\n~12\r\n:0\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n"
		":9\r\n:10\r\n:11\r\n*0\r\n");
}

static void test_rewind_takes_back_to_the_mark(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 2);
	struct reply *r = &k.rb.r;
	reply_ok(r);
	size_t mark = r->ops->mark(r);
	reply_array(r, 2);
	reply_str(r, "gone");
	r->ops->rewind(r, mark);
	reply_i64(r, 1);
	assert_out(&k, "+OK\r\n:1\r\n");
}

static void test_errors_have_redis_words(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 2);
	struct reply *r = &k.rb.r;
	reply_wrongtype(r);
	reply_syntax(r);
	reply_not_integer(r);
	reply_no_key(r);
	reply_arity(r, BYTES_LIT("get"));
	reply_subcommand_error(r, "OBJECT", BYTES_LIT("zap"));
	assert_int_equal(r->errors, 6);
	assert_out(&k, "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"
		"-ERR syntax error\r\n"
		"-ERR value is not an integer or out of range\r\n"
		"-ERR no such key\r\n"
		"-ERR wrong number of arguments for 'get' command\r\n"
		"-ERR unknown subcommand or wrong number of arguments for 'zap'. Try OBJECT HELP.\r\n");
}

static void test_error_stays_one_line(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 2);
	reply_errorf(&k.rb.r, "ERR bad '%s'", "a\r\nb");
	assert_out(&k, "-ERR bad 'a  b'\r\n");
}

static void test_errors_are_counted_by_their_first_word(void **state)
{
	(void)state;
	struct sink k;
	sink_open(&k, 2);
	struct error_stats *st = mem_zalloc(sizeof(*st));
	k.rb.r.stats = st;
	reply_syntax(&k.rb.r);
	reply_not_integer(&k.rb.r);
	reply_wrongtype(&k.rb.r);
	reply_error(&k.rb.r, "noblank");
	reply_error(&k.rb.r, "AVERYLONGWORDTHATISLONGERTHANTHIRTYTWO bytes");
	assert_int_equal(st->total, 5);
	assert_int_equal(st->n, 2);
	assert_string_equal(st->kinds[0].prefix, "ERR");
	assert_int_equal(st->kinds[0].n, 4);
	assert_string_equal(st->kinds[1].prefix, "WRONGTYPE");
	assert_int_equal(st->kinds[1].n, 1);
	mem_free(st);
	buf_free(&k.out);
}

static void test_kinds_of_errors_are_bounded(void **state)
{
	(void)state;
	struct error_stats *st = mem_zalloc(sizeof(*st));
	for (int i = 0; i < ERROR_KINDS_MAX + 50; i++) {
		char text[32];
		int n = snprintf(text, sizeof(text), "E%d text", i);
		engine__count_error(st, (struct bytes){text, (size_t)n});
	}
	assert_int_equal(st->n, ERROR_KINDS_MAX);
	assert_int_equal(st->total, ERROR_KINDS_MAX + 50);
	assert_string_equal(st->kinds[ERROR_KINDS_MAX - 1].prefix, "E127");
	mem_free(st);
}

static void test_help_has_head_and_help_line(void **state)
{
	(void)state;
	static const char *const lines[] = {"ONE", "    First.", NULL};
	struct sink k;
	sink_open(&k, 3);
	reply_help(&k.rb.r, "THING", lines);
	assert_out(&k, "*5\r\n+THING <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n+ONE\r\n+    First.\r\n"
		"+HELP\r\n+    Print this text.\r\n");
}

static void test_value_is_copied_whole_and_in_part(void **state)
{
	(void)state;
	struct fix f;
	struct sink k;
	fix_open(&f);
	/* a rope of several chunks, and a number */
	char *big = mem_alloc(50000);
	for (int i = 0; i < 50000; i++)
		big[i] = (char)('a' + i % 23);
	struct bytes argv[3] = {BYTES_LIT("SET"), BYTES_LIT("k"), {big, 50000}};
	assert_string_equal(fix_runv(&f, &f.a, argv, 3), "+OK\r\n");
	struct ks_ref ref;
	struct tstr v;
	assert_true(ks_find(f.ks, 0, ks_key(f.ks, BYTES_LIT("k")), &ref));
	tstr_view(&ref, &v);
	assert_int_equal(v.len, 50000);
	sink_open(&k, 2);
	k.rb.r.ops->value(&k.rb.r, &ref, &v, 7000, 20000);
	assert_int_equal(k.out.n, 8 + 20000 + 2);
	assert_memory_equal(k.out.p, "$20000\r\n", 8);
	assert_memory_equal(k.out.p + 8, big + 7000, 20000);
	k.out.n = 0;
	k.rb.r.ops->value(&k.rb.r, &ref, &v, 50000, 0);
	assert_out(&k, "$0\r\n\r\n");
	mem_free(big);
	FIX_SAYS(&f, "SET n 12345", "+OK\r\n");
	assert_true(ks_find(f.ks, 0, ks_key(f.ks, BYTES_LIT("n")), &ref));
	tstr_view(&ref, &v);
	k.rb.r.ops->value(&k.rb.r, &ref, &v, 1, 3);
	assert_out(&k, "$3\r\n234\r\n");
	fix_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resp2_has_no_new_types),
		cmocka_unit_test(test_resp3_uses_them),
		cmocka_unit_test(test_close_puts_the_head_before_nested_elements),
		cmocka_unit_test(test_rewind_takes_back_to_the_mark),
		cmocka_unit_test(test_errors_have_redis_words),
		cmocka_unit_test(test_error_stays_one_line),
		cmocka_unit_test(test_errors_are_counted_by_their_first_word),
		cmocka_unit_test(test_kinds_of_errors_are_bounded),
		cmocka_unit_test(test_help_has_head_and_help_line),
		cmocka_unit_test(test_value_is_copied_whole_and_in_part),
	};
	return cmocka_run_group_tests_name("reply", tests, NULL, NULL);
}
