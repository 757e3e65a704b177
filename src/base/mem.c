/* The door of jemalloc. Linking it replaces malloc for the whole process, so the counters below also see what
 * libraries allocate. PERDURE_NO_JEMALLOC leaves malloc alone, for sanitizers that bring their own. */
#include "mem.h"

#include "check.h"
#include "log.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef PERDURE_NO_JEMALLOC
#include <jemalloc/jemalloc.h>
#else
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#endif

#ifndef PERDURE_NO_JEMALLOC

#define NOTE_ALLOC(p) ((void)0)
#define NOTE_FREE(p) ((void)0)

static void ctl_read(const char *name, size_t *out)
{
	size_t n = sizeof(*out);

	if (mallctl(name, out, &n, NULL, 0) != 0)
		*out = 0;
}

void mem_stats_get(struct mem_stats *out)
{
	uint64_t epoch = 1;

	mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	ctl_read("stats.allocated", &out->allocated);
	ctl_read("stats.active", &out->active);
	ctl_read("stats.resident", &out->resident);
	ctl_read("stats.mapped", &out->mapped);
	ctl_read("stats.retained", &out->retained);
}

void mem_purge(void)
{
	size_t mib[3];
	size_t n = 3;

	if (mallctlnametomib("arena.0.purge", mib, &n) != 0)
		return;
	mib[1] = MALLCTL_ARENAS_ALL;
	mallctlbymib(mib, n, NULL, NULL, NULL, 0);
}

#define STR_(x) #x
#define STR(x) STR_(x)

const char *mem_allocator(void)
{
	return "jemalloc-" STR(JEMALLOC_VERSION_MAJOR) "." STR(JEMALLOC_VERSION_MINOR) "." STR(JEMALLOC_VERSION_BUGFIX);
}

size_t mem_size(const void *p)
{
	return p ? sallocx(p, 0) : 0;
}

#else

/* Counts what passes through this file only; pages come from the kernel's view of the process. */
static atomic_size_t live;

#define NOTE_ALLOC(p) note_alloc(p)
#define NOTE_FREE(p) note_free(p)

size_t mem_size(const void *p)
{
	return malloc_usable_size((void *)(uintptr_t)p);
}

static void note_alloc(void *p)
{
	atomic_fetch_add_explicit(&live, mem_size(p), memory_order_relaxed);
}

static void note_free(void *p)
{
	atomic_fetch_sub_explicit(&live, mem_size(p), memory_order_relaxed);
}

void mem_stats_get(struct mem_stats *out)
{
	unsigned long size = 0, resident = 0;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/self/statm", "re");

	if (f) {
		if (fscanf(f, "%lu %lu", &size, &resident) != 2)
			size = resident = 0;
		fclose(f);
	}
	out->allocated = atomic_load_explicit(&live, memory_order_relaxed);
	out->active = (out->allocated + page - 1) / page * page;
	out->resident = resident * page;
	out->mapped = size * page;
	out->retained = 0;
}

void mem_purge(void)
{
	malloc_trim(0);
}

const char *mem_allocator(void)
{
	return "libc";
}

#endif

static __attribute__((noreturn, cold)) void out_of_memory(size_t n)
{
	log_msg(LOG_WARNING, "Out Of Memory allocating %zu bytes!", n);
	check_fail(__FILE__, __LINE__, "out of memory", n, 0);
}

void *mem_try(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (p)
		NOTE_ALLOC(p);
	return p;
}

void *mem_alloc(size_t n)
{
	void *p = mem_try(n);

	if (UNLIKELY(!p))
		out_of_memory(n);
	return p;
}

void *mem_zalloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (UNLIKELY(!p))
		out_of_memory(n);
	NOTE_ALLOC(p);
	return p;
}

void *mem_aligned(size_t align, size_t n)
{
	void *p;

	if (align < sizeof(void *))
		align = sizeof(void *);
	if (UNLIKELY(posix_memalign(&p, align, n ? n : 1) != 0))
		out_of_memory(n);
	NOTE_ALLOC(p);
	return p;
}

void *mem_realloc(void *p, size_t n)
{
	void *q;

	if (p)
		NOTE_FREE(p);
	q = realloc(p, n ? n : 1);
	if (UNLIKELY(!q))
		out_of_memory(n);
	NOTE_ALLOC(q);
	return q;
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

void mem_free(void *p)
{
	if (!p)
		return;
	NOTE_FREE(p);
	free(p);
}
