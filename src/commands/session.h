/* A session: what the server remembers of one client. Handlers see sessions, never sockets; what they need from the
 * network they ask through session_ops, which the server (or a test's fake) hands in. */
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
	/* The session was reset (RESET): drop what the server itself keeps for it. May be NULL. */
	void (*reset)(struct session *s);
};

enum session_flag {
	SESSION_MULTI = 1 << 0, SESSION_DIRTY_CAS = 1 << 1, SESSION_DIRTY_EXEC = 1 << 2, SESSION_CLOSING = 1 << 3,
	SESSION_NO_EVICT = 1 << 4, SESSION_NO_TOUCH = 1 << 5, SESSION_UNIX = 1 << 6, SESSION_BLOCKED = 1 << 7,
	SESSION_INTERNAL = 1 << 8, SESSION_READONLY = 1 << 9
};
/* CLIENT REPLY: its handler sets OFF, ON (and answers OK) or SKIP_NEXT (and answers nothing); engine_run obeys. */
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
	const struct cmd *last_cmd;  /* NULL: none yet */
	uint64_t commands;           /* run so far */
	struct multi *multi;         /* queued commands; transaction.c */
	struct watch *watches;       /* watched keys; transaction.c */
	struct session *prev, *next; /* all sessions of the engine, by birth */
};

/* CLIENT SETNAME and HELLO SETNAME: NULL, or the error (nothing changed). "" takes the name away. */
const char *session_set_name(struct session *s, struct bytes name);
/* Commands queued by MULTI (-1: not in one) and the bytes they hold; keys watched. */
int session_multi_count(const struct session *s);
size_t session_multi_bytes(const struct session *s);
unsigned session_watch_count(const struct session *s);
/* Whether running cmd now may write: a writing command, or EXEC of one (CLIENT PAUSE WRITE). */
bool session_would_write(const struct session *s, const struct cmd *cmd);

/* The owner embeds or allocates the struct; init clears it, gives it the next id and links it into the engine; fini
 * unlinks it and frees what it holds (never while a command of it runs). */
void session_init(struct session *s, struct engine *e, const struct session_ops *ops);
void session_fini(struct session *s);
/* RESET: no transaction, nothing watched, database 0, RESP2, no name, replies on, logged in only if no password is
 * needed. The server resets what is its own (MONITOR ...) in session_ops.reset. */
void session_reset(struct session *s);
struct session *engine_sessions(const struct engine *e);
uint64_t engine_session_count(const struct engine *e);

/* requirepass: "" is none. Kept as a SHA-256 (comparison in constant time). */
void engine_set_password(struct engine *e, struct bytes password);
bool engine_password_needed(const struct engine *e);
/* True and authenticated on the right password of the right user. */
bool session_auth(struct session *s, struct bytes user, struct bytes password);

#endif
