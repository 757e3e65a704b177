/* BITFIELD and BITFIELD_RO: integers of 1 to 64 bits at any bit of a string.
 *
 * The arguments are gone through twice: once to find every error and the highest bit written, once to do it. */
#include "commands/families.h"

#include "base/num.h"

enum field_op { FIELD_GET, FIELD_SET, FIELD_INCRBY };
enum overflow { OVERFLOW_WRAP, OVERFLOW_SAT, OVERFLOW_FAIL };

struct field {
	enum field_op op;
	enum overflow overflow; /* in force; carried from one to the next */
	bool is_signed;
	unsigned bits;
	uint64_t at;            /* bit */
	int64_t value;
};

__extension__ typedef __int128 wide; /* holds every sum of a field and an increment */

static bool parse_type(struct call *c, struct bytes s, struct field *f)
{
	int64_t bits;

	if (s.n > 1 && (s.p[0] == 'i' || s.p[0] == 'u')) {
		f->is_signed = s.p[0] == 'i';
		if (num_i64((struct bytes){s.p + 1, s.n - 1}, &bits) && bits >= 1 && bits <= (f->is_signed ? 64 : 63)) {
			f->bits = (unsigned)bits;
			return true;
		}
	}
	reply_error(c->r, "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
		"i64 is.");
	return false;
}

static bool parse_overflow(struct call *c, uint32_t i, enum overflow *out)
{
	static const char *const words[] = {"wrap", "sat", "fail"};

	for (unsigned k = 0; k < 3; k++) {
		if (call_arg_is(c, i, words[k])) {
			*out = (enum overflow)k;
			return true;
		}
	}
	reply_error(c->r, "ERR Invalid OVERFLOW type specified");
	return false;
}

/* The next operation at argv[*i], passing OVERFLOW by. 1: f is filled; 0: the end; -1: error sent. */
static int next_field(struct call *c, uint32_t *i, struct field *f)
{
	uint32_t at;

	for (at = *i; at < c->argc && call_arg_is(c, at, "overflow") && c->argc - at > 1; at += 2) {
		if (!parse_overflow(c, at + 1, &f->overflow))
			return -1;
	}
	if (at >= c->argc)
		return 0;
	if (call_arg_is(c, at, "get") && c->argc - at > 2) {
		f->op = FIELD_GET;
	} else if (call_arg_is(c, at, "set") && c->argc - at > 3) {
		f->op = FIELD_SET;
	} else if (call_arg_is(c, at, "incrby") && c->argc - at > 3) {
		f->op = FIELD_INCRBY;
	} else {
		reply_syntax(c->r);
		return -1;
	}
	if (!parse_type(c, c->argv[at + 1], f) || !fam_bit_offset(c, at + 2, true, f->bits, &f->at))
		return -1;
	if (f->op != FIELD_GET && !call_i64(c, at + 3, &f->value))
		return -1;
	*i = at + (f->op == FIELD_GET ? 3 : 4);
	return 1;
}

/* What the operations ask for together. */
struct plan {
	int64_t count;
	bool writes;
	uint64_t top;   /* highest byte written */
	uint64_t edits; /* operations that write */
};

static bool make_plan(struct call *c, struct plan *p)
{
	struct field f = {.overflow = OVERFLOW_WRAP};
	uint32_t i = 2;
	int got;

	*p = (struct plan){0};
	while ((got = next_field(c, &i, &f)) > 0) {
		uint64_t last = (f.at + f.bits - 1) / 8;

		p->count++;
		if (f.op == FIELD_GET)
			continue;
		p->writes = true;
		p->edits++;
		if (last > p->top)
			p->top = last;
	}
	return got == 0;
}

/* The 9 bytes from `at` on, zeros beyond the end. */
static void load(const struct ks_ref *r, uint64_t at, uint8_t out[9])
{
	struct tstr v;

	memset(out, 0, 9);
	tstr_view(r, &v);
	if (at < v.len)
		tstr_read(r, &v, at, out, v.len - at < 9 ? (size_t)(v.len - at) : 9);
}

static uint64_t get_bits(const uint8_t in[9], unsigned shift, unsigned bits)
{
	uint64_t w = 0;

	for (unsigned i = 0; i < 8; i++)
		w = w << 8 | in[i];
	w = w << shift | in[8] >> (8 - shift);
	return w >> (64 - bits);
}

static void put_bits(uint8_t inout[9], unsigned shift, unsigned bits, uint64_t value)
{
	for (unsigned i = 0; i < bits; i++) {
		unsigned pos = shift + i;
		uint8_t bit = (uint8_t)(0x80 >> pos % 8);

		if (value >> (bits - 1 - i) & 1)
			inout[pos / 8] |= bit;
		else
			inout[pos / 8] &= (uint8_t)~bit;
	}
}

/* Raw bits as the number they stand for. */
static wide number_of(const struct field *f, uint64_t raw)
{
	if (f->is_signed && raw >> (f->bits - 1) & 1)
		return (wide)raw - ((wide)1 << f->bits);
	return (wide)raw;
}

/* Makes *v fit the field by the rule in force; false: it does not and the rule is FAIL. */
static bool make_fit(const struct field *f, wide *v)
{
	wide min = f->is_signed ? -((wide)1 << (f->bits - 1)) : 0;
	wide max = ((wide)1 << (f->bits - (f->is_signed ? 1u : 0u))) - 1;

	if (*v >= min && *v <= max)
		return true;
	switch (f->overflow) {
	case OVERFLOW_WRAP:
		*v = number_of(f, (uint64_t)*v & (~0ull >> (64 - f->bits)));
		return true;
	case OVERFLOW_SAT:
		*v = *v < min ? min : max;
		return true;
	case OVERFLOW_FAIL:
		break;
	}
	return false;
}

/* A SET's number: in an unsigned field a negative one counts as the large number with its bits. */
static wide set_number(const struct field *f)
{
	return f->is_signed ? (wide)f->value : (wide)(uint64_t)f->value;
}

/* Does a SET or INCRBY and answers it; the value is long enough. False: refused; *changed: bits differ. */
static bool write_field(struct call *c, struct ks_key key, struct ks_ref *r, const struct field *f, bool *changed)
{
	unsigned shift = f->at % 8, n = (shift + f->bits + 7) / 8;
	uint8_t window[9];
	uint64_t raw;
	wide old, v;

	load(r, f->at / 8, window);
	raw = get_bits(window, shift, f->bits);
	old = number_of(f, raw);
	v = f->op == FIELD_SET ? set_number(f) : old + f->value;
	if (!make_fit(f, &v)) {
		reply_null(c->r);
		return false;
	}
	reply_i64(c->r, (int64_t)(f->op == FIELD_SET ? old : v));
	*changed = v != old;
	if (*changed) {
		put_bits(window, shift, f->bits, (uint64_t)v);
		tstr_write(c->ks, c->db, key, r, f->at / 8, (struct bytes){(const char *)window, n});
	}
	return true;
}

static void reply_field(struct call *c, const struct ks_ref *r, const struct field *f)
{
	uint8_t window[9] = {0};

	if (r)
		load(r, f->at / 8, window);
	reply_i64(c->r, (int64_t)number_of(f, get_bits(window, f->at % 8, f->bits)));
}

static void read_only(struct call *c, const struct plan *p)
{
	struct field f = {.overflow = OVERFLOW_WRAP};
	struct ks_ref r;
	uint32_t i = 2;
	int found = call_find(c, call_key(c, 1), KS_STRING, &r);

	if (found < 0)
		return;
	reply_array(c->r, p->count);
	while (next_field(c, &i, &f) > 0)
		reply_field(c, found ? &r : NULL, &f);
}

/* Makes the value long enough for every write. Returns true when it grew. */
static bool grow(struct call *c, struct ks_key key, struct ks_ref *r, bool found, uint64_t top)
{
	struct tstr v;

	if (found) {
		tstr_view(r, &v);
		if (v.len > top) {
			fam_make_raw(r);
			return false;
		}
	}
	tstr_write(c->ks, c->db, key, found ? r : NULL, top, (struct bytes){"", 1});
	if (!found)
		ks_peek(c->ks, c->db, key, r);
	return true;
}

/* Room for growing the value and for every edit; each touches two chunks of it at most. */
static size_t room_for(const struct ks_ref *found, const struct plan *p)
{
	uint64_t touched = p->edits * 2 * ROPE_CHUNK;

	if (touched > p->top + 1)
		touched = p->top + 1;
	return tstr_write_reserve(found, p->top, 1) + tstr_write_reserve(found, 0, touched);
}

static void read_write(struct call *c, const struct plan *p)
{
	struct field f = {.overflow = OVERFLOW_WRAP};
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	uint32_t i = 2;
	bool grown, changed, any = false;
	int found = fam_string_write(c, key, &r);

	if (found < 0)
		return;
	if (p->top >= TSTR_MAX) { /* the last bits of a field at the end of the longest string */
		reply_error(c->r, "ERR bit offset is not an integer or out of range");
		return;
	}
	if (!fam_room(c, key, room_for(found ? &r : NULL, p)))
		return;
	grown = grow(c, key, &r, found, p->top);
	reply_array(c->r, p->count);
	while (next_field(c, &i, &f) > 0) {
		if (f.op == FIELD_GET)
			reply_field(c, &r, &f);
		else if (write_field(c, key, &r, &f, &changed))
			any |= changed || grown;
	}
	if (any)
		ks_event(c->ks, KS_EV_STRING, "setbit", c->db, key.name);
}

void cmd_bitfield(struct call *c)
{
	struct plan p;

	if (!make_plan(c, &p))
		return;
	if (p.writes)
		read_write(c, &p);
	else
		read_only(c, &p);
}

void cmd_bitfield_ro(struct call *c)
{
	struct plan p;

	if (!make_plan(c, &p))
		return;
	if (p.writes)
		reply_error(c->r, "ERR BITFIELD_RO only supports the GET subcommand");
	else
		read_only(c, &p);
}
