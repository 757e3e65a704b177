/* Digests (the door of OpenSSL's libcrypto). */
#ifndef BASE_SHA_H
#define BASE_SHA_H

#include <stddef.h>
#include <stdint.h>

#define SHA1_BYTES 20
#define SHA256_BYTES 32

void sha1_of(const void *p, size_t n, uint8_t out[SHA1_BYTES]);
void sha256_of(const void *p, size_t n, uint8_t out[SHA256_BYTES]);

/* For data that comes in pieces. */
struct sha1;
struct sha1 *sha1_start(void);
void sha1_add(struct sha1 *s, const void *p, size_t n);
/* Ends and frees s. */
void sha1_end(struct sha1 *s, uint8_t out[SHA1_BYTES]);

/* Equal, in a time that does not depend on where they differ. */
int sha_same(const void *a, const void *b, size_t n);

#endif
