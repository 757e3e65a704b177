/* For the tests of command families: arguments of any bytes, and the events that commands raise. */
#ifndef TESTS_COMMANDS_EVENTS_H
#define TESTS_COMMANDS_EVENTS_H

#include "fixture.h"

/* A fixture with what its keyspace has told: "class:name:db:key " for each event, "db:key " for each touched key. */
struct seen {
	struct fix f; /* first: what the FIX_ macros take */
	struct buf events, touched;
};

static void seen_event(void *ctx, enum ks_event_class cls, const char *name, unsigned db, struct bytes key)
{
	struct seen *s = ctx;

	if (cls & (KS_EV_NEW | KS_EV_MISS))
		return;
	buf_addf(&s->events, "%c:%s:%u:%.*s ", cls == KS_EV_STRING ? '$' : cls == KS_EV_GENERIC ? 'g' : 'x', name, db,
		(int)key.n, key.p);
}

static void seen_touched(void *ctx, unsigned db, struct bytes key)
{
	struct seen *s = ctx;

	buf_addf(&s->touched, "%u:%.*s ", db, (int)key.n, key.p);
}

static void seen_flushed(void *ctx, int db)
{
	struct seen *s = ctx;

	buf_addf(&s->touched, "flushed:%d ", db);
}

static int seen_setup(void **state)
{
	struct seen *s = mem_zalloc(sizeof(*s));
	struct ks_observer ob = {.ctx = s, .event = seen_event, .touched = seen_touched, .flushed = seen_flushed};

	fix_open_sized(&s->f, 64 << 20);
	ks_observe(s->f.ks, &ob);
	*state = s;
	return 0;
}

static int seen_teardown(void **state)
{
	struct seen *s = *state;

	fix_close(&s->f);
	buf_free(&s->events);
	buf_free(&s->touched);
	mem_free(s);
	return 0;
}

/* The events since the last call, in words. */
static inline const char *seen_take(struct buf *b)
{
	*buf_room(b, 1) = '\0';
	b->n = 0;
	return b->p;
}

/* The line's command raises these events. */
#define EVENTS(s, line, words) \
	do { \
		seen_take(&(s)->events); \
		fix_run(&(s)->f, &(s)->f.a, (line)); \
		assert_string_equal(seen_take(&(s)->events), (words)); \
	} while (0)

/* Arguments of any bytes. */
#define SAYS_ARGS(s, answer, ...) \
	do { \
		const struct bytes argv_[] = {__VA_ARGS__}; \
		assert_string_equal(fix_runv(&(s)->f, &(s)->f.a, argv_, sizeof(argv_) / sizeof(argv_[0])), (answer)); \
	} while (0)
#define B(text) BYTES_LIT(text)
#define SAYS(s, line, answer) FIX_SAYS(&(s)->f, line, answer)

/* One byte n times, from the heap: free with mem_free(x.p). */
static inline struct bytes bytes_times(char c, size_t n)
{
	char *p = mem_alloc(n);

	memset(p, c, n);
	return (struct bytes){p, n};
}

#define ERR_INT "-ERR value is not an integer or out of range\r\n"
#define ERR_SYNTAX "-ERR syntax error\r\n"
#define NIL "$-1\r\n"
#define OK "+OK\r\n"

#endif
