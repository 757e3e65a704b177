/* When two replies, or two datasets, are the same. Every rule here stands in differences.md. */
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct item {
	const char *p;
	size_t n;
};

static int by_bytes(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);
	return c ? c : (a->n > b->n) - (a->n < b->n);
}

/* The elements of the array at p, whole replies each. Returns how many; -1: not an array. */
static long items(const char *p, size_t n, struct item **out)
{
	*out = NULL;
	if (n == 0 || (p[0] != '*' && p[0] != '~'))
		return -1;
	long count = strtol(p + 1, NULL, 10);
	if (count < 0)
		return -1;
	*out = calloc((size_t)count + 1, sizeof(**out));
	if (!*out)
		die("out of memory");
	size_t at = (size_t)((const char *)memchr(p, '\n', n) - p) + 1;
	for (long i = 0; i < count; i++) {
		(*out)[i].p = p + at;
		(*out)[i].n = reply_length(p + at, n - at);
		at += (*out)[i].n;
	}
	return count;
}

static bool same_in_any_order(const char *a, size_t an, const char *b, size_t bn)
{
	struct item *x, *y;
	long n = items(a, an, &x), m = items(b, bn, &y);
	bool same = n == m && n >= 0;
	if (same) {
		qsort(x, (size_t)n, sizeof(*x), by_bytes);
		qsort(y, (size_t)m, sizeof(*y), by_bytes);
	}
	for (long i = 0; same && i < n; i++)
		same = by_bytes(&x[i], &y[i]) == 0;
	free(x);
	free(y);
	return same;
}

/* [cursor, keys]: here always one call for all, so the cursors are equal; the keys come in any order. */
static bool same_scan(const char *a, size_t an, const char *b, size_t bn)
{
	struct item *x, *y;
	bool same = items(a, an, &x) == 2 && items(b, bn, &y) == 2;
	if (same) {
		same = by_bytes(&x[0], &y[0]) == 0 && same_in_any_order(x[1].p, x[1].n, y[1].p, y[1].n);
		free(y);
	}
	free(x);
	return same;
}

/* Times that were given relative to now, and times left: asked at slightly different moments. Absolute deadlines of the
 * generator (4102444800 s and the 100 s after it) are exact. */
static bool same_time(const char *a, const char *b, long long unit)
{
	if (a[0] != ':' || b[0] != ':')
		return false;
	long long x = strtoll(a + 1, NULL, 10), y = strtoll(b + 1, NULL, 10);
	long long first = 4102444800000ll / unit;
	if (x < 0 || y < 0 || (x >= first && x <= first + 100000 / unit))
		return x == y;
	long long d = x > y ? x - y : y - x;
	return d <= 4000 / unit;
}

bool same_reply(const struct command *c, const char *a, size_t an, const char *b, size_t bn)
{
	if (an == bn && memcmp(a, b, an) == 0)
		return true;
	/* What HELLO tells of the server itself is not the same. */
	if (command_is(c, "HELLO"))
		return a[0] == b[0] && a[0] != '-';
	if (command_is(c, "KEYS"))
		return same_in_any_order(a, an, b, bn);
	if (command_is(c, "SCAN"))
		return same_scan(a, an, b, bn);
	if (command_is(c, "RANDOMKEY"))
		return a[0] == '$' && b[0] == '$' && (a[1] == '-') == (b[1] == '-');
	if (command_is(c, "TTL") || command_is(c, "EXPIRETIME"))
		return same_time(a, b, 1000);
	if (command_is(c, "PTTL") || command_is(c, "PEXPIRETIME"))
		return same_time(a, b, 1);
	if (command_is(c, "OBJECT") && c->argc > 1 && strcasecmp(c->argv[1].p, "IDLETIME") == 0)
		return a[0] == ':' && b[0] == ':' && a[1] != '-' && b[1] != '-';
	return false;
}

/* ---- whole datasets ---- */

/* Asks both the same about a key; notes a difference. */
static bool ask_both(struct server *a, struct server *b, const char *word, const char *second, struct item key,
	struct str *what)
{
	struct command c = {0};
	command_arg(&c, word, strlen(word));
	if (second)
		command_arg(&c, second, strlen(second));
	command_arg(&c, key.p, key.n);
	struct str out = {0};
	command_encode(&c, &out);
	server_send(a, 0, out.p, out.n);
	server_send(b, 0, out.p, out.n);
	str_free(&out);
	const char *x, *y;
	size_t xn, yn;
	bool same = server_reply(a, 0, &x, &xn) && server_reply(b, 0, &y, &yn) && same_reply(&c, x, xn, y, yn);
	if (!same)
		str_addf(what, "  %s %s \"%s\"\n    perdure: %s\n    redis:   %s\n", word, second ? second : "",
			shown(key.p, key.n), shown(x, xn), shown(y, yn));
	command_free(&c);
	return same;
}

static bool same_key(struct server *a, struct server *b, struct item key, struct str *what)
{
	return ask_both(a, b, "TYPE", NULL, key, what) & ask_both(a, b, "DEBUG", "DIGEST-VALUE", key, what) &
		ask_both(a, b, "GET", NULL, key, what) & ask_both(a, b, "PEXPIRETIME", NULL, key, what) &
		ask_both(a, b, "OBJECT", "ENCODING", key, what);
}

static bool same_database(struct server *a, struct server *b, unsigned db, struct str *what)
{
	char number[8];
	size_t n, m;
	size_t digits = (size_t)snprintf(number, sizeof(number), "%u", db);
	server_ask(a, &n, 2, "SELECT", (size_t)6, number, digits);
	server_ask(b, &n, 2, "SELECT", (size_t)6, number, digits);
	struct str copy = {0};
	const char *p = server_ask(a, &n, 2, "KEYS", (size_t)4, "*", (size_t)1);
	const char *q = server_ask(b, &m, 2, "KEYS", (size_t)4, "*", (size_t)1);
	bool same = same_in_any_order(p, n, q, m);
	if (!same)
		str_addf(what, "  keys of database %u\n    perdure: %s\n    redis:   %s\n", db, shown(p, n), shown(q, m));
	str_add(&copy, p, n); /* the replies that follow take the buffer */
	struct item *keys;
	long count = items(copy.p, copy.n, &keys);
	for (long i = 0; i < count; i++) {
		size_t head = (size_t)((const char *)memchr(keys[i].p, '\n', keys[i].n) - keys[i].p) + 1;
		struct item key = {keys[i].p + head, keys[i].n - head - 2};
		same &= same_key(a, b, key, what);
	}
	free(keys);
	str_free(&copy);
	return same;
}

bool same_data(struct server *a, struct server *b, struct str *what)
{
	bool same = true;
	for (unsigned db = 0; db < DATABASES; db++)
		same &= same_database(a, b, db, what);
	size_t n, m;
	const char *p = server_ask(a, &n, 2, "DEBUG", (size_t)5, "DIGEST", (size_t)6);
	const char *q = server_ask(b, &m, 2, "DEBUG", (size_t)5, "DIGEST", (size_t)6);
	if (same && (n != m || memcmp(p, q, n) != 0)) {
		same = false;
		str_addf(what, "  DEBUG DIGEST\n    perdure: %s\n    redis:   %s\n", shown(p, n), shown(q, m));
	}
	return same;
}
