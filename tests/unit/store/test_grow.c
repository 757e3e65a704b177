/* Growth on the helper thread: under load, at the end of the pool and of the disk, and with a death in the middle. */
#include "file_model.h"

#include "store/io.h"
#include "store/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "scratch.h"

#define TICKS_MAX 4000u

static char pool_path[300];
static struct world w;
static struct shared {
	uint64_t ticks, acked;
	struct state past[TICKS_MAX + 2];
} *shared; /* with a child that dies */

static struct st_options options(enum st_medium medium)
{
	return (struct st_options){.path = pool_path, .pool_size = 128 * MIB, .pool_grow = 2 * MIB, .log_size = 4 * MIB,
		.medium = medium, .durability = ST_DURABLE_ALWAYS, .durability_set = true};
}

static int setup(void **state)
{
	(void)state;
	snprintf(pool_path, sizeof(pool_path), "%s/pool", scratch_make("/dev/shm"));
	memset(&w, 0, sizeof(w));
	rng_seed(&w.rng, 3);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	st__io_set(NULL);
	world_free(&w);
	munmap(shared, sizeof(*shared));
	scratch_remove(scratch_path);
	return 0;
}

/* Every slot holds a value near the largest there is, in the end. */
static uint64_t fat_tick(void)
{
	struct state *s = world_next(&w);
	for (unsigned i = 0; i < 3; i++)
		world_set(&w, s, (unsigned)rng_below(&w.rng, SLOTS), 7000 + (uint32_t)rng_below(&w.rng, 1000));
	return world_commit(&w, s);
}

static struct st_stats stats(void)
{
	struct st_stats s;
	st_stats_get(w.st, &s);
	return s;
}

static void wait_durable(uint64_t lsn)
{
	for (int i = 0; st_durable(w.st) < lsn; i++) {
		usleep(500);
		assert_true(i < 200000); /* minutes: a slow disk is no failure */
	}
}

static void grows_under_load(enum st_medium medium)
{
	struct st_options o = options(medium);
	world_open(&w, &o);
	uint64_t lsn = 0;
	for (int i = 0; i < 400; i++)
		lsn = fat_tick();
	wait_durable(lsn);
	assert_true(stats().growths >= 2);
	assert_true(w.st->pool->n_parts >= 3);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	char cmd[400];
	snprintf(cmd, sizeof(cmd), "pmempool check -q %s/pool.set >/dev/null", pool_path);
	assert_int_equal(system(cmd), 0);
}

static void test_grows_under_load(void **state)
{
	(void)state;
	grows_under_load(ST_MEDIUM_FILE);
}

static void test_grows_under_load_on_pmem(void **state)
{
	(void)state;
	grows_under_load(ST_MEDIUM_PMEM);
}

static unsigned woken;

static void count_wake(void *ctx)
{
	(void)ctx;
	__atomic_fetch_add(&woken, 1, __ATOMIC_RELAXED);
}

static void test_a_step_is_taken_once(void **state)
{
	(void)state;
	struct st_options o = options(ST_MEDIUM_PMEM);
	o.wake = count_wake;
	world_open(&w, &o);
	struct st__grow *g = w.st->grow;
	bool failed = true;
	assert_false(st__grow_busy(g));
	assert_int_equal(st__grow_take(g, true, &failed), -1); /* nothing was asked for: no waiting */
	assert_false(failed);
	st__grow_start(g, 6 * MIB);
	st__grow_start(g, 60 * MIB); /* one at a time */
	assert_true(st__grow_busy(g));
	int index = st__grow_take(g, true, &failed);
	assert_int_equal(index, 2);
	assert_false(failed);
	assert_false(st__grow_busy(g));
	assert_true(__atomic_load_n(&woken, __ATOMIC_RELAXED) >= 1);
	assert_int_equal(st__grow_take(g, false, &failed), -1);
	uint64_t start, units;
	assert_int_equal(w.st->pool->ops->locate(w.st->pool, 2, &start, &units, NULL), ERR_OK);
	assert_true(units * ST__SLAB >= 6 * MIB && units * ST__SLAB < 8 * MIB);
	assert_true(st__extent_valid(w.st->pool, 2, start));
	st_close(w.st); /* it was never put to use: the next open does */
	world_open(&w, &o);
	assert_true(w.st->extents >= 3);
	st_close(w.st);
}

static void test_full_pool_refuses_and_keeps_everything(void **state)
{
	(void)state;
	struct st_options o = options(ST_MEDIUM_FILE);
	o.pool_size = 20 * MIB;
	world_open(&w, &o);
	unsigned ticks = 0;
	while (st_reserve(w.st, 200000, false)) {
		fat_tick();
		assert_true(++ticks < 1000);
	}
	assert_false(st_reserve(w.st, 200000, false));
	struct state *s = world_next(&w); /* deleting still works, and makes room */
	for (unsigned i = 0; i < SLOTS; i++)
		world_delete(&w, s, i);
	world_commit(&w, s);
	assert_true(st_reserve(w.st, 200000, false));
	fat_tick();
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

/* ---- hooks ---- */

static struct st__io hooked;
static unsigned countdown;

static int disk_full(int fd, int mode, off_t at, off_t n)
{
	(void)fd, (void)mode, (void)at, (void)n;
	errno = ENOSPC;
	return -1;
}

static int dies_in_the_middle(int fd, int mode, off_t at, off_t n)
{
	if (countdown && --countdown == 0) {
		fallocate(fd, mode, at, n / 2);
		raise(SIGKILL);
	}
	return fallocate(fd, mode, at, n);
}

static int dies_at_rename(int a, const char *from, int b, const char *to)
{
	if (countdown && --countdown == 0)
		raise(SIGKILL);
	int r = renameat(a, from, b, to);
	if (countdown && --countdown == 0) { /* libpmemobj is told in this moment, or not yet */
		usleep(300);
		raise(SIGKILL);
	}
	return r;
}

static void test_disk_full_refuses_until_there_is_room(void **state)
{
	(void)state;
	struct st_options o = options(ST_MEDIUM_FILE);
	world_open(&w, &o);
	hooked = st__io_system;
	hooked.fallocate = disk_full;
	st__io_set(&hooked);
	unsigned ticks = 0;
	while (st_reserve(w.st, 200000, false)) {
		fat_tick();
		assert_true(++ticks < 1000);
	}
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st__io_set(NULL);
	for (int i = 0; !st_reserve(w.st, 200000, false); i++) {
		usleep(50000);
		assert_true(i < 100);
	}
	for (int i = 0; i < 100; i++)
		fat_tick();
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

/* Runs ticks in a child until growth kills it, checks what it left; whether it died. */
static bool dies_growing(enum st_medium medium, unsigned n, bool at_rename)
{
	struct st_options o = options(medium);
	pid_t pid = fork();
	if (pid == 0) {
		world_open(&w, &o);
		w.past = shared->past;
		w.cap = TICKS_MAX + 2;
		hooked = st__io_system;
		countdown = n;
		if (at_rename)
			hooked.renameat = dies_at_rename;
		else
			hooked.fallocate = dies_in_the_middle;
		st__io_set(&hooked);
		for (int i = 0; i < 400 && w.ticks < TICKS_MAX; i++) {
			fat_tick();
			shared->ticks = w.ticks;
			shared->acked = st_durable(w.st);
		}
		_exit(0);
	}
	int status;
	waitpid(pid, &status, 0);
	bool died = WIFSIGNALED(status);
	assert_true(died || status == 0);
	w.past = mem_alloc((shared->ticks + 64) * sizeof(*w.past));
	w.cap = shared->ticks + 64;
	memcpy(w.past, shared->past, (shared->ticks + 2) * sizeof(*w.past)); /* one more may be under way */
	w.ticks = shared->ticks;
	uint64_t least = w.ticks;
	while (least > 0 && w.past[least].lsn > shared->acked)
		least--;
	if (died && w.past[w.ticks + 1].lsn)
		w.ticks++;
	world_open(&w, &o);
	w.ticks = world_check(&w, least);
	for (int i = 0; i < 60; i++) /* it lives, and grows */
		fat_tick();
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
	world_free(&w);
	scratch_remove(pool_path);
	memset(shared, 0, sizeof(*shared));
	return died;
}

static void dies_everywhere(enum st_medium medium)
{
	for (int at_rename = 0; at_rename < 2; at_rename++) {
		unsigned n = 1;
		while (dies_growing(medium, n, at_rename))
			assert_true(++n < 40);
		assert_true(n > 2);
	}
}

static void test_death_in_the_middle_of_growth(void **state)
{
	(void)state;
	dies_everywhere(ST_MEDIUM_FILE);
}

static void test_death_in_the_middle_of_growth_on_pmem(void **state)
{
	(void)state;
	dies_everywhere(ST_MEDIUM_PMEM);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {T(test_grows_under_load), T(test_a_step_is_taken_once),
		T(test_full_pool_refuses_and_keeps_everything), T(test_disk_full_refuses_until_there_is_room),
		T(test_death_in_the_middle_of_growth), T(test_grows_under_load_on_pmem),
		T(test_death_in_the_middle_of_growth_on_pmem)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
