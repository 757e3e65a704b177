#include "unit/base/unit.h"

#include "base/buf.h"
#include "proto/resp.h"

#include <math.h>

static struct buf out;

/* Compares what was written since the last time, and forgets it. */
#define assert_out(want) (assert_bytes(buf_bytes(&out), BYTES_LIT(want)), out.n = 0)

static int teardown(void **state)
{
	(void)state;
	buf_free(&out);
	return 0;
}

static void test_statuses_and_errors_are_one_line(void **state)
{
	(void)state;
	resp_put_status(&out, BYTES_LIT("OK"));
	assert_out("+OK\r\n");
	resp_put_status(&out, (struct bytes){NULL, 0});
	assert_out("+\r\n");
	resp_put_error(&out, BYTES_LIT("ERR unknown command 'a\r\nb'"));
	assert_out("-ERR unknown command 'a  b'\r\n");
}

static void test_integers_of_any_size(void **state)
{
	(void)state;
	resp_put_i64(&out, 0);
	resp_put_i64(&out, 9);
	resp_put_i64(&out, 10);
	resp_put_i64(&out, -1);
	resp_put_i64(&out, 1234567);
	assert_out(":0\r\n:9\r\n:10\r\n:-1\r\n:1234567\r\n");
	resp_put_i64(&out, INT64_MAX);
	resp_put_i64(&out, INT64_MIN);
	assert_out(":9223372036854775807\r\n:-9223372036854775808\r\n");
}

static void test_bulks_carry_any_bytes(void **state)
{
	(void)state;
	resp_put_bulk(&out, BYTES_LIT("a\r\n\0b"));
	assert_out("$5\r\na\r\n\0b\r\n");
	resp_put_bulk(&out, (struct bytes){NULL, 0});
	assert_out("$0\r\n\r\n");
	resp_put_bulk(&out, BYTES_LIT("0123456789"));
	assert_out("$10\r\n0123456789\r\n");
	resp_put_bulk_head(&out, 536870912);
	assert_out("$536870912\r\n");
}

static void test_aggregates_in_both_protocols(void **state)
{
	(void)state;
	resp_put_array(&out, 0);
	resp_put_array(&out, 12);
	assert_out("*0\r\n*12\r\n");
	resp_put_map(&out, 7, 2);
	resp_put_map(&out, 7, 3);
	assert_out("*14\r\n%7\r\n");
	resp_put_set(&out, 3, 2);
	resp_put_set(&out, 3, 3);
	assert_out("*3\r\n~3\r\n");
	resp_put_push(&out, 3, 2);
	resp_put_push(&out, 3, 3);
	assert_out("*3\r\n>3\r\n");
	resp_put_attr(&out, 1);
	assert_out("|1\r\n");
}

static void test_nulls_in_both_protocols(void **state)
{
	(void)state;
	resp_put_null(&out, 2);
	resp_put_null(&out, 3);
	assert_out("$-1\r\n_\r\n");
	resp_put_null_array(&out, 2);
	resp_put_null_array(&out, 3);
	assert_out("*-1\r\n_\r\n");
}

static void test_doubles_in_both_protocols(void **state)
{
	(void)state;
	resp_put_double(&out, 0.1, 2);
	resp_put_double(&out, 0.1, 3);
	assert_out("$19\r\n0.10000000000000001\r\n,0.10000000000000001\r\n");
	resp_put_double(&out, 3, 2);
	resp_put_double(&out, -3, 3);
	assert_out("$1\r\n3\r\n,-3\r\n");
	resp_put_double(&out, INFINITY, 2);
	resp_put_double(&out, -INFINITY, 3);
	resp_put_double(&out, NAN, 3);
	assert_out("$3\r\ninf\r\n,-inf\r\n,nan\r\n");
}

static void test_the_other_types_of_resp3_and_what_resp2_gets_instead(void **state)
{
	(void)state;
	resp_put_bool(&out, true, 2);
	resp_put_bool(&out, false, 2);
	resp_put_bool(&out, true, 3);
	resp_put_bool(&out, false, 3);
	assert_out(":1\r\n:0\r\n#t\r\n#f\r\n");
	resp_put_bignum(&out, BYTES_LIT("1234567999999999999999999999999999999"), 2);
	assert_out("$37\r\n1234567999999999999999999999999999999\r\n");
	resp_put_bignum(&out, BYTES_LIT("1234567999999999999999999999999999999"), 3);
	assert_out("(1234567999999999999999999999999999999\r\n");
	resp_put_verbatim(&out, "txt", BYTES_LIT("This is a verbatim\nstring"), 2);
	assert_out("$25\r\nThis is a verbatim\nstring\r\n");
	resp_put_verbatim(&out, "txt", BYTES_LIT("This is a verbatim\nstring"), 3);
	assert_out("=29\r\ntxt:This is a verbatim\nstring\r\n");
}

static void test_replies_of_any_length_grow_the_buffer_right(void **state)
{
	static char value[3000], head[16];

	(void)state;
	memset(value, 'v', sizeof(value));
	for (size_t n = 0; n < sizeof(value); n++) {
		/* Each length with an empty buffer and behind other replies. */
		for (size_t before = 0; before < 40; before += 13) {
			struct buf b = {0};
			size_t h = (size_t)snprintf(head, sizeof(head), "$%zu\r\n", n);

			for (size_t i = 0; i < before; i++)
				resp_put_status(&b, BYTES_LIT("OK"));
			resp_put_bulk(&b, (struct bytes){value, n});
			assert_int_equal(b.n, before * 5 + h + n + 2);
			assert_memory_equal(b.p + before * 5, head, h);
			assert_memory_equal(b.p + b.n - 2, "\r\n", 2);
			assert_true(n == 0 || (b.p[b.n - 3] == 'v' && b.p[before * 5 + h] == 'v'));
			buf_free(&b);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_statuses_and_errors_are_one_line),
		cmocka_unit_test(test_integers_of_any_size),
		cmocka_unit_test(test_bulks_carry_any_bytes),
		cmocka_unit_test(test_aggregates_in_both_protocols),
		cmocka_unit_test(test_nulls_in_both_protocols),
		cmocka_unit_test(test_doubles_in_both_protocols),
		cmocka_unit_test(test_the_other_types_of_resp3_and_what_resp2_gets_instead),
		cmocka_unit_test(test_replies_of_any_length_grow_the_buffer_right),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
