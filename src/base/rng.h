/* Pseudo-random numbers for sampling and tests (xoshiro256**, Blackman and Vigna 2018), and secure ones. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* 0 .. n-1, n > 0, without bias. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* 0 <= x < 1. */
double rng_unit(struct rng *r);
/* From the kernel; ends the process when it cannot. */
void rng_secure(void *p, size_t n);

#endif
