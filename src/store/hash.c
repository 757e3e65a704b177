/* Sums of what is on the medium, and the keyed hash for the rooms above (xxHash's door). */
#define XXH_INLINE_ALL
#include "internal.h"

#include <xxhash.h>

uint64_t st__sum(uint64_t before, const void *p, size_t n)
{
	return XXH3_64bits_withSeed(p, n, before);
}

void st__hash_init(struct store *st)
{
	const uint8_t *seed = st->pool->root->super.secret;
	/* XXH3 wants 192 bytes; they follow from the pool's 32 random ones, 8 at a time. */
	for (unsigned i = 0; i < sizeof(st->hash_secret); i += 8) {
		uint64_t w = XXH3_64bits_withSeed(seed, 32, 0x50657264757265ull + i);
		memcpy(st->hash_secret + i, &w, 8);
	}
}

uint64_t st_hash(const struct store *st, const void *p, size_t n)
{
	return XXH3_64bits_withSecret(p, n, st->hash_secret, sizeof(st->hash_secret));
}
