/* The configuration: values, files, arguments, GET, SET, REWRITE. No server. */
#include "base/mem.h"
#include "server/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/perdure-config-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_int_equal(fputs(text, f) >= 0, 1);
	assert_int_equal(fclose(f), 0);
}

static void assert_file(const char *name, const char *text)
{
	char got[4096];
	FILE *f = fopen(path_of(name), "r");
	assert_non_null(f);
	size_t n = fread(got, 1, sizeof got - 1, f);
	got[n] = 0;
	fclose(f);
	assert_string_equal(got, text);
}

static char *text_of(const struct config *cfg, enum config_id id)
{
	static char text[512];
	struct buf b = {0};
	config_text(cfg, id, &b);
	snprintf(text, sizeof text, "%.*s", (int)b.n, b.n ? b.p : "");
	buf_free(&b);
	return text;
}

/* Loads with the arguments after the program's name. */
static enum err load(struct config *cfg, struct errinfo *ei, int n, ...)
{
	char *argv[16] = {"perdure-server"};
	va_list ap;
	va_start(ap, n);
	for (int i = 1; i <= n; i++)
		argv[i] = va_arg(ap, char *);
	va_end(ap);
	*ei = (struct errinfo){0};
	return config_load_args(cfg, n + 1, argv, ei);
}

static void assert_load_fails(const char *why, const char *line, const char *name, const char *value)
{
	struct config *cfg = config_new();
	struct errinfo ei;
	assert_int_equal(load(cfg, &ei, value ? 2 : 1, name, value), ERR_ARGUMENT);
	assert_non_null(strstr(ei.msg, "*** FATAL CONFIG FILE ERROR"));
	assert_non_null(strstr(ei.msg, why));
	assert_non_null(strstr(ei.msg, line));
	config_free(cfg);
}

static bool set(struct config *cfg, struct buf *err, unsigned n, ...)
{
	struct bytes pairs[16];
	va_list ap;
	va_start(ap, n);
	for (unsigned i = 0; i < 2 * n; i++)
		pairs[i] = bytes_of(va_arg(ap, const char *));
	va_end(ap);
	err->n = 0;
	return config_set(cfg, NULL, pairs, n, err);
}

static void assert_set_fails(struct config *cfg, const char *why, const char *name, const char *value)
{
	struct buf err = {0};
	assert_false(set(cfg, &err, 1, name, value));
	buf_add(&err, "", 1);
	assert_string_equal(err.p, why);
	buf_free(&err);
}

static void test_defaults_are_those_of_redis(void **state)
{
	struct config *cfg = config_new();
	(void)state;
	assert_int_equal(config_i(cfg, CFG_PORT), 6379);
	assert_string_equal(config_s(cfg, CFG_BIND), "* -::*");
	assert_int_equal(config_i(cfg, CFG_MAXCLIENTS), 10000);
	assert_int_equal(config_i(cfg, CFG_PROTO_MAX_BULK_LEN), 536870912);
	assert_string_equal(text_of(cfg, CFG_SAVE), "3600 1 300 100 60 10000");
	assert_string_equal(text_of(cfg, CFG_LOGLEVEL), "notice");
	assert_string_equal(text_of(cfg, CFG_MAXMEMORY_POLICY), "noeviction");
	assert_string_equal(text_of(cfg, CFG_PROTECTED_MODE), "yes");
	assert_int_equal(config_durability(cfg), -1);
	assert_false(config_given(cfg, CFG_PORT));
	config_free(cfg);
}

static void test_arguments_follow_the_file_and_win(void **state)
{
	struct config *cfg = config_new();
	struct errinfo ei;
	(void)state;
	write_file(
		"a.conf", "# comment\n\n  port 7000\r\nTIMEOUT 5\nrequirepass \"with \\x41 space\"\nsave 60 1\nsave 30 2\n");
	char path[256];
	snprintf(path, sizeof path, "%s", path_of("a.conf"));
	assert_int_equal(load(cfg, &ei, 5, path, "--timeout", "9", "--maxmemory", "2kb"), ERR_OK);
	assert_int_equal(config_i(cfg, CFG_PORT), 7000);
	assert_int_equal(config_i(cfg, CFG_TIMEOUT), 9);
	assert_int_equal(config_i(cfg, CFG_MAXMEMORY), 2048);
	assert_string_equal(config_s(cfg, CFG_REQUIREPASS), "with A space");
	assert_string_equal(config_s(cfg, CFG_SAVE), "60 1 30 2");
	assert_string_equal(config_file(cfg), path);
	assert_true(config_given(cfg, CFG_PORT));
	unlink(path);
	config_free(cfg);
}

static void test_includes_are_read_where_they_stand(void **state)
{
	struct config *cfg = config_new();
	struct errinfo ei;
	char path[256], text[600];
	(void)state;
	write_file("inner.conf", "port 7001\ntimeout 3\n");
	snprintf(
		text, sizeof text, "port 7000\ninclude %s/inner.conf\ntimeout 4\ninclude %s/none-*.conf\n", folder, folder);
	write_file("outer.conf", text);
	snprintf(path, sizeof path, "%s", path_of("outer.conf"));
	assert_int_equal(load(cfg, &ei, 1, path), ERR_OK);
	assert_int_equal(config_i(cfg, CFG_PORT), 7001);
	assert_int_equal(config_i(cfg, CFG_TIMEOUT), 4);
	write_file("outer.conf", "include /nonexistent/x.conf\n");
	assert_int_equal(load(cfg, &ei, 1, path), ERR_ARGUMENT);
	snprintf(text, sizeof text, "include %s\n", path);
	write_file("outer.conf", text);
	assert_int_equal(load(cfg, &ei, 1, path), ERR_ARGUMENT);
	assert_non_null(strstr(ei.msg, "too deeply"));
	unlink(path);
	unlink(path_of("inner.conf"));
	config_free(cfg);
}

static void test_nonsense_is_refused_with_line_and_reason(void **state)
{
	struct config *cfg = config_new();
	struct errinfo ei;
	(void)state;
	assert_load_fails("argument couldn't be parsed into an integer", ">>> 'port x'", "--port", "x");
	assert_load_fails("argument must be between 0 and 65535 inclusive", ">>> 'port 65536'", "--port", "65536");
	assert_load_fails("argument must be 'yes' or 'no'", ">>> 'daemonize maybe'", "--daemonize", "maybe");
	assert_load_fails("argument must be a memory value", ">>> 'pool-size 1zb'", "--pool-size", "1zb");
	assert_load_fails(
		"must be one of the following: auto, pmem, file", ">>> 'pool-medium disk'", "--pool-medium", "disk");
	assert_load_fails("Bad directive or wrong number of arguments", ">>> 'nosuch 1'", "--nosuch", "1");
	assert_load_fails("wrong number of arguments", ">>> 'port'", "--port", NULL);
	write_file("bad.conf", "port 1\n\nsave \"\"\ntimeout \"x\n");
	char path[256];
	snprintf(path, sizeof path, "%s", path_of("bad.conf"));
	assert_int_equal(load(cfg, &ei, 1, path), ERR_ARGUMENT);
	assert_non_null(strstr(ei.msg, "bad.conf, line 4\n>>> 'timeout \"x'\nUnbalanced quotes"));
	unlink(path);
	config_free(cfg);
}

static void test_what_must_not_be_ignored_is_refused(void **state)
{
	static const char *const refused[][2] = {{"tls-port", "6380"}, {"cluster-enabled", "yes"},
		{"replicaof", "127.0.0.1 6379"}, {"aclfile", "users.acl"}, {"user", "bob on"}, {"loadmodule", "x.so"}};
	struct errinfo ei;
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct config *cfg = config_new();
		ei = (struct errinfo){0};
		assert_int_equal(config_check(cfg, &ei), ERR_OK);
		assert_null(config_put(cfg, refused[i][0], refused[i][1]));
		assert_int_equal(config_check(cfg, &ei), ERR_ARGUMENT);
		assert_non_null(strstr(ei.msg, refused[i][0]));
		config_free(cfg);
	}
	struct config *cfg = config_new();
	assert_null(config_put(cfg, "replicaof", "no one"));
	assert_int_equal(config_check(cfg, &ei), ERR_OK);
	config_free(cfg);
}

static void test_set_changes_all_or_nothing(void **state)
{
	struct config *cfg = config_new();
	struct buf err = {0};
	(void)state;
	assert_true(set(cfg, &err, 2, "timeout", "7", "Maxmemory", "1gb"));
	assert_int_equal(config_i(cfg, CFG_TIMEOUT), 7);
	assert_int_equal(config_i(cfg, CFG_MAXMEMORY), 1 << 30);
	assert_false(set(cfg, &err, 2, "timeout", "8", "hz", "many"));
	assert_int_equal(config_i(cfg, CFG_TIMEOUT), 7);
	assert_false(set(cfg, &err, 2, "timeout", "8", "timeout", "9"));
	assert_int_equal(config_i(cfg, CFG_TIMEOUT), 7);
	buf_free(&err);
	config_free(cfg);
}

static void test_set_errors_are_those_of_redis(void **state)
{
	struct config *cfg = config_new();
	(void)state;
	assert_set_fails(cfg, "Unknown option or number of arguments for CONFIG SET - 'a'", "a", "b");
	assert_set_fails(
		cfg, "Unknown option or number of arguments for CONFIG SET - 'rename-command'", "rename-command", "b");
	assert_set_fails(cfg, "CONFIG SET failed (possibly related to argument 'databases') - can't set immutable config",
		"databases", "3");
	assert_set_fails(
		cfg, "CONFIG SET failed (possibly related to argument 'dir') - can't set protected config", "dir", "/");
	assert_set_fails(cfg,
		"CONFIG SET failed (possibly related to argument 'timeout') - argument must be between 0 and 2147483647 "
		"inclusive",
		"timeout", "-1");
	assert_set_fails(cfg,
		"CONFIG SET failed (possibly related to argument 'client-output-buffer-limit') - "
		"Wrong number of arguments in buffer limit configuration.",
		"client-output-buffer-limit", "normal 1");
	config_free(cfg);
}

static void test_forms_are_brought_into_one_shape(void **state)
{
	struct config *cfg = config_new();
	struct buf err = {0};
	(void)state;
	assert_true(set(cfg, &err, 1, "notify-keyspace-events", "KEA"));
	assert_string_equal(text_of(cfg, CFG_NOTIFY), "AKE");
	assert_true(set(cfg, &err, 1, "notify-keyspace-events", "xK$K"));
	assert_string_equal(text_of(cfg, CFG_NOTIFY), "$xK");
	assert_true(set(cfg, &err, 1, "client-output-buffer-limit", "replica 1mb 2kb 3"));
	assert_string_equal(text_of(cfg, CFG_OUTPUT_LIMIT), "normal 0 0 0 slave 1048576 2048 3 pubsub 33554432 8388608 60");
	assert_true(set(cfg, &err, 1, "save", ""));
	assert_string_equal(text_of(cfg, CFG_SAVE), "");
	assert_true(set(cfg, &err, 1, "latency-tracking-info-percentiles", "50 99.90"));
	assert_string_equal(text_of(cfg, CFG_LATENCY_PERCENTILES), "50 99.9");
	assert_true(set(cfg, &err, 1, "maxmemory-clients", "5%"));
	assert_string_equal(text_of(cfg, CFG_MAXMEMORY_CLIENTS), "5%");
	assert_true(set(cfg, &err, 1, "shutdown-on-sigterm", "nosave now"));
	assert_string_equal(text_of(cfg, CFG_SHUTDOWN_ON_SIGTERM), "nosave now");
	buf_free(&err);
	config_free(cfg);
}

static void test_durability_comes_from_either_language(void **state)
{
	struct config *cfg = config_new();
	(void)state;
	assert_null(config_put(cfg, "appendonly", "yes"));
	assert_int_equal(config_durability(cfg), 1);
	assert_null(config_put(cfg, "appendfsync", "always"));
	assert_int_equal(config_durability(cfg), 0);
	assert_null(config_put(cfg, "appendonly", "no"));
	assert_int_equal(config_durability(cfg), -1);
	assert_null(config_put(cfg, "durability", "no"));
	assert_int_equal(config_durability(cfg), 2);
	config_free(cfg);
}

static void count_pair(void *ctx, const char *name, struct bytes value)
{
	struct buf *b = ctx;
	buf_addf(b, "%s=%.*s;", name, (int)value.n, value.n ? value.p : "");
}

static void assert_match_gives(const struct config *cfg, const char *want, unsigned n, const struct bytes *patterns)
{
	struct buf b = {0};
	config_match(cfg, patterns, n, count_pair, &b);
	buf_add(&b, "", 1);
	assert_string_equal(b.p, want);
	buf_free(&b);
}

static void test_match_knows_patterns_and_other_names(void **state)
{
	struct config *cfg = config_new();
	(void)state;
	assert_match_gives(cfg, "maxclients=10000;", 1, (struct bytes[]){BYTES_LIT("MaxClients")});
	assert_match_gives(cfg, "timeout=0;hz=10;", 2, (struct bytes[]){BYTES_LIT("h?"), BYTES_LIT("timeout")});
	assert_match_gives(cfg, "slave-priority=100;", 1, (struct bytes[]){BYTES_LIT("slave-prio*")});
	assert_match_gives(cfg, "use-exit-on-panic=no;", 1, (struct bytes[]){BYTES_LIT("use-exit-on-panic")});
	assert_match_gives(cfg, "", 1, (struct bytes[]){BYTES_LIT("use-exit-on-pani?")});
	assert_match_gives(cfg, "", 2, (struct bytes[]){BYTES_LIT("user"), BYTES_LIT("nosuch")});
	config_free(cfg);
}

static void test_rewrite_keeps_lines_comments_and_order(void **state)
{
	struct config *cfg = config_new();
	struct errinfo ei;
	struct buf err = {0};
	char path[256];
	(void)state;
	write_file(
		"r.conf", "# mine\nport 7000\n\nTimeout 5   \nrename-command FLUSHALL \"\"\nsave 60 1\nsave 30 1\n# end\n");
	snprintf(path, sizeof path, "%s", path_of("r.conf"));
	assert_int_equal(load(cfg, &ei, 1, path), ERR_OK);
	assert_true(set(cfg, &err, 4, "timeout", "6", "requirepass", "a b\"", "maxmemory", "3mb", "loglevel", "warning"));
	assert_true(config_rewrite(cfg, path, &err));
	assert_file("r.conf",
		"# mine\nport 7000\n\ntimeout 6\nrename-command FLUSHALL \"\"\nsave 60 1 30 1\n# end\n"
		"# Generated by CONFIG REWRITE\nloglevel warning\nrequirepass \"a b\\\"\"\nmaxmemory 3mb\n");
	/* what was written says the same when read, and writing again changes nothing */
	struct config *again = config_new();
	assert_int_equal(load(again, &ei, 1, path), ERR_OK);
	assert_string_equal(config_s(again, CFG_REQUIREPASS), "a b\"");
	assert_string_equal(config_s(again, CFG_SAVE), "60 1 30 1");
	assert_string_equal(config_s(again, CFG_RENAME_COMMAND), "FLUSHALL \"\"");
	assert_true(config_rewrite(again, path, &err));
	assert_file("r.conf",
		"# mine\nport 7000\n\ntimeout 6\nrename-command FLUSHALL \"\"\nsave 60 1 30 1\n# end\n"
		"# Generated by CONFIG REWRITE\nloglevel warning\nrequirepass \"a b\\\"\"\nmaxmemory 3mb\n");
	assert_int_equal(err.n, 0);
	assert_false(config_rewrite(again, "/nonexistent/folder/x.conf", &err));
	assert_int_not_equal(err.n, 0);
	unlink(path);
	buf_free(&err);
	config_free(again);
	config_free(cfg);
}

static void test_inert_ones_are_named(void **state)
{
	struct config *cfg = config_new();
	struct buf names = {0};
	(void)state;
	assert_int_equal(config_inert_given(cfg, &names), 0);
	assert_null(config_put(cfg, "rdbcompression", "no"));
	assert_null(config_put(cfg, "timeout", "3"));
	assert_null(config_put(cfg, "io-threads", "4"));
	assert_int_equal(config_inert_given(cfg, &names), 2);
	buf_add(&names, "", 1);
	assert_string_equal(names.p, "io-threads rdbcompression");
	buf_free(&names);
	config_free(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_those_of_redis),
		cmocka_unit_test(test_arguments_follow_the_file_and_win),
		cmocka_unit_test(test_includes_are_read_where_they_stand),
		cmocka_unit_test(test_nonsense_is_refused_with_line_and_reason),
		cmocka_unit_test(test_what_must_not_be_ignored_is_refused),
		cmocka_unit_test(test_set_changes_all_or_nothing),
		cmocka_unit_test(test_set_errors_are_those_of_redis),
		cmocka_unit_test(test_forms_are_brought_into_one_shape),
		cmocka_unit_test(test_durability_comes_from_either_language),
		cmocka_unit_test(test_match_knows_patterns_and_other_names),
		cmocka_unit_test(test_rewrite_keeps_lines_comments_and_order),
		cmocka_unit_test(test_inert_ones_are_named),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
