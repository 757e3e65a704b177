/* Putting changed values into force while the server runs. */
#include "server/config_inner.h"
#include "server/inner.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

const char *config__apply_durability(struct srv *srv)
{
	srv->pool.set_durability(srv->pool.ctx, config_durability(srv->cfg));
	return NULL;
}

const char *config__apply_bind(struct srv *srv)
{
	char why[256];
	if (srv__listen_replace(srv, why, sizeof why))
		return NULL;
	log_msg(LOG_WARNING, "CONFIG SET: %s", why);
	return "Failed to bind to specified addresses.";
}

const char *config__apply_limits(struct srv *srv)
{
	struct out_limit *l = srv->out_limits;
	long long v[9];
	sscanf(config_s(srv->cfg, CFG_OUTPUT_LIMIT), "%*s %lld %lld %lld %*s %lld %lld %lld %*s %lld %lld %lld", &v[0],
		&v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8]);
	for (int i = 0; i < OUT_CLASSES; i++)
		l[i] = (struct out_limit){v[3 * i], v[3 * i + 1], v[3 * i + 2]};
	srv->timeout_ms = config_i(srv->cfg, CFG_TIMEOUT) * 1000;
	srv__gather_limits(srv);
	return NULL;
}

const char *config__apply_maxclients(struct srv *srv)
{
	int64_t asked = config_i(srv->cfg, CFG_MAXCLIENTS);
	srv__limit_files(srv);
	if (config_i(srv->cfg, CFG_MAXCLIENTS) == asked)
		return NULL;
	snprintf(srv->apply_err, sizeof srv->apply_err,
		"The operating system is not able to handle the specified number of clients, try with %lld",
		(long long)config_i(srv->cfg, CFG_MAXCLIENTS));
	return srv->apply_err;
}

const char *config__apply_loglevel(struct srv *srv)
{
	log_set_level((enum log_level)config_i(srv->cfg, CFG_LOGLEVEL));
	return NULL;
}

const char *config__apply_dir(struct srv *srv)
{
	if (chdir(config_s(srv->cfg, CFG_DIR)) == 0)
		return NULL;
	snprintf(srv->apply_err, sizeof srv->apply_err, "%s", strerror(errno));
	return srv->apply_err;
}

const char *config__apply_hz(struct srv *srv)
{
	/* as Redis: out of bounds is brought into them */
	int64_t hz = config_i(srv->cfg, CFG_HZ);
	if (hz < 1)
		config_put(srv->cfg, "hz", "1");
	else if (hz > 500)
		config_put(srv->cfg, "hz", "500");
	srv__cron_start(srv);
	return NULL;
}

const char *config__apply_requirepass(struct srv *srv)
{
	engine_set_password(srv->e, bytes_of(config_s(srv->cfg, CFG_REQUIREPASS)));
	return NULL;
}

const char *config__apply_latency(struct srv *srv)
{
	engine_set_latency_tracking(srv->e, config_i(srv->cfg, CFG_LATENCY_TRACKING) != 0);
	return NULL;
}
