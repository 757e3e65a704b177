/* MULTI, EXEC and WATCH: queueing, refusals, what touches a watched key, and EXEC as one unit. */
#include "fixture.h"

#include "base/clock.h"

static int setup(void **state)
{
	struct fix *f = mem_zalloc(sizeof(*f));
	fix_open(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fix_close(*state);
	mem_free(*state);
	return 0;
}

static void begin(struct fix *f)
{
	FIX_SAYS(f, "multi", "+OK\r\n");
}

static void queue(struct fix *f, const char *line)
{
	FIX_SAYS(f, line, "+QUEUED\r\n");
}

/* ---- queueing ---- */

static void test_exec_answers_each_command(void **state)
{
	struct fix *f = *state;
	begin(f);
	queue(f, "set a 1");
	queue(f, "incr a");
	queue(f, "ping");
	queue(f, "get a");
	assert_int_equal(session_multi_count(&f->a), 4);
	FIX_B_SAYS(f, "get a", "$-1\r\n");
	FIX_SAYS(f, "exec", "*4\r\n+OK\r\n:2\r\n+PONG\r\n$1\r\n2\r\n");
	FIX_B_SAYS(f, "get a", "$1\r\n2\r\n");
	assert_int_equal(session_multi_count(&f->a), -1);
	assert_int_equal(session_multi_bytes(&f->a), 0);
	FIX_SAYS(f, "exec", "-ERR EXEC without MULTI\r\n");
	begin(f);
	FIX_SAYS(f, "exec", "*0\r\n");
}

static void busy(struct call *c)
{
	uint64_t until = clock_mono_ns() + 1000000;
	while (clock_mono_ns() < until)
		;
	reply_ok(c->r);
}

static void test_time_of_exec_holds_that_of_its_commands(void **state)
{
	static const struct cmd slow[] = {{CMD("busy", 1, busy, 0, 0)}, CMD_END};
	struct fix *f = *state;
	engine_register(f->e, slow);
	fix_tick(f, 1);
	begin(f);
	queue(f, "busy");
	queue(f, "busy");
	FIX_SAYS(f, "exec", "*2\r\n+OK\r\n+OK\r\n");
	const struct cmd_stats *inner = engine_stats(f->e, engine_find(f->e, BYTES_LIT("busy")));
	const struct cmd_stats *outer = engine_stats(f->e, engine_find(f->e, BYTES_LIT("exec")));
	assert_true(inner->ns >= 2000000);
	assert_true(outer->ns >= inner->ns);
}

static void test_errors_at_run_time_do_not_stop_exec(void **state)
{
	struct fix *f = *state;
	begin(f);
	queue(f, "set a x");
	queue(f, "incr a");
	queue(f, "set b 1");
	FIX_SAYS(f, "exec", "*3\r\n+OK\r\n-ERR value is not an integer or out of range\r\n+OK\r\n");
	FIX_SAYS(f, "get b", "$1\r\n1\r\n");
	assert_int_equal(engine_stats(f->e, engine_find(f->e, BYTES_LIT("incr")))->failed, 1);
	assert_int_equal(engine_stats(f->e, engine_find(f->e, BYTES_LIT("exec")))->failed, 0);
	assert_int_equal(engine_totals(f->e).commands, 6); /* MULTI, EXEC, three inside, GET */
}

static void test_refusals_while_queueing_abort_exec(void **state)
{
	struct fix *f = *state;
	static const char *const bad[] = {"nosuch", "get", "command zap", "set a"};
	for (int i = 0; i < 4; i++) {
		begin(f);
		queue(f, "set a 1");
		assert_memory_equal(fix_run(f, &f->a, bad[i]), "-ERR ", 5);
		queue(f, "set a 2");
		FIX_SAYS(f, "exec", "-EXECABORT Transaction discarded because of previous errors.\r\n");
		FIX_SAYS(f, "get a", "$-1\r\n");
	}
	begin(f);
	fix_run(f, &f->a, "nosuch");
	FIX_SAYS(f, "discard", "+OK\r\n");
	begin(f);
	queue(f, "set a 3");
	FIX_SAYS(f, "exec", "*1\r\n+OK\r\n");
}

static void test_commands_of_transactions_are_never_queued(void **state)
{
	struct fix *f = *state;
	begin(f);
	FIX_SAYS(f, "multi", "-ERR MULTI calls can not be nested\r\n");
	FIX_SAYS(f, "watch a", "-ERR WATCH inside MULTI is not allowed\r\n");
	queue(f, "unwatch");
	FIX_SAYS(f, "exec", "*1\r\n+OK\r\n");
	begin(f);
	queue(f, "set a 1");
	FIX_SAYS(f, "discard", "+OK\r\n");
	FIX_SAYS(f, "discard", "-ERR DISCARD without MULTI\r\n");
	FIX_SAYS(f, "get a", "$-1\r\n");
	begin(f);
	queue(f, "set a 1");
	FIX_SAYS(f, "exec now", "-EXECABORT Transaction discarded because of: "
		"wrong number of arguments for 'exec' command\r\n");
	FIX_SAYS(f, "exec", "-ERR EXEC without MULTI\r\n");
	begin(f);
	FIX_SAYS(f, "reset", "+RESET\r\n");
	FIX_SAYS(f, "exec", "-ERR EXEC without MULTI\r\n");
	begin(f);
	FIX_SAYS(f, "quit", "+OK\r\n");
}

static void test_unwritable_pool_refuses_exec_of_writers(void **state)
{
	struct fix *f = *state;
	begin(f);
	queue(f, "set a 1");
	f->e->write_error = "disk gone";
	FIX_SAYS(f, "exec", "-EXECABORT Transaction discarded because of: MISCONF Errors writing to the pool: disk gone. "
		"Commands that may change the dataset are refused until it can be written again.\r\n");
	FIX_SAYS(f, "exec", "-ERR EXEC without MULTI\r\n");
	begin(f);
	queue(f, "get a");
	assert_false(session_would_write(&f->a, engine_find(f->e, BYTES_LIT("exec"))));
	FIX_SAYS(f, "exec", "*1\r\n$-1\r\n");
	begin(f);
	assert_memory_equal(fix_run(f, &f->a, "set a 1"), "-MISCONF Errors writing", 23);
	f->e->write_error = NULL;
	FIX_SAYS(f, "exec", "-EXECABORT Transaction discarded because of previous errors.\r\n");
}

static void test_queue_keeps_its_own_copy_of_big_and_many_arguments(void **state)
{
	struct fix *f = *state;
	enum { MANY = 3000, BIG = 100000 };
	char *big = mem_alloc(BIG);
	memset(big, 'q', BIG);
	begin(f);
	struct bytes set_big[3] = {BYTES_LIT("set"), BYTES_LIT("big"), {big, BIG}};
	assert_string_equal(fix_runv(f, &f->a, set_big, 3), "+QUEUED\r\n");
	memset(big, 'x', BIG);
	for (int i = 0; i < MANY; i++) {
		char line[64];
		snprintf(line, sizeof(line), "incrby n %d", i);
		queue(f, line);
	}
	assert_int_equal(session_multi_count(&f->a), MANY + 1);
	assert_true(session_multi_bytes(&f->a) >= BIG + MANY * 64);
	assert_true(session_multi_bytes(&f->a) <= 2 * (BIG + MANY * 160));
	assert_memory_equal(fix_run(f, &f->a, "exec"), "*3001\r\n+OK\r\n:0\r\n:1\r\n:3\r\n:6\r\n", 28);
	FIX_SAYS(f, "get n", "$7\r\n4498500\r\n");
	FIX_SAYS(f, "strlen big", ":100000\r\n");
	FIX_SAYS(f, "getrange big 99990 -1", "$10\r\nqqqqqqqqqq\r\n");
	mem_free(big);
}

static void test_select_inside_moves_the_session(void **state)
{
	struct fix *f = *state;
	begin(f);
	queue(f, "set a 0");
	queue(f, "select 3");
	queue(f, "set a 3");
	FIX_SAYS(f, "exec", "*3\r\n+OK\r\n+OK\r\n+OK\r\n");
	FIX_SAYS(f, "get a", "$1\r\n3\r\n");
	FIX_SAYS(f, "select 0", "+OK\r\n");
	FIX_SAYS(f, "get a", "$1\r\n0\r\n");
}

static void test_hello_inside_changes_what_follows(void **state)
{
	struct fix *f = *state;
	begin(f);
	queue(f, "get a");
	queue(f, "hello 3");
	queue(f, "get a");
	const char *answer = fix_run(f, &f->a, "exec");
	assert_memory_equal(answer, "*3\r\n$-1\r\n%7\r\n", 13);
	assert_string_equal(answer + strlen(answer) - 7, "*0\r\n_\r\n");
}

/* ---- watching ---- */

/* Whether EXEC of client a, who watches, goes through. */
static bool exec_passes(struct fix *f)
{
	begin(f);
	queue(f, "ping");
	const char *answer = fix_run(f, &f->a, "exec");
	if (strcmp(answer, "*-1\r\n") == 0)
		return false;
	assert_string_equal(answer, "*1\r\n+PONG\r\n");
	return true;
}

/* a watches, b does something. */
static bool survives(struct fix *f, const char *watch, const char *deed)
{
	FIX_SAYS(f, watch, "+OK\r\n");
	char line[256];
	strcpy(line, deed);
	for (char *part = strtok(line, ";"); part != NULL;) {
		char *rest = strtok(NULL, "");
		assert_true(fix_run(f, &f->b, part)[0] != '-');
		part = rest == NULL ? NULL : strtok(rest, ";");
	}
	return exec_passes(f);
}

static void test_changes_of_watched_keys_are_seen(void **state)
{
	struct fix *f = *state;
	static const struct {
		const char *deed;
		bool passes;
	} deeds[] = {
		{"get a", true}, {"set other 1", true}, {"ping", true},
		{"set a 2", false}, {"set a 1", false}, {"del a", false}, {"append a x", false}, {"incr n", true},
		{"expire a 100", false}, {"persist a", true}, {"expire a 100;persist a", false},
		{"rename a z", false}, {"rename other a", false}, {"setnx a x", true}, {"getdel a", false}, {"move a 5", false},
		{"copy a other2", true}, {"copy other a replace", false}, {"unlink a", false}, {"touch a", true},
		{"flushdb", false}, {"flushall", false}, {"swapdb 0 1", false}, {"swapdb 1 2", true}, {"getset a 9", false},
		{"select 1;set a 1;select 0", true}, {"select 1;flushdb;select 0", true}, {"getex a ex 100", false},
		{"mset other 1 a 2", false}, {"setbit a 3 1", true}, {"setbit a 3 0", false}, {"setrange a 0 zz", false},
	};
	for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		fix_run(f, &f->b, "flushall");
		fix_run(f, &f->b, "set a 1");
		fix_run(f, &f->b, "set other 5");
		fix_run(f, &f->b, "set n 5");
		bool passed = survives(f, "watch x a y", deeds[i].deed);
		if (passed != deeds[i].passes)
			fail_msg("%s: %s", deeds[i].deed, passed ? "passed" : "failed");
	}
}

static void test_absent_keys_are_watched_too(void **state)
{
	struct fix *f = *state;
	assert_true(survives(f, "watch a", "del a"));
	assert_true(survives(f, "watch a", "flushall"));
	assert_true(survives(f, "watch a", "flushdb"));
	assert_true(survives(f, "watch a", "swapdb 0 1"));
	assert_false(survives(f, "watch a", "set a 1"));
	fix_run(f, &f->b, "flushall");
	FIX_B_SAYS(f, "select 1", "+OK\r\n");
	FIX_B_SAYS(f, "set a 1", "+OK\r\n");
	assert_false(survives(f, "watch a", "swapdb 0 1")); /* comes into being */
}

static void test_own_changes_count(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_SAYS(f, "set a 1", "+OK\r\n");
	assert_false(exec_passes(f));
	FIX_SAYS(f, "watch a", "+OK\r\n");
	begin(f);
	queue(f, "set a 2");
	FIX_SAYS(f, "exec", "*1\r\n+OK\r\n"); /* inside EXEC nothing is watched any more */
}

static void test_watching_ends(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "watch a a b", "+OK\r\n");
	assert_int_equal(session_watch_count(&f->a), 2);
	FIX_B_SAYS(f, "set a 1", "+OK\r\n");
	FIX_SAYS(f, "unwatch", "+OK\r\n");
	assert_int_equal(session_watch_count(&f->a), 0);
	assert_true(exec_passes(f));
	FIX_SAYS(f, "watch a", "+OK\r\n");
	begin(f);
	FIX_B_SAYS(f, "set a 2", "+OK\r\n");
	FIX_SAYS(f, "discard", "+OK\r\n");
	assert_int_equal(session_watch_count(&f->a), 0);
	assert_true(exec_passes(f));
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_B_SAYS(f, "set a 3", "+OK\r\n");
	assert_false(exec_passes(f));
	assert_true(exec_passes(f)); /* a failed EXEC ends it too */
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_B_SAYS(f, "set a 4", "+OK\r\n");
	FIX_SAYS(f, "watch b", "+OK\r\n"); /* does not forgive */
	assert_false(exec_passes(f));
	assert_int_equal(f->e->watches.n, 0);
}

static void test_databases_are_watched_apart(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "select 1", "+OK\r\n");
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_SAYS(f, "select 0", "+OK\r\n");
	FIX_SAYS(f, "watch a", "+OK\r\n");
	assert_int_equal(session_watch_count(&f->a), 2);
	FIX_B_SAYS(f, "select 1", "+OK\r\n");
	FIX_B_SAYS(f, "set a 1", "+OK\r\n");
	assert_false(exec_passes(f));
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_B_SAYS(f, "set a 1", "+OK\r\n");
	assert_true(exec_passes(f));
}

static void test_key_that_expires_while_watched_fails_exec(void **state)
{
	struct fix *f = *state;
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	FIX_SAYS(f, "watch a", "+OK\r\n");
	assert_true(exec_passes(f));
	FIX_SAYS(f, "watch a", "+OK\r\n");
	fix_tick(f, 200);
	assert_false(exec_passes(f)); /* nobody had met it */
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	FIX_SAYS(f, "watch a", "+OK\r\n");
	fix_tick(f, 200);
	FIX_B_SAYS(f, "get a", "$-1\r\n"); /* deleted by a read */
	assert_false(exec_passes(f));
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	FIX_SAYS(f, "watch a", "+OK\r\n");
	fix_tick(f, 200);
	assert_int_equal(ks_expire_due(f->ks, 10), 1); /* deleted by the clock */
	assert_false(exec_passes(f));
}

static void test_key_that_had_expired_before_is_absent(void **state)
{
	struct fix *f = *state;
	ks_set_active_expire(f->ks, false);
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	fix_tick(f, 200);
	FIX_SAYS(f, "watch a", "+OK\r\n");
	assert_true(exec_passes(f));
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	fix_tick(f, 200);
	assert_true(survives(f, "watch a", "get a"));
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	fix_tick(f, 200);
	assert_true(survives(f, "watch a", "flushall"));
	FIX_B_SAYS(f, "set a 1 px 100", "+OK\r\n");
	fix_tick(f, 200);
	assert_false(survives(f, "watch a", "set a 2"));
	ks_set_active_expire(f->ks, true);
}

static void test_two_watchers_are_both_told(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "watch a", "+OK\r\n");
	FIX_B_SAYS(f, "watch a", "+OK\r\n");
	FIX_B_SAYS(f, "set a 1", "+OK\r\n");
	assert_true(f->a.flags & SESSION_DIRTY_CAS);
	assert_true(f->b.flags & SESSION_DIRTY_CAS);
}

/* As many watches as it takes for the table to grow, seen and forgotten one by one. */
static void test_many_watched_keys(void **state)
{
	struct fix *f = *state;
	enum { MANY = 2000 };
	char line[64];
	for (int i = 0; i < MANY; i++) {
		snprintf(line, sizeof(line), "watch key:%d", i);
		FIX_SAYS(f, line, "+OK\r\n");
	}
	assert_int_equal(f->e->watches.n, MANY);
	FIX_B_SAYS(f, "watch key:1234", "+OK\r\n");
	FIX_B_SAYS(f, "set key:99999 1", "+OK\r\n");
	assert_false(f->a.flags & SESSION_DIRTY_CAS);
	FIX_SAYS(f, "set key:1234 1", "+OK\r\n");
	assert_true(f->a.flags & SESSION_DIRTY_CAS);
	assert_true(f->b.flags & SESSION_DIRTY_CAS);
	FIX_SAYS(f, "unwatch", "+OK\r\n");
	assert_int_equal(f->e->watches.n, 1);
}

/* ---- one unit ---- */

static void test_exec_that_finds_the_pool_full_is_undone_whole(void **state)
{
	(void)state;
	struct fix f;
	fix_open_sized(&f, 4 << 20);
	enum { BIG = 300000 };
	char *big = mem_zalloc(BIG);
	FIX_SAYS(&f, "set a old", "+OK\r\n");
	FIX_SAYS(&f, "set gone soon", "+OK\r\n");
	fix_tick(&f, 1);
	FIX_B_SAYS(&f, "watch a", "+OK\r\n");
	FIX_SAYS(&f, "set kept 1", "+OK\r\n"); /* of the same tick, before */
	uint64_t keys = ks_count(f.ks, 0);
	begin(&f);
	queue(&f, "set a new");
	queue(&f, "del gone");
	queue(&f, "select 2");
	queue(&f, "set a new");
	for (int i = 0; i < 30; i++) {
		char key[16];
		int n = snprintf(key, sizeof(key), "big%d", i);
		struct bytes argv[3] = {BYTES_LIT("set"), {key, (size_t)n}, {big, BIG}};
		assert_string_equal(fix_runv(&f, &f.a, argv, 3), "+QUEUED\r\n");
	}
	FIX_SAYS(&f, "exec", "-OOM command not allowed when the pool is full (see pool-size).\r\n");
	assert_int_equal(f.a.db, 0);
	assert_int_equal(ks_count(f.ks, 0), keys);
	assert_int_equal(ks_count(f.ks, 2), 0);
	FIX_SAYS(&f, "get a", "$3\r\nold\r\n");
	FIX_SAYS(&f, "get gone", "$4\r\nsoon\r\n");
	FIX_SAYS(&f, "get kept", "$1\r\n1\r\n");
	FIX_SAYS(&f, "exists big0", ":0\r\n");
	assert_false(f.b.flags & SESSION_DIRTY_CAS); /* nothing has changed after all */
	fix_tick(&f, 1);
	FIX_SAYS(&f, "get a", "$3\r\nold\r\n");
	FIX_SAYS(&f, "exec", "-ERR EXEC without MULTI\r\n");
	begin(&f);
	queue(&f, "set a new");
	FIX_SAYS(&f, "exec", "*1\r\n+OK\r\n");
	assert_true(f.b.flags & SESSION_DIRTY_CAS);
	mem_free(big);
	fix_close(&f);
}

/* Overwrites in place need no room of their own, but the record of the tick does. */
static void test_exec_larger_than_a_tick_is_undone_whole(void **state)
{
	(void)state;
	struct fix f;
	fix_open_sized(&f, 6 << 20);
	enum { KEYS = 8000, VALUE = 300 };
	char key[24], value[VALUE];
	struct bytes argv[3] = {BYTES_LIT("set"), {key, 0}, {value, VALUE}};
	memset(value, 'a', VALUE);
	for (int i = 0; i < KEYS; i++) {
		argv[1].n = (size_t)snprintf(key, sizeof(key), "key:%d", i);
		assert_string_equal(fix_runv(&f, &f.a, argv, 3), "+OK\r\n");
		if (i % 100 == 0)
			fix_tick(&f, 1);
	}
	fix_tick(&f, 1);
	FIX_SAYS(&f, "set n 41", "+OK\r\n");
	memset(value, 'b', VALUE);
	begin(&f);
	queue(&f, "incr n");
	for (int i = 0; i < KEYS; i++) {
		argv[1].n = (size_t)snprintf(key, sizeof(key), "key:%d", i);
		assert_string_equal(fix_runv(&f, &f.a, argv, 3), "+QUEUED\r\n");
	}
	/* How full the pool is by now depends on its secret a little: either bound may be met first. */
	const char *said = fix_run(&f, &f.a, "exec");
	if (strcmp(said, "-OOM command not allowed when the pool is full (see pool-size).\r\n") != 0)
		assert_string_equal(said,
			"-OOM the transaction is larger than one tick can hold; nothing of it was applied.\r\n");
	FIX_SAYS(&f, "get n", "$2\r\n41\r\n");
	for (int i = 0; i < KEYS; i++) {
		struct bytes range[4] = {BYTES_LIT("getrange"), {key, 0}, BYTES_LIT("0"), BYTES_LIT("2")};
		range[1].n = (size_t)snprintf(key, sizeof(key), "key:%d", i);
		assert_string_equal(fix_runv(&f, &f.a, range, 4), "$3\r\naaa\r\n");
	}
	fix_close(&f);
}

static void test_exec_is_one_unit_among_the_commands_of_a_tick(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "set a 1", "+OK\r\n");
	begin(f);
	queue(f, "incr a");
	queue(f, "incr a");
	FIX_SAYS(f, "exec", "*2\r\n:2\r\n:3\r\n");
	begin(f);
	queue(f, "incr a");
	FIX_SAYS(f, "exec", "*1\r\n:4\r\n");
	FIX_SAYS(f, "incr a", ":5\r\n");
	fix_tick(f, 1);
	FIX_SAYS(f, "get a", "$1\r\n5\r\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_exec_answers_each_command),
		T(test_time_of_exec_holds_that_of_its_commands),
		T(test_errors_at_run_time_do_not_stop_exec),
		T(test_refusals_while_queueing_abort_exec),
		T(test_commands_of_transactions_are_never_queued),
		T(test_unwritable_pool_refuses_exec_of_writers),
		T(test_queue_keeps_its_own_copy_of_big_and_many_arguments),
		T(test_select_inside_moves_the_session),
		T(test_hello_inside_changes_what_follows),
		T(test_changes_of_watched_keys_are_seen),
		T(test_absent_keys_are_watched_too),
		T(test_own_changes_count),
		T(test_watching_ends),
		T(test_databases_are_watched_apart),
		T(test_key_that_expires_while_watched_fails_exec),
		T(test_key_that_had_expired_before_is_absent),
		T(test_two_watchers_are_both_told),
		T(test_many_watched_keys),
		cmocka_unit_test(test_exec_that_finds_the_pool_full_is_undone_whole),
		cmocka_unit_test(test_exec_larger_than_a_tick_is_undone_whole),
		T(test_exec_is_one_unit_among_the_commands_of_a_tick),
	};
	return cmocka_run_group_tests_name("transaction", tests, NULL, NULL);
}
