/* LCS: the longest common subsequence of two values.
 *
 * Bit-parallel, after Crochemore, Iliopoulos, Pinzon and Reid (2001): row i of the dynamic programming table is kept
 * as one bit a column, 0 where the length grows from column j-1 to j. A row follows from the one above with a few word
 * operations for 64 columns. With L(i,j) the table, walking back from a mismatch goes up when L(i-1,j) > L(i,j-1);
 * because L(i,j) is the larger of the two, that is exactly where row i grows at column j. So the bits are all that the
 * walk needs. */
#include "commands/families.h"

#include "base/mem.h"

#define WORD 64u

/* Redis keeps 4 bytes a cell of the table and refuses beyond proto-max-bulk-len; the same pairs are refused here. */
#define LCS_CELLS_MAX (TSTR_MAX / 4)

struct lcs_opts {
	bool len, idx, withmatchlen;
	int64_t minmatchlen;
};

struct lcs {
	struct bytes a, b;
	char *owned[2];      /* copies of long values */
	size_t words;        /* of a row */
	size_t row_bytes;    /* of a row as it is kept */
	uint64_t *v;         /* the running row */
	uint64_t *masks;     /* for each byte of a that occurs: where b has it */
	int32_t mask_of[256];
	uint8_t *rows;       /* NULL when only the length is wanted */
};

static bool parse(struct call *c, struct lcs_opts *o)
{
	*o = (struct lcs_opts){0};
	for (uint32_t i = 3; i < c->argc; i++) {
		if (call_arg_is(c, i, "idx")) {
			o->idx = true;
		} else if (call_arg_is(c, i, "len")) {
			o->len = true;
		} else if (call_arg_is(c, i, "withmatchlen")) {
			o->withmatchlen = true;
		} else if (call_arg_is(c, i, "minmatchlen") && i + 1 < c->argc) {
			if (!call_i64(c, ++i, &o->minmatchlen))
				return false;
		} else {
			reply_syntax(c->r);
			return false;
		}
	}
	if (o->idx && o->len) {
		reply_error(c->r, "ERR If you want both the length and indexes, please just use IDX.");
		return false;
	}
	return true;
}

/* The value of a key that must be a string; 0: absent, -1: another type. */
static int find_string(struct call *c, uint32_t i, struct ks_ref *r, struct tstr *v)
{
	v->len = 0;
	if (!fam_find(c, call_key(c, i), r))
		return 0;
	if (ks_ref_type(r) != KS_STRING)
		return -1;
	tstr_view(r, v);
	return 1;
}

/* The value in one piece; a long one is copied to *owned. */
static struct bytes contiguous(const struct ks_ref *r, const struct tstr *v, char **owned)
{
	if (v->form != TSTR_ROPE)
		return v->b;
	*owned = mem_alloc(v->len);
	tstr_read(r, v, 0, *owned, v->len);
	return (struct bytes){*owned, v->len};
}

/* Where b has each byte that a has. */
static void make_masks(struct lcs *l)
{
	int32_t kinds = 0;

	memset(l->mask_of, -1, sizeof(l->mask_of));
	for (size_t i = 0; i < l->a.n && kinds < 256; i++) {
		uint8_t ch = (uint8_t)l->a.p[i];

		if (l->mask_of[ch] < 0)
			l->mask_of[ch] = kinds++;
	}
	l->masks = mem_zalloc((size_t)kinds * l->words * sizeof(uint64_t));
	for (size_t j = 0; j < l->b.n; j++) {
		int32_t k = l->mask_of[(uint8_t)l->b.p[j]];

		if (k >= 0)
			l->masks[(size_t)k * l->words + j / WORD] |= 1ull << (j % WORD);
	}
}

/* Computes all rows; keeps them when l->rows is there. Returns the length. */
static uint64_t compute(struct lcs *l)
{
	uint64_t grown = 0;

	memset(l->v, 0xff, l->words * sizeof(uint64_t));
	for (size_t i = 0; i < l->a.n; i++) {
		const uint64_t *m = l->masks + (size_t)l->mask_of[(uint8_t)l->a.p[i]] * l->words;
		unsigned long long carry = 0;

		for (size_t w = 0; w < l->words; w++) {
			unsigned long long v = l->v[w], sum, c1, c2;

			c1 = __builtin_uaddll_overflow(v, v & m[w], &sum);
			c2 = __builtin_uaddll_overflow(sum, carry, &sum);
			carry = c1 | c2;
			l->v[w] = sum | (v & ~m[w]);
		}
		if (l->rows)
			memcpy(l->rows + i * l->row_bytes, l->v, l->row_bytes);
	}
	for (size_t j = 0; j < l->b.n; j++)
		grown += !(l->v[j / WORD] >> (j % WORD) & 1);
	return grown;
}

/* True when row i (counted from 1) grows at column j (from 1). The row is bytes of little-endian words. */
static bool grows(const struct lcs *l, size_t i, size_t j)
{
	const uint8_t *row = l->rows + (i - 1) * l->row_bytes;

	j--;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "rows are kept as little-endian words"
#endif
	return !(row[j / 8] >> (j % 8) & 1);
}

static void reply_range(struct reply *r, size_t from, size_t to)
{
	reply_array(r, 2);
	reply_i64(r, (int64_t)from);
	reply_i64(r, (int64_t)to);
}

/* Walks back from the last cell. Fills text (its length is the LCS's) and, with `idx`, sends the runs of matches, last
 * first; returns how many were sent. */
static int64_t walk_back(const struct lcs *l, struct reply *r, const struct lcs_opts *o, char *text, uint64_t n)
{
	size_t i = l->a.n, j = l->b.n, run = 0;
	int64_t sent = 0;

	while (i > 0 && j > 0) {
		bool match = l->a.p[i - 1] == l->b.p[j - 1];

		if (match) {
			if (text)
				text[--n] = l->a.p[i - 1];
			run++;
			i--;
			j--;
		}
		if (run && (!match || i == 0 || j == 0)) {
			if (o->idx && (int64_t)run >= o->minmatchlen) {
				reply_array(r, 2 + o->withmatchlen);
				reply_range(r, i, i + run - 1);
				reply_range(r, j, j + run - 1);
				if (o->withmatchlen)
					reply_i64(r, (int64_t)run);
				sent++;
			}
			run = 0;
		}
		if (!match && grows(l, i, j))
			i--;
		else if (!match)
			j--;
	}
	return sent;
}

static void answer(struct call *c, struct lcs *l, const struct lcs_opts *o)
{
	uint64_t n = 0;
	char *text;

	if (l->a.n && l->b.n) {
		make_masks(l);
		l->v = mem_alloc(l->words * sizeof(uint64_t));
		if (!o->len)
			l->rows = mem_alloc(l->a.n * l->row_bytes);
		n = compute(l);
	}
	if (o->len) {
		reply_i64(c->r, (int64_t)n);
	} else if (o->idx) {
		size_t mark;

		reply_map(c->r, 2);
		reply_str(c->r, "matches");
		mark = c->r->ops->open(c->r);
		c->r->ops->close(c->r, mark, '*', walk_back(l, c->r, o, NULL, 0));
		reply_str(c->r, "len");
		reply_i64(c->r, (int64_t)n);
	} else {
		text = mem_alloc(n + 1);
		walk_back(l, c->r, o, text, n);
		reply_bulk(c->r, (struct bytes){text, n});
		mem_free(text);
	}
	mem_free(l->rows);
	mem_free(l->v);
	mem_free(l->masks);
}

void cmd_lcs(struct call *c)
{
	struct lcs l = {0};
	struct lcs_opts o;
	struct ks_ref ra, rb;
	struct tstr va, vb;
	int a = find_string(c, 1, &ra, &va);
	int b = find_string(c, 2, &rb, &vb);

	if (a < 0 || b < 0) {
		reply_error(c->r, "ERR The specified keys must contain string values");
		return;
	}
	if (!parse(c, &o))
		return;
	if ((va.len + 1) * (vb.len + 1) > LCS_CELLS_MAX) {
		reply_error(c->r, "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
		return;
	}
	if (va.len && vb.len) {
		l.a = contiguous(&ra, &va, &l.owned[0]);
		l.b = contiguous(&rb, &vb, &l.owned[1]);
		l.words = (l.b.n + WORD - 1) / WORD;
		l.row_bytes = (l.b.n + 7) / 8;
	}
	answer(c, &l, &o);
	mem_free(l.owned[0]);
	mem_free(l.owned[1]);
}
