/* The client inside the guest: a few lines of protocol over a socket, nothing but libc.
 *
 *   client PORT load           writes until the machine dies; tells on standard output what was acknowledged
 *   client PORT verify A B C   compares: streams 0, 1 and 2 had A, B and C versions acknowledged
 *
 * A stream is a counter (INCR s<i>:n), a ring of keys whose values follow from their version, and two keys that are set
 * in one transaction; the three are written in this order, one version after the other, in batches. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STREAMS 3
#define KEYS 100
#define BATCH 8

static int sock;
static char in[1 << 16];
static size_t in_at, in_n;

static void die(const char *why)
{
	printf("client: %s\n", why);
	exit(1);
}

static void dial(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sock = socket(AF_INET, SOCK_STREAM, 0);
	if (sock < 0 || connect(sock, (struct sockaddr *)&a, sizeof(a)) != 0)
		die("no connection");
}

static void send_all(const char *p, size_t n)
{
	while (n > 0) {
		ssize_t r = write(sock, p, n);
		if (r <= 0)
			die("the connection is lost");
		p += r;
		n -= (size_t)r;
	}
}

static char next_byte(void)
{
	if (in_at == in_n) {
		ssize_t r = read(sock, in, sizeof(in));
		if (r <= 0)
			die("the connection is lost");
		in_n = (size_t)r;
		in_at = 0;
	}
	return in[in_at++];
}

static size_t read_line(char *out, size_t n)
{
	size_t k = 0;
	for (char c; (c = next_byte()) != '\n';)
		if (c != '\r' && k + 1 < n)
			out[k++] = c;
	out[k] = 0;
	return k;
}

/* One reply without its type: a line, or a string; -1: nil. The elements of an array count as replies of their own. */
static int reply(char *out, size_t n)
{
	char line[256];
	read_line(line, sizeof(line));
	if (line[0] == '-') {
		printf("client: error reply: %s\n", line);
		exit(1);
	}
	if (line[0] != '$') {
		snprintf(out, n, "%s", line + 1);
		return (int)strlen(out);
	}
	long len = strtol(line + 1, NULL, 10);
	for (long i = 0; i < len + 2 && len >= 0; i++) {
		char c = next_byte();
		if (i < len && (size_t)i + 1 < n)
			out[i] = c;
	}
	if (len < 0)
		return -1;
	out[(size_t)len < n ? (size_t)len : n - 1] = 0;
	return (int)len;
}

static size_t value_of(unsigned stream, uint64_t version, char *out)
{
	static const unsigned filler[] = {0, 20, 100, 400, 3000, 20000};
	size_t n = (size_t)sprintf(out, "%u.%" PRIu64 ":", stream, version), more = filler[version * 7 % 6];
	memset(out + n, 'a' + (int)(version % 26), more);
	return n + more;
}

static void add_version(unsigned s, uint64_t v, char *to, size_t *n)
{
	static char value[32768];
	size_t len = value_of(s, v, value);
	*n += (size_t)sprintf(to + *n, "INCR s%u:n\r\n", s);
	*n += (size_t)sprintf(to + *n, "*3\r\n$3\r\nSET\r\n$5\r\ns%u:%02" PRIu64 "\r\n$%zu\r\n", s, v % KEYS, len);
	memcpy(to + *n, value, len);
	*n += len;
	*n += (size_t)sprintf(to + *n, "\r\nMULTI\r\nSET s%u:a %" PRIu64 "\r\n", s, v);
	*n += (size_t)sprintf(to + *n, "SET s%u:b %" PRIu64 "\r\nEXEC\r\n", s, v);
}

static void load(void)
{
	static char out[STREAMS * BATCH * 33000];
	char r[64];
	uint64_t acked[STREAMS] = {0};
	for (unsigned s = 0; s < STREAMS; s++) {
		char get[32];
		send_all(get, (size_t)sprintf(get, "GET s%u:a\r\n", s));
		acked[s] = reply(r, sizeof(r)) < 0 ? 0 : strtoull(r, NULL, 10);
		/* A counter may be one ahead of a transaction that was not reached. */
		send_all(get, (size_t)sprintf(get, "SET s%u:n %" PRIu64 "\r\n", s, acked[s]));
		reply(r, sizeof(r));
	}
	for (unsigned round = 0;; round++) {
		size_t n = 0;
		for (unsigned k = 1; k <= BATCH; k++)
			for (unsigned s = 0; s < STREAMS; s++)
				add_version(s, acked[s] + k, out, &n);
		send_all(out, n);
		for (unsigned k = 1; k <= BATCH; k++)
			for (unsigned s = 0; s < STREAMS; s++) {
				/* INCR, SET, MULTI, QUEUED twice, EXEC's array and its two */
				for (unsigned i = 0; i < 8; i++)
					reply(r, sizeof(r));
				acked[s]++;
			}
		printf("ACKED %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", acked[0], acked[1], acked[2]);
		fflush(stdout);
	}
}

static uint64_t number(const char *fmt, unsigned s)
{
	char command[64], r[64];
	int n = snprintf(command, sizeof(command), fmt, s);
	send_all(command, (size_t)n);
	return reply(r, sizeof(r)) < 0 ? 0 : strtoull(r, NULL, 10);
}

/* The newest version is that of the pair; each key of the ring holds the newest of its own, or the one after. */
static unsigned verify_stream(unsigned s, uint64_t acked)
{
	static char got[32768], want[32768];
	unsigned wrong = 0;
	uint64_t a = number("GET s%u:a\r\n", s), b = number("GET s%u:b\r\n", s), n = number("GET s%u:n\r\n", s);
	if (a < acked || a != b || n < a || n > a + 1) {
		printf("stream %u: %" PRIu64 " acknowledged; pair %" PRIu64 " %" PRIu64 ", counter %" PRIu64 "\n", s, acked, a,
			b, n);
		wrong++;
	}
	for (uint64_t v = a > KEYS - 2 ? a - (KEYS - 2) : 1; v <= a; v++) {
		char command[32];
		send_all(command, (size_t)sprintf(command, "GET s%u:%02" PRIu64 "\r\n", s, v % KEYS));
		int len = reply(got, sizeof(got));
		size_t need = value_of(s, v, want);
		if (len < 0 || (size_t)len != need || memcmp(got, want, need) != 0) {
			printf("stream %u: version %" PRIu64 " is not there whole\n", s, v);
			wrong++;
		}
	}
	printf("stream %u: %" PRIu64 " versions, %" PRIu64 " of them acknowledged before\n", s, a, acked);
	return wrong;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		die("client PORT load | client PORT verify A B C");
	dial(atoi(argv[1]));
	if (strcmp(argv[2], "load") == 0)
		load();
	unsigned wrong = 0;
	for (unsigned s = 0; s < STREAMS && (int)s + 3 < argc; s++)
		wrong += verify_stream(s, strtoull(argv[3 + s], NULL, 10));
	return wrong != 0;
}
