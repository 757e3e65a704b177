/* Looking up: find, locate, and the batch prefetch in three passes. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

/* Searches the stash of one page. */
static bool find_stashed(const struct store *st, const struct hx__stash_layout *s, uint64_t hash, hx_eq eq, const void *key,
	struct hx_pos *out)
{
	unsigned bucket = hx__bucket(hash);

	for (uint32_t m = hx__match_stash(s, hx__tag(hash)); m; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);
		uint64_t v = hx__slot_get(&s->slot[i]);
		if (hx__slot_extra(v) == bucket && eq(st, hx__slot_off(v), key)) {
			out->item = hx__slot_off(v);
			out->slot = i;
			return true;
		}
	}
	return false;
}

static inline bool find(const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key,
	struct hx_pos *out)
{
	st_off page = hx__page_of(st, r, hash, NULL);

	while (page) {
		const struct hx__bucket_layout *b = st_view_part(st, page, hx__part_at(hash));
		for (uint32_t m = hx__match_bucket(b, hx__tag(hash)); m; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			st_off item = hx__slot_off(hx__slot_get(&b->slot[i]));
			if (LIKELY(eq(st, item, key))) {
				*out = (struct hx_pos){item, page, (1 + hx__bucket(hash)) * HX_SLOTS + i};
				return true;
			}
		}
		const struct hx__stash_layout *s = st_view_part(st, page, 0);
		if (UNLIKELY(s->mask >> hx__bucket(hash) & 1) && find_stashed(st, s, hash, eq, key, out)) {
			out->page = page;
			return true;
		}
		page = hx__chain(s);
	}
	return false;
}

st_off hx_find(const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key)
{
	struct hx_pos pos;
	return find(st, r, hash, eq, key, &pos) ? pos.item : 0;
}

bool hx_locate(const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key,
	struct hx_pos *out)
{
	return find(st, r, hash, eq, key, out);
}

/* ---- prefetching: hints only, so everything is read at home, as the last tick left it. What a committed or a fresh
 * object refers to is still there in this tick, whatever was freed in it. ---- */

static inline st_off home_page(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	uint64_t ref = r->dir;

	while (ref & HX__IS_DIR) {
		ref = hx__dir_word(st_home(st, hx__ref_off(ref)), hx__ref_width(ref), hash);
		hash <<= HX_FAN;
	}
	return hx__ref_off(ref);
}

void hx_prefetch_bucket(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	st_off page = home_page(st, r, hash);
	if (LIKELY(page != 0)) {
		const char *tags = st_home(st, page + hx__part_at(hash));
		__builtin_prefetch(tags);
		__builtin_prefetch(tags + 63);
	}
}

void hx_prefetch_slot(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	st_off page = home_page(st, r, hash);
	if (UNLIKELY(page == 0))
		return;
	const struct hx__bucket_layout *b = st_home(st, page + hx__part_at(hash));
	uint32_t m = hx__match_bucket(b, hx__tag(hash));
	if (LIKELY(m != 0))
		__builtin_prefetch(&b->slot[__builtin_ctz(m)]);
	else
		__builtin_prefetch((const char *)st_home(st, page) + offsetof(struct hx__stash_layout, mask));
}

/* The stash's item that most likely matches. */
static st_off home_stashed(const struct store *st, st_off page, uint64_t hash)
{
	const struct hx__stash_layout *s = st_home(st, page);
	uint32_t m = s->mask >> hx__bucket(hash) & 1 ? hx__match_stash(s, hx__tag(hash)) : 0;
	return m ? hx__slot_off(hx__slot_get(&s->slot[__builtin_ctz(m)])) : 0;
}

st_off hx_prefetch_item(const struct store *st, const struct hx_root *r, uint64_t hash, size_t n)
{
	st_off page = home_page(st, r, hash);
	if (UNLIKELY(page == 0))
		return 0;
	const struct hx__bucket_layout *b = st_home(st, page + hx__part_at(hash));
	uint32_t m = hx__match_bucket(b, hx__tag(hash));
	st_off item = LIKELY(m != 0) ? hx__slot_off(hx__slot_get(&b->slot[__builtin_ctz(m)])) : home_stashed(st, page, hash);
	if (item) {
		const char *p = st_home(st, item);
		for (size_t at = 0; at < n; at += 64)
			__builtin_prefetch(p + at);
		__builtin_prefetch(p + n - (n != 0));
	}
	return item;
}
