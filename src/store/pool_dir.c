/* The directory of a pool: locking, the set file, the part files and their repair. */
#include "pool.h"

#include "base/log.h"
#include "io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NEW_PART "part.new"

enum err st__errno(struct errinfo *ei, int code, const char *what, const char *path)
{
	switch (code) {
	case EACCES:
	case EPERM:
		return err_set(ei, ERR_PERMISSION, "%s %s: permission denied; give the server's user the right to read and "
			"write there, or name another pool", what, path);
	case EROFS:
		return err_set(ei, ERR_PERMISSION, "%s %s: the file system is read-only; mount it for writing, or name "
			"another pool", what, path);
	case ENOSPC:
	case EDQUOT:
		return err_set(ei, ERR_FULL, "%s %s: the disk is full; free some space on it", what, path);
	case ENOENT:
		return err_set(ei, ERR_MISSING, "%s %s: it does not exist", what, path);
	case EAGAIN:
		return err_set(ei, ERR_LOCKED, "the pool %s is in use by another process; stop that one, or give this server a "
			"pool of its own", path);
	case ENOMEM:
		return err_set(ei, ERR_MEMORY, "%s %s: the system gives no memory", what, path);
	default:
		return err_set(ei, ERR_IO, "%s %s: %s", what, path, strerror(code));
	}
}

void st__part_name(char out[16], unsigned index)
{
	snprintf(out, 16, "%06u.pmem", index % 1000000);
}

/* ---- locking ---- */

/* Opens the directory, making its last component. */
static int open_made(const char *path, bool read_only, struct errinfo *ei)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && read_only) {
		err_set(ei, ERR_MISSING, "there is no pool at %s", path);
		return -1;
	}
	if (fd < 0 && errno == ENOENT) {
		if (mkdir(path, 0700) != 0 && errno != EEXIST) {
			st__errno(ei, errno, "making the pool's directory", path);
			return -1;
		}
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		int up = fd < 0 ? -1 : openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (up >= 0) {
			st__sync_all(up); /* its name is durable before anything is in it */
			close(up);
		}
	}
	if (fd < 0 && errno == ENOTDIR)
		err_set(ei, ERR_ARGUMENT, "%s is not a directory; a pool is a directory of files: name one that may be "
			"made", path);
	else if (fd < 0)
		st__errno(ei, errno, "opening the pool's directory", path);
	return fd;
}

/* The set file names the directory, and its format knows no quoting. */
static enum err check_path(const char *path, struct errinfo *ei)
{
	for (const char *c = path; *c; c++)
		if (*c == ' ' || *c == '\t' || *c == '\n' || *c == '#')
			return err_set(ei, ERR_ARGUMENT, "the pool's path %s has a blank or # in it, which libpmemobj's set files "
				"cannot hold; choose another path", path);
	return ERR_OK;
}

static enum err lock(struct st__dir *d, struct errinfo *ei)
{
	int r;
	do
		r = flock(d->fd, LOCK_EX | LOCK_NB);
	while (r != 0 && errno == EINTR);
	return r == 0 ? ERR_OK : st__errno(ei, errno, "locking the pool", d->path);
}

/* ---- parts ---- */

struct found {
	unsigned n;          /* part files */
	unsigned highest;
	bool others;         /* a set file or a log */
	char strange[NAME_MAX + 1]; /* a file that libpmemobj would take for a part */
};

static void look_at(struct found *f, const char *name)
{
	size_t n = strlen(name);
	if (strcmp(name, ST__SET_NAME) == 0 || strcmp(name, "log") == 0)
		f->others = true;
	if (n < 5 || strcmp(name + n - 5, ".pmem") != 0)
		return;
	unsigned index = 0;
	bool digits = n == 11;
	for (size_t i = 0; digits && i < 6; i++) {
		digits = name[i] >= '0' && name[i] <= '9';
		index = index * 10 + (unsigned)(name[i] - '0');
	}
	if (!digits) {
		snprintf(f->strange, sizeof(f->strange), "%s", name);
		return;
	}
	if (f->n == 0 || index > f->highest)
		f->highest = index;
	f->n++;
}

static enum err list(struct st__dir *d, struct found *f, struct errinfo *ei)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		int code = errno;
		if (fd >= 0)
			close(fd);
		return st__errno(ei, code, "reading the pool's directory", d->path);
	}
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		look_at(f, e->d_name);
	closedir(dir);
	return ERR_OK;
}

static enum err damaged_part(struct st__dir *d, const char *name, uint64_t bytes, struct errinfo *ei)
{
	return err_set(ei, ERR_CORRUPT, "part %s of the pool %s has only %llu bytes: it was truncated; restore the pool "
		"from a backup", name, d->path, (unsigned long long)bytes);
}

/* Sizes, and the repair: libpmemobj makes a part with mode 000 and no bytes, then allocates it; where it dies in
 * between, it refuses the pool afterwards. Nothing of the pool is in such a part yet. */
static enum err measure(struct st__dir *d, bool read_only, struct errinfo *ei)
{
	d->bytes = 0;
	for (unsigned i = 0; i < d->parts; i++) {
		char name[16];
		struct stat sb;
		st__part_name(name, i);
		if (fstatat(d->fd, name, &sb, 0) != 0)
			return err_set(ei, ERR_MISSING, "part %s of the pool %s is missing; restore it from where it went",
				name, d->path);
		if (!S_ISREG(sb.st_mode))
			return err_set(ei, ERR_CORRUPT, "%s in the pool %s is not a file", name, d->path);
		uint64_t bytes = (uint64_t)sb.st_size;
		bool last = i + 1 == d->parts && i > 0;
		if (bytes < ST__PART_MIN && !last)
			return damaged_part(d, name, bytes, ei);
		if (bytes < ST__PART_MIN && read_only)
			return err_set(ei, ERR_CORRUPT, "the pool %s was growing when its server died; start the server once, "
				"which repairs that", d->path);
		if (bytes < ST__PART_MIN) {
			if (st__io()->unlinkat(d->fd, name, 0) != 0)
				return st__errno(ei, errno, "removing an unfinished part of", d->path);
			st__sync_all(d->fd);
			log_msg(LOG_NOTICE, "pool: removed part %s of %s, which a death in the middle of growth left "
				"unfinished", name, d->path);
			d->parts--;
			break;
		}
		if ((sb.st_mode & 0777) == 0 && !read_only && fchmodat(d->fd, name, 0600, 0) != 0)
			return st__errno(ei, errno, "giving back the mode of a part of", d->path);
		d->bytes += bytes & ~4095ull;
	}
	return ERR_OK;
}

static enum err find_parts(struct st__dir *d, bool read_only, struct errinfo *ei)
{
	struct found f = {0};
	enum err e = list(d, &f, ei);
	if (e)
		return e;
	if (f.strange[0])
		return err_set(ei, ERR_CORRUPT, "%s in the pool's directory %s is none of the pool's files but libpmemobj "
			"would take it for one; move it away", f.strange, d->path);
	if (f.n == 0) {
		d->remains = f.others;
		return ERR_OK;
	}
	if (f.highest >= ST__PARTS_MAX)
		return err_set(ei, ERR_CORRUPT, "the pool %s has a part %06u: more parts than a pool may have", d->path,
			f.highest);
	d->parts = f.highest + 1;
	return measure(d, read_only, ei);
}

/* ---- what the file system is ---- */

static int probe_file(const struct st__dir *d, bool read_only)
{
	if (d->parts > 0)
		return openat(d->fd, "000000.pmem", (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	int fd = openat(d->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0) {
		fd = openat(d->fd, NEW_PART, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd >= 0)
			unlinkat(d->fd, NEW_PART, 0);
	}
	if (fd >= 0 && ftruncate(fd, 4096) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Only a file system with DAX maps with MAP_SYNC. */
static enum err probe(struct st__dir *d, bool read_only, struct errinfo *ei)
{
	struct statfs fs;
	if (fstatfs(d->fd, &fs) != 0)
		return st__errno(ei, errno, "asking about the file system of", d->path);
	d->tmpfs = fs.f_type == TMPFS_MAGIC;
	int fd = probe_file(d, read_only);
	if (fd < 0)
		return st__errno(ei, errno, d->parts ? "opening part 000000.pmem of" : "making files in", d->path);
	void *p = mmap(NULL, 4096, read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
	d->dax = p != MAP_FAILED;
	if (d->dax)
		munmap(p, 4096);
	close(fd);
	return ERR_OK;
}

enum err st__dir_open(const char *path, bool read_only, struct st__dir *d, struct errinfo *ei)
{
	*d = (struct st__dir){.fd = -1};
	if (!path || !*path)
		return err_set(ei, ERR_ARGUMENT, "no pool is named");
	int fd = open_made(path, read_only, ei);
	if (fd < 0)
		return ei ? ei->code : ERR_IO;
	char real[PATH_MAX];
	if (!realpath(path, real) || strlen(real) > sizeof(d->path) - 32) {
		close(fd);
		return err_set(ei, ERR_ARGUMENT, "the path of the pool %s is too long", path);
	}
	memcpy(d->path, real, strlen(real) + 1);
	d->fd = fd;
	enum err e = check_path(d->path, ei);
	if (!e)
		e = lock(d, ei);
	if (!e && !read_only)
		st__io()->unlinkat(fd, NEW_PART, 0);
	if (!e)
		e = find_parts(d, read_only, ei);
	if (!e && (d->parts > 0 || !read_only))
		e = probe(d, read_only, ei);
	if (e)
		st__dir_close(d);
	return e;
}

void st__dir_close(struct st__dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* ---- writing ---- */

static size_t set_text(char *out, size_t n, const char *path, uint64_t reserved)
{
	int r = snprintf(out, n, "PMEMPOOLSET\nOPTION SINGLEHDR\n%llu %s\n", (unsigned long long)reserved, path);
	return r < 0 ? 0 : (size_t)r;
}

static bool same_set(int dirfd, const char *text, size_t n)
{
	char have[1200];
	int fd = openat(dirfd, ST__SET_NAME, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t r = read(fd, have, sizeof(have));
	close(fd);
	return r == (ssize_t)n && memcmp(have, text, n) == 0;
}

enum err st__dir_write_set(int dirfd, const char *path, uint64_t reserved, struct errinfo *ei)
{
	char text[1200];
	size_t n = set_text(text, sizeof(text), path, reserved);
	if (same_set(dirfd, text, n))
		return ERR_OK;
	int fd = openat(dirfd, ST__SET_NAME ".new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int e = fd < 0 ? errno : st__write_all(fd, text, n, 0);
	if (!e)
		e = st__sync_all(fd);
	if (fd >= 0)
		close(fd);
	if (!e && st__io()->renameat(dirfd, ST__SET_NAME ".new", dirfd, ST__SET_NAME) != 0)
		e = errno;
	if (!e)
		e = st__sync_all(dirfd);
	return e ? st__errno(ei, e, "writing the set file in", path) : ERR_OK;
}

int st__dir_memory_set(const char *path, uint64_t reserved, char *path_out, size_t n)
{
	char text[1200];
	size_t len = set_text(text, sizeof(text), path, reserved);
	int fd = memfd_create(ST__SET_NAME, MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	if (write(fd, text, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	snprintf(path_out, n, "/proc/self/fd/%d", fd);
	return fd;
}

enum err st__dir_add_part(int dirfd, const char *path, unsigned index, uint64_t bytes, struct errinfo *ei)
{
	char name[16];
	st__part_name(name, index);
	int fd = openat(dirfd, NEW_PART, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int e = fd < 0 ? errno : st__allocate(fd, bytes);
	if (!e)
		e = st__sync_all(fd);
	if (fd >= 0)
		close(fd);
	if (!e && st__io()->renameat(dirfd, NEW_PART, dirfd, name) != 0)
		e = errno;
	if (!e)
		e = st__sync_all(dirfd);
	if (!e)
		return ERR_OK;
	if (fd >= 0)
		st__io()->unlinkat(dirfd, NEW_PART, 0);
	return st__errno(ei, e, "adding a part to the pool", path);
}
