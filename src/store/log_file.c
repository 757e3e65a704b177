/* The log of the file medium: the loop queues records, the log thread writes them in order and syncs them together, the
 * sync thread syncs once a second or when a checkpoint asks, where records need not be synced one by one.
 *
 *   queued (end) >= written >= synced >= start
 *
 * An error leaves the batch at hand; it is tried again until it works, and nothing is acknowledged meanwhile. After a
 * failed sync the system may have dropped what was written since the last good one, and will call it clean: all of that
 * is written again before the next sync counts. */
#include "file.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "io.h"
#include "thread.h"

#include <errno.h>
#include <stdio.h>

#define QUEUE_MAX (32u << 20)  /* bytes: with more waiting, append waits */
#define KEEP_MAX (8u << 20)    /* a larger buffer is given back after use */
#define STOP_TRIES 10

static uint64_t now_ms(void)
{
	return clock_mono_us() / 1000;
}

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static enum st_durability mode_of(const struct st__log *l)
{
	return __atomic_load_n(&l->mode, __ATOMIC_RELAXED);
}

/* ---- the loop's side ---- */

uint64_t st__log_place(const struct st__log *l, uint64_t body_bytes, bool *big_out)
{
	uint64_t n = st__record_place(body_bytes), limit = l->ring.head.ring / 8;
	if (limit > 64u << 20)
		limit = 64u << 20;
	*big_out = n > limit;
	return *big_out ? ST__STUB_PLACE : n;
}

uint64_t st__log_free(const struct st__log *l)
{
	return l->ring.head.ring - (l->end.pos - load(&l->start));
}

/* Room for n more bytes, and for zeros up to the end of their last block. */
static char *room(struct st__batch *b, size_t n)
{
	size_t need = b->lead + b->n + n + ST__LOG_BLOCK;
	if (UNLIKELY(need > b->cap)) {
		size_t cap = b->cap ? b->cap : 1u << 20;
		while (cap < need)
			cap *= 2;
		char *p = mem_aligned(ST__LOG_BLOCK, cap);
		if (b->n)
			memcpy(p + b->lead, b->p + b->lead, b->n);
		mem_free(b->p);
		b->p = p;
		b->cap = cap;
	}
	return b->p + b->lead + b->n;
}

void st__log_append(struct st__log *l, const struct st__record *r, bool big)
{
	uint64_t body = r->words * 8, n = st__record_place(body), at = l->end.pos;
	struct st__point to = {at + (big ? ST__STUB_PLACE : n), r->head->seq, r->head->salt};
	pthread_mutex_lock(&l->lock);
	while (UNLIKELY(l->fill.n > QUEUE_MAX && !l->failing))
		pthread_cond_wait(&l->progress, &l->lock);
	if (l->fill.n == 0) {
		l->fill.from = at;
		l->fill.lead = at % ST__LOG_BLOCK;
	}
	char *p = room(&l->fill, n);
	memcpy(p, r->head, sizeof(*r->head) + body);
	memset(p + sizeof(*r->head) + body, 0, n - sizeof(*r->head) - body);
	((struct st__record_layout *)(void *)p)->spill = big; /* only until it is written */
	l->fill.n += n;
	l->fill.to = to;
	bool wake = l->sleeping;
	l->sleeping = false;
	pthread_mutex_unlock(&l->lock);
	l->bytes += n;
	l->end.seq = to.seq;
	l->end.salt = to.salt;
	store(&l->end.pos, to.pos);
	/* What this record says is stored home after it has its place: who copies a page and then reads `end` gets a
	 * position behind every record whose effects are in the copy. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (wake)
		pthread_cond_signal(&l->work);
}

void st__log_mode(struct st__log *l, enum st_durability mode)
{
	pthread_mutex_lock(&l->lock);
	__atomic_store_n(&l->mode, mode, __ATOMIC_RELAXED);
	l->sleeping = false;
	pthread_cond_signal(&l->work);
	pthread_cond_signal(&l->due);
	pthread_mutex_unlock(&l->lock);
}

/* ---- progress and errors, under the lock ---- */

static void failed(struct st__log *l, int code, const char *doing)
{
	if (!l->failing)
		log_msg(LOG_WARNING, "log: %s %s: %s; writes wait until it works again", doing, l->ring.path, strerror(code));
	snprintf(l->error, sizeof(l->error), "%s the log %.150s: %s", doing, l->ring.path, strerror(code));
	__atomic_store_n(&l->failing, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&l->progress);
}

static void works(struct st__log *l)
{
	if (l->failing)
		log_msg(LOG_NOTICE, "log: %s is written again", l->ring.path);
	__atomic_store_n(&l->failing, false, __ATOMIC_RELEASE);
}

static void acknowledge(struct st__log *l)
{
	uint64_t seq = mode_of(l) == ST_DURABLE_ALWAYS ? l->synced.seq : l->written.seq;
	if (seq > l->acked)
		store(&l->acked, seq);
}

static void wrote(struct st__log *l, struct st__point to)
{
	bool first = l->written.pos == l->synced.pos;
	l->written = to;
	if (first && mode_of(l) != ST_DURABLE_ALWAYS) /* the sync thread's second begins, or it is waited for */
		pthread_cond_signal(&l->due);
}

static void synced(struct st__log *l, struct st__point to)
{
	if (to.pos > l->synced.pos)
		l->synced = to;
	l->last_sync = now_ms();
}

bool st__log_error(struct st__log *l, char *out, size_t n)
{
	if (!__atomic_load_n(&l->failing, __ATOMIC_ACQUIRE))
		return false;
	pthread_mutex_lock(&l->lock);
	snprintf(out, n, "%s", l->error);
	pthread_mutex_unlock(&l->lock);
	return true;
}

bool st__log_wait(struct st__log *l, uint64_t pos)
{
	pthread_mutex_lock(&l->lock);
	if (l->synced.pos < pos) {
		if (l->want < pos)
			l->want = pos;
		pthread_cond_signal(&l->due);
		while (l->synced.pos < pos && !l->abandon && !l->failing)
			pthread_cond_wait(&l->progress, &l->lock);
	}
	bool yes = l->synced.pos >= pos;
	pthread_mutex_unlock(&l->lock);
	return yes;
}

/* ---- writing ---- */

/* The record's own file, once: its stub may be in the ring already when a batch is written again, and the file is then
 * durable and must not be touched. */
static int write_big_file(struct st__log *l, struct st__record_layout *h, uint64_t pos)
{
	pthread_mutex_lock(&l->lock);
	bool there = false;
	for (size_t i = l->bigs_n; i-- > 0 && !there;)
		there = l->bigs[i].seq == h->seq;
	pthread_mutex_unlock(&l->lock);
	if (there)
		return 0;
	h->spill = 0;
	h->sum = st__record_sum(h, (const uint64_t *)(const void *)(h + 1));
	int e = st__big_write(&l->ring, h->seq, h, sizeof(*h) + h->bytes);
	h->spill = 1;
	if (e)
		return e;
	pthread_mutex_lock(&l->lock);
	l->bigs = mem_realloc(l->bigs, (l->bigs_n + 1) * sizeof(*l->bigs));
	l->bigs[l->bigs_n++] = (struct st__big){pos, h->seq};
	pthread_mutex_unlock(&l->lock);
	return 0;
}

static int write_big(struct st__log *l, struct st__record_layout *h, uint64_t pos)
{
	int e = write_big_file(l, h, pos);
	if (e)
		return e;
	struct {
		struct st__record_layout h;
		struct st__stub_layout s;
		char pad[ST__STUB_PLACE - sizeof(struct st__record_layout) - sizeof(struct st__stub_layout)];
	} stub = {.h = *h, .s = {h->bytes, h->sum}};
	stub.h.spill = 0;
	stub.h.kind = ST__RECORD_STUB;
	stub.h.bytes = sizeof(stub.s);
	stub.h.sum = st__record_sum(&stub.h, (const uint64_t *)(const void *)&stub.s);
	return st__ring_write(&l->ring, pos, &stub, sizeof(stub));
}

/* Fills in the sums. True: some record goes to a file of its own, so the batch is not one stretch of the ring. */
static bool seal(struct st__batch *b)
{
	bool big = false;
	for (size_t at = b->lead; at < b->lead + b->n;) {
		struct st__record_layout *h = (void *)(b->p + at);
		if (h->spill)
			big = true; /* sealed when it is written */
		else
			h->sum = st__record_sum(h, (const uint64_t *)(const void *)(h + 1));
		at += st__record_place(h->bytes);
	}
	return big;
}

/* Writes a batch to its places; records one behind the other go out together. May be called again after an error. */
static int write_batch(struct st__log *l, const struct st__batch *b)
{
	uint64_t pos = b->from, run_pos = pos;
	size_t run = b->lead, end = b->lead + b->n;
	for (size_t at = run; at < end;) {
		struct st__record_layout *h = (void *)(b->p + at);
		size_t n = st__record_place(h->bytes);
		if (h->spill) {
			int e = at > run ? st__ring_write(&l->ring, run_pos, b->p + run, at - run) : 0;
			if (!e)
				e = write_big(l, h, pos);
			if (e)
				return e;
			pos += ST__STUB_PLACE;
			run = at + n;
			run_pos = pos;
		} else {
			pos += n;
		}
		at += n;
	}
	return end > run ? st__ring_write(&l->ring, run_pos, b->p + run, end - run) : 0;
}

/* Writes a batch that is one stretch of the ring durably, in whole blocks. EINVAL: it must go the other way. */
static int write_through(struct st__log *l, struct st__batch *b)
{
	uint64_t first = b->from - b->lead, end = b->to.pos, pad = -end % ST__LOG_BLOCK;
	if (end + pad > load(&l->start) + l->ring.head.ring) /* the zeros behind it would reach the log's start */
		return EINVAL;
	if (b->lead && l->tail_pos == first) {
		memcpy(b->p, l->tail, b->lead);
	} else if (b->lead) {
		int e = st__ring_read(&l->ring, first, b->p, b->lead);
		if (e)
			return e;
	}
	memset(b->p + b->lead + b->n, 0, pad);
	int e = st__ring_write_through(&l->ring, first, b->p, b->lead + b->n + pad);
	if (e)
		return e;
	size_t last = end % ST__LOG_BLOCK;
	l->tail_pos = end - last;
	memcpy(l->tail, b->p + b->lead + b->n - last, last);
	return 0;
}

/* Writes [from, to) again from what the file still gives, as far as every record in it is whole. */
static int rewrite(struct st__log *l, struct st__point from, uint64_t to)
{
	struct st__reader d;
	st__reader_init(&d, &l->ring, from, to);
	int e = 0;
	while (!e && d.at.pos < to) {
		const struct st__record_layout *raw;
		uint64_t place, at = d.at.pos;
		int r = st__reader_next(&d, &raw, &place);
		e = r < 0 ? -r : r == 0 ? EIO : st__ring_write(&l->ring, at, raw, place);
	}
	st__reader_free(&d);
	return e;
}

/* Syncs what was written up to `to`. A fault since `faults` was read may have concerned it, whoever was told. */
static int sync_now(struct st__log *l, struct st__point to, uint64_t faults)
{
	pthread_mutex_lock(&l->syncing);
	int e = st__sync(l->ring.fd);
	pthread_mutex_lock(&l->lock);
	if (e) {
		l->faults++;
	} else if (l->faults == faults) {
		synced(l, to);
		l->cured = faults;
	}
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->syncing);
	return e;
}

/* The way of `always`, where nothing is owed. Tells of its own success. */
static int flush_through(struct st__log *l)
{
	int e = write_through(l, &l->out);
	if (e)
		return e;
	pthread_mutex_lock(&l->lock);
	wrote(l, l->out.to);
	synced(l, l->out.to);
	pthread_mutex_unlock(&l->lock);
	return 0;
}

/* Brings l->out to the file, and to the disk where that is asked for. Log thread, without the lock. */
static int flush(struct st__log *l, const char **doing)
{
	pthread_mutex_lock(&l->lock);
	uint64_t faults = l->faults;
	bool again = faults != l->cured;
	bool broken = again && fault_hit("log-no-rewrite"); /* on purpose: the tests must catch it */
	bool written = l->out.n && l->written.pos == l->out.to.pos;
	struct st__point from = l->synced;
	uint64_t to = l->out.n ? l->out.from : l->written.pos;
	pthread_mutex_unlock(&l->lock);
	*doing = "writing";
	bool big = seal(&l->out), always = mode_of(l) == ST_DURABLE_ALWAYS;
	if (always && !again && !big && l->out.n && from.pos == to) {
		int e = flush_through(l);
		if (e != EINVAL)
			return e;
	}
	l->tail_pos = UINT64_MAX;
	int e = again && !broken && from.pos < to ? rewrite(l, from, to) : 0;
	if (!e && !(broken && written))
		e = write_batch(l, &l->out);
	if (e)
		return e;
	pthread_mutex_lock(&l->lock);
	if (l->out.n)
		wrote(l, l->out.to);
	struct st__point upto = l->written;
	pthread_mutex_unlock(&l->lock);
	if (!again && !always)
		return 0;
	*doing = "syncing";
	return sync_now(l, upto, faults);
}

static bool work_waits(const struct st__log *l)
{
	return l->fill.n || l->out.n || l->faults != l->cured ||
		(mode_of(l) == ST_DURABLE_ALWAYS && l->synced.pos < l->written.pos);
}

static void take(struct st__log *l)
{
	struct st__batch b = l->out;
	l->out = l->fill;
	l->fill = b;
	l->fill.n = 0;
	if (l->out.n > QUEUE_MAX)
		pthread_cond_broadcast(&l->progress); /* append may go on */
}

static void give(struct st__batch *b)
{
	b->n = 0;
	if (b->cap > KEEP_MAX) {
		mem_free(b->p);
		b->p = NULL;
		b->cap = 0;
	}
}

static void *writer(void *arg)
{
	struct st__log *l = arg;
	unsigned tries = 0;
	pthread_mutex_lock(&l->lock);
	for (;;) {
		while (!work_waits(l) && !l->quit) {
			l->sleeping = true;
			pthread_cond_wait(&l->work, &l->lock);
			l->sleeping = false;
		}
		if (!work_waits(l))
			break;
		if (l->out.n == 0)
			take(l);
		pthread_mutex_unlock(&l->lock);
		const char *doing;
		int e = flush(l, &doing);
		pthread_mutex_lock(&l->lock);
		if (e) {
			failed(l, e, doing);
			tries++;
			if (l->quit && tries >= STOP_TRIES)
				break;
			st__wait_ms(&l->work, &l->lock, st__retry_ms(tries));
			continue;
		}
		if (l->faults != l->cured) /* another thread met one meanwhile: the batch is kept and written again */
			continue;
		tries = 0;
		works(l);
		acknowledge(l);
		give(&l->out);
		pthread_cond_broadcast(&l->progress);
		pthread_mutex_unlock(&l->lock);
		if (l->st->opt.wake)
			l->st->opt.wake(l->st->opt.wake_ctx);
		pthread_mutex_lock(&l->lock);
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- syncing apart from writing ---- */

/* Milliseconds until a sync is due; 0: now; UINT64_MAX: nothing to sync, or not this thread's business. */
static uint64_t until_due(const struct st__log *l)
{
	if (l->written.pos == l->synced.pos || l->faults != l->cured || mode_of(l) == ST_DURABLE_ALWAYS)
		return UINT64_MAX;
	if (l->want > l->synced.pos || l->quit)
		return 0;
	if (mode_of(l) != ST_DURABLE_EVERYSEC)
		return UINT64_MAX;
	uint64_t since = now_ms() - l->last_sync;
	return since >= 1000 ? 0 : 1000 - since;
}

static void *syncer(void *arg)
{
	struct st__log *l = arg;
	pthread_mutex_lock(&l->lock);
	while (!l->quit) {
		uint64_t ms = until_due(l);
		if (ms == UINT64_MAX) {
			pthread_cond_wait(&l->due, &l->lock);
			continue;
		}
		if (ms > 0) {
			st__wait_ms(&l->due, &l->lock, ms);
			continue;
		}
		struct st__point to = l->written;
		uint64_t faults = l->faults;
		pthread_mutex_unlock(&l->lock);
		int e = sync_now(l, to, faults);
		pthread_mutex_lock(&l->lock);
		if (e) {
			failed(l, e, "syncing");
			pthread_cond_signal(&l->work); /* the log thread writes it again */
		} else {
			pthread_cond_broadcast(&l->progress);
		}
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- the start ---- */

static void drop_bigs(struct st__log *l, uint64_t start)
{
	pthread_mutex_lock(&l->lock);
	size_t kept = 0;
	for (size_t i = 0; i < l->bigs_n; i++) {
		if (l->bigs[i].pos < start)
			st__big_remove(&l->ring, l->bigs[i].seq);
		else
			l->bigs[kept++] = l->bigs[i];
	}
	l->bigs_n = kept;
	pthread_mutex_unlock(&l->lock);
}

int st__log_start(struct st__log *l, struct st__point start)
{
	pthread_mutex_lock(&l->syncing);
	int e = st__ring_start(&l->ring, &start);
	pthread_mutex_lock(&l->lock);
	if (e) {
		l->faults++; /* the failed sync of the header may have been told about records */
		pthread_cond_signal(&l->work);
	} else {
		store(&l->start, start.pos);
		pthread_cond_broadcast(&l->progress);
	}
	pthread_mutex_unlock(&l->lock);
	pthread_mutex_unlock(&l->syncing);
	if (!e)
		drop_bigs(l, start.pos);
	return e;
}

/* Between opening and the first record nobody else uses the log. */
void st__log_adopt(struct st__log *l, const struct st__record_layout *open)
{
	if (open->seq == l->end.seq + 1 && open->prev_salt == l->end.salt)
		return;
	CHECK2(l->end.pos == l->start, l->end.pos, l->start);
	struct st__point at = {l->end.pos, open->seq - 1, open->prev_salt};
	pthread_mutex_lock(&l->lock);
	l->end = l->written = l->synced = at;
	l->acked = at.seq;
	pthread_mutex_unlock(&l->lock);
	int e;
	for (uint64_t tries = 0; (e = st__log_start(l, at)) != 0; tries++) {
		pthread_mutex_lock(&l->lock);
		failed(l, e, "writing");
		st__wait_ms(&l->progress, &l->lock, st__retry_ms(tries));
		pthread_mutex_unlock(&l->lock);
	}
}

/* ---- life ---- */

void st__log_init(struct st__log *l, struct store *st)
{
	*l = (struct st__log){.st = st, .ring = {.fd = -1, .dirfd = -1, .through = -1}};
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_init(&l->syncing, NULL);
	st__cond_init(&l->work);
	st__cond_init(&l->due);
	st__cond_init(&l->progress);
}

void st__log_run(struct st__log *l, struct st__point end, enum st_durability mode)
{
	l->end = l->written = l->synced = end;
	l->acked = end.seq;
	l->start = l->ring.head.start;
	l->mode = mode;
	l->last_sync = now_ms();
	l->tail_pos = UINT64_MAX;
	l->started = true;
	st__thread_start(&l->writer, writer, l, "log");
	st__thread_start(&l->syncer, syncer, l, "log-sync");
}

bool st__log_stop(struct st__log *l)
{
	if (!l->started)
		return true;
	pthread_mutex_lock(&l->lock);
	l->quit = true;
	l->sleeping = false;
	pthread_cond_signal(&l->work);
	pthread_cond_signal(&l->due);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->writer, NULL);
	pthread_join(l->syncer, NULL);
	l->started = false;
	bool whole = l->written.pos == l->end.pos && l->out.n == 0 && l->fill.n == 0 && l->faults == l->cured;
	if (whole && l->synced.pos < l->written.pos)
		whole = sync_now(l, l->written, l->faults) == 0;
	pthread_mutex_lock(&l->lock);
	l->abandon = true;
	pthread_cond_broadcast(&l->progress);
	pthread_mutex_unlock(&l->lock);
	return whole;
}

void st__log_free_all(struct st__log *l)
{
	st__ring_close(&l->ring);
	mem_free(l->fill.p);
	mem_free(l->out.p);
	mem_free(l->bigs);
	pthread_mutex_destroy(&l->lock);
	pthread_mutex_destroy(&l->syncing);
	pthread_cond_destroy(&l->work);
	pthread_cond_destroy(&l->due);
	pthread_cond_destroy(&l->progress);
}
