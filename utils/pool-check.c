/* pool-check POOL: verifies every invariant of a pool that no server has open. Exit code 0: sound, 1: damaged,
 * 2: cannot be opened. */
#include "tool.h"

#include <inttypes.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc != 2 || argv[1][0] == '-') {
		fprintf(stderr,
			"usage: pool-check POOL\n"
			"Verifies the pool in directory POOL: every reference, bitmap, counter and index.\n"
			"A pool that was not closed cleanly is recovered first, in memory; nothing is written to it.\n");
		return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
	}
	struct store *st;
	struct ks *ks;
	struct st_stats stats;
	struct st_verify v;
	tool_open(argv[1], &st, &ks);
	st_stats_get(st, &stats);
	st_verify(st, &v);
	const char *why = v.errors ? NULL : ks_check(ks); /* it trusts what the verifier has found sound */
	printf("%s, %s\n", argv[1], stats.was_clean ? "closed cleanly" : "recovered");
	printf("%" PRIu64 " objects reachable, %" PRIu64 " allocated, %" PRIu64 " bytes\n", v.reachable, v.allocated,
		stats.object_bytes);
	for (unsigned db = 0; db < ks_databases(ks); db++)
		if (ks_count(ks, db))
			printf("db%u: %" PRIu64 " keys, %" PRIu64 " with a deadline\n", db, ks_count(ks, db),
				ks_count_expires(ks, db));
	if (v.errors)
		printf("DAMAGED: %" PRIu64 " errors, first: %s\n", v.errors, v.first);
	if (why)
		printf("DAMAGED: keyspace: %s\n", why);
	if (!v.errors && !why)
		printf("sound\n");
	ks_close(ks);
	st_close(st);
	return v.errors || why;
}
