/* Looking up: find, locate, and the batch prefetch in three passes. */
#include "struct/hx_int.h"
#include "struct/hx_match.h"

/* Searches the stash of one page. */
static bool find_stashed(const struct store *st, const struct hx__stash_layout *s, uint16_t tag, hx_eq eq,
	const void *key, struct hx_pos *out)
{
	for (uint32_t m = hx__match_stash(s, tag); m; m &= m - 1) {
		unsigned i = (unsigned)__builtin_ctz(m);
		st_off item = hx__slot_off(hx__slot_get(&s->slot[i]));
		if (eq(st, item, key)) {
			out->item = item;
			out->slot = i;
			return true;
		}
	}
	return false;
}

static inline bool find(
	const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key, struct hx_pos *out)
{
	uint64_t page = hx__page_of(st, r, hash, NULL);
	uint16_t tag = hx__tag(hash);

	while (page) {
		st_off off = hx__ref_off(page);
		unsigned bucket = hx__bucket(tag, hx__buckets(page));
		for (uint32_t m = hx__match(hx__tags(st, off, bucket), tag); m; m &= m - 1) {
			unsigned i = (unsigned)__builtin_ctz(m);
			st_off item = hx__slot_off(hx__slot(st, off, bucket, i));
			if (LIKELY(eq(st, item, key))) {
				*out = (struct hx_pos){item, off, (1 + bucket) * HX_SLOTS + i};
				return true;
			}
		}
		const struct hx__stash_layout *s = st_view_part(st, off, 0);
		if (UNLIKELY(s->mask >> bucket & 1) && find_stashed(st, s, tag, eq, key, out)) {
			out->page = off;
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

bool hx_locate(
	const struct store *st, const struct hx_root *r, uint64_t hash, hx_eq eq, const void *key, struct hx_pos *out)
{
	return find(st, r, hash, eq, key, out);
}

/* ---- prefetching: hints only, so everything is read at home, as the last tick left it. What a committed or a fresh
 * object refers to is still there in this tick, whatever was freed in it. ---- */

static inline uint64_t home_page(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	uint64_t ref = r->dir;

	while (ref & HX__IS_DIR) {
		ref = hx__dir_word(st_home(st, hx__ref_off(ref)), hx__ref_width(ref), hash);
		hash <<= HX_FAN;
	}
	return ref & HX__PAGE;
}

/* The bucket for the hash; page is not 0. */
static inline const struct hx__bucket_layout *home_bucket(const struct store *st, uint64_t page, uint16_t tag)
{
	return st_home(st, hx__ref_off(page) + hx__tags_at(hx__bucket(tag, hx__buckets(page))));
}

void hx_prefetch_bucket(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	uint64_t page = home_page(st, r, hash);
	if (LIKELY(page != 0)) {
		const struct hx__bucket_layout *b = home_bucket(st, page, hx__tag(hash));
		__builtin_prefetch(b);
		__builtin_prefetch((const char *)b + sizeof(b->tag) - 1);
	}
}

void hx_prefetch_slot(const struct store *st, const struct hx_root *r, uint64_t hash)
{
	uint64_t page = home_page(st, r, hash);
	if (UNLIKELY(page == 0))
		return;
	const struct hx__bucket_layout *b = home_bucket(st, page, hx__tag(hash));
	uint32_t m = hx__match(b->tag, hx__tag(hash));
	if (LIKELY(m != 0)) {
		__builtin_prefetch(&b->slot[__builtin_ctz(m)]);
	} else {
		__builtin_prefetch((const char *)st_home(st, hx__ref_off(page)) + offsetof(struct hx__stash_layout, mask));
	}
}

/* The stash's item that most likely matches. */
static st_off home_stashed(const struct store *st, uint64_t page, uint16_t tag)
{
	const struct hx__stash_layout *s = st_home(st, hx__ref_off(page));
	uint32_t m = s->mask >> hx__bucket(tag, hx__buckets(page)) & 1 ? hx__match_stash(s, tag) : 0;
	return m ? hx__slot_off(hx__slot_get(&s->slot[__builtin_ctz(m)])) : 0;
}

st_off hx_prefetch_item(const struct store *st, const struct hx_root *r, uint64_t hash, size_t n)
{
	uint64_t page = home_page(st, r, hash);
	uint16_t tag = hx__tag(hash);
	if (UNLIKELY(page == 0))
		return 0;
	const struct hx__bucket_layout *b = home_bucket(st, page, tag);
	uint32_t m = hx__match(b->tag, tag);
	st_off item = LIKELY(m != 0) ? hx__slot_off(hx__slot_get(&b->slot[__builtin_ctz(m)])) : home_stashed(st, page, tag);
	if (item) {
		const char *p = st_home(st, item);
		for (size_t at = 0; at < n; at += 64)
			__builtin_prefetch(p + at);
		__builtin_prefetch(p + n - (n != 0));
	}
	return item;
}
