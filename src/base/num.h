/* Numbers from and to text, by the rules of Redis. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "bytes.h"

/* Strict signed decimal: optional '-', no '+', no leading zeros, no spaces, whole input, no overflow. */
bool num_i64(struct bytes s, int64_t *out);
bool num_u64(struct bytes s, uint64_t *out);
/* A long double or double as Redis accepts it (strtold over the whole input, no leading or trailing
 * space, not NaN, no overflow or underflow to HUGE_VAL/0 with ERANGE). At most 5 KiB of input. */
bool num_ld(struct bytes s, long double *out);
bool num_d(struct bytes s, double *out);
/* "1gb", "512mb", "10k", "7" to bytes (k, m, g = 1000s; kb, mb, gb = 1024s; any case), as in redis.conf. A unit
 * without digits, which Redis reads as 0, and what overflows are refused. */
bool num_memory(struct bytes s, int64_t *out);

#define NUM_I64_MAX 21 /* bytes num_put_i64 may write, no terminator */
/* Writes v in decimal at p; returns the length. */
size_t num_put_i64(char *p, int64_t v);
size_t num_put_u64(char *p, uint64_t v);

#define NUM_LD_MAX 5120
/* INCRBYFLOAT's form: %.17Lf, trailing zeros and point removed, "-0" is "0". p holds NUM_LD_MAX. Returns length. */
size_t num_put_ld(char *p, long double v);
#define NUM_D_MAX 64 /* bytes num_put_d may write */
/* A score as Redis 7.0 replies it: %.17g, inf, -inf, nan. (7.2 prints the shortest text that reads back equal.) */
size_t num_put_d(char *p, double v);
/* "1.50M", "512.00K", "7B": used_memory_human's form. p holds 32. */
size_t num_put_human(char *p, uint64_t n);

#endif
