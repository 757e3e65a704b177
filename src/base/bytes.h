/* A run of bytes somebody else owns: how arguments, keys and values travel between rooms. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* p may be NULL only when n is 0. Not terminated. Valid as long as the owner says. */
struct bytes {
	const char *p;
	size_t n;
};

#define BYTES_LIT(s) ((struct bytes){"" s, sizeof(s) - 1})

static inline struct bytes bytes_of(const char *s)
{
	return (struct bytes){s, strlen(s)};
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Orders as memcmp does, the shorter first where one begins with the other. */
int bytes_cmp(struct bytes a, struct bytes b);

/* Equal to a C string, ASCII letters of either case alike. */
bool bytes_ieq(struct bytes a, const char *s);

#endif
