/* CONFIG GET, SET, REWRITE, RESETSTAT. */
#include "server/inner.h"
#include "server/rows.h"

struct emit {
	struct reply *r;
	int64_t pairs;
};

static void emit_pair(void *ctx, const char *name, struct bytes value)
{
	struct emit *e = ctx;
	reply_str(e->r, name);
	reply_bulk(e->r, value);
	e->pairs++;
}

static void config_get(struct call *c)
{
	struct emit e = {c->r, 0};
	size_t mark = c->r->ops->open(c->r);
	config_match(srv_of(c)->cfg, c->argv + 2, c->argc - 2, emit_pair, &e);
	c->r->ops->close(c->r, mark, '%', e.pairs);
}

/* enable-protected-configs local: clients of other machines may not. */
static bool protected_from(struct call *c)
{
	struct srv *srv = srv_of(c);
	if (config_i(srv->cfg, CFG_ENABLE_PROTECTED_CONFIGS) != 2 || srv__client_local(client_of(c->s)))
		return false;
	for (uint32_t i = 2; i < c->argc; i += 2) {
		if (!config_protected(c->argv[i]))
			continue;
		reply_errorf(c->r,
			"ERR CONFIG SET failed (possibly related to argument '%.*s') - can't set protected config",
			(int)c->argv[i].n, c->argv[i].p);
		return true;
	}
	return false;
}

static void config_set_cmd(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct buf err = {0};
	if (c->argc % 2) {
		reply_syntax(c->r);
		return;
	}
	if (protected_from(c))
		return;
	buf_adds(&err, "ERR ");
	if (config_set(srv->cfg, srv, c->argv + 2, (c->argc - 2) / 2, &err)) {
		reply_ok(c->r);
	} else {
		buf_add(&err, "", 1);
		reply_error(c->r, err.p);
	}
	buf_free(&err);
}

static void config_rewrite_cmd(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct buf err = {0};
	if (!config_file(srv->cfg)) {
		reply_error(c->r, "ERR The server is running without a config file");
		return;
	}
	if (config_rewrite(srv->cfg, config_file(srv->cfg), &err)) {
		log_msg(LOG_NOTICE, "CONFIG REWRITE executed with success.");
		reply_ok(c->r);
	} else {
		buf_add(&err, "", 1);
		log_msg(LOG_WARNING, "CONFIG REWRITE failed: %s", err.p);
		reply_errorf(c->r, "ERR Rewriting config file: %s", err.p);
	}
	buf_free(&err);
}

static void config_resetstat(struct call *c)
{
	srv__stats_reset(srv_of(c));
	reply_ok(c->r);
}

static void config_help(struct call *c)
{
	static const char *const lines[] = {
		"GET <pattern> [<pattern> ...]",
		"    Answers the parameters whose names match, with their values.",
		"SET <directive> <value> [<directive> <value> ...]",
		"    Changes parameters: all of them, or none.",
		"RESETSTAT",
		"    Sets the counters of INFO back.",
		"REWRITE",
		"    Writes the values in force into the configuration file.",
		NULL,
	};
	reply_help(c->r, "CONFIG", lines);
}

#define ADMIN (CMD_ADMIN | CMD_ANYTIME)

static const struct cmd config_subs[] = {
	{ROW("get", -3, config_get, ADMIN, 0),
		ROW_DOC("server", "2.0.0", "O(N) with the number of parameters", "Answers the values of parameters."),
		ROW_ARGS(ARG("parameter", STRING, .flags = ARG_MULTIPLE)), ROW_HISTORY({"7.0.0", "Takes several patterns."})},
	{ROW("help", 2, config_help, CMD_LOADING | CMD_STALE, 0),
		ROW_DOC("server", "5.0.0", "O(1)", "Explains the subcommands.")},
	{ROW("resetstat", 2, config_resetstat, ADMIN, 0), ROW_DOC("server", "2.0.0", "O(1)", "Sets counters back."),
		ROW_TIPS("request_policy:all_nodes", "response_policy:all_succeeded")},
	{ROW("rewrite", 2, config_rewrite_cmd, ADMIN, 0),
		ROW_DOC("server", "2.8.0", "O(1)", "Writes the values in force into the configuration file."),
		ROW_TIPS("request_policy:all_nodes", "response_policy:all_succeeded")},
	{ROW("set", -4, config_set_cmd, ADMIN, 0),
		ROW_DOC("server", "2.0.0", "O(N) with the number of parameters", "Changes parameters while the server runs."),
		ROW_ARGS(ARG("data", BLOCK, .flags = ARG_MULTIPLE, ARG_SUB(ARG("parameter", STRING), ARG("value", STRING)))),
		ROW_HISTORY({"7.0.0", "Takes several parameters."}),
		ROW_TIPS("request_policy:all_nodes", "response_policy:all_succeeded")},
	ROW_END};

const struct cmd srv__config_cmds[] = {
	{ROW("config", -2, NULL, 0, 0),
		ROW_DOC("server", "2.0.0", "Depends on the subcommand.", "Commands about the configuration."),
		.subs = config_subs},
	ROW_END};
