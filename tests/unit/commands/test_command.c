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
	 .keys = {{.flags = KEY_RW | KEY_ACCESS | KEY_UPDATE | KEY_VARIABLE_FLAGS, .notes = "It depends.",
		.begin = KEYS_INDEX, .pos = 1, .step = 1}},
	 .get_keys = put_keys,
	 .args = ARGS(A("key", KEY), A("condition", ONEOF, A_OPT, A_SINCE("2.6.12"), A_SUB(
		A("nx", PURE_TOKEN, A_TOKEN("NX")), A("at", UNIX_TIME, A_TOKEN("AT"), .deprecated_since = "7.0.0"))),
		A("many", DOUBLE, A_OPT_MANY_TOKENS))},
	{CMD("gather", -3, ok, CMD_READONLY | CMD_BLOCKING, ACL_SORTEDSET),
	 DOC("sorted-set", "6.2.0", "O(N)", "Gathers."),
	 .keys = {KEY_COUNTED(1, KEY_RO | KEY_ACCESS),
		{.flags = KEY_RO, .begin = KEYS_KEYWORD, .keyword = "STREAMS", .pos = 3, .find = KEYS_FIND_UNKNOWN}}},
	{CMD("word", -2, ok, 0, ACL_STREAM),
	 DOC("stream", "5.0.0", "O(1)", "Has keys behind a word."), .syscmd = true,
	 .keys = {{.flags = KEY_RO, .begin = KEYS_KEYWORD, .keyword = "STREAMS", .pos = 1, .last = -1, .step = 1}}},
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

static void test_info_describes_rows(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command info PLAIN nosuch", "*2 *10 'plain' :1 *1 +fast :0 :0 :0 *2 +@fast +@connection *1 "
		"'request_policy:all_shards' *0 *0 $-1");
	FIX_GIVES(f, "command info put", "*1 *10 'put' :-3 *2 +write +denyoom :1 :1 :1 *3 +@write +@string +@slow *0 "
		"*1 *8 'notes' 'It depends.' 'flags' *4 +RW +access +update +variable_flags 'begin_search' *4 'type' "
		"'index' 'spec' *2 'index' :1 'find_keys' *4 'type' 'range' 'spec' *6 'lastkey' :0 'keystep' :1 'limit' "
		":0 *0");
	FIX_GIVES(f, "command info box|get", "*1 *10 'box|get' :-3 *2 +admin +noscript :0 :0 :0 *3 +@admin +@slow "
		"+@dangerous *0 *0 *0");
	FIX_GIVES(f, "command info box", "*1 *10 'box' :-2 *0 :0 :0 :0 *1 +@slow *0 *0 *2 *10 'box|get' :-3 *2 +admin "
		"+noscript :0 :0 :0 *3 +@admin +@slow +@dangerous *0 *0 *0 *10 'box|help' :2 *1 +loading :0 :0 :0 *1 "
		"+@slow *0 *0 *0");
}

static void test_info_uses_sets_and_maps_in_resp3(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_GIVES(f, "command info gather nosuch", "*2 *10 'gather' :-3 ~3 +readonly +blocking +movablekeys :0 :0 :0 "
		"~4 +@read +@sortedset +@slow +@blocking ~0 ~2 %3 'flags' ~2 +RO +access 'begin_search' %2 'type' 'index' "
		"'spec' %1 'index' :1 'find_keys' %2 'type' 'keynum' 'spec' %3 'keynumidx' :0 'firstkey' :1 'keystep' :1 "
		"%3 'flags' ~1 +RO 'begin_search' %2 'type' 'keyword' 'spec' %2 'keyword' 'STREAMS' 'startfrom' :3 "
		"'find_keys' %2 'type' 'unknown' 'spec' %0 ~0 _");
}

static void test_count_and_bare_command_agree(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command count", ":7");
	FIX_BEGINS(f, "command", "*7\r\n*10\r\n$5\r\nplain\r\n");
	struct buf all = {0};
	buf_add(&all, f->out.p, f->out.n + 1);
	assert_string_equal(fix_run(f, &f->a, "command info"), all.p);
	buf_free(&all);
}

static void test_list_filters(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command list filterby pattern BOX*", "*3 'box' 'box|get' 'box|help'");
	FIX_GIVES(f, "command list filterby pattern p*", "*2 'plain' 'put'");
	FIX_GIVES(f, "command list FILTERBY ACLCAT dangerous", "*1 'box|get'");
	FIX_GIVES(f, "command list filterby aclcat SCRIPTING", "*1 'maybe'");
	FIX_GIVES(f, "command list filterby aclcat nosuch", "*0");
	FIX_GIVES(f, "command list filterby module any", "*0");
	FIX_BEGINS(f, "command list", "*16\r\n$5\r\nplain\r\n");
	FIX_SAYS(f, "command list x", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby x y", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby pattern", "-ERR syntax error\r\n");
	FIX_SAYS(f, "command list filterby pattern x y", "-ERR syntax error\r\n");
}

static void test_docs_leave_out_what_has_no_value(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_GIVES(f, "command docs nosuch plain", "%1 'plain' %4 'summary' 'Says hello.' 'since' '1.0.0' 'group' "
		"'connection' 'complexity' 'O(1)'");
	FIX_GIVES(f, "command docs nosuch", "%0");
	f->a.resp = 2;
	FIX_GIVES(f, "command docs nosuch", "*0");
}

static void test_docs_flag_commands_of_the_system(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command docs word", "*2 'word' *10 'summary' 'Has keys behind a word.' 'since' '5.0.0' 'group' "
		"'stream' 'complexity' 'O(1)' 'doc_flags' *1 +syscmd");
}

static void test_docs_tell_history_and_arguments(void **state)
{
	struct fix *f = *state;
	f->a.resp = 3;
	FIX_GIVES(f, "command docs put", "%1 'put' %9 'summary' 'Puts.' 'since' '1.0.0' 'group' 'string' 'complexity' "
		"'O(1)' 'doc_flags' ~1 +deprecated 'deprecated_since' '6.2.0' 'replaced_by' '`SET`' 'history' ~2 *2 "
		"'2.6.12' 'More.' *2 '7.0.0' 'And more.' 'arguments' *3 %3 'name' 'key' 'type' 'key' 'key_spec_index' :0 "
		"%5 'name' 'condition' 'type' 'oneof' 'since' '2.6.12' 'flags' ~1 +optional 'arguments' *2 %3 'name' 'nx' "
		"'type' 'pure-token' 'token' 'NX' %4 'name' 'at' 'type' 'unix-time' 'token' 'AT' 'deprecated_since' "
		"'7.0.0' %3 'name' 'many' 'type' 'double' 'flags' ~3 +optional +multiple +multiple_token");
}

static void test_docs_nest_subcommands(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command docs box", "*2 'box' *10 'summary' 'Holds others.' 'since' '2.0.0' 'group' 'server' "
		"'complexity' 'O(1)' 'subcommands' *4 'box|get' *10 'summary' 'Reads.' 'since' '2.0.0' 'group' 'server' "
		"'complexity' 'O(N)' 'arguments' *1 *8 'name' 'parameter' 'type' 'block' 'flags' *1 +multiple 'arguments' "
		"*1 *4 'name' 'parameter' 'type' 'string' 'box|help' *8 'summary' 'Explains.' 'since' '5.0.0' 'group' "
		"'server' 'complexity' 'O(1)'");
}

static void test_getkeys_names_keys(void **state)
{
	struct fix *f = *state;
	FIX_GIVES(f, "command getkeys put k v", "*1 'k'");
	FIX_GIVES(f, "command getkeysandflags put k v", "*1 *2 'k' *2 +OW +update");
	FIX_GIVES(f, "command getkeysandflags put k v get", "*1 *2 'k' *3 +RW +access +update");
	FIX_GIVES(f, "command getkeys maybe 0", "*0");
	FIX_GIVES(f, "command getkeys maybe 2 a b", "*2 'a' 'b'");
}

static void test_getkeys_refuses(void **state)
{
	struct fix *f = *state;
	FIX_SAYS(f, "command getkeys nosuch a", "-ERR Invalid command specified\r\n");
	FIX_SAYS(f, "command getkeys box zap", "-ERR Invalid command specified\r\n");
	FIX_SAYS(f, "command getkeys box get x", "-ERR The command has no key arguments\r\n");
	FIX_SAYS(f, "command getkeys put k", "-ERR Invalid number of arguments specified for command\r\n");
	FIX_SAYS(f, "command getkeys gather x k", "-ERR Invalid arguments specified for command\r\n");
	FIX_SAYS(f, "command getkeys word a b", "-ERR Invalid arguments specified for command\r\n");
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
		T(test_docs_flag_commands_of_the_system),
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
