/* The keyspace: numbered databases of keys on a store, with expiry. No RESP, no clients.
 *
 * Everything happens inside the store's current tick, on the loop's thread; nothing here commits. Calls that change
 * something first need a yes from ks_reserve; after it they cannot fail.
 *
 * A key is one record object (layout: types/README.md). Its type is one of enum ks_type. */
#ifndef TYPES_KS_H
#define TYPES_KS_H

#include "base/bytes.h"
#include "struct/hx.h"

struct ks;
struct rng;

/* Longest key. Redis takes 512 MB; see tests/oracle/differences.md. */
#define KS_KEY_MAX 32768u

enum ks_type { KS_STRING = 0, KS_LIST, KS_SET, KS_ZSET, KS_HASH, KS_STREAM, KS_TYPES };
const char *ks_type_name(enum ks_type t); /* "string", "list", "set", "zset", "hash", "stream" */

struct ks_options {
	unsigned databases;
};

/* What happens to keys, for those who need to know: WATCH, notifications, tracking, statistics. Called after
 * the change, inside the tick. Members may be NULL. */
enum ks_event_class { /* letters of notify-keyspace-events */
	KS_EV_GENERIC = 1 << 0, /* g */
	KS_EV_STRING = 1 << 1,  /* $ */
	KS_EV_LIST = 1 << 2, KS_EV_SET = 1 << 3, KS_EV_HASH = 1 << 4, KS_EV_ZSET = 1 << 5,
	KS_EV_EXPIRED = 1 << 6, /* x */
	KS_EV_EVICTED = 1 << 7, /* e */
	KS_EV_STREAM = 1 << 8,
	KS_EV_MISS = 1 << 9,    /* m */
	KS_EV_NEW = 1 << 10     /* n */
};
struct ks_observer {
	void *ctx;
	/* The key's value, deadline or presence has changed. */
	void (*touched)(void *ctx, unsigned db, struct bytes key);
	/* A named event, as keyspace notifications send it. */
	void (*event)(void *ctx, enum ks_event_class cls, const char *name, unsigned db, struct bytes key);
	/* Every key of db (all: -1) went or was replaced at once (FLUSHDB, FLUSHALL, SWAPDB: once for each of the
	 * two, RESTORE). */
	void (*flushed)(void *ctx, int db);
};

/* Tells the store how to walk and check the objects of this room and the one below. Once after st_open, before
 * ks_open, st_work and st_verify. */
void ks_register(struct store *st);
/* Makes or finds the dataset in the store; what it changes is part of the tick. `databases` may grow between opens;
 * keys in databases beyond it make it refuse (ERR_ARGUMENT). 0: as many as the pool has, and nothing is written
 * (ERR_MISSING when there is no dataset): for offline tools. */
enum err ks_open(struct store *st, const struct ks_options *o, struct ks **out, struct errinfo *ei);
void ks_close(struct ks *ks);
struct store *ks_store(const struct ks *ks);
void ks_observe(struct ks *ks, const struct ks_observer *ob); /* up to 4, in the order of registration */
/* Raises a named event for observers (handlers that know the command's event name call it). */
void ks_event(struct ks *ks, enum ks_event_class cls, const char *name, unsigned db, struct bytes key);

/* ---- time ---- */

/* The tick's wall time in ms; every expiry decision in the tick uses it. */
void ks_set_now(struct ks *ks, int64_t now_ms);
int64_t ks_now(const struct ks *ks);
/* Deletes keys whose deadline has passed, oldest first; returns how many. Looks at no more than `max` entries of the
 * TTL trees; when that was not enough, ks_next_deadline lies in the past. Call at the tick's start. */
unsigned ks_expire_due(struct ks *ks, unsigned max);
/* Earliest filed deadline in ms, INT64_MAX when none (or active expiry is off): the loop must wake one ms after it.
 * A key's own deadline is never earlier than the filed one, but may be later. */
int64_t ks_next_deadline(const struct ks *ks);
/* DEBUG SET-ACTIVE-EXPIRE. Reads still treat expired keys as gone. */
void ks_set_active_expire(struct ks *ks, bool on);
/* While on, readers that meet an expired key leave it where it is (CLIENT PAUSE); it counts as absent all the same. */
void ks_hold_expired(struct ks *ks, bool on);

/* ---- finding ---- */

struct ks_key {
	struct bytes name;
	uint64_t hash;
};
uint64_t ks_hash(const struct ks *ks, struct bytes name);
static inline struct ks_key ks_key(const struct ks *ks, struct bytes name)
{
	return (struct ks_key){name, ks_hash(ks, name)};
}

/* A key found in a database. Good within the tick while the key exists and key.name's bytes do, whatever happens to
 * other keys meanwhile; changes of the key through this or another ref keep it good unless they say otherwise. */
struct ks_ref {
	struct ks *ks;
	struct ks_key key;
	unsigned db;
	struct hx_pos pos; /* pos.item: the record */
	uint64_t moves;
};

/* True when the key is there. An expired one is deleted (as an expiry write in this tick) and counts as absent. */
bool ks_find(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out);
/* The same for commands that write: not counted among hits and misses, as Redis counts. */
bool ks_find_write(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out);
/* The same, but leaves access clocks and hit counters alone (TYPE, TTL, OBJECT, NO-TOUCH). */
bool ks_peek(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out);
enum ks_type ks_ref_type(const struct ks_ref *r);
/* Deadline in Unix ms, -1: none. */
int64_t ks_ref_deadline(const struct ks_ref *r);
/* The key's bytes in the record; valid until the record changes. */
struct bytes ks_ref_name(const struct ks_ref *r);
/* Bytes of pool memory of key and value, index slot included (MEMORY USAGE). */
uint64_t ks_ref_bytes(const struct ks_ref *r);
/* OBJECT ENCODING's word. */
const char *ks_ref_encoding(const struct ks_ref *r);
/* ms since the last access, or the least that it can be when the access table has lost the key; LFU counter (0-255,
 * as it has decayed until now). From the access table in DRAM: see ks_track_access. */
int64_t ks_ref_idle(const struct ks_ref *r);
unsigned ks_ref_freq(const struct ks_ref *r);
/* Off (the default) a few thousand of the latest accesses are remembered, at next to no cost. On: a table sized by
 * the number of keys, with LFU counters, at a cache miss an access: for eviction policies. Switching forgets. */
void ks_track_access(struct ks *ks, bool on);
/* lfu-log-factor, lfu-decay-time (minutes; 0: never decays). */
void ks_set_lfu(struct ks *ks, unsigned log_factor, unsigned decay_minutes);

/* ---- changing ---- */

/* Room for changes of one key, or of two (RENAME), that add up to `bytes` of keys and values besides bookkeeping; a
 * change that moves a record without a longer value (deadline, RENAME, MOVE) needs none besides. False: the pool is
 * full, nothing changed. */
bool ks_reserve(struct ks *ks, size_t bytes);
/* The same for `keys` keys (MSET). */
bool ks_reserve_many(struct ks *ks, size_t keys, size_t bytes);
/* The same for deletes and expiry, which may use the pool's last reserve. Never false on a healthy pool. */
bool ks_reserve_free(struct ks *ks);

/* Deletes the key (O(1); big values are reclaimed later). Needs ks_reserve_free. r is not valid afterwards. */
void ks_delete(struct ks_ref *r);
/* Sets the deadline (Unix ms, may be in the past: then the key is still there until it is met), or takes it away. */
void ks_set_deadline(struct ks_ref *r, int64_t deadline_ms);
void ks_persist(struct ks_ref *r);
/* The value and deadline of r under another name and/or database, replacing what is there. MOVE and RENAME: r's key
 * goes. r is not valid afterwards. Names must differ, or databases. */
void ks_rename(struct ks_ref *r, unsigned db, struct ks_key to);
/* COPY: a deep copy with the deadline; needs ks_reserve(ks_ref_bytes(r)). Replaces what is there. */
void ks_copy(struct ks_ref *r, unsigned db, struct ks_key to);

/* ---- whole databases ---- */

unsigned ks_databases(const struct ks *ks);
uint64_t ks_count(const struct ks *ks, unsigned db);
uint64_t ks_count_expires(const struct ks *ks, unsigned db);
/* Mean of the remaining lifetimes, in ms, estimated from the TTL tree; 0: no key expires. */
int64_t ks_avg_ttl(const struct ks *ks, unsigned db);
void ks_flush(struct ks *ks, int db); /* -1: all */
void ks_swap(struct ks *ks, unsigned a, unsigned b);

/* SCAN (cursor contract: hx_scan). fn sees live keys only (an expired one is skipped). */
typedef void (*ks_scan_fn)(void *ctx, struct bytes name, enum ks_type type);
uint64_t ks_scan(struct ks *ks, unsigned db, uint64_t cursor, size_t want, ks_scan_fn fn, void *ctx);
/* A random live key, or false when there is none. */
bool ks_random(struct ks *ks, unsigned db, struct rng *rng, struct ks_ref *out);

/* ---- batch prefetch, three passes (see hx.h) ---- */
void ks_prefetch1(const struct ks *ks, unsigned db, uint64_t hash);
void ks_prefetch2(const struct ks *ks, unsigned db, uint64_t hash);
void ks_prefetch3(const struct ks *ks, unsigned db, uint64_t hash, bool writes);

struct ks_stats {
	uint64_t expired;        /* keys deleted by expiry since open */
	uint64_t expired_active; /* of those, by the TTL tree */
	uint64_t hits, misses;   /* of ks_find */
};
struct ks_stats *ks_stats(struct ks *ks); /* writable: CONFIG RESETSTAT clears it */

/* Whole-structure check after st_verify, for a pool in which that found nothing: indexes, TTL tree against records,
 * counters. NULL or what is wrong. */
const char *ks_check(struct ks *ks);

#endif
