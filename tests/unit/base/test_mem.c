#include "unit.h"

#include "base/mem.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_allocations_are_usable_and_as_large_as_asked(void **state)
{
	static const size_t sizes[] = {0, 1, 8, 100, 4096, 1 << 20};

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		char *p = mem_alloc(sizes[i]), *q = mem_zalloc(sizes[i]);

		assert_non_null(p);
		assert_non_null(q);
		assert_true(mem_size(p) >= sizes[i]);
		assert_true(mem_size(p) <= sizes[i] + sizes[i] / 4 + 16);
		memset(p, 0xab, sizes[i]);
		for (size_t k = 0; k < sizes[i]; k++)
			assert_int_equal(q[k], 0);
		mem_free(p);
		mem_free(q);
	}
	mem_free(NULL);
	assert_int_equal(mem_size(NULL), 0);
}

static void test_aligned_allocations_are_aligned(void **state)
{
	(void)state;
	for (size_t align = 1; align <= 65536; align *= 2) {
		char *p = mem_aligned(align, 100);

		assert_int_equal((uintptr_t)p % align, 0);
		memset(p, 1, 100);
		mem_free(p);
	}
}

static void test_realloc_keeps_the_content(void **state)
{
	char *p = mem_realloc(NULL, 3);

	(void)state;
	memcpy(p, "abc", 3);
	p = mem_realloc(p, 1 << 20);
	assert_memory_equal(p, "abc", 3);
	memset(p + 3, 'x', (1 << 20) - 3);
	p = mem_realloc(p, 4);
	assert_memory_equal(p, "abcx", 4);
	mem_free(p);
}

static void test_strdup_copies(void **state)
{
	char s[] = "text", *p = mem_strdup(s);

	(void)state;
	s[0] = 'n';
	assert_string_equal(p, "text");
	mem_free(p);
}

static void test_try_gives_null_when_there_is_no_memory(void **state)
{
	void *p = mem_try(10);

	(void)state;
	assert_non_null(p);
	mem_free(p);
#ifndef PERDURE_NO_JEMALLOC /* sanitizers end the process instead */
	assert_null(mem_try(SIZE_MAX / 2));
#endif
}

static void test_no_memory_ends_the_process(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		close(STDOUT_FILENO);
		mem_alloc(SIZE_MAX / 2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#ifndef PERDURE_NO_JEMALLOC
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
#endif
}

static void test_statistics_follow_allocations(void **state)
{
	enum { N = 1000, SIZE = 10240 };
	static char *p[N];
	struct mem_stats before, during, after;

	(void)state;
	mem_stats_get(&before);
	for (int i = 0; i < N; i++) {
		p[i] = mem_alloc(SIZE);
		memset(p[i], 1, SIZE);
	}
	mem_stats_get(&during);
	assert_in_range(during.allocated - before.allocated, N * SIZE - 500000, N * SIZE + 500000);
	assert_true(during.active >= during.allocated);
	assert_true(during.resident >= N * SIZE);
	assert_true(during.mapped >= N * SIZE);
	for (int i = 0; i < N; i++)
		mem_free(p[i]);
	mem_purge();
	mem_stats_get(&after);
	assert_true(after.allocated < before.allocated + 500000);
#ifndef PERDURE_NO_JEMALLOC
	/* Purged: the pages went back, though they may stay reserved. */
	assert_true(after.resident < during.resident - N * SIZE / 2);
#endif
}

static void test_the_allocator_has_a_name(void **state)
{
	(void)state;
#ifndef PERDURE_NO_JEMALLOC
	assert_memory_equal(mem_allocator(), "jemalloc-5.", 11);
#else
	assert_string_equal(mem_allocator(), "libc");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocations_are_usable_and_as_large_as_asked),
		cmocka_unit_test(test_aligned_allocations_are_aligned),
		cmocka_unit_test(test_realloc_keeps_the_content),
		cmocka_unit_test(test_strdup_copies),
		cmocka_unit_test(test_try_gives_null_when_there_is_no_memory),
		cmocka_unit_test(test_no_memory_ends_the_process),
		cmocka_unit_test(test_statistics_follow_allocations),
		cmocka_unit_test(test_the_allocator_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
