/* A double of the store for tests of the structures alone: the calls of store/store.h on a plain arena, strict about
 * their rules. It ends the test when a structure
 * - writes to a committed object (the memory that st_view shows is mapped read-only) or beyond an object's end,
 * - views, edits, frees or drops what is not there, frees twice, or edits one object both whole and by parts,
 * - keeps a pointer of an earlier tick and writes through it (sums of all objects, fake_verify),
 * - changes or loses what a snapshot (fake_snapshot: everything until then is shared) still has.
 * Fresh and freed memory is filled with rubbish. Included by the tests, once a program. */
#include "base/mem.h"
#include "store/store.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum fake_state { FAKE_NONE, FAKE_LIVE, FAKE_FRESH, FAKE_DYING, FAKE_HELD };

struct fake_unit {  /* of 16 bytes; of an object's first */
	uint32_t size;  /* class size */
	uint32_t asked; /* bytes asked for: what of a fresh object is made durable */
	uint32_t sum;   /* of its bytes, when live */
	uint8_t state;
	uint8_t whole, parts; /* how this tick has edited it */
	uint8_t pins;
	uint32_t place; /* fresh: in the list of those; held: 1 when by the snapshot, 0 when by a pin alone */
};
struct fake_entry {
	st_off off, owner;
	char *copy;
	uint32_t n;
};
struct fake_list {
	st_off *p;
	size_t n, cap;
};
#define FAKE_CLASSES 128

struct store {
	struct st_front front; /* first */
	bool strict;
	char *rw; /* the arena, writable */
	size_t bytes, at;
	struct fake_unit *unit;
	uint64_t filter[ST_FILTER_BITS / 64];
	uint32_t epoch, floor;
	const struct st_kind_ops *kinds[ST_KIND_MAX];
	struct fake_entry *table;
	uint32_t table_cap; /* a power of two */
	uint32_t *used;     /* places of the table in use */
	uint32_t used_n;
	struct fake_list fresh, dying, held, queue;
	struct fake_list dropped; /* in this tick: walked from the next on, when parts that it edited are at home */
	struct fake_list freed[4096 + 64]; /* by size / 16, then by slab / k */
	st_off root;
	/* facts */
	uint64_t objects, object_bytes, log_words, log_runs, fresh_bytes, copied, ticks;
};

static void fake_push(struct fake_list *l, st_off off)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 64;
		l->p = mem_realloc(l->p, l->cap * sizeof(*l->p));
	}
	l->p[l->n++] = off;
}

static struct fake_unit *fake_of(const struct store *st, st_off off)
{
	CHECK2(off % 16 == 0 && off && off < st->at, off, st->at);
	return &st->unit[off / 16];
}

size_t st_class_size(size_t n)
{
	if (n > ST_OBJ_MAX)
		return 0;
	if (n <= 1024)
		return n <= 32 ? 32 : (n + 15) & ~(size_t)15;
	if (n <= 2048)
		return (n + 127) & ~(size_t)127;
	if (n <= 4096)
		return (n + 255) & ~(size_t)255;
	size_t k = 15;
	while ((65536 / k & ~(size_t)15) < n)
		k--;
	return 65536 / k & ~(size_t)15;
}

static struct fake_list *fake_bin(struct store *st, size_t size)
{
	return &st->freed[size <= 4096 ? size / 16 : 4096 + 65536 / size];
}

static struct store *fake_open(size_t bytes, bool strict)
{
	struct store *st = mem_zalloc(sizeof(*st));
	int fd = memfd_create("fake_store", 0);

	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	st->strict = strict;
	st->rw = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	st->front.base = strict ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : st->rw;
	st->unit = mmap(NULL, bytes / 16 * sizeof(*st->unit), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(st->rw != MAP_FAILED && st->front.base != MAP_FAILED && (void *)st->unit != MAP_FAILED);
	close(fd);
	st->bytes = bytes;
	st->at = 4096;
	st->epoch = 1;
	st->table_cap = 1u << 12;
	st->table = mem_zalloc(st->table_cap * sizeof(*st->table));
	st->used = mem_alloc(st->table_cap * sizeof(*st->used));
	st->front.filter = st->filter;
	if (strict) {
		memset(st->filter, 0xff, sizeof(st->filter));
		st->front.overlay_n = 1;
	}
	return st;
}

static void fake_close(struct store *st)
{
	for (uint32_t i = 0; i < st->used_n; i++)
		mem_free(st->table[st->used[i]].copy);
	mem_free(st->table);
	mem_free(st->used);
	struct fake_list *lists[] = {&st->fresh, &st->dying, &st->held, &st->queue, &st->dropped};
	for (unsigned i = 0; i < 5; i++)
		mem_free(lists[i]->p);
	for (unsigned i = 0; i < 4096 + 64; i++)
		mem_free(st->freed[i].p);
	if (st->strict)
		munmap(st->front.base, st->bytes);
	munmap(st->rw, st->bytes);
	munmap(st->unit, st->bytes / 16 * sizeof(*st->unit));
	mem_free(st);
}

/* ---- overlay ---- */

static struct fake_entry *fake_find(const struct store *st, st_off off)
{
	for (uint32_t h = (uint32_t)(off * 0x9E3779B97F4A7C15ull >> 40);; h++) {
		struct fake_entry *e = &st->table[h & (st->table_cap - 1)];
		if (e->off == off)
			return e;
		if (e->off == 0)
			return NULL;
	}
}

static struct fake_entry *fake_put(struct store *st, st_off off, st_off owner, uint32_t n)
{
	if (st->used_n * 2 >= st->table_cap) {
		struct fake_entry *old = st->table;
		uint32_t cap = st->table_cap;
		st->table_cap *= 2;
		st->table = mem_zalloc(st->table_cap * sizeof(*st->table));
		mem_free(st->used);
		st->used = mem_alloc(st->table_cap * sizeof(*st->used));
		st->used_n = 0;
		for (uint32_t i = 0; i < cap; i++)
			if (old[i].off)
				*fake_put(st, old[i].off, old[i].owner, old[i].n) = old[i];
		mem_free(old);
	}
	uint32_t h = (uint32_t)(off * 0x9E3779B97F4A7C15ull >> 40) & (st->table_cap - 1);
	while (st->table[h].off)
		h = (h + 1) & (st->table_cap - 1);
	st->used[st->used_n++] = h;
	st->table[h] = (struct fake_entry){off, owner, NULL, n};
	uint32_t bit = st_filter_bit(off);
	st->filter[bit >> 6] |= 1ull << (bit & 63);
	if (!st->strict)
		st->front.overlay_n++;
	return &st->table[h];
}

static void *fake_copy_in(struct store *st, st_off off, st_off owner, uint32_t n)
{
	struct fake_entry *e = fake_put(st, off, owner, n);
	e->copy = mem_aligned(16, n);
	memcpy(e->copy, st->rw + off, n);
	st->copied += n;
	return e->copy;
}

/* The object that `off` lies in; parts start within 64 KiB of it. */
static st_off fake_owner(const struct store *st, st_off off)
{
	for (st_off at = off; at >= 16 && off - at < 65536; at -= 16)
		if (st->unit[at / 16].state != FAKE_NONE) {
			CHECK2(off < at + st->unit[at / 16].size, off, at);
			return at;
		}
	CHECK2(!"an object", off, 0);
	return 0;
}

const void *st_view_slow(const struct store *st, st_off off)
{
	if (st->strict) {
		CHECK2(off % 16 == 0 && off && off < st->at, off, st->at);
		st_off owner = fake_owner(st, off);
		const struct fake_unit *u = fake_of(st, owner);
		CHECK2(u->state == FAKE_LIVE || u->state == FAKE_FRESH || u->state == FAKE_HELD, off, u->state);
	}
	const struct fake_entry *e = fake_find(st, off);
	return e ? e->copy : st->front.base + off;
}

size_t st_size(const struct store *st, st_off off)
{
	const struct fake_unit *u = fake_of(st, off);
	CHECK2(u->state != FAKE_NONE, off, u->state);
	return u->size;
}

/* ---- objects ---- */

void *st_alloc(struct store *st, size_t n, enum st_kind kind, st_off *off_out)
{
	size_t size = st_class_size(n);
	CHECK2(size != 0 && n >= sizeof(struct st_obj), n, kind);
	struct fake_list *bin = fake_bin(st, size);
	st_off off;

	if (bin->n) {
		off = bin->p[--bin->n];
	} else {
		off = st->at;
		st->at += size + (st->strict ? 16 : 0);
		CHECK2(st->at <= st->bytes, st->at, st->bytes);
	}
	struct fake_unit *u = &st->unit[off / 16];
	CHECK2(u->state == FAKE_NONE, off, u->state);
	*u = (struct fake_unit){
		.size = (uint32_t)size, .asked = (uint32_t)n, .state = FAKE_FRESH, .place = (uint32_t)st->fresh.n};
	fake_push(&st->fresh, off);
	if (st->strict) {
		memset(st->rw + off, 0xAB, size);
		memset(st->rw + off + size, 0xC5, 16);
	}
	*(struct st_obj *)(void *)(st->rw + off) = (struct st_obj){.birth = st->epoch, .kind = (uint8_t)kind};
	st->objects++;
	st->object_bytes += size;
	st->fresh_bytes += size;
	*off_out = off;
	return st->rw + off;
}

void st_fill(struct store *st, void *fresh_at, const void *src, size_t n)
{
	CHECK2((char *)fresh_at >= st->rw && (char *)fresh_at + n <= st->rw + st->at, (uintptr_t)fresh_at, n);
	memcpy(fresh_at, src, n);
}

bool st_shared(const struct store *st, st_off off)
{
	const struct fake_unit *u = fake_of(st, off);
	const struct st_obj *o = (const void *)(st->rw + off);
	CHECK2(u->state != FAKE_NONE, off, u->state);
	return (st->floor && o->birth <= st->floor) || u->pins;
}

static void *fake_clone(struct store *st, st_off *ref)
{
	st_off from = *ref, to;
	struct fake_unit *u = fake_of(st, from);
	const struct st_obj *o = (const void *)(st->rw + from);

	CHECK2(!u->whole && !u->parts, from, 0);
	char *c = st_alloc(st, u->size, o->kind, &to);
	memcpy(c + sizeof(*o), st->rw + from + sizeof(*o), u->size - sizeof(*o));
	((struct st_obj *)(void *)c)->flags = o->flags;
	st_free(st, from);
	*ref = to;
	return c;
}

static struct fake_unit *fake_editable(struct store *st, st_off off)
{
	struct fake_unit *u = fake_of(st, off);
	CHECK2(u->state == FAKE_LIVE || u->state == FAKE_FRESH, off, u->state);
	return u;
}

void *st_edit(struct store *st, st_off *ref)
{
	struct fake_unit *u = fake_editable(st, *ref);
	CHECK2(!u->parts, *ref, u->parts);
	struct fake_entry *e = fake_find(st, *ref);

	if (e)
		return e->copy;
	if (st_shared(st, *ref))
		return fake_clone(st, ref);
	if (u->state == FAKE_FRESH)
		return st->rw + *ref;
	u->whole = 1;
	return fake_copy_in(st, *ref, *ref, u->size);
}

void *st_edit_part(struct store *st, st_off *ref, size_t at, size_t n)
{
	struct fake_unit *u = fake_editable(st, *ref);
	CHECK2(!u->whole && at % 16 == 0 && n % 16 == 0 && n && at + n <= u->size, at, n);
	struct fake_entry *e = fake_find(st, *ref + at);

	if (e) {
		CHECK2(e->n == n, e->n, n);
		return e->copy;
	}
	if (st_shared(st, *ref))
		return (char *)fake_clone(st, ref) + at;
	if (u->state == FAKE_FRESH)
		return st->rw + *ref + at;
	u->parts = 1;
	return fake_copy_in(st, *ref + at, *ref, (uint32_t)n);
}

static void fake_reuse(struct store *st, st_off off)
{
	struct fake_unit *u = fake_of(st, off);
	if (st->strict) {
		for (unsigned i = 0; i < 16; i++)
			CHECK2((uint8_t)st->rw[off + u->size + i] == 0xC5, off, u->size);
		memset(st->rw + off, 0xDD, u->size);
	}
	st->objects--;
	st->object_bytes -= u->size;
	fake_push(fake_bin(st, u->size), off);
	u->state = FAKE_NONE;
}

static uint32_t fake_sum(const struct store *st, st_off off)
{
	const struct fake_unit *u = fake_of(st, off);
	uint64_t h = u->size, w;
	for (size_t i = 0; i < u->size; i += 8) {
		memcpy(&w, st->rw + off + i, 8);
		h = (h ^ w) * 0x9E3779B97F4A7C15ull;
		h ^= h >> 29;
	}
	return (uint32_t)h;
}

void st_free(struct store *st, st_off off)
{
	struct fake_unit *u = fake_editable(st, off);
	const struct st_obj *o = (const void *)(st->rw + off);

	if (u->state == FAKE_FRESH) {
		st_off last = st->fresh.p[--st->fresh.n];
		st->fresh.p[u->place] = last;
		fake_of(st, last)->place = u->place;
		if (u->pins) {
			u->state = FAKE_HELD;
			u->place = 0;
			u->sum = fake_sum(st, off);
			return;
		}
		fake_reuse(st, off);
	} else if ((st->floor && o->birth <= st->floor) || u->pins) {
		u->state = FAKE_HELD;
		u->place = st->floor && o->birth <= st->floor;
		if (u->place)
			fake_push(&st->held, off);
	} else {
		u->state = FAKE_DYING;
		fake_push(&st->dying, off);
	}
}

void st_drop(struct store *st, st_off root)
{
	fake_editable(st, root);
	fake_push(&st->dropped, root);
}

static void fake_drop_child(void *ctx, st_off child)
{
	struct store *st = ctx;
	fake_editable(st, child);
	fake_push(&st->queue, child);
}

bool st_work(struct store *st, unsigned objects)
{
	for (; st->queue.n && objects; objects--) {
		st_off off = st->queue.p[--st->queue.n];
		const struct st_obj *o = st_view(st, off);
		CHECK2(!fake_of(st, off)->parts, off, 0);
		const struct st_kind_ops *k = st->kinds[o->kind];
		CHECK2(k != NULL, off, o->kind);
		if (k->children)
			k->children(o, st_size(st, off), fake_drop_child, st);
		st_free(st, off);
	}
	return st->queue.n + st->dropped.n != 0;
}

void st_register(struct store *st, enum st_kind kind, const struct st_kind_ops *ops)
{
	st->kinds[kind] = ops;
}

bool st_pin(struct store *st, st_off off)
{
	struct fake_unit *u = fake_editable(st, off);
	if (u->whole || u->parts)
		return false;
	u->pins++;
	return true;
}

void st_unpin(struct store *st, st_off off)
{
	struct fake_unit *u = fake_of(st, off);
	CHECK2(u->pins, off, 0);
	if (--u->pins == 0 && u->state == FAKE_HELD && !u->place)
		fake_reuse(st, off);
}

bool st_reserve(struct store *st, size_t bytes, bool freeing)
{
	(void)st;
	(void)bytes;
	(void)freeing;
	return true;
}

st_off st_root(const struct store *st)
{
	return st->root;
}

void st_set_root(struct store *st, st_off root)
{
	st->root = root;
}

void *st_edit_root(struct store *st)
{
	return st_edit(st, &st->root);
}

/* ---- ticks ---- */

static void fake_apply(struct store *st, struct fake_entry *e)
{
	struct fake_unit *u = fake_of(st, e->owner);
	bool run = false;

	if (u->state == FAKE_LIVE) {
		for (uint32_t i = 0; i < e->n; i += 8) {
			bool differs = memcmp(e->copy + i, st->rw + e->off + i, 8) != 0;
			st->log_words += differs;
			st->log_runs += differs && !run;
			run = differs;
		}
		memcpy(st->rw + e->off, e->copy, e->n);
		if (st->strict)
			u->sum = fake_sum(st, e->owner);
	}
	u->whole = u->parts = 0;
	mem_free(e->copy);
	*e = (struct fake_entry){0};
}

static struct fake_unit fake_held_by_pin(struct fake_unit u)
{
	u.state = FAKE_HELD;
	u.place = 0;
	return u;
}

uint64_t st_commit(struct store *st)
{
	for (uint32_t i = 0; i < st->used_n; i++)
		fake_apply(st, &st->table[st->used[i]]);
	st->used_n = 0;
	if (!st->strict) {
		memset(st->filter, 0, sizeof(st->filter));
		st->front.overlay_n = 0;
	}
	for (size_t i = 0; i < st->fresh.n; i++) {
		st_off off = st->fresh.p[i];
		struct fake_unit *u = fake_of(st, off);
		u->state = FAKE_LIVE;
		if (st->strict)
			memset(st->rw + off + u->asked, 0xEE, u->size - u->asked);
		for (unsigned k = 0; st->strict && k < 16; k++)
			CHECK2((uint8_t)st->rw[off + u->size + k] == 0xC5, off, u->size);
		if (st->strict)
			u->sum = fake_sum(st, off);
	}
	st->fresh.n = 0;
	for (size_t i = 0; i < st->dying.n; i++)
		if (!st->unit[st->dying.p[i] / 16].pins)
			fake_reuse(st, st->dying.p[i]);
		else
			*fake_of(st, st->dying.p[i]) = fake_held_by_pin(*fake_of(st, st->dying.p[i]));
	st->dying.n = 0;
	for (size_t i = 0; i < st->dropped.n; i++)
		fake_push(&st->queue, st->dropped.p[i]);
	st->dropped.n = 0;
	return ++st->ticks;
}

/* Everything committed is shared from now on: edits clone. */
static inline void fake_snapshot(struct store *st)
{
	CHECK(st->used_n == 0 && st->fresh.n == 0 && st->floor == 0);
	st->floor = st->epoch++;
}

/* Every object is what the last tick that changed it has made it. */
static inline void fake_verify(const struct store *st)
{
	for (st_off off = 4096; st->strict && off < st->at;) {
		const struct fake_unit *u = &st->unit[off / 16];
		if (u->state == FAKE_LIVE || u->state == FAKE_HELD)
			CHECK2(u->sum == fake_sum(st, off), off, u->size);
		off += u->size + 16;
	}
}

/* The snapshot goes: what died meanwhile is freed. Between ticks. */
static inline void fake_release(struct store *st)
{
	fake_verify(st);
	st->floor = 0;
	for (size_t i = 0; i < st->held.n; i++) {
		struct fake_unit *u = fake_of(st, st->held.p[i]);
		if (u->pins)
			u->place = 0;
		else
			fake_reuse(st, st->held.p[i]);
	}
	st->held.n = 0;
}
