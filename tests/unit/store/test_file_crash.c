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

static uint64_t least_of_shot(void)
{
	uint64_t t = w.ticks;
	while (t > shot.floor && w.past[t].lsn > shot.synced)
		t--;
	return t;
}

/* Whether the open store holds what some tick from `least` on left, whole; *tick_out: which. */
static bool is_right(uint64_t least, uint64_t *tick_out)
{
	struct st_verify v;
	st_verify(w.st, &v);
	const struct root *r = st_root(w.st) ? st_view(w.st, st_root(w.st)) : NULL;
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
	power_forget();
	if (again)
		aim(image_path, second_path, 25, least);
	if (!world_try_open(&w, &o, &ei)) {
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
		if (!world_try_open(&w, &o, &ei)) {
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
	struct st_options o = options(pool_path);
	world_open(&w, &o);
	st_close(w.st);
	w.st = NULL;
	power_on();
	for (unsigned life = 0; life < lives && !(stop && wrong); life++) {
		o.durability = (enum st_durability)(life % 3);
		power.short_writes = life % 4 == 3 ? 5 : 0;
		power_forget();
		uint64_t within = life % 7 == 0 ? 15 : 300;
		if (life % 7 < 2)
			aim(pool_path, image_path, within, w.ticks); /* while it opens, too */
		else
			shot.taken = false;
		world_open(&w, &o);
		file()->dirty_max = 20 + rng_below(&rng, 200); /* pages: checkpoints all the time */
		for (unsigned n = (unsigned)rng_below(&rng, 60); n > 0; n--)
			world_tick(&w, 1 + (unsigned)rng_below(&rng, 12));
		if (life % 7 >= 2)
			aim(pool_path, image_path, within, w.ticks);
		if (life % 7 >= 2)
			shot.floor = 0;
		for (unsigned i = 0; i < 300 && !shot.taken; i++)
			world_tick(&w, 1 + (unsigned)rng_below(&rng, 12));
		st_close(w.st);
		w.st = NULL;
		power.watch = NULL;
		if (shot.taken) {
			taken++;
			if (!image_is_right(least_of_shot()))
				wrong++;
		}
	}
	assert_true(stop || taken > lives / 2);
	st__io_set(NULL);
	return wrong;
}

static unsigned lives_wanted(void)
{
	const char *e = getenv("PERDURE_CRASH_LIVES");
	return e ? (unsigned)strtoul(e, NULL, 10) : 300;
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

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {T(test_power_cuts), T(test_pages_must_wait_for_the_log),
		T(test_the_log_position_is_read_after_copying), T(test_the_log_starts_after_pages_are_synced)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
