#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

const struct st__io st__io_system = {pread, pwrite, pwrite, fdatasync, fsync, ftruncate, fallocate, renameat, unlinkat};

static const struct st__io *current = &st__io_system;

const struct st__io *st__io(void)
{
	return current;
}

void st__io_set(const struct st__io *io)
{
	current = io ? io : &st__io_system;
}

static int write_with(ssize_t (*fn)(int, const void *, size_t, off_t), int fd, const void *p, size_t n, uint64_t at)
{
	const char *from = p;
	while (n > 0) {
		ssize_t r = fn(fd, from, n, (off_t)at);
		if (r < 0) {
			if (errno == EINTR)
				continue;
			return errno;
		}
		if (r == 0)
			return EIO;
		from += r;
		n -= (size_t)r;
		at += (uint64_t)r;
	}
	return 0;
}

int st__write_all(int fd, const void *p, size_t n, uint64_t at)
{
	return write_with(current->pwrite, fd, p, n, at);
}

int st__write_through(int fd, const void *p, size_t n, uint64_t at)
{
	return write_with(current->pwrite_through, fd, p, n, at);
}

int st__read_all(int fd, void *p, size_t n, uint64_t at)
{
	char *to = p;
	while (n > 0) {
		ssize_t r = current->pread(fd, to, n, (off_t)at);
		if (r < 0) {
			if (errno == EINTR)
				continue;
			return errno;
		}
		if (r == 0)
			return EIO;
		to += r;
		n -= (size_t)r;
		at += (uint64_t)r;
	}
	return 0;
}

int st__sync(int fd)
{
	int r;
	do
		r = current->fdatasync(fd);
	while (r != 0 && errno == EINTR);
	return r == 0 ? 0 : errno;
}

int st__sync_all(int fd)
{
	int r;
	do
		r = current->fsync(fd);
	while (r != 0 && errno == EINTR);
	return r == 0 ? 0 : errno;
}

/* Where a file system cannot allocate, one byte a block is written, as posix_fallocate does. */
static int allocate_by_writing(int fd, uint64_t n)
{
	if (current->ftruncate(fd, (off_t)n) != 0)
		return errno;
	for (uint64_t at = 0; at < n; at += 4096) {
		int e = st__write_all(fd, "", 1, at);
		if (e)
			return e;
	}
	return 0;
}

int st__allocate(int fd, uint64_t n)
{
	int r;
	do
		r = current->fallocate(fd, 0, 0, (off_t)n);
	while (r != 0 && errno == EINTR);
	if (r == 0)
		return 0;
	return errno == EOPNOTSUPP ? allocate_by_writing(fd, n) : errno;
}
