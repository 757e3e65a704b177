/* The log of media that are durable by cache lines (pmem, and its simulation): extent 0.
 *
 *   units: [extent head 64 KiB][64 record heads of 64 bytes, rest of 64 KiB][payload ring ...]
 *
 * Record seq has its head in line seq % 64 and its body in the ring, or in whole free slabs where it is too big, the
 * slabs' offsets then standing in the ring. Heads are apart from bodies, so no body is ever read as a head.
 *
 * Only the newest valid record is ever replayed: when a tick's first fence is passed, everything before that tick is
 * home and durable. The newest may be torn, so its predecessor must be whole until then: a record never overwrites
 * its predecessor's bytes. It takes a third of the ring at most; two thirds are always free of the predecessor. */
#include "internal.h"

#include "base/mem.h"

struct lines {
	struct st__medium m;
	const struct st__line_ops *ops;
	void *ctx;
	struct st__record_layout *heads;
	char *ring;
	uint64_t ring_off, ring_n;
	uint64_t at; /* where the next body goes */
	uint64_t durable;
	bool pending; /* something was flushed since the last fence */
};

static struct lines *lines_of(struct st__medium *m)
{
	return (struct lines *)(void *)m;
}

static void lines_fresh(struct st__medium *m, const void *p, size_t n)
{
	struct lines *l = lines_of(m);
	l->ops->flush(l->ctx, p, n);
}

static void lines_fill(struct st__medium *m, void *p, const void *src, size_t n)
{
	struct lines *l = lines_of(m);
	l->ops->stream(l->ctx, p, src, n);
}

static void lines_barrier(struct st__medium *m)
{
	struct lines *l = lines_of(m);
	l->ops->fence(l->ctx);
	m->st->stats.fences++;
}

/* Writes a body too big for the ring into slabs; the list of their offsets becomes what the ring holds. */
static uint64_t *spill(struct lines *l, const uint64_t *body, uint64_t bytes, uint32_t *n_out)
{
	struct store *st = l->m.st;
	uint32_t n = (uint32_t)((bytes + ST__SLAB - 1) / ST__SLAB);
	uint64_t *list = mem_alloc(n * 8);
	uint32_t *held = mem_alloc(n * sizeof(*held));
	for (uint32_t i = 0; i < n; i++) {
		held[i] = st__slab_take(st);
		CHECK2(held[i] != 0, bytes, i); /* st_reserve and the bound of units keep this room */
		list[i] = (uint64_t)held[i] << ST__SLAB_SHIFT;
		uint64_t from = (uint64_t)i * ST__SLAB, k = bytes - from < ST__SLAB ? bytes - from : ST__SLAB;
		l->ops->stream(l->ctx, st->front.base + list[i], (const char *)body + from, k);
	}
	st->spill_hold[0] = held;
	st->spill_hold_n[0] = n;
	*n_out = n;
	return list;
}

/* Slabs under the record before the last are free again; the last one's are kept one record longer. */
static void rotate_held(struct store *st)
{
	for (uint32_t i = 0; i < st->spill_hold_n[1]; i++)
		st__slab_give(st, st->spill_hold[1][i]);
	mem_free(st->spill_hold[1]);
	st->spill_hold[1] = st->spill_hold[0];
	st->spill_hold_n[1] = st->spill_hold_n[0];
	st->spill_hold[0] = NULL;
	st->spill_hold_n[0] = 0;
}

static void lines_append(struct st__medium *m, struct st__record *r)
{
	struct lines *l = lines_of(m);
	struct st__record_layout *h = r->head;
	const uint64_t *body = (const uint64_t *)(void *)(h + 1);
	const void *src = body;
	uint64_t n = h->bytes, *list = NULL;
	rotate_held(m->st);
	if (UNLIKELY(n > l->ring_n / 3)) {
		list = spill(l, body, n, &h->spill);
		src = list;
		n = (uint64_t)h->spill * 8;
	}
	n = (n + ST__LINE - 1) & ~(uint64_t)(ST__LINE - 1);
	if (l->at + n > l->ring_n)
		l->at = 0;
	h->at = l->ring_off + l->at;
	h->sum = st__record_sum(h, body);
	if (n)
		l->ops->stream(l->ctx, l->ring + l->at, src, list ? (uint64_t)h->spill * 8 : h->bytes);
	l->ops->stream(l->ctx, &l->heads[h->seq % ST__HEADS], h, sizeof(*h));
	l->ops->fence(l->ctx);
	m->st->stats.fences++;
	l->at += n;
	l->durable = h->seq;
	mem_free(list);
}

static void lines_apply(struct st__medium *m, uint64_t off, const void *src, size_t n)
{
	struct lines *l = lines_of(m);
	char *dst = m->st->front.base + off;
	l->ops->store(l->ctx, dst, src, n);
	l->ops->flush(l->ctx, dst, n);
}

static uint64_t lines_durable(struct st__medium *m)
{
	return lines_of(m)->durable;
}

/* Gathers a spilled body; NULL when a slab offset is nonsense. */
static uint64_t *unspill(struct lines *l, const struct st__record_layout *h)
{
	struct store *st = l->m.st;
	const uint64_t *list = (const void *)(st->front.base + h->at);
	if (h->bytes > (uint64_t)h->spill * ST__SLAB)
		return NULL;
	uint64_t *body = mem_try(h->bytes);
	if (!body)
		return NULL;
	for (uint32_t i = 0; i < h->spill; i++) {
		uint64_t from = (uint64_t)i * ST__SLAB;
		uint64_t k = from >= h->bytes ? 0 : h->bytes - from < ST__SLAB ? h->bytes - from : ST__SLAB;
		if (list[i] % ST__SLAB || !st__in_extents(st, list[i], ST__SLAB)) {
			mem_free(body);
			return NULL;
		}
		memcpy((char *)body + from, st->front.base + list[i], k);
	}
	return body;
}

/* The body of a head if the whole record is valid; the caller frees *copy_out. */
static const uint64_t *valid_body(
	struct lines *l, const struct st__record_layout *h, unsigned line, uint64_t **copy_out)
{
	*copy_out = NULL;
	uint64_t in_ring = h->spill ? (uint64_t)h->spill * 8 : h->bytes;
	if (h->seq == 0 || h->seq % ST__HEADS != line || h->bytes % 8 || h->at % ST__LINE || h->at < l->ring_off ||
		in_ring > l->ring_n || h->at - l->ring_off > l->ring_n - in_ring)
		return NULL;
	const uint64_t *body = (const void *)(l->m.st->front.base + h->at);
	if (h->spill)
		body = *copy_out = unspill(l, h);
	if (body && (h->sum == st__record_sum(h, body) || ST__BROKEN(SKIP_SUM)))
		return body;
	mem_free(*copy_out);
	*copy_out = NULL;
	return NULL;
}

/* The newest valid record with seq below `below`. */
static const struct st__record_layout *newest_below(struct lines *l, uint64_t below)
{
	const struct st__record_layout *newest = NULL;
	for (unsigned i = 0; i < ST__HEADS; i++) {
		const struct st__record_layout *h = &l->heads[i];
		uint64_t *copy;
		if (h->seq >= below || (newest && h->seq <= newest->seq) || !valid_body(l, h, i, &copy))
			continue;
		mem_free(copy);
		newest = h;
	}
	return newest;
}

/* Where the record `newest` is the last that was written whole, every other head is what the last 64 records left, but
 * for the one that may have been torn. Others were written later and damaged since: replaying this one would undo what
 * they have stored home. */
static bool heads_fit(const struct lines *l, uint64_t newest)
{
	for (uint64_t i = 0; i < ST__HEADS; i++) {
		uint64_t back = (newest - i) % ST__HEADS;
		if (i != (newest + 1) % ST__HEADS && l->heads[i].seq != (back < newest ? newest - back : 0))
			return false;
	}
	return true;
}

static enum err lines_recover(struct st__medium *m, bool clean,
	enum err (*replay)(struct store *, const struct st__record_layout *, const uint64_t *), uint64_t *seq_out,
	uint64_t *salt_out, struct errinfo *ei)
{
	struct lines *l = lines_of(m);
	const struct st__record_layout *newest = newest_below(l, UINT64_MAX);
	*seq_out = 0;
	*salt_out = 0;
	if (!clean && !heads_fit(l, newest ? newest->seq : 0))
		return err_set(ei, ERR_CORRUPT,
			"the pool's log is damaged: records are missing from it; restore the pool from a "
			"backup");
	if (!newest)
		return ERR_OK;
	*seq_out = newest->seq;
	*salt_out = newest->salt;
	l->durable = newest->seq;
	/* The next record must spare this one's bytes. */
	uint64_t n = newest->spill ? (uint64_t)newest->spill * 8 : newest->bytes;
	l->at = newest->at - l->ring_off + ((n + ST__LINE - 1) & ~(uint64_t)(ST__LINE - 1));
	if (clean)
		return ERR_OK;
	uint64_t *copy;
	if (ST__BROKEN(REPLAY_OLDER) && newest_below(l, newest->seq))
		newest = newest_below(l, newest->seq);
	const uint64_t *body = valid_body(l, newest, (unsigned)(newest->seq % ST__HEADS), &copy);
	enum err e = replay(m->st, newest, body);
	mem_free(copy);
	if (e)
		return err_set(ei, e, "the pool's log holds a record that leads outside the pool: the pool is damaged");
	l->ops->fence(l->ctx);
	return ERR_OK;
}

static void lines_none(struct st__medium *m, enum st_durability d)
{
	(void)m;
	(void)d;
}

static enum err lines_extent_added(struct st__medium *m, uint64_t start, uint64_t bytes, struct errinfo *ei)
{
	(void)m;
	(void)start;
	(void)bytes;
	(void)ei;
	return ERR_OK;
}

static const char *lines_write_error(struct st__medium *m)
{
	(void)m;
	return NULL;
}

static void lines_stats(struct st__medium *m, struct st_stats *out)
{
	struct lines *l = lines_of(m);
	out->log_size = l->ring_n;
	out->log_used = 0;
}

static void lines_close(struct st__medium *m)
{
	struct lines *l = lines_of(m);
	rotate_held(m->st);
	rotate_held(m->st);
	l->ops->fence(l->ctx);
	mem_free(l);
}

static const struct st__medium_ops lines_ops = {
	.name = "lines",
	.fresh_in_log = false,
	.fresh = lines_fresh,
	.fill = lines_fill,
	.barrier = lines_barrier,
	.append = lines_append,
	.apply = lines_apply,
	.durable = lines_durable,
	.recover = lines_recover,
	.set_durability = lines_none,
	.extent_added = lines_extent_added,
	.write_error = lines_write_error,
	.stats = lines_stats,
	.close = lines_close,
};

struct st__medium *st__medium_lines(struct store *st, const struct st__line_ops *ops, void *ctx)
{
	struct lines *l = mem_zalloc(sizeof(*l));
	struct st__pool *p = st->pool;
	uint64_t start, slabs;
	if (p->ops->locate(p, 0, &start, &slabs, NULL) != ERR_OK) {
		mem_free(l);
		return NULL;
	}
	l->m.ops = &lines_ops;
	l->m.st = st;
	l->ops = ops;
	l->ctx = ctx;
	l->heads = (void *)(p->base + start + ST__SLAB);
	l->ring_off = start + ST__SLAB + ST__HEADS * ST__LINE;
	l->ring = p->base + l->ring_off;
	l->ring_n = (slabs - 1) * ST__SLAB - ST__HEADS * ST__LINE;
	return &l->m;
}
