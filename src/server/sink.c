/* The sink of clients: values of replies become RESP in the client's output. Long strings become references. */
#include "server/inner.h"

#include "base/check.h"
#include "base/num.h"

#define REF_MIN 1024u /* shorter pieces of the pool are copied */
#define HEAD_MAX 32u  /* of "$n" or "*n" with its line end */

static const char zeros[64 * 1024];

static inline struct sink *sink_of(struct reply *r)
{
	return SRV_CONTAINER(r, struct sink, r);
}

static inline size_t put_head(char *p, char kind, uint64_t n)
{
	size_t at = 1;
	p[0] = kind;
	if (LIKELY(n < 10)) {
		p[at++] = (char)('0' + n);
	} else if (LIKELY(n < 100)) {
		p[at++] = (char)('0' + n / 10);
		p[at++] = (char)('0' + n % 10);
	} else {
		at += num_put_u64(p + at, n);
	}
	p[at++] = '\r';
	p[at++] = '\n';
	return at;
}

static inline void put_plain(struct reply *r, const char *p, size_t n)
{
	struct sink *k = sink_of(r);
	char *to = srv__out_room(k->srv, n);
	memcpy(to, p, n);
	srv__out_used(k->c, to, n);
}

static void put_line(struct reply *r, char kind, uint64_t n)
{
	struct sink *k = sink_of(r);
	char *p = srv__out_room(k->srv, HEAD_MAX);
	srv__out_used(k->c, p, put_head(p, kind, n));
}

/* A buffer over room of the output, for the writers of proto; `most` bytes at most will be added. */
static struct buf borrow(struct reply *r, size_t most)
{
	return (struct buf){srv__out_room(sink_of(r)->srv, most + 1), 0, most + 1};
}

static void give(struct reply *r, const struct buf *b)
{
	srv__out_used(sink_of(r)->c, b->p, b->n);
}

static void put_status(struct reply *r, struct bytes s)
{
	struct sink *k = sink_of(r);
	char *p = srv__out_room(k->srv, s.n + 3);
	p[0] = '+';
	memcpy(p + 1, s.p, s.n);
	memcpy(p + 1 + s.n, "\r\n", 2);
	srv__out_used(k->c, p, s.n + 3);
}

static void put_error(struct reply *r, struct bytes s)
{
	struct buf b = borrow(r, s.n + HEAD_MAX);
	resp_put_error(&b, s);
	give(r, &b);
}

static void put_i64(struct reply *r, int64_t v)
{
	struct sink *k = sink_of(r);
	char *p = srv__out_room(k->srv, NUM_I64_MAX + 3);
	size_t n = 1;
	p[0] = ':';
	if (LIKELY(v >= 0 && v < 10))
		p[n++] = (char)('0' + v);
	else
		n += num_put_i64(p + n, v);
	p[n++] = '\r';
	p[n++] = '\n';
	srv__out_used(k->c, p, n);
}

static void put_bulk(struct reply *r, struct bytes s)
{
	struct sink *k = sink_of(r);
	char *p = srv__out_room(k->srv, s.n + HEAD_MAX);
	size_t n = put_head(p, '$', s.n);
	if (s.n)
		memcpy(p + n, s.p, s.n);
	n += s.n;
	p[n++] = '\r';
	p[n++] = '\n';
	srv__out_used(k->c, p, n);
}

static bool put_piece(void *ctx, const char *p, size_t n, uint64_t chunk)
{
	struct sink *k = ctx;
	if (chunk == 0) {
		/* zeros that are not stored, or bytes that this tick has edited */
		for (size_t part; n > 0; p += part, n -= part) {
			part = n < sizeof zeros ? n : sizeof zeros;
			if (part >= REF_MIN && memcmp(p, zeros, part) == 0)
				srv__out_ref(k->c, zeros, part, 0);
			else
				put_plain(&k->r, p, part);
		}
		return true;
	}
	if (n >= REF_MIN && k->srv->pool.pin(k->srv->pool.ctx, chunk))
		srv__out_ref(k->c, p, n, chunk);
	else
		put_plain(&k->r, p, n);
	return true;
}

static void put_value(struct reply *r, const struct ks_ref *ref, const struct tstr *v, uint64_t at, uint64_t n)
{
	if (LIKELY(v->form != TSTR_ROPE)) {
		put_bulk(r, (struct bytes){v->b.p + at, n});
		return;
	}
	put_line(r, '$', n);
	if (n > 0)
		tstr_each(ref, v, at, n, put_piece, sink_of(r));
	put_plain(r, "\r\n", 2);
}

static void put_null(struct reply *r)
{
	if (r->resp == 2)
		put_plain(r, "$-1\r\n", 5);
	else
		put_plain(r, "_\r\n", 3);
}

static void put_null_array(struct reply *r)
{
	if (r->resp == 2)
		put_plain(r, "*-1\r\n", 5);
	else
		put_plain(r, "_\r\n", 3);
}

static void put_array(struct reply *r, int64_t n)
{
	put_line(r, '*', (uint64_t)n);
}

static void put_map(struct reply *r, int64_t pairs)
{
	put_line(r, r->resp == 2 ? '*' : '%', (uint64_t)(r->resp == 2 ? pairs * 2 : pairs));
}

static void put_set(struct reply *r, int64_t n)
{
	put_line(r, r->resp == 2 ? '*' : '~', (uint64_t)n);
}

static void put_push(struct reply *r, int64_t n)
{
	put_line(r, r->resp == 2 ? '*' : '>', (uint64_t)n);
}

static void put_dbl(struct reply *r, double v)
{
	struct buf b = borrow(r, NUM_D_MAX + HEAD_MAX * 2);
	resp_put_double(&b, v, r->resp);
	give(r, &b);
}

static void put_boolean(struct reply *r, bool v)
{
	struct buf b = borrow(r, HEAD_MAX);
	resp_put_bool(&b, v, r->resp);
	give(r, &b);
}

static void put_bignum(struct reply *r, struct bytes digits)
{
	struct buf b = borrow(r, digits.n + HEAD_MAX * 2);
	resp_put_bignum(&b, digits, r->resp);
	give(r, &b);
}

static void put_verbatim(struct reply *r, const char ext[3], struct bytes s)
{
	struct buf b = borrow(r, s.n + HEAD_MAX * 2);
	resp_put_verbatim(&b, ext, s, r->resp);
	give(r, &b);
}

static size_t put_open(struct reply *r)
{
	return srv__out_slot(sink_of(r)->c);
}

static void put_close(struct reply *r, size_t mark, char kind, int64_t n)
{
	char head[HEAD_MAX];
	struct buf b = {head, 0, sizeof head};
	if (kind == '%')
		resp_put_map(&b, n, r->resp);
	else if (kind == '~')
		resp_put_set(&b, n, r->resp);
	else
		resp_put_array(&b, n);
	DCHECK(b.n <= OUT_SLOT);
	srv__out_slot_fill(sink_of(r)->c, mark, head, b.n);
}

static size_t put_mark(struct reply *r)
{
	return sink_of(r)->c->out.added;
}

static void put_rewind(struct reply *r, size_t mark)
{
	srv__out_rewind(sink_of(r)->c, mark);
}

static const struct reply_ops client_reply_ops = {
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
	.open = put_open,
	.close = put_close,
	.mark = put_mark,
	.rewind = put_rewind,
};

void srv__sink_init(struct srv *srv)
{
	srv->sink = (struct sink){.r = {.ops = &client_reply_ops, .resp = 2}, .srv = srv};
	srv->push = srv->sink;
}
