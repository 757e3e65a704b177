/* The loop's frame: when a turn gathers, when it executes, when it may sleep, and how it ends.
 *
 *	prepare: gather what clients have left over          (then poll: read callbacks gather what arrives)
 *	check:   the tick
 *
 * The poll does not block while anything is left to do (an idle handle is on then). */
#include "server/inner.h"

#include "base/check.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

#define FAREWELL_MS 1000 /* what a stopping server gives slow readers */

int64_t srv__now_ms(const struct srv *srv)
{
	return engine_now(srv->e);
}

static void on_idle(uv_idle_t *h)
{
	(void)h;
}

static void set_idle(struct srv *srv, bool on)
{
	if (on == srv->idle_on)
		return;
	srv->idle_on = on;
	if (on)
		uv_idle_start(&srv->idle, on_idle);
	else
		uv_idle_stop(&srv->idle);
}

static void on_timer(uv_timer_t *h)
{
	struct srv *srv = SRV_CONTAINER(h, struct srv, expiry);
	srv->expiry_at = INT64_MAX; /* the turn that follows looks */
}

/* Whether keys are due, and a timer for when the next ones will be. */
static bool keys_due(struct srv *srv)
{
	int64_t next = srv->pause_until_ms ? srv->pause_until_ms - 1 : ks_next_deadline(srv->ks);
	if (next == INT64_MAX)
		return false;
	int64_t now = clock_ms();
	if (next < now)
		return srv->pause_until_ms || !srv->pool.write_error(srv->pool.ctx); /* else nothing can expire yet */
	if (next != srv->expiry_at) {
		srv->expiry_at = next;
		uv_update_time(&srv->loop);
		uv_timer_start(&srv->expiry, on_timer, (uint64_t)(next - now + 1), 0);
	}
	return false;
}

static void on_prepare(uv_prepare_t *h)
{
	struct srv *srv = SRV_CONTAINER(h, struct srv, prepare);
	srv->turn++;
	if (!link_empty(&srv->pending))
		srv__gather_pending(srv);
	set_idle(srv, srv->tick.n > 0 || !link_empty(&srv->pending) || srv->tick.more_work || keys_due(srv));
}

static void on_check(uv_check_t *h)
{
	struct srv *srv = SRV_CONTAINER(h, struct srv, check);
	if (srv->tick.n > 0)
		srv__tick(srv);
	else if (srv->idle_on && link_empty(&srv->pending))
		srv__tick_idle(srv);
}

static void on_wake(uv_async_t *h)
{
	srv__out_release(SRV_CONTAINER(h, struct srv, wake));
}

void srv_wake(void *p)
{
	struct srv *srv = p;
	uv_async_send(&srv->wake);
}

static void on_cron(uv_timer_t *h)
{
	srv__cron(SRV_CONTAINER(h, struct srv, cron));
}

void srv__cron_start(struct srv *srv)
{
	uint64_t hz = (uint64_t)config_i(srv->cfg, CFG_HZ);
	uint64_t every = 1000 / (hz < 1 ? 1 : hz);
	uv_timer_start(&srv->cron, on_cron, every, every);
}

/* ---- stopping ---- */

void srv__stop(struct srv *srv, int exit_code)
{
	srv->exit_code = exit_code;
	srv->stopping = true;
	uv_stop(&srv->loop);
}

bool srv__may_stop(struct srv *srv, bool force)
{
	const char *why = srv->pool.write_error(srv->pool.ctx);
	if (!why || force)
		return true;
	log_msg(LOG_WARNING, "Not stopping: the last writes are not on the medium (%s). SHUTDOWN FORCE stops all the same.",
		why);
	return false;
}

static void on_signal(uv_signal_t *h, int sig)
{
	struct srv *srv = h->data;
	int64_t how = config_i(srv->cfg, sig == SIGINT ? CFG_SHUTDOWN_ON_SIGINT : CFG_SHUTDOWN_ON_SIGTERM);
	if (srv->stopping || (sig == SIGINT && srv->interrupted)) {
		log_msg(LOG_WARNING, "A second signal: leaving at once.");
		_exit(1);
	}
	srv->interrupted = sig == SIGINT;
	log_msg(LOG_WARNING, "Received %s, stopping.", sig == SIGINT ? "SIGINT" : "SIGTERM");
	if (srv__may_stop(srv, (how & (2 | 8)) != 0))
		srv__stop(srv, 0);
}

static void on_farewell_over(uv_timer_t *h)
{
	SRV_CONTAINER(h, struct srv, cron)->stopping = true;
	uv_stop(h->loop);
}

static bool any_output(const struct srv *srv)
{
	for (const struct link *l = srv->all.next; l != &srv->all; l = l->next)
		if (SRV_CONTAINER(l, struct client, all)->out.n > 0)
			return true;
	return false;
}

/* Lets out what may leave, for a while; no input is read any more. */
static void farewell(struct srv *srv)
{
	for (struct link *l = srv->all.next; l != &srv->all; l = l->next)
		srv__gather_stop(SRV_CONTAINER(l, struct client, all));
	uv_check_stop(&srv->check);
	uv_prepare_stop(&srv->prepare);
	set_idle(srv, false);
	srv->stopping = false;
	uv_timer_start(&srv->cron, on_farewell_over, FAREWELL_MS, 0);
	while (any_output(srv) && !srv->stopping)
		uv_run(&srv->loop, UV_RUN_ONCE);
	srv->stopping = true;
}

static void close_all(struct srv *srv)
{
	while (!link_empty(&srv->all)) {
		for (struct link *l = srv->all.next, *next; l != &srv->all; l = next) {
			next = l->next;
			srv__client_close(SRV_CONTAINER(l, struct client, all));
		}
		uv_run(&srv->loop, UV_RUN_NOWAIT);
	}
}

int srv_run(struct srv *srv)
{
	uv_prepare_start(&srv->prepare, on_prepare);
	uv_check_start(&srv->check, on_check);
	uv_signal_start(&srv->sig_int, on_signal, SIGINT);
	uv_signal_start(&srv->sig_term, on_signal, SIGTERM);
	srv__cron_start(srv);
	srv__stats_begin(srv);
	while (!srv->stopping)
		uv_run(&srv->loop, UV_RUN_DEFAULT);
	srv__listen_close(srv);
	if (*config_s(srv->cfg, CFG_UNIXSOCKET))
		remove(config_s(srv->cfg, CFG_UNIXSOCKET));
	farewell(srv);
	close_all(srv);
	return srv->exit_code;
}

/* ---- birth and death ---- */

static void random_hex(char out[41])
{
	uint8_t raw[20];
	rng_secure(raw, sizeof raw);
	for (size_t i = 0; i < sizeof raw; i++)
		snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

void srv__new_repl_id(struct srv *srv)
{
	random_hex(srv->repl_id);
}

struct srv *srv_new(struct config *cfg)
{
	struct srv *srv = mem_zalloc(sizeof *srv);
	srv->cfg = cfg;
	srv->expiry_at = INT64_MAX;
	link_init(&srv->all);
	link_init(&srv->pending);
	link_init(&srv->outs);
	link_init(&srv->waiting);
	link_init(&srv->dead);
	link_init(&srv->paused);
	random_hex(srv->run_id);
	random_hex(srv->repl_id);
	CHECK(uv_loop_init(&srv->loop) == 0);
	uv_prepare_init(&srv->loop, &srv->prepare);
	uv_check_init(&srv->loop, &srv->check);
	uv_idle_init(&srv->loop, &srv->idle);
	uv_timer_init(&srv->loop, &srv->cron);
	uv_timer_init(&srv->loop, &srv->expiry);
	uv_signal_init(&srv->loop, &srv->sig_int);
	uv_signal_init(&srv->loop, &srv->sig_term);
	CHECK(uv_async_init(&srv->loop, &srv->wake, on_wake) == 0);
	srv->sig_int.data = srv->sig_term.data = srv;
	srv__gather_init(srv);
	srv__out_init(srv);
	srv__sink_init(srv);
	return srv;
}

static struct reply *ops_push(struct session *s)
{
	struct client *c = client_of(s);
	struct sink *k = &c->srv->push;
	k->c = c;
	k->r.resp = s->resp;
	return &k->r;
}

static void ops_close_after_reply(struct session *s)
{
	srv__client_close_after_reply(client_of(s));
}

static void ops_kill(struct session *s)
{
	srv__client_kill(client_of(s));
}

/* DEBUG and MODULE are for those whom the configuration names. */
static const char *refuse(void *ctx, const struct session *s, const struct cmd *cmd)
{
	struct srv *srv = ctx;
	const struct cmd *top = engine_parent(cmd) ? engine_parent(cmd) : cmd;
	bool module = strcmp(top->name, "module") == 0;
	int64_t allowed = config_i(srv->cfg, module ? CFG_ENABLE_MODULE_COMMAND : CFG_ENABLE_DEBUG_COMMAND);
	if (allowed == 1 || (allowed == 2 && srv__client_local(client_of((struct session *)(uintptr_t)s))))
		return NULL;
	return module
		? "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can "
		  "run it from a local connection, otherwise you need to set this option in the configuration file, "
		  "and then restart the server."
		: "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run "
		  "it from a local connection, otherwise you need to set this option in the configuration file, and "
		  "then restart the server.";
}

void srv_attach(struct srv *srv, struct engine *e, const struct srv_pool *pool)
{
	const struct engine_ops ops = {.ctx = srv, .refuse = refuse};
	srv->e = e;
	srv->ks = engine_ks(e);
	srv->pool = *pool;
	srv->session_ops =
		(struct session_ops){.push = ops_push, .close_after_reply = ops_close_after_reply, .kill = ops_kill};
	engine_set_ops(e, &ops);
	engine_set_password(e, bytes_of(config_s(srv->cfg, CFG_REQUIREPASS)));
	engine_register(e, srv__client_cmds);
	engine_register(e, srv__config_cmds);
	engine_register(e, srv__info_cmds);
	engine_register(e, srv__shutdown_cmds);
	engine_register(e, srv__debug_cmds);
	engine_register(e, srv__memory_cmds);
	srv__rename_load(srv);
	config__apply_limits(srv);
	config__apply_latency(srv);
}

enum err srv_listen(struct srv *srv, struct errinfo *ei)
{
	char why[256];
	srv__limit_files(srv);
	if (!srv__listen_open(srv, why, sizeof why))
		return err_set(ei, ERR_IO, "Could not start: %s", why);
	return ERR_OK;
}

static void close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

void srv_free(struct srv *srv)
{
	if (!srv)
		return;
	srv__listen_close(srv);
	uv_run(&srv->loop, UV_RUN_NOWAIT);
	uv_walk(&srv->loop, close_handle, NULL);
	while (uv_run(&srv->loop, UV_RUN_NOWAIT))
		;
	uv_loop_close(&srv->loop);
	srv__out_fini(srv);
	srv__gather_fini(srv);
	srv__rename_free(srv);
	mem_free(srv->listen_bind);
	mem_free(srv);
}
