/* Fuzzer of pool images. The input is a list of changes to one of a few sound images: bytes, words, references,
 * stretches, at places that the image knows (superblock, extent table and heads, log, slab words, bitmaps, head
 * state, objects). Sums can be put right again, so that what stands behind them is reached. Opening must refuse or
 * recover; the verifier and the keyspace's check must come to an end; a pool that both find sound must go on working.
 *
 * Input: image, what to put right, then changes of 8 bytes: region, position (2), kind, value (4). */
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/internal.h"
#include "store/sim.h"
#include "types/tstr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES (2u << 20)
#define IMAGES 3
#define REGIONS 400
#define T0 1700000000000ll
#define CHANGES_MAX 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct region {
	uint32_t at, n;
};
struct image {
	char *bytes;
	struct region region[REGIONS];
	unsigned regions;
	uint64_t root, heads, extent[8];
	unsigned extents;
};
static struct image images[IMAGES];
static char *work;

enum fix { FIX_SUPER = 1, FIX_EXTENTS = 2, FIX_RECORDS = 4, SET_CLEAN = 8, SET_UNCLEAN = 16 };

/* ---- the images ---- */

static void region(struct image *m, uint64_t at, uint64_t n)
{
	if (m->regions < REGIONS)
		m->region[m->regions++] = (struct region){(uint32_t)at, (uint32_t)n};
}

static void object_region(void *ctx, st_off off, const void *obj, size_t n)
{
	(void)obj;
	region(ctx, off, n);
}

static void know(struct image *m, struct store *st)
{
	m->root = (uint64_t)((char *)st->pool->root - st->pool->base);
	m->heads = st->span[0].start + ST__SLAB;
	region(m, m->root, 128);
	region(m, m->root + sizeof(struct st__super_layout), 96);
	region(m, m->heads, ST__HEADS * ST__LINE);
	region(m, m->heads + ST__HEADS * ST__LINE, 6000);
	region(m, st->meta_off, sizeof(struct st__meta_layout));
	for (uint32_t i = 0; i < st->extents && i < 8; i++) {
		const struct st__extent_layout *x = (const void *)(st->pool->base + st->span[i].start);
		m->extent[m->extents++] = st->span[i].start;
		region(m, st->span[i].start, sizeof(*x));
		if (x->words) {
			region(m, x->words, x->slabs * 8);
			region(m, x->bitmaps, x->slabs * ST__BITMAP);
		}
	}
	st_each(st, object_region, m);
}

static void set(struct ks *ks, unsigned k, size_t n, int64_t deadline)
{
	static char value[40000];
	char name[32];
	struct ks_ref r;
	struct bytes b = {name, (size_t)snprintf(name, sizeof(name), "key:%u", k)};
	struct ks_key key = ks_key(ks, b);
	memset(value, 'a' + (int)(k % 26), n);
	if (ks_reserve(ks, b.n + n))
		tstr_put(ks, k % 2, key, ks_find_write(ks, k % 2, key, &r) ? &r : NULL, (struct bytes){value, n}, deadline);
}

static void del(struct ks *ks, unsigned k)
{
	char name[32];
	struct ks_ref r;
	struct bytes b = {name, (size_t)snprintf(name, sizeof(name), "key:%u", k)};
	if (ks_reserve_free(ks) && ks_find_write(ks, k % 2, ks_key(ks, b), &r))
		ks_delete(&r);
}

/* databases: 0 takes what is there, and changes nothing by itself. */
static enum err open_image(char *bytes, unsigned databases, struct st_sim **sim, struct store **st, struct ks **ks)
{
	struct errinfo ei = {0};
	*sim = st_sim_over(BYTES, bytes);
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = *sim};
	enum err e = st_open(&o, st, &ei);
	if (e) {
		st_sim_free(*sim);
		return e;
	}
	ks_register(*st);
	e = ks_open(*st, &(struct ks_options){.databases = databases}, ks, &ei);
	if (e) {
		st_abandon(*st);
		st_sim_free(*sim);
		return e;
	}
	ks_set_now(*ks, T0);
	return ERR_OK;
}

/* 0: few keys. 1: many, with deadlines and ropes, and trees that wait to be reclaimed. 2: closed cleanly. */
static void make(unsigned which)
{
	struct image *m = &images[which];
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	m->bytes = mem_zalloc(BYTES);
	if (open_image(m->bytes, 2, &sim, &st, &ks))
		abort();
	st_commit(st);
	for (unsigned k = 0; k < (which ? 700 : 20); k++) {
		set(ks, k, k % 97 == 5 ? 20000 : k % 13 * 10, k % 5 ? TSTR_TTL_NONE : T0 + 1000000 + k);
		if (k % 7 == 0)
			st_commit(st);
	}
	st_commit(st);
	if (which == 1)
		for (unsigned k = 5; k < 300; k += 97)
			del(ks, k);
	st_commit(st);
	know(m, st);
	ks_close(ks);
	if (which == 2)
		st_close(st);
	else
		st_abandon(st);
	st_sim_free(sim);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (unsigned i = 0; i < IMAGES; i++)
		make(i);
	work = mem_aligned(4096, BYTES);
	return 0;
}

/* ---- changes ---- */

static void put(uint64_t at, const void *p, size_t n)
{
	if (at + n <= BYTES)
		memcpy(work + at, p, n);
}

/* Below: big ones last, so that the first regions, which all else hangs on, are met often. */
static const struct region *pick(const struct image *m, uint8_t r)
{
	return &m->region[r < 16 ? r % m->regions : (r * 7919u) % m->regions];
}

static void change(const struct image *m, const uint8_t *d)
{
	const struct region *r = pick(m, d[0]);
	uint32_t value;
	uint64_t at, word;
	memcpy(&value, d + 4, 4);
	at = r->at + (uint32_t)(d[1] | d[2] << 8) % r->n;
	switch (d[3] % 8) {
	case 0:
		put(at, &value, 1);
		break;
	case 1:
		put(at & ~1ull, &value, 2);
		break;
	case 2:
		put(at & ~3ull, &value, 4);
		break;
	case 3: /* a small or huge word */
		word = value & 1 ? value >> 1 : ~(uint64_t)(value >> 1);
		put(at & ~7ull, &word, 8);
		break;
	case 4: /* a reference to some other object, with the low and high bits that a word may carry */
		word = pick(m, d[4])->at | (uint64_t)(d[5] & 15) | (uint64_t)d[6] << 48;
		put(at & ~7ull, &word, 8);
		break;
	case 5:
		work[at] ^= (char)(1 << d[4] % 8);
		break;
	case 6: /* a stretch of another region */
		word = pick(m, d[4])->at + d[5] * 8u;
		if (word + d[6] <= BYTES && at + d[6] <= BYTES)
			memmove(work + at, work + word, d[6]);
		break;
	default:
		if (at + d[5] <= BYTES)
			memset(work + at, d[4], d[5]);
	}
}

static void put_right(const struct image *m, uint8_t what)
{
	struct st__root_layout *root = (void *)(work + m->root);
	if (what & FIX_SUPER)
		root->super.sum = st__sum(0, &root->super, offsetof(struct st__super_layout, sum));
	for (unsigned i = 0; what & FIX_EXTENTS && i < m->extents; i++) {
		struct st__extent_layout *x = (void *)(work + m->extent[i]);
		x->sum = st__sum(0, x, offsetof(struct st__extent_layout, sum));
	}
	for (unsigned i = 0; what & FIX_RECORDS && i < ST__HEADS; i++) {
		struct st__record_layout *h = (void *)(work + m->heads + i * ST__LINE);
		if (h->seq && !h->spill && h->at % 8 == 0 && h->at < BYTES && h->bytes < BYTES - h->at)
			h->sum = st__record_sum(h, (const uint64_t *)(const void *)(work + h->at));
	}
	if (what & SET_CLEAN)
		root->super.clean = 1;
	else if (what & SET_UNCLEAN)
		root->super.clean = 0;
}

/* ---- what must hold ---- */

static void go_on(struct store *st, struct ks *ks)
{
	struct st_verify v;
	for (unsigned k = 0; k < 12; k++) {
		st_work(st, 20);
		set(ks, 5 + k * 97, 30 + k * 50, k % 3 ? TSTR_TTL_NONE : T0 + 5000);
		del(ks, k * 11);
		st_commit(st);
	}
	ks_set_now(ks, T0 + 100000000);
	ks_expire_due(ks, 30);
	st_commit(st);
	st_verify(st, &v);
	const char *bad = ks_check(ks);
	if (v.errors || bad) {
		fprintf(stderr, "fuzz_pool: found sound, but after work: %s%s\n", v.first, bad ? bad : "");
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	struct st_verify v;
	if (size < 2)
		return 0;
	const struct image *m = &images[data[0] % IMAGES];
	memcpy(work, m->bytes, BYTES);
	for (size_t at = 2, n = 0; at + 8 <= size && n < CHANGES_MAX; at += 8, n++)
		change(m, data + at);
	put_right(m, data[1]);
	if (open_image(work, 0, &sim, &st, &ks))
		return 0;
	st_verify(st, &v);
	if (v.errors == 0 && !ks_check(ks) && ks_databases(ks) == 2)
		go_on(st, ks);
	ks_close(ks);
	st_abandon(st);
	st_sim_free(sim);
	return 0;
}
