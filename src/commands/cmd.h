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
	/* of this server, not shown */
	CMD_GATHER_STOP = 1 << 24, /* what follows may parse differently: AUTH HELLO RESET QUIT */
	CMD_TX_NOW = 1 << 25       /* runs at once inside MULTI: EXEC DISCARD MULTI WATCH QUIT RESET */
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
/* One key among the arguments of a command, and what the command does to it (enum cmd_key_flag). */
struct cmd_keyref {
	uint32_t pos;
	uint32_t flags;
};
/* Where keys stand among the arguments (COMMAND INFO's key specifications). All zero: no specification. */
struct cmd_key_spec {
	uint32_t flags;
	const char *notes;    /* may be NULL */
	enum { KEYS_NONE = 0, KEYS_INDEX, KEYS_KEYWORD, KEYS_BEGIN_UNKNOWN } begin;
	int pos;              /* INDEX: argument; KEYWORD: where the search starts */
	const char *keyword;
	enum { KEYS_RANGE = 0, KEYS_KEYNUM, KEYS_FIND_UNKNOWN } find;
	int last, step, limit; /* RANGE: lastkey (relative to the first; negative: from the end), step, limit.
	                        * KEYNUM: keynumidx, step, firstkey */
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
	const char *token, *since, *deprecated_since;
	int key_spec;              /* ARG_KEY: index of the key spec */
	const struct cmd_arg *sub; /* ARG_ONEOF, ARG_BLOCK */
};

struct cmd_history {
	const char *since, *change;
};

/* Key specifications a row has room for. */
#define CMD_KEY_SPECS 4

/* One row of the table. A container (CLIENT, CONFIG ...) has subs; its own fn may be NULL. What the dispatch reads
 * comes first. commands/internal.h has macros that keep rows short. */
struct cmd {
	const char *name;          /* lower case, at most 24 bytes; subcommands: their own word only */
	int arity;                 /* as Redis: negative is a minimum, the name(s) counted */
	uint32_t flags;            /* enum cmd_flag */
	cmd_fn fn;
	uint32_t acl;              /* enum cmd_acl, beyond those that follow from the flags */
	uint32_t keys_n;           /* filled in by engine_register: specifications in keys[] */
	struct cmd_key_spec keys[CMD_KEY_SPECS];
	/* For keys that the specifications cannot tell (movable, or flags that vary): fills at most max references,
	 * returns how many there are in all, or -1: the arguments make no sense. */
	int (*get_keys)(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max);
	const struct cmd *subs;    /* ends with a NULL name; as registered: for their statistics go through engine_each */
	/* COMMAND DOCS */
	const char *group, *since, *complexity, *summary;
	const char *deprecated_since, *replaced_by;  /* NULL unless deprecated */
	bool syscmd;                                 /* for those who run the server, not for applications */
	const struct cmd_history *history;           /* ends with a NULL since; may be NULL */
	const struct cmd_arg *args;                  /* may be NULL */
	const char *const *tips;                     /* ends with NULL; may be NULL */
};

/* Statistics of a command, in DRAM, beside the table. */
struct cmd_stats {
	uint64_t calls;
	uint64_t ns;       /* spent in it; 0 where timing is off */
	uint64_t rejected; /* refused before it ran */
	uint64_t failed;   /* ran and answered an error */
};

/* Argument that holds the first key, where the row alone tells it (prefetch); 0: none, or not so easily. */
static inline uint32_t cmd_first_key(const struct cmd *c, uint32_t argc)
{
	const struct cmd_key_spec *k = &c->keys[0];
	if (k->begin != KEYS_INDEX || k->find != KEYS_RANGE || (k->flags & KEY_NOT_KEY) || (uint32_t)k->pos >= argc)
		return 0;
	return (uint32_t)k->pos;
}

/* What the engine asks of the rooms above. Members may be NULL. */
struct engine_ops {
	void *ctx;
	/* Asked before a CMD_PROTECTED command runs or is queued: NULL, or the whole error ("ERR DEBUG command not
	 * allowed ..."). */
	const char *(*refuse)(void *ctx, const struct session *s, const struct cmd *c);
};

/* The whole engine of commands: table, sessions, keyspace. One a process in the server; tests make their own. */
struct engine *engine_new(struct ks *ks);
void engine_free(struct engine *e);
struct ks *engine_ks(const struct engine *e);
/* DEBUG RELOAD: the keyspace was closed and opened again. */
void engine_set_ks(struct engine *e, struct ks *ks);
/* Adds rows (they must outlive the engine); the array ends with a NULL name. Every family has such a table; rooms above
 * register theirs (CONFIG, INFO, SHUTDOWN, CLIENT ... come from server/). */
void engine_register(struct engine *e, const struct cmd *table);
/* The families that live in this room. */
void engine_register_builtin(struct engine *e);

/* ops is copied. */
void engine_set_ops(struct engine *e, const struct engine_ops *ops);

/* The pool as the engine sees it, handed in by who opens both, so that this room knows nothing of the store. EXEC
 * cannot run without it. */
struct engine_pool {
	void *ctx;
	/* Writing is impossible for now: the reason, or NULL. Asked once a tick. */
	const char *(*write_error)(void *ctx);
	/* Every change between begin and end is one unit; undo takes them back. Too big: it must be taken back. */
	void (*unit_begin)(void *ctx);
	void (*unit_end)(void *ctx);
	void (*unit_undo)(void *ctx);
	bool (*unit_too_big)(void *ctx);
};
/* pool is copied. */
void engine_set_pool(struct engine *e, const struct engine_pool *pool);

/* Looks a command up by name, any case; NULL. "config|get" finds a subcommand. Rows that the engine hands out are its
 * own copies; only those may be given back to it. */
const struct cmd *engine_find(const struct engine *e, struct bytes name);
/* The command that a line of arguments means: with a container and a second word the subcommand. NULL: unknown. */
const struct cmd *engine_resolve(const struct engine *e, const struct bytes *argv, uint32_t argc);
/* The container of a subcommand, or NULL; "get" or "config|get". */
const struct cmd *engine_parent(const struct cmd *c);
const char *engine_fullname(const struct cmd *c);
/* Categories with the implicit ones, and the first/last/step triple that older clients read. */
uint32_t engine_acl(const struct cmd *c);
void engine_key_range(const struct cmd *c, int *first_out, int *last_out, int *step_out);

struct cmd_stats *engine_stats(struct engine *e, const struct cmd *c);
/* Every command in the order of registration, each container followed by its subcommands (parent: the container). */
void engine_each(const struct engine *e,
	void (*fn)(void *ctx, const struct cmd *c, const struct cmd *parent), void *ctx);
/* Positions (and uses) of the keys in argv, at most max; returns how many there are (0: none), -1: cannot tell. */
int engine_keys(const struct engine *e, const struct cmd *c, const struct bytes *argv, uint32_t argc,
	struct cmd_keyref *out, int max);

/* Starts a tick at this wall time: all that runs until the next call sees this time (keyspace included). The server
 * calls it before the first engine_run of every tick. */
void engine_tick_begin(struct engine *e, int64_t now_ms);
/* Wall time of the tick. */
int64_t engine_now(const struct engine *e);

/* Runs one command for a session: resolves (cmd may be given, resolved before; NULL: not yet), checks arity,
 * authentication, transactions (queues inside MULTI), write errors, calls the handler, counts. Everything it answers
 * goes to r. What CLIENT REPLY OFF and SKIP silence is taken back from r here; pushes are not answers and stay. */
void engine_run(struct engine *e, struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r);

/* ---- counters ---- */

struct engine_totals {
	uint64_t commands; /* run, those inside EXEC included */
	uint64_t errors;   /* error replies */
};
struct engine_totals engine_totals(const struct engine *e);
/* Whether the time of each command is taken (commandstats usec). On from the start. */
void engine_set_command_timing(struct engine *e, bool on);
/* latency-tracking: whether the distribution of those times is kept too (INFO latencystats). On from the start. */
void engine_set_latency_tracking(struct engine *e, bool on);
/* The nanoseconds that p percent of the calls did not exceed, at most 3 % too high. False: no call was timed. */
bool engine_latency_at(const struct cmd *c, double p, uint64_t *ns_out);
/* INFO errorstats: the error replies by their first word. */
void engine_each_error(const struct engine *e, void (*fn)(void *ctx, const char *prefix, uint64_t n), void *ctx);
/* CONFIG RESETSTAT. */
void engine_reset_stats(struct engine *e);

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
/* ks_reserve, or -OOM sent. Inside EXEC a no also undoes the whole EXEC, so handlers reserve through this only. */
bool call_reserve(struct call *c, size_t bytes);

#endif
