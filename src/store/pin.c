/* Pins: objects whose bytes a reader (a reply on its way) still needs. DRAM only: a crash ends all readers. */
#include "internal.h"

#include "base/mem.h"

static uint32_t place(const struct store *st, st_off off)
{
	return (uint32_t)((off * 0x9E3779B97F4A7C15ull) >> 40) & (st->pins_cap - 1);
}

struct st__pin *st__pin_find(const struct store *st, st_off off)
{
	if (st->pins_n == 0)
		return NULL;
	for (uint32_t h = place(st, off); st->pins[h].off; h = (h + 1) & (st->pins_cap - 1))
		if (st->pins[h].off == off)
			return &st->pins[h];
	return NULL;
}

static void pins_grow(struct store *st)
{
	struct st__pin *old = st->pins;
	uint32_t n = st->pins_cap;
	st->pins_cap = n ? n * 2 : 256;
	st->pins = mem_zalloc(st->pins_cap * sizeof(*st->pins));
	for (uint32_t i = 0; i < n; i++) {
		if (!old[i].off)
			continue;
		uint32_t h = place(st, old[i].off);
		while (st->pins[h].off)
			h = (h + 1) & (st->pins_cap - 1);
		st->pins[h] = old[i];
	}
	mem_free(old);
}

bool st_pin(struct store *st, st_off off)
{
	const struct st__entry *e = st__find(st, off);
	if (e && !(e->flags & ST__FRESH))
		return false;
	struct st__pin *p = st__pin_find(st, off);
	if (p) {
		p->n++;
		return true;
	}
	if ((st->pins_n + 1) * 2 > st->pins_cap)
		pins_grow(st);
	uint32_t h = place(st, off);
	while (st->pins[h].off)
		h = (h + 1) & (st->pins_cap - 1);
	st->pins[h] = (struct st__pin){.off = off, .n = 1};
	st->pins_n++;
	return true;
}

static void pin_remove(struct store *st, struct st__pin *p)
{
	uint32_t mask = st->pins_cap - 1, hole = (uint32_t)(p - st->pins);
	st->pins_n--;
	for (uint32_t h = (hole + 1) & mask; st->pins[h].off; h = (h + 1) & mask) {
		uint32_t want = place(st, st->pins[h].off);
		if (((h - want) & mask) >= ((h - hole) & mask)) {
			st->pins[hole] = st->pins[h];
			hole = h;
		}
	}
	st->pins[hole].off = 0;
}

void st_unpin(struct store *st, st_off off)
{
	struct st__pin *p = st__pin_find(st, off);
	CHECK2(p != NULL, off, 0);
	if (--p->n)
		return;
	bool freed = p->freed;
	pin_remove(st, p);
	if (freed)
		st__slab_unwithhold(st, off);
}
