#include "unit.h"

#include "base/clock.h"

#include <time.h>

static void test_wall_times_agree_with_the_system_and_each_other(void **state)
{
	int64_t before = (int64_t)time(NULL);
	int64_t ms = clock_ms(), us = clock_us();

	(void)state;
	/* time() may lag the precise clock by a timer interrupt. */
	assert_in_range(ms, before * 1000, (before + 60) * 1000);
	assert_in_range(us, ms * 1000, (ms + 60000) * 1000);
}

static void test_mono_times_measure_a_sleep(void **state)
{
	uint64_t ns = clock_mono_ns(), us = clock_mono_us();

	(void)state;
	nanosleep(&(struct timespec){0, 20000000}, NULL);
	assert_in_range(clock_mono_ns() - ns, 20000000, 10000000000);
	assert_in_range(clock_mono_us() - us, 19999, 10000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wall_times_agree_with_the_system_and_each_other),
		cmocka_unit_test(test_mono_times_measure_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
