/* Slabs: units of 64 KiB that hold objects of one class. What is allocated is said by bitmaps in the extent's head,
 * edited by the tick like anything else, so allocation commits with the data and recovery has nothing to mend.
 * In DRAM each slab that is worked with has a `busy` map: objects that must not be handed out now. */
#include "internal.h"

#include "base/mem.h"

#include <sys/mman.h>

static uint32_t words_of(unsigned cls)
{
	return (st__classes()[cls].per_slab + 63) / 64;
}

/* ---- lists ---- */

static void push_partial(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	if (b->listed || st->current[b->cls] == s)
		return;
	b->listed = 1;
	b->prev = 0;
	b->next = st->partial[b->cls];
	if (b->next)
		st->slab[b->next].prev = s;
	st->partial[b->cls] = s;
}

static void drop_partial(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	if (b->next)
		st->slab[b->next].prev = b->prev;
	if (b->prev)
		st->slab[b->prev].next = b->next;
	else
		st->partial[b->cls] = b->next;
	b->listed = 0;
}

static void push_free(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	mem_free(b->busy);
	b->busy = NULL;
	b->cls = 0;
	b->state = ST__SLAB_FREE;
	b->next = st->free_head;
	st->free_head = s;
	st->free_slabs++;
}

static uint32_t pop_free(struct store *st)
{
	uint32_t s = st->free_head;
	if (s) {
		st->free_head = st->slab[s].next;
		st->free_slabs--;
	}
	return s;
}

/* ---- becoming known ---- */

enum err st__slabs_init(struct store *st)
{
	st->slab_n = (st->pool->reserved >> ST__SLAB_SHIFT) + 1;
	void *p = mmap(NULL, st->slab_n * sizeof(*st->slab), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return ERR_MEMORY;
	st->slab = p;
	return ERR_OK;
}

/* Extent 1's units hold the meta block behind head, words and bitmaps. */
static void geometry(struct st__extent_layout *x, unsigned index, enum st__extent_kind kind, uint64_t start,
	uint64_t slabs)
{
	*x = (struct st__extent_layout){.magic = ST__MAGIC, .index = index, .kind = kind, .start = start, .slabs = slabs};
	uint64_t at = 128;
	if (kind == ST__EXTENT_DATA) {
		x->words = start + at;
		at = (at + slabs * 8 + 63) & ~63ull;
		x->bitmaps = start + at;
		at += slabs * ST__BITMAP;
		if (index == 1)
			at += sizeof(struct st__meta_layout);
	}
	x->head_slabs = (at + ST__SLAB - 1) / ST__SLAB;
	x->sum = st__sum(0, x, offsetof(struct st__extent_layout, sum));
}

uint64_t st__meta_place(const struct st__extent_layout *x)
{
	return x->bitmaps + x->slabs * ST__BITMAP;
}

bool st__extent_valid(const struct st__pool *p, unsigned index, uint64_t start)
{
	const struct st__extent_layout *x = (const void *)(p->base + start);
	return x->magic == ST__MAGIC && x->index == index && x->start == start &&
		x->sum == st__sum(0, x, offsetof(struct st__extent_layout, sum));
}

bool st__extent_fits(const struct st__extent_layout *x, enum st__extent_kind kind)
{
	struct st__extent_layout want;
	geometry(&want, x->index, kind, x->start, x->slabs);
	return x->slabs > want.head_slabs && memcmp(x, &want, sizeof(want)) == 0;
}

enum err st__extent_format(struct st__pool *p, unsigned index, enum st__extent_kind kind, uint64_t start,
	uint64_t slabs)
{
	struct st__extent_layout x;
	geometry(&x, index, kind, start, slabs);
	if (slabs <= x.head_slabs)
		return ERR_ARGUMENT;
	char *at = p->base + start;
	size_t n = x.head_slabs * ST__SLAB;
	memset(at, 0, n);
	if (kind == ST__EXTENT_DATA) {
		uint64_t *word = (uint64_t *)(void *)(p->base + x.words);
		for (uint64_t i = 0; i < x.head_slabs; i++)
			word[i] = (uint64_t)ST__SLAB_HEAD << 8;
	}
	if (kind == ST__EXTENT_DATA && index == 1) {
		struct st__meta_layout *m = (void *)(p->base + st__meta_place(&x));
		m->epoch = 1;
	}
	p->ops->persist(p, at, n);
	memcpy(at, &x, sizeof(x));
	p->ops->persist(p, at, sizeof(x));
	return ERR_OK;
}

static bool word_sound(uint64_t word, bool head)
{
	unsigned cls = word & 0xff, state = word >> 8 & 0xff;
	if (head)
		return word == (uint64_t)ST__SLAB_HEAD << 8;
	bool used = state == ST__SLAB_PARTIAL || state == ST__SLAB_FULL;
	return word == 0 || (used && word >> 16 == 0 && cls < st__class_count());
}

bool st__extent_adopt(struct store *st, uint64_t start)
{
	const struct st__extent_layout *x = (const void *)(st->pool->base + start);
	const uint64_t *word = (const void *)(st->pool->base + x->words);
	uint32_t first = (uint32_t)(start >> ST__SLAB_SHIFT);
	CHECK2(first + x->slabs <= st->slab_n, start, x->slabs);
	/* Backwards, so that lists hand out low slabs first. */
	for (uint64_t i = x->slabs; i-- > 0;) {
		uint32_t s = first + (uint32_t)i;
		struct st__slab *b = &st->slab[s];
		if (!word_sound(word[i], i < x->head_slabs))
			return false;
		b->word_off = x->words + i * 8;
		b->bits_off = x->bitmaps + i * ST__BITMAP;
		b->cls = (uint16_t)(word[i] & 0xff);
		b->state = (uint8_t)(word[i] >> 8 & 0xff);
		if (b->state == ST__SLAB_FREE)
			push_free(st, s);
		else if (b->state == ST__SLAB_PARTIAL)
			push_partial(st, s);
	}
	st->slabs += x->slabs - x->head_slabs;
	st->stats.mapped += x->slabs * ST__SLAB;
	return true;
}

void st__slab_look(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	if (LIKELY(b->busy != NULL))
		return;
	uint32_t w = words_of(b->cls);
	b->busy = mem_alloc(w * 8);
	memcpy(b->busy, st->pool->base + b->bits_off, w * 8);
	b->used = 0;
	for (uint32_t i = 0; i < w; i++)
		b->used += (uint32_t)__builtin_popcountll(b->busy[i]);
}

static void touch(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	if (b->touched == st->tick)
		return;
	b->touched = st->tick;
	if (st->touched_n == st->touched_cap) {
		st->touched_cap = st->touched_cap ? st->touched_cap * 2 : 256;
		st->touched = mem_realloc(st->touched, st->touched_cap * sizeof(*st->touched));
	}
	st->touched[st->touched_n++] = s;
}

/* ---- handing out ---- */

/* A free object's number in the class's current slab; moves on to other slabs; -1: no room at all. */
static int take(struct store *st, unsigned cls, uint32_t *slab_out)
{
	const struct st__class *c = &st__classes()[cls];
	for (;;) {
		uint32_t s = st->current[cls];
		if (s) {
			struct st__slab *b = &st->slab[s];
			uint32_t w = words_of(cls);
			for (uint32_t i = st->scan[cls]; i < w; i++) {
				uint64_t free_bits = ~b->busy[i];
				if (i == w - 1 && c->per_slab % 64)
					free_bits &= (1ull << c->per_slab % 64) - 1;
				if (free_bits) {
					unsigned k = (unsigned)__builtin_ctzll(free_bits);
					b->busy[i] |= 1ull << k;
					st->scan[cls] = i;
					*slab_out = s;
					return (int)(i * 64 + k);
				}
			}
			st->current[cls] = 0;
		}
		st->scan[cls] = 0;
		s = st->partial[cls];
		if (s) {
			drop_partial(st, s);
			st__slab_look(st, s);
		} else {
			s = pop_free(st);
			if (!s)
				return -1;
			struct st__slab *b = &st->slab[s];
			b->cls = (uint16_t)cls;
			b->state = ST__SLAB_PARTIAL;
			b->busy = mem_zalloc(words_of(cls) * 8);
			b->used = 0;
		}
		st->current[cls] = s;
	}
}

/* Of a build broken on purpose: an object is reused in the tick that freed it. */
static void forget_death(struct store *st, st_off off)
{
	for (uint32_t i = 0; i < st->died_n; i++)
		if (st->died[i] == off) {
			st->died[i] = st->died[--st->died_n];
			return;
		}
}

void *st_alloc(struct store *st, size_t n, enum st_kind kind, st_off *off_out)
{
	unsigned cls = st__class_of(n);
	CHECK2(cls < ST__CLASSES, n, ST_OBJ_MAX);
	uint32_t s;
	int k = take(st, cls, &s);
	if (UNLIKELY(k < 0))
		return NULL;
	st->slab[s].used++;
	touch(st, s);
	st_off off = ((uint64_t)s << ST__SLAB_SHIFT) + (uint64_t)k * st__classes()[cls].size;
	if (UNLIKELY(st->born_n == st->born_cap)) {
		st->born_cap = st->born_cap ? st->born_cap * 2 : 1024;
		st->born = mem_realloc(st->born, st->born_cap * sizeof(*st->born));
	}
	struct st__entry *e = st__find(st, off);
	if (UNLIKELY(e != NULL)) {
		DCHECK2(e->flags & ST__DEAD, off, e->flags);
		if (ST__BROKEN(REUSE_EARLY))
			forget_death(st, off);
		st__save(st, e);
		e->flags = ST__FRESH;
	} else {
		e = st__put(st, off, 0, ST__FRESH);
	}
	e->n = (uint32_t)(n + 7) & ~7u;
	e->filled_n = 0;
	e->owner = st->born_n;
	e->p = st->front.base + off;
	st->born[st->born_n++] = off;
	struct st_obj *o = (void *)e->p;
	*o = (struct st_obj){.birth = st->epoch, .cls = (uint8_t)cls, .kind = (uint8_t)kind};
	*off_out = off;
	return o;
}

/* Shorter contents are better copied and flushed: the line is in the cache anyway. */
#define FILL_MIN 1024u

void st_fill(struct store *st, void *fresh_at, const void *src, size_t n)
{
	struct st__medium *m = st->medium;
	st_off at = (st_off)((char *)fresh_at - st->front.base);
	uint32_t s = (uint32_t)(at >> ST__SLAB_SHIFT);
	const struct st__class *c = &st__classes()[st->slab[s].cls];
	st_off off = ((uint64_t)s << ST__SLAB_SHIFT) + (uint64_t)st__object_number(c, at) * c->size;
	struct st__entry *e = c->size < FILL_MIN || !m->ops->fill ? NULL : st__find(st, off);
	DCHECK2(!e || e->flags & ST__FRESH, off, e->flags);
	if (!e || n < FILL_MIN || e->filled_n) {
		memcpy(fresh_at, src, n);
		if (e)
			e->filled_n = 0;
		return;
	}
	m->ops->fill(m, fresh_at, src, n);
	e->filled = (uint32_t)(at - off);
	e->filled_n = (uint32_t)n;
}

static void clear_busy(struct store *st, st_off off)
{
	uint32_t s = (uint32_t)(off >> ST__SLAB_SHIFT);
	struct st__slab *b = &st->slab[s];
	unsigned k = st__object_number(&st__classes()[b->cls], off);
	b->busy[k / 64] &= ~(1ull << (k & 63));
	if (st->current[b->cls] == s) {
		if (k / 64 < st->scan[b->cls])
			st->scan[b->cls] = k / 64;
	} else {
		push_partial(st, s);
	}
}

/* Its bytes are free for reuse, once no reader needs them. */
static void reusable(struct store *st, st_off off)
{
	struct st__pin *pin = st->pins_n ? st__pin_find(st, off) : NULL;
	if (pin) {
		pin->freed = true;
		st->slab[off >> ST__SLAB_SHIFT].withheld++;
	} else {
		clear_busy(st, off);
	}
}

void st_free(struct store *st, st_off off)
{
	const struct st_obj *o = st_home(st, off);
	if (UNLIKELY(st->floor != 0) && o->birth <= st->floor)
		st__push(st, false, off, o->birth, (uint32_t)st_size(st, off));
	else
		st__free_own(st, off);
}

void st__free_own(struct store *st, st_off off)
{
	uint32_t s = (uint32_t)(off >> ST__SLAB_SHIFT);
	struct st__entry *e = st__find(st, off);
	CHECK2(!e || !(e->flags & ST__DEAD), off, e ? e->flags : 0);
	if (e && e->flags & ST__FRESH) {
		st__save(st, e);
		st->born[e->owner] = 0;
		e->flags |= ST__DEAD;
		st->slab[s].used--;
		reusable(st, off);
		return;
	}
	if (e) {
		st__save(st, e);
		e->flags |= ST__DEAD;
	} else {
		st__put(st, off, 0, ST__DEAD);
	}
	st__slab_look(st, s);
	st->slab[s].used--;
	touch(st, s);
	if (UNLIKELY(st->died_n == st->died_cap)) {
		st->died_cap = st->died_cap ? st->died_cap * 2 : 1024;
		st->died = mem_realloc(st->died, st->died_cap * sizeof(*st->died));
	}
	st->died[st->died_n++] = off;
	if (ST__BROKEN(REUSE_EARLY))
		clear_busy(st, off);
}

void st__slab_unborn(struct store *st, st_off off)
{
	st->slab[off >> ST__SLAB_SHIFT].used--;
	clear_busy(st, off);
}

void st__slab_undied(struct store *st, st_off off)
{
	st->slab[off >> ST__SLAB_SHIFT].used++;
}

void st__slab_reborn(struct store *st, st_off off)
{
	struct st__slab *b = &st->slab[off >> ST__SLAB_SHIFT];
	unsigned k = st__object_number(&st__classes()[b->cls], off);
	b->used++;
	b->busy[k / 64] |= 1ull << (k & 63);
}

void st_prefetch_free(const struct store *st, st_off off)
{
	const struct st__slab *b = &st->slab[off >> ST__SLAB_SHIFT];
	if (!b->busy)
		return;
	unsigned k = st__object_number(&st__classes()[b->cls], off);
	__builtin_prefetch(&b->busy[k / 64]);
	__builtin_prefetch(st->front.base + b->bits_off + k / 64 * 8);
}

/* ---- commit ---- */

static uint64_t *bitmap_word(struct store *st, st_off off, unsigned *bit_out)
{
	const struct st__slab *b = &st->slab[off >> ST__SLAB_SHIFT];
	unsigned k = st__object_number(&st__classes()[b->cls], off);
	uint64_t at = b->bits_off + k / 64 * 8;
	char *line = st__edit_raw(st, at & ~63ull, ST__LINE);
	*bit_out = k & 63;
	return (uint64_t *)(void *)(line + (at & 63));
}

void st__slabs_edit(struct store *st)
{
	int64_t objects = 0, bytes = 0;
	unsigned bit;
	for (uint32_t i = 0; i < st->born_n; i++) {
		st_off off = st->born[i];
		if (!off)
			continue;
		uint64_t *w = bitmap_word(st, off, &bit);
		DCHECK2(!(*w >> bit & 1) || ST__BROKEN(REUSE_EARLY), off, *w);
		*w |= 1ull << bit;
		objects++;
		bytes += st__classes()[st->slab[off >> ST__SLAB_SHIFT].cls].size;
	}
	for (uint32_t i = 0; i < st->died_n; i++) {
		uint64_t *w = bitmap_word(st, st->died[i], &bit);
		DCHECK2(*w >> bit & 1, st->died[i], *w);
		*w &= ~(1ull << bit);
		objects--;
		bytes -= st__classes()[st->slab[st->died[i] >> ST__SLAB_SHIFT].cls].size;
	}
	for (uint32_t i = 0; i < st->touched_n; i++) {
		struct st__slab *b = &st->slab[st->touched[i]];
		const struct st__class *c = &st__classes()[b->cls];
		unsigned state = b->used == 0 ? ST__SLAB_FREE : b->used == c->per_slab ? ST__SLAB_FULL : ST__SLAB_PARTIAL;
		uint64_t word = state == ST__SLAB_FREE ? 0 : b->cls | (uint64_t)state << 8;
		b->state = (uint8_t)state;
		const char *line = st_view(st, b->word_off & ~63ull);
		if (*(const uint64_t *)(const void *)(line + (b->word_off & 63)) == word)
			continue;
		line = st__edit_raw(st, b->word_off & ~63ull, ST__LINE);
		*(uint64_t *)(void *)(line + (b->word_off & 63)) = word;
	}
	if (objects || bytes) {
		struct st__meta_layout *m = st__meta_edit(st);
		m->objects += (uint64_t)objects;
		m->object_bytes += (uint64_t)bytes;
	}
}

/* An empty slab goes back to all classes, unless it is the one being filled or readers still hold parts of it. */
static void release_if_empty(struct store *st, uint32_t s)
{
	struct st__slab *b = &st->slab[s];
	if (b->state != ST__SLAB_FREE || b->used || b->withheld || !b->busy)
		return;
	if (b->listed)
		drop_partial(st, s);
	if (st->current[b->cls] == s) {
		st->current[b->cls] = 0;
		st->scan[b->cls] = 0;
	}
	push_free(st, s);
}

void st__slabs_committed(struct store *st)
{
	for (uint32_t i = 0; i < st->died_n; i++)
		reusable(st, st->died[i]);
	for (uint32_t i = 0; i < st->touched_n; i++)
		release_if_empty(st, st->touched[i]);
	st->born_before = st->born_n;
	st->born_n = 0;
	st->died_n = 0;
	st->touched_n = 0;
	if (++st->tick == 0)
		st->tick = 1;
}

/* The last reader of a freed object has gone: its bytes may be reused. */
void st__slab_unwithhold(struct store *st, st_off off)
{
	uint32_t s = (uint32_t)(off >> ST__SLAB_SHIFT);
	st->slab[s].withheld--;
	clear_busy(st, off);
	release_if_empty(st, s);
}

uint32_t st__slab_take(struct store *st)
{
	uint32_t s = pop_free(st);
	if (s)
		st->slab[s].state = ST__SLAB_HEAD;
	return s;
}

void st__slab_give(struct store *st, uint32_t s)
{
	push_free(st, s);
}
