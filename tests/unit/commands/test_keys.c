/* Keys among the arguments: every kind of specification, and what does not fit them. */
#include "fixture.h"

static void nothing(struct call *c)
{
	reply_ok(c->r);
}

/* MIG host port key|"" ... [KEYS k ...]: the keyword's specification alone cannot tell. */
static int mig_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	(void)argv;
	(void)argc;
	if (max > 0)
		out[0] = (struct cmd_keyref){3, KEY_RW | KEY_DELETE};
	return 1;
}

static int var_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	if (max > 0)
		out[0] = (struct cmd_keyref){1, argc > 2 && bytes_ieq(argv[2], "GET") ? KEY_RW : KEY_OW};
	return 1;
}

static const struct cmd table[] = {
	{CMD("none", -1, nothing, 0, 0)},
	{CMD("one", 2, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RO)}},
	{CMD("all", -2, nothing, 0, 0), .keys = {KEY_RUN(1, -1, 1, KEY_RO | KEY_ACCESS)}},
	{CMD("pairs", -3, nothing, 0, 0), .keys = {KEY_RUN(1, -1, 2, KEY_OW)}},
	{CMD("inner", -3, nothing, 0, 0), .keys = {KEY_RUN(1, -2, 1, KEY_RO)}},
	{CMD("counted", -3, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_OW), KEY_COUNTED(2, KEY_RO)}},
	{CMD("word", -4, nothing, 0, 0),
	 .keys = {{.flags = KEY_RO, .begin = KEYS_KEYWORD, .keyword = "STREAMS", .pos = 1, .last = -1, .step = 1,
		.limit = 2}}},
	{CMD("back", -4, nothing, 0, 0),
	 .keys = {{.flags = KEY_RW, .begin = KEYS_KEYWORD, .keyword = "KEYS", .pos = -2, .last = -1, .step = 1}}},
	{CMD("mig", -4, nothing, 0, 0),
	 .keys = {KEY_ONE(3, KEY_RW), {.flags = KEY_RW | KEY_INCOMPLETE, .begin = KEYS_KEYWORD, .keyword = "KEYS",
		.pos = -2, .last = -1, .step = 1}},
	 .get_keys = mig_keys},
	{CMD("var", -2, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RW | KEY_VARIABLE_FLAGS)}, .get_keys = var_keys},
	{CMD("put", -3, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RW | KEY_VARIABLE_FLAGS)}, .get_keys = cmd_set_keys},
	{CMD("bits", -2, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RW | KEY_VARIABLE_FLAGS)}, .get_keys = cmd_bitfield_keys},
	{CMD("unknown", -2, nothing, 0, 0),
	 .keys = {{.flags = KEY_RO, .begin = KEYS_BEGIN_UNKNOWN, .find = KEYS_FIND_UNKNOWN}}},
	{CMD("notkey", 2, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_NOT_KEY)}},
	{CMD("two", 4, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RO), KEY_ONE(2, KEY_OW)}},
	{CMD("gap", 4, nothing, 0, 0), .keys = {KEY_ONE(1, KEY_RO), KEY_ONE(3, KEY_OW)}},
	CMD_END
};

struct keys_fix {
	struct fix f;
	struct cmd_keyref refs[8];
	char text[512];
	struct bytes argv[FIX_ARGS_MAX];
};

static int setup(void **state)
{
	struct keys_fix *k = mem_zalloc(sizeof(*k));
	fix_open_bare(&k->f);
	engine_register(k->f.e, table);
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	struct keys_fix *k = *state;
	fix_close(&k->f);
	mem_free(k);
	return 0;
}

static int keys_of(struct keys_fix *k, const char *line)
{
	uint32_t n = fix_split(line, k->text, k->argv);
	const struct cmd *c = engine_resolve(k->f.e, k->argv, n);
	assert_non_null(c);
	memset(k->refs, 0xff, sizeof(k->refs));
	return engine_keys(k->f.e, c, k->argv, n, k->refs, 8);
}

/* The positions found, as digits; "-" for -1. */
static void assert_keys(struct keys_fix *k, const char *line, const char *positions)
{
	char got[16] = "-";
	int n = keys_of(k, line);
	for (int i = 0; i < n; i++)
		got[i] = (char)('0' + k->refs[i].pos);
	if (n >= 0)
		got[n] = '\0';
	assert_string_equal(got, positions);
}

static void test_ranges_find_their_keys(void **state)
{
	assert_keys(*state, "none a b", "");
	assert_keys(*state, "one k", "1");
	assert_keys(*state, "all a b c", "123");
	assert_keys(*state, "pairs a 1 b 2", "13");
	assert_keys(*state, "inner a b c timeout", "123");
	assert_keys(*state, "two a b x", "12");
}

static void test_counts_are_obeyed_and_bounded(void **state)
{
	assert_keys(*state, "counted d 2 a b weights", "134");
	assert_keys(*state, "counted d 3 a b", "-");
	assert_keys(*state, "counted d 0 a b", "-");
	assert_keys(*state, "counted d -1 a b", "-");
	assert_keys(*state, "counted d x a b", "-");
	assert_keys(*state, "counted d 9223372036854775807 a b", "-");
}

static void test_keywords_are_found_from_either_end(void **state)
{
	assert_keys(*state, "word COUNT 2 streams s1 s2 0 0", "45");
	assert_keys(*state, "word a b c", "");
	assert_keys(*state, "word a b streams", "-");
	assert_keys(*state, "back h p keys a b", "45");
	assert_keys(*state, "back h p keys", "");
	assert_keys(*state, "back keys keys a b", "34");
}

static void test_own_function_fills_in_where_specifications_cannot(void **state)
{
	struct keys_fix *k = *state;
	assert_keys(k, "mig h 1 k 0", "3");
	assert_int_equal(k->refs[0].flags, KEY_RW);
	assert_keys(k, "mig h 1 k keys a b", "3");
	assert_int_equal(k->refs[0].flags, KEY_RW | KEY_DELETE);
	assert_keys(k, "var a", "1");
	assert_int_equal(k->refs[0].flags, KEY_OW);
	assert_keys(k, "var a get", "1");
	assert_int_equal(k->refs[0].flags, KEY_RW);
}

static void assert_use(struct keys_fix *k, const char *line, uint32_t flags)
{
	assert_keys(k, line, "1");
	assert_int_equal(k->refs[0].flags, flags);
}

static void test_use_of_one_key_follows_from_the_other_arguments(void **state)
{
	struct keys_fix *k = *state;
	const uint32_t rw = KEY_RW | KEY_ACCESS | KEY_UPDATE, ow = KEY_OW | KEY_UPDATE, ro = KEY_RO | KEY_ACCESS;
	assert_use(k, "put k v", ow);
	assert_use(k, "put k get", ow);
	assert_use(k, "put get v", ow);
	assert_use(k, "put k v NX get", rw);
	assert_use(k, "bits k", ro);
	assert_use(k, "bits k get u8 0 GET u8 8", ro);
	assert_use(k, "bits k overflow sat get u8 0", ro);
	assert_use(k, "bits k get u8 0 set u8 0 1", rw);
	assert_use(k, "bits k incrby u8 0 1", rw);
	assert_use(k, "bits k get u8", rw);
	assert_use(k, "bits k overflow", rw);
	assert_use(k, "bits k zap", rw);
}

static void test_unknown_specification_cannot_tell(void **state)
{
	assert_keys(*state, "unknown a", "-");
	assert_keys(*state, "notkey a", "");
}

static void test_count_goes_beyond_the_room_given(void **state)
{
	struct keys_fix *k = *state;
	assert_int_equal(keys_of(k, "all 1 2 3 4 5 6 7 8 9 10"), 10);
	assert_int_equal(k->refs[7].pos, 8);
}

static void assert_range(struct keys_fix *k, const char *name, int first, int last, int step, bool movable)
{
	int f, l, s;
	const struct cmd *c = engine_find(k->f.e, bytes_of(name));
	engine_key_range(c, &f, &l, &s);
	assert_int_equal(f, first);
	assert_int_equal(l, last);
	assert_int_equal(s, step);
	assert_int_equal((c->flags & CMD_MOVABLEKEYS) != 0, movable);
}

static void test_old_triple_and_movable_follow_from_specifications(void **state)
{
	struct keys_fix *k = *state;
	assert_range(k, "none", 0, 0, 0, false);
	assert_range(k, "one", 1, 1, 1, false);
	assert_range(k, "all", 1, -1, 1, false);
	assert_range(k, "pairs", 1, -1, 2, false);
	assert_range(k, "counted", 1, 1, 1, true);
	assert_range(k, "word", 0, 0, 0, true);
	assert_range(k, "mig", 3, 3, 1, true);
	assert_range(k, "two", 1, 2, 1, false);
	assert_range(k, "gap", 1, 1, 1, true);
}

static void test_first_key_is_told_by_the_row(void **state)
{
	struct keys_fix *k = *state;
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("one")), 2), 1);
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("one")), 1), 0);
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("mig")), 5), 3);
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("word")), 5), 0);
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("notkey")), 2), 0);
	assert_int_equal(cmd_first_key(engine_find(k->f.e, BYTES_LIT("none")), 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ranges_find_their_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts_are_obeyed_and_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keywords_are_found_from_either_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_function_fills_in_where_specifications_cannot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_use_of_one_key_follows_from_the_other_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_specification_cannot_tell, setup, teardown),
		cmocka_unit_test_setup_teardown(test_count_goes_beyond_the_room_given, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_triple_and_movable_follow_from_specifications, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_key_is_told_by_the_row, setup, teardown),
	};
	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
