/* The command table and the way of a command through it. */
#ifndef COMMANDS_CMD_H
#define COMMANDS_CMD_H

#include "commands/reply.h"
#include "types/ks.h"

struct session;
struct engine;
struct cmd;

/* One command on its way: what a handler gets. */
struct call {
	struct engine *e;
	struct ks *ks;
	struct session *s;         /* who asked */
	struct reply *r;           /* where the answer goes */
	const struct bytes *argv;  /* argv[0] is the name as sent; valid for the call only */
	uint32_t argc;
	const struct cmd *cmd;
	unsigned db;
	bool in_exec;
	uint64_t key1_hash;        /* ks_hash of the first key where `hashed` (prefetch computed it) */
	bool hashed;
};

typedef void (*cmd_fn)(struct call *c);

enum cmd_flag {
	CMD_WRITE = 1 << 0, CMD_READONLY = 1 << 1, CMD_DENYOOM = 1 << 2, CMD_ADMIN = 1 << 3, CMD_PUBSUB = 1 << 4,
	CMD_NOSCRIPT = 1 << 5, CMD_LOADING = 1 << 6, CMD_STALE = 1 << 7, CMD_FAST = 1 << 8, CMD_NO_AUTH = 1 << 9,
	CMD_BLOCKING = 1 << 10, CMD_SKIP_MONITOR = 1 << 11, CMD_SKIP_SLOWLOG = 1 << 12, CMD_NO_MULTI = 1 << 13,
	CMD_MOVABLEKEYS = 1 << 14, CMD_ALLOW_BUSY = 1 << 15, CMD_MAY_REPLICATE = 1 << 16,
	CMD_NO_ASYNC_LOADING = 1 << 17, CMD_NO_MANDATORY_KEYS = 1 << 18, CMD_PROTECTED = 1 << 19,
	CMD_TOUCHES_ARBITRARY_KEYS = 1 << 20,
	/* of this server, not shown */
	CMD_GATHER_STOP = 1 << 24  /* what follows may parse differently: AUTH HELLO RESET QUIT */
};
enum cmd_acl { /* categories beyond those that follow from the flags */
	ACL_KEYSPACE = 1 << 0, ACL_READ = 1 << 1, ACL_WRITE = 1 << 2, ACL_SET = 1 << 3, ACL_SORTEDSET = 1 << 4,
	ACL_LIST = 1 << 5, ACL_HASH = 1 << 6, ACL_STRING = 1 << 7, ACL_BITMAP = 1 << 8, ACL_HYPERLOGLOG = 1 << 9,
	ACL_GEO = 1 << 10, ACL_STREAM = 1 << 11, ACL_PUBSUB = 1 << 12, ACL_ADMIN = 1 << 13, ACL_FAST = 1 << 14,
	ACL_SLOW = 1 << 15, ACL_BLOCKING = 1 << 16, ACL_DANGEROUS = 1 << 17, ACL_CONNECTION = 1 << 18,
	ACL_TRANSACTION = 1 << 19, ACL_SCRIPTING = 1 << 20
};

enum cmd_key_flag {
	KEY_RO = 1 << 0, KEY_RW = 1 << 1, KEY_OW = 1 << 2, KEY_RM = 1 << 3, KEY_ACCESS = 1 << 4, KEY_UPDATE = 1 << 5,
	KEY_INSERT = 1 << 6, KEY_DELETE = 1 << 7, KEY_NOT_KEY = 1 << 8, KEY_INCOMPLETE = 1 << 9,
	KEY_VARIABLE_FLAGS = 1 << 10
};
/* Where keys stand among the arguments (COMMAND INFO's key specifications). */
struct cmd_key_spec {
	uint32_t flags;
	enum { KEYS_NONE = 0, KEYS_INDEX, KEYS_KEYWORD, KEYS_BEGIN_UNKNOWN } begin;
	int pos;              /* INDEX: argument; KEYWORD: where the search starts */
	const char *keyword;
	enum { KEYS_RANGE = 0, KEYS_KEYNUM, KEYS_FIND_UNKNOWN } find;
	int last, step, limit; /* RANGE: lastkey relative, step, limit. KEYNUM: keynumidx, firstkey, step */
};

/* Arguments for COMMAND DOCS. A NULL-named entry ends a list. */
enum cmd_arg_type {
	ARG_STRING, ARG_INTEGER, ARG_DOUBLE, ARG_KEY, ARG_PATTERN, ARG_UNIX_TIME, ARG_PURE_TOKEN, ARG_ONEOF, ARG_BLOCK
};
enum cmd_arg_flag { ARG_OPTIONAL = 1, ARG_MULTIPLE = 2, ARG_MULTIPLE_TOKEN = 4 };
struct cmd_arg {
	const char *name;
	enum cmd_arg_type type;
	uint32_t flags;
	const char *token, *since;
	int key_spec;              /* ARG_KEY: index of the key spec */
	const struct cmd_arg *sub; /* ARG_ONEOF, ARG_BLOCK */
};

/* One row of the table. A container (CLIENT, CONFIG …) has subs; its own fn may be NULL. */
struct cmd {
	const char *name;          /* lower case; subcommands: their own word only */
	int arity;                 /* as Redis: negative is a minimum, the name(s) counted */
	uint32_t flags;            /* enum cmd_flag */
	uint32_t acl;              /* enum cmd_acl, beyond the implicit ones */
	const char *group, *since, *complexity, *summary; /* COMMAND DOCS */
	cmd_fn fn;
	struct cmd_key_spec keys[4];
	int (*get_keys)(const struct bytes *argv, uint32_t argc, int *idx_out, int max); /* movable keys; returns count, -1: syntax */
	const struct cmd_arg *args;
	const struct cmd *subs;    /* ends with a NULL name */
	const char *const *tips;   /* ends with NULL; may be NULL */
};

/* Statistics of a command, in DRAM, beside the table. */
struct cmd_stats {
	uint64_t calls, us, rejected, failed;
};

/* The whole engine of commands: table, sessions, keyspace. One a process in the server; tests make their own. */
struct engine_ops {
	void *ctx;
	/* Wall time for TIME and logs is from base/clock; nothing else is needed from above so far. */
};
struct engine *engine_new(struct ks *ks);
void engine_free(struct engine *e);
struct ks *engine_ks(const struct engine *e);
/* DEBUG RELOAD: the keyspace was closed and opened again. */
void engine_set_ks(struct engine *e, struct ks *ks);
/* Adds rows (they must outlive the engine); the array ends with a NULL name. Every family has such a table; rooms above register
 * theirs (CONFIG, INFO, SHUTDOWN, CLIENT … come from server/). */
void engine_register(struct engine *e, const struct cmd *table);
/* The families that live in this room. */
void engine_register_builtin(struct engine *e);

/* Looks a command up by name, any case; NULL. With a container and a subcommand word the subcommand is returned. */
const struct cmd *engine_find(const struct engine *e, struct bytes name);
const struct cmd *engine_resolve(const struct engine *e, const struct bytes *argv, uint32_t argc);
struct cmd_stats *engine_stats(struct engine *e, const struct cmd *c);
void engine_each(const struct engine *e, void (*fn)(void *ctx, const struct cmd *c, const struct cmd *parent), void *ctx);
/* Positions of the keys in argv; returns how many (0: none), -1: cannot tell. */
int engine_keys(const struct engine *e, const struct cmd *c, const struct bytes *argv, uint32_t argc, int *idx_out, int max);

/* Runs one command for a session: resolves (cmd may be given, resolved before; NULL: not yet), checks arity, authentication, transactions
 * (queues inside MULTI), write errors and room, calls the handler, counts. Everything it answers goes to r. */
void engine_run(struct engine *e, struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r);

/* ---- helpers for handlers ---- */

static inline struct ks_key call_key(const struct call *c, uint32_t i)
{
	if (i == 1 && c->hashed)
		return (struct ks_key){c->argv[1], c->key1_hash};
	return ks_key(c->ks, c->argv[i]);
}
/* Finds a key of this type. 1: found; 0: absent; -1: another type, error already sent. */
int call_find(struct call *c, struct ks_key key, enum ks_type type, struct ks_ref *out);
/* An integer argument; false: "ERR value is not an integer or out of range" was sent. */
bool call_i64(struct call *c, uint32_t i, int64_t *out);
bool call_arg_is(const struct call *c, uint32_t i, const char *word);
/* ks_reserve or -OOM sent. */
bool call_reserve(struct call *c, size_t bytes);

#endif
