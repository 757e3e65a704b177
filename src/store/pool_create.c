/* Making a pool. It is built in DIR/new and its part then moved to its place: a pool exists when DIR/000000.pmem does,
 * and is then complete. What a death before that leaves is removed by the next creation. */
#include "pool.h"

#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <libpmemobj.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void st__dir_clear_new(int dirfd)
{
	int fd = openat(dirfd, "new", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	static const char *const names[] = {"000000.pmem", ST__SET_NAME, ST__SET_NAME ".new", "part.new"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		st__io()->unlinkat(fd, names[i], 0);
	close(fd);
	st__io()->unlinkat(dirfd, "new", AT_REMOVEDIR);
}

static PMEMobjpool *create(const char *set, const struct st__dir *d)
{
	PMEMobjpool *pop = pmemobj_create(set, ST__LAYOUT_NAME, 0, 0600);
	if (!pop && d->dax) {
		/* Not every device counts its unsafe shutdowns; without a count there is nothing to watch. */
		int off = 0;
		pmemobj_ctl_set(NULL, "sds.at_create", &off);
		pop = pmemobj_create(set, ST__LAYOUT_NAME, 0, 0600);
	}
	return pop;
}

/* Fills DIR/new, whose descriptor is fd. */
static enum err build(const struct st__dir *d, int fd, struct errinfo *ei)
{
	char path[1040], set[1056];
	snprintf(path, sizeof(path), "%s/new", d->path);
	snprintf(set, sizeof(set), "%s/" ST__SET_NAME, path);
	enum err e = st__dir_add_part(fd, path, 0, ST__PART_FIRST, ei);
	if (!e)
		e = st__dir_write_set(fd, path, ST__PART_FIRST, ei);
	if (e)
		return e;
	PMEMobjpool *pop = create(set, d);
	if (!pop)
		return st__pmemobj_error(ei, "making", d->path, ST__PART_FIRST);
	PMEMoid oid = pmemobj_root(pop, sizeof(struct st__root_layout));
	if (OID_IS_NULL(oid)) {
		e = st__pmemobj_error(ei, "making", d->path, ST__PART_FIRST);
	} else {
		struct st__root_layout *root = pmemobj_direct(oid); /* zeroed by libpmemobj */
		st__super_init(root);
		pmemobj_persist(pop, root, sizeof(*root));
	}
	pmemobj_close(pop);
	return e;
}

enum err st__pool_create(struct st__dir *d, struct errinfo *ei)
{
	st__dir_clear_new(d->fd);
	if (mkdirat(d->fd, "new", 0700) != 0)
		return st__errno(ei, errno, "making a pool in", d->path);
	int fd = openat(d->fd, "new", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum err e = fd < 0 ? st__errno(ei, errno, "making a pool in", d->path) : build(d, fd, ei);
	if (!e) {
		int part = openat(fd, "000000.pmem", O_RDWR | O_CLOEXEC);
		int code = part < 0 ? errno : st__sync_all(part);
		if (part >= 0)
			close(part);
		if (!code && st__io()->renameat(fd, "000000.pmem", d->fd, "000000.pmem") != 0)
			code = errno;
		if (!code)
			code = st__sync_all(d->fd);
		if (code)
			e = st__errno(ei, code, "making a pool in", d->path);
	}
	if (fd >= 0)
		close(fd);
	st__dir_clear_new(d->fd);
	if (!e) {
		d->parts = 1;
		d->bytes = ST__PART_FIRST;
	}
	return e;
}
