/* An engine on a keyspace in simulated memory, and clients that are only sessions. Answers come back as RESP text. */
#ifndef TESTS_COMMANDS_FIXTURE_H
#define TESTS_COMMANDS_FIXTURE_H

#include "base/check.h"
#include "base/mem.h"
#include "commands/cmd.h"
#include "commands/internal.h"
#include "commands/session.h"
#include "store/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define FIX_NOW 1700000000000
#define FIX_ARGS_MAX 32

struct fix {
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	struct engine *e;
	struct session a, b; /* two clients */
	struct buf out, form;
	int64_t now;
	int closes, kills, resets;
};

static struct fix *fix_now; /* of the running test: session_ops have no other way to it */

static void fix_close_after_reply(struct session *s)
{
	(void)s;
	fix_now->closes++;
}

static void fix_kill(struct session *s)
{
	(void)s;
	fix_now->kills++;
}

static void fix_reset(struct session *s)
{
	(void)s;
	fix_now->resets++;
}

static const struct session_ops fix_session_ops = {
	.close_after_reply = fix_close_after_reply, .kill = fix_kill, .reset = fix_reset
};

static inline const char *fix_write_error(void *st)
{
	return st_write_error(st);
}

static inline void fix_unit_begin(void *st)
{
	st_unit_begin(st);
}

static inline void fix_unit_end(void *st)
{
	st_unit_end(st);
}

static inline void fix_unit_undo(void *st)
{
	st_unit_undo(st);
}

static inline bool fix_unit_too_big(void *st)
{
	return st_unit_too_big(st);
}

/* An engine without a keyspace: for what touches no key. */
static inline void fix_open_bare(struct fix *f)
{
	memset(f, 0, sizeof(*f));
	fix_now = f;
	f->now = FIX_NOW;
	f->e = engine_new(NULL);
	session_init(&f->a, f->e, &fix_session_ops);
	session_init(&f->b, f->e, &fix_session_ops);
}

static inline void fix_open_sized(struct fix *f, uint64_t bytes)
{
	memset(f, 0, sizeof(*f));
	fix_now = f;
	f->now = FIX_NOW;
	f->sim = st_sim_new(bytes, NULL);
	struct st_options o = {.path = "sim", .medium = ST_MEDIUM_SIM, .sim = f->sim};
	struct errinfo ei = {0};
	assert_int_equal(st_open(&o, &f->st, &ei), ERR_OK);
	ks_register(f->st);
	const struct ks_options ko = {.databases = 16};
	assert_int_equal(ks_open(f->st, &ko, &f->ks, &ei), ERR_OK);
	st_commit(f->st);
	f->e = engine_new(f->ks);
	engine_register_builtin(f->e);
	const struct engine_pool pool = {.ctx = f->st, .write_error = fix_write_error, .unit_begin = fix_unit_begin,
		.unit_end = fix_unit_end, .unit_undo = fix_unit_undo, .unit_too_big = fix_unit_too_big};
	engine_set_pool(f->e, &pool);
	engine_tick_begin(f->e, f->now);
	session_init(&f->a, f->e, &fix_session_ops);
	session_init(&f->b, f->e, &fix_session_ops);
}

static inline void fix_open(struct fix *f)
{
	fix_open_sized(f, 16 << 20);
}

/* Ends the tick and begins one this many ms later. */
static inline void fix_tick(struct fix *f, int64_t later)
{
	f->now += later;
	if (f->st != NULL)
		st_commit(f->st);
	engine_tick_begin(f->e, f->now);
}

static inline void fix_close(struct fix *f)
{
	session_fini(&f->a);
	session_fini(&f->b);
	engine_free(f->e);
	if (f->ks != NULL) {
		st_commit(f->st);
		const char *wrong = ks_check(f->ks);
		if (wrong != NULL)
			fail_msg("%s", wrong);
		struct st_verify v;
		st_verify(f->st, &v);
		if (v.errors != 0)
			fail_msg("%s", v.first);
		ks_close(f->ks);
		st_close(f->st);
		st_sim_free(f->sim);
	}
	buf_free(&f->out);
	buf_free(&f->form);
}

/* Runs argv for s; the answer is valid until the next run. */
static inline const char *fix_runv(struct fix *f, struct session *s, const struct bytes *argv, uint32_t argc)
{
	struct reply_buf rb;
	f->out.n = 0;
	reply_buf_init(&rb, &f->out, s->resp);
	engine_run(f->e, s, NULL, argv, argc, 0, false, &rb.r);
	*buf_room(&f->out, 1) = '\0';
	return f->out.p;
}

static inline uint32_t fix_split(const char *line, char *text, struct bytes *argv)
{
	uint32_t n = 0;
	strcpy(text, line);
	for (char *w = strtok(text, " "); w != NULL && n < FIX_ARGS_MAX; w = strtok(NULL, " "))
		argv[n++] = bytes_of(w);
	return n;
}

/* Words parted by one or more blanks. */
static inline const char *fix_run(struct fix *f, struct session *s, const char *line)
{
	char text[2048];
	struct bytes argv[FIX_ARGS_MAX];
	CHECK(strlen(line) < sizeof(text));
	uint32_t n = fix_split(line, text, argv);
	return fix_runv(f, s, argv, n);
}

/* RESP from a form that is easier on the eye: words parted by blanks, each a line; 'text' is a bulk string. */
static inline const char *fix_resp(struct buf *b, const char *form)
{
	b->n = 0;
	for (const char *p = form; *p != '\0';) {
		const char *end = *p == '\'' ? strchr(p + 1, '\'') : p + strcspn(p, " ");
		CHECK(end != NULL);
		if (*p == '\'')
			buf_addf(b, "$%zu\r\n%.*s\r\n", (size_t)(end - p - 1), (int)(end - p - 1), p + 1);
		else
			buf_addf(b, "%.*s\r\n", (int)(end - p), p);
		p = end + (*end == '\'');
		p += *p == ' ';
	}
	buf_add(b, "", 1);
	return b->p;
}

/* Client a says line and is answered so. */
#define FIX_SAYS(f, line, answer) assert_string_equal(fix_run((f), &(f)->a, (line)), (answer))
#define FIX_GIVES(f, line, answer) \
	assert_string_equal(fix_run((f), &(f)->a, (line)), fix_resp(&(f)->form, (answer)))
#define FIX_BEGINS(f, line, start) assert_memory_equal(fix_run((f), &(f)->a, (line)), start, sizeof(start) - 1)
#define FIX_B_SAYS(f, line, answer) assert_string_equal(fix_run((f), &(f)->b, (line)), (answer))

#endif
