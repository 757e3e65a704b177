/* Cache-line primitives of real persistent memory, or of shared memory that stands in for it. libpmem chooses the
 * instructions at run time. */
#include "internal.h"

#include <libpmem.h>

static void pmem_lines_flush(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	pmem_flush(p, n);
}

static void pmem_lines_fence(void *ctx)
{
	(void)ctx;
	pmem_drain();
}

static void pmem_lines_stream(void *ctx, void *dst, const void *src, size_t n)
{
	(void)ctx;
	pmem_memcpy(dst, src, n, PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN);
}

static void pmem_lines_store(void *ctx, void *dst, const void *src, size_t n)
{
	(void)ctx;
	uint64_t *d = dst;
	const uint64_t *s = src;
	for (size_t i = 0; i < n / 8; i++)
		d[i] = s[i];
}

const struct st__line_ops st__pmem_lines = {pmem_lines_flush, pmem_lines_fence, pmem_lines_stream, pmem_lines_store};
