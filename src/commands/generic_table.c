/* The rows of the commands on keys and whole databases. */
#include "commands/families.h"
#include "commands/internal.h"

#define K(flags_) .keys = {KEY_ONE(1, flags_)}
#define READ_FAST CMD_READONLY | CMD_FAST
#define WRITE_FAST CMD_WRITE | CMD_FAST
#define KEY_ARG .args = ARGS(A("key", KEY))
#define KEYS_ARG .args = ARGS(A("key", KEY, A_MANY))
#define PER_SHARD_SUM .tips = TIPS("request_policy:multi_shard", "response_policy:agg_sum")
#define CHANGES .tips = TIPS("nondeterministic_output")
#define CONDITION \
	A("condition", ONEOF, A_OPT, A_SINCE("7.0.0"), A_SUB( \
		A("nx", PURE_TOKEN, A_TOKEN("NX")), A("xx", PURE_TOKEN, A_TOKEN("XX")), \
		A("gt", PURE_TOKEN, A_TOKEN("GT")), A("lt", PURE_TOKEN, A_TOKEN("LT"))))
#define CONDITION_HISTORY .history = HISTORY({"7.0.0", "`NX`, `XX`, `GT` and `LT`."})
#define FLUSH_ARG \
	.args = ARGS(A("flush-type", ONEOF, A_OPT, A_SUB( \
		A("async", PURE_TOKEN, A_TOKEN("ASYNC"), A_SINCE("4.0.0")), \
		A("sync", PURE_TOKEN, A_TOKEN("SYNC"), A_SINCE("6.2.0")))))
#define FLUSH_HISTORY .history = HISTORY({"4.0.0", "`ASYNC`."}, {"6.2.0", "`SYNC`."})
#define OBJECT_KEY .keys = {KEY_ONE(2, KEY_RO)}

static const struct cmd object_subs[] = {
	{CMD("encoding", 3, cmd_object_encoding, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "2.2.3", "O(1)", "Names the representation of a key's value."),
	 CHANGES, OBJECT_KEY, KEY_ARG},
	{CMD("freq", 3, cmd_object_freq, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "4.0.0", "O(1)", "Returns a key's access counter under an LFU eviction policy."),
	 CHANGES, OBJECT_KEY, KEY_ARG},
	{CMD("help", 2, cmd_object_help, CMD_LOADING | CMD_STALE, ACL_KEYSPACE),
	 DOC("generic", "6.2.0", "O(1)", "Describes the subcommands.")},
	{CMD("idletime", 3, cmd_object_idletime, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "2.2.3", "O(1)", "Returns the seconds since a key was last used."),
	 CHANGES, OBJECT_KEY, KEY_ARG},
	{CMD("refcount", 3, cmd_object_refcount, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "2.2.3", "O(1)", "Returns the number of references to a key's value."),
	 CHANGES, OBJECT_KEY, KEY_ARG},
	CMD_END
};

const struct cmd cmd_table_generic[] = {
	{CMD("del", -2, cmd_del, CMD_WRITE, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(N) for N keys", "Deletes keys."),
	 PER_SHARD_SUM, .keys = {KEY_RUN(1, -1, 1, KEY_RM | KEY_DELETE)}, KEYS_ARG},
	{CMD("unlink", -2, cmd_del, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "4.0.0", "O(N) for N keys", "Deletes keys; big values are given back in the background."),
	 PER_SHARD_SUM, .keys = {KEY_RUN(1, -1, 1, KEY_RM | KEY_DELETE)}, KEYS_ARG},
	{CMD("exists", -2, cmd_exists, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(N) for N keys", "Counts how many of the keys exist."),
	 .history = HISTORY({"3.0.3", "Several keys."}),
	 PER_SHARD_SUM, .keys = {KEY_RUN(1, -1, 1, KEY_RO)}, KEYS_ARG},
	{CMD("touch", -2, cmd_touch, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "3.2.1", "O(N) for N keys", "Counts how many of the keys exist and marks them as used now."),
	 PER_SHARD_SUM, .keys = {KEY_RUN(1, -1, 1, KEY_RO)}, KEYS_ARG},
	{CMD("type", 2, cmd_type, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Returns the type of a key's value."),
	 K(KEY_RO), KEY_ARG},
	{CMD("ttl", 2, cmd_ttl, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Returns the seconds until a key expires."),
	 .history = HISTORY({"2.8.0", "-2 for a key that does not exist."}),
	 CHANGES, K(KEY_RO | KEY_ACCESS), KEY_ARG},
	{CMD("pttl", 2, cmd_pttl, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "2.6.0", "O(1)", "Returns the milliseconds until a key expires."),
	 .history = HISTORY({"2.8.0", "-2 for a key that does not exist."}),
	 CHANGES, K(KEY_RO | KEY_ACCESS), KEY_ARG},
	{CMD("expiretime", 2, cmd_expiretime, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "7.0.0", "O(1)", "Returns the Unix time in seconds at which a key expires."),
	 K(KEY_RO | KEY_ACCESS), KEY_ARG},
	{CMD("pexpiretime", 2, cmd_pexpiretime, READ_FAST, ACL_KEYSPACE),
	 DOC("generic", "7.0.0", "O(1)", "Returns the Unix time in milliseconds at which a key expires."),
	 K(KEY_RO | KEY_ACCESS), KEY_ARG},
	{CMD("expire", -3, cmd_expire, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Makes a key expire in so many seconds."),
	 CONDITION_HISTORY, K(KEY_RW | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("seconds", INTEGER), CONDITION)},
	{CMD("pexpire", -3, cmd_pexpire, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "2.6.0", "O(1)", "Makes a key expire in so many milliseconds."),
	 CONDITION_HISTORY, K(KEY_RW | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("milliseconds", INTEGER), CONDITION)},
	{CMD("expireat", -3, cmd_expireat, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.2.0", "O(1)", "Makes a key expire at a Unix time in seconds."),
	 CONDITION_HISTORY, K(KEY_RW | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("unix-time-seconds", UNIX_TIME), CONDITION)},
	{CMD("pexpireat", -3, cmd_pexpireat, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "2.6.0", "O(1)", "Makes a key expire at a Unix time in milliseconds."),
	 CONDITION_HISTORY, K(KEY_RW | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("unix-time-milliseconds", UNIX_TIME), CONDITION)},
	{CMD("persist", 2, cmd_persist, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "2.2.0", "O(1)", "Takes a key's deadline away."),
	 K(KEY_RW | KEY_UPDATE), KEY_ARG},
	{CMD("rename", 3, cmd_rename, CMD_WRITE, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Gives a key another name, replacing what has it."),
	 .keys = {KEY_ONE(1, KEY_RW | KEY_ACCESS | KEY_DELETE), KEY_ONE(2, KEY_OW | KEY_UPDATE)},
	 .args = ARGS(A("key", KEY), A("newkey", KEY, A_KEYSPEC(1)))},
	{CMD("renamenx", 3, cmd_renamenx, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Gives a key another name if nothing has it."),
	 .history = HISTORY({"3.2.0", "Equal names are no error."}),
	 .keys = {KEY_ONE(1, KEY_RW | KEY_ACCESS | KEY_DELETE), KEY_ONE(2, KEY_OW | KEY_INSERT)},
	 .args = ARGS(A("key", KEY), A("newkey", KEY, A_KEYSPEC(1)))},
	{CMD("copy", -3, cmd_copy, CMD_WRITE | CMD_DENYOOM, ACL_KEYSPACE),
	 DOC("generic", "6.2.0", "O(N) for N elements, O(1) for short strings",
		"Copies a key's value and deadline to another key."),
	 .keys = {KEY_ONE(1, KEY_RO | KEY_ACCESS), KEY_ONE(2, KEY_OW | KEY_UPDATE)},
	 .args = ARGS(A("source", KEY), A("destination", KEY, A_KEYSPEC(1)),
		A("destination-db", INTEGER, A_OPT, A_TOKEN("DB")), A("replace", PURE_TOKEN, A_OPT, A_TOKEN("REPLACE")))},
	{CMD("move", 3, cmd_move, WRITE_FAST, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Moves a key to another database."),
	 K(KEY_RW | KEY_ACCESS | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("db", INTEGER))},
	{CMD("keys", 2, cmd_keys, CMD_READONLY, ACL_KEYSPACE | ACL_DANGEROUS),
	 DOC("generic", "1.0.0", "O(N) for N keys in the database", "Returns all keys whose names match a pattern."),
	 .tips = TIPS("request_policy:all_shards", "nondeterministic_output_order"),
	 .args = ARGS(A("pattern", PATTERN))},
	{CMD("scan", -2, cmd_scan, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "2.8.0", "O(1) for a call, O(N) for all N keys", "Walks over the keys, some at each call."),
	 .history = HISTORY({"6.0.0", "`TYPE`."}),
	 .tips = TIPS("nondeterministic_output", "request_policy:special"),
	 .args = ARGS(A("cursor", INTEGER), A("pattern", PATTERN, A_OPT, A_TOKEN("MATCH")),
		A("count", INTEGER, A_OPT, A_TOKEN("COUNT")), A("type", STRING, A_OPT, A_TOKEN("TYPE"), A_SINCE("6.0.0")))},
	{CMD("randomkey", 1, cmd_randomkey, CMD_READONLY, ACL_KEYSPACE),
	 DOC("generic", "1.0.0", "O(1)", "Returns the name of a random key."),
	 .tips = TIPS("request_policy:all_shards", "nondeterministic_output")},
	{CMD("object", -2, NULL, 0, 0),
	 DOC("generic", "2.2.3", "Depends on subcommand.", "What is known about a key besides its value."),
	 .subs = object_subs},
	{CMD("dbsize", 1, cmd_dbsize, READ_FAST, ACL_KEYSPACE),
	 DOC("server", "1.0.0", "O(1)", "Returns the number of keys in the database."),
	 .tips = TIPS("request_policy:all_shards", "response_policy:agg_sum")},
	{CMD("flushdb", -1, cmd_flushdb, CMD_WRITE, ACL_KEYSPACE | ACL_DANGEROUS),
	 DOC("server", "1.0.0", "O(1), space comes back in the background", "Deletes all keys of the database."),
	 FLUSH_HISTORY, .tips = TIPS("request_policy:all_shards", "response_policy:all_succeeded"), FLUSH_ARG},
	{CMD("flushall", -1, cmd_flushall, CMD_WRITE, ACL_KEYSPACE | ACL_DANGEROUS),
	 DOC("server", "1.0.0", "O(1), space comes back in the background", "Deletes all keys of all databases."),
	 FLUSH_HISTORY, .tips = TIPS("request_policy:all_shards", "response_policy:all_succeeded"), FLUSH_ARG},
	{CMD("swapdb", 3, cmd_swapdb, WRITE_FAST, ACL_KEYSPACE | ACL_DANGEROUS),
	 DOC("server", "4.0.0", "O(N) for N clients that watch keys of the two", "Exchanges two databases."),
	 .args = ARGS(A("index1", INTEGER), A("index2", INTEGER))},
	CMD_END
};
