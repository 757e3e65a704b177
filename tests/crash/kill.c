/* Real process death. Several clients write to a server, which is killed with SIGKILL at a random moment and started
 * again on the same pool; then every key is compared with what was acknowledged. In some cycles it is killed while it
 * starts, too, and in some the offline check (pool-check beside SERVER) reads the pool before that.
 *
 *   kill SERVER DIRECTORY MEDIUM DURABILITY CYCLES [SEED]
 *
 * MEDIUM: pmem or file; DURABILITY: always or everysec. Ends with "N passed, M failed" (a cycle is one of N). */
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS 6
#define KEYS 400
#define BATCH 24
#define VALUE_MAX 150000

/* What one client knows of one key: versions are numbers that grow. Every version up to `acked` must not be lost, and
 * none above `sent` can be there. Some versions are deletions. */
struct key_state {
	uint64_t acked, sent;
	uint64_t gone; /* at this version it was seen to be absent */
};
struct client_state {
	struct key_state key[KEYS];
	uint64_t counter_acked, counter_sent; /* INCR */
	uint64_t pair_acked, pair_sent;       /* two keys set in one MULTI */
};
static struct client_state *clients;

static uint64_t rng = 88172645463325252ull;
static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static void nap(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static int free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) || getsockname(fd, (struct sockaddr *)&a, &n))
		exit(2);
	close(fd);
	return ntohs(a.sin_port);
}

static pid_t start(char **argv, int port, const char *dir, const char *medium, const char *durability)
{
	char port_s[16], pool[600], log[600];
	snprintf(port_s, sizeof(port_s), "%d", port);
	snprintf(pool, sizeof(pool), "%s/pool", dir);
	snprintf(log, sizeof(log), "%s/server.log", dir);
	pid_t pid = fork();
	if (pid == 0) {
		if (!freopen(log, "a", stdout) || !freopen(log, "a", stderr))
			_exit(3);
		execl(argv[1], argv[1], "--bind", "127.0.0.1", "--port", port_s, "--pool", pool, "--pool-size", "1gb",
			"--pool-medium", medium, "--durability", durability, "--log-size", "8mb", (char *)NULL);
		_exit(3);
	}
	return pid;
}

/* A connection once the server answers PING; NULL when it has not within ten seconds or has died. */
static redisContext *wait_ready(int port, pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		redisContext *c = redisConnect("127.0.0.1", port);
		if (c && !c->err) {
			redisReply *r = redisCommand(c, "PING");
			bool ok = r && r->type == REDIS_REPLY_STATUS;
			if (r)
				freeReplyObject(r);
			if (ok)
				return c;
		}
		if (c)
			redisFree(c);
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return NULL;
		nap(10);
	}
	return NULL;
}

static bool deletes(uint64_t version)
{
	return version % 11 == 5;
}

/* The value of a version: the number, then filler whose length and bytes follow from it. */
static size_t value_of(uint64_t version, unsigned client, unsigned key, char *out)
{
	static const size_t most[] = {8, 30, 64, 64, 300, 2000, 20000, 64};
	uint64_t h = (version * 0x9E3779B97F4A7C15ull) ^ ((uint64_t)client << 32 | key);
	size_t n = (size_t)sprintf(out, "%" PRIu64 ":", version), filler = (h >> 20) % most[(h >> 8) % 8];
	if ((h >> 40) % 200 == 0)
		filler = VALUE_MAX - 200;
	for (size_t i = 0; i < filler; i++)
		out[n + i] = (char)('a' + (h + i * 7) % 26);
	return n + filler;
}

static void client(unsigned id, int port, uint64_t seed)
{
	struct client_state *me = &clients[id];
	static char value[VALUE_MAX];
	rng = seed;
	redisContext *c = redisConnect("127.0.0.1", port);
	if (!c || c->err)
		_exit(0);
	for (;;) {
		unsigned key[BATCH], n = 1 + (unsigned)(next_random() % BATCH);
		uint64_t version[BATCH];
		for (unsigned i = 0; i < n; i++) {
			key[i] = (unsigned)(next_random() % KEYS);
			version[i] = ++me->key[key[i]].sent;
			size_t len = deletes(version[i]) ? 0 : value_of(version[i], id, key[i], value);
			if (len)
				redisAppendCommand(c, "SET c%u:k%u %b", id, key[i], value, len);
			else
				redisAppendCommand(c, "DEL c%u:k%u", id, key[i]);
		}
		me->counter_sent++;
		redisAppendCommand(c, "INCR c%u:n", id);
		uint64_t pair = ++me->pair_sent;
		redisAppendCommand(c, "MULTI");
		redisAppendCommand(c, "SET c%u:a %llu", id, (unsigned long long)pair);
		redisAppendCommand(c, "SET c%u:b %llu", id, (unsigned long long)pair);
		redisAppendCommand(c, "EXEC");
		for (unsigned i = 0; i < n + 5; i++) {
			redisReply *r = NULL;
			if (redisGetReply(c, (void **)&r) != REDIS_OK || !r)
				_exit(0);
			if (r->type == REDIS_REPLY_ERROR) {
				fprintf(stderr, "error reply: %s\n", r->str);
				_exit(1);
			}
			if (i < n && me->key[key[i]].acked < version[i])
				me->key[key[i]].acked = version[i];
			if (i == n)
				me->counter_acked++;
			if (i == n + 4)
				me->pair_acked = pair;
			freeReplyObject(r);
		}
	}
}

static unsigned wrong;

__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
	va_list ap;
	if (wrong++ >= 10)
		return;
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static uint64_t number_at(redisContext *c, const char *what, unsigned id)
{
	redisReply *r = redisCommand(c, "GET c%u:%s", id, what);
	uint64_t v = r && r->type == REDIS_REPLY_STRING ? strtoull(r->str, NULL, 10) : 0;
	if (r)
		freeReplyObject(r);
	return v;
}

/* A version that its absence may stand for: the oldest that would do. */
static uint64_t absent_version(const struct key_state *k)
{
	uint64_t v = k->acked;
	while (v != k->gone && v <= k->sent && !deletes(v))
		v++;
	return v;
}

static void compare_key(redisContext *c, unsigned id, unsigned k)
{
	static char want[VALUE_MAX];
	struct key_state *s = &clients[id].key[k];
	redisReply *r = redisCommand(c, "GET c%u:k%u", id, k);
	uint64_t version = absent_version(s);
	if (r && r->type == REDIS_REPLY_STRING) {
		version = strtoull(r->str, NULL, 10);
		size_t n = value_of(version, id, k, want);
		if (deletes(version) || n != r->len || memcmp(want, r->str, n) != 0)
			complain("c%u:k%u: the bytes are not those of version %" PRIu64, id, k, version);
	}
	if (!r || version < s->acked || version > s->sent)
		complain("c%u:k%u: version %" PRIu64 "%s, acknowledged %" PRIu64 ", sent %" PRIu64, id, k, version,
			r && r->type == REDIS_REPLY_NIL ? " (absent)" : "", s->acked, s->sent);
	if (r && r->type == REDIS_REPLY_STRING)
		s->acked = s->sent = version;
	else
		s->gone = s->acked = s->sent; /* which of them it was is not known; the next one is later in any case */
	if (r)
		freeReplyObject(r);
}

static void compare(redisContext *c)
{
	for (unsigned id = 0; id < CLIENTS; id++) {
		struct client_state *s = &clients[id];
		for (unsigned k = 0; k < KEYS; k++)
			compare_key(c, id, k);
		uint64_t n = number_at(c, "n", id), a = number_at(c, "a", id), b = number_at(c, "b", id);
		if (n < s->counter_acked || n > s->counter_sent)
			complain("c%u:n is %" PRIu64 ", acknowledged %" PRIu64 ", sent %" PRIu64, id, n, s->counter_acked,
				s->counter_sent);
		if (a != b)
			complain("c%u: a transaction is half there (%" PRIu64 ", %" PRIu64 ")", id, a, b);
		if (a < s->pair_acked || a > s->pair_sent)
			complain("c%u:a is %" PRIu64 ", acknowledged %" PRIu64, id, a, s->pair_acked);
		s->counter_acked = s->counter_sent = n;
		s->pair_acked = s->pair_sent = a;
	}
}

/* What the offline check says of the pool as the death left it. */
static bool sound(char **argv)
{
	char command[1600];
	const char *slash = strrchr(argv[1], '/');
	snprintf(command, sizeof(command), "%.*s/pool-check %s/pool >%s/check.log 2>&1", (int)(slash ? slash - argv[1] : 1),
		slash ? argv[1] : ".", argv[2], argv[2]);
	if (system(command) == 0)
		return true;
	printf("pool-check finds the pool unsound:\n");
	fflush(stdout);
	snprintf(command, sizeof(command), "cat %s/check.log", argv[2]);
	return system(command) < 0;
}

/* Starts the server and kills it before it is ready, or just after. */
static void false_start(char **argv)
{
	pid_t server = start(argv, free_port(), argv[2], argv[3], argv[4]);
	nap((long)(next_random() % 40));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

/* One life of the server: compares, lets clients write, kills. Returns what went wrong; -1: it does not start. */
static int cycle(char **argv)
{
	int port = free_port(), failed;
	pid_t server = start(argv, port, argv[2], argv[3], argv[4]), child[CLIENTS];
	redisContext *c = wait_ready(port, server);
	if (!c) {
		kill(server, SIGKILL);
		return -1;
	}
	wrong = 0;
	compare(c);
	redisFree(c);
	failed = wrong != 0;
	for (unsigned i = 0; i < CLIENTS; i++) {
		uint64_t seed = next_random() | 1;
		child[i] = fork();
		if (child[i] == 0)
			client(i, port, seed);
	}
	nap(20 + (long)(next_random() % 200));
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	for (unsigned i = 0; i < CLIENTS; i++) {
		int status;
		waitpid(child[i], &status, 0);
		if (status != 0)
			failed = 1;
	}
	return failed;
}

int main(int argc, char **argv)
{
	if (argc < 6) {
		fprintf(stderr, "usage: kill SERVER DIRECTORY MEDIUM DURABILITY CYCLES [SEED]\n");
		return 2;
	}
	unsigned cycles = (unsigned)strtoul(argv[5], NULL, 10), failed = 0, done = 0;
	if (argc > 6)
		rng = strtoull(argv[6], NULL, 10) * 2654435761u + 1;
	clients = mmap(NULL, sizeof(*clients) * CLIENTS, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (clients == MAP_FAILED)
		return 2;
	while (done < cycles && failed < 5) {
		int r = cycle(argv);
		done++;
		failed += r != 0;
		if (r < 0) {
			printf("cycle %u: the server does not start (see %s/server.log)\n", done, argv[2]);
			break;
		}
		if (done % 4 == 2)
			false_start(argv);
		if (done % 5 == 3 && !sound(argv))
			failed++;
	}
	uint64_t writes = 0;
	for (unsigned i = 0; i < CLIENTS; i++)
		writes += clients[i].counter_acked;
	printf("%s, %s: %u cycles, %" PRIu64 " batches acknowledged\n", argv[3], argv[4], done, writes);
	printf("%u passed, %u failed\n", done - (failed > done ? done : failed), failed);
	return failed != 0;
}
