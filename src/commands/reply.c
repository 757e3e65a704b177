/* Standard answers in Redis's words, and the sink that appends RESP to a buffer. */
#include "commands/internal.h"

#include "proto/resp.h"

#include <stdio.h>

/* ---- errors and help ---- */

static void send_error(struct reply *r, struct bytes s)
{
	r->errors++;
	if (r->stats != NULL)
		engine__count_error(r->stats, s);
	r->ops->error(r, s);
}

void reply_error(struct reply *r, const char *s)
{
	send_error(r, bytes_of(s));
}

void reply_errorf(struct reply *r, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	send_error(r, buf_bytes(&text));
	buf_free(&text);
}

void reply_wrongtype(struct reply *r)
{
	reply_error(r, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

void reply_syntax(struct reply *r)
{
	reply_error(r, "ERR syntax error");
}

void reply_not_integer(struct reply *r)
{
	reply_error(r, "ERR value is not an integer or out of range");
}

void reply_oom(struct reply *r)
{
	reply_error(r, "OOM command not allowed when the pool is full (see pool-size).");
}

void reply_no_key(struct reply *r)
{
	reply_error(r, "ERR no such key");
}

void reply_arity(struct reply *r, struct bytes command_lowercase)
{
	reply_errorf(r, "ERR wrong number of arguments for '%.*s' command", (int)command_lowercase.n, command_lowercase.p);
}

void reply_help(struct reply *r, const char *command_upper, const char *const *lines)
{
	int64_t n = 0;
	while (lines[n] != NULL)
		n++;
	reply_array(r, n + 3);
	char head[160];
	int len = snprintf(head, sizeof(head), "%s <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		command_upper);
	r->ops->status(r, (struct bytes){head, (size_t)len});
	for (int64_t i = 0; i < n; i++)
		reply_status(r, lines[i]);
	reply_status(r, "HELP");
	reply_status(r, "    Print this text.");
}

void reply_subcommand_error(struct reply *r, const char *command_upper, struct bytes sub)
{
	reply_errorf(r, "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try %s HELP.",
		(int)(sub.n < 128 ? sub.n : 128), sub.p, command_upper);
}

/* ---- a sink of bytes ---- */

static struct buf *out_of(struct reply *r)
{
	return ((struct reply_buf *)r)->out;
}

static void put_status(struct reply *r, struct bytes s)
{
	resp_put_status(out_of(r), s);
}

static void put_error(struct reply *r, struct bytes s)
{
	resp_put_error(out_of(r), s);
}

static void put_i64(struct reply *r, int64_t v)
{
	resp_put_i64(out_of(r), v);
}

static void put_bulk(struct reply *r, struct bytes s)
{
	resp_put_bulk(out_of(r), s);
}

static bool add_piece(void *ctx, const char *p, size_t n, st_off chunk)
{
	(void)chunk;
	buf_add(ctx, p, n);
	return true;
}

static void put_value(struct reply *r, const struct ks_ref *ref, const struct tstr *v, uint64_t at, uint64_t n)
{
	struct buf *out = out_of(r);
	resp_put_bulk_head(out, n);
	if (n > 0)
		tstr_each(ref, v, at, n, add_piece, out);
	buf_add(out, "\r\n", 2);
}

static void put_null(struct reply *r)
{
	resp_put_null(out_of(r), r->resp);
}

static void put_null_array(struct reply *r)
{
	resp_put_null_array(out_of(r), r->resp);
}

static void put_array(struct reply *r, int64_t n)
{
	resp_put_array(out_of(r), n);
}

static void put_map(struct reply *r, int64_t pairs)
{
	resp_put_map(out_of(r), pairs, r->resp);
}

static void put_set(struct reply *r, int64_t n)
{
	resp_put_set(out_of(r), n, r->resp);
}

static void put_push(struct reply *r, int64_t n)
{
	resp_put_push(out_of(r), n, r->resp);
}

static void put_dbl(struct reply *r, double v)
{
	resp_put_double(out_of(r), v, r->resp);
}

static void put_boolean(struct reply *r, bool v)
{
	resp_put_bool(out_of(r), v, r->resp);
}

static void put_bignum(struct reply *r, struct bytes digits)
{
	resp_put_bignum(out_of(r), digits, r->resp);
}

static void put_verbatim(struct reply *r, const char ext[3], struct bytes s)
{
	resp_put_verbatim(out_of(r), ext, s, r->resp);
}

static size_t put_mark(struct reply *r)
{
	return out_of(r)->n;
}

/* The head is written behind the elements and then turned to the front, so that it takes no more than its bytes. */
static void put_close(struct reply *r, size_t mark, char kind, int64_t n)
{
	struct buf *out = out_of(r);
	size_t end = out->n;
	if (kind == '%')
		resp_put_map(out, n, r->resp);
	else if (kind == '~')
		resp_put_set(out, n, r->resp);
	else
		resp_put_array(out, n);
	char head[40];
	size_t head_n = out->n - end;
	memcpy(head, out->p + end, head_n);
	memmove(out->p + mark + head_n, out->p + mark, end - mark);
	memcpy(out->p + mark, head, head_n);
}

static void put_rewind(struct reply *r, size_t mark)
{
	out_of(r)->n = mark;
}

const struct reply_ops reply_buf_ops = {
	.status = put_status,
	.error = put_error,
	.i64 = put_i64,
	.bulk = put_bulk,
	.value = put_value,
	.null = put_null,
	.null_array = put_null_array,
	.array = put_array,
	.map = put_map,
	.set = put_set,
	.push = put_push,
	.dbl = put_dbl,
	.boolean = put_boolean,
	.bignum = put_bignum,
	.verbatim = put_verbatim,
	.open = put_mark,
	.close = put_close,
	.mark = put_mark,
	.rewind = put_rewind,
};

void reply_buf_init(struct reply_buf *rb, struct buf *out, int resp)
{
	*rb = (struct reply_buf){.r = {.ops = &reply_buf_ops, .resp = resp}, .out = out};
}
