/* CLIENT: its table and the subcommands that take a line or two. */
#include "server/client_cmds.h"
#include "server/rows.h"

static void client_id(struct call *c)
{
	reply_i64(c->r, (int64_t)c->s->id);
}

static void client_getname(struct call *c)
{
	if (c->s->name.n)
		reply_bulk(c->r, buf_bytes(&c->s->name));
	else
		reply_null(c->r);
}

static void client_setname(struct call *c)
{
	const char *e = session_set_name(c->s, c->argv[2]);
	if (e)
		reply_error(c->r, e);
	else
		reply_ok(c->r);
}

static void client_setinfo(struct call *c)
{
	bool lib = call_arg_is(c, 2, "lib-name");
	if (!lib && !call_arg_is(c, 2, "lib-ver")) {
		reply_errorf(c->r, "ERR Unrecognized option '%.*s'", (int)c->argv[2].n, c->argv[2].p);
		return;
	}
	struct bytes v = c->argv[3];
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] < '!' || v.p[i] > '~') {
			reply_errorf(
				c->r, "ERR %s cannot contain spaces, newlines or special characters.", lib ? "lib-name" : "lib-ver");
			return;
		}
	struct buf *to = lib ? &c->s->lib_name : &c->s->lib_ver;
	buf_free(to);
	if (v.n)
		buf_add(to, v.p, v.n);
	reply_ok(c->r);
}

static void client_pause(struct call *c)
{
	struct srv *srv = srv_of(c);
	int64_t ms;
	bool writes_only = false;
	if (c->argc > 4) {
		reply_syntax(c->r);
		return;
	}
	if (c->argc == 4) {
		writes_only = call_arg_is(c, 3, "write");
		if (!writes_only && !call_arg_is(c, 3, "all")) {
			reply_error(c->r, "ERR CLIENT PAUSE mode must be WRITE or ALL");
			return;
		}
	}
	if (!num_i64(c->argv[2], &ms)) {
		reply_error(c->r, "ERR timeout is not an integer or out of range");
		return;
	}
	if (ms < 0) {
		reply_error(c->r, "ERR timeout is negative");
		return;
	}
	if (ms > INT64_MAX - srv__now_ms(srv)) {
		reply_error(c->r, "ERR timeout is out of range");
		return;
	}
	srv__pause(srv, srv__now_ms(srv) + ms, writes_only);
	reply_ok(c->r);
}

static void client_unpause(struct call *c)
{
	srv__unpause(srv_of(c));
	reply_ok(c->r);
}

static void client_reply(struct call *c)
{
	if (call_arg_is(c, 2, "on")) {
		c->s->reply_mode = REPLY_ON;
		reply_ok(c->r);
	} else if (call_arg_is(c, 2, "off")) {
		c->s->reply_mode = REPLY_OFF;
	} else if (call_arg_is(c, 2, "skip")) {
		if (c->s->reply_mode != REPLY_OFF)
			c->s->reply_mode = REPLY_SKIP_NEXT;
	} else {
		reply_syntax(c->r);
	}
}

static void set_flag(struct call *c, uint32_t flag)
{
	if (call_arg_is(c, 2, "on")) {
		c->s->flags |= flag;
	} else if (call_arg_is(c, 2, "off")) {
		c->s->flags &= ~flag;
	} else {
		reply_syntax(c->r);
		return;
	}
	reply_ok(c->r);
}

static void client_no_evict(struct call *c)
{
	set_flag(c, SESSION_NO_EVICT);
}

static void client_no_touch(struct call *c)
{
	set_flag(c, SESSION_NO_TOUCH);
}

static void client_unblock(struct call *c)
{
	int64_t id;
	if (c->argc > 4) {
		reply_syntax(c->r);
		return;
	}
	if (c->argc == 4 && !call_arg_is(c, 3, "timeout") && !call_arg_is(c, 3, "error")) {
		reply_error(c->r, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
		return;
	}
	if (!call_i64(c, 2, &id))
		return;
	/* no command blocks yet, and one that waits in a pause is none of these */
	reply_i64(c->r, 0);
}

static void client_getredir(struct call *c)
{
	reply_i64(c->r, -1);
}

static void client_trackinginfo(struct call *c)
{
	reply_map(c->r, 3);
	reply_str(c->r, "flags");
	reply_set(c->r, 1);
	reply_str(c->r, "off");
	reply_str(c->r, "redirect");
	reply_i64(c->r, -1);
	reply_str(c->r, "prefixes");
	reply_array(c->r, 0);
}

static void client_help(struct call *c)
{
	static const char *const lines[] = {
		"GETNAME",
		"    Answers the name of this connection.",
		"GETREDIR",
		"    Answers the ID of the client that gets this one's invalidations, -1 for none.",
		"ID",
		"    Answers the ID of this connection.",
		"INFO",
		"    Describes this connection.",
		"KILL <ip:port>",
		"    Closes the connection from this address.",
		"KILL <option> <value> [<option> <value> [...]]",
		"    Closes every connection that fits all of these:",
		"    * ADDR (<ip:port>|<unixsocket>:0), LADDR (<ip:port>|<unixsocket>:0)",
		"      Its address, or the server's address it came to.",
		"    * ID <client-id>, USER <username>, TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
		"    * MAXAGE <seconds>",
		"      At least this old.",
		"    * SKIPME (YES|NO)",
		"      Whether this connection stays open all the same (it does by default).",
		"LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB) | ID <client-id> [<client-id> ...]]",
		"    Describes connections, one a line.",
		"NO-EVICT (ON|OFF)",
		"    Keeps this connection open when client memory runs short.",
		"NO-TOUCH (ON|OFF)",
		"    Commands of this connection leave the access times of keys alone.",
		"PAUSE <timeout> [WRITE|ALL]",
		"    Lets commands (or only those that write) wait for this many milliseconds.",
		"REPLY (ON|OFF|SKIP)",
		"    Whether this connection is answered; SKIP: all but the next command.",
		"SETINFO (LIB-NAME|LIB-VER) <value>",
		"    Says which client library this is.",
		"SETNAME <name>",
		"    Names this connection.",
		"TRACKINGINFO",
		"    Says how this connection uses client side caching.",
		"UNBLOCK <clientid> [TIMEOUT|ERROR]",
		"    Wakes a client that waits in a blocking command.",
		"UNPAUSE",
		"    Ends the pause.",
		NULL,
	};
	reply_help(c->r, "CLIENT", lines);
}

#define ON_OFF(name_) ROW_ARGS(ARG_ONE_OF(name_, ARG_WORD("on", "ON"), ARG_WORD("off", "OFF")))
#define TYPES \
	ARG_SUB(ARG_WORD("normal", "NORMAL"), ARG_WORD("master", "MASTER"), ARG_WORD("replica", "REPLICA"), \
		ARG_WORD("pubsub", "PUBSUB"))
#define ADMIN (CMD_ADMIN | CMD_ANYTIME)

static const struct cmd_arg kill_filters[] = {
	ARG("client-id", INTEGER, .token = "ID", .since = "2.8.12", .flags = ARG_OPTIONAL),
	ARG("client-type", ONEOF, .token = "TYPE", .since = "2.8.12", .flags = ARG_OPTIONAL, TYPES),
	ARG("username", STRING, .token = "USER", .flags = ARG_OPTIONAL),
	ARG("addr", STRING, .token = "ADDR", .flags = ARG_OPTIONAL),
	ARG("laddr", STRING, .token = "LADDR", .since = "6.2.0", .flags = ARG_OPTIONAL),
	ARG("skipme", ONEOF, .token = "SKIPME", .flags = ARG_OPTIONAL,
		ARG_SUB(ARG_WORD("yes", "YES"), ARG_WORD("no", "NO"))),
	ARG("maxage", INTEGER, .token = "MAXAGE", .since = "7.4.0", .flags = ARG_OPTIONAL), {.name = NULL}};

static const struct cmd client_subs[] = {
	{ROW("getname", 2, client_getname, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "2.6.9", "O(1)", "Answers the name of the connection.")},
	{ROW("getredir", 2, client_getredir, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "6.0.0", "O(1)", "Answers which client gets this one's invalidation messages.")},
	{ROW("help", 2, client_help, CMD_LOADING | CMD_STALE, ACL_CONNECTION),
		ROW_DOC("connection", "5.0.0", "O(1)", "Explains the subcommands.")},
	{ROW("id", 2, client_id, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "5.0.0", "O(1)", "Answers the connection's ID.")},
	{ROW("info", 2, srv__cmd_client_info, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "6.2.0", "O(1)", "Describes the connection."), ROW_TIPS("nondeterministic_output")},
	{ROW("kill", -3, srv__cmd_client_kill, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "2.4.0", "O(N) with the number of clients", "Closes connections."),
		ROW_ARGS(ARG("filter", ONEOF,
			ARG_SUB(ARG("old-format", STRING, .deprecated_since = "2.8.12"),
				ARG("new-format", ONEOF, .flags = ARG_MULTIPLE, .sub = kill_filters))))},
	{ROW("list", -2, srv__cmd_client_list, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "2.4.0", "O(N) with the number of clients", "Describes all connections, or some."),
		ROW_ARGS(ARG("client-type", ONEOF, .token = "TYPE", .since = "5.0.0", .flags = ARG_OPTIONAL, TYPES),
			ARG("client-id", INTEGER, .token = "ID", .since = "6.2.0", .flags = ARG_OPTIONAL | ARG_MULTIPLE)),
		ROW_TIPS("nondeterministic_output")},
	{ROW("no-evict", 3, client_no_evict, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "7.0.0", "O(1)", "Keeps the connection from being evicted."), ON_OFF("enabled")},
	{ROW("no-touch", 3, client_no_touch, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "7.2.0", "O(1)", "Lets the connection's commands leave access times alone."),
		ON_OFF("enabled")},
	{ROW("pause", -3, client_pause, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "3.0.0", "O(1)", "Lets the commands of clients wait for a while."),
		ROW_ARGS(ARG("timeout", INTEGER),
			ARG("mode", ONEOF, .since = "6.2.0", .flags = ARG_OPTIONAL,
				ARG_SUB(ARG_WORD("write", "WRITE"), ARG_WORD("all", "ALL"))))},
	{ROW("reply", 3, client_reply, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "3.2.0", "O(1)", "Sets whether commands are answered."),
		ROW_ARGS(ARG_ONE_OF("action", ARG_WORD("on", "ON"), ARG_WORD("off", "OFF"), ARG_WORD("skip", "SKIP")))},
	{ROW("setinfo", 4, client_setinfo, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "7.2.0", "O(1)", "Records the client library's name or version."),
		ROW_ARGS(
			ARG_ONE_OF("attr", ARG("libname", STRING, .token = "LIB-NAME"), ARG("libver", STRING, .token = "LIB-VER"))),
		ROW_TIPS("request_policy:all_nodes", "response_policy:all_succeeded")},
	{ROW("setname", 3, client_setname, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "2.6.9", "O(1)", "Names the connection."), ROW_ARGS(ARG("connection-name", STRING)),
		ROW_TIPS("request_policy:all_nodes", "response_policy:all_succeeded")},
	{ROW("trackinginfo", 2, client_trackinginfo, CMD_ANYTIME, ACL_CONNECTION),
		ROW_DOC("connection", "6.2.0", "O(1)", "Says how the connection uses client side caching.")},
	{ROW("unblock", -3, client_unblock, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "5.0.0", "O(1)", "Wakes a client that waits in a blocking command."),
		ROW_ARGS(ARG("client-id", INTEGER),
			ARG("unblock-type", ONEOF, .flags = ARG_OPTIONAL,
				ARG_SUB(ARG_WORD("timeout", "TIMEOUT"), ARG_WORD("error", "ERROR"))))},
	{ROW("unpause", 2, client_unpause, ADMIN, ACL_CONNECTION),
		ROW_DOC("connection", "6.2.0", "O(N) with the number of clients that wait", "Ends a pause of clients.")},
	ROW_END};

const struct cmd srv__client_cmds[] = {
	{ROW("client", -2, NULL, 0, 0),
		ROW_DOC("connection", "2.4.0", "Depends on the subcommand.", "Commands about connections."),
		.subs = client_subs},
	ROW_END};
