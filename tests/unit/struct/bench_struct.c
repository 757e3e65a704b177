/* What the structures cost, on a pool under /dev/shm: bytes of index a key, nanoseconds an operation with near and far
 * memory, alone and in batches. Not a test: `bench_struct [items [directory]]`. */
#include "base/clock.h"
#include "base/rng.h"
#include "struct/bt.h"
#include "struct/hx.h"
#include "struct/rope.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BATCH 16u

struct item {
	struct st_obj obj;
	uint64_t hash, key;
	uint64_t fill[5];
};

static struct store *st;
static struct hx_root hx; /* in DRAM: the cost of the owner is not this room's */
static volatile uint64_t sink;

/* Processor time: others may use the machine. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t item_hash(const struct store *s, st_off item)
{
	return ((const struct item *)st_view(s, item))->hash;
}

static bool item_eq(const struct store *s, st_off item, const void *key)
{
	return ((const struct item *)st_view(s, item))->key == *(const uint64_t *)key;
}

static const struct hx_ops ops = {item_hash};

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15ull;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

static bool spread = true;

static uint64_t hash_of(uint64_t key)
{
	return spread ? hx_spread(mix(key)) : mix(key);
}

static void need(size_t n)
{
	if (!st_reserve(st, n, false)) {
		fprintf(stderr, "the pool is full\n");
		exit(1);
	}
}

static void say(const char *what, uint64_t ns, uint64_t n)
{
	printf("  %-46s %8.1f ns\n", what, (double)ns / (double)n);
}

/* ---- hash index ---- */

static void index_size(uint64_t n)
{
	struct hx_stats s;

	hx_stats_get(st, &hx, &s);
	printf("  %9lu items: %5.2f bytes of index each (directories %.2f), load %.3f, %lu pages, depth %lu\n", n,
		(double)(s.page_bytes + s.dir_bytes) / (double)n, (double)s.dir_bytes / (double)n,
		(double)s.slots_used / (double)s.pages / 542, s.pages, s.depth_max);
}

static void insert_range(uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++) {
		st_off off;
		need(HX_RESERVE + sizeof(struct item));
		struct item *it = st_alloc(st, sizeof(*it), ST_KIND_RECORD, &off);
		*it = (struct item){it->obj, hash_of(k), k, {0}};
		hx_insert(st, &hx, &ops, it->hash, off);
		if (k % BATCH == BATCH - 1)
			st_commit(st);
	}
	st_commit(st);
}

#define SAMPLES 16384u
static uint32_t took[SAMPLES];

static int by_size(const void *a, const void *b)
{
	return (*(const uint32_t *)a > *(const uint32_t *)b) - (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* Random look-ups among the first `among` keys; how: 0 alone, 1 in batches with the three passes of prefetch, 2 the
 * find of these batches alone, the median of many (a clock's reading included, a few ns). */
static void find_random(const char *what, uint64_t among, uint64_t n, int how)
{
	struct rng rng;
	uint64_t keys[BATCH], hashes[BATCH], found = 0;
	uint64_t t = now_ns();

	rng_seed(&rng, among);
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (unsigned k = 0; k < BATCH; k++) {
			keys[k] = rng_below(&rng, among);
			hashes[k] = hash_of(keys[k]);
		}
		if (how) {
			for (unsigned k = 0; k < BATCH; k++)
				hx_prefetch_bucket(st, &hx, hashes[k]);
			for (unsigned k = 0; k < BATCH; k++)
				hx_prefetch_slot(st, &hx, hashes[k]);
			for (unsigned k = 0; k < BATCH; k++)
				found += hx_prefetch_item(st, &hx, hashes[k], 64) & 1;
		}
		uint64_t t1 = how == 2 ? clock_mono_ns() : 0;
		for (unsigned k = 0; k < BATCH; k++)
			found += hx_find(st, &hx, hashes[k], item_eq, &keys[k]) != 0;
		if (how == 2)
			took[i / BATCH % SAMPLES] = (uint32_t)(clock_mono_ns() - t1);
	}
	t = now_ns() - t;
	if (how == 2) {
		qsort(took, SAMPLES, sizeof(took[0]), by_size);
		t = (uint64_t)took[SAMPLES / 2] * n / BATCH;
	}
	if (found != n)
		printf("found %lu of %lu\n", found, n);
	say(what, t, n);
}

static void miss_random(uint64_t n)
{
	uint64_t t = now_ns(), found = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = i | 1ull << 60;
		found += hx_find(st, &hx, hash_of(key), item_eq, &key) != 0;
	}
	say("find, absent, all of the index", now_ns() - t, n);
	sink = found;
}

static void replace_random(uint64_t among, uint64_t n, bool prefetch)
{
	struct rng rng;
	uint64_t keys[BATCH], hashes[BATCH], t = now_ns();

	rng_seed(&rng, n);
	for (uint64_t i = 0; i < n; i += BATCH) {
		for (unsigned k = 0; k < BATCH; k++) {
			keys[k] = rng_below(&rng, among);
			hashes[k] = hash_of(keys[k]);
			if (prefetch)
				hx_prefetch_bucket(st, &hx, hashes[k]);
		}
		for (unsigned k = 0; prefetch && k < BATCH; k++)
			hx_prefetch_slot(st, &hx, hashes[k]);
		for (unsigned k = 0; prefetch && k < BATCH; k++)
			st_prefetch_free(st, hx_prefetch_item(st, &hx, hashes[k], 64));
		for (unsigned k = 0; k < BATCH; k++) {
			struct hx_pos pos;
			st_off off;
			need(HX_RESERVE + sizeof(struct item));
			if (!hx_locate(st, &hx, hashes[k], item_eq, &keys[k], &pos))
				abort();
			struct item *it = st_alloc(st, sizeof(*it), ST_KIND_RECORD, &off);
			*it = (struct item){it->obj, hashes[k], keys[k], {0}};
			hx_replace(st, &hx, hashes[k], &pos, off);
			st_free(st, pos.item);
		}
		st_commit(st);
	}
	say(prefetch ? "locate + alloc + replace + free + commit/16, batch" : "locate + alloc + replace + free + commit/16",
		now_ns() - t, n);
}

static void remove_range(uint64_t from, uint64_t to)
{
	uint64_t t = now_ns();

	for (uint64_t k = from; k < to; k++) {
		struct hx_pos pos;
		need(HX_RESERVE);
		if (!hx_locate(st, &hx, hash_of(k), item_eq, &k, &pos))
			abort();
		hx_remove(st, &hx, &ops, hash_of(k), &pos);
		st_free(st, pos.item);
		if (k % BATCH == BATCH - 1)
			st_commit(st);
	}
	st_commit(st);
	say("locate + remove + free + commit/16", now_ns() - t, to - from);
}

static void seen(void *ctx, st_off item)
{
	(void)item;
	++*(uint64_t *)ctx;
}

static void walks(uint64_t n)
{
	struct rng rng;
	uint64_t t = now_ns(), cursor = 0, visited = 0;

	do
		cursor = hx_scan(st, &hx, &ops, cursor, 10, seen, &visited);
	while (cursor);
	say("scan by 10, an item", now_ns() - t, visited);
	rng_seed(&rng, n);
	t = now_ns();
	for (unsigned i = 0; i < 200000; i++)
		sink = hx_random(st, &hx, &rng);
	say("random", now_ns() - t, 200000);
}

static void bench_hx(uint64_t items)
{
	printf("hash index\n");
	uint64_t at = 0, t, step = items < 1000000 ? items : 1000000;
	for (uint64_t next = step; next <= items; next += step) {
		t = now_ns();
		insert_range(at, next);
		t = now_ns() - t;
		if (next == step || next == items)
			say("alloc + insert + commit/16, growing", t, next - at);
		index_size(next);
		at = next;
	}
	find_random("find, 500 keys (near)", 500, 5000000, 0);
	find_random("find, all keys", at, 2000000, 0);
	find_random("find, all keys, batches of 16 with prefetch", at, 4000000, 1);
	find_random("of that the find itself", at, 4000000, 2);
	miss_random(2000000);
	replace_random(at, 1000000, false);
	replace_random(at, 2000000, true);
	walks(at);
	remove_range(0, at / 2);
	index_size(at - at / 2);
	remove_range(at / 2, at);
	printf("  left: %lu items, root %#lx\n", hx.count, hx.dir);
}

/* ---- tree ---- */

struct entry {
	uint64_t when, what;
};

static int entry_cmp(const struct store *s, const void *a, const void *b, void *ctx)
{
	const struct entry *x = a, *y = b;

	(void)s;
	(void)ctx;
	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

static void bench_bt(uint64_t n)
{
	static const struct bt_ops tree = {.entry = 16, .cmp = entry_cmp, .entry_is_key = true};
	struct bt_root r = {0};
	struct st_stats before, after;
	struct entry e;
	uint64_t t = now_ns();

	printf("tree of 16-byte entries\n");
	st_stats_get(st, &before);
	for (uint64_t i = 0; i < n; i++) {
		e = (struct entry){mix(i) >> 20, i};
		need(BT_RESERVE);
		bt_insert(st, &r, &tree, &e, &e);
		if (i % BATCH == BATCH - 1)
			st_commit(st);
	}
	st_commit(st);
	say("insert + commit/16, random", now_ns() - t, n);
	st_stats_get(st, &after);
	printf("  %.1f bytes an entry, %u levels, %.0f bytes of log an insertion\n",
		(double)(after.object_bytes - before.object_bytes) / (double)n, r.levels,
		(double)(after.log_bytes - before.log_bytes) / (double)n);
	t = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		e = (struct entry){mix(i) >> 20, i};
		sink = bt_find(st, &r, &tree, &e, NULL);
	}
	say("find, random", now_ns() - t, n);
	t = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		need(BT_RESERVE);
		bt_at(st, &r, &tree, 0, &e);
		bt_remove(st, &r, &tree, &e, NULL);
		if (i % BATCH == BATCH - 1)
			st_commit(st);
	}
	st_commit(st);
	say("remove the first + commit/16", now_ns() - t, n);
	t = now_ns();
	for (uint64_t i = 0; i < n; i++) {
		e = (struct entry){i, mix(i)};
		need(BT_RESERVE);
		bt_insert(st, &r, &tree, &e, &e);
		if (i % BATCH == BATCH - 1)
			st_commit(st);
	}
	st_commit(st);
	say("insert + commit/16, ascending", now_ns() - t, n);
	bt_drop(st, &r);
}

/* ---- rope ---- */

static bool piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	(void)chunk;
	*(uint64_t *)ctx += (uint64_t)p[0] + n;
	return true;
}

static void bench_rope(void)
{
	static char big[1 << 20];
	struct rope_root r = {0};
	struct rng rng;
	uint64_t t = now_ns(), sum = 0;

	printf("rope\n");
	memset(big, 'x', sizeof(big));
	for (unsigned i = 0; i < 500; i++) {
		need(rope_reserve(sizeof(big)));
		struct rope_root fresh = {0};
		rope_write(st, &fresh, 0, (struct bytes){big, sizeof(big)});
		rope_drop(st, &r);
		r = fresh;
		st_commit(st);
		while (st_work(st, 1000))
			st_commit(st);
	}
	say("write 1 MiB afresh, drop the old, commit", now_ns() - t, 500);
	t = now_ns();
	for (unsigned i = 0; i < 2000; i++)
		rope_read(st, &r, 0, big, sizeof(big));
	say("read 1 MiB", now_ns() - t, 2000);
	t = now_ns();
	for (unsigned i = 0; i < 20000; i++)
		rope_each(st, &r, 0, sizeof(big), piece, &sum);
	say("pieces of 1 MiB", now_ns() - t, 20000);
	rng_seed(&rng, 1);
	t = now_ns();
	for (unsigned i = 0; i < 1000000; i++) {
		need(rope_reserve(1));
		*rope_byte(st, &r, rng_below(&rng, r.len)) ^= 1;
		if (i % BATCH == BATCH - 1)
			st_commit(st);
	}
	say("edit a random byte + commit/16", now_ns() - t, 1000000);
	t = now_ns();
	for (unsigned i = 0; i < 1000000; i++) {
		need(rope_reserve(10));
		rope_write(st, &r, r.len, BYTES_LIT("0123456789"));
		if (i % BATCH == BATCH - 1)
			st_commit(st);
	}
	say("append 10 bytes + commit/16", now_ns() - t, 1000000);
	rope_drop(st, &r);
	sink = sum;
}

int main(int argc, char **argv)
{
	uint64_t items = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	char path[] = "/dev/shm/bench_struct_XXXXXX";
	struct errinfo ei = {0};
	struct st_options so = {.pool_size = 8ull << 30, .pool_grow = 512ull << 20, .medium = ST_MEDIUM_PMEM};
	static const struct st_kind_ops item = {"item", NULL, NULL};

	setvbuf(stdout, NULL, _IOLBF, 0);
	so.path = argc > 2 ? argv[2] : mkdtemp(path);
	spread = getenv("BENCH_UNIFORM") == NULL;
	if (so.path == NULL || st_open(&so, &st, &ei)) {
		fprintf(stderr, "cannot open a pool: %s\n", ei.msg);
		return 1;
	}
	hx_register(st);
	bt_register(st);
	rope_register(st);
	st_register(st, ST_KIND_RECORD, &item);
	if (items)
		bench_hx(items);
	bench_bt(1000000);
	bench_rope();
	st_close(st);
	printf("pool left in %s\n", so.path);
	return 0;
}
