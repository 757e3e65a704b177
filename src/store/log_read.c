/* Reading the log: the chain of records from its start. A record continues the chain when its sequence number is one
 * more than the last one's, its sum fits, and its salt is the one in force; or when it opens a new timeline that
 * continues the one in force. The first that does not ends the log: it was torn, or is older than the ring's last
 * lap. */
#include "file.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define AHEAD (1u << 20)

void st__reader_init(struct st__reader *d, struct st__ring *r, struct st__point from, uint64_t limit)
{
	*d = (struct st__reader){.ring = r, .at = from, .limit = limit, .buf_pos = from.pos};
}

static void big_unmap(struct st__reader *d)
{
	if (d->big)
		munmap(d->big, d->big_n);
	d->big = NULL;
}

void st__reader_free(struct st__reader *d)
{
	big_unmap(d);
	mem_free(d->buf);
}

/* n bytes at pos, in one piece, read ahead. NULL: *e says why, 0 for the limit. */
static const void *fetch(struct st__reader *d, uint64_t pos, uint64_t n, int *e)
{
	*e = 0;
	if (n > d->limit - pos)
		return NULL;
	size_t skip = pos - d->buf_pos;
	if (skip + n <= d->have)
		return d->buf + skip;
	size_t keep = skip < d->have ? d->have - skip : 0;
	uint64_t want = n + AHEAD < d->limit - pos ? n + AHEAD : d->limit - pos;
	if (want > d->cap) {
		char *p = mem_aligned(64, want);
		if (keep)
			memcpy(p, d->buf + skip, keep);
		mem_free(d->buf);
		d->buf = p;
		d->cap = want;
	} else if (keep) {
		memmove(d->buf, d->buf + skip, keep);
	}
	d->buf_pos = pos;
	d->have = keep;
	*e = st__ring_read(d->ring, pos + keep, d->buf + keep, want - keep);
	if (*e)
		return NULL;
	d->have = want;
	return d->buf;
}

static bool continues(const struct st__reader *d, const struct st__record_layout *h)
{
	if (h->seq != d->at.seq + 1 || h->bytes % 8 != 0)
		return false;
	if (h->kind == ST__RECORD_OPEN)
		return h->prev_salt == d->at.salt && h->salt != d->at.salt && h->bytes == 0;
	if (h->kind == ST__RECORD_STUB && h->bytes != sizeof(struct st__stub_layout))
		return false;
	return h->salt == d->at.salt && (h->kind == ST__RECORD_TICK || h->kind == ST__RECORD_STUB);
}

int st__reader_next(struct st__reader *d, const struct st__record_layout **raw, uint64_t *place)
{
	int e;
	const struct st__record_layout *h = fetch(d, d->at.pos, sizeof(*h), &e);
	if (!h || !continues(d, h) || h->bytes > d->limit - d->at.pos)
		return -e;
	*place = st__record_place(h->bytes);
	h = fetch(d, d->at.pos, *place, &e);
	if (!h)
		return -e;
	if (!ST__BROKEN(SKIP_SUM) && h->sum != st__record_sum(h, (const uint64_t *)(const void *)(h + 1)))
		return 0;
	d->at.pos += *place;
	d->at.seq = h->seq;
	d->at.salt = h->salt;
	*raw = h;
	return 1;
}

static enum err map_big(struct st__reader *d, const struct st__record_layout *raw, const struct st__stub_layout *stub,
	struct errinfo *ei)
{
	char path[1140];
	struct stat sb;
	snprintf(path, sizeof(path), "%s.%016llx", d->ring->path, (unsigned long long)raw->seq);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb) != 0) {
		int code = errno;
		if (fd >= 0)
			close(fd);
		return err_set(ei, code == ENOENT ? ERR_MISSING : ERR_IO, "opening %s, a part of the log: %s; put it back",
			path, strerror(code));
	}
	uint64_t n = stub->bytes + sizeof(*raw);
	if (stub->bytes % 8 == 0 && stub->bytes < 1ull << 40 && (uint64_t)sb.st_size >= n) {
		d->big = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
		d->big_n = n;
		if (d->big == MAP_FAILED)
			d->big = NULL;
	}
	close(fd);
	const struct st__record_layout *h = d->big;
	if (!h || h->seq != raw->seq || h->salt != raw->salt || h->kind != ST__RECORD_TICK || h->bytes != stub->bytes ||
		h->sum != stub->sum || st__record_sum(h, (const uint64_t *)(const void *)(h + 1)) != h->sum)
		return err_set(ei, ERR_CORRUPT, "%s, a part of the log, is damaged; restore the pool and its log from a "
			"backup", path);
	return ERR_OK;
}

enum err st__reader_record(struct st__reader *d, const struct st__record_layout *raw,
	const struct st__record_layout **head, const uint64_t **body, struct errinfo *ei)
{
	big_unmap(d);
	*head = raw;
	if (raw->kind == ST__RECORD_STUB) {
		enum err e = map_big(d, raw, (const struct st__stub_layout *)(const void *)(raw + 1), ei);
		if (e)
			return e;
		*head = d->big;
	}
	*body = (const uint64_t *)(const void *)(*head + 1);
	return ERR_OK;
}
