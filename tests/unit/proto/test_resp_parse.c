/* The parser. Error texts and what is accepted were compared with redis-server 7.0.15 on the same input. */
#include "unit/base/unit.h"

#include "base/clock.h"
#include "base/mem.h"
#include "proto/resp.h"

static const struct resp_limits open_limits = {RESP_MAX_BULK, INT32_MAX, RESP_MAX_INLINE};
static const struct resp_limits unauth_limits = {RESP_UNAUTH_BULK, RESP_UNAUTH_ARGS, RESP_MAX_INLINE};

/* Feeds the input in pieces: all of it up to each of the cuts, then the whole. After each complete command the
 * bytes move to another place, as they do when a connection's buffer is shifted. Writes what came out as text:
 * "3(SET,k,v)" a command, "-" an empty one, "!text" an error, "..." input that ends inside a command. */
static void feed(struct bytes in, const struct resp_limits *lim, const size_t *cuts, size_t ncuts, struct buf *show)
{
	struct resp_parser ps = {0};
	size_t at = 0;
	enum resp_status st = RESP_MORE;

	for (size_t c = 0; c <= ncuts && st != RESP_ERROR; c++) {
		size_t end = c < ncuts ? cuts[c] : in.n;
		/* A copy of exactly these bytes: reading past them is seen by the address sanitizer. */
		size_t begin = at;
		char *p = mem_alloc(end - begin);

		if (end > begin)
			memcpy(p, in.p + begin, end - begin);
		for (;;) {
			st = resp_parse(&ps, lim, p + (at - begin), end - at);
			if (st == RESP_MORE || st == RESP_ERROR)
				break;
			assert_in_range(ps.used, 1, end - at);
			at += ps.used;
			if (st == RESP_EMPTY) {
				buf_adds(show, "-");
				continue;
			}
			buf_addf(show, "%u(", ps.argc);
			for (uint32_t i = 0; i < ps.argc; i++) {
				buf_adds(show, i ? "," : "");
				buf_add(show, ps.argv[i].p, ps.argv[i].n);
			}
			buf_adds(show, ")");
		}
		if (st == RESP_MORE && ps.need)
			assert_true(ps.need > end - at);
		mem_free(p);
	}
	if (st == RESP_ERROR)
		buf_addf(show, "!%s", ps.error);
	else if (at < in.n)
		buf_adds(show, "...");
	resp_idle(&ps);
	assert_null(ps.argv);
}

static void check(struct bytes in, const struct resp_limits *lim, struct bytes want)
{
	struct buf show = {0};
	size_t every[256];

	feed(in, lim, NULL, 0, &show);
	assert_bytes(buf_bytes(&show), want);
	if (in.n > COUNT(every)) {
		buf_free(&show);
		return;
	}
	/* One cut, two cuts, and a cut at every byte. */
	for (size_t a = 0; a <= in.n; a++) {
		for (size_t b = a; b <= in.n; b++) {
			show.n = 0;
			feed(in, lim, (size_t[]){a, b}, 2, &show);
			assert_bytes(buf_bytes(&show), want);
		}
		if (a < in.n)
			every[a] = a;
	}
	show.n = 0;
	feed(in, lim, every, in.n, &show);
	assert_bytes(buf_bytes(&show), want);
	buf_free(&show);
}

#define assert_parsed(in, want) check(BYTES_LIT(in), &open_limits, BYTES_LIT(want))
#define assert_parsed_unauth(in, want) check(BYTES_LIT(in), &unauth_limits, BYTES_LIT(want))

static void test_commands_come_out_however_they_are_cut(void **state)
{
	(void)state;
	assert_parsed("", "");
	assert_parsed("*1\r\n$4\r\nPING\r\n", "1(PING)");
	assert_parsed("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n", "3(SET,k,)");
	assert_parsed("*2\r\n$3\r\nGET\r\n$12\r\nkey:00000001\r\n*1\r\n$4\r\nPING\r\n", "2(GET,key:00000001)1(PING)");
	assert_parsed("*2\r\n$4\r\nECHO\r\n$8\r\n\r\n$4\r\n*1\r\n", "2(ECHO,\r\n$4\r\n*1)");
	assert_parsed("*1\r\n$3\r\na\0b\r\n", "1(a\0b)");
	assert_parsed("*12\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n$1\r\ng\r\n$1\r\nh\r\n"
		"$1\r\ni\r\n$1\r\nj\r\n$1\r\nk\r\n$1\r\nl\r\n", "12(a,b,c,d,e,f,g,h,i,j,k,l)");
	assert_parsed("*20\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n$1\r\ng\r\n$1\r\nh\r\n"
		"$1\r\ni\r\n$1\r\nj\r\n$1\r\nk\r\n$1\r\nl\r\n$1\r\nm\r\n$1\r\nn\r\n$1\r\no\r\n$1\r\np\r\n$1\r\nq\r\n"
		"$1\r\nr\r\n$1\r\ns\r\n$1\r\nt\r\n", "20(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t)");
}

static void test_an_unfinished_command_waits(void **state)
{
	(void)state;
	assert_parsed("*", "...");
	assert_parsed("*1\r", "...");
	assert_parsed("*1\r\n", "...");
	assert_parsed("*1\r\n$", "...");
	assert_parsed("*1\r\n$4\r", "...");
	assert_parsed("*1\r\n$4\r\nPIN", "...");
	assert_parsed("*1\r\n$4\r\nPING", "...");
	assert_parsed("*1\r\n$4\r\nPING\r", "...");
	assert_parsed("*1\r\n$4\r\nPING\r\n*2\r\n$1\r\na\r\n", "1(PING)...");
	assert_parsed("PING", "...");
	assert_parsed("PING\r", "...");
	/* The mark of a length is looked at when its line is there. */
	assert_parsed("*1\r\nfoo", "...");
}

static void test_empty_commands_are_dropped(void **state)
{
	(void)state;
	assert_parsed("*0\r\n", "-");
	assert_parsed("*-1\r\n*-7\r\n*1\r\n$1\r\na\r\n", "--1(a)");
	assert_parsed("\r\n\n  \r\nPING\r\n", "---1(PING)");
	assert_parsed("*0\r\n\n*0\r\nA\n", "---1(A)");
}

static void test_inline_commands(void **state)
{
	(void)state;
	assert_parsed("PING\r\n", "1(PING)");
	assert_parsed("PING\nECHO  'a b' \"\\x41\"\r\n", "1(PING)3(ECHO,a b,A)");
	assert_parsed("$4\r\n", "1($4)");
	assert_parsed("a\r\r\n", "1(a)");
	assert_parsed("SET k v\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nGET k\r\n", "3(SET,k,v)2(GET,k)2(GET,k)");
	assert_parsed("SET \"a\r\n", "!Protocol error: unbalanced quotes in request");
	assert_parsed("PING\r\n'a'b\n", "1(PING)!Protocol error: unbalanced quotes in request");
}

static void test_bad_counts_are_refused(void **state)
{
	(void)state;
	assert_parsed("*\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*x\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*01\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*+1\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("* 1\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*-\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*1\n\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*2147483648\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*99999999999999999999999999\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed("*2147483647\r\n$1\r\na\r\n", "...");
	assert_parsed("*1\r\n$1\r\na\r\n*z\r\n", "1(a)!Protocol error: invalid multibulk length");
}

static void test_bad_bulk_lengths_are_refused(void **state)
{
	(void)state;
	assert_parsed("*1\r\n$\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$-1\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$x\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$04\r\nPING\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$00\r\n\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$1x\r\na\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$536870913\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$9223372036854775808\r\n", "!Protocol error: invalid bulk length");
	assert_parsed("*1\r\n$536870912\r\nabc", "...");
	assert_parsed("*2\r\n$1\r\na\r\n$9999a\r\n", "!Protocol error: invalid bulk length");
}

static void test_a_wrong_mark_is_named(void **state)
{
	(void)state;
	assert_parsed("*1\r\nfoo\r\n", "!Protocol error: expected '$', got 'f'");
	assert_parsed("*2\r\n$1\r\na\r\n:1\r\n\r\n", "!Protocol error: expected '$', got ':'");
	assert_parsed("*1\r\n\r\nxxxxxxx", "!Protocol error: expected '$', got '\r'");
	/* One byte too many in a bulk shifts everything behind it. */
	assert_parsed("*2\r\n$3\r\nGETT\r\n$1\r\nk\r\n", "!Protocol error: expected '$', got '\n'");
}

static void test_the_bytes_behind_a_length_or_bulk_are_not_compared(void **state)
{
	(void)state;
	assert_parsed("*1\rX$4\rYPINGZZ*1\r\n$1\r\na\r\n", "1(PING)1(a)");
}

static void test_limits_before_authentication(void **state)
{
	(void)state;
	assert_parsed_unauth("*11\r\n", "!Protocol error: unauthenticated multibulk length");
	assert_parsed_unauth("*2147483648\r\n", "!Protocol error: invalid multibulk length");
	assert_parsed_unauth("*10\r\n$4\r\nAUTH\r\n", "...");
	assert_parsed_unauth("*1\r\n$16385\r\n", "!Protocol error: unauthenticated bulk length");
	assert_parsed_unauth("*1\r\n$16384\r\nab", "...");
	assert_parsed_unauth("*1\r\n$536870913\r\n", "!Protocol error: invalid bulk length");
	assert_parsed_unauth("*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n", "2(AUTH,p)");
}

static void test_a_lower_proto_max_bulk_len_holds(void **state)
{
	const struct resp_limits lim = {5, INT32_MAX, RESP_MAX_INLINE};

	(void)state;
	check(BYTES_LIT("*2\r\n$5\r\nabcde\r\n$6\r\nabcdef\r\n"), &lim,
		BYTES_LIT("!Protocol error: invalid bulk length"));
	check(BYTES_LIT("*2\r\n$5\r\nabcde\r\n$5\r\nabcdf\r\n"), &lim, BYTES_LIT("2(abcde,abcdf)"));
}

/* head, then n times c, then tail: as a whole and in pieces of 16,000 bytes. */
static void check_long(const char *head, char c, size_t n, const char *tail, const char *want)
{
	struct buf in = {0}, show = {0};
	size_t cuts[8], k = 0;

	buf_adds(&in, head);
	memset(buf_room(&in, n), c, n);
	in.n += n;
	buf_adds(&in, tail);
	feed(buf_bytes(&in), &open_limits, NULL, 0, &show);
	assert_bytes(buf_bytes(&show), bytes_of(want));
	for (size_t at = 16000; at < in.n && k < COUNT(cuts); at += 16000)
		cuts[k++] = at;
	show.n = 0;
	feed(buf_bytes(&in), &open_limits, cuts, k, &show);
	assert_bytes(buf_bytes(&show), bytes_of(want));
	buf_free(&in);
	buf_free(&show);
}

static void test_lines_without_end_are_refused_at_64_kib(void **state)
{
	(void)state;
	check_long("*", '1', 65535, "", "...");
	check_long("*", '1', 65536, "", "!Protocol error: too big mbulk count string");
	check_long("*", '1', 65535, "\r\n", "!Protocol error: invalid multibulk length");
	check_long("*", '1', 65536, "\r\n", "!Protocol error: too big mbulk count string");
	check_long("*1\r\n$", '1', 65535, "", "...");
	check_long("*1\r\n$", '1', 65536, "", "!Protocol error: too big bulk count string");
	check_long("*1\r\n$", '1', 65535, "\r\n", "!Protocol error: invalid bulk length");
	check_long("*1\r\n$", '1', 65536, "\r\n", "!Protocol error: too big bulk count string");
	check_long("", ' ', 65536, "", "...");
	check_long("", ' ', 65537, "", "!Protocol error: too big inline request");
	check_long("", ' ', 65536, "\n", "-");
	check_long("", ' ', 65537, "\n", "!Protocol error: too big inline request");
}

static void test_need_tells_where_a_bulk_ends(void **state)
{
	const char *in = "*2\r\n$3\r\nSET\r\n$100\r\nabc";
	struct resp_parser ps = {0};

	(void)state;
	assert_int_equal(resp_parse(&ps, &open_limits, in, 10), RESP_MORE);
	assert_int_equal(ps.need, 8 + 3 + 2);
	assert_int_equal(resp_parse(&ps, &open_limits, in, 13), RESP_MORE);
	assert_int_equal(ps.need, 0);
	assert_int_equal(resp_parse(&ps, &open_limits, in, 16), RESP_MORE);
	assert_int_equal(ps.need, 0);
	assert_int_equal(resp_parse(&ps, &open_limits, in, 19), RESP_MORE);
	assert_int_equal(ps.need, 19 + 100 + 2);
	assert_int_equal(resp_parse(&ps, &open_limits, in, 22), RESP_MORE);
	assert_int_equal(ps.need, 19 + 100 + 2);
	resp_idle(&ps);
}

static void test_arguments_are_slices_of_the_input(void **state)
{
	const char *in = "*2\r\n$3\r\nGET\r\n$5\r\nkey:1\r\n";
	struct resp_parser ps = {0};
	struct bytes *argv;

	(void)state;
	assert_int_equal(resp_parse(&ps, &open_limits, in, strlen(in)), RESP_COMMAND);
	assert_ptr_equal(ps.argv[0].p, in + 8);
	assert_ptr_equal(ps.argv[1].p, in + 17);
	assert_false(ps.inline_cmd);
	argv = ps.argv;
	/* The array is kept for the next command. */
	assert_int_equal(resp_parse(&ps, &open_limits, in, strlen(in)), RESP_COMMAND);
	assert_ptr_equal(ps.argv, argv);
	assert_int_equal(resp_parse(&ps, &open_limits, "GET k\r\n", 7), RESP_COMMAND);
	assert_true(ps.inline_cmd);
	resp_idle(&ps);
	assert_int_equal(resp_parse(&ps, &open_limits, in, strlen(in)), RESP_COMMAND);
	assert_int_equal(ps.argc, 2);
	resp_idle(&ps);
}

static void test_bulk_lengths_of_every_number_of_digits(void **state)
{
	static const size_t sizes[] = {0, 1, 9, 10, 11, 99, 100, 999, 1000, 9999, 10000, 10001, 99999, 100000, 1234567};
	struct buf in = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct resp_parser ps = {0};

		in.n = 0;
		buf_addf(&in, "*2\r\n$%zu\r\n", sizes[i]);
		memset(buf_room(&in, sizes[i]), 'x', sizes[i]);
		in.n += sizes[i];
		buf_addf(&in, "\r\n$3\r\nend\r\n");
		assert_int_equal(resp_parse(&ps, &open_limits, in.p, in.n), RESP_COMMAND);
		assert_int_equal(ps.used, in.n);
		assert_int_equal(ps.argv[0].n, sizes[i]);
		assert_bytes(ps.argv[1], BYTES_LIT("end"));
		resp_idle(&ps);
	}
	buf_free(&in);
}

/* Time to parse an MSET of n arguments that arrives in pieces, in microseconds. */
static uint64_t time_in_pieces(uint32_t n, size_t piece)
{
	struct resp_parser ps = {0};
	struct buf in = {0};
	enum resp_status st = RESP_MORE;
	uint64_t begin;

	buf_addf(&in, "*%u\r\n", n);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&in, "$9\r\n%09u\r\n", i);
	begin = clock_mono_us();
	for (size_t at = piece; st == RESP_MORE; at += piece)
		st = resp_parse(&ps, &open_limits, in.p, at < in.n ? at : in.n);
	begin = clock_mono_us() - begin;
	assert_int_equal(st, RESP_COMMAND);
	assert_int_equal(ps.argc, n);
	assert_int_equal(ps.used, in.n);
	assert_bytes(ps.argv[0], BYTES_LIT("000000000"));
	assert_ptr_equal(ps.argv[n - 1].p, in.p + in.n - 11);
	resp_idle(&ps);
	buf_free(&in);
	return begin;
}

static void test_a_command_in_many_pieces_costs_linear_time(void **state)
{
	(void)state;
	/* A million arguments in reads of 16 KiB take some 20 ms; going over all of them at each read would take
	 * ten seconds. The same for single bytes. */
	assert_in_range(time_in_pieces(1000000, 16384), 0, 2000000);
	assert_in_range(time_in_pieces(100000, 1), 0, 2000000);
}

static void test_a_line_that_arrives_byte_by_byte_is_looked_at_once(void **state)
{
	static char line[65000];
	struct resp_parser ps = {0};

	(void)state;
	memset(line, 'a', sizeof(line));
	for (size_t n = 1; n <= sizeof(line); n++) {
		assert_int_equal(resp_parse(&ps, &open_limits, line, n), RESP_MORE);
		assert_int_equal(ps.pos, n);
	}
	/* What was looked at is not looked at again: an end put there afterwards is not seen. */
	line[100] = '\n';
	assert_int_equal(resp_parse(&ps, &open_limits, line, sizeof(line)), RESP_MORE);
	resp_idle(&ps);
}

static void test_an_announced_count_is_not_believed_with_memory(void **state)
{
	const char *in = "*2147483647\r\n$1\r\na\r\n$1\r\nb\r\n";
	struct resp_parser ps = {0};

	(void)state;
	assert_int_equal(resp_parse(&ps, &open_limits, in, strlen(in)), RESP_MORE);
	assert_int_equal(ps.argc, 2);
	assert_true(ps.cap <= 64);
	resp_idle(&ps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_commands_come_out_however_they_are_cut),
		cmocka_unit_test(test_an_unfinished_command_waits),
		cmocka_unit_test(test_empty_commands_are_dropped),
		cmocka_unit_test(test_inline_commands),
		cmocka_unit_test(test_bad_counts_are_refused),
		cmocka_unit_test(test_bad_bulk_lengths_are_refused),
		cmocka_unit_test(test_a_wrong_mark_is_named),
		cmocka_unit_test(test_the_bytes_behind_a_length_or_bulk_are_not_compared),
		cmocka_unit_test(test_limits_before_authentication),
		cmocka_unit_test(test_a_lower_proto_max_bulk_len_holds),
		cmocka_unit_test(test_lines_without_end_are_refused_at_64_kib),
		cmocka_unit_test(test_need_tells_where_a_bulk_ends),
		cmocka_unit_test(test_arguments_are_slices_of_the_input),
		cmocka_unit_test(test_bulk_lengths_of_every_number_of_digits),
		cmocka_unit_test(test_a_command_in_many_pieces_costs_linear_time),
		cmocka_unit_test(test_a_line_that_arrives_byte_by_byte_is_looked_at_once),
		cmocka_unit_test(test_an_announced_count_is_not_believed_with_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
