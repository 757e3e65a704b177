#include "bytes.h"

int bytes_cmp(struct bytes a, struct bytes b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c == 0)
		c = (a.n > b.n) - (a.n < b.n);
	return c;
}

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

bool bytes_ieq(struct bytes a, const char *s)
{
	for (size_t i = 0; i < a.n; i++) {
		/* A NUL in a ends the comparison too: s has nothing behind its own. */
		if (s[i] == '\0' || lower(a.p[i]) != lower(s[i]))
			return false;
	}
	return s[a.n] == '\0';
}
