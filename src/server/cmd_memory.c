/* MEMORY: what keys take in the pool, and what the process takes of DRAM. */
#include "base/num.h"
#include "server/info.h"
#include "server/rows.h"

static void memory_usage(struct call *c)
{
	int64_t samples;
	for (uint32_t i = 3; i < c->argc; i += 2) {
		if (!call_arg_is(c, i, "samples") || i + 1 >= c->argc) {
			reply_syntax(c->r);
			return;
		}
		if (!call_i64(c, i + 1, &samples))
			return;
		if (samples < 0) {
			reply_syntax(c->r);
			return;
		}
	}
	struct ks_ref ref;
	if (ks_peek(c->ks, c->db, ks_key(c->ks, c->argv[2]), &ref))
		reply_i64(c->r, (int64_t)ks_ref_bytes(&ref));
	else
		reply_null(c->r);
}

static void put_i64(struct reply *r, const char *key, uint64_t v)
{
	reply_str(r, key);
	reply_i64(r, (int64_t)v);
}

static void put_double(struct reply *r, const char *key, double v)
{
	reply_str(r, key);
	r->ops->dbl(r, v);
}

static uint64_t keys_of(const struct srv *srv)
{
	uint64_t n = 0;
	for (unsigned db = 0; db < ks_databases(srv->ks); db++)
		n += ks_count(srv->ks, db);
	return n;
}

static void memory_stats(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct reply *r = c->r;
	struct memory_facts m;
	struct srv_pool_stats p;
	srv__memory_facts(srv, &m);
	srv->pool.stats(srv->pool.ctx, &p);
	uint64_t keys = keys_of(srv);
	reply_map(r, 28);
	put_i64(r, "peak.allocated", m.peak);
	put_i64(r, "total.allocated", m.a.allocated);
	put_i64(r, "startup.allocated", m.startup);
	put_i64(r, "replication.backlog", 0);
	put_i64(r, "clients.slaves", 0);
	put_i64(r, "clients.normal", m.clients);
	put_i64(r, "cluster.links", 0);
	put_i64(r, "aof.buffer", 0);
	put_i64(r, "lua.caches", 0);
	put_i64(r, "functions.caches", 0);
	put_i64(r, "overhead.total", m.overhead);
	put_i64(r, "keys.count", keys);
	put_i64(r, "keys.bytes-per-key", keys ? p.object_bytes / keys : 0);
	put_i64(r, "dataset.bytes", m.dataset);
	put_double(r, "dataset.percentage", m.dataset_perc);
	put_double(r, "peak.percentage", m.peak_perc);
	put_i64(r, "allocator.allocated", m.a.allocated);
	put_i64(r, "allocator.active", m.a.active);
	put_i64(r, "allocator.resident", m.a.resident);
	put_double(r, "allocator-fragmentation.ratio", m.alloc_frag);
	put_i64(r, "allocator-fragmentation.bytes", m.a.active - m.a.allocated);
	put_double(r, "allocator-rss.ratio", m.alloc_rss);
	put_i64(r, "allocator-rss.bytes", m.a.resident - m.a.active);
	put_double(r, "rss-overhead.ratio", m.rss_overhead);
	put_i64(r, "rss-overhead.bytes", m.rss - m.a.resident);
	put_double(r, "fragmentation", m.frag);
	put_i64(r, "fragmentation.bytes", m.rss - m.a.allocated);
	put_i64(r, "pool.bytes", p.object_bytes);
}

static void memory_doctor(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct memory_facts m;
	struct srv_pool_stats p;
	struct buf b = {0};
	srv__memory_facts(srv, &m);
	srv->pool.stats(srv->pool.ctx, &p);
	if (m.peak > m.a.allocated + m.a.allocated / 2 && m.peak > 64u << 20)
		buf_addf(&b,
			" * Memory was once at %llu MB and is now at %llu MB: what was freed may not be back with the system. "
			"MEMORY PURGE gives it back.\n",
			(unsigned long long)m.peak >> 20, (unsigned long long)m.a.allocated >> 20);
	if (m.alloc_frag > 1.4 && m.a.active - m.a.allocated > 64u << 20)
		buf_addf(&b, " * The allocator holds %.0f %% more pages than are filled.\n", (m.alloc_frag - 1) * 100);
	if (srv->clients_n > 0 && m.clients / srv->clients_n > 1u << 20)
		buf_addf(&b, " * Clients hold %llu KB each on average: some read slowly, or send slowly what is big.\n",
			(unsigned long long)(m.clients / srv->clients_n) >> 10);
	if (p.reserved && p.used > p.reserved / 10 * 9)
		buf_addf(&b, " * The pool has used %llu of the %llu MB that pool-size lets it have.\n",
			(unsigned long long)p.used >> 20, (unsigned long long)p.reserved >> 20);
	if (b.n == 0)
		buf_adds(&b, "No memory problem was found.");
	c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
	buf_free(&b);
}

static void memory_purge(struct call *c)
{
	mem_purge();
	reply_ok(c->r);
}

static void memory_malloc_stats(struct call *c)
{
	struct mem_stats m;
	struct buf b = {0};
	mem_stats_get(&m);
	buf_addf(&b, "%s\nAllocated: %zu, active: %zu, resident: %zu, mapped: %zu, retained: %zu\n", mem_allocator(),
		m.allocated, m.active, m.resident, m.mapped, m.retained);
	c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
	buf_free(&b);
}

static void memory_help(struct call *c)
{
	static const char *const lines[] = {
		"DOCTOR",
		"    Looks for memory problems.",
		"MALLOC-STATS",
		"    Answers figures of the memory allocator.",
		"PURGE",
		"    Gives unused pages back to the system.",
		"STATS",
		"    Answers how memory is used.",
		"USAGE <key> [SAMPLES <count>]",
		"    Answers the bytes of the pool that a key and its value take.",
		NULL,
	};
	reply_help(c->r, "MEMORY", lines);
}

static const struct cmd memory_subs[] = {
	{ROW("doctor", 2, memory_doctor, 0, 0), ROW_DOC("server", "4.0.0", "O(1)", "Looks for memory problems."),
		ROW_TIPS("nondeterministic_output", "request_policy:all_shards", "response_policy:special")},
	{ROW("help", 2, memory_help, CMD_LOADING | CMD_STALE, 0),
		ROW_DOC("server", "4.0.0", "O(1)", "Explains the subcommands.")},
	{ROW("malloc-stats", 2, memory_malloc_stats, 0, 0),
		ROW_DOC("server", "4.0.0", "O(1)", "Answers figures of the memory allocator."),
		ROW_TIPS("nondeterministic_output", "request_policy:all_shards", "response_policy:special")},
	{ROW("purge", 2, memory_purge, 0, 0),
		ROW_DOC("server", "4.0.0", "Depends on how much is unused", "Gives unused pages back to the system."),
		ROW_TIPS("request_policy:all_shards", "response_policy:all_succeeded")},
	{ROW("stats", 2, memory_stats, 0, 0), ROW_DOC("server", "4.0.0", "O(1)", "Answers how memory is used."),
		ROW_TIPS("nondeterministic_output", "request_policy:all_shards", "response_policy:special")},
	{ROW("usage", -3, memory_usage, CMD_READONLY, 0),
		ROW_DOC("server", "4.0.0", "O(1)", "Answers how many bytes a key and its value take."),
		.keys = {{.flags = KEY_RO, .begin = KEYS_INDEX, .pos = 2, .step = 1}},
		ROW_ARGS(ARG("key", KEY), ARG("count", INTEGER, .token = "SAMPLES", .flags = ARG_OPTIONAL))},
	ROW_END};

const struct cmd srv__memory_cmds[] = {
	{ROW("memory", -2, NULL, 0, 0), ROW_DOC("server", "4.0.0", "Depends on the subcommand.", "Commands about memory."),
		.subs = memory_subs},
	ROW_END};
