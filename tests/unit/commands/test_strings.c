/* String commands: exact answers, errors in Redis's order, deadlines, events, long values. */
#include "events.h"

/* ---- SET and GET ---- */

static void test_set_conditions_and_get(void **state)
{
	struct seen *s = *state;

	SAYS(s, "get a", NIL);
	SAYS(s, "set a 1", OK);
	SAYS(s, "get a", "$1\r\n1\r\n");
	SAYS(s, "set a 2 nx", NIL);
	SAYS(s, "set a 2 XX", OK);
	SAYS(s, "set b 2 xx", NIL);
	SAYS(s, "exists b", ":0\r\n");
	SAYS(s, "set a 3 get", "$1\r\n2\r\n");
	SAYS(s, "set a 4 nx get", "$1\r\n3\r\n");
	SAYS(s, "get a", "$1\r\n3\r\n");
	SAYS(s, "set c 4 nx get", NIL);
	SAYS(s, "get c", "$1\r\n4\r\n");
	SAYS(s, "set d 4 xx get", NIL);
	SAYS(s, "exists d", ":0\r\n");
	SAYS_ARGS(s, OK, B("set"), B("bin\0key"), B("a\0b"));
	SAYS_ARGS(s, "$3\r\na", B("get"), B("bin\0key"));
	assert_memory_equal(s->f.out.p, "$3\r\na\0b\r\n", 9);
	SAYS_ARGS(s, OK, B("set"), B(""), B(""));
	SAYS_ARGS(s, "$0\r\n\r\n", B("get"), B(""));
}

static void test_set_rejects_bad_options(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a 1 nx xx", ERR_SYNTAX);
	SAYS(s, "set a 1 ex", ERR_SYNTAX);
	SAYS(s, "set a 1 ex 5 px 5", ERR_SYNTAX);
	SAYS(s, "set a 1 ex 5 keepttl", ERR_SYNTAX);
	SAYS(s, "set a 1 keepttl ex 5", ERR_SYNTAX);
	SAYS(s, "set a 1 persist", ERR_SYNTAX);
	SAYS(s, "set a 1 bogus", ERR_SYNTAX);
	SAYS(s, "set a 1 ex x bogus", ERR_SYNTAX);
	SAYS(s, "set a 1 ex x", ERR_INT);
	SAYS(s, "set a 1 ex 0", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "set a 1 px -1", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "set a 1 ex 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "set a 1 px 9223372036854775807", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "set a 1 exat 9223372036854776", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "setex a 0 x", "-ERR invalid expire time in 'setex' command\r\n");
	SAYS(s, "psetex a q x", ERR_INT);
	SAYS(s, "exists a", ":0\r\n");
	SAYS(s, "set a 1 pxat 9223372036854775806", OK);
	SAYS(s, "pexpiretime a", ":9223372036854775806\r\n");
	SAYS(s, "expiretime a", ":9223372036854776\r\n");
}

static void test_set_deadlines(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a 1 ex 10", OK);
	SAYS(s, "pttl a", ":10000\r\n");
	SAYS(s, "set a 2 keepttl", OK);
	SAYS(s, "pttl a", ":10000\r\n");
	SAYS(s, "set a 3", OK);
	SAYS(s, "pttl a", ":-1\r\n");
	SAYS(s, "set b 1 keepttl", OK);
	SAYS(s, "pttl b", ":-1\r\n");
	SAYS(s, "set a 1 px 1500", OK);
	SAYS(s, "ttl a", ":2\r\n");
	SAYS(s, "set a 1 exat 1700000100", OK);
	SAYS(s, "ttl a", ":100\r\n");
	SAYS(s, "setex a 7 x", OK);
	SAYS(s, "pexpiretime a", ":1700000007000\r\n");
	SAYS(s, "psetex a 7 y", OK);
	SAYS(s, "pexpiretime a", ":1700000000007\r\n");
	SAYS(s, "get a", "$1\r\ny\r\n");
	fix_tick(&s->f, 8);
	SAYS(s, "get a", NIL);
	/* A time that is over is stored all the same; the key goes when it is met. */
	SAYS(s, "set a 1 pxat 1", OK);
	SAYS(s, "get a", NIL);
}

static void test_getset_getdel_setnx(void **state)
{
	struct seen *s = *state;

	SAYS(s, "setnx a 1", ":1\r\n");
	SAYS(s, "setnx a 2", ":0\r\n");
	SAYS(s, "expire a 100", ":1\r\n");
	SAYS(s, "getset a 5", "$1\r\n1\r\n");
	SAYS(s, "ttl a", ":-1\r\n");
	SAYS(s, "getset b 6", NIL);
	SAYS(s, "getdel b", "$1\r\n6\r\n");
	SAYS(s, "getdel b", NIL);
	SAYS(s, "dbsize", ":1\r\n");
}

static void test_getex(void **state)
{
	struct seen *s = *state;

	SAYS(s, "getex a ex 0", NIL);
	SAYS(s, "getex a bogus", ERR_SYNTAX);
	SAYS(s, "set a 1", OK);
	SAYS(s, "getex a", "$1\r\n1\r\n");
	SAYS(s, "ttl a", ":-1\r\n");
	SAYS(s, "getex a ex 100", "$1\r\n1\r\n");
	SAYS(s, "ttl a", ":100\r\n");
	SAYS(s, "getex a persist", "$1\r\n1\r\n");
	SAYS(s, "ttl a", ":-1\r\n");
	SAYS(s, "getex a pxat 1700000000500", "$1\r\n1\r\n");
	SAYS(s, "pttl a", ":500\r\n");
	SAYS(s, "getex a keepttl", ERR_SYNTAX);
	SAYS(s, "getex a persist ex 1", ERR_SYNTAX);
	SAYS(s, "getex a ex 0", "-ERR invalid expire time in 'getex' command\r\n");
	SAYS(s, "getex a ex x", ERR_INT);
	SAYS(s, "getex a exat 1", "$1\r\n1\r\n");
	SAYS(s, "exists a", ":0\r\n");
}

/* ---- many keys ---- */

static void test_mset_mget(void **state)
{
	struct seen *s = *state;

	SAYS(s, "mset a 1 b 2 a 3", OK);
	SAYS(s, "mget a b c a", "*4\r\n$1\r\n3\r\n$1\r\n2\r\n$-1\r\n$1\r\n3\r\n");
	SAYS(s, "mset a", "-ERR wrong number of arguments for 'mset' command\r\n");
	SAYS(s, "mset a 1 b", "-ERR wrong number of arguments for 'mset' command\r\n");
	SAYS(s, "msetnx a 1 b", "-ERR wrong number of arguments for 'msetnx' command\r\n");
	SAYS(s, "msetnx c 1 a 2", ":0\r\n");
	SAYS(s, "exists c", ":0\r\n");
	SAYS(s, "msetnx c 1 d 2 c 3", ":1\r\n");
	SAYS(s, "get c", "$1\r\n3\r\n");
	SAYS(s, "expire c 100", ":1\r\n");
	SAYS(s, "mset c 4", OK);
	SAYS(s, "ttl c", ":-1\r\n");
}

/* More keys than a batch, so that batches and their ends are met. */
static void test_mset_mget_in_batches(void **state)
{
	enum { N = 101 };
	struct seen *s = *state;
	static char names[N][16];
	struct bytes set[1 + 2 * N], get[1 + N];
	struct buf want = {0};

	set[0] = B("mset");
	get[0] = B("mget");
	buf_addf(&want, "*%d\r\n", N);
	for (int i = 0; i < N; i++) {
		snprintf(names[i], sizeof(names[i]), "key%03d", i);
		set[1 + 2 * i] = get[1 + i] = bytes_of(names[i]);
		set[2 + 2 * i] = (struct bytes){names[i] + 3, 3};
		buf_addf(&want, "$3\r\n%03d\r\n", i);
	}
	*buf_room(&want, 1) = '\0';
	assert_string_equal(fix_runv(&s->f, &s->f.a, set, 1 + 2 * N), OK);
	assert_string_equal(fix_runv(&s->f, &s->f.a, get, 1 + N), want.p);
	set[0] = B("msetnx");
	assert_string_equal(fix_runv(&s->f, &s->f.a, set, 1 + 2 * N), ":0\r\n");
	get[0] = B("exists");
	assert_string_equal(fix_runv(&s->f, &s->f.a, get, 1 + N), ":101\r\n");
	get[0] = B("del");
	assert_string_equal(fix_runv(&s->f, &s->f.a, get, 1 + N), ":101\r\n");
	SAYS(s, "dbsize", ":0\r\n");
	buf_free(&want);
}

/* ---- parts ---- */

static void test_append_and_strlen(void **state)
{
	struct seen *s = *state;

	SAYS(s, "strlen a", ":0\r\n");
	SAYS(s, "append a 12", ":2\r\n");
	SAYS(s, "object encoding a", "$3\r\nint\r\n");
	SAYS(s, "expire a 50", ":1\r\n");
	SAYS(s, "append a 34", ":4\r\n");
	SAYS(s, "object encoding a", "$3\r\nraw\r\n");
	SAYS(s, "ttl a", ":50\r\n");
	SAYS(s, "get a", "$4\r\n1234\r\n");
	SAYS(s, "strlen a", ":4\r\n");
	SAYS_ARGS(s, ":0\r\n", B("append"), B("b"), B(""));
	SAYS(s, "exists b", ":1\r\n");
	SAYS(s, "set c 7", OK);
	SAYS_ARGS(s, ":1\r\n", B("append"), B("c"), B(""));
	SAYS(s, "object encoding c", "$3\r\nraw\r\n");
}

static void test_getrange(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a Hello", OK);
	SAYS(s, "getrange a 0 -1", "$5\r\nHello\r\n");
	SAYS(s, "getrange a 1 3", "$3\r\nell\r\n");
	SAYS(s, "getrange a -3 -2", "$2\r\nll\r\n");
	SAYS(s, "getrange a -100 100", "$5\r\nHello\r\n");
	SAYS(s, "getrange a 4 2", "$0\r\n\r\n");
	SAYS(s, "getrange a -2 -4", "$0\r\n\r\n");
	SAYS(s, "getrange a 5 9", "$0\r\n\r\n");
	SAYS(s, "getrange a 0 -100", "$1\r\nH\r\n");
	SAYS(s, "substr a -9223372036854775808 9223372036854775807", "$5\r\nHello\r\n");
	SAYS(s, "getrange none 0 -1", "$0\r\n\r\n");
	SAYS(s, "getrange none x -1", ERR_INT);
	SAYS(s, "set n -1234", OK);
	SAYS(s, "getrange n 1 2", "$2\r\n12\r\n");
}

static void test_setrange(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a Hello", OK);
	SAYS(s, "setrange a 1 ipp", ":5\r\n");
	SAYS(s, "get a", "$5\r\nHippo\r\n");
	SAYS(s, "setrange a 4 ies", ":7\r\n");
	SAYS(s, "get a", "$7\r\nHippies\r\n");
	SAYS(s, "setrange b 2 x", ":3\r\n");
	SAYS(s, "get b", "$3\r\n");
	assert_memory_equal(s->f.out.p, "$3\r\n\0\0x\r\n", 9);
	SAYS(s, "setrange a -1 x", "-ERR offset is out of range\r\n");
	SAYS(s, "setrange a x x", ERR_INT);
	SAYS(s, "setrange a 536870912 x", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
	SAYS(s, "setrange a 9223372036854775807 x",
		"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
	SAYS_ARGS(s, ":7\r\n", B("setrange"), B("a"), B("9223372036854775807"), B(""));
	SAYS_ARGS(s, ":0\r\n", B("setrange"), B("none"), B("3"), B(""));
	SAYS(s, "exists none", ":0\r\n");
	SAYS(s, "set n 123", OK);
	SAYS(s, "setrange n 1 9", ":3\r\n");
	SAYS(s, "get n", "$3\r\n193\r\n");
	SAYS(s, "incr n", ":194\r\n");
}

/* ---- numbers ---- */

static void test_incr_and_its_limits(void **state)
{
	struct seen *s = *state;

	SAYS(s, "incr a", ":1\r\n");
	SAYS(s, "incrby a 41", ":42\r\n");
	SAYS(s, "decr a", ":41\r\n");
	SAYS(s, "decrby a 100", ":-59\r\n");
	SAYS(s, "expire a 50", ":1\r\n");
	SAYS(s, "incr a", ":-58\r\n");
	SAYS(s, "ttl a", ":50\r\n");
	SAYS(s, "object encoding a", "$3\r\nint\r\n");
	SAYS(s, "set b 9223372036854775806", OK);
	SAYS(s, "incr b", ":9223372036854775807\r\n");
	SAYS(s, "incr b", "-ERR increment or decrement would overflow\r\n");
	SAYS(s, "get b", "$19\r\n9223372036854775807\r\n");
	SAYS(s, "decrby b -1", "-ERR increment or decrement would overflow\r\n");
	SAYS(s, "decrby b -9223372036854775808", "-ERR decrement would overflow\r\n");
	SAYS(s, "incrby b 1.5", ERR_INT);
	SAYS(s, "set c 01", OK);
	SAYS(s, "incr c", ERR_INT);
	SAYS_ARGS(s, OK, B("set"), B("c"), B(" 1"));
	SAYS(s, "incr c", ERR_INT);
	SAYS(s, "set c -9223372036854775808", OK);
	SAYS(s, "decr c", "-ERR increment or decrement would overflow\r\n");
}

static void test_incrbyfloat(void **state)
{
	struct seen *s = *state;

	SAYS(s, "incrbyfloat a 10.50", "$4\r\n10.5\r\n");
	SAYS(s, "incrbyfloat a 0.1", "$4\r\n10.6\r\n");
	SAYS(s, "incrbyfloat a -10.6", "$1\r\n0\r\n");
	SAYS(s, "object encoding a", "$6\r\nembstr\r\n");
	SAYS(s, "incr a", ":1\r\n");
	SAYS(s, "set b 5.0e3", OK);
	SAYS(s, "incrbyfloat b 2.0e2", "$4\r\n5200\r\n");
	SAYS(s, "set c x", OK);
	SAYS(s, "incrbyfloat c 1", "-ERR value is not a valid float\r\n");
	SAYS(s, "incrbyfloat a x", "-ERR value is not a valid float\r\n");
	SAYS(s, "incrbyfloat a nan", "-ERR value is not a valid float\r\n");
	SAYS(s, "incrbyfloat a inf", "-ERR increment would produce NaN or Infinity\r\n");
	SAYS(s, "get a", "$1\r\n1\r\n");
}

/* ---- LCS ---- */

static void test_lcs(void **state)
{
	struct seen *s = *state;

	SAYS(s, "mset a ohmytext b mynewtext", OK);
	SAYS(s, "lcs a b", "$6\r\nmytext\r\n");
	SAYS(s, "lcs a b len", ":6\r\n");
	SAYS(s, "lcs a b idx",
		"*4\r\n$7\r\nmatches\r\n*2\r\n*2\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n"
		"*2\r\n*2\r\n:2\r\n:3\r\n*2\r\n:0\r\n:1\r\n$3\r\nlen\r\n:6\r\n");
	SAYS(s, "lcs a b idx minmatchlen 4 withmatchlen",
		"*4\r\n$7\r\nmatches\r\n*1\r\n*3\r\n*2\r\n:4\r\n:7\r\n*2\r\n:5\r\n:8\r\n:4\r\n$3\r\nlen\r\n:6\r\n");
	SAYS(s, "lcs a none", "$0\r\n\r\n");
	SAYS(s, "lcs a none idx", "*4\r\n$7\r\nmatches\r\n*0\r\n$3\r\nlen\r\n:0\r\n");
	SAYS(s, "lcs a b len idx", "-ERR If you want both the length and indexes, please just use IDX.\r\n");
	SAYS(s, "lcs a b minmatchlen", ERR_SYNTAX);
	SAYS(s, "lcs a b minmatchlen x", ERR_INT);
	SAYS(s, "lcs a b bogus", ERR_SYNTAX);
}

/* The table of the textbook, for comparing. */
static size_t lcs_by_table(struct bytes a, struct bytes b)
{
	static uint32_t t[201][201];

	for (size_t i = 1; i <= a.n; i++) {
		for (size_t j = 1; j <= b.n; j++) {
			uint32_t up = t[i - 1][j], left = t[i][j - 1];

			t[i][j] = a.p[i - 1] == b.p[j - 1] ? t[i - 1][j - 1] + 1 : up > left ? up : left;
		}
	}
	return t[a.n][b.n];
}

static void test_lcs_agrees_with_the_table(void **state)
{
	struct seen *s = *state;
	uint32_t rnd = 12345;
	char a[200], b[200];

	for (int round = 0; round < 60; round++) {
		struct bytes x = {a, 1 + (size_t)round * 3}, y = {b, 1 + (size_t)(round * 37 % 199)};
		char want[32];

		for (size_t i = 0; i < 200; i++) {
			rnd = rnd * 1664525u + 1013904223u;
			a[i] = (char)('a' + (rnd >> 24) % (2 + round % 5));
			b[i] = (char)('a' + (rnd >> 16) % (2 + round % 5));
		}
		SAYS_ARGS(s, OK, B("mset"), B("x"), x, B("y"), y);
		snprintf(want, sizeof(want), ":%zu\r\n", lcs_by_table(x, y));
		SAYS(s, "lcs x y len", want);
		snprintf(want, sizeof(want), "$%zu\r\n", lcs_by_table(x, y));
		assert_memory_equal(fix_run(&s->f, &s->f.a, "lcs x y"), want, strlen(want));
	}
}

static void test_lcs_refuses_too_much(void **state)
{
	struct seen *s = *state;
	struct bytes big = bytes_times('a', 20000);

	SAYS_ARGS(s, OK, B("mset"), B("x"), big, B("y"), big);
	SAYS(s, "lcs x y len", "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len\r\n");
	SAYS_ARGS(s, OK, B("set"), B("y"), (struct bytes){big.p, 6000});
	SAYS(s, "lcs x y len", ":6000\r\n");
	mem_free((char *)big.p);
}

/* ---- long values, long keys ---- */

static void test_long_values_in_parts(void **state)
{
	struct seen *s = *state;
	struct bytes big = bytes_times('x', 100000);

	SAYS_ARGS(s, OK, B("set"), B("big"), big);
	SAYS(s, "strlen big", ":100000\r\n");
	fix_tick(&s->f, 1);
	SAYS(s, "setrange big 50000 abc", ":100000\r\n");
	SAYS(s, "getrange big 49998 50004", "$7\r\nxxabcxx\r\n");
	SAYS(s, "append big end", ":100003\r\n");
	SAYS(s, "getrange big -4 -1", "$4\r\nxend\r\n");
	SAYS(s, "setrange small 20000 tail", ":20004\r\n");
	SAYS(s, "getrange small -4 -1", "$4\r\ntail\r\n");
	SAYS(s, "bitcount small 0 19999", ":0\r\n");
	FIX_BEGINS(&s->f, "getset big 1", "$100003\r\nxxxx");
	mem_free((char *)big.p);
}

static void test_keys_that_are_too_long(void **state)
{
	struct seen *s = *state;
	struct bytes key = bytes_times('k', KS_KEY_MAX + 1), longest = {key.p, KS_KEY_MAX};
	const char *error = "-ERR key is longer than the 32768 bytes that a pool can hold\r\n";

	SAYS_ARGS(s, OK, B("set"), longest, B("v"));
	SAYS_ARGS(s, "$1\r\nv\r\n", B("get"), longest);
	SAYS_ARGS(s, error, B("set"), key, B("v"));
	SAYS_ARGS(s, error, B("mset"), B("a"), B("1"), key, B("v"));
	SAYS_ARGS(s, error, B("incr"), key);
	SAYS_ARGS(s, error, B("append"), key, B("v"));
	SAYS_ARGS(s, error, B("setbit"), key, B("1"), B("1"));
	SAYS_ARGS(s, error, B("bitop"), B("not"), key, longest);
	SAYS_ARGS(s, error, B("bitfield"), key, B("set"), B("u8"), B("0"), B("1"));
	SAYS_ARGS(s, error, B("rename"), longest, key);
	SAYS_ARGS(s, error, B("copy"), longest, key);
	SAYS_ARGS(s, NIL, B("get"), key);
	SAYS_ARGS(s, ":0\r\n", B("del"), key);
	SAYS(s, "dbsize", ":1\r\n");
	mem_free((char *)key.p);
}

/* ---- events ---- */

static void test_events(void **state)
{
	struct seen *s = *state;

	EVENTS(s, "set a 1", "$:set:0:a ");
	EVENTS(s, "set a 1 ex 5", "$:set:0:a g:expire:0:a ");
	EVENTS(s, "set a 1 keepttl", "$:set:0:a ");
	EVENTS(s, "set a 1 nx", "");
	EVENTS(s, "get a", "");
	EVENTS(s, "setex a 5 1", "$:set:0:a g:expire:0:a ");
	EVENTS(s, "getex a", "");
	EVENTS(s, "getex a persist", "g:persist:0:a ");
	EVENTS(s, "getex a persist", "");
	EVENTS(s, "getex a px 50", "g:expire:0:a ");
	EVENTS(s, "getex a pxat 50", "g:del:0:a ");
	EVENTS(s, "mset a 1 b 2", "$:set:0:a $:set:0:b ");
	EVENTS(s, "msetnx a 1 c 2", "");
	EVENTS(s, "setnx c 2", "$:set:0:c ");
	EVENTS(s, "getset c 3", "$:set:0:c ");
	EVENTS(s, "incrby c 3", "$:incrby:0:c ");
	EVENTS(s, "decr c", "$:incrby:0:c ");
	EVENTS(s, "incrbyfloat c 3", "$:incrbyfloat:0:c ");
	EVENTS(s, "append c x", "$:append:0:c ");
	EVENTS(s, "setrange c 0 y", "$:setrange:0:c ");
	EVENTS(s, "getdel c", "g:del:0:c ");
}

static void test_errors_change_nothing(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a x", OK);
	seen_take(&s->touched);
	SAYS(s, "incr a", ERR_INT);
	SAYS(s, "set a 1 ex 0", "-ERR invalid expire time in 'set' command\r\n");
	SAYS(s, "set a 1 nx", NIL);
	SAYS(s, "msetnx b 1 a 2", ":0\r\n");
	SAYS(s, "getrange a 0 -1", "$1\r\nx\r\n");
	SAYS(s, "getex a", "$1\r\nx\r\n");
	assert_string_equal(seen_take(&s->touched), "");
	SAYS(s, "append a y", ":2\r\n");
	assert_string_equal(seen_take(&s->touched), "0:a ");
}

static void test_hits_and_misses_count_reads_only(void **state)
{
	struct seen *s = *state;
	struct ks_stats *st = ks_stats(s->f.ks);

	SAYS(s, "set a 1", OK);
	SAYS(s, "incr a", ":2\r\n");
	SAYS(s, "append b x", ":1\r\n");
	SAYS(s, "del none", ":0\r\n");
	assert_int_equal(st->hits, 0);
	assert_int_equal(st->misses, 0);
	SAYS(s, "get a", "$1\r\n2\r\n");
	SAYS(s, "mget a none", "*2\r\n$1\r\n2\r\n$-1\r\n");
	SAYS(s, "exists a none", ":1\r\n");
	SAYS(s, "set a 3 get", "$1\r\n2\r\n");
	assert_int_equal(st->hits, 4);
	assert_int_equal(st->misses, 2);
}

/* ---- a full pool ---- */

#define ERR_OOM "-OOM command not allowed when the pool is full (see pool-size).\r\n"

/* Fills a small pool until SET is refused: then every command that needs room is, changes nothing, and what frees
 * works. */
static void test_full_pool_refuses_and_keeps(void **state)
{
	static const char *const refused[] = {
		"set big:0 x", "set new x get", "setnx new x", "setex new 5 x", "getset big:0 x", "mset new 1 newer 2",
		"msetnx new 1 newer 2", "append big:0 x", "setrange big:0 1 x", "incr new", "incrby new 5", "incrbyfloat new 1",
		"setbit big:0 0 1", "bitfield big:0 set u8 0 1", "bitop not new big:0", "copy big:0 new",
	};
	struct bytes value = bytes_times('v', 12000);
	struct fix f;
	char line[64];
	unsigned keys = 0;

	(void)state;
	fix_open_sized(&f, 4 << 20);
	/* Big values until one is refused, then ever smaller ones. */
	for (; value.n > 0; value.n /= 8) {
		const char *said = OK;

		for (unsigned tries = 0; strcmp(said, OK) == 0 && tries < 10000; tries++) {
			snprintf(line, sizeof(line), "big:%u", keys);
			const struct bytes argv[] = {B("set"), bytes_of(line), value};
			said = fix_runv(&f, &f.a, argv, 3);
			keys += strcmp(said, OK) == 0;
			fix_tick(&f, 1);
		}
		assert_string_equal(said, ERR_OOM);
	}
	assert_in_range(keys, 20, 20000);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		FIX_SAYS(&f, refused[i], ERR_OOM);
		fix_tick(&f, 1);
	}
	snprintf(line, sizeof(line), ":%u\r\n", keys);
	FIX_SAYS(&f, "dbsize", line);
	FIX_SAYS(&f, "strlen big:0", ":12000\r\n");
	FIX_SAYS(&f, "ttl big:0", ":-1\r\n");
	FIX_SAYS(&f, "set new x xx", NIL);
	FIX_SAYS(&f, "set big:0 x nx", NIL);
	FIX_SAYS(&f, "exists new newer", ":0\r\n");
	/* Deleting in all its ways is let pass. */
	FIX_SAYS(&f, "expire big:1 -1", ":1\r\n");
	FIX_SAYS(&f, "getex big:2 nosuch", ERR_SYNTAX);
	FIX_BEGINS(&f, "getex big:2 pxat 1", "$12000\r\n");
	FIX_BEGINS(&f, "getdel big:3", "$12000\r\n");
	FIX_SAYS(&f, "bitop or big:4 none", ":0\r\n");
	FIX_SAYS(&f, "del big:5 big:6 big:7 big:8 big:9 big:10 big:11 big:12 big:13 big:14 big:15", ":11\r\n");
	fix_tick(&f, 1);
	FIX_SAYS(&f, "set new x", OK);
	FIX_SAYS(&f, "flushall", OK);
	FIX_SAYS(&f, "dbsize", ":0\r\n");
	fix_close(&f);
	mem_free((char *)value.p);
}

#define T(name) cmocka_unit_test_setup_teardown(test_##name, seen_setup, seen_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(set_conditions_and_get), T(set_rejects_bad_options), T(set_deadlines), T(getset_getdel_setnx), T(getex),
		T(mset_mget), T(mset_mget_in_batches), T(append_and_strlen), T(getrange), T(setrange),
		T(incr_and_its_limits), T(incrbyfloat), T(lcs), T(lcs_agrees_with_the_table), T(lcs_refuses_too_much),
		T(long_values_in_parts), T(keys_that_are_too_long), T(events), T(errors_change_nothing),
		T(hits_and_misses_count_reads_only),
		cmocka_unit_test(test_full_pool_refuses_and_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
