/* Strings as numbers: INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT. */
#include "commands/families.h"

#include "base/num.h"

#include <math.h>

static void add_i64(struct call *c, int64_t by)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	int64_t value = 0;
	int found = fam_string_write(c, key, &r);

	if (found < 0)
		return;
	if (found && !tstr_held_i64(&r, &value)) {
		struct tstr v;

		tstr_view(&r, &v);
		if (!tstr_i64(&r, &v, &value)) {
			reply_not_integer(c->r);
			return;
		}
	}
	if (__builtin_add_overflow(value, by, &value)) {
		reply_error(c->r, "ERR increment or decrement would overflow");
		return;
	}
	if (!fam_room(c, key, NUM_I64_MAX))
		return;
	tstr_put_i64(c->ks, c->db, key, found ? &r : NULL, value, found ? TSTR_TTL_KEEP : TSTR_TTL_NONE);
	ks_event(c->ks, KS_EV_STRING, "incrby", c->db, key.name);
	reply_i64(c->r, value);
}

void cmd_incr(struct call *c)
{
	add_i64(c, 1);
}

void cmd_decr(struct call *c)
{
	add_i64(c, -1);
}

void cmd_incrby(struct call *c)
{
	int64_t by;

	if (call_i64(c, 2, &by))
		add_i64(c, by);
}

void cmd_decrby(struct call *c)
{
	int64_t by;

	if (!call_i64(c, 2, &by))
		return;
	if (by == INT64_MIN) {
		reply_error(c->r, "ERR decrement would overflow");
		return;
	}
	add_i64(c, -by);
}

void cmd_incrbyfloat(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	long double value = 0, by;
	char text[NUM_LD_MAX];
	struct bytes out = {text, 0};
	bool ok = true;
	int found = fam_string_write(c, key, &r);

	if (found < 0)
		return;
	if (found) {
		struct tstr v;

		tstr_view(&r, &v);
		ok = v.form != TSTR_ROPE && num_ld(v.b, &value);
	}
	if (!ok || !num_ld(c->argv[2], &by)) {
		reply_error(c->r, "ERR value is not a valid float");
		return;
	}
	value += by;
	if (isnan(value) || isinf(value)) {
		reply_error(c->r, "ERR increment would produce NaN or Infinity");
		return;
	}
	out.n = num_put_ld(text, value);
	if (!fam_room(c, key, out.n))
		return;
	tstr_put_as(c->ks, c->db, key, found ? &r : NULL, out, TSTR_AS_TEXT, found ? TSTR_TTL_KEEP : TSTR_TTL_NONE);
	ks_event(c->ks, KS_EV_STRING, "incrbyfloat", c->db, key.name);
	reply_bulk(c->r, out);
}
