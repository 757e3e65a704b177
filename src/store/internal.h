/* Shared inside the store's room only. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "layout.h"
#include "store.h"

/* ---- deliberately broken builds: the crash tests must catch each (tests/crash) ---- */

enum st__broken {
	ST__BROKEN_NONE, ST__BROKEN_DROP_FLUSH, ST__BROKEN_DROP_FENCE, ST__BROKEN_APPLY_FIRST, ST__BROKEN_REPLAY_OLDER,
	ST__BROKEN_SKIP_SUM, ST__BROKEN_REUSE_EARLY
};
#ifdef PERDURE_FAULTS
extern enum st__broken st__broken;
#define ST__BROKEN(what) (st__broken == ST__BROKEN_##what)
#else
#define ST__BROKEN(what) 0
#endif

/* ---- classes ---- */

#define ST__CLASSES 96u
struct st__class {
	uint32_t size;
	uint32_t per_slab;
	uint32_t inverse;  /* (within-slab offset * inverse) >> 32 = object number */
};
const struct st__class *st__classes(void);
unsigned st__class_count(void);
unsigned st__class_of(size_t n);  /* ST__CLASSES when n > ST_OBJ_MAX */

/* ---- pool: who owns the memory (pool.c: libpmemobj; sim.c: memory of the test) ---- */

struct st__pool {
	const struct st__pool_ops *ops;
	char *base;                      /* fixed for the pool's life */
	uint64_t reserved;               /* bytes of address space from base */
	struct st__root_layout *root;
	bool created;                    /* by this open */
	bool is_pmem;                    /* the file system maps persistent memory (DAX) */
	bool is_tmpfs;
	bool failed;                     /* something could not be written: the pool must not be marked clean */
	char dir[1024];                  /* directory of the pool */
	struct st__part *parts;          /* for the file medium: what offset lives in which file */
	unsigned n_parts;
};
/* A stretch of the pool's address space and the file behind it. */
struct st__part {
	uint64_t off;      /* relative to base */
	uint64_t bytes;
	int fd;
	uint64_t file_off; /* where in the file `off` stands */
};
struct st__pool_ops {
	/* Allocates an extent of about `bytes` (grows the pool where needed), failure-atomically, and writes it into
	 * root->extent[index]. *start, *slabs: its usable whole 64 KiB units. Any one thread at a time. */
	enum err (*extent)(
		struct st__pool *p, unsigned index, uint64_t bytes, uint64_t *start, uint64_t *slabs, struct errinfo *ei);
	/* Where an extent of the table starts and how many units it has. */
	enum err (*locate)(struct st__pool *p, unsigned index, uint64_t *start, uint64_t *slabs, struct errinfo *ei);
	/* Makes [p, p+n) durable, whatever the medium: superblock, extent heads. Not for ticks. Where the disk
	 * refuses, p->failed is set. */
	void (*persist)(struct st__pool *p, const void *at, size_t n);
	void (*close)(struct st__pool *p);
};
enum err st__pool_open(const struct st_options *o, struct st__pool **out, struct errinfo *ei);

/* ---- medium: how ticks become durable ---- */

struct st__record {
	struct st__record_layout *head; /* followed by the body, in DRAM; head->sum is the medium's to fill in */
	uint64_t words;                 /* of body */
};
struct st__medium {
	const struct st__medium_ops *ops;
	struct store *st;
};
struct st__medium_ops {
	const char *name;
	bool fresh_in_log; /* contents of fresh objects go into the record (file) instead of being flushed (lines) */
	/* A fresh object's bytes are final: flush them. Only where !fresh_in_log. */
	void (*fresh)(struct st__medium *m, const void *p, size_t n);
	/* Big contents into a fresh object, durable with the next fence like after fresh(). May be NULL: memcpy + fresh. */
	void (*fill)(struct st__medium *m, void *p, const void *src, size_t n);
	/* Everything flushed or applied so far is durable before what comes next (lines: fence; file: nothing). */
	void (*barrier)(struct st__medium *m);
	/* Logs the record. When it returns: lines: durable; file: queued, in order. Its memory is the caller's again. */
	void (*append)(struct st__medium *m, struct st__record *r);
	/* Stores n bytes home (a multiple of 8; off too). Lines: store and flush. File: store, pages are dirty. */
	void (*apply)(struct st__medium *m, uint64_t off, const void *src, size_t n);
	/* File: bytes at home that were written in place (fresh objects) are part of the last record: pages are dirty. */
	void (*dirtied)(struct st__medium *m, uint64_t off, size_t n);
	/* Newest sequence number that may be acknowledged under the durability in force. Cheap. */
	uint64_t (*durable)(struct st__medium *m);
	/* Reads the log and calls replay for the records to apply, in order; then gives the newest sequence number and
	 * salt seen. */
	enum err (*recover)(struct st__medium *m, bool clean,
		enum err (*replay)(struct store *st, const struct st__record_layout *head, const uint64_t *body),
		uint64_t *seq_out, uint64_t *salt_out, struct errinfo *ei);
	void (*set_durability)(struct st__medium *m, enum st_durability d);
	/* A new data extent is in use now (formatted and durable): file: remap it privately. */
	enum err (*extent_added)(struct st__medium *m, uint64_t start, uint64_t bytes, struct errinfo *ei);
	/* Between ticks: give clean pages back, report finished checkpoints. May be NULL. */
	void (*idle)(struct st__medium *m);
	const char *(*write_error)(struct st__medium *m);
	void (*stats)(struct st__medium *m, struct st_stats *out);
	/* Everything durable in its home (file: checkpoint), threads ended. Where disk errors keep it from its
	 * home, pool->failed is set: the log is still needed and the pool must not be marked clean. */
	void (*close)(struct st__medium *m);
};
/* Durable log region of the line log (pmem, sim): extent 0. */
struct st__line_ops {
	void (*flush)(void *ctx, const void *p, size_t n);
	void (*fence)(void *ctx);
	void (*stream)(void *ctx, void *dst, const void *src, size_t n); /* non-temporal; durable with the next fence */
	void (*store)(void *ctx, void *dst, const void *src, size_t n);  /* plain stores */
};
struct st__medium *st__medium_lines(struct store *st, const struct st__line_ops *ops, void *ctx);
extern const struct st__line_ops st__pmem_lines;
/* log_size: bytes of the ring file. Creates it for a created pool; refuses where it is missing or another pool's. */
enum err st__medium_file(struct store *st, const struct st_options *o, struct st__medium **out, struct errinfo *ei);

/* ---- growth: extents ahead of need, on a helper thread ---- */

struct st__grow;
struct st__grow *st__grow_new(struct store *st);
void st__grow_free(struct st__grow *g);              /* waits for a step under way */
void st__grow_start(struct st__grow *g, uint64_t bytes); /* asks for an extent; nothing while one is under way */
bool st__grow_busy(const struct st__grow *g);
/* The finished extent, once; its index, or -1. *failed: the step failed (pool at its reservation, disk full). */
int st__grow_take(struct st__grow *g, bool wait, bool *failed);

/* ---- slabs ---- */

/* DRAM state of a unit of 64 KiB, indexed by off >> 16. */
struct st__slab {
	uint64_t word_off;      /* of its slab word */
	uint64_t bits_off;      /* of its bitmap */
	uint64_t *busy;         /* DRAM: objects not to be handed out (allocated, born, or freed but withheld). NULL: not
	                         * looked at since open */
	uint32_t used;          /* allocated and committed + born - died, valid when busy != NULL */
	uint16_t cls;
	uint8_t state;          /* st__slab_state as the tick has made it */
	uint8_t listed;         /* on its class's list of partial slabs */
	uint32_t next, prev;    /* list of partial slabs; next: also of free ones; 0 end */
	uint32_t touched;       /* tick number it was last touched in */
	uint32_t withheld;      /* objects freed but pinned */
};

/* ---- overlay ---- */

enum st__entry_flag { ST__FRESH = 1, ST__DEAD = 2, ST__RAW = 4, ST__PART = 8 };
struct st__entry {
	st_off off;       /* 0: empty place of the table */
	char *p;          /* overlay copy, or home when fresh */
	uint64_t owner;   /* ST__PART: the object. ST__FRESH: its place in the born list */
	uint32_t n;
	uint32_t flags;
	uint32_t unit;    /* unit number that saved or made it */
	uint32_t filled, filled_n; /* ST__FRESH: this run was streamed and needs no flush */
};

struct st__undo {
	uint32_t entry;   /* index in entries */
	uint32_t flags;   /* as they were */
	uint32_t n;
	uint32_t born;    /* its place in the born list, when fresh */
	char *saved;      /* bytes as they were, NULL: none */
	char *p;
};

struct store {
	struct st_front front;          /* first: st_view's inline reader */
	struct st__pool *pool;
	struct st__medium *medium;
	struct st__grow *grow;
	struct st_options opt;
	enum st_durability durability;
	const struct st_kind_ops *kinds[ST_KIND_MAX];
	uint8_t hash_secret[192];
	/* meta */
	uint64_t meta_off;
	uint32_t epoch, floor;
	/* overlay */
	uint64_t filter[ST_FILTER_BITS / 64];
	struct st__entry *entries;      /* in the order of their making */
	uint32_t entries_cap;
	uint32_t *table;                /* open addressing: entry index + 1 */
	uint32_t table_mask;
	struct st__arena { char **block; uint32_t n, cap, at; size_t used; } arena; /* overlay copies */
	uint64_t copied;                /* bytes in overlay copies of this tick */
	/* units */
	uint32_t unit;                  /* 0: none is open */
	uint32_t unit_serial;
	uint32_t unit_entries, unit_born, unit_died; /* lengths at its begin */
	struct st__undo *undo;
	uint32_t undo_n, undo_cap;
	/* allocator */
	struct st__slab *slab;          /* by off >> 16, for the whole reservation */
	uint64_t slab_n;
	uint32_t current[ST__CLASSES];  /* slab being filled; 0 none */
	uint32_t scan[ST__CLASSES];     /* word of its bitmap to look at next */
	uint32_t partial[ST__CLASSES];  /* list heads */
	uint32_t free_head;
	uint64_t free_slabs, slabs;
	uint32_t *touched;              /* slabs touched in this tick */
	uint32_t touched_n, touched_cap;
	st_off *born, *died;            /* of this tick; a born object that died is 0 in born */
	uint32_t born_n, born_cap, died_n, died_cap;
	uint32_t *spill_hold[2];        /* slabs under the last two records */
	uint32_t spill_hold_n[2];
	uint32_t tick;
	struct st__span { uint64_t start, units; } *span; /* extents in use, by index */
	uint32_t extents;
	uint32_t born_before;           /* objects allocated in the tick before: reclaiming keeps up with them */
	uint64_t plenty;                /* with more free slabs than this a small reserve needs no thought */
	uint64_t grow_retry_us;         /* growth has failed: not again before */
	uint32_t waiting;               /* extent that is allocated but could not be taken into use; 0: none */
	/* pins */
	struct st__pin { st_off off; uint32_t n; bool freed; } *pins; /* open addressing */
	uint32_t pins_n, pins_cap;
	/* log */
	uint64_t seq, salt;
	bool opened;
	uint64_t *record;               /* being built: head and body */
	uint64_t record_cap;            /* words */
	struct st_stats stats;
	struct errinfo damage;
};

/* Bytes of st__meta_layout that ticks edit as one. */
#define ST__META_EDIT 96u

/* overlay.c */
struct st__entry *st__find(const struct store *st, st_off off);
struct st__entry *st__put(struct store *st, st_off off, uint32_t n, uint32_t flags); /* new entry, not copied */
/* Makes [off, off+n) of store metadata (not an object) writable in this tick. */
void *st__edit_raw(struct store *st, uint64_t off, uint32_t n);
/* An object of the store's own, never shared with snapshots. */
void *st__edit_own(struct store *st, st_off off);
void st__overlay_reset(struct store *st);
void st__save(struct store *st, struct st__entry *e); /* before a change of an entry, when a unit is open */
struct st__meta_layout *st__meta_edit(struct store *st);
static inline const struct st__meta_layout *st__meta(const struct store *st)
{
	return st_view(st, st->meta_off);
}

/* hash.c: XXH3 of n bytes, continued from the sum of what came before (0: none) */
uint64_t st__sum(uint64_t before, const void *p, size_t n);
void st__hash_init(struct store *st);

/* slab.c */
enum err st__slabs_init(struct store *st);
enum err st__extent_format(
	struct st__pool *p, unsigned index, enum st__extent_kind kind, uint64_t start, uint64_t slabs);
bool st__extent_valid(const struct st__pool *p, unsigned index, uint64_t start);
/* Whether a valid head is one that this format makes: nothing else of it is looked at again. */
bool st__extent_fits(const struct st__extent_layout *x, enum st__extent_kind kind);
/* Its slabs become known. False: a slab word is damaged. */
bool st__extent_adopt(struct store *st, uint64_t start);
void st__slab_look(struct store *st, uint32_t s);             /* fills busy and used */
void st__slabs_edit(struct store *st);    /* at commit: bitmaps and slab words from born and died */
void st__slabs_committed(struct store *st); /* after the record: what died becomes reusable */
void st__free_own(struct store *st, st_off off); /* whatever its birth */
/* Undo of an allocation; of a free of a committed object; of a free of a fresh one. */
void st__slab_unborn(struct store *st, st_off off);
void st__slab_undied(struct store *st, st_off off);
void st__slab_reborn(struct store *st, st_off off);
uint32_t st__slab_take(struct store *st); /* a whole free slab for a spilled record; 0 none */
void st__slab_give(struct store *st, uint32_t s);
void st__slab_unwithhold(struct store *st, st_off off);
uint64_t st__meta_place(const struct st__extent_layout *x);
static inline unsigned st__object_number(const struct st__class *c, st_off off)
{
	return (unsigned)(((off & (ST__SLAB - 1)) * (uint64_t)c->inverse) >> 32);
}

void st__poll_growth(struct store *st);
/* store.c: [off, off+n) lies in the units of extents in use */
bool st__in_extents(const struct store *st, uint64_t off, uint64_t n);

/* tick.c */
enum err st__replay(struct store *st, const struct st__record_layout *head, const uint64_t *body);
uint64_t st__record_sum(const struct st__record_layout *head, const uint64_t *body);
/* pin.c */
struct st__pin *st__pin_find(const struct store *st, st_off off);
/* super.c: a new superblock; whether one may be used (0 OK). Neither writes durably. */
void st__super_init(struct st__root_layout *root);
enum err st__super_check(const struct st__root_layout *root, struct errinfo *ei);
/* sim.c */
enum err st__sim_open(const struct st_options *o, struct st__pool **out, struct errinfo *ei);
extern const struct st__line_ops st__sim_lines;
/* reclaim.c */
void st__push(struct store *st, bool queue, st_off off, uint32_t birth, uint32_t bytes);

#endif
