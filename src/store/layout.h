/* What is in the pool, byte by byte: the store's own structures. All integers little-endian, all offsets relative to
 * the pool's base. Objects of other rooms: their own layout headers. README.md draws the whole.
 *
 *   libpmemobj root object:  st__root_layout = superblock (4 KiB) + extent table
 *   extent 0 (log):          at its first 64 KiB boundary: 64 record heads of 64 bytes, then the payload ring
 *   extents 1.. (data):      at its first 64 KiB boundary A: st__extent_layout, slab words, bitmaps, then
 *                            (extent 1 only) st__meta_layout; slabs from A + head_slabs * 64 KiB
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <stdint.h>

#define ST__MAGIC 0x3145525544524550ull /* "PERDURE1" in memory */
#define ST__FORMAT 1u
#define ST__SLAB 65536u
#define ST__SLAB_SHIFT 16
#define ST__EXTENTS_MAX 4096u
#define ST__BITMAP 256u  /* bytes of bitmap a slab: 2,048 objects of 32 bytes */
#define ST__OBJ_MIN 32u
#define ST__HEADS 64u    /* record heads of the line log */
#define ST__LINE 64u

enum st__extent_kind { ST__EXTENT_LOG = 1, ST__EXTENT_DATA = 2 };
enum st__medium_id { ST__MEDIUM_PMEM = 1, ST__MEDIUM_FILE = 2, ST__MEDIUM_SIM = 3 };

/* First 4 KiB of the root object. Written outside ticks, only at creation, open and close: each field that
 * changes is one 8-byte store, flushed before what depends on it. `sum` covers the fields that never change. */
struct st__super_layout {
	uint64_t magic;
	uint32_t format;
	uint32_t slab_bytes;
	uint64_t features;      /* unknown bits: refuse */
	uint8_t secret[32];     /* hash secret */
	uint8_t uuid[16];
	uint64_t created_ms;
	uint64_t sum;           /* XXH3 of all above */
	/* what changes */
	uint64_t clean;         /* 1: closed cleanly, the log need not be replayed */
	uint64_t medium;        /* st__medium_id in use since the last open for writing */
	uint64_t log_id;        /* identity of the log file in use (file medium), random; 0 none */
	uint64_t boots;         /* opens for writing */
	uint8_t pad[3976];
};

/* An entry is libpmemobj's own persistent pointer, which its allocation writes. off 0: no extent (and none after). */
struct st__extent_ref_layout {
	uint64_t pool_uuid;
	uint64_t off;
};

struct st__root_layout {
	struct st__super_layout super;
	struct st__extent_ref_layout extent[ST__EXTENTS_MAX];
};

/* Head of an extent at its first 64 KiB boundary. Valid when sum fits; an extent without is formatted again (it was
 * allocated, and the process died before it was put to use). Never changes afterwards. */
struct st__extent_layout {
	uint64_t magic;
	uint32_t index;         /* in the extent table */
	uint32_t kind;
	uint64_t start;         /* offset of this head */
	uint64_t slabs;         /* 64 KiB units from start on, this head's included */
	uint64_t head_slabs;    /* units taken by head, words and bitmaps */
	uint64_t words;         /* offset of the slab words: one of 8 bytes a unit */
	uint64_t bitmaps;       /* offset of the bitmaps: 256 bytes a unit */
	uint64_t sum;           /* XXH3 of all above */
};

/* A slab word: class in bits 0-7, state in bits 8-15. 0: free. Changes with the tick that changes the state. */
enum st__slab_state { ST__SLAB_FREE = 0, ST__SLAB_PARTIAL = 1, ST__SLAB_FULL = 2, ST__SLAB_HEAD = 3 };

/* The store's own state that ticks edit: at the end of extent 1's head. */
struct st__meta_layout {
	uint64_t root;          /* the dataset */
	uint32_t epoch;         /* objects born now carry it */
	uint32_t floor;         /* epoch of the head's parent snapshot: born at or before it = shared */
	uint64_t queue;         /* newest block of the reclaim queue */
	uint64_t queue_n;       /* entries in it */
	uint64_t dead;          /* newest block of the head's dead list */
	uint64_t dead_n;
	uint64_t snapshots;     /* snapshot table; 0 none */
	uint64_t object_bytes;  /* live objects, by class size */
	uint64_t objects;
	uint64_t pad[54];
};

/* Block of a persistent stack of 16-byte entries (reclaim queue, dead list): kind ST_KIND_QUEUE or _DEADLIST. */
#define ST__STACK_MAX 62u
struct st__stack_layout {
	uint64_t obj;           /* struct st_obj */
	uint64_t next;          /* older block */
	struct {
		uint64_t off;
		uint32_t birth;
		uint32_t bytes;
	} e[ST__STACK_MAX];
};

/* A log record: head, then body. On the line log the head stands in head line seq % 64 and the body in the ring; in a
 * log file the body follows the head, padded to 64 bytes.
 * Body: runs. A run is one word (offset / 8) << 20 | words (1 to 2^20 - 1), then that many words to store there. */
struct st__record_layout {
	uint64_t salt;          /* of this open */
	uint64_t seq;           /* grows by one a record */
	uint64_t bytes;         /* of body */
	uint64_t at;            /* line log: offset of the body, or of the list of spill slabs */
	uint32_t spill;         /* line log: slabs that hold the body; 0: it stands at `at` */
	uint32_t kind;          /* enum st__record_kind */
	uint64_t prev_salt;     /* OPEN records: salt of the timeline that this open continues */
	uint64_t pad;
	uint64_t sum;           /* XXH3 of head above and body */
};
enum st__record_kind { ST__RECORD_TICK = 1, ST__RECORD_OPEN = 2 };

#endif
