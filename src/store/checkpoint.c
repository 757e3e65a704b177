/* Dirty pages and their way home. The loop marks pages; when a checkpoint begins it hands the set of dirty pages over
 * and starts a new one, so neither side ever waits for, or races with, the other's bits.
 *
 * The thread copies a page while the loop may be storing into it. That is sound because the copy is written only after
 * the log is durable past the position read *after* copying: whatever of a record got into the copy, that record, and
 * every one before it, will be replayed over the page after a crash. What an unfinished tick has stored in place lies
 * in space that is free as far as the log says. */
#include "file.h"

#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "io.h"
#include "pool.h"
#include "thread.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#define COPY_BYTES (4u << 20)
#define RUNS_MAX (COPY_BYTES / ST__PAGE)

/* ---- sets of pages ---- */

static void pages_init(struct st__pages *s, uint64_t words)
{
	void *p = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(p != MAP_FAILED);
	*s = (struct st__pages){.bits = p, .lo = words};
}

static bool pages_add(struct st__pages *s, uint64_t page)
{
	uint64_t w = page >> 6, bit = 1ull << (page & 63);
	if (s->bits[w] & bit)
		return false;
	s->bits[w] |= bit;
	s->n++;
	if (w < s->lo)
		s->lo = w;
	if (w >= s->hi)
		s->hi = w + 1;
	return true;
}

static void pages_clear(struct st__pages *s, uint64_t words)
{
	if (s->lo < s->hi)
		memset(s->bits + s->lo, 0, (s->hi - s->lo) * 8);
	s->n = 0;
	s->lo = words;
	s->hi = 0;
}

void st__ckpt_mark_slow(struct st__ckpt *c, uint64_t page)
{
	DCHECK2(page >> 6 < c->words, page, c->words);
	pages_add(&c->active, page);
	pages_add(&c->mine, page);
}

/* ---- bringing home ---- */

/* Copies up to COPY_BYTES of frozen pages from word *w, bit *b on, adjacent ones as one run. Returns the runs; *w is at
 * frozen.hi when these were the last. The loop may be storing into what is copied. */
static unsigned copy_pages(struct st__ckpt *c, uint64_t *next)
{
	const char *base = c->st->pool->base;
	unsigned runs = 0;
	uint64_t filled = 0, page = *next;
	while (page < c->frozen.hi << 6 && filled < COPY_BYTES) {
		uint64_t word = c->frozen.bits[page >> 6] >> (page & 63);
		if (!word) {
			page = (page | 63) + 1;
			continue;
		}
		page += (unsigned)__builtin_ctzll(word);
		uint64_t off = page << ST__PAGE_SHIFT;
		memcpy(c->buf + filled, base + off, ST__PAGE);
		if (runs > 0 && c->runs[runs - 1].off + c->runs[runs - 1].n == off)
			c->runs[runs - 1].n += ST__PAGE;
		else
			c->runs[runs++] = (struct st__run){off, ST__PAGE};
		filled += ST__PAGE;
		page++;
	}
	*next = page;
	return runs;
}

/* The part that holds an offset. */
static unsigned part_of(const struct st__pool *p, uint64_t off)
{
	unsigned lo = 0, hi = __atomic_load_n(&p->n_parts, __ATOMIC_ACQUIRE);
	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;
		if (p->parts[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int write_run(struct st__ckpt *c, uint64_t off, uint64_t n, const char *from)
{
	const struct st__pool *p = c->st->pool;
	while (n > 0) {
		unsigned i = part_of(p, off);
		const struct st__part *x = &p->parts[i];
		uint64_t here = x->off + x->bytes - off < n ? x->off + x->bytes - off : n;
		int e = st__write_all(x->fd, from, here, off - x->off + x->file_off);
		if (e)
			return e;
		c->touched[i] = true;
		off += here;
		from += here;
		n -= here;
	}
	return 0;
}

static int sync_parts(struct st__ckpt *c)
{
	const struct st__pool *p = c->st->pool;
	unsigned n = __atomic_load_n(&p->n_parts, __ATOMIC_ACQUIRE);
	int e = 0;
	for (unsigned i = 0; i < n; i++) {
		int r = c->touched[i] && !fault_hit("ckpt-no-sync") ? st__sync(p->parts[i].fd) : 0;
		c->touched[i] = false;
		if (!e)
			e = r;
	}
	return e;
}

/* One attempt. After an error every page of it is written again: which ones the system has lost is not known. */
static int bring_home(struct st__ckpt *c)
{
	uint64_t page = c->frozen.lo << 6;
	int e = 0;
	if (c->attempts && fault_hit("ckpt-no-rewrite"))
		page = c->frozen.hi << 6;
	while (!e && page < c->frozen.hi << 6 && !__atomic_load_n(&c->abandon, __ATOMIC_RELAXED)) {
		unsigned runs = copy_pages(c, &page);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		uint64_t pos = __atomic_load_n(&c->log->end.pos, __ATOMIC_ACQUIRE);
		if (fault_hit("ckpt-early")) /* broken on purpose: the tests must catch it */
			pos = c->at.pos;
		if (runs && !fault_hit("ckpt-no-wait") && !st__log_wait(c->log, pos))
			return ECANCELED;
		const char *from = c->buf;
		for (unsigned i = 0; i < runs && !e; i++) {
			e = write_run(c, c->runs[i].off, c->runs[i].n, from);
			from += c->runs[i].n;
		}
	}
	int s = sync_parts(c);
	if (!e)
		e = s;
	if (!e && __atomic_load_n(&c->abandon, __ATOMIC_RELAXED))
		e = ECANCELED;
	if (!e && !st__log_wait(c->log, c->at.pos))
		e = ECANCELED;
	return e ? e : st__log_start(c->log, c->at);
}

static void attempt_failed(struct st__ckpt *c, int e)
{
	if (!c->failing && e != ECANCELED)
		log_msg(LOG_WARNING, "checkpoint: writing the pool %s: %s; it is tried again", c->st->pool->dir, strerror(e));
	if (e != ECANCELED)
		snprintf(c->error, sizeof(c->error), "%s", strerror(e));
	else if (!st__log_error(c->log, c->error, sizeof(c->error)))
		snprintf(c->error, sizeof(c->error), "the log could not be synced");
	__atomic_store_n(&c->failing, true, __ATOMIC_RELEASE);
	c->attempts++;
	pthread_cond_broadcast(&c->done);
}

static void attempt_worked(struct st__ckpt *c)
{
	if (c->failing)
		log_msg(LOG_NOTICE, "checkpoint: the pool %s is written again", c->st->pool->dir);
	c->count++;
	c->pages_written += c->frozen.n;
	pages_clear(&c->frozen, c->words);
	__atomic_store_n(&c->failing, false, __ATOMIC_RELEASE);
	__atomic_store_n(&c->running, false, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&c->done);
}

static void *run(void *arg)
{
	struct st__ckpt *c = arg;
	pthread_mutex_lock(&c->lock);
	while (!c->quit) {
		if (!c->running) {
			pthread_cond_wait(&c->go, &c->lock);
			continue;
		}
		pthread_mutex_unlock(&c->lock);
		int e = bring_home(c);
		pthread_mutex_lock(&c->lock);
		if (e) {
			attempt_failed(c, e);
			if (!c->quit)
				st__wait_ms(&c->go, &c->lock, st__retry_ms(c->attempts));
			continue;
		}
		attempt_worked(c);
		pthread_mutex_unlock(&c->lock);
		if (c->st->opt.wake)
			c->st->opt.wake(c->st->opt.wake_ctx);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* ---- the loop's side ---- */

void st__ckpt_begin(struct st__ckpt *c)
{
	if (st__ckpt_busy(c))
		return;
	pthread_mutex_lock(&c->lock);
	struct st__pages empty = c->frozen;
	c->frozen = c->active;
	c->active = empty;
	c->at = c->log->end;
	c->attempts = 0;
	__atomic_store_n(&c->running, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&c->go);
	pthread_mutex_unlock(&c->lock);
}

bool st__ckpt_wait(struct st__ckpt *c, uint64_t tries)
{
	pthread_mutex_lock(&c->lock);
	while (c->running && c->attempts < tries)
		pthread_cond_wait(&c->done, &c->lock);
	bool gave_up = c->running;
	pthread_mutex_unlock(&c->lock);
	return gave_up;
}

bool st__ckpt_error(struct st__ckpt *c, char *out, size_t n)
{
	if (!__atomic_load_n(&c->failing, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&c->lock);
	snprintf(out, n, "%s", c->error);
	pthread_mutex_unlock(&c->lock);
	return true;
}

/* Between ticks a page that is in neither set is home as it is here. The thread clears `frozen` once that is true. */
void st__ckpt_give_back(struct st__ckpt *c, uint64_t n)
{
	struct st__pages *m = &c->mine;
	uint64_t words = m->hi > m->lo ? m->hi - m->lo : 0;
	for (uint64_t looked = 0; looked < words && n > 0; looked++) {
		if (c->cursor < m->lo || c->cursor >= m->hi)
			c->cursor = m->lo;
		uint64_t w = c->cursor++, clean = m->bits[w] & ~c->active.bits[w] & ~c->frozen.bits[w];
		while (clean) {
			unsigned first = (unsigned)__builtin_ctzll(clean);
			uint64_t rest = ~(clean >> first);
			unsigned run = rest ? (unsigned)__builtin_ctzll(rest) : 64;
			uint64_t mask = (run == 64 ? ~0ull : (1ull << run) - 1) << first;
			char *at = c->st->pool->base + (((w << 6) + first) << ST__PAGE_SHIFT);
			if (madvise(at, (size_t)run << ST__PAGE_SHIFT, MADV_DONTNEED) != 0)
				return;
			clean &= ~mask;
			m->bits[w] &= ~mask;
			m->n -= run;
			n = n > run ? n - run : 0;
		}
	}
}

/* ---- life ---- */

void st__ckpt_init(struct st__ckpt *c, struct store *st, struct st__log *log)
{
	*c = (struct st__ckpt){.st = st, .log = log, .words = (st->pool->reserved >> ST__PAGE_SHIFT >> 6) + 1};
	pages_init(&c->active, c->words);
	pages_init(&c->frozen, c->words);
	pages_init(&c->mine, c->words);
	pthread_mutex_init(&c->lock, NULL);
	st__cond_init(&c->go);
	st__cond_init(&c->done);
}

void st__ckpt_run(struct st__ckpt *c)
{
	c->buf = mem_aligned(ST__PAGE, COPY_BYTES);
	c->runs = mem_alloc(RUNS_MAX * sizeof(*c->runs));
	c->touched = mem_zalloc(ST__PARTS_MAX * sizeof(*c->touched));
	c->started = true;
	st__thread_start(&c->thread, run, c, "checkpoint");
}

void st__ckpt_stop(struct st__ckpt *c)
{
	if (!c->started)
		return;
	pthread_mutex_lock(&c->lock);
	c->quit = true;
	__atomic_store_n(&c->abandon, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&c->go);
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_lock(&c->log->lock); /* it may be waiting for a log that will not be synced */
	c->log->abandon = true;
	pthread_cond_broadcast(&c->log->progress);
	pthread_mutex_unlock(&c->log->lock);
	pthread_join(c->thread, NULL);
	c->started = false;
}

void st__ckpt_free(struct st__ckpt *c)
{
	munmap(c->active.bits, c->words * 8);
	munmap(c->frozen.bits, c->words * 8);
	munmap(c->mine.bits, c->words * 8);
	mem_free(c->buf);
	mem_free(c->runs);
	mem_free(c->touched);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->go);
	pthread_cond_destroy(&c->done);
}
