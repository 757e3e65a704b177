/* RESP, the Redis serialization protocol: commands in, replies out. Pure: bytes and values, no sockets.
 * Source of the rules: redis.io/docs/reference/protocol-spec (RESP2, RESP3) and what redis-server answers. */
#ifndef PROTO_RESP_H
#define PROTO_RESP_H

#include "base/buf.h"
#include "base/bytes.h"

/* ---- commands in ---- */

struct resp_limits {
	int64_t max_bulk;      /* proto-max-bulk-len; RESP_UNAUTH_BULK before authentication */
	int64_t max_args;      /* INT_MAX; RESP_UNAUTH_ARGS before authentication */
	size_t max_inline;     /* RESP_MAX_INLINE; also the longest line of a length, as in Redis */
};

#define RESP_MAX_BULK (INT64_C(512) << 20)
#define RESP_MAX_INLINE ((size_t)64 << 10)
/* A max_args of this or less is taken as "not authenticated" and words the errors so. */
#define RESP_UNAUTH_ARGS 10
#define RESP_UNAUTH_BULK 16384

enum resp_status {
	RESP_MORE,    /* the input ends inside a command: call again with the same bytes and more behind them */
	RESP_COMMAND, /* argv/argc hold a command; `used` bytes of the input belong to it */
	RESP_EMPTY,   /* `used` bytes held no command (blank line, *0, *-1): drop them and go on */
	RESP_ERROR    /* protocol error: `error` holds the text after "-ERR "; the connection is to be closed */
};

/* Parser of one connection. All zero is a fresh one. Between calls that return RESP_MORE it remembers how far it
 * got as offsets, so the bytes may be moved by their owner, and no byte is looked at twice (a command of
 * a million arguments arriving in a thousand reads costs linear time). */
struct resp_parser {
	struct bytes *argv; /* after RESP_COMMAND: slices of the input; valid until the next call */
	uint32_t argc;
	uint32_t cap;
	int64_t left;       /* arguments still to come, of a command begun; 0 none begun */
	size_t used;
	size_t item;        /* where the line or the bulk being read begins */
	size_t pos;         /* input looked at so far: this line has no end before */
	int64_t bulk;       /* in_bulk: its length */
	bool in_bulk;
	size_t need;        /* with RESP_MORE: input length at which going on can succeed; 0 unknown */
	const char *error;
	char errbuf[96];
	bool inline_cmd;
	struct buf unquoted; /* holds the arguments of inline commands */
};

/* Looks at the n bytes at p, which begin where the last command ended. No allocation for commands of a few
 * arguments once argv has room (argv is kept between commands; resp_idle gives it back). The answer does not
 * depend on how the input was cut into calls. After RESP_ERROR only resp_idle may follow. As in Redis, the two
 * bytes behind a length or a bulk are skipped, not compared with CR LF (a line ends at its CR). */
enum resp_status resp_parse(struct resp_parser *ps, const struct resp_limits *lim, const char *p, size_t n);
/* Gives back all memory; for a connection that has nothing half-read. */
void resp_idle(struct resp_parser *ps);

/* Splits one inline line by Redis's rules (quotes, \xHH, \n \r \t \b \a). Appends the arguments' bytes to
 * store, whose next growth may move them, and puts slices of it into a new array *argv_out, which the caller
 * mem_frees (NULL without arguments). False on unbalanced quotes: nothing is handed out. Also for config lines. */
bool resp_split_line(struct bytes line, struct buf *store, struct bytes **argv_out, size_t *argc_out);

/* ---- replies out: append to a buffer ---- */

void resp_put_status(struct buf *b, struct bytes s);            /* +s */
void resp_put_error(struct buf *b, struct bytes s);             /* -s; CR and LF in s become spaces */
void resp_put_i64(struct buf *b, int64_t v);                    /* :v */
void resp_put_bulk(struct buf *b, struct bytes s);              /* $n s */
void resp_put_bulk_head(struct buf *b, size_t n);               /* $n CRLF; the caller adds n bytes and CRLF */
void resp_put_array(struct buf *b, int64_t n);                  /* *n */
void resp_put_null(struct buf *b, int resp);                    /* $-1 or _ */
void resp_put_null_array(struct buf *b, int resp);              /* *-1 or _ */
void resp_put_map(struct buf *b, int64_t pairs, int resp);      /* %n or *2n */
void resp_put_set(struct buf *b, int64_t n, int resp);          /* ~n or *n */
void resp_put_push(struct buf *b, int64_t n, int resp);         /* >n or *n */
void resp_put_attr(struct buf *b, int64_t pairs);               /* |n (RESP3 only) */
void resp_put_double(struct buf *b, double v, int resp);        /* ,v or bulk */
void resp_put_bool(struct buf *b, bool v, int resp);            /* #t or :1 */
void resp_put_bignum(struct buf *b, struct bytes s, int resp);  /* (s or bulk */
void resp_put_verbatim(struct buf *b, const char ext[3], struct bytes s, int resp); /* =n ext:s or bulk */

#endif
