#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void (*on_fail)(const char *line);

void check_on_fail(void (*fn)(const char *line))
{
	on_fail = fn;
}

void check_fail(const char *file, int line, const char *what, unsigned long long a, unsigned long long b)
{
	static atomic_flag failing = ATOMIC_FLAG_INIT;
	char text[512];
	int n = snprintf(text, sizeof(text) - 1, "check failed: %s, values %llu (%#llx) and %llu (%#llx), at %s:%d",
		what, a, a, b, b, file, line);

	if (n >= (int)sizeof(text) - 1)
		n = (int)sizeof(text) - 2;
	text[n] = '\n';
	/* Straight to the descriptor: stdio may be what is broken, or locked by the thread that failed. */
	if (write(STDERR_FILENO, text, (size_t)n + 1) < 0)
		abort();
	text[n] = '\0';
	/* A report that fails itself must not report again. */
	if (on_fail && !atomic_flag_test_and_set(&failing))
		on_fail(text);
	abort();
}
