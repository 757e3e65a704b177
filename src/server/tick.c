/* The tick: prefetch -> execute -> commit -> reply, over all that was gathered. */
#include "server/inner.h"

#include "base/check.h"

#define WINDOW 64u          /* commands prefetched ahead of execution */
#define KEYS_AHEAD 256u     /* keys prefetched a window at most */
#define CLOCK_EVERY 32u     /* commands between two looks at the clock */
#define EXPIRE_ONCE 256u    /* keys that expire in one tick at most */
#define WORK_BUSY 64u       /* objects reclaimed in a tick with commands */
#define WORK_IDLE 2048u

struct ahead {
	uint64_t hash;
	unsigned db;
	bool writes;
};

/* ---- prefetch ---- */

static unsigned look_ahead(const struct srv *srv, struct gathered *g, struct ahead *a, unsigned n)
{
	const struct cmd *cmd = g->cmd;
	uint32_t first = cmd ? cmd_first_key(cmd, g->argc) : 0;
	if (first == 0)
		return n;
	unsigned db = g->c->s.db;
	bool writes = (cmd->flags & CMD_WRITE) != 0;
	uint64_t h = ks_hash(srv->ks, g->argv[first]);
	if (first == 1) {
		g->hash = h;
		g->hashed = true;
	}
	ks_prefetch1(srv->ks, db, h);
	a[n++] = (struct ahead){h, db, writes};
	const struct cmd_key_spec *k = &cmd->keys[0];
	if (LIKELY(k->last == 0))
		return n;
	uint32_t end = k->last < 0 ? g->argc + (uint32_t)k->last + 1 : first + (uint32_t)k->last + 1;
	uint32_t step = k->step > 0 ? (uint32_t)k->step : 1;
	for (uint32_t i = first + step; i < end && i < g->argc && n < KEYS_AHEAD; i += step) {
		h = ks_hash(srv->ks, g->argv[i]);
		ks_prefetch1(srv->ks, db, h);
		a[n++] = (struct ahead){h, db, writes};
	}
	return n;
}

static void prefetch(struct srv *srv, unsigned from, unsigned to)
{
	struct ahead a[KEYS_AHEAD];
	unsigned n = 0;
	for (unsigned i = from; i < to && n < KEYS_AHEAD; i++)
		n = look_ahead(srv, &srv->tick.cmds[i], a, n);
	for (unsigned i = 0; i < n; i++)
		ks_prefetch2(srv->ks, a[i].db, a[i].hash);
	for (unsigned i = 0; i < n; i++)
		ks_prefetch3(srv->ks, a[i].db, a[i].hash, a[i].writes);
}

/* ---- execute ---- */

static void protocol_error(struct srv *srv, struct gathered *g)
{
	log_msg(LOG_VERBOSE, "Client id=%llu addr=%s closed: %s", (unsigned long long)g->c->s.id, srv__client_addr(g->c),
		g->argv->p + 4);
	reply_error(&srv->sink.r, g->argv->p);
	g->c->flags |= CL_SKIP | CL_CLOSE;
}

/* A browser that was led to post to this port talks HTTP, whose lines would pass for inline commands. */
static bool is_http(const struct gathered *g)
{
	return !g->cmd && (bytes_ieq(g->argv[0], "post") || bytes_ieq(g->argv[0], "host:"));
}

static void turn_away_http(struct client *c)
{
	log_msg(LOG_WARNING, "Possible SECURITY ATTACK detected: client addr=%s talks HTTP (POST or Host:), as a web page does "
		"that tries to reach this server. Connection closed.", srv__client_addr(c));
	srv__client_kill(c);
}

/* Executes from command i on until the time of the tick is over; returns where it stopped. */
static unsigned execute(struct srv *srv, unsigned i)
{
	struct tick *t = &srv->tick;
	unsigned ahead = i, look = i + CLOCK_EVERY;
	bool paused = srv->pause_until_ms != 0;
	for (; i < t->n; i++) {
		if (i == ahead) {
			ahead = i + WINDOW < t->n ? i + WINDOW : t->n;
			prefetch(srv, i, ahead);
		}
		if (UNLIKELY(i == look)) {
			if (clock_us() - t->now_us > TICK_US)
				break;
			look = i + CLOCK_EVERY;
		}
		struct gathered *g = &t->cmds[i];
		struct client *c = g->c;
		if (UNLIKELY(c->flags & (CL_SKIP | CL_DYING)))
			continue;
		srv->sink.c = c;
		srv->sink.r.resp = c->s.resp;
		if (UNLIKELY(g->argc == 0)) {
			protocol_error(srv, g);
			continue;
		}
		if (UNLIKELY(is_http(g))) {
			turn_away_http(c);
			continue;
		}
		if (UNLIKELY(paused) && srv__paused_for(srv, g)) {
			srv__pause_client(c, g->raw);
			continue;
		}
		engine_run(srv->e, &c->s, g->cmd, g->argv, g->argc, g->hash, g->hashed, &srv->sink.r);
		paused = srv->pause_until_ms != 0;
	}
	return i;
}

/* ---- commit and reply ---- */

/* Reclaiming comes first: the store frees nothing of what the tick has edited. */
static void begin(struct srv *srv, unsigned work)
{
	srv->tick.now_us = clock_us();
	int64_t now_ms = srv->tick.now_us / 1000;
	engine_tick_begin(srv->e, now_ms);
	srv->pool.work(srv->pool.ctx, work);
	if (srv->pause_until_ms && now_ms >= srv->pause_until_ms)
		srv__unpause(srv);
	/* a pause of any kind keeps the dataset still */
	if (!srv->pause_until_ms && UNLIKELY(ks_next_deadline(srv->ks) < now_ms))
		ks_expire_due(srv->ks, EXPIRE_ONCE);
}

static void end(struct srv *srv)
{
	uint64_t lsn = srv->pool.commit(srv->pool.ctx);
	srv->tick.more_work = srv->pool.work(srv->pool.ctx, 0); /* only asks */
	srv->stats.ticks++;
	srv__out_commit(srv, lsn);
}

void srv__tick(struct srv *srv)
{
	struct tick *t = &srv->tick;
	unsigned i = 0;
	DCHECK(!t->running);
	t->running = true;
	while (i < t->n) {
		begin(srv, WORK_BUSY);
		i = execute(srv, i);
		end(srv);
	}
	srv__gather_settle(srv);
	t->running = false;
	srv__client_bury(srv);
}

void srv__tick_idle(struct srv *srv)
{
	srv->tick.running = true;
	begin(srv, WORK_IDLE);
	end(srv);
	srv->tick.running = false;
	srv__client_bury(srv);
}
