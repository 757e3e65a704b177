/* Where a command's answer goes: a table of functions, so that RESP clients, scripts and tests each get values
 * in their own form without parsing RESP again. */
#ifndef COMMANDS_REPLY_H
#define COMMANDS_REPLY_H

#include "base/bytes.h"
#include "types/tstr.h"

struct reply;

struct reply_ops {
	void (*status)(struct reply *r, struct bytes s);
	void (*error)(struct reply *r, struct bytes s); /* "ERR text", "WRONGTYPE text": without the '-' */
	void (*i64)(struct reply *r, int64_t v);
	void (*bulk)(struct reply *r, struct bytes s);
	/* A string value or a range of it, long ones without copying. */
	void (*value)(struct reply *r, const struct ks_ref *ref, const struct tstr *v, uint64_t at, uint64_t n);
	void (*null)(struct reply *r);
	void (*null_array)(struct reply *r);
	void (*array)(struct reply *r, int64_t n);  /* n elements follow */
	void (*map)(struct reply *r, int64_t pairs);
	void (*set)(struct reply *r, int64_t n);
	void (*push)(struct reply *r, int64_t n);
	void (*dbl)(struct reply *r, double v);
	void (*boolean)(struct reply *r, bool v);
	void (*bignum)(struct reply *r, struct bytes digits);
	void (*verbatim)(struct reply *r, const char ext[3], struct bytes s);
	/* For arrays whose length is known at the end: open, add elements, close with the count. Nestable. */
	size_t (*open)(struct reply *r);
	void (*close)(struct reply *r, size_t mark, char kind, int64_t n); /* kind: '*', '%', '~' */
	/* Takes back all that was added since the mark (an EXEC that is undone, CLIENT REPLY OFF). A mark is good for one
	 * command: nothing before it is sent or changed meanwhile. */
	size_t (*mark)(struct reply *r);
	void (*rewind)(struct reply *r, size_t mark);
};

struct error_stats; /* the engine's counters by error prefix */

/* First member of every sink. */
struct reply {
	const struct reply_ops *ops;
	int resp;                  /* 2 or 3; HELLO and RESET change it */
	uint32_t errors;           /* error replies made through this sink */
	struct error_stats *stats; /* engine_run sets it; NULL: errors are not counted by prefix */
};

static inline void reply_status(struct reply *r, const char *s) { r->ops->status(r, bytes_of(s)); }
static inline void reply_ok(struct reply *r) { r->ops->status(r, BYTES_LIT("OK")); }
static inline void reply_i64(struct reply *r, int64_t v) { r->ops->i64(r, v); }
static inline void reply_bulk(struct reply *r, struct bytes s) { r->ops->bulk(r, s); }
static inline void reply_str(struct reply *r, const char *s) { r->ops->bulk(r, bytes_of(s)); }
static inline void reply_null(struct reply *r) { r->ops->null(r); }
static inline void reply_array(struct reply *r, int64_t n) { r->ops->array(r, n); }
static inline void reply_map(struct reply *r, int64_t n) { r->ops->map(r, n); }
static inline void reply_set(struct reply *r, int64_t n) { r->ops->set(r, n); }

/* All errors go through these two, which count them. s: "ERR ..." whole. */
void reply_error(struct reply *r, const char *s);
void reply_errorf(struct reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Standard errors, with Redis's words. */
void reply_wrongtype(struct reply *r);
void reply_syntax(struct reply *r);
void reply_not_integer(struct reply *r);
void reply_oom(struct reply *r);      /* the pool is full */
void reply_no_key(struct reply *r);   /* ERR no such key */
void reply_arity(struct reply *r, struct bytes command_lowercase);
/* HELP: an array of status lines, headed as Redis heads it. lines ends with NULL. */
void reply_help(struct reply *r, const char *command_upper, const char *const *lines);
/* The error for an unknown subcommand or wrong arity of one, in Redis's words. */
void reply_subcommand_error(struct reply *r, const char *command_upper, struct bytes sub);

/* A sink that appends RESP to a buffer (tests, EXEC's queue, MONITOR). Long values are copied. */
struct buf;
struct reply_buf {
	struct reply r;
	struct buf *out;
};
void reply_buf_init(struct reply_buf *rb, struct buf *out, int resp);
/* The ops of reply_buf, for sinks that extend it. */
extern const struct reply_ops reply_buf_ops;

#endif
