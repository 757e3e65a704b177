/* The hash index on a strict double of the store. */
#include "unit/struct/fake_store.c"
#include "unit/struct/model_hx.h"

#include "struct/hx_match.h"

static struct world fake_world(void)
{
	struct world w = {fake_open(1ull << 30, true), fake_snapshot, fake_release, NULL};

	owner_make(&w);
	return w;
}

static void world_verify(struct store *st)
{
	fake_verify(st);
}

/* Everything dropped, the owner alone is left. */
static void world_end(struct world *w)
{
	hx_drop(w->st, &owner_edit(w)->hx);
	while (st_work(w->st, 100))
		st_commit(w->st);
	st_commit(w->st);
	fake_verify(w->st);
	assert_int_equal(w->st->objects, 1);
	fake_close(w->st);
}

static void run(uint64_t seed, enum hashing how, uint32_t universe, uint64_t ops, uint64_t wave)
{
	struct mhx m;

	mhx_open(&m, fake_world(), seed, how, universe);
	m.w.verify = world_verify;
	mhx_run(&m, RUNS(ops), RUNS(wave));
	/* Half of the runs end with deletes one by one, half with a drop. */
	if (seed & 1)
		mhx_empty(&m);
	world_end(&m.w);
	mhx_close(&m);
}

static void test_model_agrees_with_good_hashes(void **state)
{
	(void)state;
	run(1, HASH_GOOD, 2000, 1000000, 60000);
	run(2, HASH_GOOD, 30000, 1000000, 150000);
	run(3, HASH_SPREAD, 100000, 1000000, 300000);
	run(4, HASH_SPREAD, 400, 300000, 20000);
}

static void test_model_agrees_with_bad_hashes(void **state)
{
	(void)state;
	run(5, HASH_FEW, 3000, 200000, 20000);
	run(6, HASH_ONE_BUCKET, 5000, 400000, 40000);
	run(7, HASH_DEEP, 20000, 400000, 60000);
	run(8, HASH_SAME_PAGE, 4000, 300000, 30000);
	run(9, HASH_SAME_PAGE, 10000, 300000, 60000);
}

/* ---- directed ---- */

static struct hx_stats stats_of(const struct mhx *m)
{
	struct hx_stats s;

	hx_stats_get(m->w.st, mhx_root(m), &s);
	return s;
}

static void fill(struct mhx *m, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++) {
		mhx_insert(m, k);
		if (k % 16 == 0)
			world_commit(&m->w);
	}
	world_commit(&m->w);
}

static void clear(struct mhx *m, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k++) {
		mhx_remove(m, k);
		if (k % 16 == 0)
			world_commit(&m->w);
	}
	world_commit(&m->w);
}

static void open_directed(struct mhx *m, enum hashing how, uint32_t universe)
{
	mhx_open(m, fake_world(), 99, how, universe);
}

static void close_directed(struct mhx *m)
{
	world_end(&m->w);
	mhx_close(m);
}

/* The vector code of whatever machine this is. */
static void test_match_finds_equal_tags(void **state)
{
	struct rng rng;
	uint16_t tags[40];
	(void)state;

	rng_seed(&rng, 5);
	for (unsigned round = 0; round < 20000; round++) {
		uint16_t tag = (uint16_t)rng_next(&rng);
		unsigned at = (unsigned)rng_below(&rng, 9);
		uint32_t want = 0;
		for (unsigned i = 0; i < 40; i++) {
			/* Equal, or different in one bit. */
			tags[i] = rng_below(&rng, 3) ? (uint16_t)(tag ^ 1u << rng_below(&rng, 16)) : tag;
			if (i >= at && i < at + 32)
				want |= (uint32_t)(tags[i] == tag) << (i - at);
		}
		assert_int_equal(hx__match(tags + at, tag), want);
	}
}

static void test_empty_index_has_no_node(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 100);
	assert_int_equal(mhx_root(&m)->dir, 0);
	mhx_miss(&m, 5);
	mhx_prefetch(&m, 5);
	assert_int_equal(hx_random(m.w.st, mhx_root(&m), &m.rng), 0);
	assert_int_equal(hx_scan(m.w.st, mhx_root(&m), &mhx_ops, 0, 10, NULL, NULL), 0);
	mhx_insert(&m, 5);
	assert_int_equal(stats_of(&m).pages, 1);
	assert_int_equal(stats_of(&m).dirs, 0);
	mhx_remove(&m, 5);
	assert_int_equal(mhx_root(&m)->dir, 0);
	close_directed(&m);
}

static void test_insert_edits_little(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 20000);
	fill(&m, 0, 10000);
	unsigned plain = 0;
	uint64_t words = 0;
	for (uint32_t k = 10000; k < 10050; k++) {
		st_commit(m.w.st);
		uint64_t copied = m.w.st->copied, logged = m.w.st->log_words, fresh = m.w.st->fresh_bytes;
		mhx_insert(&m, k);
		fresh = m.w.st->fresh_bytes - fresh - st_class_size(sizeof(struct hitem));
		copied = m.w.st->copied - copied - st_class_size(sizeof(struct owner));
		st_commit(m.w.st);
		/* A page splits or grows once in a hundred insertions or two. */
		if (fresh)
			continue;
		/* Tags and half of the slots of a bucket; the stash when that is full. */
		assert_true(copied == 64 + 96 || copied == 256);
		words += m.w.st->log_words - logged;
		plain++;
	}
	assert_in_range(plain, 40, 50);
	/* Tag, slot (one or two words), and the count in the root. */
	assert_in_range(words, 3 * plain, 4 * plain);
	close_directed(&m);
}

static void test_full_page_splits_in_two(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 2000);
	uint32_t k = 0;
	while (stats_of(&m).pages < 2)
		mhx_insert(&m, k++);
	mhx_check(&m);
	assert_in_range(k, 480, 542);
	struct hx_stats s = stats_of(&m);
	assert_int_equal(s.dirs, 1);
	assert_int_equal(s.depth_max, 1);
	assert_int_equal(s.slots_used, k);
	/* And back: pages merge at half of one, the directory goes with them. */
	while (stats_of(&m).pages == 2)
		mhx_remove(&m, --k);
	mhx_check(&m);
	assert_in_range(k, 150, 271);
	assert_int_equal(stats_of(&m).dirs, 0);
	close_directed(&m);
}

static void test_directories_grow_and_go(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_DEEP, 3000);
	fill(&m, 0, 3000);
	mhx_check(&m);
	struct hx_stats s = stats_of(&m);
	/* 30 equal bits: three directories of 9 on the way, one below. */
	assert_int_equal(s.dirs, 4);
	assert_in_range(s.depth_max, 32, 36);
	assert_in_range(s.pages, 6, 12);
	clear(&m, 1, 3000);
	s = stats_of(&m);
	assert_int_equal(s.pages, 1);
	assert_int_equal(s.dirs, 0);
	mhx_remove(&m, 0);
	assert_int_equal(mhx_root(&m)->dir, 0);
	close_directed(&m);
}

static void test_equal_hashes_chain(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_FEW, 7000);
	fill(&m, 0, 7000);
	mhx_check(&m);
	struct hx_stats s = stats_of(&m);
	/* 1,000 items of one bucket each, 62 a page. */
	assert_int_equal(s.pages, 7 * 17);
	assert_int_equal(s.depth_max, 44);
	clear(&m, 0, 7000);
	assert_int_equal(mhx_root(&m)->dir, 0);
	close_directed(&m);
}

static void test_stash_keeps_full_buckets(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_ONE_BUCKET, 200);
	fill(&m, 0, 62);
	assert_int_equal(stats_of(&m).pages, 1);
	mhx_insert(&m, 62);
	assert_int_equal(stats_of(&m).pages, 2);
	mhx_check(&m);
	close_directed(&m);
}

static void test_stash_is_tidied_before_a_split(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_ONE_BUCKET, 200);
	fill(&m, 0, 62);
	/* Ten of the bucket go; the stash stays full until it is needed. */
	struct hx_pos pos;
	unsigned gone = 0;
	for (uint32_t k = 0; k < 62 && gone < 10; k++) {
		mhx_locate(&m, k, &pos);
		if (pos.slot >= 32) {
			mhx_remove(&m, k);
			gone++;
		}
	}
	assert_int_equal(gone, 10);
	for (uint32_t k = 100; k < 110; k++)
		mhx_insert(&m, k);
	mhx_check(&m);
	assert_int_equal(stats_of(&m).pages, 1);
	/* Only half of them and one more in another order: stash items move into the bucket. */
	gone = 0;
	for (uint32_t k = 0; k < 62 && gone < 5; k++)
		if (m.version[k]) {
			mhx_locate(&m, k, &pos);
			if (pos.slot < 32) {
				mhx_remove(&m, k);
				gone++;
			}
		}
	mhx_check(&m);
	close_directed(&m);
}

static void test_snapshot_page_is_cloned_alone(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 20000);
	fill(&m, 0, 20000);
	mhx_toggle_snapshot(&m);
	uint64_t objects = m.w.st->objects;
	mhx_edit(&m, 77);
	/* Owner, directory, page, item. */
	assert_int_equal(m.w.st->objects, objects + 4);
	mhx_edit(&m, 77);
	assert_int_equal(m.w.st->objects, objects + 4);
	world_commit(&m.w);
	mhx_check(&m);
	mhx_toggle_snapshot(&m);
	assert_int_equal(m.w.st->objects, objects);
	close_directed(&m);
}

/* ---- scans ---- */

/* Between any two calls of a scan the index is blown up or emptied around a few keys that stay. */
static void test_scan_misses_nothing_between_splits_and_merges(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 6000);
	fill(&m, 0, 150);
	for (unsigned round = 0; m.rounds < RUNS(60) && round < 100000; round++) {
		uint32_t want = (uint32_t)rng_below(&m.rng, 40);
		mhx_scan_step(&m, &m.scan[0], want);
		/* 150 keys or up to 6,000: one page, or sixteen. */
		uint32_t size = 150 + (uint32_t)rng_below(&m.rng, rng_below(&m.rng, 2) ? 700 : 5850);
		if (rng_below(&m.rng, 3) == 0)
			size = 150;
		for (uint32_t k = 150; k < m.universe; k++)
			if ((m.version[k] != 0) != (k < size))
				m.version[k] ? mhx_remove(&m, k) : mhx_insert(&m, k);
		world_commit(&m.w);
	}
	assert_int_equal(m.rounds, RUNS(60));
	close_directed(&m);
}

/* A page merges and splits again in the middle of its own buckets' scan. */
static void test_scan_survives_merge_and_split_of_its_page(void **state)
{
	struct mhx m;
	(void)state;

	for (unsigned at = 1; at < 40; at++) {
		open_directed(&m, HASH_GOOD, 2000);
		fill(&m, 0, 140);
		fill(&m, 140, 1500);
		assert_true(stats_of(&m).pages >= 4);
		for (unsigned i = 0; i < at; i++)
			mhx_scan_step(&m, &m.scan[0], 1);
		clear(&m, 140, 1500);
		mhx_scan_step(&m, &m.scan[0], 1);
		fill(&m, 140, 1500);
		mhx_scan_step(&m, &m.scan[0], 1);
		clear(&m, 140, 1500);
		while (m.scan[0].open)
			mhx_scan_step(&m, &m.scan[0], 3);
		close_directed(&m);
	}
}

static void count_visit(void *ctx, st_off item)
{
	(void)item;
	++*(uint64_t *)ctx;
}

static void test_scan_of_a_still_index_visits_each_once(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_SPREAD, 50000);
	fill(&m, 0, 50000);
	uint64_t n = 0, cursor = 0, calls = 0;
	do {
		uint64_t before = n;
		cursor = hx_scan(m.w.st, mhx_root(&m), &mhx_ops, cursor, 10, count_visit, &n);
		assert_in_range(n - before, cursor ? 10 : 0, 10 + 62);
		calls++;
	} while (cursor);
	assert_int_equal(n, 50000);
	assert_in_range(calls, 1800, 5000);
	close_directed(&m);
}

static void test_scan_takes_any_cursor(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 5000);
	fill(&m, 0, 5000);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t n = 0, c = rng_next(&m.rng) >> rng_below(&m.rng, 64);
		c = hx_scan(m.w.st, mhx_root(&m), &mhx_ops, c, 10, count_visit, &n);
		assert_true(c < 1ull << 53);
	}
	close_directed(&m);
}

/* ---- random ---- */

/* Chi-squared over all items, against its mean n-1 and deviation sqrt(2(n-1)). */
static void uniform(struct mhx *m, unsigned per_item)
{
	uint32_t *drawn = calloc(m->universe, sizeof(*drawn));
	double chi = 0, n = m->count;

	for (uint64_t i = 0; i < (uint64_t)m->count * per_item; i++) {
		st_off item = hx_random(m->w.st, mhx_root(m), &m->rng);
		drawn[((const struct hitem *)st_view(m->w.st, item))->key]++;
	}
	for (uint32_t k = 0; k < m->universe; k++) {
		double d = (double)drawn[k] - per_item;
		if (m->version[k])
			chi += d * d / per_item;
		else
			assert_int_equal(drawn[k], 0);
	}
	free(drawn);
	if ((chi - (n - 1)) * (chi - (n - 1)) > 36 * 2 * (n - 1))
		fail_msg("chi squared %.0f of %.0f items", chi, n);
}

static void test_random_is_uniform(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_GOOD, 12000);
	fill(&m, 0, 3);
	uniform(&m, 100);
	fill(&m, 3, 500);
	uniform(&m, 50);
	fill(&m, 500, 6000);
	uniform(&m, 50);
	/* About here some pages have split and some have not. */
	uint32_t n = 6000;
	for (; stats_of(&m).pages < 24; n++)
		mhx_insert(&m, n);
	uniform(&m, 50);
	clear(&m, 0, n - 1000);
	uniform(&m, 50);
	close_directed(&m);

	open_directed(&m, HASH_SPREAD, 12000);
	fill(&m, 0, 12000);
	uniform(&m, 50);
	close_directed(&m);
}

static void test_random_ends_with_odd_hashes(void **state)
{
	struct mhx m;
	(void)state;

	open_directed(&m, HASH_DEEP, 1000);
	fill(&m, 0, 1000);
	for (unsigned i = 0; i < 20; i++)
		mhx_random(&m);
	close_directed(&m);
	open_directed(&m, HASH_FEW, 1000);
	fill(&m, 0, 1000);
	for (unsigned i = 0; i < 20; i++)
		mhx_random(&m);
	close_directed(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match_finds_equal_tags),
		cmocka_unit_test(test_empty_index_has_no_node),
		cmocka_unit_test(test_insert_edits_little),
		cmocka_unit_test(test_full_page_splits_in_two),
		cmocka_unit_test(test_directories_grow_and_go),
		cmocka_unit_test(test_equal_hashes_chain),
		cmocka_unit_test(test_stash_keeps_full_buckets),
		cmocka_unit_test(test_stash_is_tidied_before_a_split),
		cmocka_unit_test(test_snapshot_page_is_cloned_alone),
		cmocka_unit_test(test_scan_of_a_still_index_visits_each_once),
		cmocka_unit_test(test_scan_takes_any_cursor),
		cmocka_unit_test(test_scan_misses_nothing_between_splits_and_merges),
		cmocka_unit_test(test_scan_survives_merge_and_split_of_its_page),
		cmocka_unit_test(test_random_is_uniform),
		cmocka_unit_test(test_random_ends_with_odd_hashes),
		cmocka_unit_test(test_model_agrees_with_good_hashes),
		cmocka_unit_test(test_model_agrees_with_bad_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
