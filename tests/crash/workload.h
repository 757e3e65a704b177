/* Random commands of every kind, on a node, and a count of what they made happen, so that a workload that no longer
 * reaches something is noticed. */
#ifndef TESTS_CRASH_WORKLOAD_H
#define TESTS_CRASH_WORKLOAD_H

#include "base/rng.h"
#include "node.h"
#include "store/internal.h"
#include "struct/rope.h"

#include <stdarg.h>
#include <stdlib.h>

#define SEEN \
	X(growths, "extents added") X(spills, "records in slabs") X(full, "OOM errors") X(undone, "units undone") \
	X(ropes, "values above 64 KiB") X(crowds, "ticks with over 1,000 keys in a database") X(flushes, "flushes") \
	X(expired, "keys expired") X(reclaims, "ticks with trees to reclaim") X(pins, "chunks pinned") \
	X(errors, "other errors")
struct seen {
#define X(name, text) uint64_t name;
	SEEN
#undef X
};

#define PINS 8
struct pinned {
	st_off off;
	const void *p;
	size_t n;
	uint64_t hash;
};

struct life {
	struct rng rng;
	struct node n;
	unsigned keys;            /* key space */
	unsigned sizes;           /* of values: a row of the table below */
	bool room;                /* the pool is not a small one */
	unsigned step;            /* they are rounded to: many sizes fill a small pool with slabs half empty */
	int64_t now;
	struct seen *seen;
	struct pinned pin[PINS];  /* what replies on their way to slow readers would hold */
	bool pin_broken;
};

struct words {
	struct bytes v[256];
	char text[256][40];
	uint32_t n;
};

static inline void word(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline void word(struct words *w, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(w->text[w->n], sizeof(w->text[0]), fmt, ap);
	va_end(ap);
	w->v[w->n] = (struct bytes){w->text[w->n], (size_t)n};
	w->n++;
}

static char payload[1 << 18];

static inline void workload_init(void)
{
	struct rng r;
	rng_seed(&r, 99);
	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (char)rng_next(&r);
}

static inline void value(struct words *w, struct life *l)
{
	static const unsigned most[][10] = {
		{4, 20, 64, 64, 64, 64, 200, 200, 200, 600},
		{4, 20, 64, 64, 200, 600, 3000, 9000, 17000, 30000},
		{20, 64, 600, 5000, 8200, 17000, 20000, 40000, 70000, 130000},
	};
	struct rng *r = &l->rng;
	size_t n = rng_below(r, most[l->sizes][rng_below(r, rng_below(r, 4) ? 6 : 10)]);
	n = n / l->step * l->step;
	w->v[w->n++] = (struct bytes){payload + rng_below(r, sizeof(payload) - n), n};
	l->seen->ropes += n > 65536;
}

static inline void key(struct life *l, struct words *w)
{
	word(w, "key:%u", (unsigned)rng_below(&l->rng, l->keys));
}

static inline void number(struct life *l, struct words *w, uint64_t below)
{
	word(w, "%llu", (unsigned long long)rng_below(&l->rng, below));
}

static inline void run(struct life *l, struct words *w)
{
	const struct buf *out = &l->n.out;
	bool exec = w->v[0].n == 4 && memcmp(w->v[0].p, "EXEC", 4) == 0;
	node_run(&l->n, w->v, w->n);
	w->n = 0;
	if (out->n < 4 || out->p[0] != '-')
		return;
	bool oom = memcmp(out->p, "-OOM", 4) == 0;
	l->seen->full += oom;
	l->seen->undone += oom && exec;
	l->seen->errors += !oom;
}

/* ---- pins ---- */

static inline bool pin_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct life *l = ctx;
	struct pinned *x = &l->pin[rng_below(&l->rng, PINS)];
	if (chunk && !x->off && st_pin(l->n.st, chunk)) {
		*x = (struct pinned){chunk, p, n, st_hash(l->n.st, p, n)};
		l->seen->pins++;
	}
	return true;
}

/* What is pinned keeps its bytes, whatever happens to its key. */
static inline void unpin(struct life *l, struct pinned *x)
{
	if (!x->off)
		return;
	if (st_hash(l->n.st, x->p, x->n) != x->hash)
		l->pin_broken = true;
	st_unpin(l->n.st, x->off);
	x->off = 0;
}

static inline void unpin_all(struct life *l)
{
	for (unsigned i = 0; i < PINS; i++)
		unpin(l, &l->pin[i]);
}

static inline void pin_something(struct life *l)
{
	struct ks_ref r;
	struct tstr v;
	struct words w = {.n = 0};
	key(l, &w);
	unpin(l, &l->pin[rng_below(&l->rng, PINS)]);
	if (rng_below(&l->rng, 3) || !ks_peek(l->n.ks, l->n.s.db, ks_key(l->n.ks, w.v[0]), &r))
		return;
	tstr_view(&r, &v);
	if (v.form != TSTR_INT)
		tstr_each(&r, &v, 0, v.len, pin_piece, l);
}

/* ---- commands ---- */

static inline void command_keys(struct life *l, struct words *w)
{
	struct rng *r = &l->rng;
	switch (rng_below(r, 9)) {
	case 0:
		word(w, rng_below(r, 3) ? "RENAME" : "RENAMENX"), key(l, w), key(l, w);
		break;
	case 1:
		word(w, "COPY"), key(l, w), key(l, w), word(w, "DB"), number(l, w, DATABASES), word(w, "REPLACE");
		break;
	case 2:
		word(w, "MOVE"), key(l, w), number(l, w, DATABASES);
		break;
	case 3:
		if (l->keys > 1000 && rng_below(r, 10))
			word(w, "GET"), key(l, w);
		else
			word(w, "SELECT"), number(l, w, DATABASES);
		break;
	case 4:
		word(w, "GETDEL"), key(l, w);
		break;
	case 5:
	case 6:
		word(w, rng_below(r, 2) ? "DEL" : "UNLINK"), key(l, w);
		if (rng_below(r, 4) == 0)
			for (unsigned k = 0; k < 60; k++)
				key(l, w);
		break;
	case 7:
		word(w, "SWAPDB"), number(l, w, DATABASES), number(l, w, DATABASES);
		break;
	default:
		if (rng_below(r, l->keys > 1000 ? 60 : 6) == 0) {
			word(w, rng_below(r, 2) ? "FLUSHDB" : "FLUSHALL");
			l->seen->flushes++;
		} else {
			word(w, "GET"), key(l, w);
		}
	}
}

static inline void command_deadline(struct life *l, struct words *w)
{
	struct rng *r = &l->rng;
	static const char *const when[] = {"NX", "XX", "GT", "LT"};
	switch (rng_below(r, 6)) {
	case 0:
		word(w, "PEXPIREAT"), key(l, w), word(w, "%lld", (long long)(l->now + (int64_t)rng_below(r, 400)));
		break;
	case 1:
		word(w, "SET"), key(l, w), value(w, l), word(w, "PX"), word(w, "%u", 1 + (unsigned)rng_below(r, 500));
		break;
	case 2:
		word(w, "EXPIRE"), key(l, w), number(l, w, 3), word(w, "%s", when[rng_below(r, 4)]);
		break;
	case 3:
		word(w, "GETEX"), key(l, w), word(w, "PX"), word(w, "%u", 1 + (unsigned)rng_below(r, 300));
		break;
	case 4:
		word(w, "SET"), key(l, w), value(w, l), word(w, "KEEPTTL");
		break;
	default:
		word(w, "PERSIST"), key(l, w);
	}
}

static inline void command_string(struct life *l, struct words *w)
{
	struct rng *r = &l->rng;
	switch (rng_below(r, 12)) {
	case 0:
	case 1:
	case 2:
		word(w, "SET"), key(l, w), value(w, l);
		break;
	case 3:
		word(w, "APPEND"), key(l, w), value(w, l);
		break;
	case 4:
		word(w, rng_below(r, 2) ? "INCR" : "DECR"), key(l, w);
		break;
	case 5:
		word(w, rng_below(r, 5) ? "MSET" : "MSETNX");
		for (uint64_t k = 1 + rng_below(r, rng_below(r, l->keys > 1000 ? 2 : 4) ? 4 : 100); k > 0; k--)
			key(l, w), value(w, l);
		break;
	case 6:
	case 7:
		word(w, "SETRANGE"), key(l, w), number(l, w, rng_below(r, 2) ? 200 : 20000), value(w, l);
		break;
	case 8:
		word(w, "SETBIT"), key(l, w), number(l, w, 300000), number(l, w, 2);
		break;
	case 9:
		word(w, "BITOP"), word(w, rng_below(r, 2) ? "OR" : "XOR"), key(l, w), key(l, w), key(l, w);
		break;
	case 10:
		word(w, "INCRBYFLOAT"), key(l, w), word(w, "1.5");
		break;
	default:
		word(w, "BITFIELD"), key(l, w);
		for (unsigned k = 0; k < 3; k++)
			word(w, "INCRBY"), word(w, "u7"), word(w, "#%u", (unsigned)rng_below(r, 20000)), number(l, w, 50);
	}
}

static inline void command(struct life *l, struct words *w)
{
	switch (rng_below(&l->rng, 8)) {
	case 0:
	case 1:
		command_keys(l, w);
		break;
	case 2:
		command_deadline(l, w);
		break;
	default:
		command_string(l, w);
	}
}

/* Changes in every chunk of a long value, each too small to be worth a fresh chunk: what changed outgrows the log's
 * ring, so the record stands in slabs. */
static inline void command_wide(struct life *l)
{
	enum { CHUNKS = 100 };
	struct words w = {.n = 0};
	for (unsigned k = 0; k < CHUNKS; k++) {
		word(&w, "SETRANGE"), word(&w, "wide"), word(&w, "%u", k * ROPE_CHUNK + (unsigned)rng_below(&l->rng, 4000));
		w.v[w.n++] = (struct bytes){payload + rng_below(&l->rng, 60000), ROPE_CHUNK / 2 - 60};
		run(l, &w);
	}
}

static inline void some_commands(struct life *l)
{
	struct words w = {.n = 0};
	struct rng *r = &l->rng;
	for (uint64_t k = 1 + rng_below(r, 5); k > 0; k--) {
		uint64_t block = rng_below(r, 8) == 0 ? 1 + rng_below(r, rng_below(r, 4) ? 5 : 40) : 0;
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
	if (l->room && rng_below(r, 80) == 0)
		command_wide(l);
	if (rng_below(r, 4) == 0)
		pin_something(l);
}

/* One tick, up to its commit. */
static inline void tick(struct life *l)
{
	struct st_stats s;
	struct rng *r = &l->rng;
	l->now += (int64_t)rng_below(r, 8);
	engine_tick_begin(l->n.e, l->now);
	if (rng_below(r, 2))
		st_work(l->n.st, (unsigned)rng_below(r, 40));
	l->seen->expired += ks_expire_due(l->n.ks, 20);
	some_commands(l);
	st_commit(l->n.st);
	st_stats_get(l->n.st, &s);
	l->seen->spills += l->n.st->spill_hold_n[0] != 0;
	l->seen->reclaims += s.reclaim_pending != 0;
	for (unsigned db = 0; db < DATABASES; db++)
		if (ks_count(l->n.ks, db) > 1000) {
			l->seen->crowds++;
			break;
		}
}

#endif
