#include "rng.h"

#include "check.h"

#include <errno.h>
#include <sys/random.h>

/* splitmix64: spreads a seed of few bits over the state, which must not be all zero. */
static uint64_t spread(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = spread(&seed);
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

/* Lemire 2019: the high half of a product is the answer; only low halves below 2^64 mod n are unfair. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
	unsigned __int128 m = (unsigned __int128)rng_next(r) * n;

	if ((uint64_t)m < n) {
		uint64_t unfair = -n % n;

		while ((uint64_t)m < unfair)
			m = (unsigned __int128)rng_next(r) * n;
	}
	return (uint64_t)(m >> 64);
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

void rng_secure(void *p, size_t n)
{
	char *c = p;

	while (n > 0) {
		ssize_t got = getrandom(c, n, 0);

		if (got < 0) {
			CHECK2(errno == EINTR, errno, n);
			continue;
		}
		c += got;
		n -= (size_t)got;
	}
}
