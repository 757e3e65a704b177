/* The command table: rows as registered, copied beside their statistics, and found by name.
 *
 * Names are at most 24 bytes, so a name in lower case is three words, zero padded; looking one up is folding, one
 * multiplication and, nearly always, one comparison of three words. */
#include "commands/internal.h"

#include "base/mem.h"

#include <stdio.h>

#define NAME_MAX_BYTES (CMD_NAME_WORDS * 8)

/* ASCII capitals of eight bytes at once to small letters: a byte gets its bit 5 when it is between 'A' and 'Z'. */
static inline uint64_t fold_word(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t low = w & 0x7f * ones;
	uint64_t above = low + (0x7f - 'Z') * ones;
	uint64_t from = low + (0x80 - 'A') * ones;
	return w | (((~w & (from ^ above)) & 0x80 * ones) >> 2);
}

/* 1 to 7 bytes, without reading beyond them. */
static inline uint64_t load_tail(const char *p, size_t n)
{
	if (n >= 4) {
		uint32_t a, b;
		memcpy(&a, p, 4);
		memcpy(&b, p + n - 4, 4);
		return a | (uint64_t)b << (n - 4) * 8;
	}
	uint64_t w = (uint8_t)p[0];
	if (n >= 2)
		w |= (uint64_t)(uint8_t)p[n / 2] << n / 2 * 8 | (uint64_t)(uint8_t)p[n - 1] << (n - 1) * 8;
	return w;
}

static inline bool fold_name(struct bytes name, struct cmd_name *out)
{
	size_t n = name.n;
	if (UNLIKELY(n == 0 || n > NAME_MAX_BYTES || name.p[n - 1] == '\0')) /* padding is not part of a name */
		return false;
	const char *p = name.p;
	*out = (struct cmd_name){{0}};
	unsigned i = 0;
	for (; n >= 8; n -= 8, p += 8, i++) {
		memcpy(&out->w[i], p, 8);
		out->w[i] = fold_word(out->w[i]);
	}
	if (n > 0)
		out->w[i] = fold_word(load_tail(p, n));
	return true;
}

static inline uint64_t hash_name(const struct cmd_name *k)
{
	return (k->w[0] ^ k->w[1] * 0x9E3779B97F4A7C15u ^ k->w[2] * 0xC2B2AE3D27D4EB4Fu) * 0xD6E8FEB86659FD93u;
}

static inline bool same_name(const struct cmd_name *a, const struct cmd_name *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2];
}

/* The slot that holds the name, or the empty one where it would stand. */
static inline struct cmd_slot *slot_of(const struct engine *e, const struct cmd_name *k)
{
	uint64_t mask = ((uint64_t)1 << (64 - e->shift)) - 1;
	uint64_t i = hash_name(k) >> e->shift;
	while (e->slots[i].row != NULL && !same_name(&e->slots[i].key, k))
		i = (i + 1) & mask;
	return &e->slots[i];
}

/* ---- looking up ---- */

static struct cmd_row *find_row(const struct engine *e, struct bytes name)
{
	struct cmd_name k;
	if (!fold_name(name, &k) || e->slots == NULL)
		return NULL;
	return slot_of(e, &k)->row;
}

static struct cmd_row *find_sub(const struct cmd_row *container, struct bytes name)
{
	struct cmd_name k;
	if (!fold_name(name, &k))
		return NULL;
	struct cmd_row *sub = container->sub;
	while (sub != NULL && !same_name(&sub->key, &k))
		sub = sub->next;
	return sub;
}

const struct cmd *engine_find(const struct engine *e, struct bytes name)
{
	const char *bar = name.n ? memchr(name.p, '|', name.n) : NULL;
	struct cmd_row *row;
	if (bar == NULL) {
		row = find_row(e, name);
	} else {
		size_t n = (size_t)(bar - name.p);
		row = find_row(e, (struct bytes){name.p, n});
		if (row != NULL)
			row = find_sub(row, (struct bytes){bar + 1, name.n - n - 1});
	}
	return row == NULL ? NULL : &row->c;
}

const struct cmd *engine_resolve(const struct engine *e, const struct bytes *argv, uint32_t argc)
{
	struct cmd_row *row = find_row(e, argv[0]);
	if (UNLIKELY(row != NULL && row->sub != NULL && argc > 1))
		row = find_sub(row, argv[1]);
	return row == NULL ? NULL : &row->c;
}

/* ---- facts of a row ---- */

const struct cmd *engine_parent(const struct cmd *c)
{
	return row_of(c)->parent == NULL ? NULL : &row_of(c)->parent->c;
}

const char *engine_fullname(const struct cmd *c)
{
	return row_of(c)->full;
}

uint32_t engine_acl(const struct cmd *c)
{
	return row_of(c)->acl;
}

void engine_key_range(const struct cmd *c, int *first_out, int *last_out, int *step_out)
{
	const struct cmd_row *row = row_of(c);
	*first_out = row->first;
	*last_out = row->last;
	*step_out = row->step;
}

struct cmd_stats *engine_stats(struct engine *e, const struct cmd *c)
{
	(void)e;
	return &row_of(c)->stats;
}

void engine_each(const struct engine *e,
	void (*fn)(void *ctx, const struct cmd *c, const struct cmd *parent), void *ctx)
{
	for (struct cmd_row *row = e->rows; row != NULL; row = row->next) {
		fn(ctx, &row->c, NULL);
		for (struct cmd_row *sub = row->sub; sub != NULL; sub = sub->next)
			fn(ctx, &sub->c, &row->c);
	}
}

/* ---- registering ---- */

static uint32_t full_acl(const struct cmd *c)
{
	uint32_t acl = c->acl, f = c->flags;
	if (f & CMD_WRITE)
		acl |= ACL_WRITE;
	if (f & CMD_READONLY && !(acl & ACL_SCRIPTING))
		acl |= ACL_READ;
	if (f & CMD_ADMIN)
		acl |= ACL_ADMIN | ACL_DANGEROUS;
	if (f & CMD_PUBSUB)
		acl |= ACL_PUBSUB;
	if (f & CMD_BLOCKING)
		acl |= ACL_BLOCKING;
	return acl | (f & CMD_FAST ? ACL_FAST : ACL_SLOW);
}

/* The one triple that older clients know: the ranges by index that follow each other without a gap. A specification
 * that does not fit into it means that the keys move. */
static void fill_range(struct cmd_row *row)
{
	int first = 0, last = 0;
	bool alone = row->c.keys_n == 1;
	for (unsigned i = 0; i < row->c.keys_n; i++) {
		const struct cmd_key_spec *k = &row->c.keys[i];
		bool gap = last > 0 && k->pos != last + 1;
		if (k->begin != KEYS_INDEX || k->find != KEYS_RANGE || (!alone && (k->step != 1 || gap))) {
			row->c.flags |= CMD_MOVABLEKEYS;
			continue;
		}
		if (k->flags & KEY_INCOMPLETE)
			row->c.flags |= CMD_MOVABLEKEYS;
		first = first == 0 ? k->pos : first;
		last = k->last >= 0 ? k->pos + k->last : k->last;
		row->step = k->step;
	}
	row->first = first;
	row->last = last;
}

static struct cmd_row *new_row(const struct cmd *c, struct cmd_row *parent)
{
	struct cmd_row *row = mem_aligned(64, sizeof(*row));
	memset(row, 0, sizeof(*row));
	row->c = *c;
	row->parent = parent;
	CHECK(fold_name(bytes_of(c->name), &row->key));
	while (row->c.keys_n < CMD_KEY_SPECS && row->c.keys[row->c.keys_n].begin != KEYS_NONE)
		row->c.keys_n++;
	row->acl = full_acl(c);
	fill_range(row);
	char full[64];
	snprintf(full, sizeof(full), "%s%s%s", parent ? parent->c.name : "", parent ? "|" : "", c->name);
	row->full = mem_strdup(full);
	struct cmd_row **tail = &row->sub;
	for (const struct cmd *sub = c->subs; sub != NULL && sub->name != NULL; sub++) {
		*tail = new_row(sub, row);
		tail = &(*tail)->next;
	}
	return row;
}

static void free_rows(struct cmd_row *row)
{
	while (row != NULL) {
		struct cmd_row *next = row->next;
		free_rows(row->sub);
		mem_free(row->full);
		mem_free(row->latency);
		mem_free(row);
		row = next;
	}
}

void engine__free_rows(struct engine *e)
{
	free_rows(e->rows);
	mem_free(e->slots);
	e->rows = e->rows_last = NULL;
	e->slots = NULL;
}

static void grow_slots(struct engine *e)
{
	struct cmd_slot *old = e->slots;
	size_t n = old == NULL ? 0 : (size_t)1 << (64 - e->shift);
	e->shift = old == NULL ? 64 - 8 : e->shift - 1;
	e->slots = mem_zalloc(sizeof(*e->slots) << (64 - e->shift));
	for (size_t i = 0; i < n; i++)
		if (old[i].row != NULL)
			*slot_of(e, &old[i].key) = old[i];
	mem_free(old);
}

void engine_register(struct engine *e, const struct cmd *table)
{
	for (; table->name != NULL; table++) {
		if (e->slots == NULL || e->names * 2 >= (size_t)1 << (64 - e->shift))
			grow_slots(e);
		struct cmd_row *row = new_row(table, NULL);
		struct cmd_slot *slot = slot_of(e, &row->key);
		CHECK(slot->row == NULL);
		*slot = (struct cmd_slot){row->key, row};
		e->names++;
		if (e->rows_last != NULL)
			e->rows_last->next = row;
		else
			e->rows = row;
		e->rows_last = row;
	}
}
