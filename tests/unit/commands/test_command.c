/* COMMAND: what it says of rows, and what it says of the arguments of others. */
#include "fixture.h"

static void ok(struct call *c)
{
	reply_ok(c->r);
}

/* OW, or RW when the third word is GET. */
static int put_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	bool get = argc > 3 && bytes_ieq(argv[3], "GET");
	if (max > 0)
		out[0] = (struct cmd_keyref){1, get ? KEY_RW | KEY_ACCESS | KEY_UPDATE : KEY_OW | KEY_UPDATE};
	return 1;
}

static const struct cmd box_subs[] = {
	{CMD("get", -3, ok, CMD_ADMIN | CMD_NOSCRIPT, 0),
	 DOC("server", "2.0.0", "O(N)", "Reads."),
	 .args = ARGS(A("parameter", BLOCK, A_MANY, A_SUB(A("parameter", STRING))))},
	{CMD("help", 2, ok, CMD_LOADING, 0), DOC("server", "5.0.0", "O(1)", "Explains.")},
	CMD_END
};
static const struct cmd table[] = {
	{CMD("plain", 1, ok, CMD_FAST, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Says hello."),
	 .tips = TIPS("request_policy:all_shards")},
	{CMD("put", -3, ok, CMD_WRITE | CMD_DENYOOM, ACL_STRING),
	 DOC("string", "1.0.0", "O(1)", "Puts."),
	 DEPRECATED("6.2.0", "`SET`"),
	 .history = HISTORY({"2.6.12", "More."}, {"7.0.0", "And more."}),
	 .keys = {{.flags = KEY_RW | KEY_ACCESS | KEY_UPDATE | KEY_VARIABLE_FLAGS, .notes = "It depends.", .begin = KEYS_INDEX,
		.pos = 1, .step = 1}},
	 .get_keys = put_keys,
	 .args = ARGS(A("key", KEY), A("condition", ONEOF, A_OPT, A_SINCE("2.6.12"), A_SUB(
		A("nx", PURE_TOKEN, A_TOKEN("NX")), A("at", UNIX_TIME, A_TOKEN("AT"), .deprecated_since = "7.0.0"))),
		A("many", DOUBLE, A_OPT_MANY_TOKENS))},
	{CMD("gather", -3, ok, CMD_READONLY | CMD_BLOCKING, ACL_SORTEDSET),
	 DOC("sorted-set", "6.2.0", "O(N)", "Gathers."),
	 .keys = {KEY_COUNTED(1, KEY_RO | KEY_ACCESS),
		{.flags = KEY_RO, .begin = KEYS_KEYWORD, .keyword = "STREAMS", .pos = 3, .find = KEYS_FIND_UNKNOWN}}},
	{CMD("maybe", -2, ok, CMD_NO_MANDATORY_KEYS, ACL_SCRIPTING),
	 DOC("scripting", "2.6.0", "O(1)", "May have keys."),
	 .keys = {KEY_COUNTED(1, KEY_RW)}},
	{CMD("box", -2, NULL, 0, 0), DOC("server", "2.0.0", "O(1)", "Holds others."), .subs = box_subs},
	CMD_END
};

static int setup(void **state)
{
	struct fix *f = mem_zalloc(sizeof(*f));
	fix_open_bare(f);
	engine_register(f->e, table);
	engine_register(f->e, cmd_table_command);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fix_close(*state);
	mem_free(*state);
	return 0;
}

#define BULK_GET_INFO "*10\r\n$7\r\nbox|get\r\n:-3\r\n*2\r\n+admin\r\n+noscript\r\n:0\r\n:0\r\n:0\r\n*3\r\n+@admin\r\n+@slow\r\n" \
	"+@dangerous\r\n*0\r\n*0\r\n*0\r\n"

static void test_info_describes_rows(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command info PLAIN nosuch", "*2\r\n*10\r\n$5\r\nplain\r\n:1\r\n*1\r\n+fast\r\n:0\r\n:0\r\n:0\r\n*2\r\n+@fast\r\n"
		"+@connection\r\n*1\r\n$25\r\nrequest_policy:all_shards\r\n*0\r\n*0\r\n$-1\r\n");
	FIX_SAYS(f, "command info put", "*1\r\n*10\r\n$3\r\nput\r\n:-3\r\n*2\r\n+write\r\n+denyoom\r\n:1\r\n:1\r\n:1\r\n*3\r\n+@write\r\n"
		"+@string\r\n+@slow\r\n*0\r\n*1\r\n*8\r\n$5\r\nnotes\r\n$11\r\nIt depends.\r\n$5\r\nflags\r\n*4\r\n+RW\r\n+access\r\n"
		"+update\r\n+variable_flags\r\n$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n*2\r\n$5\r\nindex\r\n:1\r\n"
		"$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n*6\r\n$7\r\nlastkey\r\n:0\r\n$7\r\nkeystep\r\n:1\r\n"
		"$5\r\nlimit\r\n:0\r\n*0\r\n");
	FIX_SAYS(f, "command info box|get", "*1\r\n" BULK_GET_INFO);
	FIX_SAYS(f, "command info box", "*1\r\n*10\r\n$3\r\nbox\r\n:-2\r\n*0\r\n:0\r\n:0\r\n:0\r\n*1\r\n+@slow\r\n*0\r\n*0\r\n*2\r\n"
		BULK_GET_INFO "*10\r\n$8\r\nbox|help\r\n:2\r\n*1\r\n+loading\r\n:0\r\n:0\r\n:0\r\n*1\r\n+@slow\r\n*0\r\n*0\r\n*0\r\n");
}

static void test_info_uses_sets_and_maps_in_resp3(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_SAYS(f, "command info gather nosuch", "*2\r\n*10\r\n$6\r\ngather\r\n:-3\r\n~3\r\n+readonly\r\n+blocking\r\n+movablekeys\r\n"
		":0\r\n:0\r\n:0\r\n~4\r\n+@read\r\n+@sortedset\r\n+@slow\r\n+@blocking\r\n~0\r\n~2\r\n"
		"%3\r\n$5\r\nflags\r\n~2\r\n+RO\r\n+access\r\n$12\r\nbegin_search\r\n%2\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n"
		"%1\r\n$5\r\nindex\r\n:1\r\n$9\r\nfind_keys\r\n%2\r\n$4\r\ntype\r\n$6\r\nkeynum\r\n$4\r\nspec\r\n%3\r\n"
		"$9\r\nkeynumidx\r\n:0\r\n$8\r\nfirstkey\r\n:1\r\n$7\r\nkeystep\r\n:1\r\n"
		"%3\r\n$5\r\nflags\r\n~1\r\n+RO\r\n$12\r\nbegin_search\r\n%2\r\n$4\r\ntype\r\n$7\r\nkeyword\r\n$4\r\nspec\r\n"
		"%2\r\n$7\r\nkeyword\r\n$7\r\nSTREAMS\r\n$9\r\nstartfrom\r\n:3\r\n$9\r\nfind_keys\r\n%2\r\n$4\r\ntype\r\n$7\r\nunknown\r\n"
		"$4\r\nspec\r\n%0\r\n~0\r\n_\r\n");
}

static void test_count_and_bare_command_agree(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command count", ":6\r\n");
	FIX_BEGINS(f, "command", "*6\r\n*10\r\n$5\r\nplain\r\n");
	struct buf all = {0};
	buf_add(&all, f->out.p, f->out.n + 1);
	assert_string_equal(fix_run(f, &f->a, "command info"), all.p);
	buf_free(&all);
}

static void test_list_filters(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command list filterby pattern BOX*", "*3\r\n$3\r\nbox\r\n$7\r\nbox|get\r\n$8\r\nbox|help\r\n");
	FIX_SAYS(f, "command list filterby pattern p*", "*2\r\n$5\r\nplain\r\n$3\r\nput\r\n");
	FIX_SAYS(f, "command list FILTERBY ACLCAT dangerous", "*1\r\n$7\r\nbox|get\r\n");
	FIX_SAYS(f, "command list filterby aclcat SCRIPTING", "*1\r\n$5\r\nmaybe\r\n");
	FIX_SAYS(f, "command list filterby aclcat nosuch", "*0\r\n");
	FIX_SAYS(f, "command list filterby module any", "*0\r\n");
	FIX_BEGINS(f, "command list", "*15\r\n$5\r\nplain\r\n");
	FIX_SAYS(f, "command list x", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby x y", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby pattern", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby pattern x y", "-ERR syntax error\r\n");
}

static void test_docs_leave_out_what_has_no_value(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_SAYS(f, "command docs nosuch plain", "%1\r\n$5\r\nplain\r\n%4\r\n$7\r\nsummary\r\n$11\r\nSays hello.\r\n$5\r\nsince\r\n"
		"$5\r\n1.0.0\r\n$5\r\ngroup\r\n$10\r\nconnection\r\n$10\r\ncomplexity\r\n$4\r\nO(1)\r\n");
	FIX_SAYS(f, "command docs nosuch", "%0\r\n");
	f->a.resp = 2;
	FIX_SAYS(f, "command docs nosuch", "*0\r\n");
}

static void test_docs_tell_history_and_arguments(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_SAYS(f, "command docs put", "%1\r\n$3\r\nput\r\n%9\r\n$7\r\nsummary\r\n$5\r\nPuts.\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n"
		"$6\r\nstring\r\n$10\r\ncomplexity\r\n$4\r\nO(1)\r\n$9\r\ndoc_flags\r\n~1\r\n+deprecated\r\n$16\r\ndeprecated_since\r\n"
		"$5\r\n6.2.0\r\n$11\r\nreplaced_by\r\n$5\r\n`SET`\r\n$7\r\nhistory\r\n~2\r\n*2\r\n$6\r\n2.6.12\r\n$5\r\nMore.\r\n*2\r\n$5\r\n7.0.0\r\n"
		"$9\r\nAnd more.\r\n$9\r\narguments\r\n*3\r\n"
		"%3\r\n$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n$14\r\nkey_spec_index\r\n:0\r\n"
		"%5\r\n$4\r\nname\r\n$9\r\ncondition\r\n$4\r\ntype\r\n$5\r\noneof\r\n$5\r\nsince\r\n$6\r\n2.6.12\r\n$5\r\nflags\r\n~1\r\n+optional\r\n"
		"$9\r\narguments\r\n*2\r\n"
		"%3\r\n$4\r\nname\r\n$2\r\nnx\r\n$4\r\ntype\r\n$10\r\npure-token\r\n$5\r\ntoken\r\n$2\r\nNX\r\n"
		"%4\r\n$4\r\nname\r\n$2\r\nat\r\n$4\r\ntype\r\n$9\r\nunix-time\r\n$5\r\ntoken\r\n$2\r\nAT\r\n$16\r\ndeprecated_since\r\n$5\r\n7.0.0\r\n"
		"%3\r\n$4\r\nname\r\n$4\r\nmany\r\n$4\r\ntype\r\n$6\r\ndouble\r\n$5\r\nflags\r\n~3\r\n+optional\r\n+multiple\r\n+multiple_token\r\n");
}

static void test_docs_nest_subcommands(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command docs box", "*2\r\n$3\r\nbox\r\n*10\r\n$7\r\nsummary\r\n$13\r\nHolds others.\r\n$5\r\nsince\r\n$5\r\n2.0.0\r\n"
		"$5\r\ngroup\r\n$6\r\nserver\r\n$10\r\ncomplexity\r\n$4\r\nO(1)\r\n$11\r\nsubcommands\r\n*4\r\n"
		"$7\r\nbox|get\r\n*10\r\n$7\r\nsummary\r\n$6\r\nReads.\r\n$5\r\nsince\r\n$5\r\n2.0.0\r\n$5\r\ngroup\r\n$6\r\nserver\r\n"
		"$10\r\ncomplexity\r\n$4\r\nO(N)\r\n$9\r\narguments\r\n*1\r\n*8\r\n$4\r\nname\r\n$9\r\nparameter\r\n$4\r\ntype\r\n$5\r\nblock\r\n"
		"$5\r\nflags\r\n*1\r\n+multiple\r\n$9\r\narguments\r\n*1\r\n*4\r\n$4\r\nname\r\n$9\r\nparameter\r\n$4\r\ntype\r\n$6\r\nstring\r\n"
		"$8\r\nbox|help\r\n*8\r\n$7\r\nsummary\r\n$9\r\nExplains.\r\n$5\r\nsince\r\n$5\r\n5.0.0\r\n$5\r\ngroup\r\n$6\r\nserver\r\n"
		"$10\r\ncomplexity\r\n$4\r\nO(1)\r\n");
}

static void test_getkeys_names_keys(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command getkeys put k v", "*1\r\n$1\r\nk\r\n");
	FIX_SAYS(f, "command getkeysandflags put k v", "*1\r\n*2\r\n$1\r\nk\r\n*2\r\n+OW\r\n+update\r\n");
	FIX_SAYS(f, "command getkeysandflags put k v get", "*1\r\n*2\r\n$1\r\nk\r\n*3\r\n+RW\r\n+access\r\n+update\r\n");
	FIX_SAYS(f, "command getkeys maybe 0", "*0\r\n");
	FIX_SAYS(f, "command getkeys maybe 2 a b", "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
}

static void test_getkeys_refuses(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command getkeys nosuch a", "-ERR Invalid command specified\r\n");
	FIX_SAYS(f, "command getkeys box zap", "-ERR Invalid command specified\r\n");
	FIX_SAYS(f, "command getkeys box get x", "-ERR The command has no key arguments\r\n");
	FIX_SAYS(f, "command getkeys put k", "-ERR Invalid number of arguments specified for command\r\n");
	FIX_SAYS(f, "command getkeys gather x k", "-ERR Invalid arguments specified for command\r\n");
	FIX_SAYS(f, "command getkeys put", "-ERR wrong number of arguments for 'command|getkeys' command\r\n");
}

static void test_getkeys_has_no_bound_of_its_own(void **state)
{
	struct fix *f = *state;
	enum { MANY = 500 };
	struct bytes argv[MANY + 4] = {BYTES_LIT("command"), BYTES_LIT("getkeys"), BYTES_LIT("maybe"), BYTES_LIT("500")};
	struct buf expected = {0};
	buf_adds(&expected, "*500\r\n");
	for (int i = 0; i < MANY; i++) {
		argv[4 + i] = BYTES_LIT("k");
		buf_adds(&expected, "$1\r\nk\r\n");
	}
	buf_add(&expected, "", 1);
	assert_string_equal(fix_runv(f, &f->a, argv, MANY + 4), expected.p);
	buf_free(&expected);
}

static void test_help_and_unknown_subcommands(void **state)
{
	struct fix *f = *state;
	FIX_BEGINS(f, "command help", "*17\r\n+COMMAND <subcommand> [<arg>");
	FIX_SAYS(f, "command foo", "-ERR unknown subcommand 'foo'. Try COMMAND HELP.\r\n");
	FIX_SAYS(f, "command count x", "-ERR wrong number of arguments for 'command|count' command\r\n");
}

/* Every row of the room: what clients rely on is there and bounded. */
static void check_row(void *ctx, const struct cmd *c, const struct cmd *parent)
{
	int *n = ctx;
	(*n)++;
	assert_true(strlen(c->name) <= 24);
	assert_true(c->arity != 0);
	assert_non_null(c->group);
	assert_non_null(c->since);
	assert_non_null(c->summary);
	assert_non_null(c->complexity);
	assert_true(c->fn != NULL || c->subs != NULL);
	assert_int_equal(c->replaced_by != NULL, c->deprecated_since != NULL);
	if (parent != NULL)
		assert_true(c->arity >= 2 || c->arity <= -2);
	for (const struct cmd_arg *a = c->args; a != NULL && a->name != NULL; a++) {
		if (a->type == ARG_KEY)
			assert_in_range(a->key_spec, 0, c->keys_n - 1);
		assert_int_equal(a->sub != NULL, a->type == ARG_ONEOF || a->type == ARG_BLOCK);
	}
	for (uint32_t i = 0; i < c->keys_n; i++) {
		if (c->keys[i].begin == KEYS_INDEX)
			assert_true(c->keys[i].pos > 0);
		if (c->keys[i].find == KEYS_RANGE)
			assert_true(c->keys[i].step > 0);
		assert_int_not_equal(c->keys[i].flags, 0);
	}
	if (c->flags & CMD_WRITE)
		assert_false(c->flags & CMD_READONLY);
}

static void test_builtin_rows_are_whole(void **state)
{
	(void)state;
	struct fix f;
	int n = 0;
	fix_open_bare(&f);
	engine_register_builtin(f.e);
	engine_each(f.e, check_row, &n);
	assert_true(n >= 80);
	fix_close(&f);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_info_describes_rows),
		T(test_info_uses_sets_and_maps_in_resp3),
		T(test_count_and_bare_command_agree),
		T(test_list_filters),
		T(test_docs_leave_out_what_has_no_value),
		T(test_docs_tell_history_and_arguments),
		T(test_docs_nest_subcommands),
		T(test_getkeys_names_keys),
		T(test_getkeys_refuses),
		T(test_getkeys_has_no_bound_of_its_own),
		T(test_help_and_unknown_subcommands),
		cmocka_unit_test(test_builtin_rows_are_whole),
	};
	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
