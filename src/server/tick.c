/* The tick: prefetch -> execute -> commit -> reply, over all that was gathered. */
#include "server/inner.h"

#include "base/check.h"

#define BLOCK 16u        /* commands prefetched together */
#define BLOCKS_AHEAD 4u  /* a power of two: the block that executes and the three in the three passes before it */
#define BLOCK_KEYS 128u  /* keys prefetched of a block at most */
#define CLOCK_EVERY 32u  /* commands between two looks at the clock */
#define EXPIRE_ONCE 256u /* keys that expire in one tick at most */
#define WORK_BUSY 64u    /* objects reclaimed in a tick with commands */
#define WORK_IDLE 2048u

struct ahead {
	uint64_t hash;
	unsigned db;
	bool writes;
};

struct block {
	unsigned n;
	struct ahead keys[BLOCK_KEYS];
};

/* Blocks of commands on their way to execution, each a pass further than the one behind it: memory has the time of
 * a block's execution to answer a pass. */
struct pipeline {
	struct block ring[BLOCKS_AHEAD];
	unsigned loaded; /* blocks that went through the first pass */
	unsigned next;   /* first command that did not */
};

/* ---- prefetch ---- */

static inline void add_key(const struct srv *srv, struct block *b, struct bytes key, unsigned db, bool writes)
{
	uint64_t h = ks_hash(srv->ks, key);
	ks_prefetch1(srv->ks, db, h);
	b->keys[b->n++] = (struct ahead){h, db, writes};
}

static void look_ahead(const struct srv *srv, struct gathered *g, struct block *b)
{
	const struct cmd *cmd = g->cmd;
	uint32_t first = cmd ? cmd_first_key(cmd, g->argc) : 0;
	if (first == 0 || b->n == BLOCK_KEYS)
		return;
	unsigned db = g->c->s.db;
	bool writes = (cmd->flags & CMD_WRITE) != 0;
	add_key(srv, b, g->argv[first], db, writes);
	if (first == 1) {
		g->hash = b->keys[b->n - 1].hash;
		g->hashed = true;
	}
	const struct cmd_key_spec *k = &cmd->keys[0];
	if (LIKELY(k->last == 0))
		return;
	int64_t end = k->last < 0 ? (int64_t)g->argc + k->last + 1 : (int64_t)first + k->last + 1;
	uint32_t step = k->step > 0 ? (uint32_t)k->step : 1;
	for (uint32_t i = first + step; i < end && i < g->argc && b->n < BLOCK_KEYS; i += step)
		add_key(srv, b, g->argv[i], db, writes);
}

static void pass1(struct srv *srv, struct pipeline *p)
{
	struct block *b = &p->ring[p->loaded++ % BLOCKS_AHEAD];
	unsigned end = p->next + BLOCK < srv->tick.n ? p->next + BLOCK : srv->tick.n;
	b->n = 0;
	for (; p->next < end; p->next++)
		look_ahead(srv, &srv->tick.cmds[p->next], b);
}

static void pass2(const struct srv *srv, const struct block *b)
{
	for (unsigned i = 0; i < b->n; i++)
		ks_prefetch2(srv->ks, b->keys[i].db, b->keys[i].hash);
}

static void pass3(const struct srv *srv, const struct block *b)
{
	for (unsigned i = 0; i < b->n; i++)
		ks_prefetch3(srv->ks, b->keys[i].db, b->keys[i].hash, b->keys[i].writes);
}

static void fill_pipeline(struct srv *srv, struct pipeline *p, unsigned from)
{
	p->loaded = 0;
	p->next = from;
	for (unsigned k = 0; k < BLOCKS_AHEAD; k++)
		pass1(srv, p);
	for (unsigned k = 0; k < BLOCKS_AHEAD - 1; k++)
		pass2(srv, &p->ring[k]);
	for (unsigned k = 0; k < BLOCKS_AHEAD - 2; k++)
		pass3(srv, &p->ring[k]);
}

static void advance_pipeline(struct srv *srv, struct pipeline *p)
{
	pass1(srv, p);
	pass2(srv, &p->ring[(p->loaded - 2) % BLOCKS_AHEAD]);
	pass3(srv, &p->ring[(p->loaded - 3) % BLOCKS_AHEAD]);
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
	log_msg(LOG_WARNING,
		"Possible SECURITY ATTACK detected: client addr=%s talks HTTP (POST or Host:), as a web page does "
		"that tries to reach this server. Connection closed.",
		srv__client_addr(c));
	srv__client_kill(c);
}

/* Executes from command i on until the time of the tick is over; returns where it stopped. */
static unsigned execute(struct srv *srv, unsigned i)
{
	struct tick *t = &srv->tick;
	struct pipeline p;
	unsigned block = i + BLOCK, look = i + CLOCK_EVERY;
	bool paused = srv->pause_until_ms != 0;
	fill_pipeline(srv, &p, i);
	for (; i < t->n; i++) {
		if (i == block) {
			advance_pipeline(srv, &p);
			block += BLOCK;
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
	t->running = false; /* from here on clients may end */
	srv__gather_settle(srv);
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
