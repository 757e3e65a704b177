/* Commit: the tick becomes one record in the log, then what it says is stored home. README.md, "The tick". */
#include "internal.h"

#include "base/mem.h"

#ifdef PERDURE_FAULTS
enum st__broken st__broken;
#endif

#define HEAD_WORDS (sizeof(struct st__record_layout) / 8)
#define RUN_MAX ((1u << 20) - 1)

uint64_t st__record_sum(const struct st__record_layout *head, const uint64_t *body)
{
	uint64_t sum = st__sum(0, head, offsetof(struct st__record_layout, sum));
	return st__sum(sum, body, head->bytes);
}

/* Room for n more words behind the first `have`. */
static uint64_t *record_room(struct store *st, uint64_t have, uint64_t n)
{
	if (UNLIKELY(have + n > st->record_cap)) {
		uint64_t cap = st->record_cap ? st->record_cap : 64 * 1024;
		while (cap < have + n)
			cap *= 2;
		uint64_t *p = mem_aligned(64, cap * 8);
		if (st->record)
			memcpy(p, st->record, have * 8);
		mem_free(st->record);
		st->record = p;
		st->record_cap = cap;
	}
	return st->record;
}

static inline uint64_t run_head(uint64_t off, uint64_t words)
{
	return off / 8 << 20 | words;
}

/* Appends the words of an overlay copy that differ from home. Runs one equal word apart are joined: a run's own
 * head costs as much. */
static uint64_t add_differences(struct store *st, uint64_t n, const struct st__entry *e)
{
	const uint64_t *a = (const void *)e->p, *b = (const void *)(st->front.base + e->off);
	uint64_t w = e->n / 8;
	uint64_t *out = record_room(st, n, 2 * w + 2);
	for (uint64_t k = 0; k < w;) {
		if (a[k] == b[k]) {
			k++;
			continue;
		}
		uint64_t end = k + 1;
		while (end < w && (a[end] != b[end] || (end + 1 < w && a[end + 1] != b[end + 1])))
			end++;
		out[n++] = run_head(e->off + k * 8, end - k);
		while (k < end)
			out[n++] = a[k++];
	}
	return n;
}

static uint64_t add_whole(struct store *st, uint64_t n, const struct st__entry *e)
{
	uint64_t w = e->n / 8;
	uint64_t *out = record_room(st, n, w + 1);
	DCHECK2(w <= RUN_MAX, w, RUN_MAX);
	out[n++] = run_head(e->off, w);
	memcpy(out + n, e->p, e->n);
	return n + w;
}

static bool part_of_dead(const struct store *st, const struct st__entry *e)
{
	if (!(e->flags & ST__PART))
		return false;
	const struct st__entry *o = st__find(st, e->owner);
	return o && o->flags & ST__DEAD;
}

/* What st_fill streamed is on its way already. */
static void flush_fresh(struct st__medium *m, const struct st__entry *e)
{
	uint32_t end = e->filled + e->filled_n;
	if (LIKELY(e->filled_n == 0)) {
		m->ops->fresh(m, e->p, e->n);
		return;
	}
	m->ops->fresh(m, e->p, e->filled);
	if (end < e->n)
		m->ops->fresh(m, e->p + end, e->n - end);
}

/* Flushes or logs what is fresh, logs what differs; returns the record's length in words. */
static uint64_t build(struct store *st, bool *fresh_out)
{
	struct st__medium *m = st->medium;
	uint64_t n = HEAD_WORDS;
	record_room(st, 0, HEAD_WORDS);
	for (uint32_t i = 0; i < st->front.overlay_n; i++) {
		const struct st__entry *e = &st->entries[i];
		if (e->flags & ST__DEAD || part_of_dead(st, e))
			continue;
		if (!(e->flags & ST__FRESH)) {
			n = add_differences(st, n, e);
			continue;
		}
		*fresh_out = true;
		st->stats.fresh_bytes += e->n;
		if (m->ops->fresh_in_log)
			n = add_whole(st, n, e);
		else if (!ST__BROKEN(DROP_FLUSH) || i % 4)
			flush_fresh(m, e);
	}
	return n;
}

static void apply(struct store *st, const uint64_t *body, uint64_t words, bool skip_fresh)
{
	struct st__medium *m = st->medium;
	for (uint64_t k = 0; k < words;) {
		uint64_t off = (body[k] >> 20) * 8, w = body[k] & RUN_MAX;
		/* Fresh contents in the log are home already. */
		const struct st__entry *e = skip_fresh ? st__find(st, off) : NULL;
		if (e && e->flags & ST__FRESH)
			m->ops->dirtied(m, off, w * 8);
		else
			m->ops->apply(m, off, body + k + 1, w * 8);
		st->stats.apply_bytes += w * 8;
		k += w + 1;
	}
}

uint64_t st_commit(struct store *st)
{
	CHECK2(st->unit == 0, st->unit, 0);
	if (st->front.overlay_n == 0)
		return st->seq;
	struct st__medium *m = st->medium;
	bool fresh = false;
	st__slabs_edit(st);
	uint64_t n = build(st, &fresh);
	if (n > HEAD_WORDS || fresh) {
		struct st__record_layout *head = (void *)st->record;
		*head = (struct st__record_layout){.salt = st->salt, .seq = ++st->seq, .bytes = (n - HEAD_WORDS) * 8,
			.kind = ST__RECORD_TICK};
		if (!ST__BROKEN(DROP_FENCE))
			m->ops->barrier(m);
		if (ST__BROKEN(APPLY_FIRST))
			apply(st, st->record + HEAD_WORDS, n - HEAD_WORDS, m->ops->fresh_in_log);
		m->ops->append(m, &(struct st__record){.head = head, .words = n - HEAD_WORDS});
		apply(st, st->record + HEAD_WORDS, n - HEAD_WORDS, m->ops->fresh_in_log);
		st->stats.ticks++;
		st->stats.log_bytes += n * 8;
	}
	st->epoch = st__meta(st)->epoch;
	st->floor = st__meta(st)->floor;
	st__slabs_committed(st);
	st__overlay_reset(st);
	st__poll_growth(st);
	if (m->ops->idle)
		m->ops->idle(m);
	if (st->record_cap > 1024 * 1024) { /* words: an unusual tick's record is not kept */
		mem_free(st->record);
		st->record = NULL;
		st->record_cap = 0;
	}
	return st->seq;
}

bool st_dirty(const struct store *st)
{
	return st->front.overlay_n != 0;
}

uint64_t st_durable(const struct store *st)
{
	return st->medium->ops->durable(st->medium);
}

const char *st_write_error(const struct store *st)
{
	return st->medium->ops->write_error(st->medium);
}

/* Recovery: stores a record's runs home. Every run is checked before the first is stored. */
enum err st__replay(struct store *st, const struct st__record_layout *head, const uint64_t *body)
{
	uint64_t words = head->bytes / 8;
	for (uint64_t k = 0; k < words;) {
		uint64_t off = (body[k] >> 20) * 8, w = body[k] & RUN_MAX;
		if (w == 0 || w > words - k - 1 || !st__in_extents(st, off, w * 8))
			return ERR_CORRUPT;
		k += w + 1;
	}
	apply(st, body, words, false);
	st->stats.recovered_records++;
	return ERR_OK;
}
