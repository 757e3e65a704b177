/* Simulated power loss under the whole keyspace. Random commands run on the simulated medium; at random events (a
 * store, flush, fence) the memory is taken as a power cut would leave it, in every directed way and at random; each image is
 * opened, verified, and its dataset compared with what it was after the tick before and after the tick under way: it must be
 * one of them, and the later one once that was acknowledged.
 *
 *   power [-images N] [-seed S] [-teeth 1]
 *
 * Prints what it did and ends with "N passed, M failed". With -teeth (a build with PERDURE_FAULTS) the store is broken
 * on purpose in each way it knows, and each must be caught. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "commands/cmd.h"
#include "commands/session.h"
#include "store/internal.h"
#include "store/sim.h"
#include "types/tstr.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define POOL (4u << 20)
#define DATABASES 4
#define T0 1700000000000ll

/* ---- a database server without a server ---- */

struct node {
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	struct engine *e;
	struct session s;
	struct reply_buf rb;
	struct buf out;
};

static struct reply *no_push(struct session *s)
{
	(void)s;
	return NULL;
}

static void nothing(struct session *s)
{
	(void)s;
}

static const char *pool_write_error(void *st)
{
	return st_write_error(st);
}

static void unit_begin(void *st)
{
	st_unit_begin(st);
}

static void unit_end(void *st)
{
	st_unit_end(st);
}

static void unit_undo(void *st)
{
	st_unit_undo(st);
}

static bool unit_too_big(void *st)
{
	return st_unit_too_big(st);
}

static const struct session_ops ops = {no_push, nothing, nothing, nothing};

static const char *node_open(struct node *n, struct st_sim *sim, int64_t now)
{
	static char why[700];
	struct errinfo ei = {0};
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = sim};
	*n = (struct node){.sim = sim};
	if (st_open(&o, &n->st, &ei)) {
		snprintf(why, sizeof(why), "open refuses: %s", ei.msg);
		return why;
	}
	ks_register(n->st);
	if (ks_open(n->st, &(struct ks_options){.databases = DATABASES}, &n->ks, &ei)) {
		snprintf(why, sizeof(why), "keyspace refuses: %s", ei.msg);
		st_abandon(n->st);
		return why;
	}
	n->e = engine_new(n->ks);
	engine_register_builtin(n->e);
	engine_set_pool(n->e, &(struct engine_pool){n->st, pool_write_error, unit_begin, unit_end, unit_undo, unit_too_big});
	engine_tick_begin(n->e, now);
	ks_set_now(n->ks, now);
	session_init(&n->s, n->e, &ops);
	reply_buf_init(&n->rb, &n->out, 2);
	return NULL;
}

static void node_abandon(struct node *n)
{
	session_fini(&n->s);
	engine_free(n->e);
	ks_close(n->ks);
	st_abandon(n->st);
	buf_free(&n->out);
}

/* ---- the dataset in one number ---- */

struct digest {
	struct node *n;
	unsigned db;
	uint64_t sum, keys;
	struct buf name;
};

static void digest_key(void *ctx, struct bytes name, enum ks_type type)
{
	struct digest *d = ctx;
	(void)type;
	buf_add(&d->name, &(uint32_t){(uint32_t)name.n}, 4);
	buf_add(&d->name, name.p, name.n);
}

static bool digest_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct buf *b = ctx;
	(void)chunk;
	buf_add(b, p, n);
	return true;
}

/* Sum over all keys of a hash of database, name, deadline and value. Uses SCAN's walk, so a key it loses shows. */
static uint64_t digest(struct node *n)
{
	struct digest d = {.n = n};
	struct buf whole = {0};
	for (d.db = 0; d.db < DATABASES; d.db++) {
		uint64_t cursor = 0;
		do {
			d.name.n = 0;
			cursor = ks_scan(n->ks, d.db, cursor, 64, digest_key, &d);
			for (size_t at = 0; at < d.name.n;) {
				uint32_t len;
				struct ks_ref r;
				struct tstr v;
				memcpy(&len, d.name.p + at, 4);
				struct bytes name = {d.name.p + at + 4, len};
				at += 4 + len;
				if (!ks_peek(n->ks, d.db, ks_key(n->ks, name), &r)) {
					d.sum ^= 0xdead;
					continue;
				}
				int64_t deadline = ks_ref_deadline(&r);
				tstr_view(&r, &v);
				whole.n = 0;
				buf_add(&whole, &d.db, sizeof(d.db));
				buf_add(&whole, &deadline, sizeof(deadline));
				buf_add(&whole, &len, 4);
				buf_add(&whole, name.p, name.n);
				if (v.form == TSTR_INT)
					buf_add(&whole, v.b.p, v.b.n);
				else
					tstr_each(&r, &v, 0, v.len, digest_piece, &whole);
				d.sum += st_hash(n->st, whole.p, whole.n);
				d.keys++;
			}
		} while (cursor);
		d.sum += ks_count(n->ks, d.db) * 0x9E3779B97F4A7C15ull;
	}
	buf_free(&whole);
	buf_free(&d.name);
	return d.sum;
}

/* ---- random commands ---- */

struct words {
	struct bytes v[256];
	char text[256][40];
	uint32_t n;
};

static void word(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void word(struct words *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(w->text[w->n], sizeof(w->text[0]), fmt, ap);
	va_end(ap);
	w->v[w->n] = (struct bytes){w->text[w->n], (size_t)n};
	w->n++;
}

static char payload[1 << 16];

static void value(struct words *w, struct rng *r)
{
	static const unsigned most[] = {4, 20, 64, 64, 200, 600, 3000, 17000, 30000};
	size_t n = rng_below(r, most[rng_below(r, rng_below(r, 4) ? 6 : 9)]);
	w->v[w->n++] = (struct bytes){payload + rng_below(r, sizeof(payload) - n), n};
}

struct life {
	struct rng rng;
	struct node n;
	unsigned keys;       /* key space */
	int64_t now;
};

static void key(struct life *l, struct words *w)
{
	word(w, "key:%u", (unsigned)rng_below(&l->rng, l->keys));
}

static void run(struct life *l, struct words *w)
{
	l->n.out.n = 0;
	engine_run(l->n.e, &l->n.s, NULL, w->v, w->n, 0, false, &l->n.rb.r);
	w->n = 0;
}

static void command_misc(struct life *l, struct words *w)
{
	struct rng *r = &l->rng;
	switch (rng_below(r, 12)) {
	case 0:
		word(w, "SETRANGE"), key(l, w), word(w, "%u", (unsigned)rng_below(r, 20000)), value(w, r);
		break;
	case 1:
		word(w, "RENAME"), key(l, w), key(l, w);
		break;
	case 2:
		word(w, "COPY"), key(l, w), key(l, w), word(w, "DB"), word(w, "%u", (unsigned)rng_below(r, DATABASES)),
			word(w, "REPLACE");
		break;
	case 3:
		word(w, "MOVE"), key(l, w), word(w, "%u", (unsigned)rng_below(r, DATABASES));
		break;
	case 4:
		word(w, "PEXPIREAT"), key(l, w), word(w, "%lld", (long long)(l->now + (int64_t)rng_below(r, 400)));
		break;
	case 5:
		word(w, "SETBIT"), key(l, w), word(w, "%u", (unsigned)rng_below(r, 300000)), word(w, "%u", (unsigned)rng_below(r, 2));
		break;
	case 6:
		word(w, "SELECT"), word(w, "%u", (unsigned)rng_below(r, DATABASES));
		break;
	case 7:
		word(w, "GETDEL"), key(l, w);
		break;
	case 8:
		word(w, "SET"), key(l, w), value(w, r), word(w, "PX"), word(w, "%u", 1 + (unsigned)rng_below(r, 500));
		break;
	case 9:
		word(w, "BITOP"), word(w, "OR"), key(l, w), key(l, w), key(l, w);
		break;
	case 10:
		word(w, rng_below(r, 6) ? "PERSIST" : "INCRBYFLOAT"), key(l, w);
		if (w->v[0].n == 11)
			word(w, "1.5");
		break;
	default:
		if (rng_below(r, 12) == 0)
			word(w, rng_below(r, 2) ? "FLUSHDB" : "FLUSHALL");
		else if (rng_below(r, 4) == 0)
			word(w, "SWAPDB"), word(w, "%u", (unsigned)rng_below(r, DATABASES)), word(w, "%u", (unsigned)rng_below(r, DATABASES));
		else
			word(w, "GET"), key(l, w);
	}
}

static void command(struct life *l, struct words *w)
{
	struct rng *r = &l->rng;
	switch (rng_below(r, 8)) {
	case 0:
	case 1:
		word(w, "SET"), key(l, w), value(w, r);
		break;
	case 2:
		word(w, "DEL"), key(l, w);
		if (rng_below(r, 4) == 0)
			for (unsigned k = 0; k < 60; k++)
				key(l, w);
		break;
	case 3:
		word(w, "APPEND"), key(l, w), value(w, r);
		break;
	case 4:
		word(w, "INCR"), key(l, w);
		break;
	case 5:
		word(w, "MSET");
		for (uint64_t k = 1 + rng_below(r, rng_below(r, 4) ? 4 : 100); k > 0; k--)
			key(l, w), value(w, r);
		break;
	default:
		command_misc(l, w);
	}
}

static void some_commands(struct life *l)
{
	struct words w = {.n = 0};
	for (uint64_t k = 1 + rng_below(&l->rng, 5); k > 0; k--) {
		uint64_t block = rng_below(&l->rng, 8) == 0 ? 1 + rng_below(&l->rng, 5) : 0;
		if (block) {
			word(&w, "MULTI");
			run(l, &w);
		}
		for (uint64_t b = block ? block : 1; b > 0; b--) {
			command(l, &w);
			run(l, &w);
		}
		if (block) {
			word(&w, "EXEC");
			run(l, &w);
		}
	}
}

/* ---- cuts ---- */

struct cut {
	struct life *l;
	struct rng rng;
	uint64_t at;
	bool taken, acked;
	uint64_t seq;
	char *image[ST_SIM_SUBSETS];
};

static void watch(void *ctx, enum st_sim_event ev)
{
	struct cut *c = ctx;
	(void)ev;
	if (c->taken || st_sim_events(c->l->n.sim) < c->at)
		return;
	for (int k = 0; k < ST_SIM_SUBSETS; k++)
		st_sim_image(c->l->n.sim, (enum st_sim_subset)k, &c->rng, c->image[k]);
	c->taken = true;
	c->acked = st_durable(c->l->n.st) > c->seq;
}

/* A power cut in the middle of opening the image: what that leaves takes its place. */
struct recut {
	struct st_sim *sim;
	struct rng *rng;
	uint64_t at;
	bool taken;
	char *image;
};

static void watch_recovery(void *ctx, enum st_sim_event ev)
{
	struct recut *r = ctx;
	(void)ev;
	if (r->taken || st_sim_events(r->sim) < r->at)
		return;
	st_sim_image(r->sim, (enum st_sim_subset)rng_below(r->rng, ST_SIM_SUBSETS), r->rng, r->image);
	r->taken = true;
}

static void cut_recovery(struct rng *rng, char *image)
{
	struct recut r = {.sim = st_sim_new(POOL, image), .rng = rng, .at = 1 + rng_below(rng, 40), .image = image};
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = r.sim};
	struct store *st;
	st_sim_watch(r.sim, watch_recovery, &r);
	if (!st_open(&o, &st, NULL)) {
		st_sim_watch(r.sim, NULL, NULL);
		st_abandon(st);
	}
	st_sim_free(r.sim);
}

/* Opens an image, once more after a cut in the recovery. NULL or what is wrong. */
static const char *examine(struct cut *c, char *image, uint64_t before, int64_t before_ms, uint64_t after, int64_t now)
{
	static char why[900];
	struct node n;
	if (rng_below(&c->rng, 3) == 0)
		cut_recovery(&c->rng, image);
	struct st_sim *sim = st_sim_over(POOL, image);
	const char *bad = node_open(&n, sim, before_ms);
	if (bad) {
		st_sim_free(sim);
		return bad;
	}
	struct st_verify v;
	st_verify(n.st, &v);
	if (v.errors) {
		snprintf(why, sizeof(why), "verifier: %" PRIu64 " errors: %s", v.errors, v.first);
		bad = why;
	}
	if (!bad && (bad = ks_check(n.ks)) != NULL) {
		snprintf(why, sizeof(why), "keyspace: %s", bad);
		bad = why;
	}
	if (!bad) {
		/* What has expired by then is not in a digest, so each is taken at its own time. */
		uint64_t earlier = digest(&n);
		engine_tick_begin(n.e, now);
		if (digest(&n) != after && (c->acked || earlier != before))
			bad = earlier == before ? "an acknowledged tick is lost" : "the dataset is not a whole tick's";
	}
	if (!bad) {
		/* It goes on working. */
		struct life l = {.n = n, .keys = 50, .now = now};
		rng_seed(&l.rng, rng_next(&c->rng));
		for (int k = 0; k < 3; k++) {
			st_work(n.st, 50);
			some_commands(&l);
			st_commit(n.st);
		}
		n = l.n;
		st_verify(n.st, &v);
		if (v.errors || ks_check(n.ks))
			bad = "work after recovery breaks it";
	}
	node_abandon(&n);
	st_sim_free(sim);
	return bad;
}

static uint64_t images, failures;

static void life(uint64_t seed, uint64_t most)
{
	struct life l = {.now = T0};
	struct cut c = {.l = &l};
	static const unsigned spaces[] = {20, 200, 200, 1500, 4000};
	rng_seed(&l.rng, seed);
	rng_seed(&c.rng, seed * 7919);
	l.keys = spaces[rng_below(&l.rng, 5)];
	for (int k = 0; k < ST_SIM_SUBSETS; k++)
		c.image[k] = mem_alloc(POOL);
	struct st_sim *sim = st_sim_new(POOL, NULL);
	const char *bad = node_open(&l.n, sim, l.now);
	if (bad) {
		printf("seed %" PRIu64 ": %s\n", seed, bad);
		exit(2);
	}
	st_commit(l.n.st);
	uint64_t after = digest(&l.n);
	c.at = 1 + rng_below(&l.rng, 300);
	st_sim_watch(sim, watch, &c);
	for (unsigned tick = 0; tick < 1500 && images < most; tick++) {
		uint64_t before = after;
		int64_t before_ms = l.now;
		c.seq = st_durable(l.n.st);
		l.now += (int64_t)rng_below(&l.rng, 8);
		engine_tick_begin(l.n.e, l.now);
		if (rng_below(&l.rng, 2))
			st_work(l.n.st, (unsigned)rng_below(&l.rng, 40));
		ks_expire_due(l.n.ks, 20);
		some_commands(&l);
		st_commit(l.n.st);
		after = digest(&l.n);
		st_commit(l.n.st);
		if (!c.taken)
			continue;
		for (int k = 0; k < ST_SIM_SUBSETS; k++, images++) {
			bad = examine(&c, c.image[k], before, before_ms, after, l.now);
			if (bad && failures++ < 10)
				printf("seed %" PRIu64 " tick %u subset %d acked %d: %s\n", seed, tick, k, c.acked, bad);
		}
		if (failures >= 10)
			break;
		c.taken = false;
		c.at = st_sim_events(sim) + 1 + rng_below(&l.rng, rng_below(&l.rng, 2) ? 400 : 20);
	}
	st_sim_watch(sim, NULL, NULL);
	node_abandon(&l.n);
	st_sim_free(sim);
	for (int k = 0; k < ST_SIM_SUBSETS; k++)
		mem_free(c.image[k]);
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
		[ST__BROKEN_DROP_FENCE] = "the first fence is left out", [ST__BROKEN_APPLY_FIRST] = "applied before it is logged",
		[ST__BROKEN_REPLAY_OLDER] = "an older record is replayed", [ST__BROKEN_SKIP_SUM] = "the checksum is not looked at",
		[ST__BROKEN_REUSE_EARLY] = "freed memory is reused in the same tick"};
	unsigned passed = 0, failed = 0;
	for (unsigned k = 1; k < sizeof(name) / sizeof(*name); k++) {
		bool ok = caught((enum st__broken)k, 6000);
		printf("%s: %s\n", name[k], ok ? "caught" : "NOT CAUGHT");
		*(ok ? &passed : &failed) += 1;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
#endif

int main(int argc, char **argv)
{
	uint64_t most = 20000, first = 1, seed;
	struct rng r;
	rng_seed(&r, 99);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (char)rng_next(&r);
	for (int i = 1; i + 1 < argc; i += 2) {
		uint64_t v = strtoull(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "-images") == 0)
			most = v;
		else if (strcmp(argv[i], "-seed") == 0)
			first = v;
#ifdef PERDURE_FAULTS
		else if (strcmp(argv[i], "-teeth") == 0 && v)
			return teeth();
#endif
	}
	for (seed = first; images < most && failures < 10; seed++)
		life(seed, most);
	printf("%" PRIu64 " crash images of %" PRIu64 " lives\n", images, seed - first);
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", images - failures, failures);
	return failures != 0;
}
