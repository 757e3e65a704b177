/* Distribution of the time a command takes, for INFO latencystats: counts by logarithmic class, each power of two of
 * nanoseconds in 32 equal parts, so that a percentile is at most a thirty-second too high. */
#ifndef COMMANDS_LATENCY_H
#define COMMANDS_LATENCY_H

#include <stdint.h>

#define LATENCY_PART_BITS 5
#define LATENCY_PARTS (1u << LATENCY_PART_BITS)
#define LATENCY_MAX_NS 1000000000u /* a second; longer ones are counted there */
#define LATENCY_CLASSES ((31 - LATENCY_PART_BITS) * LATENCY_PARTS)

struct latency {
	uint64_t n;
	uint32_t count[LATENCY_CLASSES];
};

static inline uint32_t latency_class(uint64_t ns)
{
	if (ns > LATENCY_MAX_NS)
		ns = LATENCY_MAX_NS;
	if (ns < 2 * LATENCY_PARTS)
		return (uint32_t)ns;
	uint32_t shift = (uint32_t)(63 - __builtin_clzll(ns)) - LATENCY_PART_BITS;
	return shift * LATENCY_PARTS + (uint32_t)(ns >> shift);
}

static inline void latency_add(struct latency *l, uint64_t ns)
{
	l->n++;
	l->count[latency_class(ns)]++;
}

/* The greatest span of a class. */
static inline uint64_t latency_top(uint32_t class)
{
	if (class < 2 * LATENCY_PARTS)
		return class;
	uint32_t shift = class / LATENCY_PARTS - 1;
	return ((uint64_t)(class % LATENCY_PARTS + LATENCY_PARTS + 1) << shift) - 1;
}

/* The span that p percent of the counted ones do not exceed. 0: nothing counted. */
uint64_t engine__latency_at(const struct latency *l, double p);

#endif
