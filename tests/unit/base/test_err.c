#include "unit.h"

#include "base/err.h"

#include <string.h>

static void test_every_code_has_its_text(void **state)
{
	(void)state;
	assert_string_equal(err_text(ERR_OK), "ok");
	assert_string_equal(err_text(ERR_FULL), "no space left in the pool");
	assert_string_equal(err_text(ERR_ARGUMENT), "bad argument");
	assert_string_equal(err_text((enum err)1000), "unknown error");
}

static void test_the_first_error_stays(void **state)
{
	struct errinfo ei = {0};

	(void)state;
	assert_int_equal(err_set(&ei, ERR_IO, "reading %s: %d", "pool", 5), ERR_IO);
	assert_int_equal(err_set(&ei, ERR_CORRUPT, "then"), ERR_CORRUPT);
	assert_int_equal(ei.code, ERR_IO);
	assert_string_equal(ei.msg, "reading pool: 5");
	assert_int_equal(err_set(NULL, ERR_LOCKED, "nobody listens"), ERR_LOCKED);
}

static void test_a_long_message_is_cut(void **state)
{
	struct errinfo ei = {0};

	(void)state;
	err_set(&ei, ERR_IO, "%01000d", 1);
	assert_int_equal(strlen(ei.msg), sizeof(ei.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_its_text),
		cmocka_unit_test(test_the_first_error_stays),
		cmocka_unit_test(test_a_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
