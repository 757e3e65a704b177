/* Commands on keys and databases: exact answers, errors in Redis's order, deadlines, SCAN, events. */
#include "events.h"

#include <stdlib.h>

#define ERR_DB "-ERR DB index is out of range\r\n"
#define ERR_SAME "-ERR source and destination objects are the same\r\n"
#define ERR_INT_RANGE "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n"

static void test_del_exists_touch_type(void **state)
{
	struct seen *s = *state;

	SAYS(s, "mset a 1 b 2 c 3", OK);
	SAYS(s, "exists a b a none", ":3\r\n");
	SAYS(s, "touch a none b", ":2\r\n");
	SAYS(s, "type a", "+string\r\n");
	SAYS(s, "type none", "+none\r\n");
	SAYS(s, "del a a none", ":1\r\n");
	SAYS(s, "unlink b c", ":2\r\n");
	SAYS(s, "dbsize", ":0\r\n");
}

/* ---- deadlines ---- */

static void test_expire_family(void **state)
{
	struct seen *s = *state;

	SAYS(s, "ttl a", ":-2\r\n");
	SAYS(s, "pexpiretime a", ":-2\r\n");
	SAYS(s, "expire a 10", ":0\r\n");
	SAYS(s, "set a 1", OK);
	SAYS(s, "ttl a", ":-1\r\n");
	SAYS(s, "expiretime a", ":-1\r\n");
	SAYS(s, "expire a 10", ":1\r\n");
	SAYS(s, "pttl a", ":10000\r\n");
	SAYS(s, "pexpire a 1499", ":1\r\n");
	SAYS(s, "ttl a", ":1\r\n");
	SAYS(s, "pexpire a 1500", ":1\r\n");
	SAYS(s, "ttl a", ":2\r\n");
	SAYS(s, "expireat a 1700000100", ":1\r\n");
	SAYS(s, "ttl a", ":100\r\n");
	SAYS(s, "expiretime a", ":1700000100\r\n");
	SAYS(s, "pexpireat a 1700000000500", ":1\r\n");
	SAYS(s, "pexpiretime a", ":1700000000500\r\n");
	SAYS(s, "expiretime a", ":1700000001\r\n");
	SAYS(s, "persist a", ":1\r\n");
	SAYS(s, "persist a", ":0\r\n");
	SAYS(s, "persist none", ":0\r\n");
	SAYS(s, "ttl a", ":-1\r\n");
	SAYS(s, "pexpireat a 9223372036854775807", ":1\r\n");
	SAYS(s, "ttl a", ":9223370336854776\r\n");
	SAYS(s, "expire a 0", ":1\r\n");
	SAYS(s, "exists a", ":0\r\n");
	SAYS(s, "set a 1", OK);
	SAYS(s, "pexpire a -9223372036854775808", ":1\r\n");
	SAYS(s, "dbsize", ":0\r\n");
}

static void test_expire_conditions(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a 1", OK);
	SAYS(s, "expire a 10 xx", ":0\r\n");
	SAYS(s, "expire a 10 gt", ":0\r\n");
	SAYS(s, "expire a 10 lt", ":1\r\n");
	SAYS(s, "expire a 20 nx", ":0\r\n");
	SAYS(s, "expire a 10 GT", ":0\r\n");
	SAYS(s, "expire a 10 LT", ":0\r\n");
	SAYS(s, "expire a 20 gt", ":1\r\n");
	SAYS(s, "expire a 15 lt", ":1\r\n");
	SAYS(s, "expire a 5 xx gt", ":0\r\n");
	SAYS(s, "expire a 5 xx lt", ":1\r\n");
	SAYS(s, "ttl a", ":5\r\n");
	SAYS(s, "expire a -1 gt", ":0\r\n");
	SAYS(s, "expire a -1 lt", ":1\r\n");
	SAYS(s, "exists a", ":0\r\n");
}

static void test_expire_errors(void **state)
{
	struct seen *s = *state;

	SAYS(s, "expire none x foo", "-ERR Unsupported option foo\r\n");
	SAYS_ARGS(s, "-ERR Unsupported option a  b\r\n", B("expire"), B("none"), B("1"), B("a\r\nb\r\n"));
	SAYS(s, "expire none x nx gt",
		"-ERR NX and XX, GT or LT options at the same time are not compatible\r\n");
	SAYS(s, "expire none x gt lt", "-ERR GT and LT options at the same time are not compatible\r\n");
	SAYS(s, "expire none x", ERR_INT);
	SAYS(s, "expire none 9223372036854775807", "-ERR invalid expire time in 'expire' command\r\n");
	SAYS(s, "expire none -9223372036854775808", "-ERR invalid expire time in 'expire' command\r\n");
	SAYS(s, "pexpire none 9223372036854775807", "-ERR invalid expire time in 'pexpire' command\r\n");
	SAYS(s, "expireat none 9223372036854776", "-ERR invalid expire time in 'expireat' command\r\n");
	SAYS(s, "pexpireat none 9223372036854775807", ":0\r\n");
}

static void test_expired_keys_are_gone(void **state)
{
	struct seen *s = *state;

	SAYS(s, "set a 1 px 10", OK);
	SAYS(s, "set b 1 px 10", OK);
	SAYS(s, "set c 1", OK);
	fix_tick(&s->f, 11);
	SAYS(s, "dbsize", ":3\r\n");
	SAYS(s, "keys *", "*1\r\n$1\r\nc\r\n");
	SAYS(s, "scan 0", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nc\r\n");
	EVENTS(s, "exists a", "x:expired:0:a ");
	/* A target that has expired is not looked at while there is no source. */
	SAYS(s, "rename none b", "-ERR no such key\r\n");
	SAYS(s, "dbsize", ":2\r\n");
	EVENTS(s, "rename c b", "x:expired:0:b g:rename_from:0:c g:rename_to:0:b ");
	SAYS(s, "rename b c", OK);
	SAYS(s, "pexpire b 1", ":0\r\n");
	SAYS(s, "set b 1 px 1", OK);
	fix_tick(&s->f, 2);
	SAYS(s, "rename b c", "-ERR no such key\r\n");
	SAYS(s, "renamenx c b", ":1\r\n");
	SAYS(s, "dbsize", ":1\r\n");
	SAYS(s, "randomkey", "$1\r\nb\r\n");
}

/* ---- other names, other databases ---- */

static void test_rename(void **state)
{
	struct seen *s = *state;

	SAYS(s, "rename a b", "-ERR no such key\r\n");
	SAYS(s, "rename a a", "-ERR no such key\r\n");
	SAYS(s, "renamenx a b", "-ERR no such key\r\n");
	SAYS(s, "set a 1 ex 100", OK);
	SAYS(s, "set b 2", OK);
	SAYS(s, "renamenx a b", ":0\r\n");
	SAYS(s, "rename a a", OK);
	SAYS(s, "renamenx a a", ":0\r\n");
	SAYS(s, "rename a b", OK);
	SAYS(s, "get b", "$1\r\n1\r\n");
	SAYS(s, "ttl b", ":100\r\n");
	SAYS(s, "exists a", ":0\r\n");
	SAYS(s, "renamenx b a", ":1\r\n");
	SAYS(s, "dbsize", ":1\r\n");
}

static void test_rename_of_a_long_value(void **state)
{
	struct seen *s = *state;
	struct bytes big = bytes_times('x', 60000);

	SAYS_ARGS(s, OK, B("set"), B("a"), big);
	SAYS_ARGS(s, OK, B("set"), B("b"), big);
	fix_tick(&s->f, 1);
	SAYS(s, "rename a b", OK);
	SAYS(s, "append b y", ":60001\r\n");
	SAYS(s, "copy b c", ":1\r\n");
	SAYS(s, "append b z", ":60002\r\n");
	SAYS(s, "getrange c -2 -1", "$2\r\nxy\r\n");
	SAYS(s, "move c 3", ":1\r\n");
	fix_tick(&s->f, 1);
	SAYS(s, "select 3", OK);
	SAYS(s, "strlen c", ":60001\r\n");
	mem_free((char *)big.p);
}

static void test_copy(void **state)
{
	struct seen *s = *state;

	SAYS(s, "copy a b", ":0\r\n");
	SAYS(s, "copy a a", ERR_SAME);
	SAYS(s, "set a 1 ex 100", OK);
	SAYS(s, "copy a b", ":1\r\n");
	SAYS(s, "get b", "$1\r\n1\r\n");
	SAYS(s, "ttl b", ":100\r\n");
	SAYS(s, "set a 2", OK);
	SAYS(s, "copy a b", ":0\r\n");
	SAYS(s, "copy a b replace", ":1\r\n");
	SAYS(s, "get b", "$1\r\n2\r\n");
	SAYS(s, "ttl b", ":-1\r\n");
	SAYS(s, "copy a a db 1", ":1\r\n");
	SAYS(s, "copy a a DB 1", ":0\r\n");
	SAYS(s, "copy a a db 1 REPLACE", ":1\r\n");
	SAYS(s, "copy a b db 16", ERR_DB);
	SAYS(s, "copy a b db -1", ERR_DB);
	SAYS(s, "copy a b db x", ERR_INT);
	SAYS(s, "copy a b db 99999999999", ERR_INT_RANGE);
	SAYS(s, "copy a b db", ERR_SYNTAX);
	SAYS(s, "copy a b bogus", ERR_SYNTAX);
	SAYS(s, "select 1", OK);
	SAYS(s, "get a", "$1\r\n2\r\n");
	SAYS(s, "dbsize", ":1\r\n");
}

static void test_move(void **state)
{
	struct seen *s = *state;

	SAYS(s, "move a 0", ERR_SAME);
	SAYS(s, "move a 16", ERR_DB);
	SAYS(s, "move a x", ERR_INT);
	SAYS(s, "move a 99999999999", ERR_INT_RANGE);
	SAYS(s, "move a 1", ":0\r\n");
	SAYS(s, "set a 1 ex 100", OK);
	SAYS(s, "move a 1", ":1\r\n");
	SAYS(s, "exists a", ":0\r\n");
	SAYS(s, "set a 2", OK);
	SAYS(s, "move a 1", ":0\r\n");
	SAYS(s, "select 1", OK);
	SAYS(s, "ttl a", ":100\r\n");
	SAYS(s, "get a", "$1\r\n1\r\n");
}

static void test_whole_databases(void **state)
{
	struct seen *s = *state;

	SAYS(s, "mset a 1 b 2", OK);
	SAYS(s, "select 1", OK);
	SAYS(s, "set c 3", OK);
	SAYS(s, "swapdb 0 1", OK);
	SAYS(s, "dbsize", ":2\r\n");
	SAYS(s, "select 0", OK);
	SAYS(s, "get c", "$1\r\n3\r\n");
	SAYS(s, "swapdb 0 0", OK);
	SAYS(s, "swapdb x y", "-ERR invalid first DB index\r\n");
	SAYS(s, "swapdb 0 y", "-ERR invalid second DB index\r\n");
	SAYS(s, "swapdb 0 99999999999", "-ERR invalid second DB index\r\n");
	SAYS(s, "swapdb 0 16", ERR_DB);
	SAYS(s, "swapdb -1 0", ERR_DB);
	SAYS(s, "flushdb bogus", ERR_SYNTAX);
	SAYS(s, "flushall sync async", ERR_SYNTAX);
	SAYS(s, "dbsize", ":1\r\n");
	SAYS(s, "flushdb async", OK);
	SAYS(s, "dbsize", ":0\r\n");
	SAYS(s, "select 1", OK);
	SAYS(s, "dbsize", ":2\r\n");
	SAYS(s, "select 0", OK);
	SAYS(s, "flushall", OK);
	SAYS(s, "select 1", OK);
	SAYS(s, "dbsize", ":0\r\n");
}

/* ---- walking ---- */

static void test_keys_patterns(void **state)
{
	struct seen *s = *state;

	SAYS(s, "keys *", "*0\r\n");
	SAYS(s, "mset one 1 two 2 three 3", OK);
	SAYS(s, "keys o*", "*1\r\n$3\r\none\r\n");
	SAYS(s, "keys t?o", "*1\r\n$3\r\ntwo\r\n");
	SAYS(s, "keys [^ot]*", "*0\r\n");
	SAYS(s, "keys thr[a-f]e", "*1\r\n$5\r\nthree\r\n");
	FIX_BEGINS(&s->f, "keys *", "*3\r\n");
}

static void test_scan_arguments(void **state)
{
	struct seen *s = *state;
	const char *none = "*2\r\n$1\r\n0\r\n*0\r\n";

	SAYS(s, "scan 0", none);
	SAYS(s, "set a 1", OK);
	SAYS(s, "scan 0", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n");
	SAYS(s, "scan 0 match b*", none);
	SAYS(s, "scan 0 type list", none);
	SAYS(s, "scan 0 type bogus", none);
	SAYS(s, "scan 0 type STRING match a count 5", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n");
	SAYS(s, "scan x", "-ERR invalid cursor\r\n");
	SAYS(s, "scan 1x", "-ERR invalid cursor\r\n");
	SAYS(s, "scan 18446744073709551616", "-ERR invalid cursor\r\n");
	FIX_BEGINS(&s->f, "scan 18446744073709551615", "*2\r\n");
	FIX_BEGINS(&s->f, "scan -1", "*2\r\n");
	SAYS(s, "scan 0 count 0", ERR_SYNTAX);
	SAYS(s, "scan 0 count x", ERR_INT);
	SAYS(s, "scan 0 count", ERR_SYNTAX);
	SAYS(s, "scan 0 bogus 1", ERR_SYNTAX);
	SAYS(s, "scan 0 count 9223372036854775807", "*2\r\n$1\r\n0\r\n*1\r\n$1\r\na\r\n");
}

/* Reads the cursor and marks the names ("key:<n>") of a SCAN's answer; returns how many names there were. */
static unsigned scan_answer(const char *p, char cursor[24], uint8_t *seen, unsigned n)
{
	unsigned names = 0;
	const char *at = strstr(p, "\r\n") + 2; /* behind *2 */

	at = strstr(at, "\r\n") + 2;
	snprintf(cursor, 24, "%.*s", (int)(strstr(at, "\r\n") - at), at);
	while ((at = strstr(at, "key:")) != NULL) {
		unsigned i = (unsigned)strtoul(at + 4, NULL, 10);

		assert_true(i < n);
		seen[i] = 1;
		names++;
		at += 4;
	}
	return names;
}

/* Every key is seen once at least, in calls of about COUNT keys, while others come and go. */
static void test_scan_sees_every_key(void **state)
{
	enum { N = 5000 };
	struct seen *s = *state;
	uint8_t *seen = mem_zalloc(N + 1000);
	char line[64], cursor[24] = "0";
	unsigned calls = 0, i;

	for (i = 0; i < N; i++) {
		snprintf(line, sizeof(line), "set key:%u %u", i, i);
		SAYS(s, line, OK);
		if (i % 100 == 0)
			fix_tick(&s->f, 1);
	}
	do {
		snprintf(line, sizeof(line), "scan %s count 100", cursor);
		scan_answer(fix_run(&s->f, &s->f.a, line), cursor, seen, N + 1000);
		for (unsigned k = 0; k < 20; k++) {
			snprintf(line, sizeof(line), "set key:%u x", N + (calls * 20 + k) % 1000);
			fix_run(&s->f, &s->f.a, line);
			snprintf(line, sizeof(line), "del key:%u", N + (calls * 7 + k * 3) % 1000);
			fix_run(&s->f, &s->f.a, line);
		}
		fix_tick(&s->f, 1);
		calls++;
	} while (strcmp(cursor, "0") != 0 && calls < 10000);
	assert_string_equal(cursor, "0");
	for (i = 0; i < N; i++)
		assert_int_equal(seen[i], 1);
	mem_free(seen);
}

/* A COUNT of more keys than SCAN keeps without allocating. */
static void test_scan_of_many_at_once(void **state)
{
	enum { N = 3000 };
	struct seen *s = *state;
	uint8_t *seen = mem_zalloc(N);
	char line[64], cursor[24];

	for (unsigned i = 0; i < N; i++) {
		snprintf(line, sizeof(line), "set key:%u %u", i, i);
		SAYS(s, line, OK);
	}
	assert_int_equal(scan_answer(fix_run(&s->f, &s->f.a, "scan 0 count 1000000"), cursor, seen, N), N);
	assert_string_equal(cursor, "0");
	FIX_BEGINS(&s->f, "keys *", "*3000\r\n");
	assert_int_equal(scan_answer(fix_run(&s->f, &s->f.a, "scan 0 count 1000000 match key:1?"), cursor, seen, N), 10);
	mem_free(seen);
}

static void test_randomkey_finds_each(void **state)
{
	struct seen *s = *state;
	unsigned seen = 0;

	SAYS(s, "randomkey", NIL);
	SAYS(s, "mset a 1 b 2 c 3", OK);
	for (int i = 0; i < 1000 && seen != 7; i++) {
		const char *p = fix_run(&s->f, &s->f.a, "randomkey");

		assert_memory_equal(p, "$1\r\n", 4);
		assert_in_range(p[4], 'a', 'c');
		seen |= 1u << (p[4] - 'a');
	}
	assert_int_equal(seen, 7);
}

/* ---- OBJECT ---- */

static void test_object(void **state)
{
	struct seen *s = *state;

	SAYS(s, "object encoding a", NIL);
	SAYS(s, "object freq a", NIL);
	SAYS(s, "set a 5", OK);
	SAYS(s, "object encoding a", "$3\r\nint\r\n");
	SAYS(s, "object refcount a", ":2147483647\r\n");
	SAYS(s, "object freq a",
		"-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching "
		"between policies at runtime LRU and LFU data will take some time to adjust.\r\n");
	SAYS(s, "set b 12345678901234567890123456789012345678901234", OK);
	SAYS(s, "object encoding b", "$6\r\nembstr\r\n");
	SAYS(s, "object refcount b", ":1\r\n");
	SAYS(s, "set b 123456789012345678901234567890123456789012345", OK);
	SAYS(s, "object encoding b", "$3\r\nraw\r\n");
	SAYS(s, "object idletime b", ":0\r\n");
	fix_tick(&s->f, 5000);
	SAYS(s, "object idletime b", ":5\r\n");
	SAYS(s, "ttl b", ":-1\r\n");
	SAYS(s, "object idletime b", ":5\r\n");
	SAYS(s, "touch b", ":1\r\n");
	SAYS(s, "object idletime b", ":0\r\n");
	SAYS(s, "object encoding", "-ERR wrong number of arguments for 'object|encoding' command\r\n");
	SAYS(s, "object bogus b", "-ERR unknown subcommand 'bogus'. Try OBJECT HELP.\r\n");
	FIX_BEGINS(&s->f, "object help", "*11\r\n+OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n");
}

/* ---- events ---- */

static void test_events(void **state)
{
	struct seen *s = *state;

	EVENTS(s, "mset a 1 b 2", "$:set:0:a $:set:0:b ");
	EVENTS(s, "expire a 10", "g:expire:0:a ");
	EVENTS(s, "expire a 10 nx", "");
	EVENTS(s, "persist a", "g:persist:0:a ");
	EVENTS(s, "persist a", "");
	EVENTS(s, "rename a c", "g:rename_from:0:a g:rename_to:0:c ");
	EVENTS(s, "rename c c", "");
	EVENTS(s, "copy c d", "g:copy_to:0:d ");
	EVENTS(s, "copy c d", "");
	EVENTS(s, "move c 1", "g:move_from:0:c g:move_to:1:c ");
	EVENTS(s, "copy d d db 2", "g:copy_to:2:d ");
	EVENTS(s, "expire d -1", "g:del:0:d ");
	EVENTS(s, "del b none", "g:del:0:b ");
	EVENTS(s, "unlink b", "");
	seen_take(&s->touched);
	EVENTS(s, "flushdb", "");
	assert_string_equal(seen_take(&s->touched), "flushed:0 ");
	EVENTS(s, "flushall", "");
	assert_string_equal(seen_take(&s->touched), "flushed:-1 ");
	EVENTS(s, "swapdb 1 2", "");
	assert_string_equal(seen_take(&s->touched), "flushed:1 flushed:2 ");
}

#define T(name) cmocka_unit_test_setup_teardown(test_##name, seen_setup, seen_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(del_exists_touch_type), T(expire_family), T(expire_conditions), T(expire_errors),
		T(expired_keys_are_gone), T(rename), T(rename_of_a_long_value), T(copy), T(move), T(whole_databases),
		T(keys_patterns), T(scan_arguments), T(scan_sees_every_key), T(scan_of_many_at_once),
		T(randomkey_finds_each), T(object), T(events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
