/* A database server without a server: engine, keyspace and store on a simulated medium, one session, and the whole
 * dataset in one number. */
#ifndef TESTS_CRASH_NODE_H
#define TESTS_CRASH_NODE_H

#include "base/buf.h"
#include "commands/cmd.h"
#include "commands/session.h"
#include "store/sim.h"
#include "types/tstr.h"

#include <stdio.h>
#include <string.h>

#define DATABASES 4

struct node {
	struct st_sim *sim;
	struct store *st; /* NULL while it opens */
	struct ks *ks;
	struct engine *e;
	struct session s;
	struct reply_buf rb;
	struct buf out;
};

static inline struct reply *node_no_push(struct session *s)
{
	(void)s;
	return NULL;
}

static inline void node_nothing(struct session *s)
{
	(void)s;
}

static inline const char *node_write_error(void *st)
{
	return st_write_error(st);
}

static inline void node_unit_begin(void *st)
{
	st_unit_begin(st);
}

static inline void node_unit_end(void *st)
{
	st_unit_end(st);
}

static inline void node_unit_undo(void *st)
{
	st_unit_undo(st);
}

static inline bool node_unit_too_big(void *st)
{
	return st_unit_too_big(st);
}

static const struct session_ops node_session_ops = {node_no_push, node_nothing, node_nothing, node_nothing};

/* NULL, or why it does not open; then nothing is held. */
static inline const char *node_open(struct node *n, struct st_sim *sim, int64_t now)
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
	engine_set_pool(n->e, &(struct engine_pool){n->st, node_write_error, node_unit_begin, node_unit_end, node_unit_undo,
		node_unit_too_big});
	engine_tick_begin(n->e, now);
	ks_set_now(n->ks, now);
	session_init(&n->s, n->e, &node_session_ops);
	return NULL;
}

/* As a clean stop ends it, or as a crash does. */
static inline void node_end(struct node *n, bool clean)
{
	session_fini(&n->s);
	engine_free(n->e);
	ks_close(n->ks);
	if (clean)
		st_close(n->st);
	else
		st_abandon(n->st);
	buf_free(&n->out);
	n->st = NULL;
}

/* The answer is in n->out. */
static inline void node_run(struct node *n, const struct bytes *argv, uint32_t argc)
{
	n->out.n = 0;
	reply_buf_init(&n->rb, &n->out, 2);
	engine_run(n->e, &n->s, NULL, argv, argc, 0, false, &n->rb.r);
}

/* ---- the dataset in one number ---- */

static inline void node_digest_key(void *ctx, struct bytes name, enum ks_type type)
{
	struct buf *names = ctx;
	(void)type;
	buf_add(names, &(uint32_t){(uint32_t)name.n}, 4);
	buf_add(names, name.p, name.n);
}

static inline bool node_digest_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	struct buf *b = ctx;
	(void)chunk;
	buf_add(b, p, n);
	return true;
}

/* A hash of database, name, deadline and value. */
static inline uint64_t node_digest_one(struct node *n, unsigned db, struct bytes name, struct buf *whole)
{
	struct ks_ref r;
	struct tstr v;
	if (!ks_peek(n->ks, db, ks_key(n->ks, name), &r))
		return 0xdead; /* the index shows what it does not find */
	int64_t deadline = ks_ref_deadline(&r);
	uint64_t len = name.n;
	tstr_view(&r, &v);
	whole->n = 0;
	buf_add(whole, &db, sizeof(db));
	buf_add(whole, &deadline, sizeof(deadline));
	buf_add(whole, &len, sizeof(len));
	buf_add(whole, name.p, name.n);
	if (v.form == TSTR_INT)
		buf_add(whole, v.b.p, v.b.n);
	else
		tstr_each(&r, &v, 0, v.len, node_digest_piece, whole);
	return st_hash(n->st, whole->p, whole->n);
}

/* Sum over all keys, by SCAN's walk, so a key that it loses shows. */
static inline uint64_t node_digest(struct node *n)
{
	struct buf whole = {0}, names = {0};
	uint64_t sum = 0;
	for (unsigned db = 0; db < DATABASES; db++) {
		uint64_t cursor = 0;
		do {
			names.n = 0;
			cursor = ks_scan(n->ks, db, cursor, 64, node_digest_key, &names);
			for (size_t at = 0; at < names.n;) {
				uint32_t len;
				memcpy(&len, names.p + at, 4);
				sum += node_digest_one(n, db, (struct bytes){names.p + at + 4, len}, &whole);
				at += 4 + len;
			}
		} while (cursor);
		sum += ks_count(n->ks, db) * 0x9E3779B97F4A7C15ull;
	}
	buf_free(&whole);
	buf_free(&names);
	return sum;
}

#endif
