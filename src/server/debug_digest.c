/* DEBUG DIGEST and DIGEST-VALUE: a number for the whole dataset and for single values, equal to redis-server's.
 *
 * A value's digest starts at zero and is mixed with what describes it; mixing adds (xor) the SHA-1 of the new bytes
 * and takes the SHA-1 of the sum. The dataset's digest adds the SHA-1 of each key's digest, so the order of keys does
 * not matter. */
#include "base/sha.h"
#include "server/debug.h"

#include <arpa/inet.h>

static void add(uint8_t digest[SHA1_BYTES], const uint8_t other[SHA1_BYTES])
{
	for (int i = 0; i < SHA1_BYTES; i++)
		digest[i] ^= other[i];
}

static void add_hash(uint8_t digest[SHA1_BYTES], const void *p, size_t n)
{
	uint8_t h[SHA1_BYTES];
	sha1_of(p, n, h);
	add(digest, h);
}

static void rehash(uint8_t digest[SHA1_BYTES])
{
	uint8_t h[SHA1_BYTES];
	sha1_of(digest, SHA1_BYTES, h);
	memcpy(digest, h, sizeof h);
}

static void mix(uint8_t digest[SHA1_BYTES], const void *p, size_t n)
{
	add_hash(digest, p, n);
	rehash(digest);
}

static bool feed(void *ctx, const char *p, size_t n, uint64_t chunk)
{
	static const char zeros[4096];
	if (chunk || p) {
		sha1_add(ctx, p, n);
		return true;
	}
	for (size_t part; n > 0; n -= part) {
		part = n < sizeof zeros ? n : sizeof zeros;
		sha1_add(ctx, zeros, part);
	}
	return true;
}

static void mix_string(uint8_t digest[SHA1_BYTES], const struct ks_ref *ref)
{
	struct tstr v;
	uint8_t h[SHA1_BYTES];
	tstr_view(ref, &v);
	struct sha1 *s = sha1_start();
	if (v.len > 0)
		tstr_each(ref, &v, 0, v.len, feed, s);
	sha1_end(s, h);
	add(digest, h);
	rehash(digest);
}

static void mix_value(uint8_t digest[SHA1_BYTES], const struct ks_ref *ref)
{
	uint32_t type = htonl((uint32_t)ks_ref_type(ref));
	mix(digest, &type, sizeof type);
	if (ks_ref_type(ref) == KS_STRING)
		mix_string(digest, ref);
	if (ks_ref_deadline(ref) >= 0)
		add_hash(digest, "!!expire!!", 10);
}

struct names {
	struct buf bytes;
	size_t *ends;
	size_t n, cap;
};

static void collect(void *ctx, struct bytes name, enum ks_type type)
{
	struct names *l = ctx;
	(void)type;
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 256;
		l->ends = mem_realloc(l->ends, l->cap * sizeof *l->ends);
	}
	buf_add(&l->bytes, name.p, name.n);
	l->ends[l->n++] = l->bytes.n;
}

static void digest_database(struct ks *ks, unsigned db, uint8_t digest[SHA1_BYTES])
{
	struct names l = {0};
	uint32_t number = htonl(db);
	uint64_t cursor = 0;
	mix(digest, &number, sizeof number);
	do {
		l.n = l.bytes.n = 0;
		cursor = ks_scan(ks, db, cursor, 512, collect, &l);
		for (size_t i = 0, from = 0; i < l.n; from = l.ends[i++]) {
			struct bytes name = {l.bytes.p + from, l.ends[i] - from};
			uint8_t one[SHA1_BYTES] = {0};
			struct ks_ref ref;
			if (!ks_peek(ks, db, ks_key(ks, name), &ref))
				continue;
			mix(one, name.p, name.n);
			mix_value(one, &ref);
			add_hash(digest, one, sizeof one);
		}
	} while (cursor);
	buf_free(&l.bytes);
	mem_free(l.ends);
}

static void reply_digest(struct reply *r, const uint8_t digest[SHA1_BYTES])
{
	static const char hex[] = "0123456789abcdef";
	char text[2 * SHA1_BYTES];
	for (int i = 0; i < SHA1_BYTES; i++) {
		text[2 * i] = hex[digest[i] >> 4];
		text[2 * i + 1] = hex[digest[i] & 15];
	}
	r->ops->status(r, (struct bytes){text, sizeof text});
}

void srv__debug_digest(struct call *c)
{
	uint8_t digest[SHA1_BYTES] = {0};
	for (unsigned db = 0; db < ks_databases(c->ks); db++)
		if (ks_count(c->ks, db))
			digest_database(c->ks, db, digest);
	reply_digest(c->r, digest);
}

void srv__debug_digest_value(struct call *c)
{
	reply_array(c->r, c->argc - 2);
	for (uint32_t i = 2; i < c->argc; i++) {
		uint8_t digest[SHA1_BYTES] = {0};
		struct ks_ref ref;
		if (ks_peek(c->ks, c->db, ks_key(c->ks, c->argv[i]), &ref))
			mix_value(digest, &ref);
		reply_digest(c->r, digest);
	}
}
