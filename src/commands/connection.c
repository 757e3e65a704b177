/* PING ECHO QUIT RESET AUTH HELLO SELECT: commands about the connection itself. */
#include "commands/internal.h"

#include "base/num.h"
#include "base/version.h"

#include <limits.h>

#define WRONGPASS "WRONGPASS invalid username-password pair or user is disabled."

static void cmd_ping(struct call *c)
{
	if (c->argc > 2)
		reply_arity(c->r, BYTES_LIT("ping"));
	else if (c->argc == 2)
		reply_bulk(c->r, c->argv[1]);
	else
		c->r->ops->status(c->r, BYTES_LIT("PONG"));
}

static void cmd_echo(struct call *c)
{
	reply_bulk(c->r, c->argv[1]);
}

static void cmd_quit(struct call *c)
{
	reply_ok(c->r);
	c->s->ops->close_after_reply(c->s);
}

static void cmd_reset(struct call *c)
{
	session_reset(c->s);
	c->r->resp = c->s->resp;
	c->r->ops->status(c->r, BYTES_LIT("RESET"));
}

static void cmd_select(struct call *c)
{
	int64_t db;
	if (!call_i64(c, 1, &db))
		return;
	if (db < INT_MIN || db > INT_MAX)
		reply_errorf(c->r, "ERR value is out of range, value must between %d and %d", INT_MIN, INT_MAX);
	else if (db < 0 || db >= ks_databases(c->ks))
		reply_error(c->r, "ERR DB index is out of range");
	else {
		c->s->db = (unsigned)db;
		reply_ok(c->r);
	}
}

static void cmd_auth(struct call *c)
{
	if (c->argc > 3) {
		reply_syntax(c->r);
		return;
	}
	if (c->argc == 2 && !engine_password_needed(c->e)) {
		reply_error(c->r, "ERR AUTH <password> called without any password configured for the default user. "
			"Are you sure your configuration is correct?");
		return;
	}
	struct bytes user = c->argc == 3 ? c->argv[1] : BYTES_LIT("default");
	if (session_auth(c->s, user, c->argv[c->argc - 1]))
		reply_ok(c->r);
	else
		reply_error(c->r, WRONGPASS);
}

/* ---- HELLO ---- */

struct hello {
	int64_t protover;            /* 0: as it is */
	const struct bytes *auth;    /* user and password, or NULL */
	const struct bytes *name;
};

/* False: an error was sent. */
static bool hello_parse(struct call *c, struct hello *h)
{
	if (c->argc >= 2) {
		if (!num_i64(c->argv[1], &h->protover)) {
			reply_error(c->r, "ERR Protocol version is not an integer or out of range");
			return false;
		}
		if (h->protover < 2 || h->protover > 3) {
			reply_error(c->r, "NOPROTO unsupported protocol version");
			return false;
		}
	}
	for (uint32_t i = 2; i < c->argc; i++) {
		uint32_t more = c->argc - 1 - i;
		if (call_arg_is(c, i, "AUTH") && more >= 2) {
			h->auth = &c->argv[i + 1];
			i += 2;
		} else if (call_arg_is(c, i, "SETNAME") && more >= 1) {
			h->name = &c->argv[i + 1];
			i += 1;
		} else {
			reply_errorf(c->r, "ERR Syntax error in HELLO option '%.*s'", (int)strnlen(c->argv[i].p, c->argv[i].n),
				c->argv[i].p);
			return false;
		}
	}
	return true;
}

static void cmd_hello(struct call *c)
{
	struct session *s = c->s;
	struct hello h = {0};
	if (!hello_parse(c, &h))
		return;
	if (h.auth != NULL && !session_auth(s, h.auth[0], h.auth[1])) {
		reply_error(c->r, WRONGPASS);
		return;
	}
	if (engine_password_needed(c->e) && !s->authenticated) {
		reply_error(c->r, "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
			"<proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol "
			"version at the same time");
		return;
	}
	const char *error = h.name == NULL ? NULL : session_set_name(s, *h.name);
	if (error != NULL) {
		reply_error(c->r, error);
		return;
	}
	if (h.protover != 0)
		s->resp = c->r->resp = (int)h.protover;
	reply_map(c->r, 7);
	reply_str(c->r, "server");
	reply_str(c->r, "redis");
	reply_str(c->r, "version");
	reply_str(c->r, PERDURE_REDIS_VERSION);
	reply_str(c->r, "proto");
	reply_i64(c->r, s->resp);
	reply_str(c->r, "id");
	reply_i64(c->r, (int64_t)s->id);
	reply_str(c->r, "mode");
	reply_str(c->r, "standalone");
	reply_str(c->r, "role");
	reply_str(c->r, "master");
	reply_str(c->r, "modules");
	reply_array(c->r, 0);
}

#define ANYTIME (CMD_LOADING | CMD_STALE | CMD_FAST)
#define BEFORE_AUTH (ANYTIME | CMD_NOSCRIPT | CMD_NO_AUTH | CMD_ALLOW_BUSY | CMD_GATHER_STOP)
const struct cmd cmd_table_connection[] = {
	{CMD("ping", -1, cmd_ping, CMD_FAST, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Answers PONG, or the message."),
	 .tips = TIPS("request_policy:all_shards", "response_policy:all_succeeded"),
	 .args = ARGS(A("message", STRING, A_OPT))},
	{CMD("echo", 2, cmd_echo, ANYTIME, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Answers the message."),
	 .args = ARGS(A("message", STRING))},
	{CMD("quit", -1, cmd_quit, BEFORE_AUTH | CMD_TX_NOW, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Closes the connection once all answers are sent.")},
	{CMD("reset", 1, cmd_reset, BEFORE_AUTH | CMD_TX_NOW, ACL_CONNECTION),
	 DOC("connection", "6.2.0", "O(1)", "Makes the connection as it was when it was new.")},
	{CMD("auth", -2, cmd_auth, BEFORE_AUTH, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Logs the connection in."),
	 .history = HISTORY({"6.0.0", "A user may be named before the password."}),
	 .args = ARGS(A("username", STRING, A_OPT, A_SINCE("6.0.0")), A("password", STRING))},
	{CMD("hello", -1, cmd_hello, BEFORE_AUTH, ACL_CONNECTION),
	 DOC("connection", "6.0.0", "O(1)",
		"Chooses the protocol version, logs in and names the connection, all optional."),
	 .history = HISTORY({"6.2.0", "Without `protover` nothing is changed; the connection is described."}),
	 .args = ARGS(A("arguments", BLOCK, A_OPT, A_SUB(
		A("protover", INTEGER),
		A("username_password", BLOCK, A_OPT, A_TOKEN("AUTH"), A_SUB(A("username", STRING), A("password", STRING))),
		A("clientname", STRING, A_OPT, A_TOKEN("SETNAME")))))},
	{CMD("select", 2, cmd_select, ANYTIME, ACL_CONNECTION),
	 DOC("connection", "1.0.0", "O(1)", "Chooses the database that the connection works on."),
	 .args = ARGS(A("index", INTEGER))},
	CMD_END
};
