/* Simulated power cuts for files. What was written since a file's last sync is kept as versions of 512-byte sectors;
 * an image of the directory has, for each such sector, any of them, or what the last sync made sure of. A sync that
 * fails leaves its sectors unsure for good, as Linux does: only writing them again makes them reach the disk. */
#ifndef TESTS_POWER_H
#define TESTS_POWER_H

#include "base/mem.h"
#include "base/rng.h"
#include "scratch.h"
#include "store/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512u

struct sector {
	uint64_t ino, at;
	char (*v)[SECTOR]; /* v[0]: what is sure; v[n-1]: as written last */
	unsigned n;
	bool stale;        /* a failed sync has been told about it */
	unsigned next;     /* in its bucket, + 1 */
};

#define BUCKETS 4096u

enum power_subset { POWER_NOTHING, POWER_EVERYTHING, POWER_LOG_ONLY, POWER_ALL_BUT_LOG, POWER_RANDOM, POWER_SUBSETS };

static struct {
	pthread_mutex_t lock;
	struct sector *s;
	size_t n, cap;
	unsigned bucket[BUCKETS];
	uint64_t ops;                /* write and sync calls so far */
	void (*watch)(void);         /* called with the lock held, before each */
	int (*fails)(int fd, bool sync); /* errno that the call shall give, or 0 */
	uint64_t short_writes;       /* every so many-th write is short */
	bool no_through;             /* a file system that writes through its memory only */
} power = {.lock = PTHREAD_MUTEX_INITIALIZER};

static inline uint64_t power_ino(int fd)
{
	struct stat sb;
	if (fstat(fd, &sb) != 0)
		abort();
	return sb.st_ino;
}

static inline unsigned *power_bucket(uint64_t ino, uint64_t at)
{
	return &power.bucket[(ino * 31 + at / SECTOR) * 0x9E3779B97F4A7C15ull >> 52];
}

#define POWER_VERSIONS 8u

static inline struct sector *power_find(uint64_t ino, uint64_t at)
{
	for (unsigned i = *power_bucket(ino, at); i; i = power.s[i - 1].next)
		if (power.s[i - 1].ino == ino && power.s[i - 1].at == at)
			return &power.s[i - 1];
	return NULL;
}

static inline void power_link(size_t i)
{
	unsigned *b = power_bucket(power.s[i].ino, power.s[i].at);
	power.s[i].next = *b;
	*b = (unsigned)i + 1;
}

static inline void power_read(int fd, char *to, uint64_t at)
{
	memset(to, 0, SECTOR);
	if (pread(fd, to, SECTOR, (off_t)at) < 0)
		abort();
}

static inline void power_version(int fd, uint64_t ino, uint64_t at, const char *before)
{
	struct sector *s = power_find(ino, at);
	if (!s) {
		if (power.n == power.cap) {
			power.cap = power.cap ? 2 * power.cap : 1024;
			power.s = mem_realloc(power.s, power.cap * sizeof(*power.s));
		}
		s = &power.s[power.n++];
		*s = (struct sector){.ino = ino, .at = at};
		power_link(power.n - 1);
		s->v = mem_alloc(2 * SECTOR);
		memcpy(s->v[0], before, SECTOR);
		s->n = 1;
	}
	/* Of what is written again and again while syncs fail, the oldest and the newest versions are enough. */
	if (s->n == POWER_VERSIONS) {
		memmove(s->v[1], s->v[2], (POWER_VERSIONS - 2) * SECTOR);
		s->n--;
	}
	s->v = mem_realloc(s->v, (s->n + 1) * SECTOR);
	power_read(fd, s->v[s->n++], at);
	s->stale = false;
}

static inline void power_call(void)
{
	power.ops++;
	if (power.watch)
		power.watch();
}

static inline ssize_t power_pwrite(int fd, const void *p, size_t n, off_t at)
{
	pthread_mutex_lock(&power.lock);
	power_call();
	int e = power.fails ? power.fails(fd, false) : 0;
	if (e) {
		pthread_mutex_unlock(&power.lock);
		errno = e;
		return -1;
	}
	if (power.short_writes && power.ops % power.short_writes == 0 && n > 1)
		n = 1 + n / 3;
	uint64_t ino = power_ino(fd), from = (uint64_t)at / SECTOR * SECTOR, to = (uint64_t)at + n;
	size_t sectors = (to - from + SECTOR - 1) / SECTOR;
	char *before = mem_alloc(sectors * SECTOR);
	for (size_t i = 0; i < sectors; i++)
		power_read(fd, before + i * SECTOR, from + i * SECTOR);
	ssize_t r = pwrite(fd, p, n, at);
	for (size_t i = 0; i < sectors; i++)
		power_version(fd, ino, from + i * SECTOR, before + i * SECTOR);
	mem_free(before);
	pthread_mutex_unlock(&power.lock);
	return r;
}

/* What was written to [from, to) of the file is sure now. */
static inline void power_settled(uint64_t ino, uint64_t from, uint64_t to)
{
	size_t kept = 0;
	for (size_t i = 0; i < power.n; i++) {
		struct sector *s = &power.s[i];
		if (s->ino == ino && s->at >= from && s->at < to && !s->stale)
			mem_free(s->v);
		else
			power.s[kept++] = *s;
	}
	if (kept != power.n)
		memset(power.bucket, 0, sizeof(power.bucket));
	for (size_t i = 0; kept != power.n && i < kept; i++)
		power_link(i);
	power.n = kept;
}

static inline int power_sync(int fd)
{
	pthread_mutex_lock(&power.lock);
	power_call();
	int e = power.fails ? power.fails(fd, true) : 0;
	uint64_t ino = power_ino(fd);
	for (size_t i = 0; e && i < power.n; i++)
		if (power.s[i].ino == ino)
			power.s[i].stale = true;
	if (!e)
		power_settled(ino, 0, UINT64_MAX);
	pthread_mutex_unlock(&power.lock);
	if (e)
		errno = e;
	return e ? -1 : 0;
}

/* As a write, and then the sync of just these sectors; a cut in between may have any of them. */
static inline ssize_t power_write_through(int fd, const void *p, size_t n, off_t at)
{
	if (power.no_through) {
		errno = EINVAL;
		return -1;
	}
	ssize_t r = power_pwrite(fd, p, n, at);
	if (r < 0)
		return r;
	if (r % 512)
		r -= r % 512; /* only whole sectors go past the system's memory */
	pthread_mutex_lock(&power.lock);
	power_call();
	int e = power.fails ? power.fails(fd, true) : 0;
	if (!e)
		power_settled(power_ino(fd), (uint64_t)at, (uint64_t)at + (uint64_t)r);
	pthread_mutex_unlock(&power.lock);
	if (e)
		errno = e;
	return e ? -1 : r;
}

static struct st__io power_io;

static inline void power_on(void)
{
	power_io = st__io_system;
	power_io.pwrite = power_pwrite;
	power_io.pwrite_through = power_write_through;
	power_io.fdatasync = power_sync;
	power_io.fsync = power_sync;
	st__io_set(&power_io);
}

static inline void power_forget(void)
{
	for (size_t i = 0; i < power.n; i++)
		mem_free(power.s[i].v);
	memset(power.bucket, 0, sizeof(power.bucket));
	power.n = 0;
}

static inline void power_off(void)
{
	st__io_set(NULL);
	power_forget();
	mem_free(power.s);
	power.s = NULL;
	power.cap = 0;
	power.watch = NULL;
	power.fails = NULL;
	power.short_writes = 0;
	power.no_through = false;
}

static inline const char *power_choose(const struct sector *s, enum power_subset subset, bool log, double p,
	struct rng *rng)
{
	if (subset == POWER_RANDOM)
		return rng_unit(rng) < (s->stale ? .1 : p) ? s->v[1 + rng_below(rng, s->n - 1)] : s->v[0];
	bool reaches = subset == POWER_EVERYTHING || (subset == POWER_LOG_ONLY && log) ||
		(subset == POWER_ALL_BUT_LOG && !log);
	return reaches && !s->stale ? s->v[s->n - 1] : s->v[0];
}

/* The written stretches of a file. */
static inline void power_copy(const char *from, const char *to)
{
	static char chunk[1 << 16];
	int in = open(from, O_RDONLY), out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
	off_t end = lseek(in, 0, SEEK_END), at = 0;
	if (out < 0 || ftruncate(out, end) != 0)
		abort();
	while ((at = lseek(in, at, SEEK_DATA)) >= 0) {
		off_t stop = lseek(in, at, SEEK_HOLE);
		while (at < stop) {
			ssize_t n = pread(in, chunk, stop - at < (off_t)sizeof(chunk) ? (size_t)(stop - at) : sizeof(chunk), at);
			if (n <= 0 || pwrite(out, chunk, (size_t)n, at) != n)
				abort();
			at += n;
		}
	}
	close(in);
	close(out);
}

static inline void power_settle(int fd, uint64_t ino, bool log, enum power_subset subset, double p, struct rng *rng)
{
	for (size_t i = 0; i < power.n; i++) {
		if (power.s[i].ino != ino)
			continue;
		const char *v = power_choose(&power.s[i], subset, log, p, rng);
		if (pwrite(fd, v, SECTOR, (off_t)power.s[i].at) != SECTOR)
			abort();
	}
}

/* Copies the directory as a power cut now would leave it. Call from watch, or with no store's threads about. */
static inline void power_image(const char *from, const char *to, enum power_subset subset, struct rng *rng)
{
	static const double odds[] = {.05, .3, .5, .7, .95};
	double p = odds[rng_below(rng, 5)];
	char path[600], copy[600];
	scratch_remove(to);
	if (mkdir(to, 0700) != 0)
		abort();
	DIR *d = opendir(from);
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		struct stat sb;
		snprintf(path, sizeof(path), "%s/%s", from, e->d_name);
		snprintf(copy, sizeof(copy), "%s/%s", to, e->d_name);
		if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode))
			continue;
		power_copy(path, copy);
		int fd = open(copy, O_RDWR);
		power_settle(fd, sb.st_ino, strncmp(e->d_name, "log", 3) == 0, subset, p, rng);
		close(fd);
	}
	closedir(d);
}

#endif
