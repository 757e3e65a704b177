/* What is done some times a second: limits that depend on time, buffers given back, samples taken. */
#include "server/inner.h"

#include <stdio.h>
#include <sys/resource.h>

#define GIVE_BACK_MS 2000 /* idle so long, a client keeps no buffer */
#define FILES_OF_OURS 32  /* descriptors besides those of clients */

/* ---- rates ---- */

void srv__rate_sample(struct rate *r, uint64_t value, uint64_t now_ms)
{
	uint64_t span = now_ms - r->last_ms;
	if (r->last_ms && span > 0) {
		r->samples[r->at] = (value - r->last) * 1000 / span;
		r->at = (r->at + 1) % 16;
	}
	r->last = value;
	r->last_ms = now_ms;
}

double srv__rate_value(const struct rate *r)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 16; i++)
		sum += r->samples[i];
	return (double)sum / 16;
}

static void sample(struct srv *srv)
{
	struct srv_stats *st = &srv->stats;
	uint64_t now = clock_mono_us() / 1000;
	srv__rate_sample(&st->ops, engine_totals(srv->e).commands, now);
	srv__rate_sample(&st->in, st->net_in, now);
	srv__rate_sample(&st->out, st->net_out, now);
}

void srv__stats_begin(struct srv *srv)
{
	struct mem_stats m;
	mem_stats_get(&m);
	srv->started_ms = clock_ms();
	srv->started_mono_us = clock_mono_us();
	srv->startup_bytes = m.allocated;
	srv->stats.used_peak = m.allocated;
	sample(srv);
}

void srv__stats_reset(struct srv *srv)
{
	uint64_t peak = srv->stats.used_peak;
	srv->stats = (struct srv_stats){.used_peak = peak};
	engine_reset_stats(srv->e);
	*ks_stats(srv->ks) = (struct ks_stats){0};
	sample(srv);
}

/* ---- clients ---- */

static void look_at_clients(struct srv *srv)
{
	int64_t now = clock_ms();
	srv->stats.client_in_max = srv->stats.client_out_max = 0;
	for (struct link *l = srv->all.next, *next; l != &srv->all; l = next) {
		next = l->next;
		struct client *c = SRV_CONTAINER(l, struct client, all);
		if (c->flags & (CL_CLOSING | CL_DYING))
			continue;
		int64_t idle = now - c->s.last_ms;
		if (c->in.n > srv->stats.client_in_max)
			srv->stats.client_in_max = c->in.n;
		if (c->out.bytes > srv->stats.client_out_max)
			srv->stats.client_out_max = c->out.bytes;
		if (idle > GIVE_BACK_MS) {
			srv__gather_give_back(c);
			srv__out_give_back(c);
		}
		if (c->out.bytes > 0)
			srv__out_check_limit(c);
		if (srv->timeout_ms && idle > srv->timeout_ms && !(c->flags & CL_STALLED) && !(c->s.flags & SESSION_BLOCKED)) {
			log_msg(LOG_VERBOSE, "Closing idle client id=%llu", (unsigned long long)c->s.id);
			srv__client_kill(c);
		}
	}
}

void srv__cron(struct srv *srv)
{
	uint64_t hz = (uint64_t)config_i(srv->cfg, CFG_HZ);
	sample(srv);
	if (srv->cron_runs++ % (hz < 1 ? 1 : hz) == 0) {
		struct mem_stats m;
		mem_stats_get(&m);
		if (m.allocated > srv->stats.used_peak)
			srv->stats.used_peak = m.allocated;
		look_at_clients(srv);
	}
}

/* ---- descriptors ---- */

void srv__limit_files(struct srv *srv)
{
	struct rlimit rl;
	rlim_t want = (rlim_t)config_i(srv->cfg, CFG_MAXCLIENTS) + FILES_OF_OURS;
	if (getrlimit(RLIMIT_NOFILE, &rl) != 0 || rl.rlim_cur >= want)
		return;
	rlim_t old = rl.rlim_cur;
	struct rlimit more = {want, rl.rlim_max > want ? rl.rlim_max : want};
	if (setrlimit(RLIMIT_NOFILE, &more) == 0)
		return;
	more = (struct rlimit){rl.rlim_max, rl.rlim_max};
	rlim_t got = setrlimit(RLIMIT_NOFILE, &more) == 0 ? rl.rlim_max : old;
	if (got >= want)
		return;
	int64_t clients = got > FILES_OF_OURS ? (int64_t)got - FILES_OF_OURS : 1;
	log_msg(LOG_WARNING, "The system allows %llu open files: maxclients goes down from %lld to %lld.",
		(unsigned long long)got, (long long)config_i(srv->cfg, CFG_MAXCLIENTS), (long long)clients);
	char text[32];
	snprintf(text, sizeof text, "%lld", (long long)clients);
	config_put(srv->cfg, "maxclients", text);
}
