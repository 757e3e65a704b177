#include "clock.h"

#include <time.h>

static struct timespec now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t;
}

int64_t clock_ms(void)
{
	struct timespec t = now(CLOCK_REALTIME);

	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_us(void)
{
	struct timespec t = now(CLOCK_REALTIME);

	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

uint64_t clock_mono_ns(void)
{
	struct timespec t = now(CLOCK_MONOTONIC);

	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_us(void)
{
	return clock_mono_ns() / 1000;
}
