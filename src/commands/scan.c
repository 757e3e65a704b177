/* Walking over keys: SCAN, KEYS, RANDOMKEY. */
#include "commands/families.h"

#include "base/clock.h"
#include "base/glob.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/rng.h"

/* What SCAN found, kept until the cursor, which is answered first, is known. Names point into the records: nothing
 * changes while a SCAN runs. */
#define SCAN_KEPT 512u

struct scan {
	struct bytes pattern;
	bool filter_name;
	int type;                     /* enum ks_type; -1: any; KS_TYPES: one that does not exist */
	size_t n, cap;
	struct bytes *names;          /* kept[], or allocated when a call asks for more */
	struct bytes kept[SCAN_KEPT];
};

static void scan_one(void *ctx, struct bytes name, enum ks_type type)
{
	struct scan *s = ctx;

	if (s->type >= 0 && (int)type != s->type)
		return;
	if (s->filter_name && !glob_match(s->pattern, name, false))
		return;
	if (s->n == s->cap) {
		struct bytes *more = mem_alloc(s->cap * 2 * sizeof(*more));

		memcpy(more, s->names, s->n * sizeof(*more));
		if (s->names != s->kept)
			mem_free(s->names);
		s->names = more;
		s->cap *= 2;
	}
	s->names[s->n++] = name;
}

/* By the rules of strtoul, as Redis reads it: a sign is allowed, nothing at all is 0; but no leading space. */
static bool parse_cursor(struct call *c, uint64_t *out)
{
	struct bytes s = c->argv[1];
	bool minus = false;
	size_t i = 0;

	*out = 0;
	if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		minus = s.p[0] == '-';
		i++;
	}
	if (i == s.n && i > 0)
		goto bad;
	for (; i < s.n; i++) {
		unsigned digit = (unsigned)(s.p[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, digit, out))
			goto bad;
	}
	if (minus)
		*out = -*out;
	return true;
bad:
	reply_error(c->r, "ERR invalid cursor");
	return false;
}

static int type_of(struct bytes name)
{
	int t = 0;

	while (t < KS_TYPES && !bytes_ieq(name, ks_type_name((enum ks_type)t)))
		t++;
	return t;
}

static bool parse_scan(struct call *c, struct scan *s, int64_t *count)
{
	*count = 10;
	s->type = -1;
	s->filter_name = false;
	for (uint32_t i = 2; i < c->argc; i += 2) {
		bool more = i + 1 < c->argc;

		if (more && call_arg_is(c, i, "count")) {
			if (!call_i64(c, i + 1, count))
				return false;
			if (*count < 1) {
				reply_syntax(c->r);
				return false;
			}
		} else if (more && call_arg_is(c, i, "match")) {
			s->pattern = c->argv[i + 1];
			s->filter_name = !bytes_eq(s->pattern, BYTES_LIT("*"));
		} else if (more && call_arg_is(c, i, "type")) {
			s->type = type_of(c->argv[i + 1]);
		} else {
			reply_syntax(c->r);
			return false;
		}
	}
	return true;
}

void cmd_scan(struct call *c)
{
	struct scan s;
	uint64_t cursor;
	int64_t count;
	char text[NUM_I64_MAX];

	if (!parse_cursor(c, &cursor) || !parse_scan(c, &s, &count))
		return;
	s.n = 0;
	s.cap = SCAN_KEPT;
	s.names = s.kept;
	cursor = ks_scan(c->ks, c->db, cursor, (size_t)count, scan_one, &s);
	reply_array(c->r, 2);
	reply_bulk(c->r, (struct bytes){text, num_put_u64(text, cursor)});
	reply_array(c->r, (int64_t)s.n);
	for (size_t i = 0; i < s.n; i++)
		reply_bulk(c->r, s.names[i]);
	if (s.names != s.kept)
		mem_free(s.names);
}

struct keys {
	struct reply *r;
	struct bytes pattern;
	bool all;
	int64_t n;
};

static void keys_one(void *ctx, struct bytes name, enum ks_type type)
{
	struct keys *k = ctx;

	(void)type;
	if (!k->all && !glob_match(k->pattern, name, false))
		return;
	reply_bulk(k->r, name);
	k->n++;
}

void cmd_keys(struct call *c)
{
	struct keys k = {c->r, c->argv[1], bytes_eq(c->argv[1], BYTES_LIT("*")), 0};
	size_t mark = c->r->ops->open(c->r);
	uint64_t cursor = 0;

	do
		cursor = ks_scan(c->ks, c->db, cursor, 4096, keys_one, &k);
	while (cursor != 0);
	c->r->ops->close(c->r, mark, '*', k.n);
}

void cmd_randomkey(struct call *c)
{
	struct rng rng;
	struct ks_ref r;

	/* Seeded anew each time: the clock's nanoseconds are random enough to sample with. */
	rng_seed(&rng, clock_mono_ns());
	if (ks_random(c->ks, c->db, &rng, &r))
		reply_bulk(c->r, ks_ref_name(&r));
	else
		reply_null(c->r);
}
