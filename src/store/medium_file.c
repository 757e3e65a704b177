/* The file medium: data extents are private memory; a log file makes ticks durable, checkpoints bring pages home.
 * FILE_MEDIUM.md has the protocol. */
#include "file.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define GIVE_BACK 1024u  /* pages a tick, about */
#define CLOSE_TRIES 8

static struct st__file *file_of(struct st__medium *m)
{
	return (struct st__file *)(void *)m;
}

/* ---- memory ---- */

/* Maps [off, off+n) of the pool privately over itself, part by part. */
static enum err remap(struct st__file *f, uint64_t off, uint64_t n, struct errinfo *ei)
{
	const struct st__pool *p = f->m.st->pool;
	unsigned parts = __atomic_load_n(&p->n_parts, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < parts && n > 0; i++) {
		const struct st__part *x = &p->parts[i];
		if (off >= x->off + x->bytes)
			continue;
		uint64_t here = x->off + x->bytes - off < n ? x->off + x->bytes - off : n;
		void *at = mmap(p->base + off, here, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, x->fd,
			(off_t)(off - x->off + x->file_off));
		if (at == MAP_FAILED)
			return err_set(ei, ERR_MEMORY, "mapping the pool %s: %s; raise vm.max_map_count, or use a larger pool-grow",
				p->dir, strerror(errno));
		off += here;
		n -= here;
	}
	return n == 0 ? ERR_OK : err_set(ei, ERR_CORRUPT, "an extent of the pool %s leads outside of its parts", p->dir);
}

static enum err file_extent_added(struct st__medium *m, uint64_t start, uint64_t bytes, struct errinfo *ei)
{
	struct st__file *f = file_of(m);
	return f->read_only ? ERR_OK : remap(f, start, bytes, ei); /* there libpmemobj has mapped all of it privately */
}

static void file_apply(struct st__medium *m, uint64_t off, const void *src, size_t n)
{
	memcpy(m->st->front.base + off, src, n);
	st__ckpt_mark(&file_of(m)->ckpt, off, n);
}

static void file_dirtied(struct st__medium *m, uint64_t off, size_t n)
{
	st__ckpt_mark(&file_of(m)->ckpt, off, n);
}

static void file_barrier(struct st__medium *m)
{
	(void)m;
}

static void file_fresh(struct st__medium *m, const void *p, size_t n)
{
	(void)m, (void)p, (void)n;
}

/* ---- ticks ---- */

/* Starts a checkpoint where one is wanted. Everything appended is applied. */
static void start_wanted(struct st__file *f)
{
	if (!f->wanted || st__ckpt_busy(&f->ckpt))
		return;
	f->wanted = false;
	st__ckpt_begin(&f->ckpt);
}

/* Waits until the log has room for n more bytes. A checkpoint makes it; where checkpoints fail, the record goes to a
 * file of its own and only a stub into the stretch that is kept for stubs. */
static void wait_for_room(struct st__file *f, uint64_t *place, bool *big)
{
	uint64_t keep = *big ? 0 : ST__LOG_STUBS;
	while (st__log_free(&f->log) < *place + keep) {
		if (!*big && __atomic_load_n(&f->ckpt.failing, __ATOMIC_ACQUIRE)) {
			*big = true;
			*place = ST__STUB_PLACE;
			keep = 0;
			continue;
		}
		st__ckpt_begin(&f->ckpt);
		st__ckpt_wait(&f->ckpt, *big ? UINT64_MAX : 1);
	}
}

static void file_append(struct st__medium *m, struct st__record *r)
{
	struct st__file *f = file_of(m);
	bool big;
	uint64_t place = st__log_place(&f->log, r->words * 8, &big);
	start_wanted(f);
	if (UNLIKELY(st__log_free(&f->log) < place + ST__LOG_STUBS))
		wait_for_room(f, &place, &big);
	if (UNLIKELY(r->head->kind == ST__RECORD_OPEN))
		st__log_adopt(&f->log, r->head);
	st__log_append(&f->log, r, big);
	if (UNLIKELY(st__log_free(&f->log) < f->log.ring.head.ring / 2 || f->ckpt.active.n > f->dirty_max))
		f->wanted = true;
}

static uint64_t file_durable(struct st__medium *m)
{
	return __atomic_load_n(&file_of(m)->log.acked, __ATOMIC_ACQUIRE);
}

static void file_set_durability(struct st__medium *m, enum st_durability d)
{
	struct st__file *f = file_of(m);
	f->durability = d;
	if (f->log.started)
		st__log_mode(&f->log, d);
}

static void file_idle(struct st__medium *m)
{
	struct st__file *f = file_of(m);
	start_wanted(f);
	if (UNLIKELY(f->ckpt.mine.n > f->private_max))
		st__ckpt_give_back(&f->ckpt, GIVE_BACK);
}

static const char *file_write_error(struct st__medium *m)
{
	struct st__file *f = file_of(m);
	char why[256];
	if (st__log_error(&f->log, f->error, sizeof(f->error)))
		return f->error;
	uint64_t ring = f->log.ring.head.ring;
	if (st__log_free(&f->log) > ring / 4 || !st__ckpt_error(&f->ckpt, why, sizeof(why)))
		return NULL;
	snprintf(f->error, sizeof(f->error), "the log is nearly full and the pool %.80s cannot be written: %.100s",
		m->st->pool->dir, why);
	return f->error;
}

static void file_stats(struct st__medium *m, struct st_stats *out)
{
	struct st__file *f = file_of(m);
	if (f->durability == ST_DURABLE_EVERYSEC)
		out->survives = "power loss, but for the last second";
	else if (f->durability == ST_DURABLE_NO)
		out->survives = "process death";
	out->log_size = f->log.ring.head.ring;
	out->log_used = out->log_size - st__log_free(&f->log);
	out->log_bytes = f->log.bytes;
	pthread_mutex_lock(&f->ckpt.lock);
	out->checkpoints = f->ckpt.count;
	out->apply_bytes = f->ckpt.pages_written * ST__PAGE; /* what really went home */
	pthread_mutex_unlock(&f->ckpt.lock);
}

/* ---- opening and closing ---- */

/* Clean pools do without their log: a new one is made where the old one is not at hand. */
static enum err open_log(struct st__file *f, struct errinfo *ei)
{
	struct st__pool *p = f->m.st->pool;
	struct st__super_layout *s = &p->root->super;
	struct errinfo why = {0};
	enum err e = st__ring_open(&f->log.ring, p, f->read_only, &why);
	if (!e || (!s->clean && s->medium == ST__MEDIUM_FILE) || e == ERR_PERMISSION)
		return e ? err_set(ei, e, "%s", why.msg) : ERR_OK;
	if (f->read_only)
		return ERR_OK; /* recover() will not read it */
	uint64_t id;
	do
		rng_secure(&id, sizeof(id));
	while (id == 0 || id == s->log_id);
	e = st__ring_create(&f->log.ring, p, id, f->log_size, 0, 0, ei);
	if (e)
		return e;
	s->log_id = id; /* the log is there first */
	p->ops->persist(p, &s->log_id, sizeof(s->log_id));
	return p->failed ? err_set(ei, ERR_IO, "the superblock of the pool %s cannot be written", p->dir) : ERR_OK;
}

typedef enum err (*replay_fn)(struct store *st, const struct st__record_layout *head, const uint64_t *body);

static enum err replay_one(struct st__file *f, struct st__reader *d, const struct st__record_layout *raw, uint64_t pos,
	replay_fn replay, struct errinfo *ei)
{
	const struct st__record_layout *head;
	const uint64_t *body;
	struct st__log *l = &f->log;
	enum err e = st__reader_record(d, raw, &head, &body, ei);
	if (e)
		return e;
	if (raw->kind == ST__RECORD_STUB) {
		l->bigs = mem_realloc(l->bigs, (l->bigs_n + 1) * sizeof(*l->bigs));
		l->bigs[l->bigs_n++] = (struct st__big){pos, raw->seq};
	}
	e = head->kind == ST__RECORD_TICK ? replay(f->m.st, head, body) : ERR_OK;
	return e ? err_set(ei, e, "record %llu of the log %s makes no sense; restore the pool and its log from a backup",
		(unsigned long long)raw->seq, l->ring.path) : ERR_OK;
}

static enum err replay_all(struct st__file *f, replay_fn replay, struct st__point *end, struct errinfo *ei)
{
	struct st__ring *r = &f->log.ring;
	struct st__reader d;
	enum err e = ERR_OK;
	st__reader_init(&d, r, *end, r->head.start + r->head.ring);
	while (!e) {
		const struct st__record_layout *raw;
		uint64_t place, pos = d.at.pos;
		int n = st__reader_next(&d, &raw, &place);
		if (n < 0)
			e = err_set(ei, ERR_IO, "reading the log %s: %s", r->path, strerror(-n));
		if (n <= 0)
			break;
		e = replay_one(f, &d, raw, pos, replay, ei);
	}
	*end = d.at;
	st__reader_free(&d);
	/* What was read may be in the system's memory only; nothing may overtake it to the disk. */
	int code = e || f->read_only ? 0 : st__sync(r->fd);
	return code ? err_set(ei, ERR_IO, "syncing the log %s: %s", r->path, strerror(code)) : e;
}

static void clean_bigs(struct st__file *f)
{
	struct st__log *l = &f->log;
	uint64_t *keep = mem_alloc((l->bigs_n + 1) * sizeof(*keep));
	for (size_t i = 0; i < l->bigs_n; i++)
		keep[i] = l->bigs[i].seq;
	st__big_clean(&l->ring, keep, l->bigs_n);
	mem_free(keep);
}

/* A log-size that has changed: once nothing is in the log, a new file takes the old one's place and identity. */
static enum err resize(struct st__file *f, struct errinfo *ei)
{
	struct st__log *l = &f->log;
	struct st__pool *p = f->m.st->pool;
	struct st__ring fresh;
	if (l->ring.head.ring == f->log_size)
		return ERR_OK;
	if (st__log_free(l) < l->ring.head.ring || f->ckpt.active.n) {
		st__ckpt_begin(&f->ckpt);
		if (st__ckpt_wait(&f->ckpt, CLOSE_TRIES))
			return err_set(ei, ERR_IO, "writing the pool %s: %s", p->dir, f->ckpt.error);
	}
	enum st_durability mode = l->mode;
	struct st__point end = l->end;
	if (!st__log_stop(l))
		return err_set(ei, ERR_IO, "%s", l->error);
	enum err e = st__ring_create(&fresh, p, l->ring.head.id, f->log_size, end.seq, end.salt, ei);
	if (e)
		return e;
	st__ring_close(&l->ring);
	l->ring = fresh;
	l->quit = l->abandon = false;
	st__log_run(l, (struct st__point){0, end.seq, end.salt}, mode);
	return ERR_OK;
}

static enum err file_recover(struct st__medium *m, bool clean, replay_fn replay, uint64_t *seq_out, uint64_t *salt_out,
	struct errinfo *ei)
{
	struct st__file *f = file_of(m);
	struct st__log *l = &f->log;
	const struct st__log_layout *h = &l->ring.head;
	struct st__point end = {h->start, h->seq, h->salt};
	enum err e = clean ? ERR_OK : replay_all(f, replay, &end, ei);
	if (e)
		return e;
	*seq_out = end.seq;
	*salt_out = end.salt;
	l->end = end;
	l->start = h->start;
	if (f->read_only)
		return ERR_OK;
	clean_bigs(f);
	st__log_run(l, end, f->durability);
	st__ckpt_run(&f->ckpt);
	return resize(f, ei);
}

static void file_close(struct st__medium *m)
{
	struct st__file *f = file_of(m);
	struct st__pool *p = m->st->pool;
	if (f->log.started) {
		st__ckpt_wait(&f->ckpt, CLOSE_TRIES);
		if (!st__ckpt_busy(&f->ckpt) && (f->ckpt.active.n || st__log_free(&f->log) < f->log.ring.head.ring)) {
			st__ckpt_begin(&f->ckpt);
			st__ckpt_wait(&f->ckpt, CLOSE_TRIES);
		}
		bool home = !st__ckpt_busy(&f->ckpt);
		st__ckpt_stop(&f->ckpt);
		if (!st__log_stop(&f->log) || !home) {
			p->failed = true;
			log_msg(LOG_WARNING, "pool: %s could not be written whole; its log has the rest, for the next start",
				p->dir);
		}
	}
	st__ckpt_stop(&f->ckpt); /* when opening failed half-way */
	st__ckpt_free(&f->ckpt);
	st__log_free_all(&f->log);
	mem_free(f);
}

static const struct st__medium_ops file_ops = {
	.name = "file",
	.fresh_in_log = true,
	.fresh = file_fresh,
	.fill = NULL,
	.barrier = file_barrier,
	.append = file_append,
	.apply = file_apply,
	.dirtied = file_dirtied,
	.durable = file_durable,
	.recover = file_recover,
	.set_durability = file_set_durability,
	.extent_added = file_extent_added,
	.idle = file_idle,
	.write_error = file_write_error,
	.stats = file_stats,
	.close = file_close,
};

static uint64_t memory_pages(void)
{
	long n = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return n > 0 && size > 0 ? (uint64_t)n * (uint64_t)size / ST__PAGE : 1u << 20;
}

enum err st__medium_file(struct store *st, const struct st_options *o, struct st__medium **out, struct errinfo *ei)
{
	struct st__file *f = mem_zalloc(sizeof(*f));
	f->m = (struct st__medium){.ops = &file_ops, .st = st};
	f->read_only = o->read_only;
	f->durability = o->durability_set ? o->durability : ST_DURABLE_EVERYSEC;
	f->log_size = (o->log_size < ST__LOG_MIN ? ST__LOG_MIN : o->log_size) & ~65535ull;
	f->dirty_max = memory_pages() / 8;
	f->private_max = memory_pages() / 4;
	st__log_init(&f->log, st);
	st__ckpt_init(&f->ckpt, st, &f->log);
	enum err e = open_log(f, ei);
	if (e)
		file_close(&f->m);
	else
		*out = &f->m;
	return e;
}
