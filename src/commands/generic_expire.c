/* Deadlines: EXPIRE and TTL in their variants, PERSIST. */
#include "commands/families.h"

/* ---- reading ---- */

/* -2: no key, -1: no deadline; else the deadline or what is left until it, in ms or seconds (to the nearest). */
static void reply_time(struct call *c, bool seconds, bool absolute)
{
	struct ks_ref r;
	int64_t t;

	if (!fam_look(c, call_key(c, 1), &r)) {
		reply_i64(c->r, -2);
		return;
	}
	t = ks_ref_deadline(&r);
	if (t < 0) {
		reply_i64(c->r, -1);
		return;
	}
	if (!absolute)
		t = t < ks_now(c->ks) ? 0 : t - ks_now(c->ks);
	if (seconds) /* (t + 500) / 1000 that cannot overflow */
		t = t / 1000 + (t % 1000 >= 500);
	reply_i64(c->r, t);
}

void cmd_ttl(struct call *c)
{
	reply_time(c, true, false);
}

void cmd_pttl(struct call *c)
{
	reply_time(c, false, false);
}

void cmd_expiretime(struct call *c)
{
	reply_time(c, true, true);
}

void cmd_pexpiretime(struct call *c)
{
	reply_time(c, false, true);
}

/* ---- changing ---- */

enum when { WHEN_NX = 1 << 0, WHEN_XX = 1 << 1, WHEN_GT = 1 << 2, WHEN_LT = 1 << 3 };

/* Redis cuts line ends off the end of an error. */
static void bad_option(struct call *c, struct bytes word)
{
	size_t n = word.n < 4096 ? word.n : 4096;

	while (n > 0 && (word.p[n - 1] == '\n' || word.p[n - 1] == '\r'))
		n--;
	reply_errorf(c->r, "ERR Unsupported option %.*s", (int)n, word.p);
}

static bool parse_when(struct call *c, unsigned *out)
{
	static const char *const words[] = {"nx", "xx", "gt", "lt"};

	*out = 0;
	for (uint32_t i = 3; i < c->argc; i++) {
		unsigned k = 0;

		while (k < 4 && !call_arg_is(c, i, words[k]))
			k++;
		if (k == 4) {
			bad_option(c, c->argv[i]);
			return false;
		}
		*out |= 1u << k;
	}
	if ((*out & WHEN_NX) && (*out & ~(unsigned)WHEN_NX)) {
		reply_error(c->r, "ERR NX and XX, GT or LT options at the same time are not compatible");
		return false;
	}
	if ((*out & WHEN_GT) && (*out & WHEN_LT)) {
		reply_error(c->r, "ERR GT and LT options at the same time are not compatible");
		return false;
	}
	return true;
}

/* Whether the condition lets a key with deadline `old` (-1: none, which is later than any) have `when`. */
static bool allowed(unsigned flags, int64_t old, int64_t when)
{
	if ((flags & WHEN_NX) && old >= 0)
		return false;
	if ((flags & WHEN_XX) && old < 0)
		return false;
	if ((flags & WHEN_GT) && (old < 0 || when <= old))
		return false;
	if ((flags & WHEN_LT) && old >= 0 && when >= old)
		return false;
	return true;
}

/* A deadline that has passed deletes at once. */
static void expire(struct call *c, bool seconds, bool relative)
{
	struct ks_ref r;
	unsigned flags;
	int64_t when;

	if (!parse_when(c, &flags) || !call_i64(c, 2, &when))
		return;
	if (!fam_deadline(when, seconds, relative ? ks_now(c->ks) : 0, &when)) {
		fam_bad_expire(c);
		return;
	}
	if (!fam_find_write(c, call_key(c, 1), &r) || (flags && !allowed(flags, ks_ref_deadline(&r), when))) {
		reply_i64(c->r, 0);
		return;
	}
	if (when <= ks_now(c->ks)) {
		if (!fam_reserve_free(c))
			return;
		ks_delete(&r);
		ks_event(c->ks, KS_EV_GENERIC, "del", c->db, c->argv[1]);
	} else {
		if (!call_reserve(c, 0))
			return;
		ks_set_deadline(&r, when);
		ks_event(c->ks, KS_EV_GENERIC, "expire", c->db, c->argv[1]);
	}
	reply_i64(c->r, 1);
}

void cmd_expire(struct call *c)
{
	expire(c, true, true);
}

void cmd_pexpire(struct call *c)
{
	expire(c, false, true);
}

void cmd_expireat(struct call *c)
{
	expire(c, true, false);
}

void cmd_pexpireat(struct call *c)
{
	expire(c, false, false);
}

void cmd_persist(struct call *c)
{
	struct ks_ref r;

	if (!fam_find_write(c, call_key(c, 1), &r) || ks_ref_deadline(&r) < 0) {
		reply_i64(c->r, 0);
		return;
	}
	if (!call_reserve(c, 0))
		return;
	ks_persist(&r);
	ks_event(c->ks, KS_EV_GENERIC, "persist", c->db, c->argv[1]);
	reply_i64(c->r, 1);
}
