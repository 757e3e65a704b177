/* A session: what the server remembers of one client. Handlers see sessions, never sockets; what they need from the network
 * they ask through session_ops, which the server (or a test's fake) hands in. */
#ifndef COMMANDS_SESSION_H
#define COMMANDS_SESSION_H

#include "base/buf.h"
#include "commands/cmd.h"

/* What handlers may ask of the connection behind a session. */
struct session_ops {
	/* Push output that is not an answer to the running command (pub/sub, tracking). */
	struct reply *(*push)(struct session *s);
	/* Close after the answers so far are written. */
	void (*close_after_reply)(struct session *s);
	/* Close as soon as the tick ends (CLIENT KILL). */
	void (*kill)(struct session *s);
};

enum session_flag {
	SESSION_MULTI = 1 << 0, SESSION_DIRTY_CAS = 1 << 1, SESSION_DIRTY_EXEC = 1 << 2, SESSION_CLOSING = 1 << 3,
	SESSION_NO_EVICT = 1 << 4, SESSION_NO_TOUCH = 1 << 5, SESSION_UNIX = 1 << 6, SESSION_BLOCKED = 1 << 7,
	SESSION_INTERNAL = 1 << 8, SESSION_READONLY = 1 << 9
};
enum session_reply_mode { REPLY_ON, REPLY_OFF, REPLY_SKIP_NEXT, REPLY_SKIP };

struct session {
	struct engine *e;
	const struct session_ops *ops;
	uint64_t id;
	unsigned db;
	uint32_t flags;
	int resp;                    /* 2 or 3 */
	bool authenticated;
	enum session_reply_mode reply_mode;
	struct buf name, lib_name, lib_ver;
	const char *user;            /* "default" */
	int64_t created_ms, last_ms; /* wall time of birth and of the last command */
	const struct cmd *last_cmd, *last_sub;
	uint64_t commands;           /* run so far */
	struct multi *multi;         /* queued commands; transaction.c */
	struct watch *watches;       /* watched keys; transaction.c */
	struct session *prev, *next; /* all sessions of the engine, by birth */
};

/* The owner embeds or allocates the struct; init links it into the engine, fini unlinks and frees what it holds. */
void session_init(struct session *s, struct engine *e, const struct session_ops *ops);
void session_fini(struct session *s);
/* RESET, and what HELLO/AUTH change. */
void session_reset(struct session *s);
struct session *engine_sessions(const struct engine *e);
uint64_t engine_session_count(const struct engine *e);

/* requirepass: "" is none. Kept as a SHA-256 (comparison in constant time). */
void engine_set_password(struct engine *e, struct bytes password);
bool engine_password_needed(const struct engine *e);
/* True and authenticated on the right password of the right user. */
bool session_auth(struct session *s, struct bytes user, struct bytes password);

#endif
