/* Comparing the 32 tags of a bucket with one at a time. Baseline instructions only: SSE2 on x86-64, NEON on arm64. */
#ifndef STRUCT_HX_MATCH_H
#define STRUCT_HX_MATCH_H

#include "struct/hx_layout.h"

#if defined(__SSE2__)
#include <emmintrin.h>

/* Bit i: the i-th of the 32 tags (64 bytes) at p equals tag. */
static inline uint32_t hx__match(const void *p, uint16_t tag)
{
	const __m128i *v = p;
	__m128i t = _mm_set1_epi16((short)tag);
	__m128i a = _mm_cmpeq_epi16(_mm_loadu_si128(v), t), b = _mm_cmpeq_epi16(_mm_loadu_si128(v + 1), t);
	__m128i c = _mm_cmpeq_epi16(_mm_loadu_si128(v + 2), t), d = _mm_cmpeq_epi16(_mm_loadu_si128(v + 3), t);
	uint32_t lo = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(a, b));
	uint32_t hi = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(c, d));
	return lo | hi << 16;
}

#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>

static inline uint32_t hx__match(const void *p, uint16_t tag)
{
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
	uint16_t tags[32];
	memcpy(tags, p, sizeof(tags));
	uint16x8_t t = vdupq_n_u16(tag);
	uint8x16_t lo = vcombine_u8(vmovn_u16(vceqq_u16(vld1q_u16(tags), t)), vmovn_u16(vceqq_u16(vld1q_u16(tags + 8), t)));
	uint8x16_t hi =
		vcombine_u8(vmovn_u16(vceqq_u16(vld1q_u16(tags + 16), t)), vmovn_u16(vceqq_u16(vld1q_u16(tags + 24), t)));
	uint8x16_t w = vld1q_u8(bits);
	uint8x16_t s = vpaddq_u8(vandq_u8(lo, w), vandq_u8(hi, w));
	s = vpaddq_u8(s, s);
	s = vpaddq_u8(s, s);
	return vgetq_lane_u32(vreinterpretq_u32_u8(s), 0);
}

#else

static inline uint32_t hx__match(const void *p, uint16_t tag)
{
	uint16_t tags[32];
	memcpy(tags, p, sizeof(tags));
	uint32_t m = 0;
	for (unsigned i = 0; i < 32; i++)
		m |= (uint32_t)(tags[i] == tag) << i;
	return m;
}

#endif

/* The stash has 30 tags; the two lanes beyond them are the first slots' bytes. */
#define HX__STASH_LANES ((1u << HX_STASH) - 1)

static inline uint32_t hx__match_stash(const struct hx__stash_layout *s, uint16_t tag)
{
	return hx__match((const char *)s + offsetof(struct hx__stash_layout, tag), tag) & HX__STASH_LANES;
}

static inline uint32_t hx__used_stash(const struct hx__stash_layout *s)
{
	return ~hx__match_stash(s, 0) & HX__STASH_LANES;
}

static inline uint32_t hx__used_tags(const uint16_t *tag)
{
	return ~hx__match(tag, 0);
}

/* Stash slots in use that belong to a bucket. */
static inline uint32_t hx__stash_of(const struct hx__stash_layout *s, unsigned bucket, unsigned buckets)
{
	if (!(s->mask >> bucket & 1))
		return 0;
	uint32_t m = 0;
	for (uint32_t used = hx__used_stash(s); used; used &= used - 1) {
		unsigned i = (unsigned)__builtin_ctz(used);
		m |= (uint32_t)(hx__bucket(s->tag[i], buckets) == bucket) << i;
	}
	return m;
}

#endif
