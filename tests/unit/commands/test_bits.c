/* Bit commands: exact answers, ranges in bytes and bits, every field type, results of BITOP in place. */
#include "events.h"

#define ERR_OFFSET "-ERR bit offset is not an integer or out of range\r\n"
#define ERR_BIT "-ERR bit is not an integer or out of range\r\n"

/* ---- SETBIT, GETBIT ---- */

static void test_setbit_getbit(void **state)
{
	struct seen *s = *state;

	SAYS(s, "getbit a 100", ":0\r\n");
	SAYS(s, "setbit a 1 1", ":0\r\n");
	SAYS(s, "get a", "$1\r\n@\r\n");
	SAYS(s, "setbit a 1 1", ":1\r\n");
	SAYS(s, "setbit a 1 0", ":1\r\n");
	SAYS(s, "setbit a 23 0", ":0\r\n");
	SAYS(s, "strlen a", ":3\r\n");
	SAYS(s, "getbit a 23", ":0\r\n");
	SAYS(s, "getbit a 24", ":0\r\n");
	SAYS(s, "set n 1", OK);
	SAYS(s, "getbit n 2", ":1\r\n");
	SAYS(s, "setbit n 6 1", ":0\r\n");
	SAYS(s, "get n", "$1\r\n3\r\n");
	SAYS(s, "object encoding n", "$3\r\nraw\r\n");
	SAYS(s, "set m 1", OK);
	SAYS(s, "setbit m 2 1", ":1\r\n");
	SAYS(s, "object encoding m", "$3\r\nraw\r\n");
	SAYS(s, "setbit a -1 1", ERR_OFFSET);
	SAYS(s, "setbit a x 1", ERR_OFFSET);
	SAYS(s, "setbit a #1 1", ERR_OFFSET);
	SAYS(s, "setbit a 4294967296 2", ERR_OFFSET);
	SAYS(s, "setbit a 5 2", ERR_BIT);
	SAYS(s, "setbit a 5 x", ERR_BIT);
	SAYS(s, "getbit a 4294967296", ERR_OFFSET);
}

static void test_setbit_at_the_far_end(void **state)
{
	struct seen *s = *state;

	SAYS(s, "setbit a 4294967295 1", ":0\r\n");
	SAYS(s, "strlen a", ":536870912\r\n");
	SAYS(s, "getbit a 4294967295", ":1\r\n");
	SAYS(s, "bitcount a", ":1\r\n");
	SAYS(s, "bitpos a 1", ":4294967295\r\n");
	SAYS(s, "append a x", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n");
	SAYS(s, "bitfield a set i8 4294967290 1", ERR_OFFSET);
	SAYS(s, "bitfield a get i8 4294967290", "*1\r\n:4\r\n");
	SAYS(s, "del a", ":1\r\n");
}

/* ---- BITCOUNT ---- */

static void test_bitcount_ranges(void **state)
{
	struct seen *s = *state;

	SAYS(s, "bitcount none", ":0\r\n");
	SAYS(s, "set a foobar", OK);
	SAYS(s, "bitcount a", ":26\r\n");
	SAYS(s, "bitcount a 0 0", ":4\r\n");
	SAYS(s, "bitcount a 1 1 BYTE", ":6\r\n");
	SAYS(s, "bitcount a 5 30 bit", ":17\r\n");
	SAYS(s, "bitcount a -8 -1 bit", ":4\r\n");
	SAYS(s, "bitcount a 4 4 bit", ":0\r\n");
	SAYS(s, "bitcount a 5 5 bit", ":1\r\n");
	SAYS(s, "bitcount a 3 2", ":0\r\n");
	SAYS(s, "bitcount a -1 -2", ":0\r\n");
	SAYS(s, "bitcount a 6 9", ":0\r\n");
	SAYS(s, "bitcount a -9223372036854775808 9223372036854775807 bit", ":26\r\n");
	SAYS(s, "bitcount a 0", ERR_SYNTAX);
	SAYS(s, "bitcount a 0 1 foo", ERR_SYNTAX);
	SAYS(s, "bitcount a 0 1 bit x", ERR_SYNTAX);
	SAYS(s, "bitcount a x 1", ERR_INT);
	SAYS(s, "bitcount a 0 x", ERR_INT);
}

/* Pseudo-random bytes over several chunks of a rope, and the same counted a bit at a time. */
static void test_bitcount_bitpos_agree_with_a_loop(void **state)
{
	enum { N = 30000 };
	struct seen *s = *state;
	uint8_t *p = mem_zalloc(N);
	uint32_t rnd = 7;

	for (int i = 0; i < N; i++) {
		rnd = rnd * 1664525u + 1013904223u;
		/* Long runs of equal bytes, so that whole words are skipped. */
		p[i] = rnd >> 28 ? (i / 3000 % 2 ? 0xff : 0) : (uint8_t)(rnd >> 16);
	}
	SAYS_ARGS(s, OK, B("set"), B("a"), {(const char *)p, N});
	for (int round = 0; round < 400; round++) {
		long from, to, count = 0, one = -1, zero = -1;
		char line[96], want[32];

		rnd = rnd * 1664525u + 1013904223u;
		from = rnd % (N * 8);
		rnd = rnd * 1664525u + 1013904223u;
		to = from + (long)((rnd >> 8) % (round % 2 ? 200 : N * 8 - from));
		if (to >= N * 8)
			to = N * 8 - 1;
		for (long i = from; i <= to; i++) {
			int bit = p[i / 8] >> (7 - i % 8) & 1;

			count += bit;
			if (bit && one < 0)
				one = i;
			if (!bit && zero < 0)
				zero = i;
		}
		snprintf(line, sizeof(line), "bitcount a %ld %ld bit", from, to);
		snprintf(want, sizeof(want), ":%ld\r\n", count);
		SAYS(s, line, want);
		snprintf(line, sizeof(line), "bitpos a 1 %ld %ld bit", from, to);
		snprintf(want, sizeof(want), ":%ld\r\n", one);
		SAYS(s, line, want);
		snprintf(line, sizeof(line), "bitpos a 0 %ld %ld bit", from, to);
		snprintf(want, sizeof(want), ":%ld\r\n", zero);
		SAYS(s, line, want);
	}
	mem_free(p);
}

/* ---- BITPOS ---- */

static void test_bitpos(void **state)
{
	struct seen *s = *state;

	SAYS(s, "bitpos none 0", ":0\r\n");
	SAYS(s, "bitpos none 1", ":-1\r\n");
	SAYS(s, "bitpos none 2", "-ERR The bit argument must be 1 or 0.\r\n");
	SAYS(s, "bitpos none x", ERR_INT);
	SAYS_ARGS(s, OK, B("set"), B("a"), B("\xff\xf0\x00"));
	SAYS(s, "bitpos a 0", ":12\r\n");
	SAYS(s, "bitpos a 1", ":0\r\n");
	SAYS(s, "bitpos a 1 2", ":-1\r\n");
	SAYS(s, "bitpos a 0 0 0", ":-1\r\n");
	SAYS(s, "bitpos a 0 -2 -1", ":12\r\n");
	SAYS(s, "bitpos a 1 7 15 bit", ":7\r\n");
	SAYS(s, "bitpos a 1 12 23 BIT", ":-1\r\n");
	SAYS(s, "bitpos a 0 3 11 bit", ":-1\r\n");
	SAYS(s, "bitpos a 0 2 1", ":-1\r\n");
	SAYS_ARGS(s, OK, B("set"), B("f"), B("\xff\xff"));
	SAYS(s, "bitpos f 0", ":16\r\n");
	SAYS(s, "bitpos f 0 1", ":16\r\n");
	SAYS(s, "bitpos f 0 0 -1", ":-1\r\n");
	SAYS(s, "bitpos f 0 5", ":-1\r\n");
	SAYS_ARGS(s, OK, B("set"), B("e"), B(""));
	SAYS(s, "bitpos e 0", ":-1\r\n");
	SAYS(s, "bitpos e 1", ":-1\r\n");
	SAYS(s, "bitpos a 1 0 5 foo", ERR_SYNTAX);
	SAYS(s, "bitpos a 1 0 b foo", ERR_SYNTAX);
	SAYS(s, "bitpos a 1 a b foo", ERR_INT);
	SAYS(s, "bitpos a 1 0 5 bit bit", ERR_SYNTAX);
}

/* ---- BITOP ---- */

static void test_bitop(void **state)
{
	struct seen *s = *state;

	SAYS_ARGS(s, OK, B("mset"), B("a"), B("\xf0\x0f\xaa"), B("b"), B("\x3c\x3c"));
	SAYS(s, "bitop and d a b", ":3\r\n");
	fix_run(&s->f, &s->f.a, "get d");
	assert_memory_equal(s->f.out.p, "$3\r\n\x30\x0c\x00\r\n", 9);
	SAYS(s, "bitop or d a b none", ":3\r\n");
	SAYS(s, "get d", "$3\r\n\xfc\x3f\xaa\r\n");
	SAYS(s, "bitop xor d a b", ":3\r\n");
	SAYS(s, "get d", "$3\r\n\xcc\x33\xaa\r\n");
	SAYS(s, "bitop not d a", ":3\r\n");
	SAYS(s, "get d", "$3\r\n\x0f\xf0\x55\r\n");
	SAYS(s, "object encoding d", "$3\r\nraw\r\n");
	SAYS(s, "expire d 100", ":1\r\n");
	SAYS(s, "bitop not d d", ":3\r\n");
	SAYS(s, "get d", "$3\r\n\xf0\x0f\xaa\r\n");
	SAYS(s, "ttl d", ":-1\r\n");
	SAYS(s, "bitop and d none", ":0\r\n");
	SAYS(s, "exists d", ":0\r\n");
	SAYS(s, "set n 12", OK);
	SAYS(s, "bitop or d n", ":2\r\n");
	SAYS(s, "get d", "$2\r\n12\r\n");
	SAYS(s, "object encoding d", "$3\r\nraw\r\n");
	SAYS(s, "bitop foo d a", ERR_SYNTAX);
	SAYS(s, "bitop not d a b", "-ERR BITOP NOT must be called with a single source key.\r\n");
}

static uint8_t op_byte(int op, uint8_t a, uint8_t b)
{
	return op == 0 ? a & b : op == 1 ? a | b : a ^ b;
}

/* Long values of unequal length, into a new key and over each of the sources, with a deadline to lose. */
static void test_bitop_of_long_values_in_place(void **state)
{
	enum { A = 100000, C = 70000 };
	static const char *const ops[] = {"and", "or", "xor"};
	static const char *const dests[] = {"a", "c", "d"};
	struct seen *s = *state;
	uint8_t *a = mem_alloc(A), *c = mem_zalloc(A);
	uint32_t rnd = 3;

	for (int i = 0; i < A; i++) {
		rnd = rnd * 1664525u + 1013904223u;
		a[i] = (uint8_t)(rnd >> 24);
		if (i < C)
			c[i] = (uint8_t)(rnd >> 16);
	}
	for (int round = 0; round < 9; round++) {
		char line[64];
		const char *got;

		SAYS_ARGS(s, OK, B("mset"), B("a"), {(const char *)a, A}, B("c"), {(const char *)c, C}, B("d"), B("old"));
		snprintf(line, sizeof(line), "expire %s 100", dests[round % 3]);
		SAYS(s, line, ":1\r\n");
		snprintf(line, sizeof(line), "bitop %s %s a c", ops[round / 3], dests[round % 3]);
		SAYS(s, line, ":100000\r\n");
		snprintf(line, sizeof(line), "ttl %s", dests[round % 3]);
		SAYS(s, line, ":-1\r\n");
		fix_tick(&s->f, 1);
		snprintf(line, sizeof(line), "get %s", dests[round % 3]);
		got = fix_run(&s->f, &s->f.a, line);
		assert_memory_equal(got, "$100000\r\n", 9);
		for (int i = 0; i < A; i++)
			assert_int_equal((uint8_t)got[9 + i], op_byte(round / 3, a[i], c[i]));
	}
	mem_free(a);
	mem_free(c);
}

/* ---- BITFIELD ---- */

static void test_bitfield_answers(void **state)
{
	struct seen *s = *state;

	SAYS(s, "bitfield a", "*0\r\n");
	SAYS(s, "bitfield a get u8 0", "*1\r\n:0\r\n");
	SAYS(s, "exists a", ":0\r\n");
	SAYS(s, "bitfield a set u8 0 255 get u8 0 get i8 0 get u4 4 get i5 5",
		"*5\r\n:0\r\n:255\r\n:-1\r\n:15\r\n:-4\r\n");
	SAYS(s, "strlen a", ":1\r\n");
	SAYS(s, "bitfield a incrby u2 100 1 get u4 0", "*2\r\n:1\r\n:15\r\n");
	SAYS(s, "strlen a", ":13\r\n");
	SAYS(s, "bitfield b set u8 #2 7 get u8 16 get u16 #1", "*3\r\n:0\r\n:7\r\n:1792\r\n");
	SAYS(s, "bitfield c set i64 3 -5 get i64 3 get u63 4", "*3\r\n:0\r\n:-5\r\n:9223372036854775803\r\n");
	SAYS(s, "bitfield c set i64 3 9223372036854775807 get i64 3",
		"*2\r\n:-5\r\n:9223372036854775807\r\n");
	SAYS(s, "bitfield_ro c get i64 3 get u1 3", "*2\r\n:9223372036854775807\r\n:0\r\n");
	SAYS(s, "bitfield_ro none get u8 0", "*1\r\n:0\r\n");
	SAYS(s, "set n 1", OK);
	SAYS(s, "bitfield n get u8 0", "*1\r\n:49\r\n");
	SAYS(s, "object encoding n", "$3\r\nint\r\n");
	SAYS(s, "bitfield n incrby u8 0 1", "*1\r\n:50\r\n");
	SAYS(s, "get n", "$1\r\n2\r\n");
}

static void test_bitfield_overflow(void **state)
{
	struct seen *s = *state;

	SAYS(s, "bitfield a set u8 0 250 incrby u8 0 10", "*2\r\n:0\r\n:4\r\n");
	SAYS(s, "bitfield a overflow sat incrby u8 0 300", "*1\r\n:255\r\n");
	SAYS(s, "bitfield a overflow sat incrby u8 0 -300", "*1\r\n:0\r\n");
	SAYS(s, "bitfield a overflow fail incrby u8 0 256 incrby u8 0 1", "*2\r\n$-1\r\n:1\r\n");
	SAYS(s, "bitfield a overflow fail set u8 0 256 overflow wrap set u8 0 257 get u8 0",
		"*3\r\n$-1\r\n:1\r\n:1\r\n");
	SAYS(s, "bitfield a set i8 0 127 incrby i8 0 1", "*2\r\n:1\r\n:-128\r\n");
	SAYS(s, "bitfield a incrby i8 0 -1", "*1\r\n:127\r\n");
	SAYS(s, "bitfield a overflow sat incrby i8 0 1 incrby i8 0 -500", "*2\r\n:127\r\n:-128\r\n");
	SAYS(s, "bitfield a overflow sat set u8 0 -1 get u8 0", "*2\r\n:128\r\n:255\r\n");
	SAYS(s, "bitfield a overflow sat set i8 0 200 get i8 0", "*2\r\n:-1\r\n:127\r\n");
	SAYS(s, "bitfield b set i64 0 9223372036854775807 incrby i64 0 1 overflow sat incrby i64 0 -1",
		"*3\r\n:0\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n");
	SAYS(s, "bitfield c set u63 0 -1 get u63 0 overflow fail incrby u63 0 1",
		"*3\r\n:0\r\n:9223372036854775807\r\n$-1\r\n");
	/* What does not fit is refused, but the string has grown. */
	SAYS(s, "bitfield d overflow fail incrby u8 100 257", "*1\r\n$-1\r\n");
	SAYS(s, "strlen d", ":14\r\n");
}

static void test_bitfield_errors(void **state)
{
	struct seen *s = *state;
	const char *type = "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
		"i64 is.\r\n";

	SAYS(s, "bitfield a get u64 0", type);
	SAYS(s, "bitfield a get i65 0", type);
	SAYS(s, "bitfield a get i0 0", type);
	SAYS(s, "bitfield a get U8 0", type);
	SAYS(s, "bitfield a get u 0", type);
	SAYS(s, "bitfield a get u8 -1", ERR_OFFSET);
	SAYS(s, "bitfield a get u8 #4294967296", ERR_OFFSET);
	SAYS(s, "bitfield a get u8 #9223372036854775807", ERR_OFFSET);
	SAYS(s, "bitfield a get u8", ERR_SYNTAX);
	SAYS(s, "bitfield a bogus u8 0", ERR_SYNTAX);
	SAYS(s, "bitfield a overflow", ERR_SYNTAX);
	SAYS(s, "bitfield a overflow bogus", "-ERR Invalid OVERFLOW type specified\r\n");
	SAYS(s, "bitfield a overflow fail", "*0\r\n");
	SAYS(s, "bitfield a set u8 0 1 set u8 0 x", ERR_INT);
	SAYS(s, "bitfield_ro a set u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand\r\n");
	SAYS(s, "bitfield_ro a set u8 0 x", ERR_INT);
	SAYS(s, "exists a", ":0\r\n");
}

/* Every width at every alignment: what was set is read, and nothing beside it has changed. */
static void test_bitfield_every_type_and_alignment(void **state)
{
	struct seen *s = *state;

	for (unsigned bits = 1; bits <= 64; bits++) {
		for (unsigned at = 0; at < 8; at++) {
			uint64_t v = 0xa5c3f00d5a3c0ff1u & ~0ull >> (64 - bits);
			int64_t n = bits == 64 || v >> (bits - 1) & 1 ? (int64_t)(v | (bits < 64 ? ~0ull << bits : 0)) : (int64_t)v;
			char line[160], want[160];

			SAYS_ARGS(s, OK, B("set"), B("a"), B("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
			snprintf(line, sizeof(line), "bitfield a set i%u %u %lld get i%u %u", bits, at, (long long)n, bits, at);
			snprintf(want, sizeof(want), "*2\r\n:-1\r\n:%lld\r\n", (long long)n);
			SAYS(s, line, want);
			snprintf(line, sizeof(line), "bitcount a");
			snprintf(want, sizeof(want), ":%d\r\n", 80 - (int)bits + __builtin_popcountll(v));
			SAYS(s, line, want);
		}
	}
}

static void test_bitfield_over_a_chunk_border(void **state)
{
	struct seen *s = *state;
	struct bytes big = bytes_times('\0', 40000);
	char line[160];

	SAYS_ARGS(s, OK, B("set"), B("a"), big);
	snprintf(line, sizeof(line), "bitfield a set i64 %u -2 get i64 %u get u8 #%u", ROPE_CHUNK * 8 - 13,
		ROPE_CHUNK * 8 - 13, ROPE_CHUNK);
	SAYS(s, line, "*3\r\n:0\r\n:-2\r\n:255\r\n");
	SAYS(s, "bitcount a", ":63\r\n");
	SAYS(s, "strlen a", ":40000\r\n");
	mem_free((char *)big.p);
}

/* Reads that follow an edit of a committed long value in the same tick see the edit. */
static void test_reads_after_an_edit_in_the_same_tick(void **state)
{
	struct seen *s = *state;
	struct bytes big = bytes_times('\0', 40000);

	SAYS_ARGS(s, OK, B("set"), B("a"), big);
	fix_tick(&s->f, 1);
	SAYS(s, "setbit a 100000 1", ":0\r\n");
	SAYS(s, "bitcount a", ":1\r\n");
	SAYS(s, "bitpos a 1", ":100000\r\n");
	SAYS(s, "getbit a 100000", ":1\r\n");
	SAYS(s, "bitop or b a a", ":40000\r\n");
	SAYS(s, "bitpos b 1", ":100000\r\n");
	SAYS(s, "bitfield a get u8 99996", "*1\r\n:8\r\n");
	SAYS(s, "getrange a 12500 12500", "$1\r\n\x80\r\n");
	mem_free((char *)big.p);
}

/* ---- events ---- */

static void test_events(void **state)
{
	struct seen *s = *state;

	EVENTS(s, "setbit a 3 1", "$:setbit:0:a ");
	EVENTS(s, "setbit a 3 1", "");
	EVENTS(s, "setbit a 9 0", "$:setbit:0:a ");
	EVENTS(s, "bitfield a set u8 0 3 set u8 8 3", "$:setbit:0:a ");
	EVENTS(s, "bitfield a set u8 0 3", "");
	EVENTS(s, "bitfield a get u8 0", "");
	EVENTS(s, "bitfield a overflow fail incrby u8 100 300", "");
	EVENTS(s, "bitop not b a", "$:set:0:b ");
	EVENTS(s, "bitop or b none", "g:del:0:b ");
	EVENTS(s, "bitop or b none", "");
	EVENTS(s, "bitcount a", "");
}

#define T(name) cmocka_unit_test_setup_teardown(test_##name, seen_setup, seen_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(setbit_getbit), T(setbit_at_the_far_end), T(bitcount_ranges), T(bitcount_bitpos_agree_with_a_loop), T(bitpos),
		T(bitop), T(bitop_of_long_values_in_place), T(bitfield_answers), T(bitfield_overflow), T(bitfield_errors),
		T(bitfield_every_type_and_alignment), T(bitfield_over_a_chunk_border),
		T(reads_after_an_edit_in_the_same_tick), T(events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
