/* The command table and the way of a command through it: look up, check, queue or run, count. */
#include "commands/internal.h"

#include "base/clock.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>

struct engine *engine_new(struct ks *ks)
{
	struct engine *e = mem_zalloc(sizeof(*e));
	e->timing = e->latencies = true;
	engine__stamp_init(&e->stamp);
	e->next_id = 1;
	engine_set_ks(e, ks);
	engine_tick_begin(e, clock_ms());
	return e;
}

void engine_free(struct engine *e)
{
	CHECK2(e->session_count == 0, e->session_count, 0);
	engine__free_rows(e);
	watch__free(e);
	mem_free(e);
}

struct ks *engine_ks(const struct engine *e)
{
	return e->ks;
}

void engine_set_ks(struct engine *e, struct ks *ks)
{
	e->ks = ks;
	if (ks != NULL)
		watch__attach(e);
}

void engine_set_ops(struct engine *e, const struct engine_ops *ops)
{
	e->ops = *ops;
}

void engine_set_pool(struct engine *e, const struct engine_pool *pool)
{
	e->pool = *pool;
}

void engine_tick_begin(struct engine *e, int64_t now_ms)
{
	e->now_ms = now_ms;
	if (e->ks != NULL)
		ks_set_now(e->ks, now_ms);
	if (e->pool.write_error != NULL)
		e->write_error = e->pool.write_error(e->pool.ctx);
	if (e->timing)
		e->last_stamp = stamp_now(&e->stamp);
}

int64_t engine_now(const struct engine *e)
{
	return e->now_ms;
}

/* ---- counters ---- */

struct engine_totals engine_totals(const struct engine *e)
{
	return (struct engine_totals){.commands = e->commands, .errors = e->errors.total};
}

void engine_set_command_timing(struct engine *e, bool on)
{
	e->timing = on;
	e->last_stamp = stamp_now(&e->stamp);
}

void engine__count_error(struct error_stats *st, struct bytes text)
{
	st->total++;
	const char *space = memchr(text.p, ' ', text.n < ERROR_PREFIX_MAX ? text.n : ERROR_PREFIX_MAX);
	struct bytes prefix = {text.p, space == NULL ? 0 : (size_t)(space - text.p)};
	if (prefix.n == 0)
		prefix = BYTES_LIT("ERR");
	for (unsigned i = 0; i < st->n; i++) {
		if (bytes_eq(bytes_of(st->kinds[i].prefix), prefix)) {
			st->kinds[i].n++;
			return;
		}
	}
	if (st->n == ERROR_KINDS_MAX)
		return;
	struct error_kind *k = &st->kinds[st->n++];
	memcpy(k->prefix, prefix.p, prefix.n);
	k->prefix[prefix.n] = '\0';
	k->n = 1;
}

void engine_each_error(const struct engine *e, void (*fn)(void *ctx, const char *prefix, uint64_t n), void *ctx)
{
	for (unsigned i = 0; i < e->errors.n; i++)
		fn(ctx, e->errors.kinds[i].prefix, e->errors.kinds[i].n);
}

static void forget_row(struct cmd_row *row)
{
	memset(&row->stats, 0, sizeof(row->stats));
	mem_free(row->latency);
	row->latency = NULL;
}

void engine_reset_stats(struct engine *e)
{
	e->commands = 0;
	memset(&e->errors, 0, sizeof(e->errors));
	for (struct cmd_row *row = e->rows; row != NULL; row = row->next) {
		forget_row(row);
		for (struct cmd_row *sub = row->sub; sub != NULL; sub = sub->next)
			forget_row(sub);
	}
}

/* ---- refusing ---- */

/* A command that will not run: the transaction it stood in is spoilt, and EXEC itself ends its transaction. */
static void reject(struct session *s, struct cmd_row *row, struct reply *r, const char *error)
{
	if (s->flags & SESSION_MULTI)
		s->flags |= SESSION_DIRTY_EXEC;
	if (row != NULL)
		row->stats.rejected++;
	if (row != NULL && row->c.fn == cmd_exec)
		multi__abort(s, r, error);
	else
		reply_error(r, error);
}

/* What Redis shows of a client's bytes inside an error: up to a zero byte, at most 128. */
static int shown(struct bytes b, int max)
{
	size_t n = strnlen(b.n ? b.p : "", b.n);
	return n < (size_t)max ? (int)n : max;
}

static void reject_unknown(struct engine *e, struct session *s, const struct bytes *argv, uint32_t argc,
	struct reply *r)
{
	char error[400];
	const struct cmd *container = engine_find(e, argv[0]);
	if (container != NULL && memchr(argv[0].p, '|', argv[0].n) == NULL) {
		char name[32];
		size_t n = strlen(container->name);
		for (size_t i = 0; i <= n; i++)
			name[i] = (char)toupper((unsigned char)container->name[i]);
		snprintf(error, sizeof(error), "ERR unknown subcommand '%.*s'. Try %s HELP.", shown(argv[1], 128), argv[1].p,
			name);
		reject(s, NULL, r, error);
		return;
	}
	char args[160];
	int n = 0;
	args[0] = '\0';
	for (uint32_t i = 1; i < argc && n < 128; i++)
		n += snprintf(args + n, sizeof(args) - (size_t)n, "'%.*s' ", shown(argv[i], 128 - n), argv[i].p);
	snprintf(error, sizeof(error), "ERR unknown command '%.*s', with args beginning with: %s", shown(argv[0], 128),
		argv[0].p, args);
	reject(s, NULL, r, error);
}

static void reject_arity(struct session *s, struct cmd_row *row, struct reply *r)
{
	char error[128];
	snprintf(error, sizeof(error), "ERR wrong number of arguments for '%s' command", row->full);
	reject(s, row, r, error);
}

static void reject_unwritable(struct engine *e, struct session *s, struct cmd_row *row, struct reply *r)
{
	char error[400];
	snprintf(error, sizeof(error), "MISCONF Errors writing to the pool: %.200s. Commands that may change the dataset "
		"are refused until it can be written again.", e->write_error);
	reject(s, row, r, error);
}

/* ---- running ---- */

void engine__call(struct engine *e, struct session *s, struct cmd_row *row, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r)
{
	struct call c = {.e = e, .ks = e->ks, .s = s, .r = r, .argv = argv, .argc = argc, .cmd = &row->c, .db = s->db,
		.in_exec = e->in_exec, .key1_hash = key1_hash, .hashed = hashed};
	uint64_t start = e->last_stamp; /* what runs inside (EXEC) moves it */
	e->errors.seen = e->errors.total;
	row->c.fn(&c);
	e->commands++;
	row->stats.calls++;
	if (UNLIKELY(e->errors.total != e->errors.seen)) {
		row->stats.failed++;
		e->errors.seen = e->errors.total;
	}
	if (e->timing) {
		uint64_t now = stamp_now(&e->stamp);
		uint64_t ns = stamp_span(&e->stamp, start, now);
		row->stats.ns += ns;
		e->last_stamp = now;
		if (e->latencies) {
			if (UNLIKELY(row->latency == NULL))
				engine__latency_start(row);
			latency_add(row->latency, ns);
		}
	}
}

/* The checks that only some commands or sessions meet. False: refused, answered. */
static bool admit(struct engine *e, struct session *s, struct cmd_row *row, struct reply *r)
{
	uint32_t flags = row->c.flags;
	if (flags & CMD_PROTECTED && e->ops.refuse != NULL) {
		const char *error = e->ops.refuse(e->ops.ctx, s, &row->c);
		if (error != NULL) {
			reject(s, row, r, error);
			return false;
		}
	}
	if (e->locked && !s->authenticated && !(flags & CMD_NO_AUTH)) {
		reject(s, row, r, "NOAUTH Authentication required.");
		return false;
	}
	if (s->flags & SESSION_MULTI && flags & CMD_NO_MULTI) {
		reject(s, row, r, "ERR Command not allowed inside a transaction");
		return false;
	}
	if (e->write_error != NULL && session_would_write(s, &row->c)) {
		reject_unwritable(e, s, row, r);
		return false;
	}
	if (row->c.fn == NULL) {
		reject_arity(s, row, r);
		return false;
	}
	return true;
}

static void run(struct engine *e, struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r)
{
	if (cmd == NULL)
		cmd = engine_resolve(e, argv, argc);
	s->last_ms = e->now_ms;
	s->last_cmd = cmd;
	s->commands++;
	if (UNLIKELY(cmd == NULL)) {
		reject_unknown(e, s, argv, argc, r);
		return;
	}
	struct cmd_row *row = row_of(cmd);
	int arity = cmd->arity;
	if (UNLIKELY(arity >= 0 ? argc != (uint32_t)arity : argc < (uint32_t)-arity)) {
		reject_arity(s, row, r);
		return;
	}
	bool special = (cmd->flags & CMD_PROTECTED) | e->locked | (s->flags & SESSION_MULTI) | (e->write_error != NULL)
		| (cmd->fn == NULL);
	if (UNLIKELY(special)) {
		if (!admit(e, s, row, r))
			return;
		if (s->flags & SESSION_MULTI && !(cmd->flags & CMD_TX_NOW)) {
			multi__queue(s, cmd, argv, argc, r);
			return;
		}
	}
	engine__call(e, s, row, argv, argc, key1_hash, hashed, r);
}

void engine_run(struct engine *e, struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r)
{
	r->stats = &e->errors;
	if (LIKELY(s->reply_mode == REPLY_ON)) {
		run(e, s, cmd, argv, argc, key1_hash, hashed, r);
	} else {
		size_t mark = r->ops->mark(r);
		run(e, s, cmd, argv, argc, key1_hash, hashed, r);
		if (s->reply_mode != REPLY_ON) /* CLIENT REPLY ON itself answers */
			r->ops->rewind(r, mark);
		if (s->reply_mode == REPLY_SKIP)
			s->reply_mode = REPLY_ON;
	}
	if (UNLIKELY(s->reply_mode == REPLY_SKIP_NEXT))
		s->reply_mode = REPLY_SKIP;
}
