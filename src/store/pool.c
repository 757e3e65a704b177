/* The pool: libpmemobj's directory pool set, opened, grown and closed. POOL.md. */
#include "pool.h"

#include "base/log.h"
#include "base/mem.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <libpmem.h>
#include <libpmemobj.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ull << 20)
#define CHUNK (256ull << 10) /* of libpmemobj's heap */
#define HEADER 16u           /* of an allocation */

struct pool {
	struct st__pool p;
	PMEMobjpool *pop;
	int dirfd;
	uint64_t mapped;    /* bytes in parts */
	uint64_t grow;      /* least step */
	uint64_t uuid;      /* that libpmemobj's pointers carry */
	uint64_t *object;   /* offsets of all its objects as of opening, ascending: what an extent's pointer may name */
	size_t objects;
	unsigned first_new; /* extents from this one on were added by this process */
	bool stuck;         /* libpmemobj lost count of its parts: no growth before the next open */
};

static struct pool *pool_of(struct st__pool *p)
{
	return (struct pool *)(void *)p;
}

enum err st__pmemobj_error(struct errinfo *ei, const char *doing, const char *path, uint64_t reserved)
{
	int code = errno;
	const char *why = pmemobj_errormsg();
	if (code == EAGAIN || code == EACCES || code == EPERM || code == EROFS || code == ENOSPC || code == EDQUOT)
		return st__errno(ei, code, "opening the pool", path);
	if (code == ENOMEM || strstr(why, "contiguous region"))
		return err_set(ei, ERR_MEMORY, "%s the pool %s: the system gives no %llu bytes of address space for it; lower "
			"pool-size, or raise the limit (ulimit -v)", doing, path, (unsigned long long)reserved);
	if (strstr(why, "layout"))
		return err_set(ei, ERR_ARGUMENT, "%s is the pool of another program (%s); name another directory", path, why);
	if (strstr(why, "initialization failed")) /* the parts are smaller than the heap in them says, mostly */
		return err_set(ei, ERR_CORRUPT, "the pool %s is damaged: a part was truncated, or libpmemobj's heap is broken; "
			"restore the pool from a backup", path);
	return err_set(ei, code == EIO ? ERR_IO : ERR_CORRUPT, "%s the pool %s: libpmemobj says: %s; restore the pool "
		"from a backup, or look at it with pmempool check", doing, path, why);
}

/* ---- extents ---- */

static enum err usable(struct st__pool *p, uint64_t off, uint64_t bytes, uint64_t *start, uint64_t *slabs,
	unsigned index, struct errinfo *ei)
{
	uint64_t mapped = __atomic_load_n(&pool_of(p)->mapped, __ATOMIC_ACQUIRE);
	uint64_t from = (off + ST__SLAB - 1) & ~(uint64_t)(ST__SLAB - 1);
	if (off < sizeof(struct st__root_layout) || off >= mapped || bytes > mapped - off || bytes < from - off + ST__SLAB)
		return err_set(ei, ERR_CORRUPT, "extent %u of the pool %s leads outside of it; restore the pool from a "
			"backup", index, p->dir);
	*start = from;
	*slabs = (off + bytes - from) >> ST__SLAB_SHIFT;
	return ERR_OK;
}

/* libpmemobj trusts the pointers it is asked about, and dies of a wrong one: they are checked against a walk over its
 * heap, one step an extent. */
static void list_objects(struct pool *q)
{
	size_t cap = 0;
	for (PMEMoid o = pmemobj_first(q->pop); !OID_IS_NULL(o) && q->objects < ST__EXTENTS_MAX; o = pmemobj_next(o)) {
		if (q->objects == cap) {
			cap = cap ? cap * 2 : 64;
			q->object = mem_realloc(q->object, cap * sizeof(*q->object));
		}
		q->object[q->objects++] = o.off;
	}
}

static int compare_offsets(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static enum err pool_locate(struct st__pool *p, unsigned index, uint64_t *start, uint64_t *slabs, struct errinfo *ei)
{
	const struct st__extent_ref_layout *x = &p->root->extent[index];
	const struct pool *q = pool_of(p);
	bool known = index >= q->first_new ||
		bsearch(&x->off, q->object, q->objects, sizeof(*q->object), compare_offsets);
	if (x->pool_uuid != q->uuid || x->off % 16 != 0 || x->off >= q->mapped || !known)
		return err_set(ei, ERR_CORRUPT, "extent %u of the pool %s leads outside of it; restore the pool from a "
			"backup", index, p->dir);
	uint64_t bytes = pmemobj_alloc_usable_size((PMEMoid){x->pool_uuid, x->off});
	return usable(p, x->off, bytes, start, slabs, index, ei);
}

/* ---- growing ---- */

/* Takes a part's file into the list of parts. */
static enum err adopt_part(struct pool *q, unsigned index, struct errinfo *ei)
{
	char name[16];
	struct stat sb;
	st__part_name(name, index);
	int fd = openat(q->dirfd, name, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb) != 0) {
		int code = errno;
		if (fd >= 0)
			close(fd);
		return st__errno(ei, code, "opening a part of the pool", q->p.dir);
	}
	uint64_t bytes = (uint64_t)sb.st_size & ~4095ull;
	q->p.parts[index] = (struct st__part){.off = q->mapped, .bytes = bytes, .fd = fd, .file_off = 0};
	__atomic_store_n(&q->mapped, q->mapped + bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&q->p.n_parts, index + 1, __ATOMIC_RELEASE);
	return ERR_OK;
}

/* A step: what the extent needs, pool-grow at least, more in a big pool (parts cost descriptors and time to open). */
static uint64_t step_bytes(const struct pool *q, uint64_t need)
{
	uint64_t most = q->p.is_tmpfs ? 128 * MIB : 1024 * MIB; /* there allocating means zeroing */
	uint64_t n = q->mapped / 16 < most ? q->mapped / 16 : most;
	if (n < q->grow)
		n = q->grow;
	if (n < need)
		n = need;
	n = (n + MIB - 1) / MIB * MIB;
	uint64_t left = q->p.reserved - q->mapped;
	if (n > left || left - n < ST__PART_MIN) /* the rest would be too small for a step of its own */
		n = left;
	return n & ~4095ull;
}

/* The part is complete and durable before libpmemobj hears of it: its own way (create, then allocate) leaves a file
 * that it refuses, where the process dies in between or the disk is full, and numbers the next one wrongly. */
static enum err grow(struct pool *q, uint64_t need, struct errinfo *ei)
{
	struct st__pool *p = &q->p;
	if (q->stuck)
		return err_set(ei, ERR_IO, "the pool %s cannot grow after an earlier error until it is opened again", p->dir);
	uint64_t bytes = step_bytes(q, need);
	if (bytes < ST__PART_MIN || p->n_parts >= ST__PARTS_MAX)
		return err_set(ei, ERR_FULL, "the pool %s has grown to its pool-size of %llu bytes", p->dir,
			(unsigned long long)p->reserved);
	enum err e = st__dir_add_part(q->dirfd, p->dir, p->n_parts, bytes, ei);
	if (e)
		return e;
	if (pmemobj_ctl_exec(q->pop, "heap.size.extend", &bytes) != 0) {
		char name[16];
		e = err_set(ei, ERR_IO, "growing the pool %s: libpmemobj says: %s", p->dir, pmemobj_errormsg());
		q->stuck = true;
		st__part_name(name, p->n_parts);
		st__io()->unlinkat(q->dirfd, name, 0);
		return e;
	}
	return adopt_part(q, p->n_parts, ei);
}

static bool allocate(struct pool *q, unsigned index, uint64_t chunks)
{
	PMEMoid *to = (PMEMoid *)(void *)&q->p.root->extent[index];
	return pmemobj_alloc(q->pop, to, chunks * CHUNK - HEADER, 1, NULL, NULL) == 0;
}

static enum err pool_extent(struct st__pool *p, unsigned index, uint64_t bytes, uint64_t *start, uint64_t *slabs,
	struct errinfo *ei)
{
	struct pool *q = pool_of(p);
	uint64_t chunks = (bytes + ST__SLAB + CHUNK - 1) / CHUNK; /* the way to the first 64 KiB boundary too */
	bool done = allocate(q, index, chunks);
	/* Chunk tables of libpmemobj stand between: a step may leave the extent a little short. */
	for (unsigned i = 0; !done && i < 2; i++) {
		enum err e = grow(q, chunks * CHUNK + (i + 1) * MIB, ei);
		if (e && e != ERR_FULL)
			return e;
		done = allocate(q, index, chunks);
		if (e)
			break;
	}
	/* At the end of the reservation or the disk: what still fits. ei then says why it is no more, when nothing does. */
	while (!done && chunks > 4) {
		chunks /= 2;
		done = allocate(q, index, chunks);
	}
	if (!done)
		return err_set(ei, ERR_FULL, "the pool %s has no room for another extent", p->dir);
	if (ei)
		*ei = (struct errinfo){0};
	if (q->first_new > index)
		q->first_new = index;
	return pool_locate(p, index, start, slabs, ei);
}


/* ---- durability outside ticks, closing ---- */

static void pool_persist(struct st__pool *p, const void *at, size_t n)
{
	if (p->is_pmem || p->is_tmpfs) {
		pmem_persist(at, n);
	} else if (pmem_msync(at, n) != 0) {
		log_msg(LOG_WARNING, "pool: writing to %s: %s", p->dir, strerror(errno));
		p->failed = true;
	}
}

static void pool_close(struct st__pool *p)
{
	struct pool *q = pool_of(p);
	if (p->failed && p->root && p->root->super.clean) { /* whoever wrote that did not look */
		p->root->super.clean = 0;
		pool_persist(p, &p->root->super.clean, sizeof(p->root->super.clean));
	}
	if (q->pop)
		pmemobj_close(q->pop);
	for (unsigned i = 0; i < p->n_parts; i++)
		close(p->parts[i].fd);
	mem_free(p->parts);
	mem_free(q->object);
	if (q->dirfd >= 0)
		close(q->dirfd);
	mem_free(q);
}

static const struct st__pool_ops pool_ops = {pool_extent, pool_locate, pool_persist, pool_close};

void st__pool_warm(struct st__pool *p)
{
	if (p->ops != &pool_ops)
		return;
	struct pool *q = pool_of(p);
	struct pobj_action act;
	PMEMoid oid = pmemobj_reserve(q->pop, &act, CHUNK, 1);
	if (!OID_IS_NULL(oid))
		pmemobj_cancel(q->pop, &act, 1);
}

/* ---- opening ---- */

static enum err check_options(const struct st_options *o, const struct st__dir *d, struct errinfo *ei)
{
	if (d->parts == 0 && o->read_only)
		return err_set(ei, ERR_MISSING, "there is no pool at %s", d->path);
	if (d->parts == 0 && d->remains)
		return err_set(ei, ERR_MISSING, "the pool %s has lost its parts (000000.pmem and on): only other files of "
			"it are there; restore it from a backup, or empty the directory to begin anew", d->path);
	if (d->parts > 0 && d->bytes < ST__PART_FIRST / 2)
		return err_set(ei, ERR_CORRUPT, "part 000000.pmem of the pool %s was truncated; restore the pool from a backup",
			d->path);
	if (o->read_only)
		return ERR_OK;
	if (o->pool_size < ST__POOL_MIN || o->pool_size > ST__POOL_MAX)
		return err_set(ei, ERR_ARGUMENT, "pool-size is %llu bytes: it must be from %llu (16 MiB) to %llu (16 TiB)",
			(unsigned long long)o->pool_size, (unsigned long long)ST__POOL_MIN, (unsigned long long)ST__POOL_MAX);
	if (o->pool_size < d->bytes)
		return err_set(ei, ERR_ARGUMENT, "pool-size is %llu bytes but the pool %s has grown to %llu already; set "
			"pool-size to that at least", (unsigned long long)o->pool_size, d->path, (unsigned long long)d->bytes);
	return ERR_OK;
}

/* On tmpfs, where persistent memory is emulated, libpmemobj shall flush lines, not call msync. libpmem reads this once
 * a process. On disks it must call msync, whatever the environment says. */
static void choose_flushing(const struct st_options *o, const struct st__dir *d)
{
	if (d->tmpfs && o->medium == ST_MEDIUM_PMEM)
		setenv("PMEM_IS_PMEM_FORCE", "1", 1);
	else if (!d->tmpfs && !d->dax)
		unsetenv("PMEM_IS_PMEM_FORCE");
}

static PMEMobjpool *open_set(struct pool *q, bool read_only)
{
	char set[1056];
	if (!read_only) {
		snprintf(set, sizeof(set), "%s/" ST__SET_NAME, q->p.dir);
		return pmemobj_open(set, ST__LAYOUT_NAME);
	}
	/* A private view: what recovery stores stays in this process. */
	int on = 1, off = 0;
	int fd = st__dir_memory_set(q->p.dir, q->p.reserved, set, sizeof(set));
	pmemobj_ctl_set(NULL, "copy_on_write.at_open", &on);
	PMEMobjpool *pop = fd < 0 ? NULL : pmemobj_open(set, ST__LAYOUT_NAME);
	int code = errno;
	pmemobj_ctl_set(NULL, "copy_on_write.at_open", &off);
	if (fd >= 0)
		close(fd);
	errno = code;
	return pop;
}

static enum err find_root(struct pool *q, struct errinfo *ei)
{
	struct st__pool *p = &q->p;
	size_t have = pmemobj_root_size(q->pop);
	if (have == 0)
		return err_set(ei, ERR_CORRUPT, "the pool %s has no root object: it is damaged, or not Perdure's", p->dir);
	PMEMoid oid = pmemobj_root(q->pop, have); /* of the size it has: no allocation */
	if (OID_IS_NULL(oid) || oid.off >= q->mapped || have > q->mapped - oid.off)
		return err_set(ei, ERR_CORRUPT, "the root object of the pool %s is damaged; restore the pool from a "
			"backup", p->dir);
	p->root = (void *)((char *)q->pop + oid.off);
	q->uuid = oid.pool_uuid_lo;
	enum err e = st__super_check(p->root, ei); /* first: another format may have another size */
	if (!e && have < sizeof(struct st__root_layout))
		e = err_set(ei, ERR_CORRUPT, "the root object of the pool %s has %zu bytes: it is damaged; restore the pool "
			"from a backup", p->dir, have);
	return e;
}

static enum err open_pool(struct pool *q, const struct st_options *o, const struct st__dir *d, struct errinfo *ei)
{
	struct st__pool *p = &q->p;
	if (!o->read_only) {
		enum err e = st__dir_write_set(q->dirfd, p->dir, p->reserved, ei);
		if (e)
			return e;
	}
	q->pop = open_set(q, o->read_only);
	if (!q->pop)
		return st__pmemobj_error(ei, "opening", p->dir, p->reserved);
	p->base = (char *)q->pop;
	/* Not pmem_is_pmem: libpmem does not know what libpmemobj has mapped, and says no. Where one part maps with
	 * MAP_SYNC, libpmemobj maps all of them so. */
	p->is_pmem = d->dax;
	uint64_t by_itself = 0; /* libpmemobj grows when we say so */
	pmemobj_ctl_set(q->pop, "heap.size.granularity", &by_itself);
	for (unsigned i = 0; i < d->parts; i++) {
		enum err e = adopt_part(q, i, ei);
		if (e)
			return e;
	}
	enum err e = find_root(q, ei);
	if (!e)
		list_objects(q);
	return e;
}

enum err st__pool_open(const struct st_options *o, struct st__pool **out, struct errinfo *ei)
{
	struct errinfo own = {0};
	struct st__dir d;
	if (!ei)
		ei = &own;
	enum err e = st__dir_open(o->path, o->read_only, &d, ei);
	if (e)
		return e;
	e = check_options(o, &d, ei);
	choose_flushing(o, &d);
	bool created = !e && d.parts == 0;
	if (created)
		e = st__pool_create(&d, ei);
	if (e) {
		st__dir_close(&d);
		return e;
	}
	struct pool *q = mem_zalloc(sizeof(*q));
	q->dirfd = d.fd;
	q->first_new = ST__EXTENTS_MAX;
	q->grow = o->pool_grow < ST__PART_MIN ? ST__PART_MIN : o->pool_grow;
	struct st__pool *p = &q->p;
	p->ops = &pool_ops;
	p->created = created;
	p->is_tmpfs = d.tmpfs;
	p->reserved = o->read_only ? d.bytes : o->pool_size & ~(uint64_t)(ST__SLAB - 1);
	memcpy(p->dir, d.path, sizeof(p->dir));
	p->parts = mem_zalloc(ST__PARTS_MAX * sizeof(*p->parts));
	e = open_pool(q, o, &d, ei);
	if (e)
		pool_close(p);
	else
		*out = p;
	return e;
}
