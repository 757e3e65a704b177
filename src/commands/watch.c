/* WATCH: who is watching which key, and who must learn that one has changed.
 *
 * Every pair of session and key is one node, on its session's list and in a hash table by database and key. The
 * keyspace tells of changes through an observer; as long as nobody watches that costs one comparison a write. A
 * session whose key has changed only gets a flag; EXEC reads it.
 *
 * A key that had expired when WATCH saw it counts as absent: finding that out deletes it, before the watch exists. A
 * key that expires later has changed, whether it was deleted meanwhile or EXEC is the first to notice. */
#include "commands/internal.h"

#include "base/mem.h"

struct watch {
	struct watch *next;    /* of the session */
	struct watch *chain;   /* of the bucket */
	struct session *s;
	uint64_t hash;
	unsigned db;
	bool present;          /* the key was there */
	size_t n;
	char key[];
};

#define WATCH_BUCKETS_MIN 64u

/* ---- the table ---- */

static uint64_t hash_in(unsigned db, uint64_t key_hash)
{
	return (key_hash ^ db * 0x9E3779B97F4A7C15u) * 0xD6E8FEB86659FD93u >> 20;
}

static void table_resize(struct watch_table *t, uint32_t n)
{
	struct watch **old = t->buckets;
	uint32_t old_n = old == NULL ? 0 : t->mask + 1;
	t->buckets = mem_zalloc(n * sizeof(*t->buckets));
	t->mask = n - 1;
	for (uint32_t i = 0; i < old_n; i++) {
		for (struct watch *w = old[i], *chain; w != NULL; w = chain) {
			chain = w->chain;
			struct watch **b = &t->buckets[w->hash & t->mask];
			w->chain = *b;
			*b = w;
		}
	}
	mem_free(old);
}

static void table_add(struct watch_table *t, struct watch *w)
{
	if (t->buckets == NULL)
		table_resize(t, WATCH_BUCKETS_MIN);
	else if (t->n > t->mask)
		table_resize(t, (t->mask + 1) * 2);
	struct watch **b = &t->buckets[w->hash & t->mask];
	w->chain = *b;
	*b = w;
	t->n++;
}

static void table_remove(struct watch_table *t, struct watch *w)
{
	struct watch **at = &t->buckets[w->hash & t->mask];
	while (*at != w)
		at = &(*at)->chain;
	*at = w->chain;
	t->n--;
}

/* ---- what the keyspace tells ---- */

static void make_dirty(struct engine *e, struct session *s)
{
	if (s->flags & SESSION_DIRTY_CAS)
		return;
	s->flags |= SESSION_DIRTY_CAS;
	if (!e->in_exec)
		return;
	if (e->exec_touched_n == e->exec_touched_cap) {
		e->exec_touched_cap = e->exec_touched_cap * 2 + 16;
		e->exec_touched = mem_realloc(e->exec_touched, e->exec_touched_cap * sizeof(struct session *));
	}
	e->exec_touched[e->exec_touched_n++] = s;
}

static void on_touched(void *ctx, unsigned db, struct bytes key)
{
	struct engine *e = ctx;
	struct watch_table *t = &e->watches;
	if (LIKELY(t->n == 0))
		return;
	uint64_t hash = hash_in(db, ks_hash(e->ks, key));
	for (struct watch *w = t->buckets[hash & t->mask]; w != NULL; w = w->chain)
		if (w->hash == hash && w->db == db && bytes_eq((struct bytes){w->key, w->n}, key))
			make_dirty(e, w->s);
}

static bool there_now(struct engine *e, const struct watch *w)
{
	struct ks_ref ref;
	return ks_peek(e->ks, w->db, ks_key(e->ks, (struct bytes){w->key, w->n}), &ref);
}

/* A key that is absent before and after a flush or swap has not changed. */
static void on_flushed(void *ctx, int db)
{
	struct engine *e = ctx;
	struct watch_table *t = &e->watches;
	if (t->n == 0)
		return;
	for (uint32_t i = 0; i <= t->mask; i++)
		for (struct watch *w = t->buckets[i]; w != NULL; w = w->chain)
			if ((db < 0 || w->db == (unsigned)db) && (w->present || there_now(e, w)))
				make_dirty(e, w->s);
}

void watch__attach(struct engine *e)
{
	const struct ks_observer ob = {.ctx = e, .touched = on_touched, .flushed = on_flushed};
	ks_observe(e->ks, &ob);
}

void watch__free(struct engine *e)
{
	CHECK2(e->watches.n == 0, e->watches.n, 0);
	mem_free(e->watches.buckets);
	mem_free(e->exec_touched);
}

/* ---- sessions ---- */

void watch__add(struct session *s, struct bytes key)
{
	struct engine *e = s->e;
	struct ks_key k = ks_key(e->ks, key);
	uint64_t hash = hash_in(s->db, k.hash);
	for (const struct watch *w = s->watches; w != NULL; w = w->next)
		if (w->hash == hash && w->db == s->db && bytes_eq((struct bytes){w->key, w->n}, key))
			return;
	struct ks_ref ref;
	bool present = ks_peek(e->ks, s->db, k, &ref);
	struct watch *w = mem_alloc(sizeof(*w) + key.n);
	*w = (struct watch){.next = s->watches, .s = s, .hash = hash, .db = s->db, .present = present, .n = key.n};
	memcpy(w->key, key.p, key.n);
	s->watches = w;
	table_add(&e->watches, w);
}

void watch__forget(struct session *s)
{
	while (s->watches != NULL) {
		struct watch *w = s->watches;
		s->watches = w->next;
		table_remove(&s->e->watches, w);
		mem_free(w);
	}
	s->flags &= ~(uint32_t)SESSION_DIRTY_CAS;
}

bool watch__intact(struct session *s)
{
	/* looking at a key that has expired unseen deletes it, and that touches it */
	for (const struct watch *w = s->watches; w != NULL && !(s->flags & SESSION_DIRTY_CAS); w = w->next)
		there_now(s->e, w);
	return !(s->flags & SESSION_DIRTY_CAS);
}

unsigned session_watch_count(const struct session *s)
{
	unsigned n = 0;
	for (const struct watch *w = s->watches; w != NULL; w = w->next)
		n++;
	return n;
}

void watch__exec_begin(struct engine *e)
{
	e->exec_touched_n = 0;
}

void watch__exec_undo(struct engine *e)
{
	for (uint32_t i = 0; i < e->exec_touched_n; i++)
		e->exec_touched[i]->flags &= ~(uint32_t)SESSION_DIRTY_CAS;
	e->exec_touched_n = 0;
}
