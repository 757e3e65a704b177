/* Access clocks: when keys were last looked at and how often, for OBJECT IDLETIME, OBJECT FREQ and eviction.
 *
 * They live in DRAM, in a table where keys displace each other: losing one makes an answer less exact, nothing more.
 * Reads of a key thus write nothing to the pool. */
#include "base/mem.h"
#include "types/internal.h"

/* The small table (32 KiB) stays in the second cache and costs a store an access. */
#define SMALL 4096u
#define BIG_MIN (1u << 16)
#define BIG_MAX (1u << 22)

/* Counters as in Redis: a new key starts at 5, so that it is not the first to go. */
#define LFU_NEW 5u
#define LFU_MAX 255u

static void table_new(struct ks *ks, uint64_t places)
{
	mem_free(ks->access.place);
	ks->access.place = mem_zalloc(places * sizeof(uint64_t));
	ks->access.mask = places - 1;
	ks->access.since = ks->now;
}

void ks__access_init(struct ks *ks)
{
	uint64_t seed;

	rng_secure(&seed, sizeof(seed));
	rng_seed(&ks->access.rng, seed);
	ks->access.lfu_factor = 10;
	ks->access.lfu_decay = 1;
	table_new(ks, SMALL);
}

void ks__access_fini(struct ks *ks)
{
	mem_free(ks->access.place);
}

void ks_track_access(struct ks *ks, bool on)
{
	uint64_t keys = 0, places = BIG_MIN;

	if (on == ks->access.counting)
		return;
	ks->access.counting = on;
	if (!on) {
		table_new(ks, SMALL);
		return;
	}
	for (unsigned i = 0; i < ks->databases; i++)
		keys += ks_count(ks, i);
	while (places < 2 * keys && places < BIG_MAX)
		places *= 2;
	table_new(ks, places);
}

void ks_set_lfu(struct ks *ks, unsigned log_factor, unsigned decay_minutes)
{
	ks->access.lfu_factor = log_factor;
	ks->access.lfu_decay = decay_minutes;
}

/* ---- entries ---- */

static bool is_of(uint64_t e, uint64_t hash)
{
	return e && (e ^ hash) >> 44 == 0;
}

static uint64_t age(const struct ks *ks, uint64_t e)
{
	uint64_t ms = ((uint64_t)ks->now - (e >> 8)) & KS__ACCESS_CLOCK;

	/* A wall clock set back gives ages near the end of the range: no time has passed then. */
	return ms > KS__ACCESS_CLOCK / 2 ? 0 : ms;
}

static unsigned freq_now(const struct ks *ks, uint64_t e)
{
	uint64_t periods = ks->access.lfu_decay ? age(ks, e) / 60000 / ks->access.lfu_decay : 0;
	unsigned freq = e & 0xff;

	return periods > freq ? 0 : freq - (unsigned)periods;
}

void ks__access_count(struct ks *ks, uint64_t *place, uint64_t hash)
{
	unsigned freq = LFU_NEW;

	if (is_of(*place, hash)) {
		freq = freq_now(ks, *place);
		if (freq < LFU_MAX) {
			unsigned above = freq > LFU_NEW ? freq - LFU_NEW : 0;

			freq += rng_unit(&ks->access.rng) < 1.0 / ((double)above * ks->access.lfu_factor + 1);
		}
	}
	*place = ks__access_entry(hash, ks->now, freq);
}

int64_t ks_ref_idle(const struct ks_ref *r)
{
	const struct ks *ks = r->ks;
	uint64_t e = ks->access.place[r->key.hash & ks->access.mask];

	/* An empty place: not since the table began. Another key's: not since that one came, or it would stand here. */
	if (e)
		return (int64_t)age(ks, e);
	return ks->now > ks->access.since ? ks->now - ks->access.since : 0;
}

unsigned ks_ref_freq(const struct ks_ref *r)
{
	const struct ks *ks = r->ks;
	uint64_t e = ks->access.place[r->key.hash & ks->access.mask];

	return is_of(e, r->key.hash) && ks->access.counting ? freq_now(ks, e) : LFU_NEW;
}
