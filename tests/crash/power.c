/* Simulated power loss under the whole keyspace. Random commands run on the simulated medium; at random events (a
 * store, flush, fence) the memory is taken as a power cut would leave it, in every directed way and at random; each
 * image is opened, verified, and its dataset compared with what it was after the tick before and after the tick under
 * way: it must be one of them, and the later one once that was acknowledged. Some lives go on from what a cut has left,
 * and are cut while they open it.
 *
 *   power [-images N] [-seed S] [-seconds T] [-teeth 1]
 *
 * Prints what it did and ends with "N passed, M failed". With -teeth (a build with PERDURE_FAULTS) the store is broken
 * on purpose in each way it knows, and each must be caught. */
#include "base/mem.h"
#include "workload.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POOL_MAX (16u << 20)
#define T0 1700000000000ll
#define FAILURES_MAX 10
#define OPENING UINT64_MAX

static uint64_t images, failures, lives, reopened;
static struct seen seen;

/* ---- cuts ---- */

/* An image, opened. */
struct found {
	bool bad;
	uint64_t earlier, later; /* digests: as of the tick before, and of the one under way */
	char why[1000];
};

struct cut {
	struct life *l;
	struct rng rng;
	uint64_t pool;       /* bytes */
	uint64_t seed;
	uint64_t at;         /* event; UINT64_MAX: none is waited for */
	int64_t before_ms;   /* time of the tick before */
	bool taken, acked;
	uint64_t seq;        /* acknowledged before; or: the store opens or closes, and cannot be asked */
	struct found found[ST_SIM_SUBSETS];
	unsigned chosen;     /* subset that the life goes on from; ST_SIM_SUBSETS: none */
	char *next;          /* that image */
};

/* A power cut in the middle of opening an image: what that leaves takes its place. */
struct recut {
	struct st_sim *sim;
	struct rng *rng;
	uint64_t at;
	bool taken;
	char *view;
};

static void watch_recovery(void *ctx, enum st_sim_event ev)
{
	struct recut *r = ctx;
	(void)ev;
	if (r->taken || st_sim_events(r->sim) < r->at)
		return;
	st_sim_image(r->sim, (enum st_sim_subset)rng_below(r->rng, ST_SIM_SUBSETS), r->rng, r->view);
	r->taken = true;
}

/* Three views of one image: one is opened, one is its medium, and one becomes what the cut leaves of that. */
static char *cut_recovery(struct cut *c, enum st_sim_subset subset)
{
	struct st_sim *sim = c->l->n.sim;
	char *view[3];
	struct rng same = c->rng;
	for (int i = 0; i < 3; i++) {
		c->rng = same;
		view[i] = st_sim_view(sim);
		st_sim_cut(sim, subset, &c->rng, view[i]);
	}
	struct recut r = {.sim = st_sim_in(c->pool, view[0], view[1]), .rng = &c->rng, .at = 1 + rng_below(&c->rng, 40),
		.view = view[2]};
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = r.sim};
	struct store *st;
	st_sim_watch(r.sim, watch_recovery, &r);
	if (!st_open(&o, &st, NULL)) {
		st_sim_watch(r.sim, NULL, NULL);
		st_abandon(st);
	}
	st_sim_free(r.sim);
	st_sim_unview(sim, view[0]);
	st_sim_unview(sim, view[1]);
	return view[2];
}

/* ---- what an image must be ---- */

static const char *check(struct node *n)
{
	static char why[900];
	struct st_verify v;
	st_verify(n->st, &v);
	const char *bad = v.errors ? NULL : ks_check(n->ks);
	if (!v.errors && !bad)
		return NULL;
	snprintf(why, sizeof(why), "verifier: %" PRIu64 " errors %s; keyspace: %s", v.errors, v.first, bad ? bad : "-");
	return why;
}

/* It goes on working. */
static const char *go_on(struct cut *c, struct node *n)
{
	struct seen own = {0};
	struct life l = {.n = *n, .keys = 50, .sizes = 1, .step = 1, .now = c->l->now, .seen = &own};
	rng_seed(&l.rng, rng_next(&c->rng));
	for (int k = 0; k < 3; k++)
		tick(&l);
	unpin_all(&l);
	*n = l.n;
	const char *bad = check(n);
	return l.pin_broken ? "a pinned chunk has changed" : bad;
}

/* Opens an image and says what it holds. */
static void examine(struct cut *c, char *image, struct found *f)
{
	struct node n;
	struct st_sim *sim = st_sim_over(c->pool, image);
	const char *bad = node_open(&n, sim, c->before_ms), *when = "";
	if (!bad) {
		st_commit(n.st); /* of a new pool: the empty dataset */
		bad = check(&n);
		/* What has expired by then is not in a digest, so each is taken at its own time. */
		f->earlier = bad ? 0 : node_digest(&n);
		engine_tick_begin(n.e, c->l->now);
		f->later = bad ? 0 : node_digest(&n);
		if (!bad && (bad = go_on(c, &n)) != NULL)
			when = "after recovery: ";
		node_end(&n, false);
	}
	f->bad = bad != NULL;
	if (bad)
		snprintf(f->why, sizeof(f->why), "%s%s", when, bad);
	st_sim_free(sim);
}

static void watch(void *ctx, enum st_sim_event ev)
{
	struct cut *c = ctx;
	struct st_sim *sim = c->l->n.sim;
	(void)ev;
	if (c->taken || st_sim_events(sim) < c->at)
		return;
	c->taken = true;
	c->acked = c->seq != OPENING && st_durable(c->l->n.st) > c->seq;
	c->chosen = (unsigned)rng_below(&c->rng, ST_SIM_SUBSETS * 4);
	for (unsigned k = 0; k < ST_SIM_SUBSETS; k++, images++) {
		char *view;
		if (rng_below(&c->rng, 3) == 0) {
			view = cut_recovery(c, (enum st_sim_subset)k);
		} else {
			view = st_sim_view(sim);
			st_sim_cut(sim, (enum st_sim_subset)k, &c->rng, view);
		}
		if (c->chosen == k)
			memcpy(c->next, view, c->pool);
		examine(c, view, &c->found[k]);
		st_sim_unview(sim, view);
	}
}

static void failed(const struct cut *c, const char *where, const char *why)
{
	if (failures++ < FAILURES_MAX)
		printf("seed %" PRIu64 " %s: %s\n", c->seed, where, why);
}

/* Judges the images of a cut, if one was taken, by the digests before and after the tick it fell into. True: the life
 * shall go on from `next`. */
static bool settle(struct cut *c, uint64_t before, uint64_t after)
{
	static const char *const subset[] = {"nothing", "everything", "log only", "all but log", "all but one", "random"};
	uint64_t at = c->at;
	c->at = UINT64_MAX;
	if (!c->taken)
		return false;
	c->taken = false;
	for (unsigned k = 0; k < ST_SIM_SUBSETS; k++) {
		const struct found *f = &c->found[k];
		char where[80];
		const char *bad = f->bad ? f->why : NULL;
		if (!bad && f->later != after && (c->acked || f->earlier != before))
			bad = f->earlier == before ? "an acknowledged tick is lost" : "the dataset is not a whole tick's";
		snprintf(where, sizeof(where), "event %" PRIu64 " (%s%s)", at, subset[k], c->acked ? ", acknowledged" : "");
		if (bad)
			failed(c, where, bad);
	}
	return c->chosen < ST_SIM_SUBSETS;
}

/* ---- lives ---- */

/* A cut so many events from now, often soon. */
static void arm(struct cut *c, uint64_t soon)
{
	c->at = st_sim_events(c->l->n.sim) + 1 + rng_below(&c->rng, rng_below(&c->rng, 2) ? soon : 20);
}

/* Opens the pool that stands in sim, being cut on the way, maybe. */
static bool begin(struct cut *c, struct st_sim *sim)
{
	struct life *l = c->l;
	l->n = (struct node){.sim = sim};
	st_sim_watch(sim, watch, c);
	c->before_ms = l->now;
	c->seq = OPENING;
	arm(c, 40);
	if (c->at < 2)
		c->at = 2; /* event 1 writes a new pool's superblock, which others do under another name */
	const char *bad = node_open(&l->n, sim, l->now);
	if (bad) {
		failed(c, "(opening)", bad);
		st_sim_free(sim);
		return false;
	}
	st_commit(l->n.st);
	uint64_t now = node_digest(&l->n);
	settle(c, now, now);
	return true;
}

/* Ends the pool, as a stop does (being cut on the way, maybe) or by leaving its memory. */
static void end(struct cut *c, bool clean)
{
	struct life *l = c->l;
	unpin_all(l);
	uint64_t now = clean ? node_digest(&l->n) : 0;
	c->before_ms = l->now;
	c->seq = OPENING;
	if (clean)
		arm(c, 10);
	node_end(&l->n, clean);
	c->acked = true;
	settle(c, now, now);
}

static bool go_on_from_image(struct cut *c)
{
	struct st_sim *old = c->l->n.sim;
	end(c, false);
	st_sim_free(old);
	reopened++;
	return begin(c, st_sim_new(c->pool, c->next));
}

static bool stop_and_start(struct cut *c)
{
	struct st_sim *sim = c->l->n.sim;
	end(c, true);
	reopened++;
	return begin(c, sim);
}

static void extents_seen(struct cut *c)
{
	struct st_stats s;
	st_stats_get(c->l->n.st, &s);
	seen.growths += s.growths;
}

static void live(struct cut *c, uint64_t most)
{
	struct life *l = c->l;
	if (!begin(c, st_sim_new(c->pool, NULL)))
		return;
	for (unsigned n = 0; n < 1200 && images < most && failures < FAILURES_MAX; n++) {
		uint64_t before = 0, after = 0;
		if (n > 20 && rng_below(&c->rng, 6) == 0) {
			before = node_digest(&l->n);
			c->before_ms = l->now;
			c->seq = st_durable(l->n.st);
			arm(c, 300);
		}
		tick(l);
		if (c->taken)
			after = node_digest(&l->n);
		else
			c->at = UINT64_MAX;
		st_commit(l->n.st); /* the digest may have met expired keys */
		if (l->pin_broken) {
			failed(c, "(pins)", "a pinned chunk has changed");
			break;
		}
		bool ok = true, from_image = settle(c, before, after), restart = rng_below(&c->rng, 150) == 0;
		if (from_image || restart)
			extents_seen(c);
		if (from_image)
			ok = go_on_from_image(c);
		else if (restart)
			ok = stop_and_start(c);
		if (!ok)
			return;
	}
	extents_seen(c);
	struct st_sim *sim = l->n.sim;
	end(c, false);
	st_sim_free(sim);
}

static void life(uint64_t seed, uint64_t most)
{
	static const unsigned spaces[] = {20, 200, 200, 1500, 5000};
	struct life l = {.now = T0, .seen = &seen};
	struct cut c = {.l = &l, .seed = seed, .at = UINT64_MAX};
	rng_seed(&l.rng, seed);
	rng_seed(&c.rng, seed * 7919);
	unsigned space = (unsigned)rng_below(&l.rng, 5);
	l.keys = spaces[space];
	l.sizes = space >= 3 ? (unsigned)rng_below(&l.rng, 2) : (unsigned)rng_below(&l.rng, 3);
	static const uint64_t pools[] = {4u << 20, 8u << 20, 8u << 20, POOL_MAX};
	l.step = rng_below(&l.rng, 4) ? 100 : 1;
	c.pool = pools[rng_below(&l.rng, 4)];
	l.room = c.pool > pools[0];
	c.next = mem_alloc(POOL_MAX);
	live(&c, most);
	mem_free(c.next);
	lives++;
}

#ifdef PERDURE_FAULTS
/* A broken store may do anything, so it runs in a process of its own. True when it was caught. */
static bool caught(enum st__broken what, uint64_t most)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(0);
		alarm(120);
		st__broken = what;
		for (uint64_t seed = 1; images < most && !failures; seed++)
			life(seed, most);
		_exit(failures != 0);
	}
	int status = 0;
	waitpid(pid, &status, 0);
	return status != 0;
}

static int teeth(void)
{
	static const char *const name[] = {[ST__BROKEN_DROP_FLUSH] = "one flush in four is left out",
		[ST__BROKEN_DROP_FENCE] = "the first fence is left out",
		[ST__BROKEN_APPLY_FIRST] = "applied before it is logged",
		[ST__BROKEN_REPLAY_OLDER] = "an older record is replayed",
		[ST__BROKEN_SKIP_SUM] = "the checksum is not looked at",
		[ST__BROKEN_REUSE_EARLY] = "freed memory is reused in the same tick"};
	unsigned passed = 0, not_caught = 0;
	for (unsigned k = 1; k < sizeof(name) / sizeof(*name); k++) {
		bool ok = caught((enum st__broken)k, 6000);
		printf("%s: %s\n", name[k], ok ? "caught" : "NOT CAUGHT");
		*(ok ? &passed : &not_caught) += 1;
	}
	printf("%u passed, %u failed\n", passed, not_caught);
	return not_caught != 0;
}
#endif

/* Says what the workload has reached; in a run that is long enough, what it has not is a failure. */
static unsigned missed(void)
{
	unsigned n = 0;
#define X(name, text) \
	printf("  %-42s %" PRIu64 "\n", text, seen.name); \
	n += seen.name == 0;
	SEEN
#undef X
	return images >= 10000 ? n : 0;
}

int main(int argc, char **argv)
{
	uint64_t most = 20000, seed = 1, seconds = 0;
	workload_init();
	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t v = strtoull(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "-images") == 0)
			most = v;
		else if (strcmp(argv[i], "-seed") == 0)
			seed = v;
		else if (strcmp(argv[i], "-seconds") == 0)
			seconds = v;
#ifdef PERDURE_FAULTS
		else if (strcmp(argv[i], "-teeth") == 0 && v)
			return teeth();
#endif
	}
	time_t until = seconds ? time(NULL) + (time_t)seconds : 0;
	for (; images < most && failures < FAILURES_MAX && (!until || time(NULL) < until); seed++)
		life(seed, most);
	printf("%" PRIu64 " crash images of %" PRIu64 " lives, %" PRIu64 " openings within them\n", images, lives,
		reopened);
	unsigned unseen = missed();
	if (unseen)
		printf("the workload no longer reaches %u of these\n", unseen);
	failures += unseen;
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", images, failures);
	return failures != 0;
}
