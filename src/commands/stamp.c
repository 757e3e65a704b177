/* Is there a counter of constant rate, and which. */
#include "commands/stamp.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define MEASURE_NS 200000

/* The counter must not stop or change its pace with the processor's. */
static bool counter_is_constant(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

void engine__stamp_init(struct stamp *s)
{
	*s = (struct stamp){.counter = false, .rate = (uint64_t)1 << STAMP_RATE_BITS};
	if (!counter_is_constant())
		return;
	uint64_t ns0 = clock_mono_ns(), c0 = stamp_counter(), ns, c;
	do {
		ns = clock_mono_ns();
		c = stamp_counter();
	} while (ns - ns0 < MEASURE_NS);
	if (c <= c0)
		return;
	s->counter = true;
	s->rate = ((ns - ns0) << STAMP_RATE_BITS) / (c - c0);
}
