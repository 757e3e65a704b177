/* The file medium under simulated power cuts: random ticks, an image of the pool at a random write or sync, reopened
 * (and cut off again while that recovers), verified and compared with a model. And disks that fail for a while. */
#include "file_model.h"

#include "base/fault.h"
#include "power.h"
#include "store/file.h"

static char pool_path[300], image_path[300], second_path[300];
static struct world w;
static struct rng rng;

static struct st_options options(const char *path)
{
	return (struct st_options){.path = path, .pool_size = 16 * MIB, .pool_grow = 16 * MIB, .log_size = MIB,
		.medium = ST_MEDIUM_FILE, .durability = ST_DURABLE_ALWAYS, .durability_set = true};
}

static int setup(void **state)
{
	(void)state;
	scratch_make("/dev/shm");
	snprintf(pool_path, sizeof(pool_path), "%s/pool", scratch_path);
	snprintf(image_path, sizeof(image_path), "%s/image", scratch_path);
	snprintf(second_path, sizeof(second_path), "%s/second", scratch_path);
	memset(&w, 0, sizeof(w));
	rng_seed(&rng, 7);
	rng_seed(&w.rng, 8);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	power_off();
	world_free(&w);
	scratch_remove(scratch_path);
	return 0;
}

static struct st__file *file(void)
{
	return (struct st__file *)(void *)w.st->medium;
}

/* ---- taking an image at a random call ---- */

static struct {
	uint64_t at;         /* call number */
	const char *from, *to;
	enum power_subset subset;
	uint64_t floor;      /* tick that was on the disk when the pool was opened */
	uint64_t synced;     /* LSN that was certainly there at the shot; 0: see floor */
	bool taken;
} shot;

static void shoot(void)
{
	if (shot.taken || power.ops < shot.at)
		return;
	shot.taken = true;
	shot.synced = w.st ? __atomic_load_n(&file()->log.synced.seq, __ATOMIC_ACQUIRE) : 0;
	power_image(shot.from, shot.to, shot.subset, &rng);
}

static void aim(const char *from, const char *to, uint64_t within, uint64_t floor)
{
	shot.taken = false;
	shot.at = power.ops + 1 + rng_below(&rng, within);
	shot.from = from;
	shot.to = to;
	shot.floor = floor;
	shot.subset = (enum power_subset)rng_below(&rng, POWER_SUBSETS + 3);
	if (shot.subset >= POWER_SUBSETS)
		shot.subset = POWER_RANDOM;
	power.watch = shoot;
}

static uint64_t tick_of(uint64_t lsn, uint64_t floor)
{
	uint64_t t = w.ticks;
	while (t > floor && w.past[t].lsn > lsn)
		t--;
	return t;
}

/* Whether the open store holds what some tick from `least` on left, whole; *tick_out: which. */
static bool is_right(uint64_t least, uint64_t *tick_out)
{
	struct st_verify v;
	st_verify(w.st, &v);
	const struct root *r = !v.errors && st_root(w.st) ? st_view(w.st, st_root(w.st)) : NULL;
	uint64_t tick = r ? r->tick : 0;
	bool right = v.errors == 0 && tick >= least && tick <= w.ticks;
	for (unsigned i = 0; right && r && i < SLOTS; i++) {
		const struct state *s = &w.past[tick];
		right = !s->s[i].tag == !r->ref[i];
		if (!right || !r->ref[i])
			continue;
		const struct leaf *l = st_view(w.st, r->ref[i]);
		right = l->slot == i && l->tag == s->s[i].tag && l->words == s->s[i].words;
		for (uint64_t k = 0; right && k < l->words; k++)
			right = l->w[k] == l->tag * 31 + k;
	}
	if (!right)
		print_message("wrong: %s; tick %llu of %llu, at least %llu\n", v.errors ? v.first : "contents",
			(unsigned long long)tick, (unsigned long long)w.ticks, (unsigned long long)least);
	*tick_out = tick;
	return right;
}

/* Opens an image. Half the time its power goes as well, while it recovers or works on, and that image must be right. */
static bool image_is_right(uint64_t least)
{
	struct st_options o = options(image_path);
	struct errinfo ei = {0};
	uint64_t tick, ticks = w.ticks;
	bool again = rng_below(&rng, 2);
	int (*fails)(int fd, bool sync) = power.fails;
	power_forget();
	power.fails = NULL; /* a disk that fails at opening gives an error, which is right but shows nothing */
	if (again)
		aim(image_path, second_path, 25, least);
	bool opened = world_try_open(&w, &o, &ei);
	power.fails = fails;
	if (!opened) {
		power.watch = NULL;
		print_message("wrong: %s\n", ei.msg);
		return false;
	}
	bool right = is_right(least, &tick);
	for (int i = 0; again && i < 200 && !shot.taken; i++)
		st_commit(w.st), usleep(10);
	st_close(w.st);
	w.st = NULL;
	power.watch = NULL;
	if (right && again && shot.taken) {
		o = options(second_path);
		power_forget();
		power.fails = NULL;
		opened = world_try_open(&w, &o, &ei);
		power.fails = fails;
		if (!opened) {
			print_message("wrong, cut off twice: %s\n", ei.msg);
			return false;
		}
		uint64_t second;
		right = is_right(least, &second) && second == tick; /* what was recovered stays */
		st_close(w.st);
		w.st = NULL;
	}
	w.ticks = ticks;
	return right;
}

/* So many images; returns how many were wrong, stopping at the first where asked to. */
static unsigned run_lives(unsigned lives, bool stop)
{
	unsigned wrong = 0, taken = 0;
	uint64_t floor = 0;
	struct st_options o = options(pool_path);
	world_open(&w, &o);
	st_close(w.st);
	w.st = NULL;
	power_on();
	for (unsigned life = 0; life < lives && !(stop && wrong); life++) {
		o.durability = (enum st_durability)(life % 3);
		power.short_writes = life % 4 == 3 ? 5 : 0;
		power.no_through = life % 2;
		power_forget();
		uint64_t within = life % 7 == 0 ? 15 : 300;
		if (life % 7 < 2)
			aim(pool_path, image_path, within, floor); /* while it opens, too */
		else
			shot.taken = false;
		int (*fails)(int fd, bool sync) = power.fails;
		power.fails = NULL;
		world_open(&w, &o);
		power.fails = fails;
		uint64_t tick; /* a close that did not get everything home has lost what was not acknowledged */
		if (!is_right(floor, &tick))
			wrong++;
		world_resume(&w, tick);
		file()->dirty_max = 20 + rng_below(&rng, 200); /* pages: checkpoints all the time */
		for (unsigned n = (unsigned)rng_below(&rng, 60); n > 0; n--)
			world_tick(&w, 1 + (unsigned)rng_below(&rng, 12));
		if (life % 7 >= 2)
			aim(pool_path, image_path, within, floor);
		for (unsigned i = 0; i < 300 && !shot.taken; i++)
			world_tick(&w, 1 + (unsigned)rng_below(&rng, 12));
		if (life % 8)
			power.fails = NULL; /* mostly it works again before the end, which saves the wait for tries */
		uint64_t synced = __atomic_load_n(&file()->log.synced.seq, __ATOMIC_ACQUIRE);
		st_close(w.st);
		power.fails = fails;
		floor = tick_of(synced, floor);
		w.st = NULL;
		power.watch = NULL;
		if (shot.taken) {
			taken++;
			if (!image_is_right(tick_of(shot.synced, shot.floor)))
				wrong++;
		}
	}
	assert_true(stop || taken > lives / 2);
	st__io_set(NULL);
	return wrong;
}

/* ---- disks that fail ---- */

static struct {
	struct rng rng;
	unsigned percent;    /* of calls that fail */
	bool log, parts;     /* which files */
	bool syncs_only;
	int code;
} bad;

static int sometimes(int fd, bool sync)
{
	if (bad.percent == 0 || (bad.syncs_only && !sync) || rng_below(&bad.rng, 100) >= bad.percent)
		return 0;
	char link[64], name[400];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, name, sizeof(name) - 1);
	name[n < 0 ? 0 : n] = 0;
	const char *base = strrchr(name, '/');
	bool hit = base && ((bad.log && strncmp(base, "/log", 4) == 0) || (bad.parts && strstr(base, ".pmem")));
	return hit ? bad.code : 0;
}

static void disk_fails(unsigned percent, bool log, bool parts)
{
	rng_seed(&bad.rng, 5);
	bad.percent = percent;
	bad.log = log;
	bad.parts = parts;
	bad.syncs_only = false;
	bad.code = EIO;
	power.fails = sometimes;
}

static unsigned lives_wanted(void)
{
	const char *e = getenv("PERDURE_CRASH_LIVES");
	return e ? (unsigned)strtoul(e, NULL, 10) : 150;
}

static void test_power_cuts(void **state)
{
	(void)state;
	assert_int_equal(run_lives(lives_wanted(), false), 0);
}

/* The same with one step of the protocol left out must go wrong. */
static void shows(const char *fault)
{
	fault_arm(fault, 0, 1000000000);
	unsigned wrong = run_lives(600, true);
	fault_arm(fault, 0, 0);
	if (!wrong)
		fail_msg("without %s nothing went wrong", fault);
}

static void test_pages_must_wait_for_the_log(void **state)
{
	(void)state;
	shows("ckpt-no-wait");
}

static void test_the_log_position_is_read_after_copying(void **state)
{
	(void)state;
	shows("ckpt-early");
}

static void test_the_log_starts_after_pages_are_synced(void **state)
{
	(void)state;
	shows("ckpt-no-sync");
}

static void test_power_cuts_of_a_failing_disk(void **state)
{
	(void)state;
	disk_fails(2, true, true);
	assert_int_equal(run_lives(lives_wanted() / 3, false), 0);
	disk_fails(25, true, true);
	bad.syncs_only = true;
	assert_int_equal(run_lives(lives_wanted() / 6, false), 0);
}

static void test_after_a_failed_sync_the_log_is_written_again(void **state)
{
	(void)state;
	disk_fails(30, true, false);
	bad.syncs_only = true;
	shows("log-no-rewrite");
}

static void test_after_a_failed_sync_pages_are_written_again(void **state)
{
	(void)state;
	disk_fails(30, false, true);
	bad.syncs_only = true;
	shows("ckpt-no-rewrite");
}

/* Ticks while nothing is expected to become durable. */
static void wait_for(bool (*what)(void))
{
	for (int i = 0; !what(); i++) {
		usleep(1000);
		assert_true(i < 200000); /* minutes: a slow disk is no failure */
	}
}

static bool log_complains(void)
{
	const char *why = st_write_error(w.st);
	return why && strstr(why, "log") && strstr(why, "Input/output error");
}

static bool all_well(void)
{
	return !st_write_error(w.st) && st_durable(w.st) >= w.past[w.ticks].lsn;
}

static void log_fails_for_a_while(enum st_durability d, bool syncs_only)
{
	struct st_options o = options(pool_path);
	o.durability = d;
	world_open(&w, &o);
	for (int i = 0; i < 20; i++)
		world_tick(&w, 8);
	wait_for(all_well);
	uint64_t before = st_durable(w.st);
	disk_fails(100, true, false);
	bad.syncs_only = syncs_only;
	for (int i = 0; i < 20; i++)
		world_tick(&w, 8);
	wait_for(log_complains);
	if (d == ST_DURABLE_ALWAYS || !syncs_only)
		assert_int_equal(st_durable(w.st), before);
	power.fails = NULL;
	wait_for(all_well);
	assert_true(st_durable(w.st) > before);
	for (int i = 0; i < 20; i++)
		world_tick(&w, 8);
	wait_for(all_well);
	st_close(w.st);
	world_open(&w, &o);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

static void test_log_errors_stop_acknowledgements(void **state)
{
	(void)state;
	power_on();
	log_fails_for_a_while(ST_DURABLE_ALWAYS, false);
	log_fails_for_a_while(ST_DURABLE_ALWAYS, true);
	power.no_through = true;
	log_fails_for_a_while(ST_DURABLE_ALWAYS, false);
	log_fails_for_a_while(ST_DURABLE_ALWAYS, true);
	log_fails_for_a_while(ST_DURABLE_EVERYSEC, false);
	log_fails_for_a_while(ST_DURABLE_EVERYSEC, true);
}

static bool pool_complains(void)
{
	const char *why = st_write_error(w.st);
	return why && strstr(why, "nearly full") && strstr(why, "Input/output error");
}

static void test_checkpoint_errors_fill_the_log(void **state)
{
	(void)state;
	struct st_options o = options(pool_path);
	power_on();
	world_open(&w, &o);
	disk_fails(100, false, true);
	unsigned ticks = 0;
	while (!pool_complains()) {
		world_tick(&w, 8);
		usleep(200);
		assert_true(++ticks < 5000);
	}
	assert_true(file()->log.ring.head.start == 0); /* it does not move */
	assert_true(st__log_free(&file()->log) > 0);
	/* A caller that goes on all the same is neither blocked nor cheated. */
	for (int i = 0; i < 150; i++)
		world_tick(&w, 8);
	for (int i = 0; st_durable(w.st) < w.past[w.ticks].lsn; i++) {
		usleep(1000);
		assert_true(i < 200000); /* minutes: a slow disk is no failure */
	}
	assert_non_null(st_write_error(w.st));
	power.fails = NULL;
	wait_for(all_well);
	world_tick(&w, 8);
	wait_for(all_well);
	st_close(w.st);
	world_open(&w, &o);
	struct st_stats s;
	st_stats_get(w.st, &s);
	assert_true(s.was_clean);
	assert_int_equal(world_check(&w, w.ticks), w.ticks);
	st_close(w.st);
}

static void close_with_broken(bool log, bool parts)
{
	struct st_options o = options(pool_path);
	world_open(&w, &o);
	for (int i = 0; i < 20; i++)
		world_tick(&w, 8);
	wait_for(all_well);
	uint64_t acked = w.ticks;
	disk_fails(100, log, parts);
	world_tick(&w, 8);
	st_close(w.st); /* ends, in bounded time */
	power.fails = NULL;
	world_open(&w, &o);
	struct st_stats s;
	st_stats_get(w.st, &s);
	assert_false(s.was_clean);
	world_resume(&w, world_check(&w, acked));
	st_close(w.st);
}

static void test_a_pool_that_cannot_be_written_is_not_closed_cleanly(void **state)
{
	(void)state;
	power_on();
	close_with_broken(false, true);
	close_with_broken(true, false);
	close_with_broken(true, true);
}

static void test_log_larger_than_the_disk(void **state)
{
	(void)state;
	struct st_options o = options(pool_path);
	world_open(&w, &o);
	st_close(w.st);
	o.log_size = 1ull << 50; /* more than any disk has */
	struct errinfo ei = {0};
	assert_false(world_try_open(&w, &o, &ei));
	assert_int_equal(ei.code, ERR_FULL);
	assert_non_null(strstr(ei.msg, "log-size"));
	o.log_size = MIB;
	world_open(&w, &o);
	st_close(w.st);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	const struct CMUnitTest tests[] = {T(test_power_cuts), T(test_pages_must_wait_for_the_log),
		T(test_the_log_position_is_read_after_copying), T(test_the_log_starts_after_pages_are_synced),
		T(test_power_cuts_of_a_failing_disk), T(test_after_a_failed_sync_the_log_is_written_again),
		T(test_after_a_failed_sync_pages_are_written_again), T(test_log_errors_stop_acknowledgements),
		T(test_checkpoint_errors_fill_the_log), T(test_a_pool_that_cannot_be_written_is_not_closed_cleanly),
		T(test_log_larger_than_the_disk)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
