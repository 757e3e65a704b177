/* The pool's directory: which files make a pool, and what is put right before libpmemobj sees them. POOL.md. */
#ifndef STORE_POOL_H
#define STORE_POOL_H

#include "internal.h"

#define ST__PART_MIN (2ull << 20)       /* libpmemobj's least part */
#define ST__PART_FIRST (16ull << 20)    /* libpmemobj's own structures take 6.7 MiB of it */
#define ST__PARTS_MAX 4096u
#define ST__POOL_MIN ST__PART_FIRST     /* least reservation */
#define ST__POOL_MAX (1ull << ST_OFF_BITS)
#define ST__SET_NAME "pool.set"
#define ST__LAYOUT_NAME "perdure"

struct st__dir {
	char path[1024];  /* absolute, without links */
	int fd;           /* holds the lock that keeps a second server out */
	unsigned parts;   /* files 000000.pmem .. */
	uint64_t bytes;   /* in them */
	bool remains;     /* a set file or a log without any part */
	bool dax;         /* maps persistent memory */
	bool tmpfs;
};

/* Opens and locks the directory, makes it where it is missing (not read-only), finds the parts, takes away what a death
 * in the middle of growth left. On error nothing is held. */
enum err st__dir_open(const char *path, bool read_only, struct st__dir *d, struct errinfo *ei);
void st__dir_close(struct st__dir *d);
/* Writes the set file for this directory and reservation, where it differs from what is there. */
enum err st__dir_write_set(int dirfd, const char *path, uint64_t reserved, struct errinfo *ei);
/* A set file in memory, for opening without writing; its path goes to path_out. Returns its descriptor, or -1. */
int st__dir_memory_set(const char *path, uint64_t reserved, char *path_out, size_t n);
/* Makes part `index`, of this size, durable under its name, in one step as far as a death can see. */
enum err st__dir_add_part(int dirfd, const char *path, unsigned index, uint64_t bytes, struct errinfo *ei);
void st__part_name(char out[16], unsigned index);
/* The sentence for an errno met while doing `what` to something of the pool. */
enum err st__errno(struct errinfo *ei, int code, const char *what, const char *path);
/* Removes what an unfinished creation left in DIR/new. */
void st__dir_clear_new(int dirfd);

/* Makes the first part with an empty, complete pool in it: all or nothing. */
enum err st__pool_create(struct st__dir *d, struct errinfo *ei);
/* The error of a failed libpmemobj call, as a sentence. */
enum err st__pmemobj_error(struct errinfo *ei, const char *doing, const char *path, uint64_t reserved);

/* For the growth thread: takes the cost that the first extent after opening would pay (libpmemobj reads its heap's
 * state on the first allocation). Nothing for pools of other kinds. */
void st__pool_warm(struct st__pool *p);

#endif
