/* Inside the room: the engine's struct, what its files share, and the macros that table rows are written with. */
#ifndef COMMANDS_INTERNAL_H
#define COMMANDS_INTERNAL_H

#include "base/check.h"
#include "base/sha.h"
#include "commands/cmd.h"
#include "commands/latency.h"
#include "commands/session.h"
#include "commands/stamp.h"

/* ---- writing rows ----
 *
 * A file of commands ends with its table, cmd_table_<file>, and is named in CMD_TABLES below. A row:
 *
 *	{CMD("getset", 3, cmd_getset, CMD_WRITE | CMD_DENYOOM | CMD_FAST, ACL_STRING),
 *	 DOC("string", "1.0.0", "O(1)", "Sets a key and returns what it held."),
 *	 DEPRECATED("6.2.0", "`SET` with the `!GET` argument"),
 *	 .keys = {KEY_ONE(1, KEY_RW | KEY_ACCESS | KEY_UPDATE)},
 *	 .args = ARGS(A("key", KEY), A("value", STRING))},
 *
 * Not written down, because engine_register derives it: categories that follow from flags (write, read, fast, slow,
 * admin, dangerous, blocking, pubsub), CMD_MOVABLEKEYS (from the key specifications), first/last/step. Flags, arity,
 * keys, tips and argument names are Redis's; the sentences are ours. */
#define CMD(name_, arity_, fn_, flags_, acl_) \
	.name = name_, .arity = arity_, .fn = fn_, .flags = flags_, .acl = acl_
#define DOC(group_, since_, complexity_, summary_) \
	.group = group_, .since = since_, .complexity = complexity_, .summary = summary_
#define DEPRECATED(since_, instead_) .deprecated_since = since_, .replaced_by = instead_
#define CMD_END {.name = NULL}

/* One key at argument pos; keys from first to last (relative to first; -1: the last argument), every step-th;
 * a key count at argument pos, the keys behind it. */
#define KEY_ONE(pos_, flags_) {.flags = flags_, .begin = KEYS_INDEX, .pos = pos_, .step = 1}
#define KEY_RUN(first_, last_, step_, flags_) \
	{.flags = flags_, .begin = KEYS_INDEX, .pos = first_, .last = last_, .step = step_}
#define KEY_COUNTED(pos_, flags_) \
	{.flags = flags_, .begin = KEYS_INDEX, .pos = pos_, .find = KEYS_KEYNUM, .last = 0, .limit = 1, .step = 1}

/* Arguments: A("name", TYPE, modifiers...). SUB makes the members of ONEOF and BLOCK. */
#define ARGS(...) (const struct cmd_arg[]){__VA_ARGS__, {.name = NULL}}
#define A(name_, type_, ...) {.name = name_, .type = ARG_##type_, __VA_ARGS__}
#define A_TOKEN(t) .token = t
#define A_OPT .flags = ARG_OPTIONAL
#define A_MANY .flags = ARG_MULTIPLE
#define A_OPT_MANY .flags = ARG_OPTIONAL | ARG_MULTIPLE
#define A_OPT_MANY_TOKENS .flags = ARG_OPTIONAL | ARG_MULTIPLE | ARG_MULTIPLE_TOKEN
#define A_SINCE(v) .since = v
#define A_KEYSPEC(i) .key_spec = i
#define A_SUB(...) .sub = ARGS(__VA_ARGS__)
#define TIPS(...) (const char *const[]){__VA_ARGS__, NULL}
/* HISTORY({"2.6.12", "what changed"}, ...) */
#define HISTORY(...) (const struct cmd_history[]){__VA_ARGS__, {.since = NULL}}

/* Every file with a table, in the order that COMMAND lists them. */
#define CMD_TABLES(X) \
	X(connection) \
	X(transaction) \
	X(command) \
	X(time) \
	X(strings) \
	X(bits) \
	X(generic)
#define CMD_TABLE_DECLARE(file) extern const struct cmd cmd_table_##file[];
CMD_TABLES(CMD_TABLE_DECLARE)
#undef CMD_TABLE_DECLARE

/* ---- the engine ---- */

#define CMD_NAME_WORDS 3

/* A command's name in lower case, zero padded: compared as three words. */
struct cmd_name {
	uint64_t w[CMD_NAME_WORDS];
};

/* The engine's copy of a row. */
struct cmd_row {
	struct cmd c; /* first: a struct cmd that the engine hands out is a row's */
	struct cmd_stats stats;
	struct cmd_row *parent, *sub, *next; /* container; first subcommand; next row at the same level */
	struct cmd_name key;
	char *full;   /* "config|get" */
	struct latency *latency; /* NULL until the first call that is timed */
	uint32_t acl; /* with the implicit categories */
	int first, last, step;
};

static inline struct cmd_row *row_of(const struct cmd *c)
{
	return (struct cmd_row *)(uintptr_t)c;
}

/* Error replies by their first word. More kinds than this are counted in total only. */
#define ERROR_KINDS_MAX 128
#define ERROR_PREFIX_MAX 32
struct error_stats {
	uint64_t total;
	uint64_t seen; /* total when the running command began or a nested one ended: above it, it failed */
	unsigned n;
	struct error_kind {
		char prefix[ERROR_PREFIX_MAX];
		uint64_t n;
	} kinds[ERROR_KINDS_MAX];
};
/* Counts one error reply, text as given to reply_error. */
void engine__count_error(struct error_stats *st, struct bytes text);

struct cmd_slot {
	struct cmd_name key;
	struct cmd_row *row;
};

/* Watched keys: a chained hash table, by database and key, of who watches. */
struct watch_table {
	struct watch **buckets;
	uint32_t mask; /* buckets - 1; 0: no table yet */
	uint32_t n;
};

struct engine {
	struct ks *ks;
	struct cmd_slot *slots; /* open addressing, at most half full */
	unsigned shift;         /* 64 - log2 of the slots */
	unsigned names;
	bool timing;            /* of commands */
	bool latencies;         /* and how it is distributed */
	bool locked;            /* a password is set */
	bool in_exec;
	bool exec_no_room;      /* a command of the running EXEC found the pool full */
	struct stamp stamp;
	uint64_t last_stamp;    /* end of the last timed command, or the tick's start */
	int64_t now_ms;
	const char *write_error; /* the pool's, at the tick's start */
	uint64_t commands;
	struct error_stats errors;

	struct session *sessions, *sessions_last;
	uint64_t session_count, next_id;
	struct watch_table watches;
	struct session **exec_touched; /* sessions that the running EXEC made dirty, in case it is undone */
	uint32_t exec_touched_n, exec_touched_cap;

	struct cmd_row *rows, *rows_last;
	struct engine_ops ops;
	struct engine_pool pool;
	uint8_t password[SHA256_BYTES];
};

void engine__free_rows(struct engine *e); /* table.c */

void engine__latency_start(struct cmd_row *row);

/* Runs a resolved command that is allowed to run, and counts it. */
void engine__call(struct engine *e, struct session *s, struct cmd_row *row, const struct bytes *argv, uint32_t argc,
	uint64_t key1_hash, bool hashed, struct reply *r);

/* ---- keys.c: get_keys of rows whose use of their one key depends on other arguments ---- */

int cmd_set_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max);      /* SET ... [GET] */
int cmd_bitfield_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max); /* only GETs, or not */

/* ---- transaction.c, watch.c ---- */

void cmd_exec(struct call *c);

/* Keeps a copy of the command for EXEC and answers QUEUED. The session is in MULTI. */
void multi__queue(struct session *s, const struct cmd *cmd, const struct bytes *argv, uint32_t argc, struct reply *r);
/* Ends MULTI: drops the queue and what is watched. */
void multi__discard(struct session *s);
/* EXEC was refused before it could run. */
void multi__abort(struct session *s, struct reply *r, const char *error);
/* The queue holds a command with one of these flags. */
bool multi__queued_any(const struct session *s, uint32_t flags);

void watch__attach(struct engine *e); /* observes e->ks */
void watch__free(struct engine *e);
void watch__add(struct session *s, struct bytes key);
void watch__forget(struct session *s);
/* False when a watched key is not as it was. Expires those that are due. */
bool watch__intact(struct session *s);
/* Between begin and end (or undo) of an EXEC: who became dirty is remembered, and forgiven by undo. */
void watch__exec_begin(struct engine *e);
void watch__exec_undo(struct engine *e);

#endif
