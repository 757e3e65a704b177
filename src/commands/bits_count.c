/* BITCOUNT and BITPOS: ranges of bits, read piece by piece. */
#include "commands/families.h"

/* A range of bits within a value, both ends included. */
struct range {
	uint64_t first, last;
};

/* BYTE or BIT at argv[i]. False: syntax error sent. */
static bool parse_unit(struct call *c, uint32_t i, bool *bits_out)
{
	*bits_out = call_arg_is(c, i, "bit");
	if (*bits_out || call_arg_is(c, i, "byte"))
		return true;
	reply_syntax(c->r);
	return false;
}

/* Clips start and end, in bits or bytes and negative from the end, to a value of len bytes. False: empty. */
static bool clip(int64_t start, int64_t end, bool bits, uint64_t len, struct range *out)
{
	int64_t total = (int64_t)(bits ? len * 8 : len);

	if (start < 0)
		start = start < -total ? 0 : start + total;
	if (end < 0)
		end = end < -total ? 0 : end + total;
	if (end >= total)
		end = total - 1;
	if (start > end)
		return false;
	out->first = (uint64_t)start * (bits ? 1 : 8);
	out->last = bits ? (uint64_t)end : (uint64_t)end * 8 + 7;
	return true;
}

/* ---- counting ---- */

static inline __attribute__((always_inline)) uint64_t count_words(const uint8_t *p, size_t n)
{
	uint64_t sum[4] = {0, 0, 0, 0}, w[4];

	for (; n >= 32; p += 32, n -= 32) {
		memcpy(w, p, 32);
		sum[0] += (uint64_t)__builtin_popcountll(w[0]);
		sum[1] += (uint64_t)__builtin_popcountll(w[1]);
		sum[2] += (uint64_t)__builtin_popcountll(w[2]);
		sum[3] += (uint64_t)__builtin_popcountll(w[3]);
	}
	for (; n > 0; p++, n--)
		sum[0] += (uint64_t)__builtin_popcount(*p);
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static uint64_t count_plain(const uint8_t *p, size_t n)
{
	return count_words(p, n);
}

#if defined(__x86_64__)
/* The baseline of x86-64 has no popcnt instruction; practically every processor does. */
__attribute__((target("popcnt"))) static uint64_t count_popcnt(const uint8_t *p, size_t n)
{
	return count_words(p, n);
}

static uint64_t count_bits(const uint8_t *p, size_t n)
{
	return __builtin_cpu_supports("popcnt") ? count_popcnt(p, n) : count_plain(p, n);
}
#else
static uint64_t count_bits(const uint8_t *p, size_t n)
{
	return count_plain(p, n);
}
#endif

static bool count_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	(void)chunk;
	*(uint64_t *)ctx += count_bits((const uint8_t *)p, n);
	return true;
}

/* The bits of the byte at `at` under a mask. */
static uint64_t count_masked(const struct ks_ref *r, const struct tstr *v, uint64_t at, uint8_t mask)
{
	uint8_t b;

	if (mask == 0)
		return 0;
	tstr_read(r, v, at, &b, 1);
	return (uint64_t)__builtin_popcount(b & mask);
}

static uint64_t count_range(const struct ks_ref *r, const struct tstr *v, struct range in)
{
	uint64_t sum = 0, from = in.first / 8, to = in.last / 8;

	tstr_each(r, v, from, to - from + 1, count_piece, &sum);
	sum -= count_masked(r, v, from, (uint8_t)~(0xff >> in.first % 8));
	sum -= count_masked(r, v, to, (uint8_t)(0x7f >> in.last % 8));
	return sum;
}

void cmd_bitcount(struct call *c)
{
	struct ks_ref r;
	struct tstr v;
	struct range in;
	int64_t start = 0, end = -1;
	bool bits = false;
	int found = call_find(c, call_key(c, 1), KS_STRING, &r);

	if (found == 0)
		reply_i64(c->r, 0);
	if (found <= 0)
		return;
	if (c->argc == 3 || c->argc > 5) {
		reply_syntax(c->r);
		return;
	}
	if (c->argc > 3 && (!call_i64(c, 2, &start) || !call_i64(c, 3, &end)))
		return;
	if (start < 0 && end < 0 && start > end) {
		reply_i64(c->r, 0);
		return;
	}
	if (c->argc == 5 && !parse_unit(c, 4, &bits))
		return;
	tstr_view(&r, &v);
	reply_i64(c->r, clip(start, end, bits, v.len, &in) ? (int64_t)count_range(&r, &v, in) : 0);
}

/* ---- searching ---- */

struct search {
	uint64_t flip;      /* all ones when a clear bit is sought: then one is what differs */
	uint64_t at;        /* byte position of the next piece */
	struct range in;
	int64_t found;      /* bit position, -1 not yet */
};

/* The byte at a position, flipped, without the bits outside the range. */
static uint8_t in_range(const struct search *s, uint64_t at, uint8_t b)
{
	b ^= (uint8_t)s->flip;
	if (at == s->in.first / 8)
		b &= (uint8_t)(0xff >> s->in.first % 8);
	if (at == s->in.last / 8)
		b &= (uint8_t)~(0x7f >> s->in.last % 8);
	return b;
}

static bool search_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct search *s = ctx;
	size_t i = 0;

	(void)chunk;
	while (i < n) {
		uint64_t w[4];
		uint8_t b;

		/* Whole words without a hit are skipped; which bits count matters only where there may be one. */
		if (n - i >= sizeof(w)) {
			memcpy(w, p + i, sizeof(w));
			if (((w[0] ^ s->flip) | (w[1] ^ s->flip) | (w[2] ^ s->flip) | (w[3] ^ s->flip)) == 0) {
				i += sizeof(w);
				continue;
			}
		}
		b = in_range(s, s->at + i, (uint8_t)p[i]);
		if (b) {
			s->found = (int64_t)((s->at + i) * 8) + __builtin_clz(b) - 24;
			return false;
		}
		i++;
	}
	s->at += n;
	return true;
}

/* Start, unit and end of BITPOS, in the order in which Redis looks at them. False: error sent. */
static bool bitpos_range(struct call *c, int64_t *start, int64_t *end, bool *bits)
{
	if (c->argc > 6) {
		reply_syntax(c->r);
		return false;
	}
	if (c->argc > 3 && !call_i64(c, 3, start))
		return false;
	if (c->argc > 5 && !parse_unit(c, 5, bits))
		return false;
	return c->argc <= 4 || call_i64(c, 4, end);
}

void cmd_bitpos(struct call *c)
{
	struct search s = {.found = -1};
	struct ks_ref r;
	struct tstr v;
	int64_t bit, start = 0, end = -1;
	bool bits = false;
	int found;

	if (!call_i64(c, 2, &bit))
		return;
	if (bit != 0 && bit != 1) {
		reply_error(c->r, "ERR The bit argument must be 1 or 0.");
		return;
	}
	found = call_find(c, call_key(c, 1), KS_STRING, &r);
	if (found == 0)
		reply_i64(c->r, bit ? -1 : 0);
	if (found <= 0 || !bitpos_range(c, &start, &end, &bits))
		return;
	tstr_view(&r, &v);
	if (clip(start, end, bits, v.len, &s.in)) {
		s.flip = bit ? 0 : ~0ull;
		s.at = s.in.first / 8;
		tstr_each(&r, &v, s.at, s.in.last / 8 - s.at + 1, search_piece, &s);
		/* Without an end the value goes on in zeros. */
		if (s.found < 0 && !bit && c->argc < 5)
			s.found = (int64_t)(v.len * 8);
	}
	reply_i64(c->r, s.found);
}
