/* A directory of its own for a test, on tmpfs or on the disk; removed with all that is in it. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_path[256];

static inline const char *scratch_make(const char *where)
{
	snprintf(scratch_path, sizeof(scratch_path), "%s/perdure-test-XXXXXX", where);
	if (!mkdtemp(scratch_path))
		abort();
	return scratch_path;
}

static inline int scratch_rm(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	(void)sb, (void)type, (void)ftw;
	return remove(path);
}

static inline void scratch_remove(const char *path)
{
	nftw(path, scratch_rm, 16, FTW_DEPTH | FTW_PHYS);
}

/* The directory for tests of the disk: TMPDIR, or /tmp. */
static inline const char *scratch_disk(void)
{
	const char *p = getenv("TMPDIR");
	return p && *p ? p : "/tmp";
}

#endif
