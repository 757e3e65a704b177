/* What handlers do all the time. */
#include "commands/internal.h"

#include "base/num.h"

int call_find(struct call *c, struct ks_key key, enum ks_type type, struct ks_ref *out)
{
	bool there = UNLIKELY(c->s->flags & SESSION_NO_TOUCH) ? ks_peek(c->ks, c->db, key, out)
		: ks_find(c->ks, c->db, key, out);
	if (!there)
		return 0;
	if (ks_ref_type(out) != type) {
		reply_wrongtype(c->r);
		return -1;
	}
	return 1;
}

bool call_i64(struct call *c, uint32_t i, int64_t *out)
{
	if (num_i64(c->argv[i], out))
		return true;
	reply_not_integer(c->r);
	return false;
}

bool call_arg_is(const struct call *c, uint32_t i, const char *word)
{
	return bytes_ieq(c->argv[i], word);
}

bool call_reserve(struct call *c, size_t bytes)
{
	if (LIKELY(ks_reserve(c->ks, bytes)))
		return true;
	if (c->in_exec)
		c->e->exec_no_room = true;
	reply_oom(c->r);
	return false;
}
