/* Fuzzer of the RESP parser. The input is fed whole, then in pieces whose sizes the input itself decides; both must
 * give the same commands, the same end and the same error. Commands are also written out again in the plain form
 * and read back. First byte: limits and how it is cut. */
#include "base/buf.h"
#include "base/mem.h"
#include "proto/resp.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz_resp: %s\n", what);
	abort();
}

/* The command in RESP, appended to `to`. */
static void write_command(const struct resp_parser *ps, struct buf *to)
{
	resp_put_array(to, ps->argc);
	for (uint32_t i = 0; i < ps->argc; i++)
		resp_put_bulk(to, ps->argv[i]);
}

/* One call on a copy of exactly n bytes, so that a read past them is seen. What it found goes to `found` while the
 * copy lives. */
static enum resp_status step(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n,
	struct buf *found)
{
	char *copy = mem_alloc(n);
	enum resp_status st;

	if (n)
		memcpy(copy, p, n);
	st = resp_parse(ps, lim, copy, n);
	if (st == RESP_COMMAND) {
		require(ps->argc > 0 && ps->used > 0 && ps->used <= n, "a command out of nothing");
		write_command(ps, found);
	} else if (st == RESP_EMPTY) {
		require(ps->used > 0 && ps->used <= n, "an empty command out of nothing");
		buf_adds(found, "-");
	} else if (st == RESP_ERROR) {
		buf_addf(found, "!%s", ps->error);
	} else {
		require(ps->need == 0 || ps->need > n, "needs what is there");
	}
	mem_free(copy);
	return st;
}

/* Feeds everything, `next` deciding how many bytes come with each read. */
static void feed(const char *p, size_t n, const struct resp_limits *lim, size_t (*next)(void *), void *arg,
	struct buf *found)
{
	struct resp_parser ps = {0};
	enum resp_status st = RESP_MORE;
	size_t at = 0, end = 0;

	while (st != RESP_ERROR) {
		if (st == RESP_MORE) {
			size_t more = next(arg);

			if (end == n)
				break;
			end = more < n - end ? end + more : n;
		}
		st = step(&ps, lim, p + at, end - at, found);
		if (st == RESP_COMMAND || st == RESP_EMPTY)
			at += ps.used;
	}
	buf_addf(found, " %zu", at);
	resp_idle(&ps);
}

static size_t all(void *arg)
{
	(void)arg;
	return SIZE_MAX;
}

static size_t piece(void *arg)
{
	uint32_t *x = arg;

	/* A cut at every byte, or pieces of 1 to 32 bytes. */
	if (*x == 0)
		return 1;
	*x = *x * 1664525 + 1013904223;
	return 1 + (*x >> 27);
}

static void check_line(const char *p, size_t n)
{
	struct buf store = {0};
	struct bytes *argv;
	size_t argc, bytes = 0;

	if (resp_split_line((struct bytes){p, n}, &store, &argv, &argc)) {
		for (size_t i = 0; i < argc; i++)
			bytes += argv[i].n;
		require(bytes == store.n && bytes <= n, "arguments of another length than what was stored");
		mem_free(argv);
	}
	buf_free(&store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct resp_limits limits[] = {
		{RESP_MAX_BULK, INT32_MAX, RESP_MAX_INLINE},
		{RESP_UNAUTH_BULK, RESP_UNAUTH_ARGS, RESP_MAX_INLINE},
		{12, 5, 40},
		{1000, 20, 40},
	};
	struct buf whole = {0}, pieces = {0}, again = {0};
	const struct resp_limits *lim;
	const char *p;
	uint32_t cut;

	if (size == 0)
		return 0;
	lim = &limits[data[0] & 3];
	cut = data[0] >> 2;
	p = (const char *)data + 1;
	size--;
	feed(p, size, lim, all, NULL, &whole);
	feed(p, size, lim, piece, &cut, &pieces);
	require(bytes_eq(buf_bytes(&whole), buf_bytes(&pieces)), "another answer when fed in pieces");
	check_line(p, size);
	/* What was written is plain RESP up to the first mark of something else: it must read as itself. */
	if (whole.n && whole.p[0] == '*') {
		struct resp_parser ps = {0};
		const struct resp_limits wide = {RESP_MAX_BULK, INT32_MAX, RESP_MAX_INLINE};

		require(step(&ps, &wide, whole.p, whole.n, &again) == RESP_COMMAND, "cannot read its own writing");
		require(again.n == ps.used && memcmp(again.p, whole.p, again.n) == 0, "reads its own writing otherwise");
		resp_idle(&ps);
	}
	buf_free(&whole);
	buf_free(&pieces);
	buf_free(&again);
	return 0;
}
