/* What the handlers of strings, bits and keys share. */
#include "commands/families.h"

#include "commands/internal.h"

#include <limits.h>

void fam_keys(const struct call *c, uint32_t first, uint32_t step, uint32_t n, bool writes, struct ks_key *out)
{
	for (uint32_t i = 0; i < n; i++) {
		out[i] = call_key(c, first + i * step);
		ks_prefetch1(c->ks, c->db, out[i].hash);
	}
	if (n < 2)
		return;
	for (uint32_t i = 0; i < n; i++)
		ks_prefetch2(c->ks, c->db, out[i].hash);
	for (uint32_t i = 0; i < n; i++)
		ks_prefetch3(c->ks, c->db, out[i].hash, writes);
}

bool fam_find(const struct call *c, struct ks_key key, struct ks_ref *out)
{
	if (UNLIKELY(c->s->flags & SESSION_NO_TOUCH))
		return fam_look(c, key, out);
	return ks_find(c->ks, c->db, key, out);
}

bool fam_find_write(const struct call *c, struct ks_key key, struct ks_ref *out)
{
	if (UNLIKELY(c->s->flags & SESSION_NO_TOUCH))
		return ks_peek(c->ks, c->db, key, out);
	return ks_find_write(c->ks, c->db, key, out);
}

int fam_string_write(struct call *c, struct ks_key key, struct ks_ref *out)
{
	if (!fam_find_write(c, key, out))
		return 0;
	if (ks_ref_type(out) != KS_STRING) {
		reply_wrongtype(c->r);
		return -1;
	}
	return 1;
}

bool fam_look(const struct call *c, struct ks_key key, struct ks_ref *out)
{
	bool found = ks_peek(c->ks, c->db, key, out);
	struct ks_stats *st = ks_stats(c->ks);

	if (found)
		st->hits++;
	else
		st->misses++;
	return found;
}

/* The pool is full: an EXEC around the command is to be undone. */
static bool no_room(struct call *c)
{
	if (c->in_exec)
		c->e->exec_no_room = true;
	reply_oom(c->r);
	return false;
}

bool fam_reserve_free(struct call *c)
{
	return ks_reserve_free(c->ks) || no_room(c);
}

bool fam_int(struct call *c, uint32_t i, int *out)
{
	int64_t v;

	if (!call_i64(c, i, &v))
		return false;
	if (v < INT_MIN || v > INT_MAX) {
		reply_errorf(c->r, "ERR value is out of range, value must between %d and %d", INT_MIN, INT_MAX);
		return false;
	}
	*out = (int)v;
	return true;
}

bool fam_db(struct call *c, uint32_t i, unsigned *out)
{
	int v;

	if (!fam_int(c, i, &v))
		return false;
	if (v < 0 || (unsigned)v >= ks_databases(c->ks)) {
		reply_error(c->r, "ERR DB index is out of range");
		return false;
	}
	*out = (unsigned)v;
	return true;
}

bool fam_deadline(int64_t when, bool seconds, int64_t base, int64_t *out)
{
	if (seconds && __builtin_mul_overflow(when, 1000, &when))
		return false;
	return !__builtin_add_overflow(when, base, out);
}

void fam_bad_expire(struct call *c)
{
	reply_errorf(c->r, "ERR invalid expire time in '%s' command", c->cmd->name);
}

void fam_reply_value(struct call *c, const struct ks_ref *r)
{
	struct tstr v;

	tstr_view(r, &v);
	c->r->ops->value(c->r, r, &v, 0, v.len);
}

static bool name_fits(struct call *c, struct bytes name)
{
	if (LIKELY(name.n <= KS_KEY_MAX))
		return true;
	reply_errorf(c->r, "ERR key is longer than the %u bytes that a pool can hold", KS_KEY_MAX);
	return false;
}

bool fam_room(struct call *c, struct ks_key key, size_t bytes)
{
	return name_fits(c, key.name) && call_reserve(c, key.name.n + bytes);
}

bool fam_room_many(struct call *c, uint32_t first, uint32_t step, size_t bytes)
{
	size_t keys = 0;

	for (uint32_t i = first; i < c->argc; i += step, keys++) {
		if (!name_fits(c, c->argv[i]))
			return false;
	}
	return ks_reserve_many(c->ks, keys, bytes) || no_room(c);
}

void fam_make_raw(struct ks_ref *r)
{
	if (strcmp(ks_ref_encoding(r), "raw") != 0)
		tstr_make_raw(r);
}
