/* The table of directives, made from config_rows.def, the words of those that take words, and other names. */
#include "server/config_inner.h"

#include "base/log.h"

/* syslog.h makes macros of the same names: the log's own levels are kept under others */
enum {
	LEVEL_DEBUG = LOG_DEBUG,
	LEVEL_VERBOSE = LOG_VERBOSE,
	LEVEL_NOTICE = LOG_NOTICE,
	LEVEL_WARNING = LOG_WARNING,
	LEVEL_NOTHING = LOG_NOTHING
};

#include <syslog.h>

enum {
	IMM = CF_IMMUTABLE,
	INERT = CF_INERT,
	HID = CF_HIDDEN,
	SECRET = CF_SECRET,
	PROT = CF_PROTECTED,
	MULTI = CF_MULTI,
	FILE_ONLY = CF_FILE_ONLY
};

static const struct config_word words_medium[] = {{"auto", 0}, {"pmem", 1}, {"file", 2}, {NULL, 0}};
static const struct config_word words_durability[] = {
	{"default", -1}, {"always", 0}, {"everysec", 1}, {"no", 2}, {NULL, 0}};
static const struct config_word words_fsync[] = {{"everysec", 1}, {"always", 0}, {"no", 2}, {NULL, 0}};
static const struct config_word words_supervised[] = {
	{"upstart", 1}, {"systemd", 2}, {"auto", 3}, {"no", 0}, {NULL, 0}};
static const struct config_word words_loglevel[] = {{"debug", LEVEL_DEBUG}, {"verbose", LEVEL_VERBOSE},
	{"notice", LEVEL_NOTICE}, {"warning", LEVEL_WARNING}, {"nothing", LEVEL_NOTHING}, {NULL, 0}};
static const struct config_word words_facility[] = {{"user", LOG_USER}, {"local0", LOG_LOCAL0}, {"local1", LOG_LOCAL1},
	{"local2", LOG_LOCAL2}, {"local3", LOG_LOCAL3}, {"local4", LOG_LOCAL4}, {"local5", LOG_LOCAL5},
	{"local6", LOG_LOCAL6}, {"local7", LOG_LOCAL7}, {NULL, 0}};
static const struct config_word words_oom[] = {{"no", 0}, {"yes", 1}, {"relative", 1}, {"absolute", 2}, {NULL, 0}};
static const struct config_word words_shutdown[] = {
	{"default", 0}, {"save", 1}, {"nosave", 2}, {"now", 4}, {"force", 8}, {NULL, 0}};
static const struct config_word words_local[] = {{"no", 0}, {"yes", 1}, {"local", 2}, {NULL, 0}};
static const struct config_word words_aclpubsub[] = {{"allchannels", 1}, {"resetchannels", 0}, {NULL, 0}};
static const struct config_word words_sanitize[] = {{"no", 0}, {"yes", 1}, {"clients", 2}, {NULL, 0}};
static const struct config_word words_policy[] = {{"volatile-lru", 0}, {"volatile-lfu", 1}, {"volatile-random", 2},
	{"volatile-ttl", 3}, {"allkeys-lru", 4}, {"allkeys-lfu", 5}, {"allkeys-random", 6}, {"noeviction", 7}, {NULL, 0}};
static const struct config_word words_diskless[] = {{"disabled", 0}, {"on-empty-db", 1}, {"swapdb", 2}, {NULL, 0}};
static const struct config_word words_propagation[] = {
	{"ignore", 0}, {"panic", 1}, {"panic-on-replicas", 2}, {NULL, 0}};
static const struct config_word words_endpoint[] = {{"ip", 0}, {"hostname", 1}, {"unknown-endpoint", 2}, {NULL, 0}};
static const struct config_word words_tlsauth[] = {{"no", 0}, {"yes", 1}, {"optional", 2}, {NULL, 0}};

#define parse_bind config__parse_bind
#define parse_octal config__parse_octal
#define parse_out_limit config__parse_out_limit
#define parse_oom_values config__parse_oom_values
#define parse_rename config__parse_rename
#define parse_join config__parse_join
#define parse_save config__parse_save
#define parse_mem_percent config__parse_mem_percent
#define parse_notify config__parse_notify
#define parse_percentiles config__parse_percentiles
#define apply_durability config__apply_durability
#define apply_bind config__apply_bind
#define apply_limits config__apply_limits
#define apply_maxclients config__apply_maxclients
#define apply_loglevel config__apply_loglevel
#define apply_dir config__apply_dir
#define apply_hz config__apply_hz
#define apply_latency config__apply_latency
#define apply_requirepass config__apply_requirepass

const struct config_row config__rows[CFG_COUNT] = {
#define B(id, n, f, d, a) [CFG_##id] = {.name = n, .type = CT_BOOL, .flags = f, .def = d, .apply = a},
#define I(id, n, f, l, h, d, a) \
	[CFG_##id] = {.name = n, .type = CT_INT, .flags = f, .lo = l, .hi = h, .def = d, .apply = a},
#define M(id, n, f, l, h, d, a) \
	[CFG_##id] = {.name = n, .type = CT_MEM, .flags = f, .lo = l, .hi = h, .def = d, .apply = a},
#define E(id, n, f, w, d, a) [CFG_##id] = {.name = n, .type = CT_ENUM, .flags = f, .words = w, .def = d, .apply = a},
#define S(id, n, f, d, a) [CFG_##id] = {.name = n, .type = CT_STR, .flags = f, .def = d, .apply = a},
#define L(id, n, f, p, d, a) [CFG_##id] = {.name = n, .type = CT_LIST, .flags = f, .parse = p, .def = d, .apply = a},
#include "server/config_rows.def"
};

const struct config_alias config__aliases[] = {{"slaveof", CFG_REPLICAOF},
	{"slave-serve-stale-data", CFG_REPLICA_SERVE_STALE}, {"slave-read-only", CFG_REPLICA_READ_ONLY},
	{"slave-priority", CFG_REPLICA_PRIORITY}, {"slave-announce-ip", CFG_REPLICA_ANNOUNCE_IP},
	{"slave-announce-port", CFG_REPLICA_ANNOUNCE_PORT}, {"slave-lazy-flush", CFG_REPLICA_LAZY_FLUSH},
	{"slave-ignore-maxmemory", CFG_REPLICA_IGNORE_MAXMEMORY}, {"repl-ping-slave-period", CFG_REPL_PING},
	{"min-slaves-to-write", CFG_MIN_REPLICAS_WRITE}, {"min-slaves-max-lag", CFG_MIN_REPLICAS_LAG},
	{"cluster-slave-validity-factor", CFG_CLUSTER_VALIDITY}, {"cluster-slave-no-failover", CFG_CLUSTER_NO_FAILOVER},
	{"hash-max-ziplist-entries", CFG_HASH_LP_ENTRIES}, {"hash-max-ziplist-value", CFG_HASH_LP_VALUE},
	{"zset-max-ziplist-entries", CFG_ZSET_LP_ENTRIES}, {"zset-max-ziplist-value", CFG_ZSET_LP_VALUE},
	{"list-max-ziplist-size", CFG_LIST_LP_SIZE}, {"lua-time-limit", CFG_BUSY_REPLY}, {NULL, CFG_COUNT}};

int config__find(struct bytes name)
{
	for (int i = 0; i < CFG_COUNT; i++)
		if (bytes_ieq(name, config__rows[i].name))
			return i;
	for (const struct config_alias *a = config__aliases; a->name; a++)
		if (bytes_ieq(name, a->name))
			return (int)a->id;
	return -1;
}
