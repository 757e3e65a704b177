/* MULTI EXEC DISCARD WATCH UNWATCH.
 *
 * Commands queued by MULTI are copied into blocks that the session owns: arguments and argument vectors stay where
 * they are until the queue goes, so EXEC runs them from there. An EXEC is one unit of the store: it is applied whole,
 * or, when it outgrows a tick or the pool, taken back whole with every answer it has given so far. */
#include "commands/internal.h"

#include "base/mem.h"

/* Queued commands looked at together before they run, so that their cache misses overlap. */
#define EXEC_PREFETCH 16u

struct queued {
	struct queued *next;
	const struct cmd *cmd;
	uint32_t argc;
	struct bytes argv[];
};

struct tx_block {
	struct tx_block *next;
	size_t cap, used;
	char bytes[];
};

struct multi {
	struct queued *first, **tail;
	struct tx_block *blocks; /* newest first; the newest has the room */
	int n;
	uint32_t flags;          /* of all commands queued, or-ed */
	size_t held;             /* bytes in blocks */
};

#define TX_BLOCK_MIN 2048u

/* ---- the queue ---- */

static void *tx_alloc(struct multi *m, size_t n)
{
	n = (n + 15) & ~(size_t)15;
	struct tx_block *b = m->blocks;
	if (b == NULL || b->cap - b->used < n) {
		size_t cap = m->held < 64 * TX_BLOCK_MIN ? TX_BLOCK_MIN + m->held : 65 * TX_BLOCK_MIN;
		if (cap < n)
			cap = n;
		b = mem_alloc(sizeof(*b) + cap);
		*b = (struct tx_block){.next = m->blocks, .cap = cap};
		m->blocks = b;
		m->held += cap;
	}
	void *p = b->bytes + b->used;
	b->used += n;
	return p;
}

void multi__queue(struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc, struct reply *r)
{
	struct multi *m = s->multi;
	/* What EXEC will refuse anyway is not kept. */
	if (!(s->flags & (SESSION_DIRTY_CAS | SESSION_DIRTY_EXEC))) {
		size_t n = 0;
		for (uint32_t i = 0; i < argc; i++)
			n += argv[i].n;
		struct queued *q = tx_alloc(m, sizeof(*q) + argc * sizeof(struct bytes) + n);
		*q = (struct queued){.cmd = cmd, .argc = argc};
		char *p = (char *)&q->argv[argc];
		for (uint32_t i = 0; i < argc; i++) {
			q->argv[i] = (struct bytes){p, argv[i].n};
			if (argv[i].n > 0)
				memcpy(p, argv[i].p, argv[i].n);
			p += argv[i].n;
		}
		*m->tail = q;
		m->tail = &q->next;
		m->n++;
		m->flags |= cmd->flags;
	}
	r->ops->status(r, BYTES_LIT("QUEUED"));
}

void multi__discard(struct session *s)
{
	if (s->multi != NULL) {
		for (struct tx_block *b = s->multi->blocks, *next; b != NULL; b = next) {
			next = b->next;
			mem_free(b);
		}
		mem_free(s->multi);
		s->multi = NULL;
	}
	s->flags &= ~(uint32_t)(SESSION_MULTI | SESSION_DIRTY_EXEC);
	watch__forget(s);
}

void multi__abort(struct session *s, struct reply *r, const char *error)
{
	multi__discard(s);
	if (strncmp(error, "ERR ", 4) == 0)
		error += 4;
	reply_errorf(r, "EXECABORT Transaction discarded because of: %s", error);
}

bool multi__queued_any(const struct session *s, uint32_t flags)
{
	return s->multi != NULL && (s->multi->flags & flags) != 0;
}

bool session_would_write(const struct session *s, const struct cmd *cmd)
{
	return (cmd->flags & CMD_WRITE) || (cmd->fn == cmd_exec && multi__queued_any(s, CMD_WRITE));
}

int session_multi_count(const struct session *s)
{
	return s->flags & SESSION_MULTI ? s->multi->n : -1;
}

size_t session_multi_bytes(const struct session *s)
{
	return s->multi == NULL ? 0 : s->multi->held;
}

/* ---- the commands ---- */

static void cmd_multi(struct call *c)
{
	struct session *s = c->s;
	if (s->flags & SESSION_MULTI) {
		reply_error(c->r, "ERR MULTI calls can not be nested");
		return;
	}
	s->multi = mem_zalloc(sizeof(*s->multi));
	s->multi->tail = &s->multi->first;
	s->flags |= SESSION_MULTI;
	reply_ok(c->r);
}

static void cmd_discard(struct call *c)
{
	if (!(c->s->flags & SESSION_MULTI)) {
		reply_error(c->r, "ERR DISCARD without MULTI");
		return;
	}
	multi__discard(c->s);
	reply_ok(c->r);
}

static void cmd_watch(struct call *c)
{
	if (c->s->flags & SESSION_MULTI) {
		reply_error(c->r, "ERR WATCH inside MULTI is not allowed");
		return;
	}
	/* Once a watched key has changed EXEC fails, whatever else is watched. */
	if (!(c->s->flags & SESSION_DIRTY_CAS))
		for (uint32_t i = 1; i < c->argc; i++)
			watch__add(c->s, c->argv[i]);
	reply_ok(c->r);
}

static void cmd_unwatch(struct call *c)
{
	watch__forget(c->s);
	reply_ok(c->r);
}

/* Hashes the first keys of the next commands and brings index and records near. Returns the command after them. */
static struct queued *prefetch(struct call *c, struct queued *q, uint64_t hashes[EXEC_PREFETCH], unsigned db)
{
	const struct cmd *cmds[EXEC_PREFETCH];
	unsigned n = 0;
	for (; q != NULL && n < EXEC_PREFETCH; q = q->next, n++) {
		uint32_t at = cmd_first_key(q->cmd, q->argc);
		cmds[n] = at == 0 ? NULL : q->cmd;
		if (at == 0)
			continue;
		hashes[n] = ks_hash(c->ks, q->argv[at]);
		ks_prefetch1(c->ks, db, hashes[n]);
	}
	for (unsigned i = 0; i < n; i++)
		if (cmds[i] != NULL)
			ks_prefetch2(c->ks, db, hashes[i]);
	for (unsigned i = 0; i < n; i++)
		if (cmds[i] != NULL)
			ks_prefetch3(c->ks, db, hashes[i], cmds[i]->flags & CMD_WRITE);
	return q;
}

/* Runs the queue. False: it must be undone. */
static bool run_queue(struct call *c)
{
	const struct engine_pool *pool = &c->e->pool;
	struct queued *q = c->s->multi->first, *ahead = q;
	uint64_t hashes[EXEC_PREFETCH];
	for (unsigned i = 0; q != NULL; q = q->next, i++) {
		if (q == ahead) {
			ahead = prefetch(c, q, hashes, c->s->db);
			i = 0;
		}
		bool hashed = cmd_first_key(q->cmd, q->argc) == 1;
		engine__call(c->e, c->s, row_of(q->cmd), q->argv, q->argc, hashed ? hashes[i] : 0, hashed, c->r);
		if (UNLIKELY(c->e->exec_no_room || pool->unit_too_big(pool->ctx)))
			return false;
	}
	return true;
}

void cmd_exec(struct call *c)
{
	struct session *s = c->s;
	struct engine *e = c->e;
	if (!(s->flags & SESSION_MULTI)) {
		reply_error(c->r, "ERR EXEC without MULTI");
		return;
	}
	bool intact = watch__intact(s);
	if (!intact || s->flags & SESSION_DIRTY_EXEC) {
		if (s->flags & SESSION_DIRTY_EXEC)
			reply_error(c->r, "EXECABORT Transaction discarded because of previous errors.");
		else
			c->r->ops->null_array(c->r);
		multi__discard(s);
		return;
	}
	watch__forget(s);
	unsigned db = s->db;
	size_t mark = c->r->ops->mark(c->r);
	e->in_exec = true;
	e->exec_no_room = false;
	watch__exec_begin(e);
	CHECK(e->pool.unit_begin != NULL);
	e->pool.unit_begin(e->pool.ctx);
	reply_array(c->r, s->multi->n);
	bool whole = run_queue(c);
	if (!whole) {
		e->pool.unit_undo(e->pool.ctx);
		watch__exec_undo(e);
		s->db = db;
	}
	e->pool.unit_end(e->pool.ctx);
	e->in_exec = false;
	if (!whole) {
		c->r->ops->rewind(c->r, mark);
		if (e->exec_no_room)
			reply_oom(c->r);
		else
			reply_error(c->r, "OOM the transaction is larger than one tick can hold; nothing of it was applied.");
	}
	multi__discard(s);
}

#define TX_FLAGS (CMD_NOSCRIPT | CMD_LOADING | CMD_STALE)
const struct cmd cmd_table_transaction[] = {
	{CMD("multi", 1, cmd_multi, TX_FLAGS | CMD_FAST | CMD_ALLOW_BUSY | CMD_TX_NOW, ACL_TRANSACTION),
	 DOC("transactions", "1.2.0", "O(1)", "Begins a transaction: the commands that follow are queued.")},
	{CMD("exec", 1, cmd_exec, TX_FLAGS | CMD_SKIP_SLOWLOG | CMD_TX_NOW, ACL_TRANSACTION),
	 DOC("transactions", "1.2.0", "What its commands cost together",
		"Runs the queued commands as one unit that is applied whole.")},
	{CMD("discard", 1, cmd_discard, TX_FLAGS | CMD_FAST | CMD_ALLOW_BUSY | CMD_TX_NOW, ACL_TRANSACTION),
	 DOC("transactions", "2.0.0", "O(N) for N queued commands",
		"Drops the queued commands and ends the transaction.")},
	{CMD("watch", -2, cmd_watch, TX_FLAGS | CMD_FAST | CMD_ALLOW_BUSY | CMD_TX_NOW, ACL_TRANSACTION),
	 DOC("transactions", "2.2.0", "O(N) for N keys",
		"Makes the next EXEC depend on these keys staying as they are."),
	 .keys = {KEY_RUN(1, -1, 1, KEY_RO)},
	 .args = ARGS(A("key", KEY, A_MANY))},
	{CMD("unwatch", 1, cmd_unwatch, TX_FLAGS | CMD_FAST | CMD_ALLOW_BUSY, ACL_TRANSACTION),
	 DOC("transactions", "2.2.0", "O(1)", "Stops watching every key of this connection.")},
	CMD_END
};
