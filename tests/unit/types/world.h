/* A keyspace on the simulated medium, for the tests of this folder. */
#ifndef TESTS_TYPES_WORLD_H
#define TESTS_TYPES_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "store/sim.h"
#include "types/internal.h"
#include "types/tstr.h"

#include <stdio.h>

struct world {
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	unsigned databases;
	uint64_t bytes;
	bool weak;
	/* What the observer saw. */
	unsigned touched, expired, flushed;
	int flushed_db;
	char last[64];
};

static void world_touched(void *ctx, unsigned db, struct bytes key)
{
	struct world *w = ctx;
	size_t n = key.n < sizeof(w->last) - 1 ? key.n : sizeof(w->last) - 1;

	(void)db;
	w->touched++;
	if (n)
		memcpy(w->last, key.p, n);
	w->last[n] = '\0';
}

static void world_event(void *ctx, enum ks_event_class cls, const char *name, unsigned db, struct bytes key)
{
	struct world *w = ctx;

	(void)db;
	(void)key;
	if (cls == KS_EV_EXPIRED && strcmp(name, "expired") == 0)
		w->expired++;
}

static void world_flushed(void *ctx, int db)
{
	struct world *w = ctx;

	w->flushed++;
	w->flushed_db = db;
}

static inline void world_mount(struct world *w, const char *image)
{
	struct errinfo ei = {0};
	struct st_options so = {.path = "sim", .medium = ST_MEDIUM_SIM};
	struct ks_options ko = {.databases = w->databases};
	struct ks_observer ob = {w, world_touched, world_event, world_flushed};
	int64_t now = w->ks ? ks_now(w->ks) : 1000000;

	so.sim = w->sim = st_sim_new(w->bytes, image);
	if (st_open(&so, &w->st, &ei))
		fail_msg("st_open: %s", ei.msg);
	ks_register(w->st);
	w->ks = NULL;
	if (ks_open(w->st, &ko, &w->ks, &ei))
		fail_msg("ks_open: %s", ei.msg);
	if (w->weak)
		ks__weaken_hash(w->ks);
	ks_observe(w->ks, &ob);
	ks_set_now(w->ks, now);
	st_commit(w->st);
}

static inline void world_open(struct world *w, uint64_t bytes, unsigned databases)
{
	*w = (struct world){.bytes = bytes, .databases = databases};
	world_mount(w, NULL);
}

/* Closes and opens again; `crash`: by a power cut that kept only what was fenced. */
static inline void world_reopen(struct world *w, bool crash)
{
	char *image = mem_alloc(w->bytes);
	struct rng rng;
	struct ks *old = w->ks;
	struct ks stub = {.now = ks_now(old)};

	rng_seed(&rng, 1);
	if (crash) {
		st_sim_image(w->sim, ST_SIM_NOTHING, &rng, image);
		ks_close(old);
		st_abandon(w->st);
	} else {
		ks_close(old);
		st_close(w->st);
		st_sim_image(w->sim, ST_SIM_NOTHING, &rng, image);
	}
	st_sim_free(w->sim);
	w->ks = &stub;
	world_mount(w, image);
	mem_free(image);
}

static inline void world_close(struct world *w)
{
	ks_close(w->ks);
	st_close(w->st);
	st_sim_free(w->sim);
}

/* Commits and verifies everything. */
static inline void world_check(struct world *w)
{
	struct st_verify v;
	const char *wrong;

	st_commit(w->st);
	wrong = ks_check(w->ks);
	if (wrong)
		fail_msg("ks_check: %s", wrong);
	st_verify(w->st, &v);
	if (v.errors)
		fail_msg("st_verify: %s", v.first);
}

/* ---- short forms ---- */

static inline struct ks_key world_key(struct world *w, const char *name)
{
	return ks_key(w->ks, bytes_of(name));
}

static inline void world_reserve(struct world *w, size_t bytes)
{
	assert_true(ks_reserve(w->ks, bytes));
}

static inline void world_put(struct world *w, unsigned db, const char *name, struct bytes value, int64_t deadline)
{
	struct ks_key k = world_key(w, name);
	struct ks_ref r;
	bool found = ks_find_write(w->ks, db, k, &r);

	world_reserve(w, k.name.n + value.n);
	tstr_put(w->ks, db, k, found ? &r : NULL, value, deadline);
}

static inline void world_set(struct world *w, unsigned db, const char *name, const char *value)
{
	world_put(w, db, name, bytes_of(value), TSTR_TTL_NONE);
}

static inline void world_set_at(struct world *w, unsigned db, const char *name, const char *value, int64_t deadline)
{
	world_put(w, db, name, bytes_of(value), deadline);
}

static inline bool world_has(struct world *w, unsigned db, const char *name)
{
	struct ks_ref r;

	return ks_peek(w->ks, db, world_key(w, name), &r);
}

static inline struct ks_ref world_ref(struct world *w, unsigned db, const char *name)
{
	struct ks_ref r;

	assert_true(ks_peek(w->ks, db, world_key(w, name), &r));
	return r;
}

/* The value whole, in a static buffer that the next call reuses; NULL: absent. */
static inline const char *world_get(struct world *w, unsigned db, const char *name)
{
	static char text[1 << 20];
	struct ks_ref r;
	struct tstr v;

	if (!ks_find(w->ks, db, world_key(w, name), &r))
		return NULL;
	tstr_view(&r, &v);
	assert_true(v.len < sizeof(text));
	tstr_read(&r, &v, 0, text, v.len);
	text[v.len] = '\0';
	return text;
}

static inline int64_t world_deadline(struct world *w, unsigned db, const char *name)
{
	struct ks_ref r = world_ref(w, db, name);

	return ks_ref_deadline(&r);
}

static inline const char *world_encoding(struct world *w, unsigned db, const char *name)
{
	struct ks_ref r = world_ref(w, db, name);

	return ks_ref_encoding(&r);
}

static inline st_off world_item(struct world *w, unsigned db, const char *name)
{
	return world_ref(w, db, name).pos.item;
}

/* n times the byte c, in a buffer that the next call reuses. */
static inline struct bytes world_fill(char c, size_t n)
{
	static char text[1 << 20];

	assert_true(n <= sizeof(text));
	memset(text, c, n);
	return (struct bytes){text, n};
}

#endif
