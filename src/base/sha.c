#include "sha.h"

#include "check.h"
#include "mem.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

struct sha1 {
	EVP_MD_CTX *ctx;
};

void sha1_of(const void *p, size_t n, uint8_t out[SHA1_BYTES])
{
	CHECK(EVP_Digest(p, n, out, NULL, EVP_sha1(), NULL) == 1);
}

void sha256_of(const void *p, size_t n, uint8_t out[SHA256_BYTES])
{
	CHECK(EVP_Digest(p, n, out, NULL, EVP_sha256(), NULL) == 1);
}

struct sha1 *sha1_start(void)
{
	struct sha1 *s = mem_alloc(sizeof(*s));

	s->ctx = EVP_MD_CTX_new();
	CHECK(s->ctx && EVP_DigestInit_ex(s->ctx, EVP_sha1(), NULL) == 1);
	return s;
}

void sha1_add(struct sha1 *s, const void *p, size_t n)
{
	CHECK(EVP_DigestUpdate(s->ctx, p, n) == 1);
}

void sha1_end(struct sha1 *s, uint8_t out[SHA1_BYTES])
{
	CHECK(EVP_DigestFinal_ex(s->ctx, out, NULL) == 1);
	EVP_MD_CTX_free(s->ctx);
	mem_free(s);
}

int sha_same(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}
