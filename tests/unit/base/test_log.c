#include "unit.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char dir[] = "/tmp/perdure-log.XXXXXX";
static char path[64], moved[64];
static char text[16384];

static size_t slurp(const char *file)
{
	int fd = open(file, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	close(fd);
	text[n] = '\0';
	return (size_t)n;
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(moved, sizeof(moved), "%s/log.1", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	log_set_file(NULL);
	log_set_level(LOG_NOTICE);
	unlink(path);
	unlink(moved);
	return rmdir(dir);
}

static void start(void)
{
	unlink(path);
	assert_int_equal(log_set_file(path), 0);
	log_set_level(LOG_DEBUG);
}

static void test_a_line_has_the_format_of_redis(void **state)
{
	char want[128], year[8];
	time_t now = time(NULL);
	struct tm tm;
	regex_t re;

	(void)state;
	start();
	log_msg(LOG_WARNING, "Ready to accept %s on port %d", "connections", 6379);
	slurp(path);
	localtime_r(&now, &tm);
	strftime(year, sizeof(year), "%Y", &tm);
	snprintf(want, sizeof(want), "^%d:M [0-3][0-9] [A-Z][a-z][a-z] %s [0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3} # "
		"Ready to accept connections on port 6379\n$", (int)getpid(), year);
	assert_int_equal(regcomp(&re, want, REG_EXTENDED), 0);
	assert_int_equal(regexec(&re, text, 0, NULL, 0), 0);
	regfree(&re);
	/* The same minute by another road. */
	strftime(want, sizeof(want), " %d %b %Y ", &tm);
	assert_non_null(strstr(text, want));
}

static void test_each_level_has_its_mark(void **state)
{
	(void)state;
	start();
	log_msg(LOG_DEBUG, "l0");
	log_msg(LOG_VERBOSE, "l1");
	log_msg(LOG_NOTICE, "l2");
	log_msg(LOG_WARNING, "l3");
	slurp(path);
	assert_non_null(strstr(text, " . l0\n"));
	assert_non_null(strstr(text, " - l1\n"));
	assert_non_null(strstr(text, " * l2\n"));
	assert_non_null(strstr(text, " # l3\n"));
}

static void test_lower_levels_are_left_out(void **state)
{
	(void)state;
	start();
	log_set_level(LOG_WARNING);
	assert_int_equal(log_get_level(), LOG_WARNING);
	log_msg(LOG_NOTICE, "quiet");
	log_msg(LOG_WARNING, "loud");
	slurp(path);
	assert_null(strstr(text, "quiet"));
	assert_non_null(strstr(text, "loud"));
	log_set_level(LOG_NOTHING);
	log_msg(LOG_WARNING, "silenced");
	slurp(path);
	assert_null(strstr(text, "silenced"));
}

static void test_a_file_moved_away_is_made_anew(void **state)
{
	(void)state;
	start();
	log_msg(LOG_NOTICE, "first");
	assert_int_equal(rename(path, moved), 0);
	log_msg(LOG_NOTICE, "second");
	slurp(path);
	assert_non_null(strstr(text, "second"));
	assert_null(strstr(text, "first"));
	slurp(moved);
	assert_non_null(strstr(text, "first"));
	assert_null(strstr(text, "second"));
}

static void test_a_file_is_appended_to(void **state)
{
	(void)state;
	start();
	log_msg(LOG_NOTICE, "one");
	assert_int_equal(log_set_file(path), 0);
	log_msg(LOG_NOTICE, "two");
	slurp(path);
	assert_true(strstr(text, "one") && strstr(text, "one") < strstr(text, "two"));
}

static void test_a_file_that_cannot_be_opened_is_refused_and_the_old_one_kept(void **state)
{
	char bad[6000];

	(void)state;
	start();
	snprintf(bad, sizeof(bad), "%s/no/such/place", dir);
	assert_int_equal(log_set_file(bad), ENOENT);
	memset(bad, 'a', sizeof(bad) - 1);
	bad[sizeof(bad) - 1] = '\0';
	assert_int_equal(log_set_file(bad), ENAMETOOLONG);
	log_msg(LOG_NOTICE, "still here");
	slurp(path);
	assert_non_null(strstr(text, "still here"));
}

static void test_long_text_is_cut_but_the_line_ends(void **state)
{
	size_t n;

	(void)state;
	start();
	log_msg(LOG_NOTICE, "%09000d", 1);
	log_msg(LOG_NOTICE, "next");
	n = slurp(path);
	assert_in_range(n, 4096, 4200);
	assert_int_equal(text[4094], '\n');
	assert_int_equal(text[4093], '0');
	assert_non_null(strstr(text + 4095, " * next\n"));
}

static void test_errno_survives(void **state)
{
	(void)state;
	start();
	errno = EXDEV;
	log_msg(LOG_NOTICE, "x");
	assert_int_equal(errno, EXDEV);
}

static void test_syslog_takes_lines_besides_the_file(void **state)
{
	(void)state;
	start();
	/* Whether a syslog daemon listens or not, the file must have the line. */
	log_set_syslog(1, "perdure-test", 16 << 3); /* local0 */
	log_msg(LOG_WARNING, "to both");
	log_set_syslog(0, NULL, 0);
	slurp(path);
	assert_non_null(strstr(text, " # to both\n"));
}

static void test_without_a_file_lines_go_to_standard_output(void **state)
{
	int saved = dup(STDOUT_FILENO), fd;

	(void)state;
	start();
	fflush(stdout);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDOUT_FILENO);
	log_set_file("");
	log_msg(LOG_NOTICE, "to stdout");
	dup2(saved, STDOUT_FILENO);
	close(fd);
	close(saved);
	slurp(path);
	assert_non_null(strstr(text, " * to stdout\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_line_has_the_format_of_redis),
		cmocka_unit_test(test_each_level_has_its_mark),
		cmocka_unit_test(test_lower_levels_are_left_out),
		cmocka_unit_test(test_a_file_moved_away_is_made_anew),
		cmocka_unit_test(test_a_file_is_appended_to),
		cmocka_unit_test(test_a_file_that_cannot_be_opened_is_refused_and_the_old_one_kept),
		cmocka_unit_test(test_long_text_is_cut_but_the_line_ends),
		cmocka_unit_test(test_errno_survives),
		cmocka_unit_test(test_syslog_takes_lines_besides_the_file),
		cmocka_unit_test(test_without_a_file_lines_go_to_standard_output),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
