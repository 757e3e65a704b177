#include "sim.h"

#include "base/mem.h"
#include "base/rng.h"
#include "internal.h"

#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

/* A version of a line that is on its way to the medium. */
struct version {
	uint64_t line;
	char bytes[ST__LINE];
};

struct st_sim {
	char *work;    /* as the processor sees it: the store's memory */
	char *media;   /* what surely survives; NULL: not accounted for */
	uint64_t bytes;
	int fd;        /* of `media`, where both memories are mappings; -1: they are the caller's */
	struct version *pending;
	size_t n, cap;
	uint64_t events;
	void (*watch)(void *ctx, enum st_sim_event ev);
	void *watch_ctx;
	uint64_t log_from, log_to; /* of the log extent, for directed images */
	/* lines that may differ from the medium, as of an event */
	uint64_t *astray;
	size_t astray_n, astray_cap;
	uint64_t astray_event;
	bool watching; /* an event is being told: nothing changes meanwhile */
};

/* The simulated pool: root object at 64 KiB, extents behind it one after the other. */
#define SIM_ROOT 65536u
#define SIM_FIRST 196608u

static char *map(int fd, uint64_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(p != MAP_FAILED);
	return p;
}

struct st_sim *st_sim_in(uint64_t bytes, char *work, char *media)
{
	struct st_sim *s = mem_zalloc(sizeof(*s));
	s->bytes = bytes;
	s->fd = -1;
	s->work = work;
	s->media = media;
	s->astray_event = UINT64_MAX;
	return s;
}

/* `work` is a private mapping of `media`: it parts from it page by page, as it is stored to. What a fence brings to
 * `media` was stored to `work` before, so nothing that comes there shows through. */
struct st_sim *st_sim_new(uint64_t bytes, const char *image)
{
	int fd = memfd_create("sim", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	char *media = map(fd, bytes, MAP_SHARED);
	if (image)
		memcpy(media, image, bytes);
	struct st_sim *s = st_sim_in(bytes, map(fd, bytes, MAP_PRIVATE), media);
	s->fd = fd;
	return s;
}

struct st_sim *st_sim_over(uint64_t bytes, char *image)
{
	return st_sim_in(bytes, image, NULL);
}

void st_sim_free(struct st_sim *s)
{
	if (s->fd >= 0) {
		munmap(s->work, s->bytes);
		munmap(s->media, s->bytes);
		close(s->fd);
	}
	mem_free(s->pending);
	mem_free(s->astray);
	mem_free(s);
}

uint64_t st_sim_bytes(const struct st_sim *s)
{
	return s->bytes;
}

void st_sim_watch(struct st_sim *s, void (*fn)(void *ctx, enum st_sim_event ev), void *ctx)
{
	s->watch = fn;
	s->watch_ctx = ctx;
}

uint64_t st_sim_events(const struct st_sim *s)
{
	return s->events;
}

size_t st_sim_pending(const struct st_sim *s)
{
	return s->n;
}

static void event(struct st_sim *s, enum st_sim_event ev)
{
	s->events++;
	if (!s->watch)
		return;
	s->watching = true;
	s->watch(s->watch_ctx, ev);
	s->watching = false;
}

static void push_lines(struct st_sim *s, const void *p, size_t n)
{
	uint64_t at = (uint64_t)((const char *)p - s->work), first = at / ST__LINE, last = (at + n - 1) / ST__LINE;
	CHECK2(n > 0 && at + n <= s->bytes, at, n);
	if (!s->media)
		return;
	for (uint64_t l = first; l <= last; l++) {
		if (s->n == s->cap) {
			s->cap = s->cap ? s->cap * 2 : 1024;
			s->pending = mem_realloc(s->pending, s->cap * sizeof(*s->pending));
		}
		struct version *v = &s->pending[s->n++];
		v->line = l;
		memcpy(v->bytes, s->work + l * ST__LINE, ST__LINE);
	}
}

static void sim_flush(void *ctx, const void *p, size_t n)
{
	event(ctx, ST_SIM_FLUSH);
	push_lines(ctx, p, n);
}

static void land(const struct version *v, char *out)
{
	memcpy(out + v->line * ST__LINE, v->bytes, ST__LINE);
}

static void sim_fence(void *ctx)
{
	struct st_sim *s = ctx;
	event(s, ST_SIM_FENCE);
	for (size_t i = 0; i < s->n; i++)
		land(&s->pending[i], s->media);
	s->n = 0;
}

static void sim_stream(void *ctx, void *dst, const void *src, size_t n)
{
	event(ctx, ST_SIM_STREAM);
	memcpy(dst, src, n);
	push_lines(ctx, dst, n);
}

static void sim_store(void *ctx, void *dst, const void *src, size_t n)
{
	event(ctx, ST_SIM_STORE);
	memcpy(dst, src, n);
}

const struct st__line_ops st__sim_lines = {sim_flush, sim_fence, sim_stream, sim_store};

/* ---- images ---- */

static bool in_log(const struct st_sim *s, uint64_t line)
{
	return line * ST__LINE >= s->log_from && line * ST__LINE < s->log_to;
}

struct chance {
	enum st_sim_subset subset;
	struct rng *rng;
	double p;
	uint64_t skip; /* line */
};

static bool reaches(const struct st_sim *s, const struct chance *c, uint64_t line)
{
	switch (c->subset) {
	case ST_SIM_NOTHING:
		return false;
	case ST_SIM_EVERYTHING:
		return true;
	case ST_SIM_LOG_ONLY:
		return in_log(s, line);
	case ST_SIM_ALL_BUT_LOG:
		return !in_log(s, line);
	case ST_SIM_ALL_BUT_ONE:
		return line != c->skip;
	default:
		return rng_unit(c->rng) < c->p;
	}
}

static void stray(struct st_sim *s, uint64_t line)
{
	if (s->astray_n == s->astray_cap) {
		s->astray_cap = s->astray_cap ? s->astray_cap * 2 : 1024;
		s->astray = mem_realloc(s->astray, s->astray_cap * sizeof(*s->astray));
	}
	s->astray[s->astray_n++] = line;
}

static void find_astray(struct st_sim *s)
{
	s->astray_n = 0;
	s->astray_event = s->events;
	for (uint64_t at = 0; at < s->bytes; at += 4096) {
		if (memcmp(s->work + at, s->media + at, 4096) == 0)
			continue;
		for (uint64_t l = at / ST__LINE; l < (at + 4096) / ST__LINE; l++)
			if (memcmp(s->work + l * ST__LINE, s->media + l * ST__LINE, ST__LINE) != 0)
				stray(s, l);
	}
	for (size_t i = 0; i < s->n; i++)
		stray(s, s->pending[i].line);
}

/* Lines that differ from the medium and were never flushed may have been evicted at any time. */
static void evict(struct st_sim *s, const struct chance *c, char *out)
{
	if (!s->watching || s->astray_event != s->events)
		find_astray(s);
	for (size_t i = 0; i < s->astray_n; i++) {
		uint64_t at = s->astray[i] * ST__LINE;
		if (memcmp(s->work + at, out + at, ST__LINE) != 0 && reaches(s, c, s->astray[i]))
			memcpy(out + at, s->work + at, ST__LINE);
	}
}

void st_sim_cut(struct st_sim *s, enum st_sim_subset subset, struct rng *rng, char *view)
{
	static const double odds[] = {.05, .2, .5, .8, .95};
	struct chance c = {subset, rng, odds[rng_below(rng, 5)], s->n ? s->pending[rng_below(rng, s->n)].line : 0};
	/* Of a line's versions any may be the last that lands: a later one contains the earlier ones. */
	for (size_t i = 0; i < s->n; i++)
		if (reaches(s, &c, s->pending[i].line))
			land(&s->pending[i], view);
	if (subset != ST_SIM_NOTHING && subset != ST_SIM_LOG_ONLY && subset != ST_SIM_ALL_BUT_ONE)
		evict(s, &c, view);
}

void st_sim_image(struct st_sim *s, enum st_sim_subset subset, struct rng *rng, char *out)
{
	for (uint64_t at = 0; at < s->bytes; at += 4096)
		if (memcmp(out + at, s->media + at, 4096) != 0) /* out may be a view: what is shared stays shared */
			memcpy(out + at, s->media + at, 4096);
	st_sim_cut(s, subset, rng, out);
}

char *st_sim_view(const struct st_sim *s)
{
	CHECK(s->fd >= 0);
	return map(s->fd, s->bytes, MAP_PRIVATE);
}

void st_sim_unview(const struct st_sim *s, char *view)
{
	munmap(view, s->bytes);
}

/* ---- the pool ---- */

static uint64_t sim_end(const struct st__pool *p, unsigned index)
{
	uint64_t at = SIM_FIRST;
	for (unsigned i = 0; i < index; i++) {
		const uint64_t *e = &p->root->extent[i].off;
		at = *e + p->root->extent[i].pool_uuid;
	}
	return at;
}

struct sim_pool {
	struct st__pool p;
	struct st_sim *sim;
};

static struct st_sim *sim_of(struct st__pool *p)
{
	return ((struct sim_pool *)(void *)p)->sim;
}

static void sim_persist(struct st__pool *p, const void *at, size_t n)
{
	struct st_sim *s = sim_of(p);
	event(s, ST_SIM_PERSIST);
	push_lines(s, at, n);
	for (size_t i = 0; i < s->n; i++)
		land(&s->pending[i], s->media);
	s->n = 0;
}

/* Here an entry's pool_uuid holds its bytes. */
static enum err sim_extent(struct st__pool *p, unsigned index, uint64_t bytes, uint64_t *start, uint64_t *slabs,
	struct errinfo *ei)
{
	uint64_t at = sim_end(p, index);
	bytes = (bytes + ST__SLAB - 1) & ~(uint64_t)(ST__SLAB - 1);
	if (at % ST__SLAB || at > p->reserved || bytes > p->reserved - at)
		return err_set(ei, ERR_FULL, "the simulated medium is full");
	struct st__extent_ref_layout *e = &p->root->extent[index];
	e->pool_uuid = bytes;
	sim_persist(p, e, sizeof(*e));
	e->off = at;
	sim_persist(p, e, sizeof(*e));
	*start = at;
	*slabs = bytes >> ST__SLAB_SHIFT;
	return ERR_OK;
}

static enum err sim_locate(struct st__pool *p, unsigned index, uint64_t *start, uint64_t *slabs, struct errinfo *ei)
{
	const struct st__extent_ref_layout *e = &p->root->extent[index];
	if (e->off % ST__SLAB || e->off < SIM_FIRST || e->off >= p->reserved || e->pool_uuid > p->reserved - e->off)
		return err_set(ei, ERR_CORRUPT, "extent %u is damaged", index);
	*start = e->off;
	*slabs = e->pool_uuid >> ST__SLAB_SHIFT;
	if (index == 0) {
		sim_of(p)->log_from = e->off;
		sim_of(p)->log_to = e->off + e->pool_uuid;
	}
	return ERR_OK;
}

static void sim_close(struct st__pool *p)
{
	mem_free(p);
}

static const struct st__pool_ops sim_pool_ops = {sim_extent, sim_locate, sim_persist, sim_close};

enum err st__sim_open(const struct st_options *o, struct st__pool **out, struct errinfo *ei)
{
	struct st_sim *s = o->sim;
	struct sim_pool *sp = mem_zalloc(sizeof(*sp));
	struct st__pool *p = &sp->p;
	sp->sim = s;
	p->ops = &sim_pool_ops;
	p->base = s->work;
	p->reserved = s->bytes;
	p->root = (void *)(s->work + SIM_ROOT);
	static_assert(SIM_ROOT + sizeof(struct st__root_layout) <= SIM_FIRST, "the root object fits");
	if (p->root->super.magic == 0) {
		p->created = true;
		st__super_init(p->root);
		sim_persist(p, &p->root->super, sizeof(p->root->super));
	}
	enum err e = st__super_check(p->root, ei);
	if (e)
		mem_free(sp);
	else
		*out = p;
	return e;
}
