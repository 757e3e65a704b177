/* Inline commands and config lines: words, "double quotes" with escapes, 'single quotes' with \' only. */
#include "internal.h"

#include "base/mem.h"

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char escaped(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'a':
		return '\a';
	default:
		return c;
	}
}

/* A quoted stretch, c behind its opening quote. Returns where the closing quote is passed, or NULL when there is
 * none or something other than space follows it. */
static const char *quoted(const char *c, const char *end, char quote, char **out)
{
	for (; c < end; c++) {
		if (*c == quote)
			return c + 1 == end || is_space(c[1]) ? c + 1 : NULL;
		if (*c != '\\' || c + 1 == end || (quote == '\'' && c[1] != '\'')) {
			*(*out)++ = *c;
		} else if (c[1] == 'x' && end - c > 3 && hex(c[2]) >= 0 && hex(c[3]) >= 0) {
			*(*out)++ = (char)(hex(c[2]) << 4 | hex(c[3]));
			c += 3;
		} else {
			c++;
			*(*out)++ = quote == '"' ? escaped(*c) : *c;
		}
	}
	return NULL;
}

/* One word, c at its first byte. Returns the place behind it, or NULL on unbalanced quotes. */
static const char *word(const char *c, const char *end, char **out)
{
	while (c < end) {
		switch (*c) {
		case ' ':
		case '\n':
		case '\r':
		case '\t':
			return c;
		case '"':
		case '\'':
			/* Only space may follow a closing quote, so the word ends there. */
			return quoted(c + 1, end, *c, out);
		default:
			*(*out)++ = *c++;
		}
	}
	return c;
}

struct bytes *resp__grow(struct bytes *argv, uint32_t argc, uint32_t *cap, int64_t left)
{
	uint64_t want = *cap < 8 ? 16 : (uint64_t)*cap * 2;

	/* Never more than what was announced, but neither all of it at once: it is only a promise. */
	if (left > 0 && want > (uint64_t)argc + (uint64_t)left && *cap >= 8)
		want = (uint64_t)argc + (uint64_t)left;
	CHECK2(want <= UINT32_MAX, want, argc);
	*cap = (uint32_t)want;
	return mem_realloc(argv, want * sizeof(*argv));
}

bool resp__split(struct bytes line, struct buf *store, struct bytes **argv, uint32_t *argc, uint32_t *cap)
{
	const char *c = line.p, *end = c + line.n;
	char *out = buf_room(store, line.n); /* words are never longer than what they were written as */
	uint32_t n = 0;

	for (;;) {
		char *begin = out;

		while (c < end && is_space(*c))
			c++;
		if (c == end)
			break;
		c = word(c, end, &out);
		if (!c)
			return false;
		if (n == *cap)
			*argv = resp__grow(*argv, n, cap, 0);
		(*argv)[n++] = (struct bytes){begin, (size_t)(out - begin)};
	}
	store->n = (size_t)(out - store->p);
	*argc = n;
	return true;
}

bool resp_split_line(struct bytes line, struct buf *store, struct bytes **argv_out, size_t *argc_out)
{
	struct bytes *argv = NULL;
	uint32_t argc = 0, cap = 0;

	if (!resp__split(line, store, &argv, &argc, &cap)) {
		mem_free(argv);
		return false;
	}
	*argv_out = argv;
	*argc_out = argc;
	return true;
}
