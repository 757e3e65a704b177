/* Replies out. Every function takes its room from the buffer once. */
#include "proto/resp.h"

#include "base/num.h"

#define HEAD_MAX (1 + NUM_I64_MAX + 2) /* mark, number, CR LF */

static inline char *put_crlf(char *p)
{
	memcpy(p, "\r\n", 2);
	return p + 2;
}

static inline char *put_head(char *p, char mark, uint64_t n)
{
	*p++ = mark;
	if (n < 10)
		*p++ = (char)('0' + n);
	else
		p += num_put_u64(p, n);
	return put_crlf(p);
}

static inline void done(struct buf *b, const char *end)
{
	b->n = (size_t)(end - b->p);
}

static void put_count(struct buf *b, char mark, int64_t n)
{
	char *p = buf_room(b, HEAD_MAX);

	if (n >= 0) {
		done(b, put_head(p, mark, (uint64_t)n));
		return;
	}
	*p++ = mark;
	p += num_put_i64(p, n);
	done(b, put_crlf(p));
}

/* mark, text, CR LF: the types that are one line. */
static void put_line(struct buf *b, char mark, struct bytes s)
{
	char *p = buf_room(b, s.n + 3);

	*p++ = mark;
	if (s.n)
		memcpy(p, s.p, s.n);
	done(b, put_crlf(p + s.n));
}

void resp_put_status(struct buf *b, struct bytes s)
{
	put_line(b, '+', s);
}

void resp_put_error(struct buf *b, struct bytes s)
{
	char *p = buf_room(b, s.n + 3);

	*p++ = '-';
	for (size_t i = 0; i < s.n; i++)
		*p++ = s.p[i] == '\r' || s.p[i] == '\n' ? ' ' : s.p[i];
	done(b, put_crlf(p));
}

void resp_put_i64(struct buf *b, int64_t v)
{
	put_count(b, ':', v);
}

void resp_put_bulk(struct buf *b, struct bytes s)
{
	char *p = put_head(buf_room(b, HEAD_MAX + s.n + 2), '$', s.n);

	if (s.n)
		memcpy(p, s.p, s.n);
	done(b, put_crlf(p + s.n));
}

void resp_put_bulk_head(struct buf *b, size_t n)
{
	done(b, put_head(buf_room(b, HEAD_MAX), '$', n));
}

void resp_put_array(struct buf *b, int64_t n)
{
	put_count(b, '*', n);
}

static void put_text(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void resp_put_null(struct buf *b, int resp)
{
	put_text(b, resp >= 3 ? "_\r\n" : "$-1\r\n");
}

void resp_put_null_array(struct buf *b, int resp)
{
	put_text(b, resp >= 3 ? "_\r\n" : "*-1\r\n");
}

void resp_put_map(struct buf *b, int64_t pairs, int resp)
{
	if (resp >= 3)
		put_count(b, '%', pairs);
	else
		put_count(b, '*', pairs * 2);
}

void resp_put_set(struct buf *b, int64_t n, int resp)
{
	put_count(b, resp >= 3 ? '~' : '*', n);
}

void resp_put_push(struct buf *b, int64_t n, int resp)
{
	put_count(b, resp >= 3 ? '>' : '*', n);
}

void resp_put_attr(struct buf *b, int64_t pairs)
{
	put_count(b, '|', pairs);
}

void resp_put_double(struct buf *b, double v, int resp)
{
	char text[NUM_D_MAX];
	struct bytes s = {text, num_put_d(text, v)};

	if (resp >= 3)
		put_line(b, ',', s);
	else
		resp_put_bulk(b, s);
}

void resp_put_bool(struct buf *b, bool v, int resp)
{
	if (resp >= 3)
		put_text(b, v ? "#t\r\n" : "#f\r\n");
	else
		put_text(b, v ? ":1\r\n" : ":0\r\n");
}

void resp_put_bignum(struct buf *b, struct bytes s, int resp)
{
	if (resp >= 3)
		put_line(b, '(', s);
	else
		resp_put_bulk(b, s);
}

void resp_put_verbatim(struct buf *b, const char ext[3], struct bytes s, int resp)
{
	char *p;

	if (resp < 3) {
		resp_put_bulk(b, s);
		return;
	}
	p = put_head(buf_room(b, HEAD_MAX + 4 + s.n + 2), '=', s.n + 4);
	memcpy(p, ext, 3);
	p[3] = ':';
	p += 4;
	if (s.n)
		memcpy(p, s.p, s.n);
	done(b, put_crlf(p + s.n));
}
