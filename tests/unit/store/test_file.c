/* The file medium: log, checkpoints, recovery, and disks that fail. */
#include "file_model.h"

#include "base/clock.h"
#include "store/file.h"
#include "store/io.h"
#include "store/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scratch.h"

static char pool_path[300];
static struct world w;

static struct st_options options(void)
{
	return (struct st_options){.path = pool_path, .pool_size = 512 * MIB, .pool_grow = 16 * MIB, .log_size = MIB,
		.medium = ST_MEDIUM_FILE, .durability = ST_DURABLE_ALWAYS, .durability_set = true};
}

static int setup_in(const char *where)
{
	snprintf(pool_path, sizeof(pool_path), "%s/pool", scratch_make(where));
	memset(&w, 0, sizeof(w));
	rng_seed(&w.rng, 42);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	return setup_in("/dev/shm");
}

static int setup_disk(void **state)
{
	(void)state;
	return setup_in(scratch_disk());
}

static int teardown(void **state)
{
	(void)state;
	st__io_set(NULL);
	world_free(&w);
	scratch_remove(scratch_path);
	return 0;
}

static void wait_durable(uint64_t lsn)
{
	for (int i = 0; st_durable(w.st) < lsn; i++) {
		usleep(500);
		assert_true(i < 200000); /* minutes: a slow disk is no failure */
	}
}

static struct st__file *file(void)
{
	return (struct st__file *)(void *)w.st->medium;
}

static struct st_stats stats(void)
{
	struct st_stats s;
	st_stats_get(w.st, &s);
	return s;
}

/* ---- what works ---- */

static void test_clean_close_leaves_nothing_to_replay(void **state)
{
	(void)state;
	struct st_options o = options();
	world_open(&w, &o);
	assert_string_equal(stats().medium, "file");
	for (int i = 0; i < 300; i++)
		world_tick(&w, 8);
	st_close(w.st);
	for (int k = 0; k < 3; k++) {
		world_open(&w, &o);
		assert_true(stats().was_clean);
		assert_int_equal(stats().recovered_records, 0);
		assert_int_equal(world_check(&w, w.ticks), w.ticks);
		for (int i = 0; i < 20; i++)
			world_tick(&w, 8);
		st_close(w.st);
	}
}

static void send_all(int fd, const void *p, size_t n)
{
	for (const char *from = p; n > 0;) {
		ssize_t r = write(fd, from, n);
		if (r <= 0)
			_exit(1);
		from += r;
		n -= (size_t)r;
	}
}

static void receive_all(int fd, void *p, size_t n)
{
	for (char *to = p; n > 0;) {
		ssize_t r = read(fd, to, n);
		assert_true(r > 0);
		to += r;
		n -= (size_t)r;
	}
}

/* Opens the pool in a child, runs fn(arg) there and kills the child, after everything is acknowledged or at once. The
 * child's model becomes this process's. Returns the tick that was acknowledged. */
static uint64_t kill_in(const struct st_options *o, void (*fn)(unsigned), unsigned arg, bool wait)
{
	int fd[2], status;
	assert_int_equal(pipe(fd), 0);
	pid_t pid = fork();
	if (pid == 0) {
		world_open(&w, o);
		fn(arg);
		if (wait && w.ticks)
			wait_durable(w.past[w.ticks].lsn);
		uint64_t head[2] = {world_acked(&w), w.ticks};
		send_all(fd[1], head, sizeof(head));
		send_all(fd[1], &w.rng, sizeof(w.rng));
		send_all(fd[1], w.past, (w.ticks + 1) * sizeof(*w.past));
		raise(SIGKILL);
	}
	close(fd[1]);
	uint64_t head[2] = {0, 0};
	receive_all(fd[0], head, sizeof(head));
	receive_all(fd[0], &w.rng, sizeof(w.rng));
	w.ticks = head[1];
	w.cap = w.ticks + 64;
	w.past = mem_realloc(w.past, w.cap * sizeof(*w.past));
	receive_all(fd[0], w.past, (w.ticks + 1) * sizeof(*w.past));
	close(fd[0]);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	if (wait)
		assert_int_equal(head[0], w.ticks);
	return head[0];
}

static void ticks_of_10(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		world_tick(&w, 10);
}

static void die_after(unsigned ticks, struct st_options o, bool wait)
{
	uint64_t acked = kill_in(&o, ticks_of_10, ticks, wait);
	world_open(&w, &o);
	assert_false(stats().was_clean);
	world_resume(&w, world_check(&w, acked));
	st_close(w.st);
}

static void test_killed_process_loses_nothing_acknowledged(void **state)
{
	(void)state;
	struct st_options o = options();
	for (int i = 0; i < 12; i++) {
		o.durability = (enum st_durability)(i % 3);
		rng_seed(&w.rng, (uint64_t)i);
		die_after(1 + (unsigned)i * 20, o, i % 2);
	}
}

static void test_log_wraps_many_times(void **state)
{
	(void)state;
	struct st_options o = options();
	o.durability = ST_DURABLE_NO;
	world_open(&w, &o);
	uint64_t lsn = 0;
	for (int i = 0; i < 3000; i++)
		lsn = world_tick(&w, 10);
	assert_true(stats().checkpoints >= 10);
	assert_true(stats().log_bytes > 20 * MIB);
	assert_true(stats().log_used <= MIB);
	wait_durable(lsn);
	char path[400];
	struct stat sb;
	snprintf(path, sizeof(path), "%s/log", pool_path);
	assert_int_equal(stat(path, &sb), 0);
	assert_int_equal(sb.st_size, MIB + ST__LOG_HEAD);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	die_after(1500, o, false);
}

/* A tick of 3 MiB in a log of 1 MiB. */
static void big_tick(void)
{
	struct state *s = world_next(&w);
	for (unsigned i = 0; i < 60; i++)
		world_set(&w, s, i, 6500 + i % 7);
	world_commit(&w, s);
}

static unsigned big_files(void)
{
	char cmd[500];
	snprintf(cmd, sizeof(cmd), "ls %s | grep -c '^log\\.'", pool_path);
	FILE *p = popen(cmd, "r");
	unsigned n = 0;
	assert_int_equal(fscanf(p, "%u", &n), 1);
	pclose(p);
	return n;
}

static void test_record_larger_than_the_log(void **state)
{
	(void)state;
	struct st_options o = options();
	world_open(&w, &o);
	for (int i = 0; i < 5; i++) {
		world_tick(&w, 10);
		big_tick();
	}
	uint64_t lsn = world_tick(&w, 10);
	wait_durable(lsn);
	assert_true(big_files() > 0);
	st_close(w.st);
	assert_int_equal(big_files(), 0);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

static void big_and_small(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		big_tick();
		world_tick(&w, 10);
	}
	big_tick();
}

static void test_killed_with_records_larger_than_the_log(void **state)
{
	(void)state;
	struct st_options o = options();
	for (unsigned i = 0; i < 4; i++) {
		uint64_t acked = kill_in(&o, big_and_small, i, i % 2);
		assert_true(i % 2 == 0 || big_files() > 0);
		world_open(&w, &o);
		world_resume(&w, world_check(&w, acked));
		world_tick(&w, 10);
		st_close(w.st);
		assert_int_equal(big_files(), 0);
	}
}

static void test_log_size_can_change(void **state)
{
	(void)state;
	struct st_options o = options();
	for (uint64_t i = 1; i <= 4; i++) {
		o.log_size = (i % 2 ? 4 : 2) * MIB;
		world_open(&w, &o);
		assert_int_equal(stats().log_size, o.log_size);
		if (i > 1)
			assert_int_equal(world_check(&w, w.ticks), w.ticks);
		for (int k = 0; k < 50; k++)
			world_tick(&w, 8);
		st_close(w.st);
	}
		uint64_t acked = kill_in(&o, ticks_of_10, 50, true); /* with records to replay, too */
	o.log_size = 16 * MIB;
	world_open(&w, &o);
	assert_true(stats().recovered_records > 10);
	assert_int_equal(stats().log_size, 16 * MIB);
	assert_int_equal(world_check(&w, acked), w.ticks);
	world_tick(&w, 10);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

static void test_pages_are_given_back(void **state)
{
	(void)state;
	struct st_options o = options();
	o.log_size = 4 * MIB;
	world_open(&w, &o);
	file()->private_max = 64;
	file()->dirty_max = 128;
	for (int i = 0; i < 1500; i++)
		world_tick(&w, 10);
	wait_durable(w.past[w.ticks].lsn);
	for (int i = 0; i < 2000 && (st__ckpt_busy(&file()->ckpt) || file()->ckpt.mine.n > 300); i++) {
		usleep(1000);
		file()->m.ops->idle(&file()->m);
		if (i % 100 == 99)
			world_tick(&w, 1);
	}
	assert_true(file()->ckpt.mine.n <= 300);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	for (int i = 0; i < 200; i++)
		world_tick(&w, 10);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

static void test_durability_levels(void **state)
{
	(void)state;
	struct st_options o = options();
	o.durability_set = false;
	world_open(&w, &o);
	assert_int_equal(st_get_durability(w.st), ST_DURABLE_EVERYSEC);
	uint64_t lsn = world_tick(&w, 5);
	wait_durable(lsn); /* written */
	assert_true(file()->log.synced.seq < lsn || file()->log.synced.seq >= lsn);
	for (int i = 0; i < 3000 && __atomic_load_n(&file()->log.synced.seq, __ATOMIC_ACQUIRE) < lsn; i++)
		usleep(1000);
	assert_true(file()->log.synced.seq >= lsn); /* after a second, without another tick */
	st_set_durability(w.st, ST_DURABLE_NO);
	lsn = world_tick(&w, 5);
	wait_durable(lsn); /* written: a dying process loses nothing, though nothing is synced */
	assert_true(__atomic_load_n(&file()->log.written.seq, __ATOMIC_ACQUIRE) >= lsn);
	st_set_durability(w.st, ST_DURABLE_ALWAYS);
	lsn = world_tick(&w, 5);
	wait_durable(lsn);
	assert_true(file()->log.synced.seq >= lsn);
	st_close(w.st);
}

static void test_moves_between_media(void **state)
{
	(void)state;
	struct st_options o = options();
	for (int i = 0; i < 6; i++) {
		o.medium = i % 2 ? ST_MEDIUM_PMEM : ST_MEDIUM_FILE;
		world_open(&w, &o);
		assert_string_equal(stats().medium, i % 2 ? "pmem (emulated)" : "file");
		assert_int_equal(world_check(&w, w.ticks), w.ticks);
		for (int k = 0; k < 30; k++)
			world_tick(&w, 8);
		st_close(w.st);
	}
	for (int i = 0; i < 6; i++) { /* and after a death on the other one */
		o.medium = i % 2 ? ST_MEDIUM_PMEM : ST_MEDIUM_FILE;
		uint64_t acked = kill_in(&o, ticks_of_10, 40, true);
		o.medium = i % 2 ? ST_MEDIUM_FILE : ST_MEDIUM_PMEM;
		world_open(&w, &o);
		assert_string_equal(stats().medium, i % 2 ? "file" : "pmem (emulated)");
		assert_int_equal(world_check(&w, acked), w.ticks);
		world_tick(&w, 10);
		st_close(w.st);
	}
}

/* ---- logs that are not there or not right ---- */

static void kill_after_ticks(unsigned n)
{
	struct st_options o = options();
	kill_in(&o, ticks_of_10, n, true);
}

static void open_fails(enum err want, const char *word)
{
	struct st_options o = options();
	struct errinfo ei = {0};
	bool opened = world_try_open(&w, &o, &ei);
	if (opened || ei.code != want || !strstr(ei.msg, word))
		fail_msg("got %s: \"%s\", wanted %s with \"%s\"", err_text(ei.code), ei.msg, err_text(want), word);
}

static void log_path(char out[400], const char *suffix)
{
	snprintf(out, 400, "%s/log%s", pool_path, suffix);
}

static void test_missing_log_is_refused_unless_clean(void **state)
{
	(void)state;
	char log[400], away[400];
	log_path(log, "");
	log_path(away, "-away");
	kill_after_ticks(20);
	assert_int_equal(rename(log, away), 0);
	open_fails(ERR_MISSING, "is missing");
	assert_int_equal(access(log, F_OK), -1);
	assert_int_equal(rename(away, log), 0); /* put back: it opens, and closes cleanly */
	struct st_options o = options();
	world_open(&w, &o);
	st_close(w.st);
	assert_int_equal(unlink(log), 0);
	world_open(&w, &o);
	struct st_verify v;
	st_verify(w.st, &v);
	assert_int_equal(v.errors, 0);
	assert_true(st_root(w.st) != 0);
	st_close(w.st);
}

static void test_log_of_another_pool_is_refused(void **state)
{
	(void)state;
	char log[400], other[400], cmd[900];
	kill_after_ticks(20);
	log_path(log, "");
	snprintf(pool_path, sizeof(pool_path), "%s/second", scratch_path);
	kill_after_ticks(20);
	log_path(other, "");
	snprintf(cmd, sizeof(cmd), "cp %s %s", log, other);
	assert_int_equal(system(cmd), 0);
	open_fails(ERR_MISSING, "belongs to another pool");
}

static void damage(const char *path, off_t at, size_t n)
{
	char junk[4096];
	memset(junk, 0x5a, sizeof(junk));
	int fd = open(path, O_RDWR);
	assert_int_equal(pwrite(fd, junk, n, at), n);
	close(fd);
}

static void test_damaged_log_headers(void **state)
{
	(void)state;
	char log[400];
	log_path(log, "");
	struct st_options o = options();
	world_open(&w, &o);
	for (int i = 0; i < 400; i++)
		world_tick(&w, 10);
	wait_durable(w.past[w.ticks].lsn);
	assert_true(stats().checkpoints > 1);
	st_close(w.st);
	kill_after_ticks(3);
	struct stat sb;
	assert_int_equal(stat(log, &sb), 0);
	int fd = open(log, O_RDONLY);
	struct st__log_layout h[2];
	assert_int_equal(pread(fd, &h[0], sizeof(h[0]), 0), sizeof(h[0]));
	assert_int_equal(pread(fd, &h[1], sizeof(h[1]), ST__LOG_BLOCK), sizeof(h[1]));
	close(fd);
	/* The older block does not matter. */
	damage(log, h[0].gen < h[1].gen ? 0 : ST__LOG_BLOCK, 200);
	world_open(&w, &o);
	struct st_verify v;
	st_verify(w.st, &v);
	assert_int_equal(v.errors, 0);
	st_close(w.st);
	kill_after_ticks(3);
	damage(log, 0, 200);
	damage(log, ST__LOG_BLOCK, 200);
	open_fails(ERR_CORRUPT, "none of its headers");
}

static void test_truncated_log(void **state)
{
	(void)state;
	char log[400];
	log_path(log, "");
	kill_after_ticks(20);
	assert_int_equal(truncate(log, 100), 0);
	open_fails(ERR_CORRUPT, "none of its headers");
}

static void test_damaged_record_ends_the_log(void **state)
{
	(void)state;
	char log[400];
	log_path(log, "");
	struct st_options o = options();
	kill_after_ticks(20);
	/* Record 0 opens the timeline, record k is tick k. */
	int fd = open(log, O_RDWR);
	off_t at = ST__LOG_HEAD;
	struct st__record_layout h;
	for (int k = 0; k < 11; k++) {
		assert_int_equal(pread(fd, &h, sizeof(h), at), sizeof(h));
		at += (off_t)st__record_place(h.bytes);
	}
	close(fd);
	damage(log, at + 100, 8);
	world_open(&w, &o);
	assert_int_equal(stats().recovered_records, 10);
	assert_int_equal(world_check(&w, 0), 10);
	world_resume(&w, 10);
	ticks_of_10(30); /* a record of equal length may bring what stands behind the gap into line: it stays dead */
	uint64_t acked = w.ticks;
	wait_durable(w.past[acked].lsn);
	assert_int_equal(world_check(&w, acked), acked);
	st_close(w.st);
}

static void test_missing_big_record_is_refused(void **state)
{
	(void)state;
	struct st_options o = options();
	uint64_t acked = kill_in(&o, big_and_small, 0, true);
	char cmd[900];
	snprintf(cmd, sizeof(cmd), "cd %s && f=$(ls | grep '^log\\.') && cp $f .. && mv $f away", pool_path);
	assert_int_equal(system(cmd), 0);
	open_fails(ERR_MISSING, "part of the log");
	snprintf(cmd, sizeof(cmd), "cd %s && f=$(cd .. && ls | grep '^log\\.') && mv away $f && printf xxxx | dd of=$f "
		"bs=1 seek=2000 conv=notrunc status=none", pool_path);
	assert_int_equal(system(cmd), 0);
	open_fails(ERR_CORRUPT, "part of the log");
	snprintf(cmd, sizeof(cmd), "cd %s/.. && mv $(ls | grep '^log\\.') pool", pool_path);
	assert_int_equal(system(cmd), 0);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, acked), acked);
	st_close(w.st);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TD(f) cmocka_unit_test_setup_teardown(f, setup_disk, teardown)

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {
		T(test_clean_close_leaves_nothing_to_replay), TD(test_clean_close_leaves_nothing_to_replay),
		T(test_killed_process_loses_nothing_acknowledged), TD(test_killed_process_loses_nothing_acknowledged),
		T(test_log_wraps_many_times), T(test_record_larger_than_the_log),
		T(test_killed_with_records_larger_than_the_log),
		T(test_log_size_can_change), T(test_pages_are_given_back), T(test_durability_levels),
		T(test_moves_between_media),
		T(test_missing_log_is_refused_unless_clean), T(test_log_of_another_pool_is_refused),
		T(test_damaged_log_headers),
		T(test_truncated_log), T(test_damaged_record_ends_the_log), T(test_missing_big_record_is_refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
