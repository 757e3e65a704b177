/* The door of jemalloc. Out of memory ends the process with a message, as Redis does, except in mem_try. A size of 0
 * is an allocation too. Builds with PERDURE_NO_JEMALLOC (sanitizers) take the C library's malloc instead. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t n);
void *mem_zalloc(size_t n);
void *mem_aligned(size_t align, size_t n);
void *mem_try(size_t n);
void *mem_realloc(void *p, size_t n);
char *mem_strdup(const char *s);
void mem_free(void *p);
/* Bytes the allocator really holds for p. */
size_t mem_size(const void *p);

struct mem_stats {
	size_t allocated; /* bytes in live allocations */
	size_t active;    /* bytes of pages with live allocations */
	size_t resident;  /* bytes of physical memory mapped by the allocator */
	size_t mapped;
	size_t retained;
};
/* Refreshes the allocator's counters first (a few microseconds). */
void mem_stats_get(struct mem_stats *out);
/* Gives unused pages back to the system (MEMORY PURGE). */
void mem_purge(void);
/* The allocator's name and version, as INFO shows it: "jemalloc-5.3.0". */
const char *mem_allocator(void);

#endif
