/* From the configuration to the rooms: options for the store and the keyspace, and the pool as the server sees it. */
#include "settings.h"

#include "base/buf.h"
#include "types/ks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOCKED_TRIES 10
#define LOCKED_WAIT_MS 100

static struct st_options store_options(const struct config *cfg, void (*wake)(void *), void *wake_ctx)
{
	static const enum st_medium media[] = {ST_MEDIUM_AUTO, ST_MEDIUM_PMEM, ST_MEDIUM_FILE};
	struct st_options o = {
		.path = config_s(cfg, CFG_POOL),
		.pool_size = (uint64_t)config_i(cfg, CFG_POOL_SIZE),
		.pool_grow = (uint64_t)config_i(cfg, CFG_POOL_GROW),
		.log_size = (uint64_t)config_i(cfg, CFG_LOG_SIZE),
		.medium = media[config_i(cfg, CFG_POOL_MEDIUM)],
		.wake = wake,
		.wake_ctx = wake_ctx,
	};
	int level = config_durability(cfg);
	o.durability_set = level >= 0;
	o.durability = level >= 0 ? (enum st_durability)level : ST_DURABLE_ALWAYS;
	return o;
}

static enum err open_all(struct settings_pool *p, struct errinfo *ei)
{
	struct ks_options ko = {.databases = (unsigned)config_i(p->cfg, CFG_DATABASES)};
	enum err e = st_open(&p->options, &p->st, ei);
	if (e != ERR_OK)
		return e;
	ks_register(p->st);
	e = ks_open(p->st, &ko, &p->ks, ei);
	if (e != ERR_OK) {
		st_close(p->st);
		p->st = NULL;
		return e;
	}
	st_commit(p->st);
	return ERR_OK;
}

enum err settings_pool_open(
	struct settings_pool *p, const struct config *cfg, void (*wake)(void *), void *wake_ctx, struct errinfo *ei)
{
	*p = (struct settings_pool){.cfg = cfg, .options = store_options(cfg, wake, wake_ctx)};
	enum err e = open_all(p, ei);
	/* A server that was just killed holds its pool until the last of its threads has gone. */
	for (int tries = 0; e == ERR_LOCKED && tries < LOCKED_TRIES; tries++) {
		nanosleep(&(struct timespec){.tv_nsec = LOCKED_WAIT_MS * 1000000}, NULL);
		*ei = (struct errinfo){0};
		e = open_all(p, ei);
	}
	if (e != ERR_OK)
		return e;
	if (!realpath(p->options.path, p->path))
		snprintf(p->path, sizeof p->path, "%s", p->options.path);
	p->options.path = p->path; /* opening again must not depend on the working directory */
	return ERR_OK;
}

void settings_pool_close(struct settings_pool *p)
{
	if (p->ks)
		ks_close(p->ks);
	if (p->st)
		st_close(p->st);
	p->ks = NULL;
	p->st = NULL;
}

/* ---- the pool as the server sees it ---- */

static bool pool_work(void *ctx, unsigned objects)
{
	return st_work(((struct settings_pool *)ctx)->st, objects);
}

static uint64_t pool_commit(void *ctx)
{
	return st_commit(((struct settings_pool *)ctx)->st);
}

static uint64_t pool_durable(void *ctx)
{
	return st_durable(((struct settings_pool *)ctx)->st);
}

static bool pool_pin(void *ctx, uint64_t off)
{
	return st_pin(((struct settings_pool *)ctx)->st, off);
}

static void pool_unpin(void *ctx, uint64_t off)
{
	st_unpin(((struct settings_pool *)ctx)->st, off);
}

static const char *pool_write_error(void *ctx)
{
	return st_write_error(((struct settings_pool *)ctx)->st);
}

static void pool_set_durability(void *ctx, int level)
{
	struct settings_pool *p = ctx;
	struct st_stats s;
	if (level < 0) {
		st_stats_get(p->st, &s);
		level = strcmp(s.medium, "file") == 0 ? ST_DURABLE_EVERYSEC : ST_DURABLE_ALWAYS;
	}
	st_set_durability(p->st, (enum st_durability)level);
}

static void pool_stats(void *ctx, struct srv_pool_stats *out)
{
	static const char *const levels[] = {"always", "everysec", "no"};
	struct settings_pool *p = ctx;
	struct st_stats s;
	st_stats_get(p->st, &s);
	*out = (struct srv_pool_stats){
		.path = p->path,
		.medium = s.medium,
		.survives = s.survives,
		.durability = levels[st_get_durability(p->st)],
		.reserved = s.reserved,
		.mapped = s.mapped,
		.used = s.used,
		.object_bytes = s.object_bytes,
		.objects = s.objects,
		.slabs = s.slabs,
		.free_slabs = s.free_slabs,
		.ticks = s.ticks,
		.log_bytes = s.log_bytes,
		.fresh_bytes = s.fresh_bytes,
		.apply_bytes = s.apply_bytes,
		.fences = s.fences,
		.reclaim_pending = s.reclaim_pending,
		.growths = s.growths,
		.checkpoints = s.checkpoints,
		.log_used = s.log_used,
		.log_size = s.log_size,
		.recovered_records = s.recovered_records,
		.open_us = s.open_us,
		.format_version = s.format_version,
		.epoch = st_epoch(p->st),
		.was_clean = s.was_clean,
	};
}

static bool pool_verify(void *ctx, struct buf *out)
{
	struct settings_pool *p = ctx;
	struct st_verify v;
	st_verify(p->st, &v);
	const char *wrong = v.errors ? NULL : ks_check(p->ks); /* it trusts what the verifier has found sound */
	if (!wrong && v.errors == 0) {
		buf_addf(out, "OK %llu objects reachable, %llu allocated", (unsigned long long)v.reachable,
			(unsigned long long)v.allocated);
		return true;
	}
	buf_addf(out, "%llu errors: %s%s", (unsigned long long)v.errors, v.first, wrong ? wrong : "");
	return false;
}

static struct ks *pool_reopen(void *ctx, struct errinfo *ei)
{
	struct settings_pool *p = ctx;
	p->options.durability = st_get_durability(p->st);
	p->options.durability_set = true;
	settings_pool_close(p);
	return open_all(p, ei) == ERR_OK ? p->ks : NULL;
}

static void pool_unit_begin(void *ctx)
{
	st_unit_begin(((struct settings_pool *)ctx)->st);
}

static void pool_unit_end(void *ctx)
{
	st_unit_end(((struct settings_pool *)ctx)->st);
}

static void pool_unit_undo(void *ctx)
{
	st_unit_undo(((struct settings_pool *)ctx)->st);
}

static bool pool_unit_too_big(void *ctx)
{
	return st_unit_too_big(((struct settings_pool *)ctx)->st);
}

struct engine_pool settings_engine_pool(struct settings_pool *p)
{
	return (struct engine_pool){
		.ctx = p,
		.write_error = pool_write_error,
		.unit_begin = pool_unit_begin,
		.unit_end = pool_unit_end,
		.unit_undo = pool_unit_undo,
		.unit_too_big = pool_unit_too_big,
	};
}

struct srv_pool settings_srv_pool(struct settings_pool *p)
{
	return (struct srv_pool){
		.ctx = p,
		.work = pool_work,
		.commit = pool_commit,
		.durable = pool_durable,
		.pin = pool_pin,
		.unpin = pool_unpin,
		.write_error = pool_write_error,
		.set_durability = pool_set_durability,
		.stats = pool_stats,
		.verify = pool_verify,
		.reopen = pool_reopen,
	};
}
