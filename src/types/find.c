/* Finding keys, and what a found one says. */
#include "types/internal.h"

static inline uint64_t word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

/* memcmp for keys: most are 8 to 32 bytes long, where two or four overlapping words beat the call. */
static inline bool same_bytes(const char *a, const char *b, size_t n)
{
	if (LIKELY(n >= 8 && n <= 32)) {
		uint64_t d = (word(a) ^ word(b)) | (word(a + n - 8) ^ word(b + n - 8));

		if (n > 16)
			d |= (word(a + 8) ^ word(b + 8)) | (word(a + n - 16) ^ word(b + n - 16));
		return d == 0;
	}
	return n == 0 || memcmp(a, b, n) == 0;
}

bool ks__same_name(const struct store *st, st_off item, const void *name)
{
	const struct ks__record_layout *r = st_view(st, item);
	const struct bytes *n = name;

	return r->klen == n->n && same_bytes(rec_key(r), n->p, n->n);
}

enum look { LOOK_READ, LOOK_WRITE, LOOK_PEEK };

static inline bool look(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out, enum look how)
{
	const struct ks__db_layout *d = ks__db(ks, db);
	bool there = d && hx_locate(ks->st, &d->keys, key.hash, ks__same_name, &key.name, &out->pos);

	if (there) {
		out->ks = ks;
		out->key = key;
		out->db = db;
		out->moves = ks->moves;
		if (UNLIKELY(rec_expired(ks__record(ks, out->pos.item), ks->now))) {
			/* a writer puts another in its place, so there it always goes */
			if (!ks->hold_expired || how == LOOK_WRITE)
				ks__expire(out);
			there = false;
		} else if (how != LOOK_PEEK) {
			ks__access(ks, key.hash);
		}
	}
	if (how == LOOK_READ) {
		ks->stats.hits += there;
		ks->stats.misses += !there;
	}
	return there;
}

bool ks_find(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out)
{
	return look(ks, db, key, out, LOOK_READ);
}

bool ks_find_write(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out)
{
	return look(ks, db, key, out, LOOK_WRITE);
}

bool ks_peek(struct ks *ks, unsigned db, struct ks_key key, struct ks_ref *out)
{
	return look(ks, db, key, out, LOOK_PEEK);
}

/* ---- refs ---- */

void ks__ref_refresh(struct ks_ref *r)
{
	const struct ks__db_layout *d = ks__db(r->ks, r->db);
	bool there = d && hx_locate(r->ks->st, &d->keys, r->key.hash, ks__same_name, &r->key.name, &r->pos);

	CHECK2(there, r->db, r->key.hash); /* a ref used after its key went */
	r->moves = r->ks->moves;
}

const struct ks__record_layout *ks__ref_record_slow(const struct ks_ref *r)
{
	struct ks_ref fresh = *r;

	ks__ref_refresh(&fresh);
	return ks__record(r->ks, fresh.pos.item);
}

enum ks_type ks_ref_type(const struct ks_ref *r)
{
	return (enum ks_type)rec_type(ks__ref_record(r));
}

int64_t ks_ref_deadline(const struct ks_ref *r)
{
	return rec_dates_get(ks__ref_record(r)).deadline;
}

struct bytes ks_ref_name(const struct ks_ref *r)
{
	return rec_name(ks__ref_record(r));
}

uint64_t ks_ref_bytes(const struct ks_ref *r)
{
	const struct ks__record_layout *rec = ks__ref_record(r);
	struct ks_ref at = *r;
	uint64_t n;

	ks__ref_fresh(&at);
	n = st_size(r->ks->st, at.pos.item) + sizeof(uint64_t);
	if (rec_dates_get(rec).filed != KS__NONE)
		n += sizeof(struct ks__ttl_layout);
	if (rec_form(rec) == REC_ROPE)
		n += rope_bytes(r->ks->st, rec_rope(rec));
	return n;
}

const char *ks_ref_encoding(const struct ks_ref *r)
{
	static const char *const strings[] = {
		[REC_LABEL_INT] = "int", [REC_LABEL_EMBSTR] = "embstr", [REC_LABEL_RAW] = "raw"};
	const struct ks__record_layout *rec = ks__ref_record(r);

	DCHECK2(rec_type(rec) == KS_STRING, rec_type(rec), 0);
	return strings[rec_label(rec)];
}

/* ---- prefetching ---- */

void ks_prefetch1(const struct ks *ks, unsigned db, uint64_t hash)
{
	const struct ks__db_layout *d = ks__db(ks, db);

	if (UNLIKELY(ks->access.counting))
		__builtin_prefetch(&ks->access.place[hash & ks->access.mask], 1);
	if (LIKELY(d != NULL))
		hx_prefetch_bucket(ks->st, &d->keys, hash);
}

void ks_prefetch2(const struct ks *ks, unsigned db, uint64_t hash)
{
	const struct ks__db_layout *d = ks__db(ks, db);

	if (LIKELY(d != NULL))
		hx_prefetch_slot(ks->st, &d->keys, hash);
}

/* Header, key and a value of about 64 bytes. */
#define PREFETCH_RECORD 128

void ks_prefetch3(const struct ks *ks, unsigned db, uint64_t hash, bool writes)
{
	const struct ks__db_layout *d = ks__db(ks, db);
	st_off item;

	if (UNLIKELY(d == NULL))
		return;
	item = hx_prefetch_item(ks->st, &d->keys, hash, PREFETCH_RECORD);
	if (writes && item)
		st_prefetch_free(ks->st, item);
}
