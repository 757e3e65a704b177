/* INFO stats, persistence, commandstats, errorstats, latencystats, keyspace, pool. */
#include "server/info.h"

#include <stdlib.h>

static void put(struct buf *b, const char *key, uint64_t v)
{
	buf_addf(b, "%s:%llu\r\n", key, (unsigned long long)v);
}

void srv__info_persistence(struct srv *srv, struct buf *b)
{
	struct srv_pool_stats p;
	const char *error = srv->pool.write_error(srv->pool.ctx);
	srv->pool.stats(srv->pool.ctx, &p);
	buf_addf(b, "pool_medium:%s\r\ndurability:%s\r\nsurvives:%s\r\npool_write_status:%s\r\n", p.medium, p.durability,
		p.survives, error ? "err" : "ok");
	buf_adds(b,
		"loading:0\r\nasync_loading:0\r\ncurrent_cow_peak:0\r\ncurrent_cow_size:0\r\ncurrent_cow_size_age:0\r\n"
		"current_fork_perc:0.00\r\ncurrent_save_keys_processed:0\r\ncurrent_save_keys_total:0\r\n");
	buf_addf(b, "rdb_changes_since_last_save:0\r\nrdb_bgsave_in_progress:0\r\nrdb_last_save_time:%lld\r\n",
		(long long)srv->started_ms / 1000);
	buf_addf(b,
		"rdb_last_bgsave_status:ok\r\nrdb_last_bgsave_time_sec:-1\r\nrdb_current_bgsave_time_sec:-1\r\n"
		"rdb_saves:0\r\nrdb_last_cow_size:0\r\nrdb_last_load_keys_expired:0\r\nrdb_last_load_keys_loaded:0\r\n");
	buf_addf(b,
		"aof_enabled:%lld\r\naof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\n"
		"aof_last_rewrite_time_sec:-1\r\naof_current_rewrite_time_sec:-1\r\naof_last_bgrewrite_status:ok\r\n",
		(long long)config_i(srv->cfg, CFG_APPENDONLY));
	buf_addf(b,
		"aof_rewrites:0\r\naof_rewrites_consecutive_failures:0\r\naof_last_write_status:%s\r\n"
		"aof_last_cow_size:0\r\nmodule_fork_in_progress:0\r\nmodule_fork_last_cow_size:0\r\n",
		error ? "err" : "ok");
}

void srv__info_stats(struct srv *srv, struct buf *b)
{
	const struct srv_stats *st = &srv->stats;
	const struct ks_stats *k = ks_stats(srv->ks);
	struct engine_totals t = engine_totals(srv->e);
	put(b, "total_connections_received", st->connections);
	put(b, "total_commands_processed", t.commands);
	buf_addf(b, "instantaneous_ops_per_sec:%.0f\r\n", srv__rate_value(&st->ops));
	put(b, "total_net_input_bytes", st->net_in);
	put(b, "total_net_output_bytes", st->net_out);
	buf_adds(b, "total_net_repl_input_bytes:0\r\ntotal_net_repl_output_bytes:0\r\n");
	buf_addf(b, "instantaneous_input_kbps:%.2f\r\ninstantaneous_output_kbps:%.2f\r\n", srv__rate_value(&st->in) / 1024,
		srv__rate_value(&st->out) / 1024);
	buf_adds(b, "instantaneous_input_repl_kbps:0.00\r\ninstantaneous_output_repl_kbps:0.00\r\n");
	put(b, "rejected_connections", st->rejected);
	buf_adds(b, "sync_full:0\r\nsync_partial_ok:0\r\nsync_partial_err:0\r\n");
	put(b, "expired_keys", k->expired);
	buf_adds(b,
		"expired_stale_perc:0.00\r\nexpired_time_cap_reached_count:0\r\nexpire_cycle_cpu_milliseconds:0\r\n"
		"evicted_keys:0\r\nevicted_clients:0\r\ntotal_eviction_exceeded_time:0\r\n"
		"current_eviction_exceeded_time:0\r\n");
	put(b, "keyspace_hits", k->hits);
	put(b, "keyspace_misses", k->misses);
	buf_adds(b,
		"pubsub_channels:0\r\npubsub_patterns:0\r\npubsubshard_channels:0\r\nlatest_fork_usec:0\r\n"
		"total_forks:0\r\nmigrate_cached_sockets:0\r\nslave_expires_tracked_keys:0\r\nactive_defrag_hits:0\r\n"
		"active_defrag_misses:0\r\nactive_defrag_key_hits:0\r\nactive_defrag_key_misses:0\r\n"
		"total_active_defrag_time:0\r\ncurrent_active_defrag_time:0\r\ntracking_total_keys:0\r\n"
		"tracking_total_items:0\r\ntracking_total_prefixes:0\r\nunexpected_error_replies:0\r\n");
	put(b, "total_error_replies", t.errors);
	put(b, "dump_payload_sanitizations", 0);
	put(b, "total_reads_processed", st->reads);
	put(b, "total_writes_processed", st->writes);
	buf_adds(b,
		"io_threaded_reads_processed:0\r\nio_threaded_writes_processed:0\r\nreply_buffer_shrinks:0\r\n"
		"reply_buffer_expands:0\r\n");
}

struct fill {
	struct srv *srv;
	struct buf *b;
};

static void put_command(void *ctx, const struct cmd *c, const struct cmd *parent)
{
	struct fill *f = ctx;
	const struct cmd_stats *s = engine_stats(f->srv->e, c);
	(void)parent;
	if (!s->calls && !s->rejected && !s->failed)
		return;
	double us = (double)s->ns / 1000;
	buf_addf(f->b, "cmdstat_%s:calls=%llu,usec=%.0f,usec_per_call=%.2f,rejected_calls=%llu,failed_calls=%llu\r\n",
		engine_fullname(c), (unsigned long long)s->calls, us, s->calls ? us / (double)s->calls : 0,
		(unsigned long long)s->rejected, (unsigned long long)s->failed);
}

void srv__info_commandstats(struct srv *srv, struct buf *b)
{
	struct fill f = {srv, b};
	engine_each(srv->e, put_command, &f);
}

static void put_error(void *ctx, const char *prefix, uint64_t n)
{
	buf_addf(ctx, "errorstat_%s:count=%llu\r\n", prefix, (unsigned long long)n);
}

void srv__info_errorstats(struct srv *srv, struct buf *b)
{
	engine_each_error(srv->e, put_error, b);
}

static void put_latency(void *ctx, const struct cmd *c, const struct cmd *parent)
{
	struct fill *f = ctx;
	const char *p = config_s(f->srv->cfg, CFG_LATENCY_PERCENTILES), *sep = "";
	uint64_t ns;
	(void)parent;
	if (!engine_latency_at(c, 50, &ns))
		return;
	buf_addf(f->b, "latency_percentiles_usec_%s:", engine_fullname(c));
	while (*p) {
		int n = (int)strcspn(p, " ");
		engine_latency_at(c, strtod(p, NULL), &ns);
		buf_addf(f->b, "%sp%.*s=%.3f", sep, n, p, (double)ns / 1000);
		sep = ",";
		p += n;
		p += *p == ' ';
	}
	buf_adds(f->b, "\r\n");
}

void srv__info_latencystats(struct srv *srv, struct buf *b)
{
	struct fill f = {srv, b};
	if (config_i(srv->cfg, CFG_LATENCY_TRACKING))
		engine_each(srv->e, put_latency, &f);
}

void srv__info_keyspace(struct srv *srv, struct buf *b)
{
	for (unsigned db = 0; db < ks_databases(srv->ks); db++) {
		uint64_t keys = ks_count(srv->ks, db);
		if (keys)
			buf_addf(b, "db%u:keys=%llu,expires=%llu,avg_ttl=%lld\r\n", db, (unsigned long long)keys,
				(unsigned long long)ks_count_expires(srv->ks, db), (long long)ks_avg_ttl(srv->ks, db));
	}
}

void srv__info_pool(struct srv *srv, struct buf *b)
{
	struct srv_pool_stats p;
	srv->pool.stats(srv->pool.ctx, &p);
	buf_addf(b, "pool_path:%s\r\npool_medium:%s\r\npool_durability:%s\r\npool_survives:%s\r\n", p.path, p.medium,
		p.durability, p.survives);
	put(b, "pool_format_version", p.format_version);
	put(b, "pool_reserved_bytes", p.reserved);
	put(b, "pool_mapped_bytes", p.mapped);
	put(b, "pool_used_bytes", p.used);
	put(b, "pool_object_bytes", p.object_bytes);
	put(b, "pool_objects", p.objects);
	put(b, "pool_slabs", p.slabs);
	put(b, "pool_free_slabs", p.free_slabs);
	put(b, "pool_growths", p.growths);
	put(b, "pool_epoch", p.epoch);
	put(b, "pool_ticks", p.ticks);
	put(b, "pool_log_bytes", p.log_bytes);
	put(b, "pool_fresh_bytes", p.fresh_bytes);
	put(b, "pool_apply_bytes", p.apply_bytes);
	put(b, "pool_fences", p.fences);
	put(b, "pool_log_size", p.log_size);
	put(b, "pool_log_used", p.log_used);
	put(b, "pool_checkpoints", p.checkpoints);
	put(b, "pool_reclaim_pending", p.reclaim_pending);
	put(b, "pool_recovered_records", p.recovered_records);
	put(b, "pool_open_usec", p.open_us);
	put(b, "pool_was_clean", p.was_clean);
}
