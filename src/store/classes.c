/* Size classes: every 16 bytes up to 1 KiB, eighths of a power of two up to 4 KiB, then a slab divided by k. */
#include "internal.h"

static struct st__class classes[ST__CLASSES];
static unsigned n_classes;

static void add(uint32_t size)
{
	uint32_t per = ST__SLAB / size;
	/* Exact for every multiple of size below 2^16: the error of the inverse is below 1 / 2^16 an object. */
	classes[n_classes++] = (struct st__class){size, per, (uint32_t)((1ull << 32) / size + 1)};
}

__attribute__((constructor)) static void fill_classes(void)
{
	for (uint32_t n = ST__OBJ_MIN; n <= 1024; n += 16)
		add(n);
	for (uint32_t n = 1024 + 128; n <= 2048; n += 128)
		add(n);
	for (uint32_t n = 2048 + 256; n <= 4096; n += 256)
		add(n);
	for (uint32_t k = 15; k >= 1; k--)
		add(ST__SLAB / k & ~63u); /* whole cache lines: a bucket page's parts begin at lines */
	CHECK2(n_classes <= ST__CLASSES, n_classes, ST__CLASSES);
}

const struct st__class *st__classes(void)
{
	return classes;
}

unsigned st__class_count(void)
{
	return n_classes;
}

unsigned st__class_of(size_t n)
{
	if (n <= 1024)
		return n <= ST__OBJ_MIN ? 0 : (unsigned)((n + 15) / 16 - 2);
	if (n > ST_OBJ_MAX)
		return ST__CLASSES;
	unsigned lo = 63;
	while (classes[lo].size < n)
		lo++;
	return lo;
}

size_t st_class_size(size_t n)
{
	unsigned c = st__class_of(n);
	return c == ST__CLASSES ? 0 : classes[c].size;
}

size_t st_size(const struct store *st, st_off off)
{
	const struct st_obj *o = st_home(st, off);
	return classes[o->cls].size;
}
