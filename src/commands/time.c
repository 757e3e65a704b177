/* TIME. */
#include "commands/internal.h"

#include "base/clock.h"
#include "base/num.h"

static void reply_digits(struct reply *r, int64_t v)
{
	char p[NUM_I64_MAX];
	reply_bulk(r, (struct bytes){p, num_put_i64(p, v)});
}

/* The clock itself, not the tick's time: who asks twice wants to see it move. */
static void cmd_time(struct call *c)
{
	int64_t us = clock_us();
	reply_array(c->r, 2);
	reply_digits(c->r, us / 1000000);
	reply_digits(c->r, us % 1000000);
}

const struct cmd cmd_table_time[] = {
	{CMD("time", 1, cmd_time, CMD_LOADING | CMD_STALE | CMD_FAST, 0),
	 DOC("server", "2.6.0", "O(1)", "Tells the server's time: Unix seconds, and microseconds of the current one."),
	 .tips = TIPS("nondeterministic_output")},
	CMD_END
};
