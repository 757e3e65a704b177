/* Random operations on several databases against a plain model in memory, in virtual time, with commits, undone
 * units, reopening after clean stops and power cuts, and all checks along the way. */
#include "world.h"

#include <stdlib.h>

enum { DATABASES = 3, NAMES = 120 };

struct value {
	bool there;
	char *p;
	size_t n;
	int64_t deadline;       /* -1: none */
	const char *encoding;
};

struct model {
	struct value v[DATABASES][NAMES];
	uint64_t expired;
};

struct run {
	struct world w;
	struct rng rng;
	struct model now, committed, unit;
	int64_t time;
	char *scratch;
};

#define SCRATCH (300u * 1024)

/* ---- the model ---- */

static void value_set(struct value *v, const char *p, size_t n)
{
	char *old = v->p;

	v->p = mem_alloc(n + 1);
	if (n)
		memcpy(v->p, p, n);
	v->n = n;
	v->there = true;
	mem_free(old);
}

static void value_clear(struct value *v)
{
	mem_free(v->p);
	*v = (struct value){.deadline = -1};
}

static void model_copy(struct model *to, const struct model *from)
{
	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++) {
			value_clear(&to->v[d][i]);
			if (!from->v[d][i].there)
				continue;
			value_set(&to->v[d][i], from->v[d][i].p, from->v[d][i].n);
			to->v[d][i].deadline = from->v[d][i].deadline;
			to->v[d][i].encoding = from->v[d][i].encoding;
		}
	to->expired = from->expired;
}

static void model_free(struct model *m)
{
	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++)
			value_clear(&m->v[d][i]);
}

/* Names from 0 to some hundred bytes. */
static struct bytes name_of(unsigned i)
{
	static char text[NAMES][400];
	static size_t len[NAMES];

	if (!len[i] && i) {
		int n = snprintf(text[i], sizeof(text[i]), "name:%u:", i);

		len[i] = (size_t)n + (i % 5 ? i % 23 : i * 3);
		memset(text[i] + n, 'n', len[i] - (size_t)n);
	}
	return (struct bytes){text[i], len[i]};
}

static struct ks_key key_of(const struct run *r, unsigned i)
{
	return ks_key(r->w.ks, name_of(i));
}

static unsigned below(struct run *r, unsigned n)
{
	return (unsigned)rng_below(&r->rng, n);
}

/* ---- finding, in both ---- */

/* What meeting a key does to the model. */
static struct value *meet(struct run *r, unsigned db, unsigned i)
{
	struct value *v = &r->now.v[db][i];

	if (v->there && v->deadline >= 0 && r->time > v->deadline) {
		value_clear(v);
		r->now.expired++;
	}
	return v;
}

static void compare(const struct ks_ref *ref, const struct value *v)
{
	static char text[1 << 20];
	struct tstr s;

	tstr_view(ref, &s);
	assert_int_equal(s.len, v->n);
	tstr_read(ref, &s, 0, text, v->n);
	assert_memory_equal(text, v->p, v->n);
	assert_int_equal(ks_ref_deadline(ref), v->deadline);
	assert_string_equal(ks_ref_encoding(ref), v->encoding);
}

static bool find(struct run *r, unsigned db, unsigned i, struct ks_ref *out)
{
	struct value *v = meet(r, db, i);
	bool found = ks_find(r->w.ks, db, key_of(r, i), out);

	assert_int_equal(found, v->there);
	if (found)
		compare(out, v);
	return found;
}

static void compare_all(struct run *r)
{
	uint64_t expired = ks_stats(r->w.ks)->expired;

	for (unsigned d = 0; d < DATABASES; d++) {
		uint64_t n = 0, dated = 0;

		for (unsigned i = 0; i < NAMES; i++) {
			n += r->now.v[d][i].there;
			dated += r->now.v[d][i].there && r->now.v[d][i].deadline >= 0;
		}
		assert_int_equal(ks_count(r->w.ks, d), n);
		assert_int_equal(ks_count_expires(r->w.ks, d), dated);
	}
	assert_int_equal(expired, r->now.expired);
	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++) {
			struct ks_ref ref;

			find(r, d, i, &ref);
		}
}

/* ---- operations ---- */

static size_t some_length(struct run *r)
{
	switch (below(r, 12)) {
	case 0:
		return 0;
	case 1:
		return 500 + below(r, 30);
	case 2:
		return below(r, 5000);
	case 3:
		return TSTR_INLINE_MAX - 20 + below(r, 40);
	case 4:
		return below(r, 10) ? below(r, 20000) : below(r, 200000);
	default:
		return below(r, 100);
	}
}

static struct bytes some_bytes(struct run *r, size_t n)
{
	char c = (char)('a' + below(r, 26));

	memset(r->scratch, c, n);
	if (n)
		r->scratch[below(r, (unsigned)n)] = '*';
	return (struct bytes){r->scratch, n};
}

static int64_t some_deadline(struct run *r)
{
	return r->time - 20 + below(r, below(r, 3) ? 400 : 20000);
}

static const char *label(size_t n, enum tstr_as as)
{
	return as == TSTR_AS_RAW || n > 44 ? "raw" : "embstr";
}

static void op_put(struct run *r, unsigned db, unsigned i)
{
	enum tstr_as as = (enum tstr_as)below(r, 3);
	struct bytes s = some_bytes(r, some_length(r));
	struct value *v = &r->now.v[db][i];
	int64_t deadline = below(r, 2) ? TSTR_TTL_NONE : below(r, 3) ? some_deadline(r) : TSTR_TTL_KEEP;
	struct ks_ref ref;
	bool found = find(r, db, i, &ref);

	assert_true(ks_reserve(r->w.ks, s.n + 400));
	tstr_put_as(r->w.ks, db, key_of(r, i), found ? &ref : NULL, s, as, deadline);
	value_set(v, s.p, s.n);
	v->encoding = label(s.n, as);
	if (deadline != TSTR_TTL_KEEP)
		v->deadline = deadline;
	if (found)
		compare(&ref, v);
}

static void op_put_number(struct run *r, unsigned db, unsigned i)
{
	int64_t number = (int64_t)rng_next(&r->rng) >> below(r, 64);
	struct value *v = &r->now.v[db][i];
	struct ks_ref ref;
	bool found = find(r, db, i, &ref);
	char text[32];
	int n = snprintf(text, sizeof(text), "%lld", (long long)number);

	assert_true(ks_reserve(r->w.ks, 400));
	if (below(r, 2))
		tstr_put_i64(r->w.ks, db, key_of(r, i), found ? &ref : NULL, number, TSTR_TTL_KEEP);
	else
		tstr_put(r->w.ks, db, key_of(r, i), found ? &ref : NULL, (struct bytes){text, (size_t)n}, TSTR_TTL_KEEP);
	value_set(v, text, (size_t)n);
	v->encoding = "int";
}

static void op_write(struct run *r, unsigned db, unsigned i)
{
	struct value *v = &r->now.v[db][i];
	struct ks_ref ref;
	bool found = find(r, db, i, &ref);
	size_t had = found ? v->n : 0, at = below(r, 3) ? had : below(r, (unsigned)had + 1 + (below(r, 8) ? 50 : 30000));
	size_t n = below(r, 4) ? below(r, 200) : below(r, 20000), len;
	struct bytes s;
	char *whole;

	if (had > 200000 || (n == 0 && (at > had || !found)))
		return;
	s = some_bytes(r, n);
	len = at + n > had ? at + n : had;
	whole = mem_zalloc(len + 1);
	if (had)
		memcpy(whole, v->p, had);
	if (n)
		memcpy(whole + at, s.p, n);
	assert_true(ks_reserve(r->w.ks, 400 + tstr_write_reserve(found ? &ref : NULL, at, n)));
	assert_int_equal(tstr_write(r->w.ks, db, key_of(r, i), found ? &ref : NULL, at, s), len);
	value_set(v, whole, len);
	mem_free(whole);
	v->encoding = "raw";
	if (found)
		compare(&ref, v);
}

static void op_delete(struct run *r, unsigned db, unsigned i)
{
	struct ks_ref ref;

	if (!find(r, db, i, &ref))
		return;
	assert_true(ks_reserve_free(r->w.ks));
	ks_delete(&ref);
	value_clear(&r->now.v[db][i]);
}

static void op_deadline(struct run *r, unsigned db, unsigned i)
{
	struct ks_ref ref;

	if (!find(r, db, i, &ref))
		return;
	assert_true(ks_reserve(r->w.ks, 0));
	if (below(r, 4)) {
		r->now.v[db][i].deadline = some_deadline(r);
		ks_set_deadline(&ref, r->now.v[db][i].deadline);
	} else {
		r->now.v[db][i].deadline = -1;
		ks_persist(&ref);
	}
	compare(&ref, &r->now.v[db][i]);
}

static void op_rename(struct run *r, unsigned db, unsigned i)
{
	unsigned db2 = below(r, 3) ? db : below(r, DATABASES), j = below(r, NAMES);
	struct value *from = &r->now.v[db][i], *to;
	struct ks_ref ref;
	bool copies = below(r, 2);

	if ((db == db2 && i == j) || !find(r, db, i, &ref))
		return;
	to = meet(r, db2, j);
	if (copies) {
		assert_true(ks_reserve(r->w.ks, 400 + ks_ref_bytes(&ref)));
		ks_copy(&ref, db2, key_of(r, j));
	} else {
		assert_true(ks_reserve(r->w.ks, 400));
		ks_rename(&ref, db2, key_of(r, j));
	}
	value_set(to, from->p, from->n);
	to->deadline = from->deadline;
	to->encoding = from->encoding;
	if (!copies)
		value_clear(from);
}

static void op_whole(struct run *r, unsigned db)
{
	unsigned other = below(r, DATABASES);

	if (below(r, 3) == 0) {
		ks_swap(r->w.ks, db, other);
		for (unsigned i = 0; i < NAMES && db != other; i++) {
			struct value v = r->now.v[db][i];

			r->now.v[db][i] = r->now.v[other][i];
			r->now.v[other][i] = v;
		}
		return;
	}
	ks_flush(r->w.ks, (int)db);
	for (unsigned i = 0; i < NAMES; i++)
		value_clear(&r->now.v[db][i]);
}

static void op_expire(struct run *r)
{
	unsigned due = 0;

	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++)
			due += r->now.v[d][i].there && r->now.v[d][i].deadline >= 0 &&
				r->time > r->now.v[d][i].deadline;
	assert_int_equal(ks_expire_due(r->w.ks, 1000000), due);
	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++)
			meet(r, d, i);
	assert_true(ks_next_deadline(r->w.ks) >= r->time);
}

struct scanned {
	struct run *r;
	unsigned db, n;
};

static void scanned(void *ctx, struct bytes name, enum ks_type type)
{
	struct scanned *s = ctx;
	struct ks_ref ref;

	(void)type;
	/* Live keys only, so looking deletes nothing. */
	assert_true(ks_peek(s->r->w.ks, s->db, ks_key(s->r->w.ks, name), &ref));
	s->n++;
}

static void op_scan(struct run *r, unsigned db)
{
	struct scanned s = {r, db, 0};
	uint64_t cursor = 0;
	struct ks_ref ref;
	unsigned live = 0;

	for (unsigned i = 0; i < NAMES; i++) {
		const struct value *v = &r->now.v[db][i];

		live += v->there && (v->deadline < 0 || r->time <= v->deadline);
	}
	do {
		cursor = ks_scan(r->w.ks, db, cursor, 1 + below(r, 50), scanned, &s);
	} while (cursor);
	assert_int_equal(s.n, live);
	/* A draw deletes the expired keys that it meets, so it comes when there are none. */
	op_expire(r);
	assert_int_equal(ks_random(r->w.ks, db, &r->rng, &ref), live != 0);
}

static void step(struct run *r)
{
	unsigned db = below(r, DATABASES), i = below(r, NAMES);
	struct ks_ref ref;

	switch (below(r, 24)) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		op_put(r, db, i);
		break;
	case 6: case 7:
		op_put_number(r, db, i);
		break;
	case 8: case 9: case 10: case 11:
		op_write(r, db, i);
		break;
	case 12: case 13:
		op_delete(r, db, i);
		break;
	case 14: case 15: case 16:
		op_deadline(r, db, i);
		break;
	case 17: case 18: case 19:
		op_rename(r, db, i);
		break;
	case 20:
		if (below(r, 20) == 0)
			op_whole(r, db);
		else if (below(r, 10) == 0)
			op_scan(r, db);
		break;
	case 21:
		r->time += below(r, 60);
		ks_set_now(r->w.ks, r->time);
		break;
	default:
		find(r, db, i, &ref);
	}
}

/* ---- ticks, units, reopening ---- */

static void tick_end(struct run *r)
{
	if (below(r, 3) == 0)
		op_expire(r);
	st_commit(r->w.st);
	st_work(r->w.st, 1 + below(r, 50));
}

static void undone_unit(struct run *r)
{
	uint64_t expired;

	model_copy(&r->unit, &r->now);
	st_unit_begin(r->w.st);
	for (unsigned n = below(r, 12); n > 0; n--)
		step(r);
	st_unit_undo(r->w.st);
	/* The counter of expired keys is no part of the unit. */
	expired = r->now.expired;
	model_copy(&r->now, &r->unit);
	r->now.expired = expired;
}

static void reopen(struct run *r)
{
	bool crash = below(r, 2);

	compare_all(r);
	if (crash) {
		/* What the tick has not committed is lost. */
		st_commit(r->w.st);
		model_copy(&r->committed, &r->now);
		for (unsigned n = below(r, 10); n > 0; n--)
			step(r);
		model_copy(&r->now, &r->committed);
	}
	world_reopen(&r->w, crash);
	ks_set_now(r->w.ks, r->time);
	r->now.expired = 0;
	compare_all(r);
}

static void run_model(uint64_t seed, bool weak, unsigned ticks)
{
	struct run *r = mem_zalloc(sizeof(*r));

	rng_seed(&r->rng, seed);
	for (unsigned d = 0; d < DATABASES; d++)
		for (unsigned i = 0; i < NAMES; i++)
			r->now.v[d][i].deadline = -1;
	r->scratch = mem_alloc(SCRATCH);
	r->w = (struct world){.bytes = 64 << 20, .databases = DATABASES, .weak = weak};
	world_mount(&r->w, NULL);
	r->time = ks_now(r->w.ks);
	for (unsigned t = 0; t < ticks; t++) {
		for (unsigned n = 1 + below(r, 20); n > 0; n--)
			step(r);
		if (below(r, 20) == 0)
			undone_unit(r);
		tick_end(r);
		if (below(r, 100) == 0) {
			world_check(&r->w);
			compare_all(r);
		}
		if (below(r, 200) == 0)
			reopen(r);
	}
	/* Everything deleted and reclaimed leaves the roots alone. */
	ks_flush(r->w.ks, -1);
	while (st_work(r->w.st, 1000))
		st_commit(r->w.st);
	world_check(&r->w);
	{
		struct st_stats s;

		st_stats_get(r->w.st, &s);
		assert_int_equal(s.objects, 1 + DATABASES);
	}
	world_close(&r->w);
	model_free(&r->now);
	model_free(&r->committed);
	model_free(&r->unit);
	mem_free(r->scratch);
	mem_free(r);
}

/* PERDURE_SEED and PERDURE_TICKS: longer runs by hand. */
static uint64_t from_env(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : otherwise;
}

static void test_random_operations_agree_with_the_model(void **state)
{
	(void)state;
	run_model(from_env("PERDURE_SEED", 42), false, (unsigned)from_env("PERDURE_TICKS", 3000));
}

static void test_random_operations_agree_with_colliding_hashes(void **state)
{
	(void)state;
	run_model(from_env("PERDURE_SEED", 43), true, (unsigned)from_env("PERDURE_TICKS", 2000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations_agree_with_the_model),
		cmocka_unit_test(test_random_operations_agree_with_colliding_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
