/* The file medium's parts, shared among its own files only: the ring on disk, the log that fills it, the dirty pages
 * and their checkpoints. FILE_MEDIUM.md tells the whole. */
#ifndef STORE_FILE_H
#define STORE_FILE_H

#include "internal.h"

#include <pthread.h>

/* ---- on disk ---- */

#define ST__LOG_MAGIC 0x31474F4C44524550ull /* "PERDLOG1" in memory */
#define ST__LOG_FORMAT 1u
#define ST__LOG_NAME "log"
#define ST__LOG_BLOCK 4096u            /* two header blocks, written in turn */
#define ST__LOG_HEAD (2 * ST__LOG_BLOCK) /* then the ring */
#define ST__LOG_MIN (1ull << 20)
#define ST__LOG_STUBS 65536u           /* of the ring, kept for stubs */

/* A header block: valid when sum fits; the one with the higher generation counts. The byte at position p of the log,
 * which only ever grows, stands at ST__LOG_HEAD + p % ring. */
struct st__log_layout {
	uint64_t magic;
	uint32_t format;
	uint32_t pad;
	uint64_t id;        /* the superblock's log_id */
	uint8_t uuid[16];   /* the pool's */
	uint64_t gen;       /* block gen % 2 holds it */
	uint64_t ring;      /* bytes of the ring */
	uint64_t start;     /* position of the first record that a restart replays */
	uint64_t seq;       /* sequence number of the record before it */
	uint64_t salt;      /* in force before it */
	uint64_t sum;       /* XXH3 of all above */
};

/* A record in the ring is a st__record_layout head and its body, padded to 64 bytes. One too big stands in a file of
 * its own, log.<seq in 16 hex digits>, and the ring holds a stub: the same head with this kind and this body. */
#define ST__RECORD_STUB 3u
struct st__stub_layout {
	uint64_t bytes;     /* of the body in the file */
	uint64_t sum;       /* of the record in the file */
};

/* ---- the ring: log_ring.c ---- */

/* A place between two records: position, and what the record before it has. */
struct st__point {
	uint64_t pos, seq, salt;
};

struct st__ring {
	int fd, dirfd;
	int through;                /* the same file, for writes that are durable when they return; -1: none */
	char path[1100];
	struct st__log_layout head; /* newest */
	uint64_t warm;              /* bytes of the ring whose blocks have been written once */
};

/* Makes log file and header durable under its name. */
enum err st__ring_create(struct st__ring *r, const struct st__pool *p, uint64_t id, uint64_t bytes, uint64_t seq,
	uint64_t salt, struct errinfo *ei);
/* Opens the log that belongs to the pool: ERR_MISSING where there is none or another's, ERR_CORRUPT. */
enum err st__ring_open(struct st__ring *r, const struct st__pool *p, bool read_only, struct errinfo *ei);
void st__ring_close(struct st__ring *r);
/* The rest returns 0 or errno. Moves the start, durably. */
int st__ring_start(struct st__ring *r, const struct st__point *start);
int st__ring_write(struct st__ring *r, uint64_t pos, const void *p, size_t n);
int st__ring_read(struct st__ring *r, uint64_t pos, void *p, size_t n);
/* Writes n bytes past the system's memory, durably: half the processor time of writing and syncing. pos, p and n are
 * multiples of ST__LOG_BLOCK. EINVAL: not here (the file system cannot, or the blocks are new); write the other way. */
int st__ring_write_through(struct st__ring *r, uint64_t pos, const void *p, size_t n);
/* Writes a big record's file, durably. */
int st__big_write(struct st__ring *r, uint64_t seq, const void *p, size_t n);
void st__big_remove(struct st__ring *r, uint64_t seq);
/* Removes all such files but those listed. */
void st__big_clean(struct st__ring *r, const uint64_t *keep, size_t n);

static inline uint64_t st__record_place(uint64_t body_bytes)
{
	return (sizeof(struct st__record_layout) + body_bytes + 63) & ~63ull;
}
#define ST__STUB_PLACE 128u

/* ---- reading: log_read.c ---- */

struct st__reader {
	struct st__ring *ring;
	struct st__point at;   /* the next record */
	uint64_t limit;        /* no record ends behind it */
	char *buf;
	size_t have, cap;      /* bytes in buf, from buf_pos on */
	uint64_t buf_pos;
	void *big;             /* mapping of a big record's file */
	size_t big_n;
};
void st__reader_init(struct st__reader *d, struct st__ring *r, struct st__point from, uint64_t limit);
void st__reader_free(struct st__reader *d);
/* The next record that continues the chain: 1; 0 where the log ends; -errno. The pointers are good until the next call.
 * raw: the record as it stands in the ring (a stub is not followed), of place bytes. */
int st__reader_next(struct st__reader *d, const struct st__record_layout **raw, uint64_t *place);
/* What to replay for it: the record itself, or the big one that a stub stands for. ERR_CORRUPT, ERR_MISSING. */
enum err st__reader_record(struct st__reader *d, const struct st__record_layout *raw,
	const struct st__record_layout **head, const uint64_t **body, struct errinfo *ei);

/* ---- the log: log_file.c ---- */

/* Records, at p + lead, which is at the place in a block that the first has in the ring: whole blocks can be written
 * from p on, once the start of the first has been filled in. */
struct st__batch {
	char *p;
	size_t lead, n, cap;
	uint64_t from;         /* position */
	struct st__point to;
};

struct st__log {
	struct st__ring ring;
	struct store *st;
	/* the loop's */
	struct st__point end;  /* behind the newest record; its position is stored atomically, others read it */
	uint64_t bytes;        /* appended since open */
	/* shared: under lock, or read and stored atomically */
	uint64_t start;        /* as the newest header has it; records before it are gone */
	uint64_t acked;        /* sequence number that may be acknowledged */
	enum st_durability mode;
	bool failing;
	pthread_mutex_t lock;
	pthread_cond_t work;     /* for the log thread */
	pthread_cond_t due;      /* for the sync thread */
	pthread_cond_t progress; /* for everybody else */
	struct st__batch fill, out;
	char tail[ST__LOG_BLOCK]; /* the log thread's: what the block at tail_pos holds so far */
	uint64_t tail_pos;     /* UINT64_MAX: not known */
	struct st__point written, synced;
	uint64_t want;         /* somebody waits until this position is synced */
	uint64_t last_sync;    /* mono ms */
	uint64_t faults;       /* failed syncs. Where it is not `cured`, all that is not known to be synced must be */
	uint64_t cured;        /* written again */
	bool sleeping, quit, abandon, started;
	char error[256];
	pthread_mutex_t syncing; /* one fdatasync at a time: the system tells an error to one caller only */
	pthread_t writer, syncer;
	struct st__big { uint64_t pos, seq; } *bigs;
	size_t bigs_n;
};

void st__log_init(struct st__log *l, struct store *st);
/* Starts the threads: the log continues at end. Everything before it is synced. */
void st__log_run(struct st__log *l, struct st__point end, enum st_durability mode);
/* Position that a record of this body takes, and whether it must go to a file of its own. */
uint64_t st__log_place(const struct st__log *l, uint64_t body_bytes, bool *big_out);
/* Makes an empty log continue from what an OPEN record names, where the pool's last ticks went to another medium. */
void st__log_adopt(struct st__log *l, const struct st__record_layout *open);
/* Queues the record; its place must be free (st__log_free). Waits where the log thread is far behind. Loop. */
void st__log_append(struct st__log *l, const struct st__record *r, bool big);
uint64_t st__log_free(const struct st__log *l);
/* Waits until the log is synced up to pos. False: it cannot be for now. Any thread. */
bool st__log_wait(struct st__log *l, uint64_t pos);
/* Moves the start after a checkpoint. Returns 0 or errno. Checkpoint thread. */
int st__log_start(struct st__log *l, struct st__point start);
void st__log_mode(struct st__log *l, enum st_durability mode);
/* Why records cannot be written, into out; false: they can. */
bool st__log_error(struct st__log *l, char *out, size_t n);
/* Writes and syncs what is queued, ends the threads. False: that failed (after some tries). */
bool st__log_stop(struct st__log *l);
void st__log_free_all(struct st__log *l);

/* ---- dirty pages and checkpoints: checkpoint.c ---- */

#define ST__PAGE 4096u
#define ST__PAGE_SHIFT 12

struct st__pages {
	uint64_t *bits;        /* by offset / 4096 */
	uint64_t n;            /* set */
	uint64_t lo, hi;       /* words that may have any: [lo, hi) */
};

struct st__ckpt {
	struct store *st;
	struct st__log *log;
	uint64_t words;            /* of a bitmap */
	struct st__pages active;   /* changed since the last checkpoint began; the loop's */
	struct st__pages frozen;   /* being brought home; the thread's while it runs */
	struct st__pages mine;     /* in private memory; the loop's */
	uint64_t cursor;           /* word of `mine` where giving back goes on */
	struct st__point at;       /* where the log will start */
	bool running, failing, quit, abandon; /* stored under lock, read atomically */
	uint64_t attempts;         /* failed ones of the checkpoint under way */
	char error[256];
	pthread_mutex_t lock;
	pthread_cond_t go, done;
	pthread_t thread;
	bool started;
	uint64_t count, pages_written; /* finished checkpoints, pages */
	char *buf;
	struct st__run { uint64_t off, n; } *runs;
	bool *touched;             /* by part */
};

void st__ckpt_init(struct st__ckpt *c, struct store *st, struct st__log *log);
void st__ckpt_run(struct st__ckpt *c);
/* Freezes the dirty pages and starts to bring them home; the log will start behind the newest record. Every record
 * appended must be applied. Nothing while one runs. Loop. */
void st__ckpt_begin(struct st__ckpt *c);
static inline bool st__ckpt_busy(const struct st__ckpt *c)
{
	return __atomic_load_n(&c->running, __ATOMIC_ACQUIRE);
}
/* Waits until none runs, or (true) until it has failed `tries` times. */
bool st__ckpt_wait(struct st__ckpt *c, uint64_t tries);
bool st__ckpt_error(struct st__ckpt *c, char *out, size_t n);
/* Gives about n clean private pages back to the system. Loop, between ticks. */
void st__ckpt_give_back(struct st__ckpt *c, uint64_t n);
void st__ckpt_stop(struct st__ckpt *c);
void st__ckpt_free(struct st__ckpt *c);
void st__ckpt_mark_slow(struct st__ckpt *c, uint64_t page);

/* The bytes [off, off+n) are different from what is home. Loop. */
static inline void st__ckpt_mark(struct st__ckpt *c, uint64_t off, size_t n)
{
	uint64_t last = (off + n - 1) >> ST__PAGE_SHIFT;
	for (uint64_t page = off >> ST__PAGE_SHIFT; page <= last; page++)
		if (UNLIKELY(!(c->active.bits[page >> 6] >> (page & 63) & 1)))
			st__ckpt_mark_slow(c, page);
}

/* ---- the medium: medium_file.c ---- */

struct st__file {
	struct st__medium m;
	struct st__log log;
	struct st__ckpt ckpt;
	uint64_t log_size;     /* wanted */
	uint64_t dirty_max;    /* pages: more of them start a checkpoint */
	uint64_t private_max;  /* pages: above, clean ones are given back */
	bool read_only;
	bool wanted;           /* a checkpoint, as soon as everything is applied */
	enum st_durability durability;
	char error[320];
};

#endif
