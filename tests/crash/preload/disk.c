/* A disk that fails on demand, for the server as it is: loaded with LD_PRELOAD. The file that PERDURE_DISK names holds
 * rules, read again at every call, so a test changes them while the server runs:
 *
 *   CALL FILE WHAT [SKIP [COUNT]]
 *
 * CALL: open read write sync allocate rename unlink map any. FILE: log (the log and its big records), part (parts of
 * the pool, under their own or their first name), dir (directories), map (memory that is synced), notlog (parts,
 * directories, the set file), pool (any of these).
 * WHAT: the number of an errno, short (a write of half the bytes), or kill: the process dies instead of the call.
 * SKIP: so many calls that fit pass first, counted since the rules last changed; COUNT: so many fail (all). */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RULES 8
#define SHORT (-1)

struct rule {
	char call[12], file[12], what[12];
	unsigned long skip, count, seen;
};

static struct rule rules[RULES];
static unsigned rules_n;
static char text[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Past the functions below. */
static void load(void)
{
	static char now[sizeof(text)];
	const char *path = getenv("PERDURE_DISK");
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
	long n = fd < 0 ? 0 : syscall(SYS_read, fd, now, sizeof(now) - 1);
	if (fd >= 0)
		syscall(SYS_close, fd);
	now[n < 0 ? 0 : n] = 0;
	if (strcmp(now, text) == 0)
		return;
	strcpy(text, now);
	rules_n = 0;
	for (char *save, *line = strtok_r(now, "\n", &save); line && rules_n < RULES; line = strtok_r(NULL, "\n", &save)) {
		struct rule *r = &rules[rules_n];
		*r = (struct rule){.count = ULONG_MAX};
		if (sscanf(line, "%11s %11s %11s %lu %lu", r->call, r->file, r->what, &r->skip, &r->count) >= 3)
			rules_n++;
	}
}

static bool ends(const char *s, const char *with)
{
	size_t n = strlen(s), w = strlen(with);
	return n >= w && strcmp(s + n - w, with) == 0;
}

static const char *class_of(const char *path, bool directory)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (strcmp(path, "map") == 0)
		return path;
	if (directory)
		return strstr(path, "pool") ? "dir" : NULL;
	if (ends(name, ".pmem") || strcmp(name, "part.new") == 0)
		return "part";
	if (strncmp(name, "log", 3) == 0 && (!name[3] || strcmp(name, "log.new") == 0 || strlen(name) == 20))
		return "log";
	return strncmp(name, "pool.set", 8) == 0 ? "set" : NULL;
}

/* What shall happen to this call: 0, an errno, or SHORT. */
static int decide(const char *call, const char *path, bool directory)
{
	const char *file = class_of(path, directory);
	int answer = 0;
	if (!file)
		return 0;
	pthread_mutex_lock(&lock);
	load();
	for (unsigned i = 0; i < rules_n && !answer; i++) {
		struct rule *r = &rules[i];
		bool other = strcmp(r->file, "notlog") == 0 && strcmp(file, "log");
		if (strcmp(r->call, "any") && strcmp(r->call, call))
			continue;
		if (strcmp(r->file, "pool") && strcmp(r->file, file) && !other)
			continue;
		unsigned long at = r->seen++;
		if (at < r->skip || at - r->skip >= r->count)
			continue;
		if (strcmp(r->what, "kill") == 0)
			kill(getpid(), SIGKILL);
		answer = strcmp(r->what, "short") == 0 ? SHORT : atoi(r->what);
	}
	pthread_mutex_unlock(&lock);
	return answer;
}

static int decide_fd(const char *call, int fd)
{
	char link[40], path[PATH_MAX];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return 0;
	path[n] = 0;
	int flags = fcntl(fd, F_GETFL);
	return decide(call, path, flags >= 0 && flags & O_DIRECTORY);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILS(e) do { \
	int e_ = (e); \
	if (e_ > 0) { \
		errno = e_; \
		return -1; \
	} \
} while (0)

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	FAILS(decide_fd("read", fd));
	return REAL(pread)(fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	int e = decide_fd("write", fd);
	if (e == 0 && fcntl(fd, F_GETFL) & O_DSYNC) /* it syncs, too */
		e = decide_fd("sync", fd);
	FAILS(e);
	return REAL(pwrite)(fd, p, e == SHORT && n > 1 ? n / 2 : n, at);
}

int fdatasync(int fd)
{
	FAILS(decide_fd("sync", fd));
	return REAL(fdatasync)(fd);
}

int fsync(int fd)
{
	FAILS(decide_fd("sync", fd));
	return REAL(fsync)(fd);
}

int msync(void *p, size_t n, int flags)
{
	FAILS(decide("sync", "map", false));
	return REAL(msync)(p, n, flags);
}

int ftruncate(int fd, off_t n)
{
	FAILS(decide_fd("allocate", fd));
	return REAL(ftruncate)(fd, n);
}

int fallocate(int fd, int mode, off_t at, off_t n)
{
	FAILS(decide_fd("allocate", fd));
	return REAL(fallocate)(fd, mode, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	int e = decide_fd("allocate", fd);
	return e > 0 ? e : REAL(posix_fallocate)(fd, at, n);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	FAILS(decide("rename", to, false));
	return REAL(renameat)(from_dir, from, to_dir, to);
}

int unlinkat(int dir, const char *name, int flags)
{
	FAILS(decide("unlink", name, false));
	return REAL(unlinkat)(dir, name, flags);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	int e = fd < 0 ? 0 : decide_fd("map", fd);
	if (e > 0) {
		errno = e;
		return MAP_FAILED;
	}
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, off);
}

static bool makes(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

int openat(int dir, const char *name, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	mode_t mode = makes(flags) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	FAILS(decide("open", name, flags & O_DIRECTORY));
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	mode_t mode = makes(flags) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	FAILS(decide("open", name, flags & O_DIRECTORY));
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}
