/* The calls through which pool files, log and checkpoint reach the disk: a table, so that tests can put errors, short
 * writes and power cuts in between. Shared inside the store's room only. */
#ifndef STORE_IO_H
#define STORE_IO_H

#include <stdint.h>
#include <sys/types.h>

struct st__io {
	ssize_t (*pread)(int fd, void *p, size_t n, off_t at);
	ssize_t (*pwrite)(int fd, const void *p, size_t n, off_t at);
	ssize_t (*pwrite_through)(int fd, const void *p, size_t n, off_t at); /* on a descriptor with O_DSYNC */
	int (*fdatasync)(int fd);
	int (*fsync)(int fd); /* also of directories */
	int (*ftruncate)(int fd, off_t n);
	int (*fallocate)(int fd, int mode, off_t at, off_t n);
	int (*renameat)(int from_dir, const char *from, int to_dir, const char *to);
	int (*unlinkat)(int dir, const char *name, int flags);
};

/* The table in use: the system's, unless a test has set another. */
const struct st__io *st__io(void);
/* For tests, while no store is open. NULL: the system's again. */
void st__io_set(const struct st__io *io);
extern const struct st__io st__io_system;

/* All n bytes, through interruptions and short transfers. Return 0 or errno; a read past the end is EIO. */
int st__write_all(int fd, const void *p, size_t n, uint64_t at);
int st__write_through(int fd, const void *p, size_t n, uint64_t at);
int st__read_all(int fd, void *p, size_t n, uint64_t at);
/* Syncs a file's data, or a whole file or directory. Return 0 or errno. */
int st__sync(int fd);
int st__sync_all(int fd);
/* Blocks for [0, n) of a file that is to have n bytes. Returns 0 or errno: no later write will meet a full disk. */
int st__allocate(int fd, uint64_t n);

#endif
