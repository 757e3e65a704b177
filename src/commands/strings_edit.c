/* Parts of values: APPEND, SETRANGE, GETRANGE, STRLEN. Long values are touched only where the command says. */
#include "commands/families.h"

/* False: the string would grow beyond the limit; error sent. */
static bool length_ok(struct call *c, uint64_t at, uint64_t n)
{
	if (at <= TSTR_MAX && n <= TSTR_MAX - at)
		return true;
	reply_error(c->r, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
	return false;
}

static uint64_t length_of(const struct ks_ref *r)
{
	struct tstr v;

	tstr_view(r, &v);
	return v.len;
}

void cmd_append(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct bytes more = c->argv[2];
	struct ks_ref r;
	uint64_t len = 0;
	int found = fam_string_write(c, key, &r);

	if (found < 0)
		return;
	if (found) {
		len = length_of(&r);
		if (!length_ok(c, len, more.n))
			return;
	}
	if (!fam_room(c, key, tstr_write_reserve(found ? &r : NULL, len, more.n)))
		return;
	if (!found) /* what APPEND creates is a value like any other: an integer may be stored as one */
		tstr_put(c->ks, c->db, key, NULL, more, TSTR_TTL_NONE);
	else
		tstr_write(c->ks, c->db, key, &r, len, more);
	ks_event(c->ks, KS_EV_STRING, "append", c->db, key.name);
	reply_i64(c->r, (int64_t)(len + more.n));
}

void cmd_strlen(struct call *c)
{
	struct ks_ref r;
	int found = call_find(c, call_key(c, 1), KS_STRING, &r);

	if (found >= 0)
		reply_i64(c->r, found ? (int64_t)length_of(&r) : 0);
}

/* GETRANGE and its old name SUBSTR. */
void cmd_getrange(struct call *c)
{
	struct ks_ref r;
	struct tstr v;
	int64_t start, end, len;
	int found;

	if (!call_i64(c, 2, &start) || !call_i64(c, 3, &end))
		return;
	found = call_find(c, call_key(c, 1), KS_STRING, &r);
	if (found < 0)
		return;
	if (!found || (start < 0 && end < 0 && start > end)) {
		reply_bulk(c->r, BYTES_LIT(""));
		return;
	}
	tstr_view(&r, &v);
	len = (int64_t)v.len;
	if (start < 0)
		start = start < -len ? 0 : start + len;
	if (end < 0)
		end = end < -len ? 0 : end + len;
	if (end >= len)
		end = len - 1;
	if (start > end || len == 0)
		reply_bulk(c->r, BYTES_LIT(""));
	else
		c->r->ops->value(c->r, &r, &v, (uint64_t)start, (uint64_t)(end - start) + 1);
}

void cmd_setrange(struct call *c)
{
	struct ks_key key;
	struct bytes part = c->argv[3];
	struct ks_ref r;
	int64_t at;
	uint64_t len;
	int found;

	if (!call_i64(c, 2, &at))
		return;
	if (at < 0) {
		reply_error(c->r, "ERR offset is out of range");
		return;
	}
	key = call_key(c, 1);
	found = fam_string_write(c, key, &r);
	if (found < 0)
		return;
	if (part.n == 0) {
		reply_i64(c->r, found ? (int64_t)length_of(&r) : 0);
		return;
	}
	if (!length_ok(c, (uint64_t)at, part.n))
		return;
	if (!fam_room(c, key, tstr_write_reserve(found ? &r : NULL, (uint64_t)at, part.n)))
		return;
	len = tstr_write(c->ks, c->db, key, found ? &r : NULL, (uint64_t)at, part);
	ks_event(c->ks, KS_EV_STRING, "setrange", c->db, key.name);
	reply_i64(c->r, (int64_t)len);
}
