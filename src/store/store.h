/* The store: objects in a pool that outlives the process, changed by whole ticks.
 *
 * A pool is a flat space of bytes addressed by offsets (st_off). Objects are allocated, viewed, edited and freed;
 * nothing of a tick is in the pool's committed state until st_commit, and then all of it is, whatever crash comes.
 * One thread (the loop's) calls everything here unless a comment says otherwise.
 *
 * Guarantees and caveats first:
 * - After a crash at any instant, opening gives the state of a whole number of ticks, and at least every tick
 *   whose LSN st_durable had passed.
 * - A pointer from st_view goes stale when the same tick edits that object: view again. Pointers from st_edit and
 *   st_alloc are good until st_commit. No pointer survives st_commit.
 * - Allocate and reserve first, edit after: once st_reserve said yes, alloc and edit cannot fail for lack of room.
 * - An object that can be edited has exactly one reference in the pool (st_edit may move it, when a snapshot or a
 *   pinned reader shares it, and updates just that one).
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/bytes.h"
#include "base/check.h"
#include "base/err.h"

#include <stdio.h>

/* Offset of an object from the pool's base. 0 is none. A multiple of 16, below 2^44. */
typedef uint64_t st_off;

#define ST_OFF_BITS 44
#define ST_ALIGN 16
#define ST_OBJ_MAX 65536u /* largest object, header included */

/* First 8 bytes of every object, written by st_alloc. */
struct st_obj {
	uint32_t birth; /* epoch it was born in */
	uint8_t cls;    /* size class */
	uint8_t kind;   /* enum st_kind: how the verifier and the reclaimer walk it */
	uint16_t flags; /* the owner's */
};

/* Every kind of object of the format, owned by the room named. Numbers are part of the format. */
enum st_kind {
	ST_KIND_NONE = 0,
	ST_KIND_META = 1,        /* store: head state */
	ST_KIND_DEADLIST = 2,    /* store */
	ST_KIND_QUEUE = 3,       /* store: reclaim queue block */
	ST_KIND_HX_DIR = 16,     /* struct: hash index directory */
	ST_KIND_HX_PAGE = 17,    /* struct: hash index bucket page of keyspace records */
	ST_KIND_BT_INNER = 24,   /* struct: counted B+tree */
	ST_KIND_BT_LEAF = 25,
	ST_KIND_ROPE_NODE = 32,  /* struct: rope radix node */
	ST_KIND_ROPE_CHUNK = 33,
	ST_KIND_DATASET = 64,    /* types: all that is versioned hangs here */
	ST_KIND_DB = 65,
	ST_KIND_RECORD = 66,     /* types: one key */
	ST_KIND_MAX = 128
};

struct store;

/* ---- opening ---- */

/* AUTO: pmem on a file system mounted with DAX, else file. LAST: what the pool was last used on (tools). */
enum st_medium { ST_MEDIUM_AUTO, ST_MEDIUM_PMEM, ST_MEDIUM_FILE, ST_MEDIUM_SIM, ST_MEDIUM_LAST };
enum st_durability { ST_DURABLE_ALWAYS, ST_DURABLE_EVERYSEC, ST_DURABLE_NO };

struct st_options {
	const char *path;              /* directory of the pool */
	uint64_t pool_size;            /* reservation: bytes the pool may grow to */
	uint64_t pool_grow;            /* bytes a growth step adds at least */
	uint64_t log_size;             /* bytes of log */
	enum st_medium medium;
	enum st_durability durability;
	bool durability_set;           /* false: the medium's default */
	/* Tools: the pool must be there, recovery happens in this process's memory only, nothing is written. No commits. */
	bool read_only;
	struct st_sim *sim;            /* with ST_MEDIUM_SIM: store/sim.h */
	/* Called on any thread when st_durable has advanced or growth has ended; must only wake the loop. */
	void (*wake)(void *ctx);
	void *wake_ctx;
};

/* Opens the pool, making it where there is none, and recovers it. O(1) in the number of objects. */
enum err st_open(const struct st_options *o, struct store **st_out, struct errinfo *ei);
/* Commits what is pending, makes it durable, marks the pool clean. */
void st_close(struct store *st);

/* ---- kinds: how to walk an object ---- */

typedef void (*st_visit_fn)(void *ctx, st_off child);
struct st_kind_ops {
	const char *name;
	/* Calls visit for every reference in the object (n bytes at obj; its class size). NULL: it has none. */
	void (*children)(const void *obj, size_t n, st_visit_fn visit, void *ctx);
	/* Says what is wrong with a committed object, or NULL. Must not trust a byte of it: n is all it may read. */
	const char *(*check)(const struct store *st, st_off off, const void *obj, size_t n);
};
/* For rooms above; the ops live as long as the store. */
void st_register(struct store *st, enum st_kind kind, const struct st_kind_ops *ops);

/* ---- reading ---- */

struct st_overlay_entry;
/* Public only for the inline reader below. */
struct st_front {
	char *base;
	uint32_t overlay_n;              /* entries; 0: nothing edited yet in this tick */
	const uint64_t *filter;          /* 4,096 bits: an object not in it is not in the overlay */
};
#define ST_FILTER_BITS 4096u

const void *st_view_slow(const struct store *st, st_off off);

static inline uint32_t st_filter_bit(st_off off)
{
	return (uint32_t)((off * 0x9E3779B97F4A7C15ull) >> 52);
}

/* Reads an object as this tick has made it so far. */
static inline const void *st_view(const struct store *st, st_off off)
{
	const struct st_front *f = (const struct st_front *)(const void *)st;
	if (LIKELY(f->overlay_n == 0))
		return f->base + off;
	uint32_t bit = st_filter_bit(off);
	if (!(f->filter[bit >> 6] >> (bit & 63) & 1))
		return f->base + off;
	return st_view_slow(st, off);
}

/* Reads one part (see st_edit_part) of an object that is edited by parts. */
static inline const void *st_view_part(const struct store *st, st_off off, size_t at)
{
	return st_view(st, off + at);
}

/* The object's home, for prefetching only. */
static inline const void *st_home(const struct store *st, st_off off)
{
	return ((const struct st_front *)(const void *)st)->base + off;
}

/* Usable bytes of an object, header included. */
size_t st_size(const struct store *st, st_off off);
/* Bytes an object of n bytes really takes. 0 when n > ST_OBJ_MAX. */
size_t st_class_size(size_t n);

/* ---- changing: versioned objects ---- */

/* Makes sure that allocations of up to `bytes` in all (rounded to classes by the caller or not: a reserve covers
 * it) and edits can be had. Waits for a growth step where the pool may still grow. False: the pool is full for
 * ordinary writes and nothing changed. `freeing`: for deletes, expiry and eviction, which may use the reserve. */
bool st_reserve(struct store *st, size_t bytes, bool freeing);
/* The same (not freeing) for allocations of so many different sizes, each of which may open a slab; st_reserve counts
 * on a handful. */
bool st_reserve_sizes(struct store *st, size_t bytes, unsigned sizes);

/* A fresh object of at least n bytes, header written, the rest undefined. Write it in place until the commit.
 * NULL only where st_reserve was not asked or said no. */
void *st_alloc(struct store *st, size_t n, enum st_kind kind, st_off *off_out);
/* Copies big contents into a fresh object past the cache where that is cheaper. */
void st_fill(struct store *st, void *fresh_at, const void *src, size_t n);

/* Makes *ref writable and returns it: a fresh object in place, else an overlay copy; an object shared with a
 * snapshot or pinned by a reader is first cloned, and *ref then names the clone. ref points into a writable
 * parent, or is a plain variable whose new value the caller stores in the parent. */
void *st_edit(struct store *st, st_off *ref);
/* The same for an object edited by parts: only [at, at+n) becomes writable and is returned. An object uses
 * st_edit or a fixed partition of st_edit_part calls, never both. at and n are multiples of 16. */
void *st_edit_part(struct store *st, st_off *ref, size_t at, size_t n);
/* True where st_edit would have to clone (a snapshot or reader shares it). */
bool st_shared(const struct store *st, st_off off);

/* Frees one object (not what it refers to). Its bytes may be reused from the next tick on. */
void st_free(struct store *st, st_off off);
/* Unlinks a whole tree: it is freed in slices by st_work. The caller has removed the reference. O(1). */
void st_drop(struct store *st, st_off root);

/* The dataset: root of all versioned data. 0 in a new pool. */
st_off st_root(const struct store *st);
void st_set_root(struct store *st, st_off root);
void *st_edit_root(struct store *st);

/* ---- units and ticks ---- */

/* Between begin and end, st_unit_undo takes back every change since begin. For units that may fail after their
 * first edit (EXEC, scripts). Not nested. */
void st_unit_begin(struct store *st);
void st_unit_end(struct store *st);
void st_unit_undo(struct store *st);
/* True once the unit's changes have outgrown what a tick may hold: undo it and answer -OOM. */
bool st_unit_too_big(const struct store *st);

/* Ends the tick: all of it is committed (or nothing was changed). Returns the LSN whose durability acknowledges
 * everything seen so far. */
uint64_t st_commit(struct store *st);
/* Every LSN up to this one may be acknowledged, by the durability in force. */
uint64_t st_durable(const struct store *st);
/* True when the tick has changed something. */
bool st_dirty(const struct store *st);
/* Background work: reclaims up to about `objects` objects, or twice what the last tick allocated. Returns true while
 * more is waiting. Call first in a tick: once something was edited it does nothing. */
bool st_work(struct store *st, unsigned objects);
/* Writing is impossible for now (log full after I/O errors); the reason, or NULL. Writers answer -MISCONF. */
const char *st_write_error(const struct store *st);

/* ---- readers that outlive a tick ---- */

/* The object's bytes at its home (where st_view showed them) stay as they are now until unpinned: edits clone,
 * reuse waits. Counted. False, and nothing pinned, when this tick has edited the object: copy its bytes instead. */
__attribute__((warn_unused_result)) bool st_pin(struct store *st, st_off off);
void st_unpin(struct store *st, st_off off);

/* ---- prefetching ---- */

/* Brings the allocation bitmap of an object near, for a writer that will free it. */
void st_prefetch_free(const struct store *st, st_off off);

/* ---- facts ---- */

/* Per-pool secret, 32 random bytes, for keyed hashes. */
const uint8_t *st_secret(const struct store *st);
uint32_t st_epoch(const struct store *st);
/* Keyed 64-bit hash of n bytes (XXH3 with a secret of this pool's own, so that clients cannot choose collisions). */
uint64_t st_hash(const struct store *st, const void *p, size_t n);

void st_set_durability(struct store *st, enum st_durability d);
enum st_durability st_get_durability(const struct store *st);

struct st_stats {
	const char *medium;          /* "pmem", "pmem (emulated)", "file", "sim" */
	const char *survives;        /* "power loss", "process death", ... */
	uint64_t reserved;           /* bytes the pool may grow to */
	uint64_t mapped;             /* bytes in extents */
	uint64_t used;               /* bytes in slabs that hold something */
	uint64_t object_bytes;       /* bytes of live objects, by class size */
	uint64_t objects;
	uint64_t free_slabs;
	uint64_t slabs;
	uint64_t ticks;              /* committed since open */
	uint64_t log_bytes;          /* written to the log since open */
	uint64_t fresh_bytes;        /* written in fresh objects */
	uint64_t apply_bytes;        /* written home */
	uint64_t fences;
	uint64_t reclaim_pending;    /* trees waiting */
	uint64_t growths;
	uint64_t checkpoints;
	uint64_t log_used;           /* bytes of the log a restart would replay (file medium) */
	uint64_t log_size;
	uint64_t recovered_records;  /* replayed at open */
	uint64_t open_us;            /* time st_open took */
	uint32_t format_version;
	bool was_clean;
};
void st_stats_get(const struct store *st, struct st_stats *out);

/* ---- verifying ---- */

struct st_verify {
	uint64_t reachable;     /* objects found from the roots */
	uint64_t allocated;     /* objects the bitmaps say */
	uint64_t errors;
	char first[256];        /* the first error in words */
};
/* Walks everything: every reference leads to an allocated object of a known kind, nothing is reached twice,
 * nothing allocated is unreachable, slab words and counters are right, every kind's check agrees. The tick must
 * be committed. O(objects). */
void st_verify(struct store *st, struct st_verify *out);
/* What keeps a committed reference from leading to an allocated object of this kind, or NULL; what that kind's check
 * finds wrong with such an object, or NULL. They trust nothing. O(1), and whatever the check takes. */
const char *st_check_ref(const struct store *st, st_off off, enum st_kind kind);
const char *st_check_object(const struct store *st, st_off off);
/* Prints superblock, extents, head state and how each size class is used, in words. */
void st_dump(const struct store *st, FILE *out);
/* Visits every live object (pool-dump). */
void st_each(const struct store *st, void (*fn)(void *ctx, st_off off, const void *obj, size_t n), void *ctx);

#endif
