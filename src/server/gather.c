/* Gathering: bytes that arrive become commands of the tick, as slices, without a copy or an allocation a command.
 *
 * The loop reads straight into the tick's arena; the arguments of the commands found there stay there until the tick
 * ends. A command that is not whole is kept in a buffer of its client (idle clients have none) and put in front of
 * what comes next. One that lacks more than a turn's bytes is read straight into that buffer, which grows as the bytes
 * really come; when whole, its arguments are slices of the buffer. What is gathered but not executed in the tick
 * goes back to the client's buffer as bytes and is parsed again. */
#include "server/inner.h"

#include "base/check.h"

#define ARENA_ROOM (2 * TICK_CLIENT_BYTES + 256) /* one client's turn: bytes kept and read */
#define BIG_FIRST (2048u * 1024)                 /* what a long argument gets before any of it is there */
#define STALL_MAX (1024u * 1024)                 /* input kept of a paused client */

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *b);
static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b);

void srv__gather_init(struct srv *srv)
{
	struct tick *t = &srv->tick;
	t->cmds = mem_aligned(64, TICK_COMMANDS * sizeof *t->cmds);
	t->arena = mem_aligned(4096, TICK_ARENA);
	t->clients = mem_alloc(TICK_COMMANDS * sizeof *t->clients);
	srv__gather_limits(srv);
}

void srv__gather_fini(struct srv *srv)
{
	mem_free(srv->tick.cmds);
	mem_free(srv->tick.arena);
	mem_free(srv->tick.clients);
	mem_free(srv->tick.held);
	resp_idle(&srv->parser);
}

void srv__gather_limits(struct srv *srv)
{
	srv->lim = (struct resp_limits){config_i(srv->cfg, CFG_PROTO_MAX_BULK_LEN), INT32_MAX, RESP_MAX_INLINE};
	srv->lim_unauth = (struct resp_limits){RESP_UNAUTH_BULK, RESP_UNAUTH_ARGS, RESP_MAX_INLINE};
	srv->query_limit = config_i(srv->cfg, CFG_QUERY_LIMIT);
}

void srv__gather_start(struct client *c)
{
	if (!(c->flags & (CL_READING | CL_CLOSING | CL_EOF)) && uv_read_start(&c->h.stream, on_alloc, on_read) == 0)
		c->flags |= CL_READING;
}

void srv__gather_stop(struct client *c)
{
	if (c->flags & CL_READING)
		uv_read_stop(&c->h.stream);
	c->flags &= ~(uint32_t)CL_READING;
}

size_t srv__gather_bytes(const struct client *c)
{
	return c->in.cap + (c->half ? sizeof *c->half + c->half->cap * sizeof *c->half->argv : 0);
}

/* ---- memory of the tick ---- */

static inline bool tick_full(const struct tick *t)
{
	return t->n == TICK_COMMANDS || t->used + ARENA_ROOM > TICK_ARENA;
}

static void *arena_take(struct tick *t, size_t n)
{
	void *p = t->arena + t->used;
	t->used += (n + 15) & ~(size_t)15;
	DCHECK2(t->used <= TICK_ARENA, t->used, n);
	return p;
}

static void hold(struct tick *t, void *p)
{
	if (t->held_n == t->held_cap) {
		t->held_cap = t->held_cap ? t->held_cap * 2 : 64;
		t->held = mem_realloc(t->held, t->held_cap * sizeof *t->held);
	}
	t->held[t->held_n++] = p;
}

static struct bytes *keep_argv(struct srv *srv, struct resp_parser *ps)
{
	struct tick *t = &srv->tick;
	size_t n = ps->argc * sizeof *ps->argv;
	if (ps->inline_cmd) {
		/* the words stand in the parser's own buffer, which the next line overwrites */
		hold(t, ps->unquoted.p);
		ps->unquoted = (struct buf){0};
	}
	if (LIKELY(ps->argc < TICK_ARGV_STEAL && t->used + n + ARENA_ROOM < TICK_ARENA)) {
		struct bytes *argv = arena_take(t, n);
		memcpy(argv, ps->argv, n);
		return argv;
	}
	struct bytes *argv = ps->argv;
	hold(t, argv);
	ps->argv = NULL;
	ps->cap = 0;
	return argv;
}

/* ---- commands out of bytes ---- */

static void drop_half(struct client *c)
{
	if (!c->half)
		return;
	resp_idle(c->half);
	mem_free(c->half);
	c->half = NULL;
}

static const struct resp_limits *limits_of(const struct srv *srv, const struct client *c)
{
	return LIKELY(c->s.authenticated || !engine_password_needed(srv->e)) ? &srv->lim : &srv->lim_unauth;
}

static struct gathered *add_command(struct srv *srv, struct client *c, size_t raw)
{
	struct tick *t = &srv->tick;
	struct gathered *g = &t->cmds[t->n++];
	if (c->cmds++ == 0) {
		t->clients[t->clients_n++] = c;
		c->flags |= CL_GATHERED;
	}
	g->c = c;
	g->raw = raw;
	return g;
}

static void add_protocol_error(struct srv *srv, struct client *c, size_t raw, const char *text)
{
	struct gathered *g = add_command(srv, c, raw);
	size_t n = strlen(text);
	char *copy = mem_alloc(n + 5 + sizeof(struct bytes));
	struct bytes *argv = (struct bytes *)(void *)copy;
	memcpy(copy + sizeof *argv, "ERR ", 4);
	memcpy(copy + sizeof *argv + 4, text, n + 1);
	*argv = (struct bytes){copy + sizeof *argv, n + 4};
	hold(&srv->tick, copy);
	g->cmd = NULL;
	g->argv = argv;
	g->argc = 0;
}

/* Parses what stands at p. Returns how many bytes belong to whole commands; the rest is not touched. */
static size_t parse(struct srv *srv, struct client *c, const char *p, size_t n)
{
	struct tick *t = &srv->tick;
	struct resp_parser *ps = c->half ? c->half : &srv->parser;
	const struct resp_limits *lim = limits_of(srv, c);
	size_t at = 0;
	c->need = 0;
	c->flags |= CL_LEFT; /* unless the input ends before the tick is full */
	while (at < n && t->n < TICK_COMMANDS) {
		enum resp_status st = resp_parse(ps, lim, p + at, n - at);
		if (LIKELY(st == RESP_COMMAND)) {
			struct gathered *g = add_command(srv, c, at);
			g->cmd = engine_resolve(srv->e, ps->argv, ps->argc);
			g->argc = ps->argc;
			g->argv = keep_argv(srv, ps);
			g->hashed = false;
			at += ps->used;
			if (UNLIKELY(srv->renames_n))
				srv__rename_apply(srv, g);
			if (UNLIKELY(g->cmd && (g->cmd->flags & CMD_GATHER_STOP)))
				break;
		} else if (st == RESP_EMPTY) {
			at += ps->used;
		} else if (st == RESP_MORE) {
			c->need = ps->need;
			c->flags &= ~(uint32_t)CL_LEFT;
			break;
		} else {
			add_protocol_error(srv, c, at, ps->error);
			resp_idle(ps);
			at = n;
			c->flags |= CL_DEAF;
			break;
		}
	}
	if (at == n)
		c->flags &= ~(uint32_t)CL_LEFT;
	bool begun = at < n && (ps->left > 0 || ps->pos > 0);
	if (begun && ps == &srv->parser) {
		c->half = mem_alloc(sizeof *c->half);
		*c->half = *ps;
		*ps = (struct resp_parser){0};
	} else if (!begun && c->half) {
		drop_half(c);
	}
	return at;
}

static void input_set(struct client *c, const char *p, size_t n)
{
	if (n == 0) {
		buf_free(&c->in);
		return;
	}
	if (c->in.cap < n) {
		buf_free(&c->in);
		buf_room(&c->in, n);
	}
	memmove(c->in.p, p, n);
	c->in.n = n;
}

static void add_pending(struct client *c)
{
	if (link_empty(&c->pending))
		link_add(&c->srv->pending, &c->pending);
}

/* Gathers from [p, p + n), which begins with what c->in holds. own: p is memory of its own, c's until now. */
static void gather(struct srv *srv, struct client *c, char *p, size_t n, bool own)
{
	unsigned before = srv->tick.n;
	size_t used = parse(srv, c, p, n);
	if (srv->tick.n == before) {
		/* nothing whole: the bytes stay with the client */
		if (own && used == 0) {
			c->in.n = n;
		} else if (own) {
			memmove(p, p + used, n - used);
			c->in.n = n - used;
		} else {
			input_set(c, p + used, n - used);
		}
		if (c->flags & CL_LEFT)
			add_pending(c);
		else if (c->flags & CL_EOF)
			srv__client_close_after_reply(c);
		return;
	}
	c->seg = p;
	c->seg_n = n;
	c->seg_used = used;
	if (own) {
		c->in = (struct buf){0};
		hold(&srv->tick, p);
	}
}

/* ---- reading ---- */

static bool is_big(const struct client *c)
{
	return c->in.n > 0 && (c->in.n >= TICK_CLIENT_BYTES || c->need > c->in.n + TICK_CLIENT_BYTES);
}

/* Room behind what is there already, by what the parser needs, but never much more than has really come. */
static void big_room(struct client *c, uv_buf_t *b)
{
	size_t need = c->need > c->in.n ? c->need : c->in.n + TICK_CLIENT_BYTES;
	size_t trust = c->in.n * 4 > BIG_FIRST ? c->in.n * 4 : BIG_FIRST;
	size_t cap = need < trust ? need : trust;
	if (c->in.cap < cap) {
		/* many long arguments come one after the other: each must not move what is there again */
		size_t twice = 2 * c->in.cap < trust ? 2 * c->in.cap : trust;
		cap = cap > twice ? cap : twice;
		c->in.p = mem_realloc(c->in.p, cap);
		c->in.cap = cap;
	}
	size_t room = (c->in.cap < need ? c->in.cap : need) - c->in.n;
	*b = uv_buf_init(c->in.p + c->in.n, (unsigned)(room < INT32_MAX ? room : INT32_MAX));
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *b)
{
	struct client *c = SRV_CONTAINER(h, struct client, h);
	struct srv *srv = c->srv;
	struct tick *t = &srv->tick;
	(void)hint;
	*b = uv_buf_init(NULL, 0);
	/* once a turn; what is left over from before goes first */
	if (c->turn == srv->turn || (c->flags & CL_GATHERED) || !link_empty(&c->pending) || tick_full(t))
		return;
	c->flags &= ~(uint32_t)CL_BIG;
	if (UNLIKELY(is_big(c) || (c->flags & CL_STALLED))) {
		c->flags |= CL_BIG;
		big_room(c, b);
		return;
	}
	char *p = t->arena + t->used;
	if (c->in.n)
		memcpy(p, c->in.p, c->in.n);
	*b = uv_buf_init(p + c->in.n, TICK_CLIENT_BYTES);
}

static bool over_query_limit(struct client *c)
{
	struct srv *srv = c->srv;
	if (c->in.n > srv->stats.client_in_max)
		srv->stats.client_in_max = c->in.n;
	if (c->in.n <= (size_t)srv->query_limit)
		return false;
	log_msg(LOG_WARNING, "Client id=%llu addr=%s closed: %zu bytes of a query, more than client-query-buffer-limit",
		(unsigned long long)c->s.id, srv__client_addr(c), c->in.n);
	srv__client_kill(c);
	return true;
}

static void read_big(struct srv *srv, struct client *c, size_t n)
{
	c->in.n += n;
	if (over_query_limit(c))
		return;
	if (c->flags & CL_STALLED) {
		if (c->in.n >= STALL_MAX)
			srv__gather_stop(c);
		return;
	}
	if (c->need && c->in.n < c->need)
		return;
	gather(srv, c, c->in.p, c->in.n, true);
}

static void hung_up(struct client *c, ssize_t why)
{
	srv__gather_stop(c);
	c->flags |= CL_EOF;
	if (why != UV_EOF)
		log_msg(LOG_VERBOSE, "Reading from client id=%llu: %s", (unsigned long long)c->s.id, uv_strerror((int)why));
	/* what it has sent as whole commands is still executed, and answered when durable */
	if (why != UV_EOF || (c->flags & CL_STALLED))
		srv__client_kill(c);
	else if (!(c->flags & CL_GATHERED) && link_empty(&c->pending))
		srv__client_close_after_reply(c);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct client *c = SRV_CONTAINER(s, struct client, h);
	struct srv *srv = c->srv;
	struct tick *t = &srv->tick;
	if (UNLIKELY(n <= 0)) {
		if (n < 0 && n != UV_ENOBUFS)
			hung_up(c, n);
		return;
	}
	srv->stats.net_in += (size_t)n;
	srv->stats.reads++;
	c->bytes_in += (size_t)n;
	c->turn = srv->turn;
	if (UNLIKELY(c->flags & (CL_DEAF | CL_CLOSE | CL_DYING)))
		return;
	if (UNLIKELY(c->flags & CL_BIG)) {
		read_big(srv, c, (size_t)n);
	} else {
		size_t have = c->in.n;
		char *p = arena_take(t, have + (size_t)n);
		DCHECK(p + have == b->base);
		(void)b;
		gather(srv, c, p, have + (size_t)n, false);
	}
	if (UNLIKELY(tick_full(t)))
		srv__tick(srv);
}

void srv__gather_pending(struct srv *srv)
{
	struct tick *t = &srv->tick;
	unsigned most = srv->clients_n;
	while (!link_empty(&srv->pending) && most-- > 0) {
		struct client *c = SRV_CONTAINER(srv->pending.next, struct client, pending);
		if (tick_full(t)) {
			srv__tick(srv);
			return;
		}
		link_del(&c->pending);
		if (c->flags & (CL_CLOSE | CL_DYING | CL_STALLED) || c->in.n == 0)
			continue;
		c->turn = srv->turn;
		if (c->in.n > TICK_CLIENT_BYTES) {
			gather(srv, c, c->in.p, c->in.n, true);
		} else {
			char *p = arena_take(t, c->in.n);
			memcpy(p, c->in.p, c->in.n);
			gather(srv, c, p, c->in.n, false);
		}
	}
}

/* ---- the end of the tick ---- */

static void settle(struct client *c)
{
	c->flags &= ~(uint32_t)(CL_GATHERED | CL_SKIP);
	c->cmds = 0;
	if (c->flags & (CL_CLOSE | CL_DYING)) {
		buf_free(&c->in);
		c->seg = NULL;
		if (c->out.n == 0)
			srv__client_kill(c);
		return;
	}
	input_set(c, c->seg + c->seg_used, c->seg_n - c->seg_used);
	c->seg = NULL;
	if (c->flags & CL_STALLED)
		return;
	if (c->flags & CL_LEFT)
		add_pending(c);
	else if (c->flags & CL_EOF)
		srv__client_close_after_reply(c);
}

void srv__gather_hold_back(struct client *c, size_t raw)
{
	c->seg_used = raw;
	c->need = 0;
	c->flags |= CL_LEFT;
	c->flags &= ~(uint32_t)CL_DEAF;
	drop_half(c);
}

void srv__gather_settle(struct srv *srv)
{
	struct tick *t = &srv->tick;
	for (unsigned i = 0; i < t->clients_n; i++)
		settle(t->clients[i]);
	for (unsigned i = 0; i < t->held_n; i++)
		mem_free(t->held[i]);
	t->n = t->clients_n = t->held_n = 0;
	t->used = 0;
}

void srv__gather_give_back(struct client *c)
{
	if (c->in.n == 0)
		buf_free(&c->in);
	if (c->in.n == 0 && !(c->flags & CL_GATHERED))
		drop_half(c);
}

void srv__gather_forget(struct client *c)
{
	buf_free(&c->in);
	drop_half(c);
}

void srv__gather_hold(struct srv *srv, void *p)
{
	hold(&srv->tick, p);
}
