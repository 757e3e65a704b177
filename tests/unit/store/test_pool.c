/* The pool's life: creation, opening, growth, and everything that can be wrong with its files. */
#include "store/internal.h"
#include "store/io.h"
#include "store/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <libpmemobj.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch.h"

#define MIB (1ull << 20)

#ifdef __SANITIZE_ADDRESS__
/* It does not free all it took when it refuses a pool. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libpmemobj";
}
#endif

static char pool_path[300];

static struct st_options options(void)
{
	return (struct st_options){.path = pool_path, .pool_size = 256 * MIB, .pool_grow = 16 * MIB, .log_size = 16 * MIB,
		.medium = ST_MEDIUM_AUTO};
}

static struct st__pool *open_ok(const struct st_options *o)
{
	struct errinfo ei = {0};
	struct st__pool *p = NULL;
	enum err e = st__pool_open(o, &p, &ei);
	if (e)
		fail_msg("open: %s: %s", err_text(e), ei.msg);
	return p;
}

static void open_fails(const struct st_options *o, enum err want, const char *word)
{
	struct errinfo ei = {0};
	struct st__pool *p = NULL;
	enum err e = st__pool_open(o, &p, &ei);
	if (e != want || !strstr(ei.msg, word))
		fail_msg("got %s: \"%s\", wanted %s with \"%s\"", err_text(e), ei.msg, err_text(want), word);
	assert_null(p);
	assert_int_equal(ei.code, want);
}

static void in_pool(char out[400], const char *name)
{
	snprintf(out, 400, "%s/%s", pool_path, name);
}

static int setup(void **state)
{
	(void)state;
	snprintf(pool_path, sizeof(pool_path), "%s/pool", scratch_make("/dev/shm"));
	return 0;
}

static int setup_disk(void **state)
{
	(void)state;
	snprintf(pool_path, sizeof(pool_path), "%s/pool", scratch_make(scratch_disk()));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	st__io_set(NULL);
	scratch_remove(scratch_path);
	return 0;
}

static void make_pool(void)
{
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	p->ops->close(p);
}

static uint64_t extent_ok(struct st__pool *p, unsigned index, uint64_t bytes, uint64_t *slabs_out)
{
	struct errinfo ei = {0};
	uint64_t start = 0;
	enum err e = p->ops->extent(p, index, bytes, &start, slabs_out, &ei);
	if (e)
		fail_msg("extent %u: %s", index, ei.msg);
	return start;
}

/* ---- what works ---- */

static void test_create_makes_a_pool_that_reopens(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	assert_true(p->created);
	assert_true(p->is_tmpfs);
	assert_false(p->is_pmem);
	assert_int_equal(p->reserved, 256 * MIB);
	assert_int_equal(p->n_parts, 1);
	assert_int_equal(p->parts[0].bytes, 16 * MIB);
	assert_int_equal(p->root->super.clean, 1);
	assert_int_equal(p->root->super.format, ST__FORMAT);
	uint8_t secret[32];
	memcpy(secret, p->root->super.secret, 32);
	p->root->super.boots = 7;
	p->ops->persist(p, &p->root->super.boots, 8);
	p->ops->close(p);
	p = open_ok(&o);
	assert_false(p->created);
	assert_int_equal(p->root->super.boots, 7);
	assert_memory_equal(secret, p->root->super.secret, 32);
	p->ops->close(p);
	char leftover[400];
	in_pool(leftover, "new");
	assert_int_equal(access(leftover, F_OK), -1);
}

static void test_pmempool_accepts_the_pool(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs;
	extent_ok(p, 0, 4 * MIB, &slabs);
	extent_ok(p, 1, 30 * MIB, &slabs);
	p->ops->close(p);
	char cmd[700];
	snprintf(cmd, sizeof(cmd), "pmempool check -q %s/pool.set >%s/out 2>&1", pool_path, scratch_path);
	assert_int_equal(system(cmd), 0);
	snprintf(cmd, sizeof(cmd), "pmempool info %s/pool.set 2>&1 | grep -q perdure", pool_path);
	assert_int_equal(system(cmd), 0);
}

static void extents_grow_and_stay(void)
{
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t start[6], slabs[6], end = 0;
	for (unsigned i = 0; i < 6; i++) {
		uint64_t bytes = (4 + 6 * i) * MIB;
		start[i] = extent_ok(p, i, bytes, &slabs[i]);
		assert_int_equal(start[i] % ST__SLAB, 0);
		assert_true(slabs[i] * ST__SLAB >= bytes);
		assert_true(start[i] >= end);
		end = start[i] + slabs[i] * ST__SLAB;
		memset(p->base + start[i], (int)(i + 1), slabs[i] * ST__SLAB);
		p->ops->persist(p, p->base + start[i], slabs[i] * ST__SLAB);
	}
	assert_true(p->n_parts > 3);
	uint64_t at = 0;
	for (unsigned i = 0; i < p->n_parts; i++) {
		assert_int_equal(p->parts[i].off, at);
		at += p->parts[i].bytes;
	}
	assert_true(end <= at);
	p->ops->close(p);
	p = open_ok(&o);
	for (unsigned i = 0; i < 6; i++) {
		uint64_t s, n;
		assert_int_equal(p->ops->locate(p, i, &s, &n, NULL), ERR_OK);
		assert_int_equal(s, start[i]);
		assert_int_equal(n, slabs[i]);
		assert_int_equal(p->base[s], i + 1);
		assert_int_equal(p->base[s + n * ST__SLAB - 1], i + 1);
	}
	p->ops->close(p);
}

static void test_extents_grow_and_stay(void **state)
{
	(void)state;
	extents_grow_and_stay();
}

static void test_parts_map_offsets_to_files(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs, start = extent_ok(p, 0, 40 * MIB, &slabs);
	for (uint64_t s = 0; s < slabs; s++)
		*(uint64_t *)(void *)(p->base + start + s * ST__SLAB) = 1000 + s;
	p->ops->persist(p, p->base + start, slabs * ST__SLAB);
	for (uint64_t s = 0; s < slabs; s++) {
		uint64_t off = start + s * ST__SLAB, v = 0;
		unsigned i = 0;
		while (off >= p->parts[i].off + p->parts[i].bytes)
			i++;
		assert_int_equal(pread(p->parts[i].fd, &v, 8, (off_t)(off - p->parts[i].off + p->parts[i].file_off)), 8);
		assert_int_equal(v, 1000 + s);
	}
	p->ops->close(p);
}

static void test_full_at_reservation_gives_what_fits(void **state)
{
	(void)state;
	struct st_options o = options();
	o.pool_size = 48 * MIB;
	struct st__pool *p = open_ok(&o);
	struct errinfo ei = {0};
	uint64_t start, slabs, total = 0;
	unsigned i = 0;
	while (p->ops->extent(p, i, 12 * MIB, &start, &slabs, &ei) == ERR_OK) {
		total += slabs * ST__SLAB;
		i++;
		assert_true(i < 100);
	}
	assert_int_equal(ei.code, ERR_FULL);
	assert_true(total > 36 * MIB);
	assert_true(total < 48 * MIB);
	assert_int_equal(p->parts[p->n_parts - 1].off + p->parts[p->n_parts - 1].bytes, 48 * MIB);
	p->ops->close(p);
	o.pool_size = 96 * MIB; /* a larger reservation: it grows on */
	p = open_ok(&o);
	extent_ok(p, i, 12 * MIB, &slabs);
	p->ops->close(p);
}

static void test_moved_pool_opens(void **state)
{
	(void)state;
	make_pool();
	char to[300];
	snprintf(to, sizeof(to), "%s/elsewhere", scratch_path);
	assert_int_equal(rename(pool_path, to), 0);
	snprintf(pool_path, sizeof(pool_path), "%s", to);
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	assert_false(p->created);
	p->ops->close(p);
}

static void test_missing_set_file_is_written_again(void **state)
{
	(void)state;
	make_pool();
	char set[400];
	in_pool(set, "pool.set");
	assert_int_equal(unlink(set), 0);
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	assert_false(p->created);
	p->ops->close(p);
	assert_int_equal(access(set, F_OK), 0);
}

static void test_read_only_changes_no_byte(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs, start = extent_ok(p, 0, 4 * MIB, &slabs);
	memset(p->base + start, 7, 4096);
	p->ops->persist(p, p->base + start, 4096);
	p->ops->close(p);
	char moved[300];
	snprintf(moved, sizeof(moved), "%s/copy", scratch_path);
	assert_int_equal(rename(pool_path, moved), 0); /* the set file is stale now, too */
	snprintf(pool_path, sizeof(pool_path), "%s", moved);
	char cmd[900];
	snprintf(cmd, sizeof(cmd), "cd %s && cat pool.set 000000.pmem | sha1sum > ../before", pool_path);
	assert_int_equal(system(cmd), 0);
	o.read_only = true;
	o.pool_size = 0;
	p = open_ok(&o);
	memset(p->base + start, 9, 4096);
	assert_int_equal(p->base[start], 9);
	p->ops->close(p);
	snprintf(cmd, sizeof(cmd), "cd %s && cat pool.set 000000.pmem | sha1sum | cmp - ../before", pool_path);
	assert_int_equal(system(cmd), 0);
}

/* ---- what is refused ---- */

static void test_read_only_without_pool(void **state)
{
	(void)state;
	struct st_options o = options();
	o.read_only = true;
	open_fails(&o, ERR_MISSING, "no pool");
	assert_int_equal(access(pool_path, F_OK), -1);
	assert_int_equal(mkdir(pool_path, 0700), 0);
	open_fails(&o, ERR_MISSING, "no pool");
}

static void test_two_processes(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	pid_t pid = fork();
	if (pid == 0) {
		struct errinfo ei = {0};
		struct st__pool *q;
		enum err e = st__pool_open(&o, &q, &ei);
		_exit(e == ERR_LOCKED && strstr(ei.msg, "in use by another process") ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	p->ops->close(p);
	p = open_ok(&o);
	p->ops->close(p);
}

static void test_locked_part(void **state)
{
	(void)state;
	make_pool();
	char set[400], part[400];
	in_pool(set, "pool.set");
	in_pool(part, "000000.pmem");
	PMEMobjpool *other = pmemobj_open(set, "perdure"); /* a tool that knows nothing of the directory's lock */
	assert_non_null(other);
	struct st_options o = options();
	open_fails(&o, ERR_LOCKED, "in use");
	pmemobj_close(other);
}

static void test_a_file_is_no_pool(void **state)
{
	(void)state;
	int fd = open(pool_path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	struct st_options o = options();
	open_fails(&o, ERR_ARGUMENT, "not a directory");
}

static void test_parent_missing(void **state)
{
	(void)state;
	strcat(pool_path, "/deeper");
	struct st_options o = options();
	open_fails(&o, ERR_MISSING, "does not exist");
}

static void test_path_with_blank(void **state)
{
	(void)state;
	strcat(pool_path, " two");
	struct st_options o = options();
	open_fails(&o, ERR_ARGUMENT, "blank");
}

/* In a child that is nobody, with umask and rights of its own. */
static void as_nobody(enum err want, const char *word)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		struct st_options o = options();
		struct errinfo ei = {0};
		struct st__pool *p;
		enum err e = st__pool_open(&o, &p, &ei);
		if (e != want || !strstr(ei.msg, word))
			fprintf(stderr, "%s: %s\n", err_text(e), ei.msg);
		_exit(e == want && strstr(ei.msg, word) ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void test_read_only_directory(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	chmod(scratch_path, 0755);
	as_nobody(ERR_PERMISSION, "permission denied"); /* the directory cannot be made */
	assert_int_equal(mkdir(pool_path, 0755), 0);
	as_nobody(ERR_PERMISSION, "permission denied"); /* nothing in it */
	rmdir(pool_path);
	make_pool();
	chmod(pool_path, 0755);
	as_nobody(ERR_PERMISSION, "permission denied"); /* another user's parts */
}

static void test_sizes_out_of_bounds(void **state)
{
	(void)state;
	struct st_options o = options();
	o.pool_size = 8 * MIB;
	open_fails(&o, ERR_ARGUMENT, "16 MiB");
	o.pool_size = 1ull << 45;
	open_fails(&o, ERR_ARGUMENT, "16 TiB");
	o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs;
	extent_ok(p, 0, 60 * MIB, &slabs);
	p->ops->close(p);
	o.pool_size = 32 * MIB;
	open_fails(&o, ERR_ARGUMENT, "has grown to");
}

static void test_address_space_not_to_be_had(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer takes terabytes of it for itself */
#endif
	make_pool();
	pid_t pid = fork();
	if (pid == 0) {
		struct rlimit r = {2048 * MIB, 2048 * MIB};
		setrlimit(RLIMIT_AS, &r);
		struct st_options o = options();
		o.pool_size = 64 * 1024 * MIB;
		struct errinfo ei = {0};
		struct st__pool *p;
		enum err e = st__pool_open(&o, &p, &ei);
		_exit(e == ERR_MEMORY && strstr(ei.msg, "address space") ? 0 : 1);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	p->ops->close(p);
}

static void test_other_layout(void **state)
{
	(void)state;
	char part[400], set[400];
	assert_int_equal(mkdir(pool_path, 0700), 0);
	in_pool(part, "000000.pmem");
	in_pool(set, "pool.set");
	FILE *f = fopen(set, "w");
	fprintf(f, "PMEMPOOLSET\nOPTION SINGLEHDR\n%llu %s\n", 64 * MIB, pool_path);
	fclose(f);
	PMEMobjpool *other = pmemobj_create(set, "someone", 0, 0600);
	assert_non_null(other);
	pmemobj_close(other);
	struct st_options o = options();
	open_fails(&o, ERR_ARGUMENT, "another program");
}

static void test_not_a_pool(void **state)
{
	(void)state;
	char part[400];
	assert_int_equal(mkdir(pool_path, 0700), 0);
	in_pool(part, "000000.pmem");
	int fd = open(part, O_CREAT | O_RDWR, 0600);
	assert_int_equal(ftruncate(fd, 16 * MIB), 0);
	close(fd);
	struct st_options o = options();
	open_fails(&o, ERR_CORRUPT, "libpmemobj says");
}

static void edit_super(size_t at, uint64_t x)
{
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	char *s = (char *)&p->root->super;
	uint64_t v;
	memcpy(&v, s + at, 8);
	v ^= x;
	memcpy(s + at, &v, 8);
	p->ops->persist(p, s + at, 8);
	p->ops->close(p);
}

static void test_damaged_superblock(void **state)
{
	(void)state;
	struct st_options o = options();
	make_pool();
	edit_super(offsetof(struct st__super_layout, secret), 1ull << 13);
	open_fails(&o, ERR_CORRUPT, "checksum");
	scratch_remove(pool_path);
	make_pool();
	edit_super(offsetof(struct st__super_layout, magic), 0xff);
	open_fails(&o, ERR_CORRUPT, "magic");
	scratch_remove(pool_path);
	make_pool();
	edit_super(offsetof(struct st__super_layout, format), 2);
	open_fails(&o, ERR_VERSION, "format version 3");
}

static void test_truncated_part(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs;
	extent_ok(p, 0, 20 * MIB, &slabs);
	extent_ok(p, 1, 20 * MIB, &slabs);
	assert_true(p->n_parts >= 3);
	p->ops->close(p);
	char part[400];
	in_pool(part, "000001.pmem");
	assert_int_equal(truncate(part, 5 * MIB), 0);
	open_fails(&o, ERR_CORRUPT, "truncated");
	assert_int_equal(truncate(part, MIB), 0);
	open_fails(&o, ERR_CORRUPT, "000001.pmem");
	in_pool(part, "000000.pmem");
	assert_int_equal(truncate(part, 4 * MIB), 0);
	open_fails(&o, ERR_CORRUPT, "truncated");
}

static void test_missing_part(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs;
	extent_ok(p, 0, 20 * MIB, &slabs);
	extent_ok(p, 1, 20 * MIB, &slabs);
	p->ops->close(p);
	char part[400];
	in_pool(part, "000001.pmem");
	assert_int_equal(unlink(part), 0);
	open_fails(&o, ERR_MISSING, "000001.pmem");
	in_pool(part, "000000.pmem");
	assert_int_equal(unlink(part), 0);
	in_pool(part, "000002.pmem");
	assert_int_equal(unlink(part), 0);
	open_fails(&o, ERR_MISSING, "lost its parts");
}

static void test_strange_file(void **state)
{
	(void)state;
	make_pool();
	char name[400];
	in_pool(name, "backup.pmem");
	close(open(name, O_CREAT | O_WRONLY, 0600));
	struct st_options o = options();
	open_fails(&o, ERR_CORRUPT, "backup.pmem");
}

static void test_damaged_extent_table(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs, start;
	extent_ok(p, 0, 4 * MIB, &slabs);
	struct errinfo ei = {0};
	uint64_t was = p->root->extent[0].off;
	p->root->extent[0].off = 1ull << 40;
	assert_int_equal(p->ops->locate(p, 0, &start, &slabs, &ei), ERR_CORRUPT);
	p->root->extent[0].off = was + 3;
	assert_int_equal(p->ops->locate(p, 0, &start, &slabs, &ei), ERR_CORRUPT);
	p->root->extent[0].off = was;
	p->root->extent[0].pool_uuid ^= 1;
	assert_int_equal(p->ops->locate(p, 0, &start, &slabs, &ei), ERR_CORRUPT);
	assert_non_null(strstr(ei.msg, "extent 0"));
	p->ops->close(p);
}

/* ---- deaths and errors while making and growing ---- */

static struct st__io hooked;
static unsigned countdown; /* calls until the hook acts */
static int fail_code;

static void hook(void)
{
	hooked = st__io_system;
	st__io_set(&hooked);
}

static int fallocate_fails(int fd, int mode, off_t at, off_t n)
{
	if (countdown && --countdown == 0) {
		errno = fail_code;
		return -1;
	}
	return fallocate(fd, mode, at, n);
}

static void test_disk_full_at_creation(void **state)
{
	(void)state;
	struct st_options o = options();
	hook();
	hooked.fallocate = fallocate_fails;
	countdown = 1;
	fail_code = ENOSPC;
	open_fails(&o, ERR_FULL, "disk is full");
	struct st__pool *p = open_ok(&o); /* nothing is in the way of the next attempt */
	assert_true(p->created);
	p->ops->close(p);
}

static void test_disk_full_while_growing(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t start, slabs;
	extent_ok(p, 0, 4 * MIB, &slabs);
	hook();
	hooked.fallocate = fallocate_fails;
	fail_code = ENOSPC;
	unsigned parts = p->n_parts, i = 1;
	struct errinfo ei = {0};
	for (countdown = 1; p->ops->extent(p, i, 40 * MIB, &start, &slabs, &ei) == ERR_OK; countdown = 1) {
		assert_true(slabs * ST__SLAB < 6 * MIB); /* what fits in the rest */
		assert_true(++i < 10);
	}
	assert_int_equal(ei.code, ERR_FULL);
	assert_non_null(strstr(ei.msg, "disk is full"));
	assert_int_equal(p->n_parts, parts);
	countdown = 0; /* space again: it grows, and the parts are numbered without a gap */
	extent_ok(p, i, 40 * MIB, &slabs);
	assert_true(slabs * ST__SLAB >= 40 * MIB);
	p->ops->close(p);
	p = open_ok(&o);
	p->ops->close(p);
}

static int fallocate_dies(int fd, int mode, off_t at, off_t n)
{
	if (countdown && --countdown == 0) {
		fallocate(fd, mode, at, n / 3); /* in the middle of it */
		raise(SIGKILL);
	}
	return fallocate(fd, mode, at, n);
}

static int rename_dies(int a, const char *from, int b, const char *to)
{
	if (countdown && --countdown == 0)
		raise(SIGKILL);
	int r = renameat(a, from, b, to);
	if (countdown && --countdown == 0)
		raise(SIGKILL);
	return r;
}

/* Opens and grows in a child that dies at the n-th of the hooked calls. Returns whether it died. */
static bool child_dies(unsigned n, bool in_rename)
{
	pid_t pid = fork();
	if (pid == 0) {
		hook();
		countdown = n;
		if (in_rename)
			hooked.renameat = rename_dies;
		else
			hooked.fallocate = fallocate_dies;
		struct st_options o = options();
		struct st__pool *p;
		if (st__pool_open(&o, &p, NULL))
			_exit(1);
		uint64_t start, slabs;
		unsigned i = 0;
		while (p->root->extent[i].off)
			i++;
		for (unsigned k = 0; k < 3; k++)
			if (p->ops->extent(p, i + k, 20 * MIB, &start, &slabs, NULL))
				_exit(2);
		_exit(0);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	return status != 0;
}

static void test_death_while_making_and_growing(void **state)
{
	(void)state;
	for (int in_rename = 0; in_rename < 2; in_rename++) {
		bool died = true;
		for (unsigned n = 1; died; n++) {
			died = child_dies(n, in_rename);
			struct st_options o = options();
			struct st__pool *p = open_ok(&o);
			uint64_t slabs;
			unsigned i = 0;
			while (p->root->extent[i].off) {
				uint64_t start;
				assert_int_equal(p->ops->locate(p, i, &start, &slabs, NULL), ERR_OK);
				i++;
			}
			if (i < 4)
				extent_ok(p, i, 20 * MIB, &slabs);
			p->ops->close(p);
			scratch_remove(pool_path);
			assert_true(n < 30);
		}
	}
}

/* As libpmemobj by itself leaves it: the part was made, with mode 000, and not allocated. */
static void test_death_in_libpmemobjs_own_growth(void **state)
{
	(void)state;
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	uint64_t slabs;
	extent_ok(p, 0, 4 * MIB, &slabs);
	p->ops->close(p);
	char part[400];
	in_pool(part, "000001.pmem");
	for (int mib = 0; mib < 2; mib++) {
		int fd = open(part, O_CREAT | O_RDWR, 0);
		assert_int_equal(ftruncate(fd, mib * (off_t)MIB), 0);
		close(fd);
		o.read_only = true;
		open_fails(&o, ERR_CORRUPT, "was growing");
		o.read_only = false;
		p = open_ok(&o);
		assert_int_equal(p->n_parts, 1);
		p->ops->close(p);
		assert_int_equal(access(part, F_OK), -1);
	}
	int fd = open(part, O_CREAT | O_RDWR, 0); /* allocated, its mode not yet set */
	assert_int_equal(posix_fallocate(fd, 0, 8 * MIB), 0);
	close(fd);
	p = open_ok(&o);
	assert_int_equal(p->n_parts, 2);
	extent_ok(p, 1, 20 * MIB, &slabs);
	p->ops->close(p);
	p = open_ok(&o);
	p->ops->close(p);
	struct stat sb;
	assert_int_equal(stat(part, &sb), 0);
	assert_int_equal(sb.st_mode & 0777, 0600);
}

static void test_unfinished_creation_is_redone(void **state)
{
	(void)state;
	char name[400];
	assert_int_equal(mkdir(pool_path, 0700), 0);
	in_pool(name, "new");
	assert_int_equal(mkdir(name, 0700), 0);
	in_pool(name, "new/000000.pmem");
	int fd = open(name, O_CREAT | O_RDWR, 0600);
	assert_int_equal(ftruncate(fd, 16 * MIB), 0);
	close(fd);
	struct st_options o = options();
	struct st__pool *p = open_ok(&o);
	assert_true(p->created);
	p->ops->close(p);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TD(f) cmocka_unit_test_setup_teardown(f, setup_disk, teardown)

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		T(test_create_makes_a_pool_that_reopens), T(test_pmempool_accepts_the_pool), T(test_extents_grow_and_stay),
		TD(test_extents_grow_and_stay), T(test_parts_map_offsets_to_files), T(test_full_at_reservation_gives_what_fits),
		T(test_moved_pool_opens), T(test_missing_set_file_is_written_again), T(test_read_only_changes_no_byte),
		T(test_read_only_without_pool), T(test_two_processes), T(test_locked_part), T(test_a_file_is_no_pool),
		T(test_parent_missing), T(test_path_with_blank), T(test_read_only_directory), T(test_sizes_out_of_bounds),
		T(test_address_space_not_to_be_had), T(test_other_layout), T(test_not_a_pool), T(test_damaged_superblock),
		T(test_truncated_part), T(test_missing_part), T(test_strange_file), T(test_damaged_extent_table),
		T(test_disk_full_at_creation), T(test_disk_full_while_growing), T(test_death_while_making_and_growing),
		T(test_death_in_libpmemobjs_own_growth), T(test_unfinished_creation_is_redone)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
