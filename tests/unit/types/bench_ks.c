/* What one operation of the keyspace costs, without commands and network: processor time of the thread, on a pool of
 * its own. Not a test: prints figures, makes no verdict.
 *
 *   bench_ks POOL_DIRECTORY [keys [value bytes [only]]]     (a directory on tmpfs or DAX that is not there yet)
 *
 * only: a name of the list, to look at one thing with a profiler.
 *
 * Build it with the released rooms (make, then link libtypes.a and those below); the debug archives assert. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "types/tstr.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A batch is a tick. Keys are drawn for many ticks at once, outside the time that counts. */
enum { KEY = 16, BATCH = 16, DRAWN = 256 };

static struct store *st;
static struct ks *ks;
static uint64_t keys = 1000000;
static size_t value_bytes = 64;
static char value[1 << 20];
static struct rng rng;
static const char *only;

static struct bytes key_name(uint64_t i, char out[KEY + 1])
{
	snprintf(out, KEY + 1, "key:%012llu", (unsigned long long)i);
	return (struct bytes){out, KEY};
}

struct batch {
	char text[BATCH][KEY + 1];
	struct ks_key k[BATCH];
};

static void draw(struct batch *b, uint64_t *next)
{
	for (unsigned i = 0; i < BATCH; i++) {
		struct bytes name = key_name(next ? (*next)++ : rng_below(&rng, keys), b->text[i]);

		b->k[i] = ks_key(ks, name);
	}
}

static void prefetch(const struct batch *b, bool writes)
{
	for (unsigned i = 0; i < BATCH; i++)
		ks_prefetch1(ks, 0, b->k[i].hash);
	for (unsigned i = 0; i < BATCH; i++)
		ks_prefetch2(ks, 0, b->k[i].hash);
	for (unsigned i = 0; i < BATCH; i++)
		ks_prefetch3(ks, 0, b->k[i].hash, writes);
}

static void reserve(size_t n)
{
	if (!ks_reserve(ks, n)) {
		fprintf(stderr, "the pool is full\n");
		exit(1);
	}
}

/* ---- operations ---- */

static uint64_t sink;

static void op_nothing(struct batch *b, unsigned i)
{
	sink += b->k[i].hash;
}

static void op_find(struct batch *b, unsigned i)
{
	struct ks_ref r;

	sink += ks_find(ks, 0, b->k[i], &r);
}

/* A find without the access clock. */
static void op_peek(struct batch *b, unsigned i)
{
	struct ks_ref r;

	sink += ks_peek(ks, 0, b->k[i], &r);
}

/* A byte of every line, as a copy to a socket would read them. */
static bool touch(void *ctx, const char *p, size_t n, st_off chunk)
{
	(void)ctx;
	(void)chunk;
	for (size_t i = 0; i < n; i += 64)
		sink += (unsigned char)p[i];
	return true;
}

static void op_read(struct batch *b, unsigned i)
{
	struct ks_ref r;
	struct tstr v;

	if (ks_find(ks, 0, b->k[i], &r)) {
		tstr_view(&r, &v);
		tstr_each(&r, &v, 0, v.len, touch, NULL);
	}
}

static void op_put(struct batch *b, unsigned i)
{
	struct ks_ref r;
	bool found = ks_find_write(ks, 0, b->k[i], &r);

	value[i % value_bytes] = (char)('a' + rng_below(&rng, 26));
	reserve(KEY + value_bytes);
	tstr_put(ks, 0, b->k[i], found ? &r : NULL, (struct bytes){value, value_bytes}, TSTR_TTL_NONE);
}

/* SET with EX 100 while time goes on: deadlines come in order, as most do. */
static void op_put_ex(struct batch *b, unsigned i)
{
	static uint64_t ops;
	struct ks_ref r;
	bool found = ks_find_write(ks, 0, b->k[i], &r);

	if (++ops % 1024 == 0)
		ks_set_now(ks, ks_now(ks) + 1);
	reserve(KEY + value_bytes);
	tstr_put(ks, 0, b->k[i], found ? &r : NULL, (struct bytes){value, value_bytes}, ks_now(ks) + 100000);
}

/* All words of the value change, as in a bench of random values. */
static void op_put_all(struct batch *b, unsigned i)
{
	for (size_t w = 0; w + 8 <= value_bytes; w += 8) {
		uint64_t x = rng_next(&rng) | 0x0101010101010101ull;

		memcpy(value + w, &x, 8);
	}
	op_put(b, i);
}

static void op_incr(struct batch *b, unsigned i)
{
	struct ks_ref r;
	int64_t n;
	bool found = ks_find_write(ks, 0, b->k[i], &r);

	reserve(KEY + 21);
	if (found && tstr_held_i64(&r, &n))
		tstr_put_i64(ks, 0, b->k[i], &r, n + 1, TSTR_TTL_KEEP);
	else
		tstr_put_i64(ks, 0, b->k[i], found ? &r : NULL, 1, TSTR_TTL_KEEP);
}

static void op_deadline(struct batch *b, unsigned i)
{
	struct ks_ref r;

	reserve(0);
	if (ks_find_write(ks, 0, b->k[i], &r))
		ks_set_deadline(&r, ks_now(ks) + 100000 + (int64_t)rng_below(&rng, 1000000));
}

static void op_delete(struct batch *b, unsigned i)
{
	struct ks_ref r;

	ks_reserve_free(ks);
	if (ks_find_write(ks, 0, b->k[i], &r))
		ks_delete(&r);
}

/* ---- runs ---- */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double run_once(void (*op)(struct batch *b, unsigned i), uint64_t n, uint64_t *next, bool ahead, bool writes)
{
	static struct batch drawn[DRAWN];
	uint64_t spent = 0, done = 0;

	while (done < n) {
		uint64_t start;

		for (unsigned d = 0; d < DRAWN; d++)
			draw(&drawn[d], next);
		start = cpu_ns();
		for (unsigned d = 0; d < DRAWN && done < n; d++, done += BATCH) {
			if (ahead)
				prefetch(&drawn[d], writes);
			for (unsigned i = 0; i < BATCH; i++)
				op(&drawn[d], i);
			if (writes) {
				st_commit(st);
				st_work(st, 64);
			}
		}
		spent += cpu_ns() - start;
	}
	return (double)spent / (double)done;
}

static void run(const char *name, void (*op)(struct batch *b, unsigned i), uint64_t n, uint64_t *next, bool ahead,
	bool writes)
{
	struct st_stats a, b;
	double ns;

	if (only && strcmp(name, only) != 0 && next == NULL)
		return;
	st_stats_get(st, &a);
	ns = run_once(op, n, next, ahead, writes);
	st_stats_get(st, &b);
	printf("%-34s %7.1f ns/op", name, ns);
	if (writes)
		printf("   log %6.1f  fresh %6.1f  home %6.1f bytes/op", (double)(b.log_bytes - a.log_bytes) / (double)n,
			(double)(b.fresh_bytes - a.fresh_bytes) / (double)n, (double)(b.apply_bytes - a.apply_bytes) / (double)n);
	printf("\n");
	fflush(stdout);
}

/* Every key has a deadline by now; all pass at once. */
static void run_expiry(void)
{
	uint64_t start = cpu_ns(), n = ks_count_expires(ks, 0), ns, longest = 0;
	unsigned dead = 0, got;

	if (only && strcmp(only, "expire") != 0)
		return;
	ks_set_now(ks, ks_now(ks) + 10000000);
	do {
		ns = cpu_ns();
		got = ks_expire_due(ks, 200);
		st_commit(st);
		ns = cpu_ns() - ns;
		longest = ns > longest ? ns : longest;
		dead += got;
	} while (got);
	printf("%-34s %7.1f ns/op   longest tick of 200: %llu us\n", "expire, 200 a tick",
		(double)(cpu_ns() - start) / (double)(dead ? dead : 1), (unsigned long long)longest / 1000);
	if (dead != n)
		printf("expired %u of %llu\n", dead, (unsigned long long)n);
}

static void open_pool(const char *dir)
{
	struct errinfo ei = {0};
	struct st_options o = {.path = dir, .pool_size = 16ull << 30, .pool_grow = 256 << 20, .medium = ST_MEDIUM_PMEM};

	if (st_open(&o, &st, &ei)) {
		fprintf(stderr, "%s\n", ei.msg);
		exit(1);
	}
	ks_register(st);
	if (ks_open(st, &(struct ks_options){.databases = 16}, &ks, &ei)) {
		fprintf(stderr, "%s\n", ei.msg);
		exit(1);
	}
	ks_set_now(ks, clock_ms());
	st_commit(st);
}

static void report_size(void)
{
	struct st_stats s;
	uint64_t n = ks_count(ks, 0);

	st_stats_get(st, &s);
	printf("%llu keys of %d + %zu bytes: %.1f bytes/key in objects, %.1f in slabs in use\n", (unsigned long long)n, KEY,
		value_bytes, (double)s.object_bytes / (double)n, (double)s.used / (double)n);
}

int main(int argc, char **argv)
{
	uint64_t next = 0, n;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_ks POOL_DIRECTORY [keys [value bytes [only]]]\n");
		return 2;
	}
	keys = argc > 2 ? strtoull(argv[2], NULL, 10) : keys;
	value_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : value_bytes;
	only = argc > 4 ? argv[4] : NULL;
	/* About as many bytes for every size, but for small values two million operations. */
	n = value_bytes > 1000 ? (2ull << 30) / value_bytes : keys < 2000000 ? 2000000 : keys;
	memset(value, 'v', sizeof(value));
	rng_seed(&rng, 1);
	open_pool(argv[1]);
	run("insert, growing the pool", op_put, keys, &next, true, true);
	report_size();
	for (int round = 0; round < 2; round++) {
		run("the loop alone", op_nothing, n, NULL, false, false);
		run("find", op_find, n, NULL, false, false);
		run("find, prefetched", op_find, n, NULL, true, false);
		run("peek (no access clock), prefetched", op_peek, n, NULL, true, false);
		ks_track_access(ks, true);
		run("find counting (LFU), prefetched", op_find, n, NULL, true, false);
		ks_track_access(ks, false);
		run("read, prefetched", op_read, n, NULL, true, false);
		run("overwrite one word", op_put, n, NULL, false, true);
		run("overwrite one word, prefetched", op_put, n, NULL, true, true);
		run("overwrite all words, prefetched", op_put_all, n, NULL, true, true);
	}
	run("SET EX 100, first and later", op_put_ex, n, NULL, true, true);
	run("SET EX 100, later", op_put_ex, n, NULL, true, true);
	run("give or move a deadline", op_deadline, n, NULL, true, true);
	report_size();
	run("overwrite (no deadline), prefetched", op_put, n, NULL, true, true);
	next = 0;
	run("delete in order, prefetched", op_delete, keys, &next, true, true);
	next = 0;
	run("insert, warm pool, prefetched", op_put, keys, &next, true, true);
	report_size();
	run("first INCR or SET to integer", op_incr, n, NULL, true, true);
	run("increment, prefetched", op_incr, n, NULL, true, true);
	run("give or move a deadline", op_deadline, n, NULL, true, true);
	run_expiry();
	ks_close(ks);
	st_close(st);
	return sink == 42;
}
