/* The superblock: what a pool is. Its changing fields are written at open and close only. */
#include "internal.h"

#include "base/clock.h"
#include "base/rng.h"

#define KNOWN_FEATURES 0ull

static uint64_t super_sum(const struct st__super_layout *s)
{
	return st__sum(0, s, offsetof(struct st__super_layout, sum));
}

void st__super_init(struct st__root_layout *root)
{
	struct st__super_layout *s = &root->super;
	memset(s, 0, sizeof(*s));
	s->magic = ST__MAGIC;
	s->format = ST__FORMAT;
	s->slab_bytes = ST__SLAB;
	rng_secure(s->secret, sizeof(s->secret));
	rng_secure(s->uuid, sizeof(s->uuid));
	s->created_ms = (uint64_t)clock_ms();
	s->clean = 1;
	s->sum = super_sum(s);
}

enum err st__super_check(const struct st__root_layout *root, struct errinfo *ei)
{
	const struct st__super_layout *s = &root->super;
	if (s->magic != ST__MAGIC)
		return err_set(ei, ERR_CORRUPT, "this is not a Perdure pool, or its superblock is damaged (no magic number); "
			"restore the pool from a backup or name another one with --pool");
	if (s->format != ST__FORMAT)
		return err_set(ei, ERR_VERSION, "the pool has format version %u, this server reads version %u; "
			"open it with the server version that made it", s->format, ST__FORMAT);
	if (s->sum != super_sum(s))
		return err_set(ei, ERR_CORRUPT, "the pool's superblock is damaged (checksum); restore the pool from a backup");
	if (s->features & ~KNOWN_FEATURES || s->slab_bytes != ST__SLAB)
		return err_set(ei, ERR_VERSION, "the pool uses features that this server does not know (%#llx); "
			"open it with the server version that made it", (unsigned long long)s->features);
	return ERR_OK;
}
