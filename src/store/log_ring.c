/* The log's file: two header blocks and the ring. Its blocks are allocated at creation, so writing it never meets a
 * full disk; they are written once with zeros shortly before records reach them, because the first write of a block
 * makes the file system commit its own journal at the next sync. */
#include "file.h"

#include "base/mem.h"
#include "base/num.h"
#include "io.h"
#include "pool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WARM_STEP (4ull << 20)

static char zeros[1 << 18];

static uint64_t head_sum(const struct st__log_layout *h)
{
	return st__sum(0, h, offsetof(struct st__log_layout, sum));
}

static int write_head(struct st__ring *r, int fd)
{
	char block[ST__LOG_BLOCK] = {0};
	r->head.sum = head_sum(&r->head);
	memcpy(block, &r->head, sizeof(r->head));
	int e = st__write_all(fd, block, sizeof(block), r->head.gen % 2 * ST__LOG_BLOCK);
	return e ? e : st__sync(fd);
}

int st__ring_start(struct st__ring *r, const struct st__point *start)
{
	struct st__log_layout before = r->head;
	r->head.gen++;
	r->head.start = start->pos;
	r->head.seq = start->seq;
	r->head.salt = start->salt;
	int e = write_head(r, r->fd);
	if (e)
		r->head = before; /* the next attempt writes the same block again, never the valid one */
	return e;
}

static int open_dir(const struct st__pool *p)
{
	return open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Space for the whole ring; the file's length stays at what has been written. */
static int reserve(int fd, uint64_t ring)
{
	int r;
	do
		r = st__io()->fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)(ST__LOG_HEAD + ring));
	while (r != 0 && errno == EINTR);
	if (r == 0 || errno != EOPNOTSUPP)
		return r == 0 ? 0 : errno;
	int e = 0;
	for (uint64_t at = 0; !e && at < ring; at += sizeof(zeros))
		e = st__write_all(fd, zeros, ring - at < sizeof(zeros) ? ring - at : sizeof(zeros), ST__LOG_HEAD + at);
	return e;
}

static int build(struct st__ring *r)
{
	int fd = openat(r->dirfd, ST__LOG_NAME ".new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	int e = reserve(fd, r->head.ring);
	if (!e)
		e = st__write_all(fd, zeros, ST__LOG_HEAD, 0);
	if (!e)
		e = write_head(r, fd);
	if (!e)
		e = st__sync_all(fd);
	if (!e && st__io()->renameat(r->dirfd, ST__LOG_NAME ".new", r->dirfd, ST__LOG_NAME) != 0)
		e = errno;
	if (!e)
		e = st__sync_all(r->dirfd);
	if (e) {
		close(fd);
		st__io()->unlinkat(r->dirfd, ST__LOG_NAME ".new", 0);
		return e;
	}
	r->fd = fd;
	return 0;
}

static void open_through(struct st__ring *r)
{
	r->through = openat(r->dirfd, ST__LOG_NAME, O_RDWR | O_DIRECT | O_DSYNC | O_CLOEXEC);
}

static void measure(struct st__ring *r)
{
	struct stat sb;
	r->warm = fstat(r->fd, &sb) == 0 && sb.st_size > (off_t)ST__LOG_HEAD ? (uint64_t)sb.st_size - ST__LOG_HEAD : 0;
	if (r->warm > r->head.ring)
		r->warm = r->head.ring;
}

enum err st__ring_create(struct st__ring *r, const struct st__pool *p, uint64_t id, uint64_t bytes, uint64_t seq,
	uint64_t salt, struct errinfo *ei)
{
	*r = (struct st__ring){.fd = -1, .through = -1, .dirfd = open_dir(p)};
	snprintf(r->path, sizeof(r->path), "%s/" ST__LOG_NAME, p->dir);
	r->head = (struct st__log_layout){.magic = ST__LOG_MAGIC, .format = ST__LOG_FORMAT, .id = id, .gen = 1,
		.ring = bytes, .seq = seq, .salt = salt};
	memcpy(r->head.uuid, p->root->super.uuid, sizeof(r->head.uuid));
	int e = r->dirfd < 0 ? errno : build(r);
	if (e) {
		st__ring_close(r);
		if (e == ENOSPC || e == EDQUOT || e == EFBIG)
			return err_set(ei, ERR_FULL, "making the log %s of %llu bytes: the disk has no room for it; free some, "
				"or lower log-size", r->path, (unsigned long long)bytes);
		return st__errno(ei, e, "making the log", r->path);
	}
	measure(r);
	open_through(r);
	return ERR_OK;
}

static bool head_valid(const struct st__log_layout *h)
{
	return h->magic == ST__LOG_MAGIC && h->sum == head_sum(h);
}

static enum err read_head(struct st__ring *r, const struct st__pool *p, struct errinfo *ei)
{
	bool found = false;
	for (unsigned i = 0; i < 2; i++) {
		struct st__log_layout h;
		int e = st__read_all(r->fd, &h, sizeof(h), i * ST__LOG_BLOCK);
		if (e == EIO) /* shorter than that, or unreadable: the other one may do */
			continue;
		if (e)
			return st__errno(ei, e, "reading the log", r->path);
		if (head_valid(&h) && (!found || h.gen > r->head.gen)) {
			r->head = h;
			found = true;
		}
	}
	if (!found)
		return err_set(ei, ERR_CORRUPT, "the log %s is damaged: none of its headers is valid; restore the pool and "
			"its log from a backup", r->path);
	if (r->head.format != ST__LOG_FORMAT)
		return err_set(ei, ERR_VERSION, "the log %s has format version %u, this server reads version %u", r->path,
			r->head.format, ST__LOG_FORMAT);
	if (memcmp(r->head.uuid, p->root->super.uuid, sizeof(r->head.uuid)) != 0 || r->head.id != p->root->super.log_id)
		return err_set(ei, ERR_MISSING, "the log %s belongs to another pool, or to another state of this one; put "
			"the log back that the pool was last used with", r->path);
	if (r->head.ring < ST__LOG_MIN || r->head.ring % 64 || r->head.ring > 1ull << 50)
		return err_set(ei, ERR_CORRUPT, "the log %s is damaged: its size makes no sense", r->path);
	return ERR_OK;
}

enum err st__ring_open(struct st__ring *r, const struct st__pool *p, bool read_only, struct errinfo *ei)
{
	*r = (struct st__ring){.fd = -1, .through = -1, .dirfd = open_dir(p)};
	snprintf(r->path, sizeof(r->path), "%s/" ST__LOG_NAME, p->dir);
	if (r->dirfd >= 0)
		r->fd = openat(r->dirfd, ST__LOG_NAME, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	enum err e;
	if (r->fd < 0 && errno == ENOENT)
		e = err_set(ei, ERR_MISSING, "the log %s is missing, and the pool was not closed cleanly: without it the "
			"newest changes are lost; put it back (it belongs to the pool and is copied with it)", r->path);
	else if (r->fd < 0)
		e = st__errno(ei, errno, "opening the log", r->path);
	else
		e = read_head(r, p, ei);
	if (!e) {
		measure(r);
		if (r->head.start % r->head.ring > r->warm) /* what is before it was written and synced */
			e = err_set(ei, ERR_CORRUPT, "the log %s is damaged: it was truncated; restore the pool and its log from a "
				"backup", r->path);
	}
	if (e) {
		st__ring_close(r);
		return e;
	}
	if (!read_only)
		open_through(r);
	return ERR_OK;
}

void st__ring_close(struct st__ring *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->dirfd >= 0)
		close(r->dirfd);
	if (r->through >= 0)
		close(r->through);
	r->fd = r->dirfd = r->through = -1;
}

/* ---- bytes at positions ---- */

/* Writes zeros over the stretch behind `at` that records will reach soon. */
static int warm_up(struct st__ring *r, uint64_t at)
{
	uint64_t to = at + WARM_STEP < r->head.ring ? at + WARM_STEP : r->head.ring;
	for (; at < to; at += sizeof(zeros)) {
		int e = st__write_all(r->fd, zeros, to - at < sizeof(zeros) ? to - at : sizeof(zeros), ST__LOG_HEAD + at);
		if (e)
			return e;
	}
	r->warm = to;
	return 0;
}

static int write_piece(struct st__ring *r, uint64_t at, const char *p, size_t n)
{
	int e = st__write_all(r->fd, p, n, ST__LOG_HEAD + at);
	if (!e && at + n >= r->warm && r->warm < r->head.ring)
		e = warm_up(r, at + n);
	return e;
}

int st__ring_write(struct st__ring *r, uint64_t pos, const void *p, size_t n)
{
	uint64_t at = pos % r->head.ring;
	size_t first = r->head.ring - at < n ? r->head.ring - at : n;
	int e = write_piece(r, at, p, first);
	return e || first == n ? e : write_piece(r, 0, (const char *)p + first, n - first);
}

int st__ring_write_through(struct st__ring *r, uint64_t pos, const void *p, size_t n)
{
	uint64_t at = pos % r->head.ring;
	if (r->through < 0 || (r->warm < r->head.ring && at + n >= r->warm))
		return EINVAL;
	size_t first = r->head.ring - at < n ? r->head.ring - at : n;
	int e = st__write_through(r->through, p, first, ST__LOG_HEAD + at);
	if (!e && first < n)
		e = st__write_through(r->through, (const char *)p + first, n - first, ST__LOG_HEAD);
	if (e == EINVAL || e == EOPNOTSUPP) {
		close(r->through);
		r->through = -1;
		return EINVAL;
	}
	return e;
}

/* Behind the file's end the ring was never written: zeros. */
static int read_piece(struct st__ring *r, uint64_t at, char *p, size_t n)
{
	size_t there = at >= r->warm ? 0 : r->warm - at < n ? r->warm - at : n;
	memset(p + there, 0, n - there);
	return there ? st__read_all(r->fd, p, there, ST__LOG_HEAD + at) : 0;
}

int st__ring_read(struct st__ring *r, uint64_t pos, void *p, size_t n)
{
	uint64_t at = pos % r->head.ring;
	size_t first = r->head.ring - at < n ? r->head.ring - at : n;
	int e = read_piece(r, at, p, first);
	return e || first == n ? e : read_piece(r, 0, (char *)p + first, n - first);
}

/* ---- big records ---- */

static void big_name(char out[32], uint64_t seq)
{
	snprintf(out, 32, ST__LOG_NAME ".%016llx", (unsigned long long)seq);
}

int st__big_write(struct st__ring *r, uint64_t seq, const void *p, size_t n)
{
	char name[32];
	big_name(name, seq);
	int fd = openat(r->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	int e = st__write_all(fd, p, n, 0);
	if (!e)
		e = st__sync_all(fd);
	close(fd);
	return e ? e : st__sync_all(r->dirfd);
}

void st__big_remove(struct st__ring *r, uint64_t seq)
{
	char name[32];
	big_name(name, seq);
	st__io()->unlinkat(r->dirfd, name, 0);
}

static bool listed(const char *name, const uint64_t *keep, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char k[32];
		big_name(k, keep[i]);
		if (strcmp(k, name) == 0)
			return true;
	}
	return false;
}

void st__big_clean(struct st__ring *r, const uint64_t *keep, size_t n)
{
	int fd = openat(r->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return; /* they take space and are looked for again at the next open */
	}
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (strlen(e->d_name) == 20 && strncmp(e->d_name, ST__LOG_NAME ".", 4) == 0 &&
			strspn(e->d_name + 4, "0123456789abcdef") == 16 && !listed(e->d_name, keep, n))
			st__io()->unlinkat(r->dirfd, e->d_name, 0);
	closedir(dir);
}
