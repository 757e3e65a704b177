#include "unit.h"

#include "base/fault.h"

#include <stdlib.h>

#ifndef PERDURE_FAULTS
#error "the archives under test are built with fault points"
#endif

static unsigned pattern(const char *name, unsigned passages)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < passages; i++)
		bits |= (unsigned)fault_hit(name) << i;
	return bits;
}

static void test_the_environment_arms_at_the_first_passage(void **state)
{
	(void)state;
	assert_int_equal(pattern("env.a", 6), 0x0c); /* 2:2 */
	assert_int_equal(pattern("env.b", 3), 0x01); /* 0:1 */
	assert_int_equal(pattern("env.c", 3), 0x00);
}

static void test_a_point_never_armed_does_not_fail(void **state)
{
	(void)state;
	assert_int_equal(pattern("quiet", 20), 0);
}

static void test_an_armed_point_fails_the_passages_asked_for(void **state)
{
	(void)state;
	fault_arm("p", 3, 2);
	assert_int_equal(pattern("p", 8), 0x18);
	/* Armed anew: counted from now. */
	fault_arm("p", 0, 1);
	assert_int_equal(pattern("p", 8), 0x01);
	fault_arm("p", 0, 0);
	assert_int_equal(pattern("p", 8), 0);
	fault_arm("p", 1, 4294967295u);
	assert_int_equal(pattern("p", 8), 0xfe);
}

static void test_points_are_counted_apart(void **state)
{
	(void)state;
	fault_arm("x", 1, 1);
	fault_arm("y", 0, 1);
	assert_false(fault_hit("x"));
	assert_true(fault_hit("y"));
	assert_true(fault_hit("x"));
	assert_false(fault_hit("y"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_environment_arms_at_the_first_passage),
		cmocka_unit_test(test_a_point_never_armed_does_not_fail),
		cmocka_unit_test(test_an_armed_point_fails_the_passages_asked_for),
		cmocka_unit_test(test_points_are_counted_apart),
	};

	setenv("PERDURE_FAULT", "env.a:2:2,env.b:0:1,env.c:5:0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
