/* What the store's verifier and reclaimer need to know of this room's objects. A check trusts no byte: it may meet
 * whatever a damaged pool holds. */
#include "types/internal.h"

/* ---- dataset ---- */

static void dataset_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct ks__dataset_layout *d = obj;

	for (uint32_t i = 0; i < d->databases && sizeof(*d) + (i + 1) * sizeof(uint64_t) <= n; i++)
		if (d->db[i])
			visit(ctx, d->db[i]);
}

static const char *dataset_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct ks__dataset_layout *d = obj;

	(void)st;
	(void)off;
	if (n < sizeof(*d) || (n - sizeof(*d)) / sizeof(uint64_t) < d->databases)
		return "dataset: more databases than the object holds";
	if (d->version != KS__DATASET_VERSION)
		return "dataset: unknown version";
	if (d->next_identity == 0)
		return "dataset: no next identity";
	for (unsigned i = 0; i < sizeof(d->reserved) / sizeof(d->reserved[0]); i++)
		if (d->reserved[i])
			return "dataset: reserved bytes in use";
	return NULL;
}

/* ---- database ---- */

static void db_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct ks__db_layout *d = obj;
	st_off keys, ttl;

	if (n < sizeof(*d))
		return;
	keys = hx_root_ref(&d->keys);
	ttl = bt_root_ref(&d->ttl);
	if (keys)
		visit(ctx, keys);
	if (ttl)
		visit(ctx, ttl);
}

static const char *db_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct ks__db_layout *d = obj;

	(void)st;
	(void)off;
	if (n < sizeof(*d))
		return "database: object too small";
	if (d->identity == 0)
		return "database: no identity";
	if ((d->keys.count == 0) != (d->keys.dir == 0) && d->keys.dir == 0)
		return "database: keys without an index";
	if (d->expires > d->keys.count || d->ttl.count > d->expires)
		return "database: more deadlines than keys, or more TTL entries than deadlines";
	if (d->ttl.count == 0 && d->first != INT64_MAX)
		return "database: first deadline and TTL tree disagree";
	for (unsigned i = 0; i < sizeof(d->reserved) / sizeof(d->reserved[0]); i++)
		if (d->reserved[i])
			return "database: reserved bytes in use";
	return NULL;
}

/* ---- record ---- */

/* Room for what its flags and lengths claim? */
static bool record_fits(const struct ks__record_layout *r, size_t n)
{
	return n >= REC_HEAD && rec_form(r) < REC_FORMS && rec_total(r) <= n;
}

static void record_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct ks__record_layout *r = obj;

	if (record_fits(r, n) && rec_form(r) == REC_ROPE && rec_rope(r)->node)
		visit(ctx, rec_rope(r)->node);
}

/* A label that Redis would not give: int exactly where an integer is held, embstr only on short strings. */
static bool label_wrong(const struct ks__record_layout *r)
{
	unsigned label = rec_label(r);

	if (rec_form(r) == REC_INT)
		return label != REC_LABEL_INT;
	if (rec_form(r) == REC_ROPE)
		return label != REC_LABEL_RAW;
	return label == REC_LABEL_INT || label > REC_LABEL_RAW || (label == REC_LABEL_EMBSTR && r->vlen > 44);
}

static const char *record_check(const struct store *st, st_off off, const void *obj, size_t n)
{
	const struct ks__record_layout *r = obj;
	struct ks__deadline_layout dates;

	(void)st;
	(void)off;
	if (!record_fits(r, n))
		return "record: longer than its object, or of an unknown form";
	if (r->obj.flags & ~REC_FLAGS || r->reserved)
		return "record: reserved bits in use";
	if (r->klen > KS_KEY_MAX)
		return "record: key too long";
	if (rec_type(r) != KS_STRING)
		return "record: unknown type";
	if (rec_form(r) != REC_BYTES && r->vlen)
		return "record: bytes behind a value that has none";
	if (label_wrong(r))
		return "record: encoding label does not fit the value";
	dates = rec_dates_get(r);
	if ((dates.deadline == KS__NONE) != (dates.filed == KS__NONE) || dates.filed > dates.deadline ||
		dates.filed < KS__NONE)
		return "record: deadline and filed deadline do not fit";
	return NULL;
}

void ks_register(struct store *st)
{
	static const struct st_kind_ops dataset = {"dataset", dataset_children, dataset_check};
	static const struct st_kind_ops db = {"database", db_children, db_check};
	static const struct st_kind_ops record = {"record", record_children, record_check};

	st_register(st, ST_KIND_DATASET, &dataset);
	st_register(st, ST_KIND_DB, &db);
	st_register(st, ST_KIND_RECORD, &record);
	hx_register(st);
	bt_register(st);
	rope_register(st);
}
