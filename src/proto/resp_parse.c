/* Commands in. A command that lies in the input as a whole, with lengths of few digits, takes one pass through
 * read_args and nothing else; every rarer thing leaves that path through an UNLIKELY.
 *
 * While a command is incomplete its arguments are kept as offsets (in the pointers of argv), since the owner may
 * move the bytes; they become pointers when the last one is there. Both passes are linear in the arguments. */
#include "internal.h"

#include "base/mem.h"
#include "base/num.h"

#include <stdio.h>

static enum resp_status fail(struct resp_parser *ps, const char *error)
{
	ps->error = error;
	return RESP_ERROR;
}

static bool unauthenticated(const struct resp_limits *lim)
{
	return lim->max_args <= RESP_UNAUTH_ARGS;
}

/* The end of the line at ps->item: its '\r' with one byte more behind it, or (for inline commands) its '\n'.
 * RESP_COMMAND with the offset in *eol; RESP_MORE; RESP_ERROR when the line is longer than allowed. */
static enum resp_status line_end(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n,
	char mark, const char *too_long, size_t *eol)
{
	const char *e = n > ps->pos ? memchr(p + ps->pos, mark, n - ps->pos) : NULL;

	/* The same line must fail however it arrives, so one with an end is measured too. */
	ps->pos = e ? (size_t)(e - p) : n;
	if (ps->pos - ps->item > lim->max_inline)
		return fail(ps, too_long);
	if (!e || (mark == '\r' && ps->pos + 1 == n))
		return RESP_MORE;
	*eol = ps->pos;
	return RESP_COMMAND;
}

/* "$len" of any form. On RESP_COMMAND ps->item is behind the line and ps->bulk the length. */
static enum resp_status read_bulk_head(struct resp_parser *ps, const struct resp_limits *lim, const char *p,
	size_t n)
{
	size_t eol = 0;
	enum resp_status st = line_end(ps, lim, p, n, '\r', "Protocol error: too big bulk count string", &eol);
	int64_t max = unauthenticated(lim) && lim->max_bulk < RESP_MAX_BULK ? RESP_MAX_BULK : lim->max_bulk;
	int64_t len;

	if (st != RESP_COMMAND)
		return st;
	if (p[ps->item] != '$') {
		snprintf(ps->errbuf, sizeof(ps->errbuf), "Protocol error: expected '$', got '%c'", p[ps->item]);
		return fail(ps, ps->errbuf);
	}
	if (!num_i64((struct bytes){p + ps->item + 1, eol - ps->item - 1}, &len) || len < 0 || len > max)
		return fail(ps, "Protocol error: invalid bulk length");
	if (len > lim->max_bulk)
		return fail(ps, "Protocol error: unauthenticated bulk length");
	ps->bulk = len;
	ps->item = eol + 2;
	return RESP_COMMAND;
}

/* Reads a "$len" of up to four digits at c, with at least SHORT_HEAD bytes there: the length of the line, or 0 for
 * what read_bulk_head must look at. */
#define SHORT_HEAD 7

static inline size_t short_bulk_head(const char *c, size_t *len)
{
	unsigned d0 = (unsigned char)c[1] - '0', d1, d2, d3;

	if (UNLIKELY(c[0] != '$' || d0 > 9))
		return 0;
	*len = d0;
	if (c[2] == '\r')
		return 4;
	d1 = (unsigned char)c[2] - '0';
	if (UNLIKELY(d1 > 9 || d0 == 0))
		return 0;
	*len = d0 * 10 + d1;
	if (c[3] == '\r')
		return 5;
	d2 = (unsigned char)c[3] - '0';
	if (UNLIKELY(d2 > 9))
		return 0;
	*len = d0 * 100 + d1 * 10 + d2;
	if (c[4] == '\r')
		return 6;
	d3 = (unsigned char)c[4] - '0';
	if (UNLIKELY(d3 > 9 || c[5] != '\r'))
		return 0;
	*len = d0 * 1000 + d1 * 100 + d2 * 10 + d3;
	return SHORT_HEAD;
}

/* Reads arguments until none is left or the input ends. `base` is what their places are counted from: NULL for a
 * command just begun, the input for one that was begun in an earlier call. */
static enum resp_status read_args(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n,
	const char *base)
{
	size_t at = ps->item, len = (size_t)ps->bulk, head;
	int64_t left = ps->left;
	uint32_t argc = ps->argc;
	bool in_bulk = ps->in_bulk;
	enum resp_status st = RESP_COMMAND;

	for (; left > 0; left--) {
		if (!in_bulk) {
			head = LIKELY(n - at >= SHORT_HEAD) ? short_bulk_head(p + at, &len) : 0;
			if (UNLIKELY(head == 0 || len > (size_t)lim->max_bulk)) {
				ps->item = at;
				ps->pos = ps->pos > at ? ps->pos : at;
				st = read_bulk_head(ps, lim, p, n);
				if (st != RESP_COMMAND)
					break;
				at = ps->item;
				len = (size_t)ps->bulk;
			} else {
				at += head;
			}
		}
		in_bulk = n - at < 2 || n - at - 2 < len;
		if (UNLIKELY(in_bulk)) {
			ps->item = at;
			ps->bulk = (int64_t)len;
			ps->need = at + len + 2;
			st = RESP_MORE;
			break;
		}
		if (UNLIKELY(argc == ps->cap))
			ps->argv = resp__grow(ps->argv, argc, &ps->cap, left);
		ps->argv[argc++] = (struct bytes){(const char *)((uintptr_t)(p + at) - (uintptr_t)base), len};
		at += len + 2;
	}
	ps->in_bulk = in_bulk;
	ps->argc = argc;
	ps->left = left;
	ps->used = at;
	return st;
}

/* Counts the places of the arguments from another base. */
static void rebase(struct resp_parser *ps, const char *from, const char *to)
{
	uintptr_t by = (uintptr_t)to - (uintptr_t)from;

	for (uint32_t i = 0; i < ps->argc; i++)
		ps->argv[i].p = (const char *)((uintptr_t)ps->argv[i].p + by);
}

static enum resp_status read_inline(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n)
{
	size_t eol = 0;
	enum resp_status st = line_end(ps, lim, p, n, '\n', "Protocol error: too big inline request", &eol);

	if (st != RESP_COMMAND)
		return st;
	ps->used = eol + 1;
	ps->pos = 0;
	if (eol > 0 && p[eol - 1] == '\r')
		eol--;
	ps->unquoted.n = 0;
	if (!resp__split((struct bytes){p, eol}, &ps->unquoted, &ps->argv, &ps->argc, &ps->cap))
		return fail(ps, "Protocol error: unbalanced quotes in request");
	ps->inline_cmd = true;
	return ps->argc ? RESP_COMMAND : RESP_EMPTY;
}

/* "*count" of any form. On RESP_COMMAND ps->left and ps->item are set for read_args. */
static enum resp_status read_count(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n)
{
	size_t eol = 0;
	enum resp_status st = line_end(ps, lim, p, n, '\r', "Protocol error: too big mbulk count string", &eol);
	int64_t count;

	if (st != RESP_COMMAND)
		return st;
	if (!num_i64((struct bytes){p + 1, eol - 1}, &count) || count > INT32_MAX)
		return fail(ps, "Protocol error: invalid multibulk length");
	if (count > lim->max_args) {
		return fail(ps, unauthenticated(lim) ? "Protocol error: unauthenticated multibulk length"
			: "Protocol error: invalid multibulk length");
	}
	ps->used = ps->item = eol + 2;
	if (count <= 0) {
		ps->item = ps->pos = 0;
		return RESP_EMPTY;
	}
	ps->left = count;
	return RESP_COMMAND;
}

/* The first bytes of a command. RESP_COMMAND: an inline one is complete, of another the count is known. */
static enum resp_status begin(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n)
{
	unsigned count;

	ps->argc = 0;
	ps->inline_cmd = false;
	if (UNLIKELY(n == 0))
		return RESP_MORE;
	if (UNLIKELY(p[0] != '*'))
		return read_inline(ps, lim, p, n);
	count = n >= 4 && p[2] == '\r' ? (unsigned char)p[1] - '0' : 0;
	if (UNLIKELY(count == 0 || count > 9 || count > lim->max_args))
		return read_count(ps, lim, p, n);
	ps->left = count;
	ps->item = 4;
	return RESP_COMMAND;
}

enum resp_status resp_parse(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n)
{
	const char *base = ps->left > 0 ? p : NULL;
	enum resp_status st;

	ps->need = 0;
	if (!base) {
		st = begin(ps, lim, p, n);
		if (UNLIKELY(st != RESP_COMMAND || ps->inline_cmd))
			return st;
	}
	st = read_args(ps, lim, p, n, base);
	if (st == RESP_COMMAND) {
		if (UNLIKELY(base != NULL))
			rebase(ps, NULL, p);
		ps->item = ps->pos = 0;
	} else if (st == RESP_MORE && !base) {
		rebase(ps, p, NULL);
	}
	return st;
}

void resp_idle(struct resp_parser *ps)
{
	mem_free(ps->argv);
	buf_free(&ps->unquoted);
	*ps = (struct resp_parser){0};
}
