/* The growth thread: extents are allocated and formatted here, ahead of need, so that the loop never waits for a disk
 * to allocate. One step at a time. */
#include "internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "pool.h"
#include "thread.h"

#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* After opening, the server answers first. */
#define WARM_DELAY_MS 200

enum state { IDLE, ASKED, DONE };

struct st__grow {
	struct store *st;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ask, answer;
	enum state state;
	bool quit, complained;
	uint64_t bytes;
	int index; /* of the finished extent, -1: the step failed */
};

/* Which entry of the table is next. Entries are only ever added, here. */
static unsigned next_index(const struct st__pool *p)
{
	unsigned i = 0;
	while (i < ST__EXTENTS_MAX && p->root->extent[i].off != 0)
		i++;
	return i;
}

/* A full disk is told once, not at every attempt. */
static int refuse(struct st__grow *g, const char *why)
{
	if (!g->complained)
		log_msg(LOG_WARNING, "pool: cannot grow: %s", why);
	g->complained = true;
	return -1;
}

static int step(struct st__grow *g, uint64_t bytes)
{
	struct store *st = g->st;
	struct st__pool *p = st->pool;
	struct errinfo ei = {0};
	uint64_t start, slabs;
	unsigned index = next_index(p);
	if (index == ST__EXTENTS_MAX)
		return refuse(g, "it has as many extents as a pool may have");
	enum err e = p->ops->extent(p, index, bytes, &start, &slabs, &ei);
	if (!e)
		e = st__extent_format(p, index, ST__EXTENT_DATA, start, slabs);
	if (e)
		return refuse(g, ei.msg[0] ? ei.msg : "what is left is too small for an extent");
	g->complained = false;
	/* Memory that ticks store into directly: its page faults are taken here. */
	if (!st->medium->ops->fresh_in_log)
		(void)madvise(p->base + start, slabs * ST__SLAB, MADV_POPULATE_WRITE);
	return (int)index;
}

static void *run(void *arg)
{
	struct st__grow *g = arg;
	pthread_mutex_lock(&g->lock);
	if (g->state == IDLE && !g->quit)
		st__wait_ms(&g->ask, &g->lock, WARM_DELAY_MS);
	if (!g->quit) {
		pthread_mutex_unlock(&g->lock);
		st__pool_warm(g->st->pool);
		pthread_mutex_lock(&g->lock);
	}
	while (!g->quit) {
		if (g->state != ASKED) {
			pthread_cond_wait(&g->ask, &g->lock);
			continue;
		}
		uint64_t bytes = g->bytes;
		pthread_mutex_unlock(&g->lock);
		int index = step(g, bytes);
		pthread_mutex_lock(&g->lock);
		g->index = index;
		__atomic_store_n(&g->state, DONE, __ATOMIC_RELEASE);
		pthread_cond_broadcast(&g->answer);
		if (g->st->opt.wake)
			g->st->opt.wake(g->st->opt.wake_ctx);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

struct st__grow *st__grow_new(struct store *st)
{
	struct st__grow *g = mem_zalloc(sizeof(*g));
	g->st = st;
	g->index = -1;
	pthread_mutex_init(&g->lock, NULL);
	st__cond_init(&g->ask);
	st__cond_init(&g->answer);
	st__thread_start(&g->thread, run, g, "grow");
	return g;
}

void st__grow_free(struct st__grow *g)
{
	pthread_mutex_lock(&g->lock);
	g->quit = true;
	pthread_cond_broadcast(&g->ask);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->ask);
	pthread_cond_destroy(&g->answer);
	mem_free(g);
}

void st__grow_start(struct st__grow *g, uint64_t bytes)
{
	pthread_mutex_lock(&g->lock);
	if (g->state == IDLE) {
		g->bytes = bytes;
		g->state = ASKED;
		pthread_cond_signal(&g->ask);
	}
	pthread_mutex_unlock(&g->lock);
}

bool st__grow_busy(const struct st__grow *g)
{
	return __atomic_load_n(&g->state, __ATOMIC_ACQUIRE) != IDLE;
}

int st__grow_take(struct st__grow *g, bool wait, bool *failed)
{
	*failed = false;
	if (!wait && __atomic_load_n(&g->state, __ATOMIC_ACQUIRE) != DONE)
		return -1;
	int index = -1;
	pthread_mutex_lock(&g->lock);
	while (wait && g->state == ASKED)
		pthread_cond_wait(&g->answer, &g->lock);
	if (g->state == DONE) {
		index = g->index;
		*failed = index < 0;
		g->state = IDLE;
	}
	pthread_mutex_unlock(&g->lock);
	return index;
}
