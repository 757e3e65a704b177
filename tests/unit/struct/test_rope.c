/* The rope on a strict double of the store. */
#include "unit/struct/fake_store.c"
#include "unit/struct/model_rope.h"

static void world_verify(struct store *st)
{
	fake_verify(st);
}

static void open_rope(struct mrope *m, uint64_t seed, uint64_t max)
{
	struct world w = {fake_open(1ull << 30, true), fake_snapshot, fake_release, world_verify};

	owner_make(&w);
	mrope_open(m, w, seed, max);
}

static void close_rope(struct mrope *m)
{
	rope_drop(m->w.st, &owner_edit(&m->w)->rope);
	do
		st_commit(m->w.st);
	while (st_work(m->w.st, 100));
	st_commit(m->w.st);
	fake_verify(m->w.st);
	assert_int_equal(m->w.st->objects, 1);
	fake_close(m->w.st);
	mrope_close(m);
}

static void run(uint64_t seed, uint64_t max, uint64_t ops)
{
	struct mrope m;

	open_rope(&m, seed, max);
	mrope_run(&m, RUNS(ops));
	close_rope(&m);
}

static void test_model_agrees(void **state)
{
	(void)state;
	run(1, 20000, 200000);
	run(2, 200000, 100000);
	run(3, 6000000, 40000);
	run(4, 100, 100000);
}

static void test_empty_rope_has_no_object(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 1000);
	mrope_write(&m, 0, 0);
	assert_int_equal(m.w.st->objects, 1);
	mrope_write(&m, 0, 10);
	assert_int_equal(m.w.st->objects, 2);
	mrope_truncate(&m, 0);
	assert_int_equal(mrope_root(&m)->node, 0);
	close_rope(&m);
}

static void test_holes_cost_nothing(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 600u << 20);
	m.len = 0;
	mrope_write(&m, (512u << 20) - 1, 1);
	assert_int_equal(mrope_root(&m)->levels, 2);
	/* Owner, two nodes, a chunk. */
	assert_int_equal(m.w.st->objects, 4);
	assert_true(rope_bytes(m.w.st, mrope_root(&m)) < 16384);
	char zeros[3000] = {0}, got[3000];
	rope_read(m.w.st, mrope_root(&m), 300u << 20, got, sizeof(got));
	assert_memory_equal(got, zeros, sizeof(got));
	assert_null(rope_check(m.w.st, mrope_root(&m)));
	close_rope(&m);
}

static void test_bytes_fit_the_string(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 1u << 22);
	mrope_write(&m, 0, 17 * 1024);
	/* Two whole chunks, one of 1,072 bytes, a node for three. */
	assert_int_equal(
		rope_bytes(m.w.st, mrope_root(&m)), 2 * 8192 + st_class_size(16 + 17 * 1024 - 2 * ROPE_CHUNK) + 48);
	mrope_truncate(&m, 0);
	mrope_write(&m, 0, 100 * 1024);
	assert_int_equal(
		rope_bytes(m.w.st, mrope_root(&m)), 12 * 8192 + st_class_size(16 + 100 * 1024 - 12 * ROPE_CHUNK) + 128);
	mrope_truncate(&m, 0);
	mrope_write(&m, 0, 1u << 20);
	assert_in_range(rope_bytes(m.w.st, mrope_root(&m)), 1u << 20, (1u << 20) + 8192);
	close_rope(&m);
}

static void test_appending_bytes_is_amortised(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 1u << 20);
	uint64_t before = m.w.st->fresh_bytes;
	for (unsigned i = 0; i < 100000; i++) {
		mrope_write(&m, m.len, 1);
		if (i % 16 == 0)
			st_commit(m.w.st);
	}
	mrope_check(&m);
	/* Each byte is copied a few times as its chunk grows. */
	assert_in_range(m.w.st->fresh_bytes - before, 100000, 400000);
	close_rope(&m);
}

static void test_byte_edit_copies_one_part(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 8u << 20);
	mrope_write(&m, 0, 6u << 20);
	st_commit(m.w.st);
	owner_edit(&m.w);
	uint64_t copied = m.w.st->copied;
	mrope_byte(&m);
	assert_int_equal(m.w.st->copied - copied, 512);
	st_commit(m.w.st);
	uint64_t words = m.w.st->log_words;
	mrope_byte(&m);
	st_commit(m.w.st);
	assert_int_equal(m.w.st->log_words - words, 1);
	close_rope(&m);
}

static void test_big_rewrite_is_fresh_not_logged(void **state)
{
	struct mrope m;
	(void)state;

	open_rope(&m, 9, 1u << 20);
	mrope_write(&m, 0, 1u << 20);
	st_commit(m.w.st);
	uint64_t words = m.w.st->log_words;
	mrope_write(&m, 0, 1u << 20);
	st_commit(m.w.st);
	/* References of 129 chunks. */
	assert_in_range(m.w.st->log_words - words, 100, 135);
	mrope_check(&m);
	close_rope(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_rope_has_no_object),
		cmocka_unit_test(test_holes_cost_nothing),
		cmocka_unit_test(test_bytes_fit_the_string),
		cmocka_unit_test(test_appending_bytes_is_amortised),
		cmocka_unit_test(test_byte_edit_copies_one_part),
		cmocka_unit_test(test_big_rewrite_is_fresh_not_logged),
		cmocka_unit_test(test_model_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
