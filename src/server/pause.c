/* CLIENT PAUSE: commands wait with their clients, as bytes, until the pause is over. */
#include "server/inner.h"

bool srv__paused_for(const struct srv *srv, const struct gathered *g)
{
	if (!srv->pause_until_ms)
		return false;
	if (!srv->pause_writes_only)
		return true;
	const struct cmd *cmd = g->cmd;
	return cmd && (session_would_write(&g->c->s, cmd) || (cmd->flags & CMD_MAY_REPLICATE));
}

void srv__pause_client(struct client *c, size_t raw)
{
	c->flags |= CL_SKIP | CL_STALLED;
	srv__gather_hold_back(c, raw);
	link_add(&c->srv->paused, &c->paused);
}

void srv__pause(struct srv *srv, int64_t until_ms, bool writes_only)
{
	/* a longer or stricter pause that runs already stays so */
	bool all = srv->pause_until_ms && !srv->pause_writes_only;
	if (until_ms > srv->pause_until_ms)
		srv->pause_until_ms = until_ms;
	srv->pause_writes_only = writes_only && !all;
	ks_hold_expired(srv->ks, true);
}

void srv__unpause(struct srv *srv)
{
	srv->pause_until_ms = 0;
	ks_hold_expired(srv->ks, false);
	while (!link_empty(&srv->paused)) {
		struct client *c = SRV_CONTAINER(srv->paused.next, struct client, paused);
		link_del(&c->paused);
		c->flags &= ~(uint32_t)CL_STALLED;
		if (link_empty(&c->pending))
			link_add(&srv->pending, &c->pending);
		srv__gather_start(c);
	}
}
