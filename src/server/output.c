/* Output: what a client shall get, as pieces in order, until the socket has taken it.
 *
 * Replies of a tick are written one behind the other into shared chunks, so that a client's replies lie in a row and
 * leave with one write. Long values are not copied: a piece refers to the pool, which keeps the bytes in place
 * (pinned) until the piece is gone. No piece leaves before the LSN of its tick is durable.
 *
 * A slow reader takes its small leftovers along into chunks of its own, so that it does not keep shared ones busy. */
#include "server/inner.h"

#include "base/check.h"

#define CHUNK_KEEP 4u /* free shared chunks kept */
#define IOV_ONCE 256u /* pieces given to one write */
#define OWN_MIN 4096u
#define OWN_LEAVE (32u * 1024) /* a leftover of this size may stay in a shared chunk */
#define QUEUE_KEEP 64u         /* a drained queue of no more pieces stays with an active client */

/* ---- chunks ---- */

static struct ochunk *chunk_new(struct srv *srv, size_t cap, bool shared)
{
	struct ochunk *k = srv->chunk_free;
	if (shared && cap == OCHUNK_SHARED && k) {
		srv->chunk_free = k->next;
		srv->chunk_free_n--;
	} else {
		k = mem_alloc(sizeof *k + cap);
		k->cap = cap;
		k->shared = shared;
	}
	k->next = NULL;
	k->used = 0;
	k->refs = 0;
	return k;
}

static void chunk_free(struct srv *srv, struct ochunk *k)
{
	if (k->shared && k->cap == OCHUNK_SHARED && srv->chunk_free_n < CHUNK_KEEP) {
		k->next = srv->chunk_free;
		srv->chunk_free = k;
		srv->chunk_free_n++;
	} else {
		mem_free(k);
	}
}

static void chunk_unref(struct srv *srv, struct ochunk *k)
{
	if (--k->refs > 0)
		return;
	if (k == srv->chunk && k->cap == OCHUNK_SHARED) {
		k->used = 0; /* all of it has left: begin anew while it is warm */
		return;
	}
	if (k == srv->chunk)
		srv->chunk = chunk_new(srv, OCHUNK_SHARED, true);
	chunk_free(srv, k);
}

void srv__out_init(struct srv *srv)
{
	srv->chunk = chunk_new(srv, OCHUNK_SHARED, true);
}

void srv__out_fini(struct srv *srv)
{
	mem_free(srv->chunk);
	while (srv->chunk_free) {
		struct ochunk *next = srv->chunk_free->next;
		mem_free(srv->chunk_free);
		srv->chunk_free = next;
	}
}

static char *room_in_new_chunk(struct srv *srv, size_t n)
{
	struct ochunk *old = srv->chunk;
	srv->chunk = chunk_new(srv, n > OCHUNK_SHARED ? n : OCHUNK_SHARED, true);
	if (old->refs == 0)
		chunk_free(srv, old);
	return srv->chunk->data;
}

char *srv__out_room(struct srv *srv, size_t n)
{
	struct ochunk *k = srv->chunk;
	if (LIKELY(k->cap - k->used >= n))
		return k->data + k->used;
	return room_in_new_chunk(srv, n);
}

/* ---- the queue ---- */

static void queue_grow(struct outq *o)
{
	if (o->head > 0 && o->head >= o->cap / 2) {
		memmove(o->q, o->q + o->head, o->n * sizeof *o->q);
		o->head = 0;
		return;
	}
	uint32_t cap = o->cap * 4 > 16 ? o->cap * 4 : 16;
	struct piece *q = mem_alloc(cap * sizeof *q);
	memcpy(q, o->q + o->head, o->n * sizeof *q);
	if (o->q != o->first)
		mem_free(o->q);
	o->q = q;
	o->head = 0;
	o->cap = cap;
}

static struct piece *push_piece(struct client *c)
{
	struct outq *o = &c->out;
	if (UNLIKELY(o->q == NULL)) {
		o->q = o->first;
		o->cap = sizeof o->first / sizeof *o->first;
		o->head = 0;
	}
	if (UNLIKELY(o->head + o->n == o->cap))
		queue_grow(o);
	struct piece *e = &o->q[o->head + o->n++];
	*e = (struct piece){.lsn = LSN_OPEN};
	if (c->outs.next == &c->outs)
		link_add(&c->srv->outs, &c->outs);
	return e;
}

static void piece_release(struct srv *srv, struct piece *e)
{
	if (e->chunk)
		chunk_unref(srv, e->chunk);
	else if (e->pin)
		srv->pool.unpin(srv->pool.ctx, e->pin);
}

void srv__out_used(struct client *c, char *p, size_t n)
{
	struct outq *o = &c->out;
	struct ochunk *k = c->srv->chunk;
	DCHECK(p == k->data + k->used);
	k->used += n;
	o->bytes += n;
	o->added += n;
	if (LIKELY(o->n > o->flying)) {
		struct piece *last = &o->q[o->head + o->n - 1];
		if (last->p + last->n == p && last->chunk == k && last->lsn == LSN_OPEN) {
			last->n += n;
			return;
		}
	}
	struct piece *e = push_piece(c);
	e->p = p;
	e->n = n;
	e->chunk = k;
	k->refs++;
}

size_t srv__out_slot(struct client *c)
{
	char *p = srv__out_room(c->srv, OUT_SLOT);
	struct ochunk *k = c->srv->chunk;
	struct piece *e = push_piece(c);
	e->p = p;
	e->chunk = k;
	k->refs++;
	k->used += OUT_SLOT;
	return c->out.n - 1;
}

void srv__out_slot_fill(struct client *c, size_t slot, const char *p, size_t n)
{
	struct outq *o = &c->out;
	struct piece *e = &o->q[o->head + slot];
	e->p += OUT_SLOT - n; /* next to what follows: the two leave as one buffer */
	memcpy((char *)(uintptr_t)e->p, p, n);
	e->n = n;
	o->bytes += n;
	o->added += n;
}

void srv__out_ref(struct client *c, const char *p, size_t n, uint64_t pin)
{
	struct piece *e = push_piece(c);
	e->p = p;
	e->n = n;
	e->pin = pin;
	c->out.bytes += n;
	c->out.added += n;
}

void srv__out_rewind(struct client *c, size_t mark)
{
	struct outq *o = &c->out;
	while (o->n > o->flying && o->added > mark) {
		struct piece *e = &o->q[o->head + o->n - 1];
		size_t drop = o->added - mark;
		if (e->n > drop) {
			e->n -= drop;
			o->bytes -= drop;
			o->added = mark;
			return;
		}
		o->bytes -= e->n;
		o->added -= e->n;
		piece_release(c->srv, e);
		o->n--;
	}
}

/* ---- leaving ---- */

/* Takes n written bytes off the front. */
static void consume(struct client *c, size_t n)
{
	struct outq *o = &c->out;
	o->bytes -= n;
	c->bytes_out += n;
	c->srv->stats.net_out += n;
	while (o->n > 0) {
		struct piece *e = &o->q[o->head];
		if (e->n > n) {
			e->p += n;
			e->n -= n;
			return;
		}
		n -= e->n;
		piece_release(c->srv, e);
		o->head++;
		o->n--;
		if (n == 0 && (o->n == 0 || o->q[o->head].n > 0))
			break;
	}
	if (o->n == 0)
		o->head = 0;
}

static void drained(struct client *c)
{
	struct outq *o = &c->out;
	o->soft_since_ms = 0;
	if (o->q != o->first && o->cap > QUEUE_KEEP)
		srv__out_give_back(c);
}

void srv__out_give_back(struct client *c)
{
	struct outq *o = &c->out;
	if (o->n > 0)
		return;
	if (o->q != o->first)
		mem_free(o->q);
	o->q = NULL;
	o->cap = o->head = 0;
}

/* Fills bufs with what may leave; neighbours become one. Returns how many, with the pieces and bytes they cover. */
static unsigned fill_bufs(
	const struct client *c, uint64_t durable, uv_buf_t *bufs, unsigned max, uint32_t *pieces, size_t *bytes)
{
	const struct outq *o = &c->out;
	unsigned n = 0;
	uint32_t i = 0;
	*bytes = 0;
	for (; i < o->n; i++) {
		const struct piece *e = &o->q[o->head + i];
		if (e->lsn > durable)
			break;
		if (e->n == 0)
			continue;
		if (n > 0 && bufs[n - 1].base + bufs[n - 1].len == e->p) {
			bufs[n - 1].len += e->n;
		} else {
			if (n == max)
				break;
			bufs[n++] = uv_buf_init((char *)(uintptr_t)e->p, (unsigned)e->n);
		}
		*bytes += e->n;
	}
	*pieces = i;
	return n;
}

/* Copies the small leftovers in shared chunks into one of the client's own. */
static void take_along(struct client *c)
{
	struct outq *o = &c->out;
	struct srv *srv = c->srv;
	for (uint32_t i = 0; i < o->n; i++) {
		struct piece *e = &o->q[o->head + i];
		if (!e->chunk || !e->chunk->shared || e->n >= OWN_LEAVE || e->n == 0 || e->lsn == LSN_OPEN)
			continue;
		struct piece *before = i ? e - 1 : NULL;
		struct ochunk *k = before && before->chunk && !before->chunk->shared ? before->chunk : NULL;
		if (!k || k->cap - k->used < e->n) {
			size_t want = o->bytes < OWN_MIN ? OWN_MIN : o->bytes < OWN_LEAVE ? o->bytes : OWN_LEAVE;
			k = chunk_new(srv, e->n > want ? e->n : want, false);
		}
		memcpy(k->data + k->used, e->p, e->n);
		chunk_unref(srv, e->chunk);
		e->p = k->data + k->used;
		e->chunk = k;
		k->used += e->n;
		k->refs++;
	}
}

static void flush(struct client *c, uint64_t durable);

static void on_written(uv_write_t *req, int status)
{
	struct client *c = SRV_CONTAINER(req, struct client, wreq);
	struct outq *o = &c->out;
	uint32_t flying = o->flying;
	size_t bytes = 0;
	for (uint32_t i = 0; i < flying; i++)
		bytes += o->q[o->head + i].n;
	o->flying = 0;
	if (c->flags & CL_CLOSING)
		return; /* freed when the handle is closed */
	if (status < 0) {
		srv__client_kill(c);
		return;
	}
	consume(c, bytes);
	flush(c, c->srv->pool.durable(c->srv->pool.ctx));
}

static void submit(struct client *c, uint64_t durable)
{
	uv_buf_t bufs[IOV_ONCE];
	uint32_t pieces;
	size_t bytes;
	take_along(c);
	unsigned n = fill_bufs(c, durable, bufs, IOV_ONCE, &pieces, &bytes);
	c->out.flying = pieces;
	if (uv_write(&c->wreq, &c->h.stream, bufs, n, on_written) != 0) {
		c->out.flying = 0;
		srv__client_kill(c);
	}
}

void srv__out_check_limit(struct client *c)
{
	struct srv *srv = c->srv;
	const struct out_limit *l = &srv->out_limits[srv__client_class(c)];
	struct outq *o = &c->out;
	if (o->bytes > srv->stats.client_out_max)
		srv->stats.client_out_max = o->bytes;
	bool hard = l->hard && o->bytes > (size_t)l->hard;
	bool soft = l->soft && o->bytes > (size_t)l->soft;
	int64_t now = srv__now_ms(srv);
	if (!soft)
		o->soft_since_ms = 0;
	else if (!o->soft_since_ms)
		o->soft_since_ms = now;
	if (hard || (soft && now - o->soft_since_ms > l->soft_seconds * 1000)) {
		log_msg(LOG_WARNING, "Client id=%llu addr=%s closed: %zu bytes of output wait for it, more than its limit",
			(unsigned long long)c->s.id, srv__client_addr(c), o->bytes);
		srv__client_kill(c);
	}
}

/* Writes what is durable; what the socket does not take is handed to the loop. */
static void flush(struct client *c, uint64_t durable)
{
	struct outq *o = &c->out;
	struct srv *srv = c->srv;
	if (o->flying > 0 || (c->flags & (CL_CLOSING | CL_DYING)))
		return;
	for (bool first = true; o->n > 0; first = false) {
		uv_buf_t bufs[IOV_ONCE];
		uint32_t pieces;
		size_t bytes;
		unsigned n = fill_bufs(c, durable, bufs, IOV_ONCE, &pieces, &bytes);
		if (n == 0 && pieces == 0)
			break;
		if (!first && n == IOV_ONCE) {
			submit(c, durable); /* a long reply: the loop's others come in between */
			break;
		}
		int w = n == 0 ? 0 : uv_try_write(&c->h.stream, bufs, n);
		if (w < 0 && w != UV_EAGAIN) {
			srv__client_kill(c);
			return;
		}
		srv->stats.writes++;
		size_t written = w > 0 ? (size_t)w : 0;
		if (written > 0 || n == 0)
			consume(c, written);
		if (written < bytes) {
			submit(c, durable);
			break;
		}
	}
	if (o->n == 0) {
		drained(c);
		if (c->flags & CL_CLOSE)
			srv__client_kill(c);
		return;
	}
	if (o->flying == 0 && link_empty(&c->waiting))
		link_add(&srv->waiting, &c->waiting);
	srv__out_check_limit(c);
}

void srv__out_commit(struct srv *srv, uint64_t lsn)
{
	uint64_t durable = srv->pool.durable(srv->pool.ctx);
	while (!link_empty(&srv->outs)) {
		struct client *c = SRV_CONTAINER(srv->outs.next, struct client, outs);
		struct outq *o = &c->out;
		link_del(&c->outs);
		for (uint32_t i = o->n; i > 0 && o->q[o->head + i - 1].lsn == LSN_OPEN; i--)
			o->q[o->head + i - 1].lsn = lsn;
		if (LIKELY(lsn <= durable))
			flush(c, durable);
		else if (link_empty(&c->waiting))
			link_add(&srv->waiting, &c->waiting);
	}
}

void srv__out_release(struct srv *srv)
{
	struct link todo;
	if (link_empty(&srv->waiting)) /* the pool may be closed already, then */
		return;
	uint64_t durable = srv->pool.durable(srv->pool.ctx);
	link_init(&todo);
	while (!link_empty(&srv->waiting)) {
		struct link *l = srv->waiting.next;
		link_del(l);
		link_add(&todo, l);
	}
	while (!link_empty(&todo)) {
		struct client *c = SRV_CONTAINER(todo.next, struct client, waiting);
		link_del(&c->waiting);
		flush(c, durable); /* puts it back where something still waits */
	}
}

/* ---- the rest ---- */

void srv__out_free(struct client *c)
{
	struct outq *o = &c->out;
	for (uint32_t i = 0; i < o->n; i++)
		piece_release(c->srv, &o->q[o->head + i]);
	o->n = 0;
	o->bytes = 0;
	srv__out_give_back(c);
}

size_t srv__out_memory(const struct client *c)
{
	const struct outq *o = &c->out;
	size_t n = o->q && o->q != o->first ? o->cap * sizeof *o->q : 0;
	for (uint32_t i = 0; i < o->n; i++)
		n += o->q[o->head + i].chunk ? o->q[o->head + i].n : 0;
	return n;
}

void srv__out_unpin_all(struct srv *srv)
{
	for (struct link *l = srv->all.next, *next; l != &srv->all; l = next) {
		next = l->next;
		struct client *c = SRV_CONTAINER(l, struct client, all);
		struct outq *o = &c->out;
		for (uint32_t i = 0; i < o->n; i++) {
			struct piece *e = &o->q[o->head + i];
			if (e->lsn != LSN_OPEN)
				e->lsn = 0; /* closing makes it durable, and the next pool counts anew */
			if (!e->pin)
				continue;
			if (i < o->flying)
				srv__client_kill(c); /* libuv holds the address */
			struct ochunk *k = chunk_new(srv, e->n, false);
			memcpy(k->data, e->p, e->n);
			k->used = e->n;
			k->refs = 1;
			srv->pool.unpin(srv->pool.ctx, e->pin);
			*e = (struct piece){k->data, e->n, k, 0, e->lsn};
		}
	}
}
