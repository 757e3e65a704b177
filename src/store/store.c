/* Opening, closing, room and growth. */
#include "internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "sim.h"

#include <sys/mman.h>

#define MIB (1024ull * 1024)

/* ---- extents ---- */

bool st__in_extents(const struct store *st, uint64_t off, uint64_t n)
{
	for (uint32_t i = st->extents; i-- > 0;) {
		const struct st__span *x = &st->span[i];
		uint64_t from = x->start + sizeof(struct st__extent_layout), to = x->start + x->units * ST__SLAB;
		if (off >= from && off < to)
			return n <= to - off;
	}
	return false;
}

static void span_add(struct store *st, uint64_t start, uint64_t units)
{
	st->span = mem_realloc(st->span, (st->extents + 1) * sizeof(*st->span));
	st->span[st->extents++] = (struct st__span){start, units};
}

static uint64_t log_bytes(const struct store *st)
{
	uint64_t n = st->pool->reserved / 32;
	return n < MIB / 2 ? MIB / 2 : n > 16 * MIB ? 16 * MIB : n;
}

/* What the next data extent should have: a quarter of what there is. */
static uint64_t extent_bytes(const struct store *st, uint64_t need)
{
	uint64_t least = st->pool->reserved / 4 < 4 * MIB ? st->pool->reserved / 4 : 4 * MIB;
	uint64_t n = st->stats.mapped / 4;
	n = n < least ? least : n > 1024 * MIB ? 1024 * MIB : n;
	need += need / 32 + 4 * ST__SLAB;
	return n < need ? need : n;
}

/* The extents of the table, formatting what a death in the middle of growth left, and making the first two. */
static enum err open_extents(struct store *st, struct errinfo *ei)
{
	struct st__pool *p = st->pool;
	for (unsigned i = 0; i < ST__EXTENTS_MAX; i++) {
		uint64_t start, slabs;
		enum st__extent_kind kind = i == 0 ? ST__EXTENT_LOG : ST__EXTENT_DATA;
		enum err e;
		if (p->root->extent[i].off == 0) {
			if (i >= 2)
				break;
			if (!p->created && p->root->super.boots)
				return err_set(ei, ERR_CORRUPT, "extent %u is missing from the pool's table; restore the pool from a "
					"backup", i);
			e = p->ops->extent(p, i, i == 0 ? log_bytes(st) : extent_bytes(st, 0), &start, &slabs, ei);
		} else {
			e = p->ops->locate(p, i, &start, &slabs, ei);
		}
		if (e)
			return e;
		if ((start >> ST__SLAB_SHIFT) + slabs > st->slab_n)
			return err_set(ei, ERR_CORRUPT, "extent %u leads outside the pool: the extent table is damaged", i);
		if (!st__extent_valid(p, i, start)) {
			if (!p->created && i < 2 && p->root->super.boots)
				return err_set(ei, ERR_CORRUPT, "the head of extent %u is damaged; restore the pool from a backup", i);
			e = st__extent_format(p, i, kind, start, slabs);
			if (e)
				return err_set(ei, e, "extent %u is too small", i);
		}
		const struct st__extent_layout *x = (const void *)(p->base + start);
		if (x->slabs > slabs || !st__extent_fits(x, kind))
			return err_set(ei, ERR_CORRUPT, "the head of extent %u does not fit its place; restore the pool "
				"from a backup", i);
		span_add(st, start, x->slabs);
	}
	const struct st__extent_layout *first = (const void *)(p->base + st->span[1].start);
	st->meta_off = st__meta_place(first);
	return ERR_OK;
}

/* ---- room ---- */

static uint64_t spare(const struct store *st)
{
	uint64_t n = st->slabs / 32;
	return n < 4 ? 4 : n > 64 ? 64 : n;
}

static void set_plenty(struct store *st)
{
	uint64_t ahead = extent_bytes(st, 0) / 2 / ST__SLAB;
	if (ahead > 512)
		ahead = 512; /* 32 MiB: longer than a growth step takes to fill */
	st->plenty = 2 * spare(st) + 8 + ahead;
}

/* Tests on the simulated medium are deterministic: there growth happens at once, on this thread. */
static bool grow_here(struct store *st, uint64_t bytes)
{
	uint64_t start, slabs;
	unsigned index = st->extents;
	if (index == ST__EXTENTS_MAX || st->pool->ops->extent(st->pool, index, bytes, &start, &slabs, NULL))
		return false;
	CHECK(st__extent_format(st->pool, index, ST__EXTENT_DATA, start, slabs) == ERR_OK);
	span_add(st, start, slabs);
	CHECK(st__extent_adopt(st, start));
	st->stats.growths++;
	set_plenty(st);
	return true;
}

static bool can_grow(const struct store *st)
{
	return st->grow && st->extents < ST__EXTENTS_MAX && st->pool->reserved > st->stats.mapped + 8 * ST__SLAB &&
		(!st->grow_retry_us || clock_mono_us() >= st->grow_retry_us);
}

/* Takes the extent that waits into use. Where that fails it goes on waiting: to allocate another would not help. */
static bool take_extent(struct store *st)
{
	uint64_t start, slabs;
	struct errinfo ei = {0};
	if (st->pool->ops->locate(st->pool, st->waiting, &start, &slabs, &ei) ||
		st->medium->ops->extent_added(st->medium, start, slabs * ST__SLAB, &ei)) {
		if (!st->grow_retry_us)
			log_msg(LOG_WARNING, "pool: cannot grow: %s", ei.msg);
		st->grow_retry_us = clock_mono_us() + 1000000;
		return false;
	}
	const struct st__extent_layout *x = (const void *)(st->pool->base + start);
	st->waiting = 0;
	span_add(st, start, x->slabs);
	CHECK(st__extent_adopt(st, start));
	st->stats.growths++;
	st->grow_retry_us = 0;
	set_plenty(st);
	return true;
}

/* Takes a finished extent into use. False: the step failed. */
static bool grow_finish(struct store *st, bool wait)
{
	bool failed = false;
	int index = st__grow_take(st->grow, wait, &failed);
	if (index >= 0) {
		st->waiting = (uint32_t)index;
		return take_extent(st);
	}
	if (failed)
		st->grow_retry_us = clock_mono_us() + 1000000;
	return !failed;
}

static void grow_begin(struct store *st, size_t bytes)
{
	if (st->waiting)
		take_extent(st);
	else
		st__grow_start(st->grow, extent_bytes(st, bytes));
}

static bool reserve_slow(struct store *st, size_t bytes, unsigned sizes, bool freeing)
{
	/* Each size may open a slab of its class; big ones waste a quarter at most. A record that outgrows the log wants
	 * slabs too. */
	uint64_t need = 6 + sizes + (bytes + bytes / 4) / ST__SLAB + (bytes + st->copied) / ST__SLAB;
	if (freeing)
		return st->free_slabs > 0 || st->plenty == 0;
	need += spare(st);
	if (st->free_slabs < st->plenty && st->grow && !st__grow_busy(st->grow) && can_grow(st))
		grow_begin(st, bytes);
	while (st->free_slabs < need) {
		if (st->opt.medium == ST_MEDIUM_SIM) {
			if (!grow_here(st, extent_bytes(st, bytes)))
				return false;
			continue;
		}
		if (!st->grow || (!st__grow_busy(st->grow) && !can_grow(st)))
			return false;
		if (!st__grow_busy(st->grow))
			grow_begin(st, bytes);
		if (!grow_finish(st, true))
			return false;
	}
	return true;
}

bool st_reserve(struct store *st, size_t bytes, bool freeing)
{
	if (LIKELY(st->free_slabs > st->plenty + st->copied / ST__SLAB && bytes < 2 * ST__SLAB))
		return true;
	return reserve_slow(st, bytes, 0, freeing);
}

bool st_reserve_sizes(struct store *st, size_t bytes, unsigned sizes)
{
	if (sizes > st__class_count())
		sizes = st__class_count();
	if (LIKELY(st->free_slabs > st->plenty + sizes + st->copied / ST__SLAB && bytes < 2 * ST__SLAB))
		return true;
	return reserve_slow(st, bytes, sizes, false);
}

bool st_unit_too_big(const struct store *st)
{
	uint64_t room = st->free_slabs > spare(st) ? (st->free_slabs - spare(st)) * ST__SLAB / 2 : 0;
	return st->copied > 256 * MIB || (st->copied > 128 * 1024 && st->copied > room);
}

/* ---- opening ---- */

static enum st_medium medium_wanted(const struct store *st, const struct st_options *o)
{
	enum st_medium want = o->medium;
	uint64_t last = st->pool->root->super.medium;
	if (want == ST_MEDIUM_LAST)
		want = last == ST__MEDIUM_PMEM ? ST_MEDIUM_PMEM : last == ST__MEDIUM_FILE ? ST_MEDIUM_FILE : ST_MEDIUM_AUTO;
	if (want == ST_MEDIUM_AUTO)
		want = st->pool->is_pmem ? ST_MEDIUM_PMEM : ST_MEDIUM_FILE;
	return want;
}

static enum err choose_medium(struct store *st, const struct st_options *o, struct errinfo *ei)
{
	enum st_medium want = medium_wanted(st, o);
	if (want == ST_MEDIUM_PMEM && !st->pool->is_pmem && !st->pool->is_tmpfs)
		return err_set(ei, ERR_MEDIUM, "%s is not on persistent memory (a file system mounted with DAX, or tmpfs as "
			"a stand-in): use pool-medium auto or file", st->pool->dir);
	st->opt.medium = want;
	switch (want) {
	case ST_MEDIUM_PMEM:
		st->medium = st__medium_lines(st, &st__pmem_lines, NULL);
		break;
	case ST_MEDIUM_SIM:
		st->medium = st__medium_lines(st, &st__sim_lines, o->sim);
		break;
	default:
		return st__medium_file(st, o, &st->medium, ei);
	}
	return st->medium ? ERR_OK : err_set(ei, ERR_CORRUPT, "the pool's log extent is damaged");
}

static uint64_t medium_id(enum st_medium m)
{
	return m == ST_MEDIUM_PMEM ? ST__MEDIUM_PMEM : m == ST_MEDIUM_FILE ? ST__MEDIUM_FILE : ST__MEDIUM_SIM;
}

static void super_set(struct store *st, uint64_t *field, uint64_t v)
{
	*field = v;
	st->pool->ops->persist(st->pool, field, sizeof(*field));
}

/* From here on the pool is in use: what a crash leaves must be recovered with this medium. */
static void begin_life(struct store *st)
{
	struct st__super_layout *s = &st->pool->root->super;
	super_set(st, &s->medium, medium_id(st->opt.medium));
	super_set(st, &s->boots, s->boots + 1);
	super_set(st, &s->clean, 0);
	uint64_t before = st->salt;
	do
		rng_secure(&st->salt, sizeof(st->salt));
	while (st->salt == 0 || st->salt == before);
	struct st__record_layout head = {.salt = st->salt, .seq = ++st->seq, .kind = ST__RECORD_OPEN, .prev_salt = before};
	st->medium->ops->append(st->medium, &(struct st__record){.head = &head, .words = 0});
}

static enum err recover(struct store *st, struct errinfo *ei)
{
	struct st__medium *m = st->medium;
	for (uint32_t i = 1; i < st->extents; i++) {
		enum err e = m->ops->extent_added(m, st->span[i].start, st->span[i].units * ST__SLAB, ei);
		if (e)
			return e;
	}
	st->stats.was_clean = st->pool->root->super.clean != 0;
	enum err e = m->ops->recover(m, st->stats.was_clean, st__replay, &st->seq, &st->salt, ei);
	if (e)
		return e;
	const struct st__meta_layout *meta = (const void *)(st->pool->base + st->meta_off);
	if (meta->epoch == 0 || meta->floor >= meta->epoch)
		return err_set(ei, ERR_CORRUPT, "the pool's head state is damaged (epoch %u); restore the pool from a backup",
			meta->epoch);
	st->epoch = meta->epoch;
	st->floor = meta->floor;
	for (uint32_t i = 1; i < st->extents; i++)
		if (!st__extent_adopt(st, st->span[i].start))
			return err_set(ei, ERR_CORRUPT, "the slab words of extent %u are damaged; restore the pool from a backup",
				i);
	return ERR_OK;
}

static void release(struct store *st)
{
	if (st->grow)
		st__grow_free(st->grow);
	if (st->medium)
		st->medium->ops->close(st->medium);
	if (st->pool) {
		if (st->opened && !st->pool->failed)
			super_set(st, &st->pool->root->super.clean, 1);
		st->pool->ops->close(st->pool);
	}
	if (st->slab) {
		/* Only units of extents were ever written: the rest of the table is untouched memory. */
		for (uint32_t i = 0; i < st->extents; i++)
			for (uint64_t u = 0; u < st->span[i].units; u++)
				mem_free(st->slab[(st->span[i].start >> ST__SLAB_SHIFT) + u].busy);
		munmap(st->slab, st->slab_n * sizeof(*st->slab));
	}
	for (uint32_t i = 0; i < st->arena.n; i++)
		mem_free(st->arena.block[i]);
	mem_free(st->arena.block);
	mem_free(st->entries);
	mem_free(st->table);
	mem_free(st->undo);
	mem_free(st->touched);
	mem_free(st->born);
	mem_free(st->died);
	mem_free(st->spill_hold[0]);
	mem_free(st->spill_hold[1]);
	mem_free(st->span);
	mem_free(st->pins);
	mem_free(st->record);
	mem_free(st);
}

/* A pool that died on another medium is first recovered on that one. */
static enum err recover_elsewhere(const struct st_options *o, enum st_medium was, struct errinfo *ei)
{
	struct st_options other = *o;
	struct store *st;
	other.medium = was;
	other.durability_set = false;
	enum err e = st_open(&other, &st, ei);
	if (e)
		return e;
	st_close(st);
	return ERR_OK;
}

enum err st_open(const struct st_options *o, struct store **out, struct errinfo *ei)
{
	uint64_t began = clock_mono_us();
	struct store *st = mem_zalloc(sizeof(*st));
	st->opt = *o;
	st->tick = 1;
	enum err e = o->medium == ST_MEDIUM_SIM ? st__sim_open(o, &st->pool, ei) : st__pool_open(o, &st->pool, ei);
	if (e) {
		mem_free(st);
		return e;
	}
	st->front.base = st->pool->base;
	st->front.filter = st->filter;
	e = st__slabs_init(st);
	if (!e)
		e = open_extents(st, ei);
	if (e)
		goto fail;
	st__hash_init(st);
	static const struct st_kind_ops block = {.name = "stack block"};
	st_register(st, ST_KIND_QUEUE, &block);
	st_register(st, ST_KIND_DEADLIST, &block);
	const struct st__super_layout *s = &st->pool->root->super;
	if (!o->read_only && !s->clean && s->medium && s->medium != medium_id(medium_wanted(st, o))) {
		enum st_medium was = s->medium == ST__MEDIUM_PMEM ? ST_MEDIUM_PMEM : ST_MEDIUM_FILE;
		release(st);
		e = recover_elsewhere(o, was, ei);
		return e ? e : st_open(o, out, ei);
	}
	e = choose_medium(st, o, ei);
	if (!e)
		e = recover(st, ei);
	if (e)
		goto fail;
	if (!o->read_only) {
		begin_life(st);
		st->opened = true;
	}
	st->durability = o->durability_set ? o->durability
		: st->opt.medium == ST_MEDIUM_FILE ? ST_DURABLE_EVERYSEC : ST_DURABLE_ALWAYS;
	st->medium->ops->set_durability(st->medium, st->durability);
	set_plenty(st);
	if (st->opt.medium != ST_MEDIUM_SIM && !o->read_only)
		st->grow = st__grow_new(st);
	st->stats.open_us = clock_mono_us() - began;
	*out = st;
	return ERR_OK;
fail:
	release(st);
	return err_set(ei, e, "the pool %s cannot be opened: %s", o->path, err_text(e));
}

void st_close(struct store *st)
{
	if (!st->opt.read_only)
		st_commit(st);
	release(st);
}

void st_abandon(struct store *st)
{
	CHECK(st->opt.medium == ST_MEDIUM_SIM);
	st->opened = false;
	release(st);
}

/* ---- small things ---- */

void st_register(struct store *st, enum st_kind kind, const struct st_kind_ops *ops)
{
	CHECK2(kind < ST_KIND_MAX, kind, 0);
	st->kinds[kind] = ops;
}

st_off st_root(const struct store *st)
{
	return st__meta(st)->root;
}

void st_set_root(struct store *st, st_off root)
{
	st__meta_edit(st)->root = root;
}

void *st_edit_root(struct store *st)
{
	st_off root = st_root(st), was = root;
	void *p = st_edit(st, &root);
	if (root != was)
		st_set_root(st, root);
	return p;
}

const uint8_t *st_secret(const struct store *st)
{
	return st->pool->root->super.secret;
}

uint32_t st_epoch(const struct store *st)
{
	return st->epoch;
}

void st_set_durability(struct store *st, enum st_durability d)
{
	st->durability = st->opt.medium == ST_MEDIUM_FILE ? d : ST_DURABLE_ALWAYS;
	st->medium->ops->set_durability(st->medium, st->durability);
}

enum st_durability st_get_durability(const struct store *st)
{
	return st->durability;
}

void st__poll_growth(struct store *st)
{
	if (st->grow && st__grow_busy(st->grow))
		grow_finish(st, false);
}

void st_stats_get(const struct store *st, struct st_stats *out)
{
	*out = st->stats;
	bool emulated = st->opt.medium == ST_MEDIUM_PMEM && !st->pool->is_pmem;
	out->medium = st->opt.medium == ST_MEDIUM_FILE ? "file" : st->opt.medium == ST_MEDIUM_SIM ? "sim"
		: emulated ? "pmem (emulated)" : "pmem";
	out->survives = emulated ? "process death" : "power loss";
	out->reserved = st->pool->reserved;
	out->slabs = st->slabs;
	out->free_slabs = st->free_slabs;
	out->used = (st->slabs - st->free_slabs) * ST__SLAB;
	out->objects = st__meta(st)->objects;
	out->object_bytes = st__meta(st)->object_bytes;
	out->format_version = st->pool->root->super.format;
	st->medium->ops->stats(st->medium, out);
}
