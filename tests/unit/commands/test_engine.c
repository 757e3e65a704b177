/* Lookup, refusals in their order and words, counters, sessions, silenced answers. */
#include "fixture.h"

#include "base/clock.h"

static int ran; /* handlers that ran */

static void ok(struct call *c)
{
	ran++;
	reply_ok(c->r);
}

static void fails(struct call *c)
{
	reply_error(c->r, "CUSTOM it went wrong");
}

/* CLIENT REPLY's part: the mode is a word. */
static void mode(struct call *c)
{
	if (call_arg_is(c, 1, "off"))
		c->s->reply_mode = REPLY_OFF;
	else if (call_arg_is(c, 1, "skip"))
		c->s->reply_mode = REPLY_SKIP_NEXT;
	else {
		c->s->reply_mode = REPLY_ON;
		reply_ok(c->r);
	}
}

static const struct cmd short_subs[] = {
	{CMD("get", 3, ok, CMD_ADMIN, 0)},
	{CMD("resetstat", 2, ok, CMD_ADMIN, 0)},
	CMD_END
};
static const struct cmd table[] = {
	{CMD("a", -1, ok, 0, 0)},
	{CMD("ab", -1, ok, 0, 0)},
	{CMD("abc", -1, ok, 0, 0)},
	{CMD("abcd_fg", -1, ok, 0, 0)},
	{CMD("abcdefgh", -1, ok, 0, 0)},
	{CMD("abcdefghi", -1, ok, 0, 0)},
	{CMD("abcdefghijklmnopqrstuvwx", -1, ok, 0, 0)},
	{CMD("zaz", -1, ok, 0, 0)},
	{CMD("two", 2, ok, CMD_WRITE | CMD_FAST, ACL_STRING)},
	{CMD("some", -3, ok, CMD_READONLY, ACL_KEYSPACE | ACL_DANGEROUS)},
	{CMD("fails", 1, fails, 0, 0)},
	{CMD("guarded", 1, ok, CMD_PROTECTED, 0)},
	{CMD("open", 1, ok, CMD_NO_AUTH, 0)},
	{CMD("alone", 1, ok, CMD_NO_MULTI, 0)},
	{CMD("mode", 2, mode, 0, 0)},
	{CMD("box", -2, NULL, 0, 0), .subs = short_subs},
	CMD_END
};

static int setup(void **state)
{
	struct fix *f = mem_zalloc(sizeof(*f));
	fix_open_bare(f);
	engine_register(f->e, cmd_table_connection);
	engine_register(f->e, cmd_table_transaction);
	engine_register(f->e, table);
	ran = 0;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fix_close(*state);
	mem_free(*state);
	return 0;
}

static const char *found(struct fix *f, const char *name)
{
	const struct cmd *c = engine_find(f->e, bytes_of(name));
	return c == NULL ? NULL : engine_fullname(c);
}

static void test_names_are_found_in_any_case(void **state)
{
	struct fix *f = *state;
	for (const struct cmd *c = table; c->name != NULL; c++) {
		char upper[32];
		size_t n = strlen(c->name);
		for (size_t i = 0; i <= n; i++)
			upper[i] = (char)(i % 2 || c->name[i] < 'a' || c->name[i] > 'z' ? c->name[i] : c->name[i] - 32);
		assert_string_equal(found(f, c->name), c->name);
		assert_string_equal(found(f, upper), c->name);
	}
	assert_string_equal(found(f, "BOX|Get"), "box|get");
}

static void test_other_names_are_not_found(void **state)
{
	struct fix *f = *state;
	static const char *const no[] = {"", "b", "aa", "abcd", "abcd\x1f" "fg", "abcd\x7f" "fg", "abcdefg", "tw", "two ",
		"t\x17o", "\xf4wo", "T\xd7O", "abcdefghijklmnopqrstuvwxy", "box|", "box|zap", "two|get", "|get", "box|get|x",
		"!WO", "TW/"};
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_null(found(f, no[i]));
	assert_null(engine_find(f->e, BYTES_LIT("two\0")));
	assert_null(engine_find(f->e, BYTES_LIT("a\0b")));
}

/* More commands than the table begins with: it grows and loses none. */
static void test_table_grows(void **state)
{
	struct fix *f = *state;
	enum { MANY = 600 };
	char (*names)[16] = mem_zalloc(MANY * sizeof(*names));
	struct cmd *rows = mem_zalloc((MANY + 1) * sizeof(*rows));
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "cmd%d", i);
		rows[i] = (struct cmd){CMD(names[i], 1, ok, 0, 0)};
	}
	engine_register(f->e, rows);
	for (int i = 0; i < MANY; i++)
		assert_string_equal(found(f, names[i]), names[i]);
	assert_string_equal(found(f, "abcdefghi"), "abcdefghi");
	assert_null(found(f, "cmd600"));
	mem_free(rows);
	mem_free(names);
}

static void test_containers_resolve_their_second_word(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "box GET x", "+OK\r\n");
	const struct cmd *get = engine_find(f->e, BYTES_LIT("box|get"));
	assert_ptr_equal(f->a.last_cmd, get);
	assert_string_equal(engine_parent(get)->name, "box");
	assert_null(engine_parent(engine_parent(get)));
	assert_int_equal(engine_stats(f->e, get)->calls, 1);
	FIX_SAYS(f, "box get", "-ERR wrong number of arguments for 'box|get' command\r\n");
	FIX_SAYS(f, "box", "-ERR wrong number of arguments for 'box' command\r\n");
	FIX_SAYS(f, "bOx zAp x", "-ERR unknown subcommand 'zAp'. Try BOX HELP.\r\n");
	FIX_SAYS(f, "box|get x", "-ERR unknown command 'box|get', with args beginning with: 'x' \r\n");
	assert_int_equal(engine_stats(f->e, get)->rejected, 1);
	assert_null(f->a.last_cmd);
}

static void test_categories_follow_from_flags(void **state)
{
	struct fix *f = *state;
	assert_int_equal(engine_acl(engine_find(f->e, BYTES_LIT("two"))), ACL_STRING | ACL_WRITE | ACL_FAST);
	assert_int_equal(engine_acl(engine_find(f->e, BYTES_LIT("some"))),
		ACL_KEYSPACE | ACL_DANGEROUS | ACL_READ | ACL_SLOW);
	assert_int_equal(engine_acl(engine_find(f->e, BYTES_LIT("box|get"))), ACL_ADMIN | ACL_DANGEROUS | ACL_SLOW);
}

static void test_unknown_commands_show_their_arguments(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "foo", "-ERR unknown command 'foo', with args beginning with: \r\n");
	FIX_SAYS(f, "Foo a b", "-ERR unknown command 'Foo', with args beginning with: 'a' 'b' \r\n");
	char longer[201], expected[400];
	memset(longer, 'x', 200);
	longer[200] = '\0';
	struct bytes argv[3] = {BYTES_LIT("foo"), {longer, 200}, BYTES_LIT("b")};
	snprintf(expected, sizeof(expected), "-ERR unknown command 'foo', with args beginning with: '%.128s' \r\n", longer);
	assert_string_equal(fix_runv(f, &f->a, argv, 3), expected);
	argv[1].n = 126; /* with quotes and blank 129: nothing more is shown */
	snprintf(expected, sizeof(expected), "-ERR unknown command 'foo', with args beginning with: '%.126s' \r\n", longer);
	assert_string_equal(fix_runv(f, &f->a, argv, 3), expected);
	argv[1].n = 120; /* 123: five more bytes */
	argv[2] = BYTES_LIT("abcdefgh");
	snprintf(expected, sizeof(expected), "-ERR unknown command 'foo', with args beginning with: '%.120s' 'abcde' \r\n",
		longer);
	assert_string_equal(fix_runv(f, &f->a, argv, 3), expected);
	argv[0] = (struct bytes){longer, 200};
	argv[1] = BYTES_LIT("a\0b");
	snprintf(expected, sizeof(expected), "-ERR unknown command '%.128s', with args beginning with: 'a' \r\n", longer);
	assert_string_equal(fix_runv(f, &f->a, argv, 2), expected);
	argv[0] = BYTES_LIT("f\r\no");
	assert_string_equal(fix_runv(f, &f->a, argv, 1), "-ERR unknown command 'f  o', with args beginning with: \r\n");
}

static void test_arity_is_exact_or_least(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "two", "-ERR wrong number of arguments for 'two' command\r\n");
	FIX_SAYS(f, "two x", "+OK\r\n");
	FIX_SAYS(f, "TWO x y", "-ERR wrong number of arguments for 'two' command\r\n");
	FIX_SAYS(f, "some x", "-ERR wrong number of arguments for 'some' command\r\n");
	FIX_SAYS(f, "some x y", "+OK\r\n");
	FIX_SAYS(f, "some x y z", "+OK\r\n");
	assert_int_equal(ran, 3);
}

#define WRONGPASS "-WRONGPASS invalid username-password pair or user is disabled.\r\n"

static void test_password_is_asked_for_after_arity(void **state)
{
	struct fix *f = *state;
	engine_set_password(f->e, BYTES_LIT("secret"));
	FIX_SAYS(f, "two x", "+OK\r\n"); /* was there before */
	struct session s;
	session_init(&s, f->e, &fix_session_ops);
	assert_string_equal(fix_run(f, &s, "two x"), "-NOAUTH Authentication required.\r\n");
	assert_string_equal(fix_run(f, &s, "two"), "-ERR wrong number of arguments for 'two' command\r\n");
	assert_string_equal(fix_run(f, &s, "nosuch"), "-ERR unknown command 'nosuch', with args beginning with: \r\n");
	assert_string_equal(fix_run(f, &s, "open"), "+OK\r\n");
	assert_string_equal(fix_run(f, &s, "auth wrong"), WRONGPASS);
	assert_string_equal(fix_run(f, &s, "auth other secret"), WRONGPASS);
	assert_string_equal(fix_run(f, &s, "two x"), "-NOAUTH Authentication required.\r\n");
	assert_string_equal(fix_run(f, &s, "auth secret"), "+OK\r\n");
	assert_string_equal(fix_run(f, &s, "two x"), "+OK\r\n");
	assert_string_equal(fix_run(f, &s, "reset"), "+RESET\r\n");
	assert_string_equal(fix_run(f, &s, "ping"), "-NOAUTH Authentication required.\r\n");
	assert_string_equal(fix_run(f, &s, "auth default secret"), "+OK\r\n");
	assert_string_equal(fix_run(f, &s, "ping"), "+PONG\r\n");
	engine_set_password(f->e, BYTES_LIT(""));
	assert_string_equal(fix_run(f, &s, "reset"), "+RESET\r\n");
	assert_string_equal(fix_run(f, &s, "ping"), "+PONG\r\n");
	assert_string_equal(fix_run(f, &s, "auth default whatever"), "+OK\r\n");
	assert_memory_equal(fix_run(f, &s, "auth whatever"), "-ERR AUTH <password> called without any password", 48);
	session_fini(&s);
}

static const char *never(void *ctx, const struct session *s, const struct cmd *c)
{
	assert_string_equal(c->name, "guarded");
	assert_ptr_equal(s, &((struct fix *)ctx)->a);
	return "ERR GUARDED command not allowed";
}

static void test_protected_commands_ask_above(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "guarded", "+OK\r\n");
	engine_set_ops(f->e, &(struct engine_ops){.ctx = f, .refuse = never});
	FIX_SAYS(f, "guarded", "-ERR GUARDED command not allowed\r\n");
	FIX_SAYS(f, "two x", "+OK\r\n");
	assert_int_equal(ran, 2);
}

static void test_unwritable_pool_refuses_writers_only(void **state)
{
	struct fix *f = *state;
	f->e->write_error = "no space left on device";
	FIX_SAYS(f, "two x", "-MISCONF Errors writing to the pool: no space left on device. Commands that may change "
		"the dataset are refused until it can be written again.\r\n");
	FIX_SAYS(f, "some x y", "+OK\r\n");
	f->e->write_error = NULL;
	FIX_SAYS(f, "two x", "+OK\r\n");
}

struct kinds {
	int n;
	char text[256];
};

static void add_kind(void *ctx, const char *prefix, uint64_t n)
{
	struct kinds *k = ctx;
	k->n++;
	sprintf(k->text + strlen(k->text), "%s=%d ", prefix, (int)n);
}

static void test_calls_failures_and_rejections_are_counted(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "two x", "+OK\r\n");
	FIX_SAYS(f, "two", "-ERR wrong number of arguments for 'two' command\r\n");
	FIX_SAYS(f, "fails", "-CUSTOM it went wrong\r\n");
	FIX_SAYS(f, "two y", "+OK\r\n");
	FIX_SAYS(f, "nosuch", "-ERR unknown command 'nosuch', with args beginning with: \r\n");
	const struct cmd_stats *two = engine_stats(f->e, engine_find(f->e, BYTES_LIT("two")));
	const struct cmd_stats *bad = engine_stats(f->e, engine_find(f->e, BYTES_LIT("fails")));
	assert_int_equal(two->calls, 2);
	assert_int_equal(two->rejected, 1);
	assert_int_equal(two->failed, 0);
	assert_int_equal(bad->calls, 1);
	assert_int_equal(bad->rejected, 0);
	assert_int_equal(bad->failed, 1);
	assert_int_equal(engine_totals(f->e).commands, 3);
	assert_int_equal(engine_totals(f->e).errors, 3);
	assert_int_equal(f->a.commands, 5);
	struct kinds k = {0};
	engine_each_error(f->e, add_kind, &k);
	assert_string_equal(k.text, "ERR=2 CUSTOM=1 ");
	engine_reset_stats(f->e);
	assert_int_equal(two->calls, 0);
	assert_int_equal(engine_totals(f->e).errors, 0);
	k = (struct kinds){0};
	engine_each_error(f->e, add_kind, &k);
	assert_int_equal(k.n, 0);
}

static void busy(struct call *c)
{
	uint64_t until = clock_mono_ns() + 2000000;
	while (clock_mono_ns() < until)
		;
	reply_ok(c->r);
}

static void test_time_goes_to_the_command_that_took_it(void **state)
{
	static const struct cmd slow[] = {{CMD("busy", 1, busy, 0, 0)}, CMD_END};
	struct fix *f = *state;
	engine_register(f->e, slow);
	const struct cmd_stats *st = engine_stats(f->e, engine_find(f->e, BYTES_LIT("busy")));
	fix_tick(f, 1);
	FIX_SAYS(f, "busy", "+OK\r\n");
	assert_true(st->ns >= 2000000);
	uint64_t before = st->ns;
	FIX_SAYS(f, "two x", "+OK\r\n");
	assert_int_equal(st->ns, before);
	engine_set_command_timing(f->e, false);
	FIX_SAYS(f, "busy", "+OK\r\n");
	assert_int_equal(st->ns, before);
	assert_int_equal(st->calls, 2);
}

static void test_latency_classes_are_in_order(void **state)
{
	(void)state;
	uint32_t before = 0;
	for (uint64_t ns = 1; ns < 3000000000u; ns += 1 + ns / 100) {
		uint32_t c = latency_class(ns);
		assert_true(c >= before && c < LATENCY_CLASSES);
		if (ns <= LATENCY_MAX_NS) {
			assert_true(latency_top(c) >= ns);
			assert_true(latency_top(c) <= ns + ns / LATENCY_PARTS);
			assert_int_equal(latency_class(latency_top(c)), c);
		}
		before = c;
	}
}

static void test_percentiles_bound_the_share(void **state)
{
	struct fix *f = *state;
	const struct cmd *two = engine_find(f->e, BYTES_LIT("two"));
	uint64_t ns;
	assert_false(engine_latency_at(two, 50, &ns));
	engine_set_latency_tracking(f->e, false);
	FIX_SAYS(f, "two x", "+OK\r\n");
	assert_false(engine_latency_at(two, 50, &ns));
	engine_set_latency_tracking(f->e, true);
	FIX_SAYS(f, "two x", "+OK\r\n");
	assert_true(engine_latency_at(two, 50, &ns));
	struct latency *l = row_of(two)->latency;
	memset(l, 0, sizeof(*l));
	for (uint64_t i = 1; i <= 10000; i++)
		latency_add(l, i * 10);
	static const double share[] = {0, 1, 50, 99, 99.9, 100};
	static const uint64_t exact[] = {10, 1000, 50000, 99000, 99900, 100000};
	for (int i = 0; i < 6; i++) {
		assert_true(engine_latency_at(two, share[i], &ns));
		assert_true(ns >= exact[i] && ns <= exact[i] + exact[i] / LATENCY_PARTS);
	}
	engine_reset_stats(f->e);
	assert_false(engine_latency_at(two, 50, &ns));
}

static void count(void *ctx, const struct cmd *c, const struct cmd *parent)
{
	int *n = ctx;
	n[parent != NULL]++;
	assert_ptr_equal(engine_parent(c), parent);
}

static void test_each_visits_rows_and_their_subcommands(void **state)
{
	struct fix *f = *state;
	int n[2] = {0, 0};
	engine_each(f->e, count, n);
	assert_int_equal(n[0], 7 + 5 + 16);
	assert_int_equal(n[1], 2);
}

static void test_replies_are_silenced_until_on(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "mode skip", "");
	FIX_SAYS(f, "two x", "");
	FIX_SAYS(f, "two x", "+OK\r\n");
	FIX_SAYS(f, "mode skip", "");
	FIX_SAYS(f, "mode skip", "");
	FIX_SAYS(f, "nosuch", "");
	FIX_SAYS(f, "two x", "+OK\r\n");
	FIX_SAYS(f, "mode off", "");
	FIX_SAYS(f, "two x", "");
	FIX_SAYS(f, "fails", "");
	FIX_SAYS(f, "two", "");
	FIX_SAYS(f, "mode on", "+OK\r\n");
	FIX_SAYS(f, "two x", "+OK\r\n");
	FIX_SAYS(f, "mode skip", "");
	FIX_SAYS(f, "mode on", "+OK\r\n");
	FIX_SAYS(f, "two x", "+OK\r\n");
	assert_int_equal(ran, 6);
}

static void test_sessions_are_listed_by_birth(void **state)
{
	struct fix *f = *state;
	struct session s;
	assert_ptr_equal(engine_sessions(f->e), &f->a);
	assert_ptr_equal(f->a.next, &f->b);
	assert_int_equal(f->a.id, 1);
	assert_int_equal(f->b.id, 2);
	session_init(&s, f->e, &fix_session_ops);
	assert_int_equal(engine_session_count(f->e), 3);
	assert_int_equal(s.id, 3);
	session_fini(&f->b);
	assert_ptr_equal(f->a.next, &s);
	assert_ptr_equal(s.prev, &f->a);
	session_init(&f->b, f->e, &fix_session_ops);
	assert_ptr_equal(s.next, &f->b);
	assert_int_equal(f->b.id, 4);
	session_fini(&s);
	assert_ptr_equal(f->b.prev, &f->a);
	assert_int_equal(engine_session_count(f->e), 2);
}

static void test_names_hold_visible_characters_only(void **state)
{
	struct fix *f = *state;
	assert_null(session_set_name(&f->a, BYTES_LIT("me:1!~")));
	assert_true(bytes_eq(buf_bytes(&f->a.name), BYTES_LIT("me:1!~")));
	static const char *const bad[] = {"a b", "a\n", "\x7f", "\x80"};
	for (int i = 0; i < 4; i++)
		assert_string_equal(session_set_name(&f->a, bytes_of(bad[i])),
			"ERR Client names cannot contain spaces, newlines or special characters.");
	assert_int_equal(f->a.name.n, 6);
	assert_null(session_set_name(&f->a, BYTES_LIT("")));
	assert_int_equal(f->a.name.n, 0);
}

#define HELLO_TAIL(proto, id) \
	"$5\r\nproto\r\n:" proto "\r\n$2\r\nid\r\n:" id "\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n" \
	"$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n"
#define HELLO_HEAD "$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.2.5\r\n"

static void test_hello_switches_protocol_and_names(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "hello", "*14\r\n" HELLO_HEAD HELLO_TAIL("2", "1"));
	FIX_SAYS(f, "hello 3 SETNAME nm", "%7\r\n" HELLO_HEAD HELLO_TAIL("3", "1"));
	assert_int_equal(f->a.resp, 3);
	assert_true(bytes_eq(buf_bytes(&f->a.name), BYTES_LIT("nm")));
	FIX_SAYS(f, "hello 4", "-NOPROTO unsupported protocol version\r\n");
	FIX_SAYS(f, "hello 1", "-NOPROTO unsupported protocol version\r\n");
	FIX_SAYS(f, "hello x", "-ERR Protocol version is not an integer or out of range\r\n");
	FIX_SAYS(f, "hello 2 foo", "-ERR Syntax error in HELLO option 'foo'\r\n");
	FIX_SAYS(f, "hello 2 auth x", "-ERR Syntax error in HELLO option 'auth'\r\n");
	FIX_SAYS(f, "hello 2 setname", "-ERR Syntax error in HELLO option 'setname'\r\n");
	FIX_SAYS(f, "hello 2 auth u p", WRONGPASS);
	assert_int_equal(f->a.resp, 3);
	FIX_SAYS(f, "hello 2", "*14\r\n" HELLO_HEAD HELLO_TAIL("2", "1"));
	assert_int_equal(f->a.resp, 2);
}

static void test_hello_logs_in(void **state)
{
	struct fix *f = *state;
	struct session s;
	engine_set_password(f->e, BYTES_LIT("pw"));
	session_init(&s, f->e, &fix_session_ops);
	assert_memory_equal(fix_run(f, &s, "hello 3"), "-NOAUTH HELLO must be called with the client", 44);
	assert_string_equal(fix_run(f, &s, "hello 3 auth default no"), WRONGPASS);
	assert_string_equal(fix_run(f, &s, "hello 3 setname me auth default pw"), "%7\r\n" HELLO_HEAD HELLO_TAIL("3", "3"));
	assert_string_equal(fix_run(f, &s, "ping"), "+PONG\r\n");
	session_fini(&s);
}

static void test_reset_and_quit(void **state)
{
	struct fix *f = *state;
	fix_run(f, &f->a, "hello 3 setname nm");
	f->a.db = 5;
	f->a.flags |= SESSION_NO_TOUCH | SESSION_NO_EVICT;
	FIX_SAYS(f, "multi", "+OK\r\n");
	FIX_SAYS(f, "reset", "+RESET\r\n");
	assert_int_equal(f->a.resp, 2);
	assert_int_equal(f->a.db, 0);
	assert_int_equal(f->a.flags, 0);
	assert_int_equal(f->a.name.n, 0);
	assert_int_equal(f->resets, 1);
	assert_int_equal(f->closes, 0);
	FIX_SAYS(f, "quit now", "+OK\r\n");
	assert_int_equal(f->closes, 1);
}

static void test_ping_and_echo(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "ping", "+PONG\r\n");
	FIX_SAYS(f, "PING hi", "$2\r\nhi\r\n");
	FIX_SAYS(f, "ping a b", "-ERR wrong number of arguments for 'ping' command\r\n");
	FIX_SAYS(f, "echo hi", "$2\r\nhi\r\n");
	FIX_SAYS(f, "echo", "-ERR wrong number of arguments for 'echo' command\r\n");
}

static void test_select_checks_its_number(void **state)
{
	(void)state;
	struct fix f;
	fix_open(&f);
	FIX_SAYS(&f, "select 15", "+OK\r\n");
	assert_int_equal(f.a.db, 15);
	FIX_SAYS(&f, "select 16", "-ERR DB index is out of range\r\n");
	FIX_SAYS(&f, "select -1", "-ERR DB index is out of range\r\n");
	FIX_SAYS(&f, "select x", "-ERR value is not an integer or out of range\r\n");
	FIX_SAYS(&f, "select 99999999999", "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n");
	assert_int_equal(f.a.db, 15);
	FIX_SAYS(&f, "set k here", "+OK\r\n");
	FIX_SAYS(&f, "get k", "$4\r\nhere\r\n");
	FIX_SAYS(&f, "select 0", "+OK\r\n");
	FIX_SAYS(&f, "get k", "$-1\r\n");
	fix_close(&f);
}

static void test_time_tells_the_clock(void **state)
{
	struct fix *f = *state;
	engine_register(f->e, cmd_table_time);
	int64_t before = clock_us();
	int64_t s, us;
	assert_int_equal(sscanf(fix_run(f, &f->a, "time"), "*2\r\n$%*d\r\n%ld\r\n$%*d\r\n%ld\r\n", &s, &us), 2);
	assert_true(us >= 0 && us < 1000000);
	assert_true(s * 1000000 + us >= before && s * 1000000 + us <= clock_us());
}

int main(void)
{

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_names_are_found_in_any_case),
		T(test_other_names_are_not_found),
		T(test_table_grows),
		T(test_containers_resolve_their_second_word),
		T(test_categories_follow_from_flags),
		T(test_unknown_commands_show_their_arguments),
		T(test_arity_is_exact_or_least),
		T(test_password_is_asked_for_after_arity),
		T(test_protected_commands_ask_above),
		T(test_unwritable_pool_refuses_writers_only),
		T(test_calls_failures_and_rejections_are_counted),
		T(test_time_goes_to_the_command_that_took_it),
		T(test_latency_classes_are_in_order),
		T(test_percentiles_bound_the_share),
		T(test_each_visits_rows_and_their_subcommands),
		T(test_replies_are_silenced_until_on),
		T(test_sessions_are_listed_by_birth),
		T(test_names_hold_visible_characters_only),
		T(test_hello_switches_protocol_and_names),
		T(test_hello_logs_in),
		T(test_reset_and_quit),
		T(test_ping_and_echo),
		cmocka_unit_test(test_select_checks_its_number),
		T(test_time_tells_the_clock),
	};
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
