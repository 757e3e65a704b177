/* Vectors of FIPS 180: "abc", the empty input, and the 56-byte message. */
#include "unit.h"

#include "base/sha.h"

static const char long_msg[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

static const char *hex(const uint8_t *p, size_t n)
{
	static char out[2 * SHA256_BYTES + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", p[i]);
	return out;
}

static void test_sha1_of_known_messages(void **state)
{
	uint8_t d[SHA1_BYTES];

	(void)state;
	sha1_of("abc", 3, d);
	assert_string_equal(hex(d, sizeof(d)), "a9993e364706816aba3e25717850c26c9cd0d89d");
	sha1_of("", 0, d);
	assert_string_equal(hex(d, sizeof(d)), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	sha1_of(long_msg, sizeof(long_msg) - 1, d);
	assert_string_equal(hex(d, sizeof(d)), "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void test_sha256_of_known_messages(void **state)
{
	uint8_t d[SHA256_BYTES];

	(void)state;
	sha256_of("abc", 3, d);
	assert_string_equal(hex(d, sizeof(d)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_of("", 0, d);
	assert_string_equal(hex(d, sizeof(d)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_of(long_msg, sizeof(long_msg) - 1, d);
	assert_string_equal(hex(d, sizeof(d)), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_sha1_in_pieces_equals_sha1_at_once(void **state)
{
	uint8_t whole[SHA1_BYTES], pieces[SHA1_BYTES];

	(void)state;
	sha1_of(long_msg, sizeof(long_msg) - 1, whole);
	for (size_t cut = 0; cut < sizeof(long_msg); cut++) {
		struct sha1 *s = sha1_start();

		sha1_add(s, long_msg, cut);
		sha1_add(s, long_msg + cut, sizeof(long_msg) - 1 - cut);
		sha1_end(s, pieces);
		assert_memory_equal(pieces, whole, SHA1_BYTES);
	}
}

static void test_same_compares_all_bytes(void **state)
{
	(void)state;
	assert_true(sha_same("abcd", "abcd", 4));
	assert_false(sha_same("abcd", "abce", 4));
	assert_false(sha_same("abcd", "xbcd", 4));
	assert_true(sha_same("abcd", "abce", 3));
	assert_true(sha_same("a", "b", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sha1_of_known_messages),
		cmocka_unit_test(test_sha256_of_known_messages),
		cmocka_unit_test(test_sha1_in_pieces_equals_sha1_at_once),
		cmocka_unit_test(test_same_compares_all_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
