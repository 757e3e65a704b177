/* From the configuration to the rooms: options for the store and the keyspace, and the pool as the server sees it. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/err.h"
#include "commands/cmd.h"
#include "server/config.h"
#include "server/server.h"
#include "store/store.h"

/* The open pool and what is needed to open it again. */
struct settings_pool {
	const struct config *cfg;
	struct st_options options;
	struct store *st;
	struct ks *ks;
	char path[4096]; /* absolute */
};

/* Opens pool and keyspace as configured, and commits what that took. wake(wake_ctx) as in st_options. */
enum err settings_pool_open(
	struct settings_pool *p, const struct config *cfg, void (*wake)(void *), void *wake_ctx, struct errinfo *ei);
void settings_pool_close(struct settings_pool *p);
/* The tables that the engine and the server work with; p must outlive both. */
struct engine_pool settings_engine_pool(struct settings_pool *p);
struct srv_pool settings_srv_pool(struct settings_pool *p);

#endif
