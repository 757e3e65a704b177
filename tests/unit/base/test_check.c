/* A failed check ends the process: each case runs in a child, whose stderr and way of ending are looked at. */
#include "unit.h"

#include "base/check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char out[2048];
static int status;

static void run(void (*fn)(void))
{
	int fds[2];
	size_t n = 0;
	ssize_t k;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		signal(SIGABRT, SIG_DFL);
		dup2(fds[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while (n < sizeof(out) - 1 && (k = read(fds[0], out + n, sizeof(out) - 1 - n)) > 0)
		n += (size_t)k;
	out[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void assert_aborted(void)
{
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void true_check(void)
{
	CHECK(1 + 1 == 2);
	CHECK2(2 > 1, 2, 1);
	DCHECK(1);
}

static void false_check(void)
{
	CHECK(getpid() == 0);
}

static void check_with_values(void)
{
	CHECK2(getpid() == 0, 4711, 0xdeadbeef);
}

static void debug_check(void)
{
	DCHECK(getpid() == 0);
}

static void impossible(void)
{
	CANNOT("no such colour");
}

static void report(const char *line)
{
	char text[600];
	int n = snprintf(text, sizeof(text), "[report: %s]\n", line);

	if (write(STDERR_FILENO, text, (size_t)n) < 0)
		_exit(1);
}

static void bad_report(const char *line)
{
	report(line);
	CANNOT("in the report");
}

static void reported(void)
{
	check_on_fail(report);
	CANNOT("no such colour");
}

static void badly_reported(void)
{
	check_on_fail(bad_report);
	CANNOT("no such colour");
}

static void test_a_true_check_does_nothing(void **state)
{
	(void)state;
	run(true_check);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(out, "");
}

static void test_a_false_check_names_condition_and_place_and_aborts(void **state)
{
	(void)state;
	run(false_check);
	assert_aborted();
	assert_non_null(strstr(out, "getpid() == 0"));
	assert_non_null(strstr(out, "test_check.c:"));
	assert_int_equal(out[strlen(out) - 1], '\n');
}

static void test_a_check_with_values_prints_them(void **state)
{
	(void)state;
	run(check_with_values);
	assert_aborted();
	assert_non_null(strstr(out, "4711"));
	assert_non_null(strstr(out, "0xdeadbeef"));
}

static void test_a_debug_check_works_in_debug_builds(void **state)
{
	(void)state;
	run(debug_check);
#ifdef PERDURE_DEBUG
	assert_aborted();
#else
	assert_true(WIFEXITED(status));
#endif
}

static void test_what_cannot_be_aborts(void **state)
{
	(void)state;
	run(impossible);
	assert_aborted();
	assert_non_null(strstr(out, "no such colour"));
}

static void test_the_report_runs_once_before_the_abort(void **state)
{
	const char *at;

	(void)state;
	run(reported);
	assert_aborted();
	at = strstr(out, "[report: check failed: no such colour");
	assert_non_null(at);
	assert_null(strstr(at + 1, "[report"));
}

static void test_a_report_that_fails_is_not_run_again(void **state)
{
	const char *at;

	(void)state;
	run(badly_reported);
	assert_aborted();
	at = strstr(out, "[report");
	assert_non_null(at);
	assert_null(strstr(at + 1, "[report"));
	assert_non_null(strstr(at, "in the report"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_true_check_does_nothing),
		cmocka_unit_test(test_a_false_check_names_condition_and_place_and_aborts),
		cmocka_unit_test(test_a_check_with_values_prints_them),
		cmocka_unit_test(test_a_debug_check_works_in_debug_builds),
		cmocka_unit_test(test_what_cannot_be_aborts),
		cmocka_unit_test(test_the_report_runs_once_before_the_abort),
		cmocka_unit_test(test_a_report_that_fails_is_not_run_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
