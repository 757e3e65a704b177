/* The server: an event loop that carries commands from sockets to the engine and answers back, a tick at a time.
 * The walk of a command: gather -> prefetch -> execute -> commit -> reply (server/README.md).
 *
 * Everything runs on the thread that calls srv_run, except srv_wake. */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct config;
struct engine;
struct ks;
struct srv;

/* The pool as the server sees it: what main hands in, so that this room knows nothing of the store. All on the
 * loop's thread. */
struct srv_pool_stats {
	const char *path, *medium, *survives, *durability;
	uint64_t reserved, mapped, used, object_bytes, objects, slabs, free_slabs;
	uint64_t ticks, log_bytes, fresh_bytes, apply_bytes, fences, reclaim_pending, growths, checkpoints;
	uint64_t log_used, log_size, recovered_records, open_us;
	uint32_t format_version, epoch;
	bool was_clean;
};
struct srv_pool {
	void *ctx;
	/* Background work inside the tick, about so many objects; true while more is waiting. */
	bool (*work)(void *ctx, unsigned objects);
	/* Ends the tick; the number whose durability acknowledges all that was seen. */
	uint64_t (*commit)(void *ctx);
	uint64_t (*durable)(void *ctx);
	/* Keeps an object's bytes where they are until unpinned; false: it cannot now, copy them. */
	bool (*pin)(void *ctx, uint64_t off);
	void (*unpin)(void *ctx, uint64_t off);
	const char *(*write_error)(void *ctx);        /* NULL: all is well */
	void (*set_durability)(void *ctx, int level); /* 0 always, 1 every second, 2 no, -1 the medium's default */
	void (*stats)(void *ctx, struct srv_pool_stats *out);
	/* Walks everything; says what it found in a line. False: something is wrong. */
	bool (*verify)(void *ctx, struct buf *out);
	/* Closes the pool and opens it again. NULL: it could not be opened, and the process must end. */
	struct ks *(*reopen)(void *ctx, struct errinfo *ei);
};

/* The loop, not yet serving. cfg must outlive it. After process_daemonize: threads and descriptors of a loop
 * do not survive a fork. */
struct srv *srv_new(struct config *cfg);
/* Any thread: the loop looks at what has become durable. For st_options.wake. */
void srv_wake(void *srv);
/* Gives it the engine to run commands on; registers the commands of this room there. pool is copied. */
void srv_attach(struct srv *srv, struct engine *e, const struct srv_pool *pool);
/* Opens the listening sockets. */
enum err srv_listen(struct srv *srv, struct errinfo *ei);
/* "127.0.0.1:6379, /run/x.sock": where it listens. Returns the length. */
size_t srv_listen_text(const struct srv *srv, char *p, size_t n);
/* Serves until SHUTDOWN or a signal; all output that may leave has left, all clients are closed. Returns the
 * exit code. The last tick is committed. */
int srv_run(struct srv *srv);
void srv_free(struct srv *srv);

#endif
