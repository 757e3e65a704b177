/* What the tests of base and proto share: cmocka's headers and a comparison of bytes. */
#ifndef TESTS_UNIT_BASE_UNIT_H
#define TESTS_UNIT_BASE_UNIT_H

#include "base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define assert_bytes(got, want) assert_bytes_at(got, want, __FILE__, __LINE__)

static inline void assert_bytes_at(struct bytes got, struct bytes want, const char *file, int line)
{
	if (bytes_eq(got, want))
		return;
	print_error("got  %zu bytes: %.*s\nwant %zu bytes: %.*s\n", got.n, (int)(got.n > 500 ? 500 : got.n), got.p,
		want.n, (int)(want.n > 500 ? 500 : want.n), want.p);
	_fail(file, line);
}

#endif
