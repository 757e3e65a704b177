/* BITOP: AND, OR, XOR and NOT of whole values, a block at a time, so that no long value is ever held as a whole.
 *
 * A result of one block is simply put. A longer one is written over the destination in place when that is a source
 * too (a block is read from all sources before it is written); otherwise what was there goes first. */
#include "commands/families.h"

/* A whole number of rope chunks. */
#define BLOCK (4u * ROPE_CHUNK)

enum op { OP_AND, OP_OR, OP_XOR, OP_NOT };

/* One source being merged into a block. */
struct merge {
	enum op op;
	bool first;      /* the first source fills the block */
	uint8_t *block;
	size_t at;
};

static bool parse_op(struct call *c, enum op *out)
{
	static const char *const words[] = {"and", "or", "xor", "not"};

	for (unsigned i = 0; i < 4; i++) {
		if (call_arg_is(c, 1, words[i])) {
			*out = (enum op)i;
			if (*out != OP_NOT || c->argc == 4)
				return true;
			reply_error(c->r, "ERR BITOP NOT must be called with a single source key.");
			return false;
		}
	}
	reply_syntax(c->r);
	return false;
}

static uint64_t apply(enum op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_NOT:
		break;
	}
	return ~b;
}

/* dst = dst op src; inlined with a constant op, so that each loop is a plain one. */
static inline __attribute__((always_inline)) void merge_bytes(enum op op, uint8_t *dst, const uint8_t *src, size_t n)
{
	uint64_t a[4], b[4];

	for (; n >= sizeof(a); dst += sizeof(a), src += sizeof(a), n -= sizeof(a)) {
		memcpy(a, dst, sizeof(a));
		memcpy(b, src, sizeof(b));
		for (unsigned i = 0; i < 4; i++)
			a[i] = apply(op, a[i], b[i]);
		memcpy(dst, a, sizeof(a));
	}
	for (; n > 0; dst++, src++, n--)
		*dst = (uint8_t)apply(op, *dst, *src);
}

static bool merge_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct merge *m = ctx;
	uint8_t *dst = m->block + m->at;
	const uint8_t *src = (const uint8_t *)p;

	(void)chunk;
	if (m->first && m->op != OP_NOT)
		memcpy(dst, src, n);
	else if (m->op == OP_AND)
		merge_bytes(OP_AND, dst, src, n);
	else if (m->op == OP_OR)
		merge_bytes(OP_OR, dst, src, n);
	else if (m->op == OP_XOR)
		merge_bytes(OP_XOR, dst, src, n);
	else
		merge_bytes(OP_NOT, dst, src, n);
	m->at += n;
	return true;
}

/* Computes [at, at + n) of the result. */
static void make_block(struct call *c, enum op op, uint64_t at, size_t n, uint8_t *block)
{
	for (uint32_t i = 3; i < c->argc; i++) {
		struct merge m = {op, i == 3, block, 0};
		struct ks_ref r;
		struct tstr v;

		if (ks_peek(c->ks, c->db, ks_key(c->ks, c->argv[i]), &r)) {
			tstr_view(&r, &v);
			if (v.len > at)
				tstr_each(&r, &v, at, v.len - at < n ? v.len - at : n, merge_piece, &m);
		}
		/* A source that ends goes on in zeros. */
		if (m.first || op == OP_AND)
			memset(block + m.at, 0, n - m.at);
	}
}

/* The longest source. False: one is no string, error sent. */
static bool sources(struct call *c, uint64_t *max_out, bool *dest_too)
{
	*max_out = 0;
	*dest_too = false;
	for (uint32_t i = 3; i < c->argc; i++) {
		struct ks_ref r;
		struct tstr v;
		int found = call_find(c, ks_key(c->ks, c->argv[i]), KS_STRING, &r);

		if (found < 0)
			return false;
		if (!found)
			continue;
		tstr_view(&r, &v);
		if (v.len > *max_out)
			*max_out = v.len;
		if (bytes_eq(c->argv[i], c->argv[2]))
			*dest_too = true;
	}
	return true;
}

/* Puts the result into the key; `found`: it is there; in_place: as one of the sources. */
static void write_result(struct call *c, enum op op, struct ks_key key, struct ks_ref *found, bool in_place,
	uint64_t len)
{
	uint8_t block[BLOCK];
	struct ks_ref made;

	if (len <= BLOCK) {
		make_block(c, op, 0, (size_t)len, block);
		tstr_put_as(c->ks, c->db, key, found, (struct bytes){(const char *)block, (size_t)len}, TSTR_AS_RAW,
			TSTR_TTL_NONE);
		return;
	}
	if (found && !in_place) {
		ks_delete(found);
		found = NULL;
	} else if (found && ks_ref_deadline(found) >= 0) {
		ks_persist(found);
	}
	for (uint64_t at = 0; at < len; at += BLOCK) {
		size_t n = len - at < BLOCK ? (size_t)(len - at) : BLOCK;

		make_block(c, op, at, n, block);
		tstr_write(c->ks, c->db, key, found, at, (struct bytes){(const char *)block, n});
		if (!found && ks_peek(c->ks, c->db, key, &made))
			found = &made;
	}
}

void cmd_bitop(struct call *c)
{
	struct ks_key key;
	struct ks_ref r;
	enum op op;
	uint64_t len;
	bool dest_too, found;

	if (!parse_op(c, &op) || !sources(c, &len, &dest_too))
		return;
	key = ks_key(c->ks, c->argv[2]);
	found = fam_find_write(c, key, &r);
	if (len ? !fam_room(c, key, tstr_write_reserve(NULL, 0, len)) : !fam_reserve_free(c))
		return;
	if (len) {
		write_result(c, op, key, found ? &r : NULL, dest_too, len);
		ks_event(c->ks, KS_EV_STRING, "set", c->db, key.name);
	} else if (found) {
		ks_delete(&r);
		ks_event(c->ks, KS_EV_GENERIC, "del", c->db, key.name);
	}
	reply_i64(c->r, (int64_t)len);
}
