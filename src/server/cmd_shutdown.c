/* SHUTDOWN. The dataset is in the pool already: SAVE and NOSAVE both close it cleanly, and every tick that was
 * committed is made durable. */
#include "server/inner.h"
#include "server/rows.h"

static void cmd_shutdown(struct call *c)
{
	struct srv *srv = srv_of(c);
	bool save = false, nosave = false, now = false, force = false, abort = false;
	for (uint32_t i = 1; i < c->argc; i++) {
		if (call_arg_is(c, i, "nosave"))
			nosave = true;
		else if (call_arg_is(c, i, "save"))
			save = true;
		else if (call_arg_is(c, i, "now"))
			now = true;
		else if (call_arg_is(c, i, "force"))
			force = true;
		else if (call_arg_is(c, i, "abort"))
			abort = true;
		else {
			reply_syntax(c->r);
			return;
		}
	}
	if ((abort && (save || nosave || now || force)) || (save && nosave)) {
		reply_syntax(c->r);
		return;
	}
	if (abort) {
		reply_error(c->r, "ERR No shutdown in progress."); /* none lasts: there are no replicas to wait for */
		return;
	}
	log_msg(LOG_WARNING, "User requested shutdown...");
	if (!srv__may_stop(srv, force || nosave)) {
		reply_error(c->r, "ERR Errors trying to SHUTDOWN. Check logs.");
		return;
	}
	srv__client_close_after_reply(client_of(c->s));
	srv__stop(srv, 0);
}

const struct cmd srv__shutdown_cmds[] = {
	{ROW("shutdown", -1, cmd_shutdown, CMD_ADMIN | CMD_ANYTIME | CMD_NO_MULTI | CMD_ALLOW_BUSY, 0),
		ROW_DOC("server", "1.0.0", "O(1)", "Closes the pool cleanly and ends the server."),
		ROW_ARGS(ARG("save-selector", ONEOF, .flags = ARG_OPTIONAL,
					 ARG_SUB(ARG_WORD("nosave", "NOSAVE"), ARG_WORD("save", "SAVE"))),
			ARG("now", PURE_TOKEN, .token = "NOW", .since = "7.0.0", .flags = ARG_OPTIONAL),
			ARG("force", PURE_TOKEN, .token = "FORCE", .since = "7.0.0", .flags = ARG_OPTIONAL),
			ARG("abort", PURE_TOKEN, .token = "ABORT", .since = "7.0.0", .flags = ARG_OPTIONAL)),
		ROW_HISTORY({"7.0.0", "Added the `NOW`, `FORCE` and `ABORT` modifiers."})},
	ROW_END};
