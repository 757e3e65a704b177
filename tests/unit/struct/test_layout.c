/* The format of the structures, byte by byte: who changes a number here changes the format version. */
#include "struct/bt_int.h"
#include "struct/hx_layout.h"
#include "struct/rope_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define AT(type, member, at) assert_int_equal(offsetof(type, member), at)

static void test_index_layout_is_golden(void **state)
{
	(void)state;
	AT(struct hx_root, dir, 0);
	AT(struct hx_root, count, 8);
	AT(struct hx__dir_layout, w, 8);
	AT(struct hx__dir_layout, ref, 16);
	AT(struct hx__stash_layout, obj.flags, 6);
	AT(struct hx__stash_layout, mask, 8);
	AT(struct hx__stash_layout, next, 10);
	AT(struct hx__stash_layout, tag, 16);
	AT(struct hx__stash_layout, slot, 76);
	AT(struct hx__bucket_layout, slot, 64);
	assert_int_equal(sizeof(struct hx__stash_layout), 256);
	assert_int_equal(sizeof(struct hx__bucket_layout), 256);
	assert_int_equal(hx__page_bytes(1), 512);
	assert_int_equal(hx__page_bytes(16), 4352);
	assert_int_equal(hx__tags_at(3), 1024);
	assert_int_equal(hx__half_at(3, 15), 1024 + 64);
	assert_int_equal(hx__half_at(3, 16), 1024 + 160);
	assert_int_equal(ST_KIND_HX_DIR, 16);
	assert_int_equal(ST_KIND_HX_PAGE, 17);
}

static void test_reference_words_are_golden(void **state)
{
	(void)state;
	assert_int_equal(hx__ref_page(hx__page(0x123450, 12), 7), 0x0167000000123450ull);
	assert_int_equal(hx__ref_page(0, 9), 0x0009000000000000ull);
	assert_int_equal(hx__ref_dir(0x123450, 9, 5), 0x00b9000000123450ull);
	assert_int_equal(hx__slot_make(0x123450, 0xab), 0xab0000012345ull);

	struct hx__slot s;
	hx__slot_put(&s, 0xab0000012345ull);
	assert_memory_equal(s.b, "\x45\x23\x01\x00\x00\xab", 6);
	assert_int_equal(hx__slot_off(hx__slot_get(&s)), 0x123450);
	assert_int_equal(hx__slot_extra(hx__slot_get(&s)), 0xab);
}

static void test_hash_bits_are_golden(void **state)
{
	const uint64_t hash = 0x0123456789abcdefull;
	(void)state;

	assert_int_equal(hx__tag(hash), 0xcdef);
	assert_int_equal(hx__tag(0x1230000), 1);
	assert_int_equal(hx__bucket(0xcdef, 16), 12);
	assert_int_equal(hx__bucket(0xcdef, 12), 9);
	assert_int_equal(hx__bucket(0xcdef, 1), 0);
	assert_int_equal(hx__window(hash, 0), 0x01);
	assert_int_equal(hx__window(hash, 7), 0x01);
	assert_int_equal(hx__window(hash, 8), 0x23);
	assert_int_equal(hx__window(hash, 43), 0xab);
	assert_int_equal(hx__window(hash, 44), 0xab);
	assert_int_equal(hx_spread(0), 0);
	assert_int_equal(hx_spread(0x8000000000000000ull), 0x9555555555500000ull);
	assert_int_equal(hx_spread(~0ull), ~0ull);
}

static void test_rope_layout_is_golden(void **state)
{
	(void)state;
	AT(struct rope_root, node, 8);
	AT(struct rope_root, levels, 16);
	AT(struct rope__chunk_layout, used, 8);
	AT(struct rope__chunk_layout, b, 16);
	AT(struct rope__node_layout, cap, 8);
	AT(struct rope__node_layout, ref, 16);
	assert_int_equal(ROPE_CHUNK, 8176);
	assert_int_equal(ROPE__FAN, 512);
	assert_int_equal(ROPE__PART, 512);
	assert_int_equal(ST_KIND_ROPE_NODE, 32);
	assert_int_equal(ST_KIND_ROPE_CHUNK, 33);
	assert_int_equal(rope__levels(0), 0);
	assert_int_equal(rope__levels(8176), 0);
	assert_int_equal(rope__levels(8177), 1);
	assert_int_equal(rope__levels(512 * 8176), 1);
	assert_int_equal(rope__levels(512 * 8176 + 1), 2);
}

static void test_tree_layout_is_golden(void **state)
{
	struct bt__node_layout x = {.cap = 59, .entry = 16};
	(void)state;

	AT(struct bt_root, count, 8);
	AT(struct bt_root, levels, 16);
	AT(struct bt__node_layout, n, 8);
	AT(struct bt__node_layout, cap, 9);
	AT(struct bt__node_layout, entry, 10);
	AT(struct bt__node_layout, slot, 16);
	assert_int_equal(bt__leaf_bytes(59, 16), 1024);
	assert_int_equal(bt__inner_bytes(30, 16), 16 + 32 + 30 * 32);
	assert_int_equal((char *)bt__entry_at(&x, 2) - (char *)&x, 16 + 64 + 32);
	x.cap = 30;
	assert_int_equal((char *)bt__count_at(&x, 1) - (char *)&x, 16 + 32 + 8);
	assert_int_equal((char *)bt__ref_at(&x, 1) - (char *)&x, 16 + 32 + 240 + 8);
	assert_int_equal((char *)bt__key_at(&x, 1) - (char *)&x, 16 + 32 + 480 + 16);
	assert_int_equal(ST_KIND_BT_INNER, 24);
	assert_int_equal(ST_KIND_BT_LEAF, 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index_layout_is_golden),
		cmocka_unit_test(test_reference_words_are_golden),
		cmocka_unit_test(test_hash_bits_are_golden),
		cmocka_unit_test(test_rope_layout_is_golden),
		cmocka_unit_test(test_tree_layout_is_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
