/* Shared inside the room of the types only. */
#ifndef TYPES_INTERNAL_H
#define TYPES_INTERNAL_H

#include "base/rng.h"
#include "types/ks.h"
#include "types/record.h"

#define KS__OBSERVERS 4

/* ---- the table of access clocks, in DRAM ---- */

/* A place holds the last key that fell on it: 20 bits of its hash, 36 bits of the time in ms, 8 bits of LFU counter. */
struct ks__access {
	uint64_t *place;
	uint64_t mask;
	bool counting;          /* big table, with LFU counters */
	unsigned lfu_factor, lfu_decay;
	struct rng rng;
	int64_t since;          /* when the table was empty */
};
void ks__access_init(struct ks *ks);
void ks__access_fini(struct ks *ks);
void ks__access_count(struct ks *ks, uint64_t *place, uint64_t hash);

struct ks {
	struct store *st;
	unsigned databases;
	unsigned observers;
	int64_t now;
	/* Grows when any key's place in an index may have changed, so that a ks_ref notices. */
	uint64_t moves;
	struct hx_ops hx;
	struct bt_ops ttl;
	struct ks__access access;
	struct ks_stats stats;
	struct ks_observer observer[KS__OBSERVERS];
	bool active_expire;
	bool hold_expired;
	bool weak;              /* tests: hashes collide often */
	char name[KS_KEY_MAX];  /* the key of an event about a record that is gone */
	char said[256];         /* ks_check's answer */
};

#define KS__ACCESS_CLOCK ((1ull << 36) - 1)
static inline uint64_t ks__access_entry(uint64_t hash, int64_t now, unsigned freq)
{
	return hash >> 44 << 44 | ((uint64_t)now & KS__ACCESS_CLOCK) << 8 | freq;
}

static inline void ks__access(struct ks *ks, uint64_t hash)
{
	uint64_t *place = &ks->access.place[hash & ks->access.mask];

	if (LIKELY(!ks->access.counting))
		*place = ks__access_entry(hash, ks->now, 0);
	else
		ks__access_count(ks, place, hash);
}

/* ---- tests ---- */

/* From the first key on, gives all keys one of about a thousand hashes. */
void ks__weaken_hash(struct ks *ks);

/* ---- databases (db.c) ---- */

/* The database as it is, NULL when nothing was ever stored in it. */
static inline const struct ks__db_layout *ks__db(const struct ks *ks, unsigned db)
{
	const struct ks__dataset_layout *d = st_view(ks->st, st_root(ks->st));

	DCHECK2(db < ks->databases, db, ks->databases);
	return LIKELY(d->db[db] != 0) ? st_view(ks->st, d->db[db]) : NULL;
}

/* The database, writable until the commit; made when it is not there. */
struct ks__db_layout *ks__db_edit(struct ks *ks, unsigned db);

/* ---- records in their database (record.c) ---- */

uint64_t ks__record_hash(const struct ks *ks, const struct ks__record_layout *r);

static inline const struct ks__record_layout *ks__record(const struct ks *ks, st_off item)
{
	return st_view(ks->st, item);
}

/* Finds the ref's key again when keys have moved since. The key must be there. */
void ks__ref_refresh(struct ks_ref *r);
static inline void ks__ref_fresh(struct ks_ref *r)
{
	if (UNLIKELY(r->moves != r->ks->moves))
		ks__ref_refresh(r);
}

/* The ref's record for reading. */
const struct ks__record_layout *ks__ref_record_slow(const struct ks_ref *r);
static inline const struct ks__record_layout *ks__ref_record(const struct ks_ref *r)
{
	if (UNLIKELY(r->moves != r->ks->moves))
		return ks__ref_record_slow(r);
	return st_view(r->ks->st, r->pos.item);
}

/* A fresh record of this shape with header, key and, when the flags have one, deadline part in place; the fixed part
 * and the value's bytes are the caller's to fill. `spare`: bytes the value may grow by in place. */
struct ks__record_layout *ks__record_new(struct ks *ks, unsigned flags, struct bytes name, size_t vlen, size_t spare,
	struct ks__deadline_layout dates, st_off *off_out);
/* The record, writable; r is fresh. */
struct ks__record_layout *ks__record_edit(struct ks_ref *r);
/* Puts a record of the same key in the place of r's, which is freed (not what its value refers to). */
void ks__record_replace(struct ks_ref *r, st_off item);
/* Takes r's record out of index and TTL tree; frees nothing. */
void ks__record_remove(struct ks_ref *r);
/* The same and frees it with its value. */
void ks__record_destroy(struct ks_ref *r);
/* Adds a record whose key is not there to index and TTL tree. */
void ks__record_insert(struct ks *ks, unsigned db, struct ks_key key, st_off item);
/* Puts the record under the key, in the place of what is there (its value goes too), and files it. */
void ks__record_put(struct ks *ks, unsigned db, struct ks_key key, st_off item);
/* Unlinks what the value of a record refers to; the record is about to go or to change. */
void ks__value_drop(struct ks *ks, const struct ks__record_layout *r);

/* Values up to here are changed inside their record when they fit; longer ones are written once, in a fresh record. */
#define KS__IN_PLACE 512u

bool ks__same_name(const struct store *st, st_off item, const void *name);

/* ---- TTL tree (ttl.c) ---- */

#define KS__TTL_OPS(ks) (&(ks)->ttl)
int ks__ttl_cmp(const struct store *st, const void *entry, const void *key, void *ctx);
/* Brings tree and counter from one filed deadline of a record to another (KS__NONE: none). The record says the new one
 * already, or has left the index. */
void ks__ttl_move(struct ks *ks, unsigned db, uint64_t hash, int64_t from, int64_t to);
/* Deletes r's expired record, as an expiry. False (nothing changed) when the store cannot be written. */
bool ks__expire(struct ks_ref *r);

/* ---- telling ---- */

static inline void ks__touched(const struct ks *ks, unsigned db, struct bytes name)
{
	for (unsigned i = 0; i < ks->observers; i++)
		if (ks->observer[i].touched)
			ks->observer[i].touched(ks->observer[i].ctx, db, name);
}
void ks__flushed(const struct ks *ks, int db);

/* What deletes and expiry may allocate. */
#define KS__FREE_RESERVE (HX_RESERVE + BT_RESERVE)

#endif
