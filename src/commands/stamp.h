/* A clock for spans of nanoseconds: the processor's counter where it runs at a constant rate (about 10 ns a read), the
 * system's clock otherwise (about 25 ns). Timing every command is affordable with the first. */
#ifndef COMMANDS_STAMP_H
#define COMMANDS_STAMP_H

#include "base/clock.h"

#include <stdbool.h>

struct stamp {
	bool counter;  /* the processor's counter is used */
	uint64_t rate; /* nanoseconds of a step, times 2^22 */
};
#define STAMP_RATE_BITS 22

/* Looks for a counter and measures its rate: takes 0.2 ms. */
void engine__stamp_init(struct stamp *s);

static inline uint64_t stamp_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return clock_mono_ns();
#endif
}

static inline uint64_t stamp_now(const struct stamp *s)
{
	return s->counter ? stamp_counter() : clock_mono_ns();
}

/* Nanoseconds between two stamps; 0 when they are out of order (a thread that moved between sockets). */
static inline uint64_t stamp_span(const struct stamp *s, uint64_t from, uint64_t to)
{
	uint64_t steps = to - from;
	return (int64_t)steps < 0 ? 0 : steps * s->rate >> STAMP_RATE_BITS;
}

#endif
