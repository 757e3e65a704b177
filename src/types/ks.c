/* The keyspace's life: opening the dataset, its time, those who watch it, room for changes. */
#include "types/ks.h"

#include "base/mem.h"
#include "types/internal.h"
#include "types/tstr.h"

#define DATABASES_MAX ((ST_OBJ_MAX - sizeof(struct ks__dataset_layout)) / sizeof(uint64_t))

const char *ks_type_name(enum ks_type t)
{
	static const char *const names[KS_TYPES] = {"string", "list", "set", "zset", "hash", "stream"};

	return names[t];
}

/* ---- hashing ---- */

/* Spreads about a thousand values over all 64 bits. */
static uint64_t weak(uint64_t h)
{
	return (h % 1021 + 1) * 0x9E3779B97F4A7C15ull;
}

uint64_t ks_hash(const struct ks *ks, struct bytes name)
{
	uint64_t h = st_hash(ks->st, name.p, name.n);

	return UNLIKELY(ks->weak) ? weak(h) : h;
}

static uint64_t item_hash(const struct store *st, st_off item)
{
	struct bytes name = rec_name(st_view(st, item));

	return st_hash(st, name.p, name.n);
}

static uint64_t item_hash_weak(const struct store *st, st_off item)
{
	return weak(item_hash(st, item));
}

void ks__weaken_hash(struct ks *ks)
{
	ks->weak = true;
	ks->hx.hash = item_hash_weak;
}

/* ---- opening ---- */

/* A dataset with room for n databases and what `old` (may be NULL) has. */
static enum err dataset_new(struct ks *ks, const struct ks__dataset_layout *old, unsigned n, struct errinfo *ei)
{
	struct ks__dataset_layout *d;
	size_t size = sizeof(*d) + n * sizeof(uint64_t);
	st_off off;

	if (!st_reserve(ks->st, ST_OBJ_MAX, false))
		return err_set(ei, ERR_FULL, "the pool has no room for the dataset's root (%u databases)", n);
	d = st_alloc(ks->st, size, ST_KIND_DATASET, &off);
	CHECK(d != NULL);
	memset((char *)d + sizeof(d->obj), 0, size - sizeof(d->obj));
	d->version = KS__DATASET_VERSION;
	d->databases = n;
	d->next_identity = 1;
	if (old) {
		d->next_identity = old->next_identity;
		memcpy(d->reserved, old->reserved, sizeof(d->reserved));
		memcpy(d->db, old->db, old->databases * sizeof(uint64_t));
		st_free(ks->st, st_root(ks->st));
	}
	st_set_root(ks->st, off);
	return ERR_OK;
}

/* Checks the dataset that is there, and makes it fit the databases asked for. */
static enum err dataset_take(struct ks *ks, struct errinfo *ei)
{
	const char *why = st_check_ref(ks->st, st_root(ks->st), ST_KIND_DATASET);
	const struct ks__dataset_layout *d;

	if (why)
		return err_set(ei, ERR_CORRUPT, "the pool is damaged: its root %s; restore it from a backup", why);
	d = st_view(ks->st, st_root(ks->st));
	if (d->version != KS__DATASET_VERSION)
		return err_set(ei, ERR_VERSION, "the dataset has format %u; this server knows %u", d->version,
			KS__DATASET_VERSION);
	why = st_check_object(ks->st, st_root(ks->st));
	if (!why && d->databases > DATABASES_MAX)
		why = "more databases than there can be";
	for (unsigned i = 0; !why && i < d->databases; i++)
		if (d->db[i]) {
			why = st_check_ref(ks->st, d->db[i], ST_KIND_DB);
			why = why ? why : st_check_object(ks->st, d->db[i]);
		}
	if (why)
		return err_set(ei, ERR_CORRUPT, "the pool's dataset is damaged (%s); restore the pool from a backup", why);
	if (ks->databases == 0)
		ks->databases = d->databases;
	for (unsigned i = ks->databases; i < d->databases; i++) {
		const struct ks__db_layout *db = d->db[i] ? st_view(ks->st, d->db[i]) : NULL;

		if (db && db->keys.count)
			return err_set(ei, ERR_ARGUMENT,
				"database %u of the pool holds %llu keys, but only %u databases are configured", i,
				(unsigned long long)db->keys.count, ks->databases);
	}
	return d->databases < ks->databases ? dataset_new(ks, d, ks->databases, ei) : ERR_OK;
}

static enum err dataset_open(struct ks *ks, struct errinfo *ei)
{
	struct st_stats s;

	if (ks->databases > DATABASES_MAX)
		return err_set(ei, ERR_ARGUMENT, "databases: at most %u", (unsigned)DATABASES_MAX);
	if (st_root(ks->st))
		return dataset_take(ks, ei);
	if (ks->databases == 0)
		return err_set(ei, ERR_MISSING, "the pool has no dataset yet");
	st_stats_get(ks->st, &s);
	if (s.objects)
		return err_set(ei, ERR_CORRUPT, "the pool is damaged: it holds %llu objects and no dataset; restore it from a "
			"backup", (unsigned long long)s.objects);
	return dataset_new(ks, NULL, ks->databases, ei);
}

enum err ks_open(struct store *st, const struct ks_options *o, struct ks **out, struct errinfo *ei)
{
	struct ks *ks = mem_zalloc(sizeof(*ks));
	enum err e;

	ks->st = st;
	ks->databases = o->databases;
	ks->hx.hash = item_hash;
	ks->ttl = (struct bt_ops){.entry = sizeof(struct ks__ttl_layout), .cmp = ks__ttl_cmp};
	ks->active_expire = true;
	e = dataset_open(ks, ei);
	if (e) {
		mem_free(ks);
		return e;
	}
	ks__access_init(ks);
	*out = ks;
	return ERR_OK;
}

void ks_close(struct ks *ks)
{
	ks__access_fini(ks);
	mem_free(ks);
}

struct store *ks_store(const struct ks *ks)
{
	return ks->st;
}

/* ---- time ---- */

void ks_set_now(struct ks *ks, int64_t now_ms)
{
	if (UNLIKELY(ks->access.since == 0))
		ks->access.since = now_ms;
	ks->now = now_ms;
}

int64_t ks_now(const struct ks *ks)
{
	return ks->now;
}

/* ---- telling ---- */

void ks_observe(struct ks *ks, const struct ks_observer *ob)
{
	CHECK(ks->observers < KS__OBSERVERS);
	ks->observer[ks->observers++] = *ob;
}

void ks_event(struct ks *ks, enum ks_event_class cls, const char *name, unsigned db, struct bytes key)
{
	for (unsigned i = 0; i < ks->observers; i++)
		if (ks->observer[i].event)
			ks->observer[i].event(ks->observer[i].ctx, cls, name, db, key);
}

void ks__flushed(const struct ks *ks, int db)
{
	for (unsigned i = 0; i < ks->observers; i++)
		if (ks->observer[i].flushed)
			ks->observer[i].flushed(ks->observer[i].ctx, db);
}

struct ks_stats *ks_stats(struct ks *ks)
{
	return &ks->stats;
}

/* ---- room ---- */

/* What one insertion into the index may add at most (a page split in two fresh ones) and what an average one does. */
#define HX_SPLIT 10240u
#define HX_MEAN 64u
/* Bytes of a record beside key and value, class rounding included. */
#define RECORD_MORE 80u

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many size classes that many records of so many bytes in all can have: as many as the smallest ones add up to. */
static unsigned sizes_of(size_t keys, size_t bytes)
{
	unsigned n = 0;

	for (size_t size = 32; n < keys && n < 128 && size <= bytes; size += 16, n++)
		bytes -= size;
	return n;
}

/* A record that moves (deadline, RENAME) needs no room of its own here: it takes at most one slab more, and
 * st_reserve always keeps one for every class that a change of one or two keys can open. */
bool ks_reserve_many(struct ks *ks, size_t keys, size_t bytes)
{
	size_t records = bytes + keys * RECORD_MORE, need = records + HX_RESERVE + BT_RESERVE;

	/* A rope takes up to a chunk and its nodes more than it holds. */
	if (bytes > TSTR_INLINE_MAX)
		need += bytes / 2 + rope_reserve(1);
	if (keys <= 2)
		return st_reserve(ks->st, need, false);
	/* Every one of many insertions may split a page, but not more pages than there can be. */
	uint64_t all = keys;

	for (unsigned i = 0; i < ks->databases; i++)
		all += ks_count(ks, i);
	need += min_size(keys * HX_SPLIT, all * HX_MEAN);
	return st_reserve_sizes(ks->st, need, sizes_of(keys, records));
}

bool ks_reserve(struct ks *ks, size_t bytes)
{
	return ks_reserve_many(ks, 1, bytes);
}

bool ks_reserve_free(struct ks *ks)
{
	return st_reserve(ks->st, KS__FREE_RESERVE, true);
}
