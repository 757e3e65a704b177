/* SETBIT and GETBIT. Bit 0 is the highest of the first byte. */
#include "commands/families.h"

#include "base/num.h"

bool fam_bit_offset(struct call *c, uint32_t i, bool hash, unsigned bits, uint64_t *out)
{
	struct bytes s = c->argv[i];
	bool units = hash && s.n > 0 && s.p[0] == '#';
	int64_t v;

	if (units) {
		s.p++;
		s.n--;
	}
	if (num_i64(s, &v) && v >= 0 && !(units && __builtin_mul_overflow(v, bits, &v)) && (uint64_t)v / 8 < TSTR_MAX) {
		*out = (uint64_t)v;
		return true;
	}
	reply_error(c->r, "ERR bit offset is not an integer or out of range");
	return false;
}

/* The byte at `at`, 0 beyond the end. */
static uint8_t byte_at(const struct ks_ref *r, const struct tstr *v, uint64_t at)
{
	uint8_t b = 0;

	if (at < v->len)
		tstr_read(r, v, at, &b, 1);
	return b;
}

void cmd_getbit(struct call *c)
{
	struct ks_ref r;
	struct tstr v;
	uint64_t at;
	int found;

	if (!fam_bit_offset(c, 2, false, 0, &at))
		return;
	found = call_find(c, call_key(c, 1), KS_STRING, &r);
	if (found < 0)
		return;
	if (!found) {
		reply_i64(c->r, 0);
		return;
	}
	tstr_view(&r, &v);
	reply_i64(c->r, byte_at(&r, &v, at / 8) >> (7 - at % 8) & 1);
}

void cmd_setbit(struct call *c)
{
	struct ks_key key;
	struct ks_ref r;
	struct tstr v;
	uint64_t at, len = 0;
	int64_t on;
	uint8_t b = 0, bit, old;
	int found;

	if (!fam_bit_offset(c, 2, false, 0, &at))
		return;
	if (!num_i64(c->argv[3], &on) || on < 0 || on > 1) {
		reply_error(c->r, "ERR bit is not an integer or out of range");
		return;
	}
	key = call_key(c, 1);
	found = fam_string_write(c, key, &r);
	if (found < 0 || !fam_room(c, key, tstr_write_reserve(found ? &r : NULL, at / 8, 1)))
		return;
	if (found) {
		tstr_view(&r, &v);
		len = v.len;
		b = byte_at(&r, &v, at / 8);
	}
	bit = (uint8_t)(0x80 >> at % 8);
	old = b;
	b = on ? b | bit : b & (uint8_t)~bit;
	if (at / 8 >= len || b != old) {
		tstr_write(c->ks, c->db, key, found ? &r : NULL, at / 8, (struct bytes){(const char *)&b, 1});
		ks_event(c->ks, KS_EV_STRING, "setbit", c->db, key.name);
	} else {
		fam_make_raw(&r);
	}
	reply_i64(c->r, (old & bit) != 0);
}
