/* The format in the pool, byte by byte: what changes here changes what old pools mean. */
#include "world.h"

#include "base/num.h"

#define ASSERT_AT(type, member, at) assert_int_equal(offsetof(struct type, member), at)

static void test_dataset_layout_is_golden(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ks__dataset_layout), 64);
	ASSERT_AT(ks__dataset_layout, obj, 0);
	ASSERT_AT(ks__dataset_layout, version, 8);
	ASSERT_AT(ks__dataset_layout, databases, 12);
	ASSERT_AT(ks__dataset_layout, next_identity, 16);
	ASSERT_AT(ks__dataset_layout, reserved, 24);
	ASSERT_AT(ks__dataset_layout, db, 64);
	assert_int_equal(KS__DATASET_VERSION, 1);
}

static void test_db_layout_is_golden(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ks__db_layout), 128);
	ASSERT_AT(ks__db_layout, identity, 8);
	ASSERT_AT(ks__db_layout, keys, 16);
	ASSERT_AT(ks__db_layout, ttl, 32);
	ASSERT_AT(ks__db_layout, expires, 56);
	ASSERT_AT(ks__db_layout, first, 64);
	ASSERT_AT(ks__db_layout, reserved, 72);
	assert_int_equal(sizeof(struct hx_root), 16);
	assert_int_equal(sizeof(struct bt_root), 24);
}

static void test_record_layout_is_golden(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct ks__record_layout), 16);
	ASSERT_AT(ks__record_layout, obj, 0);
	ASSERT_AT(ks__record_layout, vlen, 8);
	ASSERT_AT(ks__record_layout, klen, 12);
	ASSERT_AT(ks__record_layout, reserved, 14);
	assert_int_equal(sizeof(struct ks__deadline_layout), 16);
	ASSERT_AT(ks__deadline_layout, deadline, 0);
	ASSERT_AT(ks__deadline_layout, filed, 8);
	assert_int_equal(sizeof(struct ks__ttl_layout), 16);
	ASSERT_AT(ks__ttl_layout, filed, 0);
	ASSERT_AT(ks__ttl_layout, hash, 8);
	assert_int_equal(sizeof(struct rope_root), 24);
	assert_int_equal(offsetof(struct st_obj, flags), 6);
}

static void test_record_flags_are_golden(void **state)
{
	(void)state;
	assert_int_equal(rec_flags(REC_INT, KS_STRING, REC_LABEL_INT), 0x000);
	assert_int_equal(rec_flags(REC_BYTES, KS_STRING, REC_LABEL_EMBSTR), 0x110);
	assert_int_equal(rec_flags(REC_ROPE, KS_STRING, REC_LABEL_RAW), 0x220);
	assert_int_equal(rec_flags(REC_BYTES, KS_STREAM, REC_LABEL_RAW), 0x215);
	assert_int_equal(REC_DEADLINE, 0x80);
	assert_int_equal(ST_KIND_DATASET, 64);
	assert_int_equal(ST_KIND_DB, 65);
	assert_int_equal(ST_KIND_RECORD, 66);
	assert_int_equal(KS_STRING, 0);
	assert_int_equal(KS_STREAM, 5);
}

static void test_record_parts_stand_where_the_flags_say(void **state)
{
	unsigned i = rec_flags(REC_INT, KS_STRING, REC_LABEL_INT), b = rec_flags(REC_BYTES, KS_STRING, REC_LABEL_RAW),
		r = rec_flags(REC_ROPE, KS_STRING, REC_LABEL_RAW);

	(void)state;
	assert_int_equal(rec_key_at(b), 16);
	assert_int_equal(rec_key_at(b | REC_DEADLINE), 32);
	assert_int_equal(rec_fixed_at(i), 16);
	assert_int_equal(rec_key_at(i), 24);
	assert_int_equal(rec_fixed_at(i | REC_DEADLINE), 32);
	assert_int_equal(rec_key_at(i | REC_DEADLINE), 40);
	assert_int_equal(rec_key_at(r), 40);
	assert_int_equal(rec_key_at(r | REC_DEADLINE), 56);
	/* The size everything is tuned for: 16 bytes of key and 64 of value fill a 96-byte object. */
	assert_int_equal(rec_bytes(b, 16, 64), 96);
	assert_int_equal(st_class_size(rec_bytes(b, 16, 64)), 96);
	assert_int_equal(st_class_size(rec_bytes(b | REC_DEADLINE, 16, 64)), 112);
	assert_int_equal(st_class_size(rec_bytes(i, 16, 0)), 48);
}

static void test_a_record_in_the_pool_has_the_bytes_of_the_format(void **state)
{
	struct world w;
	const unsigned char *p;
	const char plain[] = "\x10\x01\x03\x00\x00\x00\x02\x00\x00\x00kkvvv";

	(void)state;
	world_open(&w, 16 << 20, 16);
	world_set(&w, 0, "kk", "vvv");
	p = st_view(w.st, world_item(&w, 0, "kk"));
	assert_int_equal(p[5], ST_KIND_RECORD);
	assert_memory_equal(p + 6, plain, 15);

	world_put(&w, 0, "kk", BYTES_LIT("-2"), 0x0102030405060708);
	p = st_view(w.st, world_item(&w, 0, "kk"));
	assert_memory_equal(p + 6, "\x80\x00\x00\x00\x00\x00\x02\x00\x00\x00", 10);
	assert_memory_equal(p + 16, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
	assert_memory_equal(p + 24, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
	assert_memory_equal(p + 32, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8);
	assert_memory_equal(p + 40, "kk", 2);
	world_check(&w);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dataset_layout_is_golden),
		cmocka_unit_test(test_db_layout_is_golden),
		cmocka_unit_test(test_record_layout_is_golden),
		cmocka_unit_test(test_record_flags_are_golden),
		cmocka_unit_test(test_record_parts_stand_where_the_flags_say),
		cmocka_unit_test(test_a_record_in_the_pool_has_the_bytes_of_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
