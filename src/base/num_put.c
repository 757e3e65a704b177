/* Numbers to text. The other way is num.c. */
#include "num.h"

#include <math.h>
#include <stdio.h>

static const char pairs[201] =
	"0001020304050607080910111213141516171819"
	"2021222324252627282930313233343536373839"
	"4041424344454647484950515253545556575859"
	"6061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

static size_t digits_of(uint64_t v)
{
	size_t n = 1;

	for (;;) {
		if (v < 10)
			return n;
		if (v < 100)
			return n + 1;
		if (v < 1000)
			return n + 2;
		if (v < 10000)
			return n + 3;
		v /= 10000;
		n += 4;
	}
}

size_t num_put_u64(char *p, uint64_t v)
{
	size_t n = digits_of(v);
	char *e = p + n;

	while (v >= 100) {
		e -= 2;
		memcpy(e, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10)
		memcpy(p, pairs + v * 2, 2);
	else
		*p = (char)('0' + v);
	return n;
}

size_t num_put_i64(char *p, int64_t v)
{
	if (v >= 0)
		return num_put_u64(p, (uint64_t)v);
	*p = '-';
	return 1 + num_put_u64(p + 1, 0 - (uint64_t)v);
}

static size_t put_special(char *p, bool nan, bool neg)
{
	const char *s = nan ? "nan" : neg ? "-inf" : "inf";
	size_t n = strlen(s);

	memcpy(p, s, n);
	return n;
}

size_t num_put_ld(char *p, long double v)
{
	char text[NUM_LD_MAX];
	size_t n;

	if (!isfinite(v))
		return put_special(p, isnan(v), v < 0);
	n = (size_t)snprintf(text, sizeof(text), "%.17Lf", v);
	while (text[n - 1] == '0')
		n--;
	if (text[n - 1] == '.')
		n--;
	if (n == 2 && text[0] == '-' && text[1] == '0') {
		*p = '0';
		return 1;
	}
	memcpy(p, text, n);
	return n;
}

size_t num_put_d(char *p, double v)
{
	char text[NUM_D_MAX];
	int n;

	if (!isfinite(v))
		return put_special(p, isnan(v), v < 0);
	/* %.17g writes integers below 10^17 in full; printing them as integers is some twenty times faster. */
	if (v > -1e17 && v < 1e17 && v == (double)(int64_t)v && !(v == 0 && signbit(v)))
		return num_put_i64(p, (int64_t)v);
	n = snprintf(text, sizeof(text), "%.17g", v);
	memcpy(p, text, (size_t)n);
	return (size_t)n;
}

size_t num_put_human(char *p, uint64_t n)
{
	static const char units[] = "KMGTPE";
	double v = (double)n / 1024;
	int u = 0;

	if (n < 1024)
		return (size_t)snprintf(p, 32, "%uB", (unsigned)n);
	for (; v >= 1024; u++)
		v /= 1024;
	return (size_t)snprintf(p, 32, "%.2f%c", v, units[u]);
}
