/* Numbers from text. The other way is num_put.c. */
#include "num.h"

#include "check.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

bool num_u64(struct bytes s, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0 || s.n > 20 || (s.p[0] == '0' && s.n > 1))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned d = (unsigned char)s.p[i] - '0';

		if (d > 9)
			return false;
		/* Nineteen digits always fit; only the twentieth can overflow. */
		if (UNLIKELY(i == 19) && (v > UINT64_MAX / 10 || (v == UINT64_MAX / 10 && d > UINT64_MAX % 10)))
			return false;
		v = v * 10 + d;
	}
	*out = v;
	return true;
}

bool num_i64(struct bytes s, int64_t *out)
{
	bool neg = s.n > 1 && s.p[0] == '-';
	uint64_t v;

	if (!num_u64((struct bytes){s.p + neg, s.n - neg}, &v))
		return false;
	if (!neg) {
		if (v > INT64_MAX)
			return false;
		*out = (int64_t)v;
		return true;
	}
	/* "-0" is no number here: every value has one spelling. */
	if (v == 0 || v > (uint64_t)INT64_MAX + 1)
		return false;
	*out = (int64_t)(0 - v);
	return true;
}

/* The input as a C string in `to`, for the strto functions; false on what they would take but we do not. */
static bool terminated(struct bytes s, char to[NUM_LD_MAX])
{
	if (s.n == 0 || s.n >= NUM_LD_MAX)
		return false;
	if (s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r'))
		return false;
	memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	return true;
}

bool num_ld(struct bytes s, long double *out)
{
	char text[NUM_LD_MAX], *end;
	long double v;

	if (!terminated(s, text))
		return false;
	errno = 0;
	v = strtold(text, &end);
	if (end != text + s.n || isnan(v))
		return false;
	/* ERANGE with another value is a denormal: that one is kept. */
	if (errno == ERANGE && (isinf(v) || v == 0))
		return false;
	*out = v;
	return true;
}

bool num_d(struct bytes s, double *out)
{
	char text[NUM_LD_MAX], *end;
	double v;

	if (!terminated(s, text))
		return false;
	errno = 0;
	v = strtod(text, &end);
	if (end != text + s.n || isnan(v))
		return false;
	if (errno == ERANGE && (isinf(v) || v == 0))
		return false;
	*out = v;
	return true;
}

bool num_memory(struct bytes s, int64_t *out)
{
	static const struct {
		const char *unit;
		int64_t bytes;
	} units[] = {
		{"", 1}, {"b", 1},
		{"k", 1000}, {"kb", 1 << 10},
		{"m", 1000000}, {"mb", 1 << 20},
		{"g", 1000000000}, {"gb", 1 << 30},
	};
	int64_t v = 0;
	size_t i = 0;

	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s.p[i] - '0', &v))
			return false;
	}
	if (i == 0)
		return false;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		if (bytes_ieq((struct bytes){s.p + i, s.n - i}, units[u].unit))
			return !__builtin_mul_overflow(v, units[u].bytes, out);
	}
	return false;
}
