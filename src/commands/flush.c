/* Whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB. */
#include "commands/families.h"

#include "base/num.h"

#include <limits.h>

void cmd_dbsize(struct call *c)
{
	reply_i64(c->r, (int64_t)ks_count(c->ks, c->db));
}

/* SYNC and ASYNC are the same here: unlinking takes no time that depends on the keys, and space comes back a slice
 * a tick. */
static void flush(struct call *c, int db)
{
	if (c->argc > 2 || (c->argc == 2 && !call_arg_is(c, 1, "sync") && !call_arg_is(c, 1, "async"))) {
		reply_syntax(c->r);
		return;
	}
	if (!fam_reserve_free(c))
		return;
	ks_flush(c->ks, db);
	reply_ok(c->r);
}

void cmd_flushdb(struct call *c)
{
	flush(c, (int)c->db);
}

void cmd_flushall(struct call *c)
{
	flush(c, -1);
}

static bool db_arg(struct call *c, uint32_t i, const char *error, int *out)
{
	int64_t v;

	if (!num_i64(c->argv[i], &v) || v < INT_MIN || v > INT_MAX) {
		reply_error(c->r, error);
		return false;
	}
	*out = (int)v;
	return true;
}

void cmd_swapdb(struct call *c)
{
	unsigned n = ks_databases(c->ks);
	int a, b;

	if (!db_arg(c, 1, "ERR invalid first DB index", &a) || !db_arg(c, 2, "ERR invalid second DB index", &b))
		return;
	if (a < 0 || b < 0 || (unsigned)a >= n || (unsigned)b >= n) {
		reply_error(c->r, "ERR DB index is out of range");
		return;
	}
	if (!call_reserve(c, 0))
		return;
	if (a != b)
		ks_swap(c->ks, (unsigned)a, (unsigned)b);
	reply_ok(c->r);
}
