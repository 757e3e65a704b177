/* What the pool tools share: opening a pool that no server uses. */
#ifndef UTILS_TOOL_H
#define UTILS_TOOL_H

#include "store/store.h"
#include "types/ks.h"

#include <stdlib.h>

/* Opens store and keyspace, or says why not and ends with 2. A pool that was not closed cleanly is recovered in
 * memory first, as the server would do; nothing is written to it. */
static inline void tool_open(const char *path, struct store **st, struct ks **ks)
{
	struct errinfo ei = {0};
	struct st_options o = {.path = path, .medium = ST_MEDIUM_LAST, .read_only = true};
	if (st_open(&o, st, &ei) || (ks_register(*st), 0) || ks_open(*st, &(struct ks_options){.databases = 0}, ks, &ei)) {
		fprintf(stderr, "%s: %s\n", path, ei.msg);
		exit(2);
	}
}

#endif
