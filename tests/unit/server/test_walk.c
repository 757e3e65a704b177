/* The walk of a command through a running server: over a unix socket, on a simulated medium, with a pool whose
 * durability the test holds back at will. */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "commands/cmd.h"
#include "server/config.h"
#include "server/server.h"
#include "store/sim.h"
#include "store/store.h"
#include "types/ks.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define SIM_BYTES (256u << 20)
#define QUIET_MS 60

struct rig {
	char dir[64], path[96];
	struct config *cfg;
	struct srv *srv;
	struct st_sim *sim;
	struct store *st;
	struct ks *ks;
	struct engine *e;
	pthread_t thread;
	int code;
	_Atomic uint64_t committed, held_at; /* nothing beyond held_at counts as durable */
	_Atomic long pinned;
};

/* ---- the pool ---- */

static bool pool_work(void *ctx, unsigned objects)
{
	return st_work(((struct rig *)ctx)->st, objects);
}

static uint64_t pool_commit(void *ctx)
{
	struct rig *r = ctx;
	st_commit(r->st);
	return atomic_fetch_add(&r->committed, 1) + 1;
}

static uint64_t pool_durable(void *ctx)
{
	struct rig *r = ctx;
	uint64_t c = atomic_load(&r->committed), h = atomic_load(&r->held_at);
	return c < h ? c : h;
}

static bool pool_pin(void *ctx, uint64_t off)
{
	struct rig *r = ctx;
	bool ok = st_pin(r->st, off);
	atomic_fetch_add(&r->pinned, ok);
	return ok;
}

static void pool_unpin(void *ctx, uint64_t off)
{
	struct rig *r = ctx;
	st_unpin(r->st, off);
	atomic_fetch_sub(&r->pinned, 1);
}

static const char *pool_write_error(void *ctx)
{
	(void)ctx;
	return NULL;
}

static void pool_set_durability(void *ctx, int level)
{
	(void)ctx;
	(void)level;
}

static void pool_stats(void *ctx, struct srv_pool_stats *out)
{
	(void)ctx;
	*out = (struct srv_pool_stats){.path = "", .medium = "sim", .survives = "", .durability = "always"};
}

static bool pool_verify(void *ctx, struct buf *out)
{
	struct rig *r = ctx;
	struct st_verify v;
	st_verify(r->st, &v);
	buf_addf(out, "%llu errors: %s", (unsigned long long)v.errors, v.first);
	return v.errors == 0;
}

/* ---- the server ---- */

static void *serve(void *arg)
{
	struct rig *r = arg;
	r->code = srv_run(r->srv);
	return NULL;
}

static struct rig *rig_new(const char *const *settings)
{
	struct rig *r = mem_zalloc(sizeof *r);
	struct errinfo ei = {0};
	const struct ks_options ko = {.databases = 16};
	snprintf(r->dir, sizeof r->dir, "/tmp/perdure-walk-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->path, sizeof r->path, "%s/s", r->dir);
	log_set_level(LOG_NOTHING);
	r->held_at = UINT64_MAX;
	r->cfg = config_new();
	assert_null(config_put(r->cfg, "port", "0"));
	assert_null(config_put(r->cfg, "unixsocket", r->path));
	assert_null(config_put(r->cfg, "enable-debug-command", "yes"));
	for (; settings && settings[0]; settings += 2)
		assert_null(config_put(r->cfg, settings[0], settings[1]));
	r->srv = srv_new(r->cfg);
	r->sim = st_sim_new(SIM_BYTES, NULL);
	const struct st_options so = {.path = "sim",
		.pool_size = SIM_BYTES,
		.medium = ST_MEDIUM_SIM,
		.sim = r->sim,
		.log_size = 1 << 20,
		.wake = srv_wake,
		.wake_ctx = r->srv};
	assert_int_equal(st_open(&so, &r->st, &ei), ERR_OK);
	ks_register(r->st);
	assert_int_equal(ks_open(r->st, &ko, &r->ks, &ei), ERR_OK);
	st_commit(r->st);
	r->e = engine_new(r->ks);
	engine_register_builtin(r->e);
	const struct srv_pool pool = {r, pool_work, pool_commit, pool_durable, pool_pin, pool_unpin, pool_write_error,
		pool_set_durability, pool_stats, pool_verify, NULL};
	srv_attach(r->srv, r->e, &pool);
	assert_int_equal(srv_listen(r->srv, &ei), ERR_OK);
	assert_int_equal(pthread_create(&r->thread, NULL, serve, r), 0);
	return r;
}

static int dial(const struct rig *r)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof a.sun_path, "%s", r->path);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void say(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
		assert_true(w > 0);
		p += w;
		n -= (size_t)w;
	}
}

static void says(int fd, const char *text)
{
	say(fd, text, strlen(text));
}

/* Exactly these bytes come next. */
static void hears(int fd, const char *want, size_t n)
{
	char *got = mem_alloc(n + 1);
	size_t have = 0;
	while (have < n) {
		struct pollfd p = {fd, POLLIN, 0};
		if (poll(&p, 1, 20000) != 1)
			break;
		ssize_t k = recv(fd, got + have, n - have, 0);
		if (k <= 0)
			break;
		have += (size_t)k;
	}
	got[have] = 0;
	if (n < 4096)
		assert_string_equal(got, want);
	assert_int_equal(have, n);
	assert_memory_equal(got, want, n);
	mem_free(got);
}

static void hear(int fd, const char *want)
{
	hears(fd, want, strlen(want));
}

static void hears_nothing(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	assert_int_equal(poll(&p, 1, QUIET_MS), 0);
}

static void hears_end(int fd)
{
	char c;
	struct pollfd p = {fd, POLLIN, 0};
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_true(recv(fd, &c, 1, 0) <= 0);
	close(fd);
}

static void release(struct rig *r, uint64_t until)
{
	atomic_store(&r->held_at, until);
	srv_wake(r->srv);
}

static void hold(struct rig *r)
{
	atomic_store(&r->held_at, atomic_load(&r->committed));
}

static uint64_t wait_commit(struct rig *r, uint64_t beyond)
{
	for (int i = 0; i < 20000 && atomic_load(&r->committed) <= beyond; i++)
		usleep(1000);
	assert_true(atomic_load(&r->committed) > beyond);
	return atomic_load(&r->committed);
}

static void rig_end(struct rig *r)
{
	int fd = dial(r);
	release(r, UINT64_MAX);
	says(fd, "DEBUG POOLCHECK\r\n");
	hear(fd, "+0 errors: \r\n");
	says(fd, "SHUTDOWN NOSAVE\r\n");
	hears_end(fd);
	pthread_join(r->thread, NULL);
	assert_int_equal(r->code, 0);
	assert_int_equal(atomic_load(&r->pinned), 0);
	engine_free(r->e);
	ks_close(r->ks);
	st_close(r->st);
	srv_free(r->srv);
	st_sim_free(r->sim);
	config_free(r->cfg);
	rmdir(r->dir);
	mem_free(r);
}

/* ---- durability ---- */

static void test_replies_wait_for_their_own_tick(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r), b = dial(r);
	(void)state;
	says(a, "PING\r\n");
	hear(a, "+PONG\r\n");
	hold(r);
	uint64_t before = atomic_load(&r->committed);
	says(a, "SET k 1\r\n");
	uint64_t first = wait_commit(r, before);
	says(b, "GET k\r\n");
	wait_commit(r, first);
	hears_nothing(a);
	hears_nothing(b);
	release(r, first);
	hear(a, "+OK\r\n");
	hears_nothing(b);
	release(r, UINT64_MAX);
	hear(b, "$1\r\n1\r\n");
	close(a);
	close(b);
	rig_end(r);
}

static void test_closing_waits_as_well(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	says(a, "PING\r\n");
	hear(a, "+PONG\r\n");
	hold(r);
	says(a, "SET k 1\r\nQUIT\r\nSET k 2\r\n");
	hears_nothing(a);
	release(r, UINT64_MAX);
	hear(a, "+OK\r\n+OK\r\n");
	hears_end(a);
	a = dial(r);
	says(a, "GET k\r\n");
	hear(a, "$1\r\n1\r\n");
	close(a);
	rig_end(r);
}

static void test_half_closed_client_gets_its_answers(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	hold(r);
	says(a, "SET k 1\r\nINCR k\r\nGET");
	shutdown(a, SHUT_WR);
	hears_nothing(a);
	release(r, UINT64_MAX);
	hear(a, "+OK\r\n:2\r\n");
	hears_end(a);
	/* with nothing held back; what follows RESET is gathered a turn later */
	for (int i = 0; i < 20; i++) {
		a = dial(r);
		says(a, i % 2 ? "PING\r\n" : "RESET\r\nPING\r\n");
		shutdown(a, SHUT_WR);
		hear(a, i % 2 ? "+PONG\r\n" : "+RESET\r\n+PONG\r\n");
		hears_end(a);
	}
	rig_end(r);
}

/* INFO comes to say that so many clients are connected, the asking one included. */
static bool clients_become(int fd, int want)
{
	for (int i = 0; i < 300; i++) {
		char text[4096], *at;
		says(fd, "INFO clients\r\n");
		usleep(10000);
		ssize_t n = recv(fd, text, sizeof text - 1, 0);
		assert_true(n > 0);
		text[n] = 0;
		at = strstr(text, "connected_clients:");
		assert_non_null(at);
		if (atoi(at + strlen("connected_clients:")) == want)
			return true;
	}
	return false;
}

/* The end comes in the same event as the commands, and no answer is left to fail on. */
static void test_a_silent_client_that_hangs_up_is_let_go(void **state)
{
	struct rig *r = rig_new(NULL);
	int a;
	(void)state;
	for (int i = 0; i < 20; i++) {
		a = dial(r);
		says(a, "CLIENT REPLY OFF\r\nINCR k\r\n");
		close(a);
	}
	a = dial(r);
	assert_true(clients_become(a, 1));
	says(a, "GET k\r\n");
	hear(a, "$2\r\n20\r\n");
	close(a);
	rig_end(r);
}

/* ---- gathering ---- */

static void test_commands_may_come_in_any_pieces(void **state)
{
	static const char text[] =
		"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n\r\nPING\r\n";
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	for (size_t i = 0; i < sizeof text - 1; i++) {
		say(a, text + i, 1);
		usleep(200);
	}
	hear(a, "+OK\r\n$5\r\nhello\r\n+PONG\r\n");
	for (size_t cut = 1; cut < sizeof text - 1; cut += 7) {
		say(a, text, cut);
		usleep(500);
		say(a, text + cut, sizeof text - 1 - cut);
		hear(a, "+OK\r\n$5\r\nhello\r\n+PONG\r\n");
	}
	close(a);
	rig_end(r);
}

static void test_pipelines_deeper_than_a_tick_keep_order(void **state)
{
	enum { N = 5000 };
	struct rig *r = rig_new(NULL);
	struct buf out = {0}, want = {0};
	int a = dial(r);
	(void)state;
	for (int i = 1; i <= N; i++) {
		buf_adds(&out, "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n");
		buf_addf(&want, ":%d\r\n", i);
	}
	say(a, out.p, out.n);
	hears(a, want.p, want.n);
	close(a);
	buf_free(&out);
	buf_free(&want);
	rig_end(r);
}

static void test_what_follows_auth_is_parsed_after_it(void **state)
{
	static const char *const settings[] = {"requirepass", "secret", NULL};
	static const char mset[] =
		"*13\r\n$4\r\nMSET\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n1\r\n$1\r\nc\r\n$1\r\n1\r\n$1\r\nd\r\n"
		"$1\r\n1\r\n$1\r\ne\r\n$1\r\n1\r\n$1\r\nf\r\n$1\r\n1\r\n";
	struct rig *r = rig_new(settings);
	char text[512];
	int a = dial(r), b = dial(r);
	(void)state;
	snprintf(text, sizeof text, "PING\r\nAUTH secret\r\n%s", mset);
	says(a, text);
	hear(a, "-NOAUTH Authentication required.\r\n+OK\r\n+OK\r\n");
	says(b, mset);
	hear(b, "-ERR Protocol error: unauthenticated multibulk length\r\n");
	hears_end(b);
	close(a);
	/* the test's own end needs a password too */
	b = dial(r);
	says(b, "AUTH secret\r\nCONFIG SET requirepass \"\"\r\n");
	hear(b, "+OK\r\n+OK\r\n");
	close(b);
	rig_end(r);
}

static void test_protocol_error_is_answered_in_its_place(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	says(a, "SET k 1\r\nINCR k\r\n*1\r\n!\r\nSET k 9\r\n");
	hear(a, "+OK\r\n:2\r\n-ERR Protocol error: expected '$', got '!'\r\n");
	hears_end(a);
	a = dial(r);
	says(a, "GET k\r\n");
	hear(a, "$1\r\n2\r\n");
	close(a);
	rig_end(r);
}

/* ---- big values ---- */

static void put_bulk(struct buf *b, const char *p, size_t n)
{
	buf_addf(b, "$%zu\r\n", n);
	buf_add(b, p, n);
	buf_adds(b, "\r\n");
}

static char *pattern(size_t n, unsigned seed)
{
	char *p = mem_alloc(n);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)('a' + (i * 7 + i / 4096 + seed) % 26);
	return p;
}

static void test_big_values_come_back_as_they_went(void **state)
{
	static const size_t sizes[] = {16383, 16384, 16385, 70000, 1 << 20, (3 << 20) + 5};
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *v = pattern(sizes[i], (unsigned)i);
		struct buf out = {0}, want = {0};
		buf_adds(&out, "*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n");
		put_bulk(&out, v, sizes[i]);
		buf_adds(&out, "*2\r\n$3\r\nGET\r\n$3\r\nbig\r\nPING\r\n");
		buf_adds(&want, "+OK\r\n");
		put_bulk(&want, v, sizes[i]);
		buf_adds(&want, "+PONG\r\n");
		say(a, out.p, out.n);
		hears(a, want.p, want.n);
		buf_free(&out);
		buf_free(&want);
		mem_free(v);
	}
	close(a);
	rig_end(r);
}

static void test_a_reply_shows_the_value_of_its_moment(void **state)
{
	enum { N = 200000 };
	struct rig *r = rig_new(NULL);
	struct buf want = {0};
	char *v = pattern(N, 1);
	int a = dial(r);
	(void)state;
	struct buf out = {0};
	buf_adds(&out, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n");
	put_bulk(&out, v, N);
	buf_adds(&out,
		"GET k\r\nSETRANGE k 5 XYZ\r\nGET k\r\nSETRANGE k 250000 !\r\nSTRLEN k\r\nGETRANGE k 199998 200001\r\nDEL "
		"k\r\nGET k\r\n");
	buf_adds(&want, "+OK\r\n");
	put_bulk(&want, v, N);
	buf_addf(&want, ":%d\r\n", N);
	memcpy(v + 5, "XYZ", 3);
	put_bulk(&want, v, N);
	buf_adds(&want, ":250001\r\n:250001\r\n");
	char tail[4] = {v[N - 2], v[N - 1], 0, 0};
	put_bulk(&want, tail, 4);
	buf_adds(&want, ":1\r\n$-1\r\n");
	say(a, out.p, out.n);
	hears(a, want.p, want.n);
	close(a);
	buf_free(&out);
	buf_free(&want);
	mem_free(v);
	rig_end(r);
}

static void test_silenced_replies_leave_nothing_behind(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	says(a, "SETRANGE k 300000 x\r\n");
	hear(a, ":300001\r\n");
	says(a,
		"PING\r\nCLIENT REPLY SKIP\r\nGET k\r\nECHO a\r\nCLIENT REPLY OFF\r\nGET k\r\nKEYS *\r\nCLIENT REPLY "
		"ON\r\nECHO b\r\n");
	hear(a, "+PONG\r\n$1\r\na\r\n+OK\r\n$1\r\nb\r\n");
	close(a);
	rig_end(r);
}

static void test_slow_reader_blocks_nobody_and_meets_its_limit(void **state)
{
	enum { N = 1 << 20 };
	struct rig *r = rig_new(NULL);
	int slow = dial(r), a = dial(r);
	char text[64];
	(void)state;
	snprintf(text, sizeof text, "SETRANGE k %d x\r\n", N - 1);
	says(a, text);
	hear(a, ":1048576\r\n");
	for (int i = 0; i < 32; i++)
		says(slow, "GET k\r\n");
	for (int i = 0; i < 100; i++) {
		says(a, "SETRANGE k 7 y\r\n");
		hear(a, ":1048576\r\n");
	}
	char *zeros = mem_zalloc(N);
	zeros[N - 1] = 'x';
	for (int i = 0; i < 2; i++) {
		hear(slow, "$1048576\r\n");
		hears(slow, zeros, 7); /* then 0 or y: the first ones were read before the edit or after it */
		char *rest = mem_alloc(N - 7 + 2);
		size_t have = 0;
		while (have < N - 7 + 2) {
			ssize_t k = recv(slow, rest + have, N - 7 + 2 - have, 0);
			assert_true(k > 0);
			have += (size_t)k;
		}
		assert_memory_equal(rest + 1, zeros + 8, N - 8);
		mem_free(rest);
	}
	says(a, "CONFIG SET client-output-buffer-limit \"normal 2mb 0 0\"\r\n");
	hear(a, "+OK\r\n");
	says(slow, "GET k\r\n");
	char waste[65536];
	long got = 0;
	for (ssize_t k; (k = recv(slow, waste, sizeof waste, 0)) > 0;)
		got += k;
	assert_true(got < 31L * N);
	close(slow);
	says(a, "PING\r\n");
	hear(a, "+PONG\r\n");
	close(a);
	mem_free(zeros);
	rig_end(r);
}

/* ---- clients ---- */

static void test_paused_commands_run_later_in_order(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r), b = dial(r);
	(void)state;
	says(a, "SET k 1\r\nCLIENT PAUSE 100000 WRITE\r\nGET k\r\nINCR k\r\nGET k\r\n");
	hear(a, "+OK\r\n+OK\r\n$1\r\n1\r\n");
	says(b, "GET k\r\nINCR k\r\nPING\r\n");
	hear(b, "$1\r\n1\r\n");
	hears_nothing(a);
	hears_nothing(b);
	int c = dial(r);
	says(c, "CLIENT UNPAUSE\r\n");
	hear(c, "+OK\r\n");
	hear(a, ":2\r\n$1\r\n2\r\n");
	hear(b, ":3\r\n+PONG\r\n");
	says(a, "CLIENT PAUSE 50\r\nPING\r\n");
	hear(a, "+OK\r\n+PONG\r\n");
	close(a);
	close(b);
	close(c);
	rig_end(r);
}

static void test_clients_can_be_told_apart_and_killed(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r), b = dial(r);
	char text[64], id[16] = {0};
	(void)state;
	says(a, "CLIENT ID\r\n");
	hear(a, ":");
	for (int i = 0; i < 15 && recv(a, id + i, 1, 0) == 1 && id[i] != '\n'; i++)
		;
	says(b, "CLIENT SETNAME bob\r\nCLIENT GETNAME\r\n");
	hear(b, "+OK\r\n$3\r\nbob\r\n");
	snprintf(text, sizeof text, "CLIENT KILL ID %d\r\n", atoi(id));
	says(b, text);
	hear(b, ":1\r\n");
	hears_end(a);
	says(b, "CLIENT KILL TYPE normal SKIPME no\r\nSET k 1\r\n");
	hear(b, ":1\r\n");
	hears_end(b);
	a = dial(r);
	says(a, "EXISTS k\r\n");
	hear(a, ":0\r\n");
	close(a);
	rig_end(r);
}

static void test_maxclients_turns_away_with_a_reason(void **state)
{
	static const char *const settings[] = {"maxclients", "2", NULL};
	struct rig *r = rig_new(settings);
	int a = dial(r), b = dial(r);
	(void)state;
	says(a, "PING\r\n");
	hear(a, "+PONG\r\n");
	says(b, "PING\r\n");
	hear(b, "+PONG\r\n");
	int c = dial(r);
	hear(c, "-ERR max number of clients reached\r\n");
	hears_end(c);
	says(a, "CONFIG GET maxclients\r\nCONFIG GET nosuch\r\n");
	hear(a, "*2\r\n$10\r\nmaxclients\r\n$1\r\n2\r\n*0\r\n");
	close(a);
	usleep(50000);
	rig_end(r);
	close(b);
}

static void test_renamed_commands_are_unknown_by_their_old_names(void **state)
{
	static const char *const settings[] = {"rename-command", "FLUSHALL \"\"", "rename-command", "ECHO parrot", NULL};
	struct rig *r = rig_new(settings);
	int a = dial(r);
	(void)state;
	says(a, "FLUSHALL\r\necho x\r\nPARROT x\r\nPING\r\n");
	hear(a,
		"-ERR unknown command 'FLUSHALL', with args beginning with: \r\n"
		"-ERR unknown command 'echo', with args beginning with: 'x' \r\n$1\r\nx\r\n+PONG\r\n");
	close(a);
	rig_end(r);
}

static void test_web_pages_are_turned_away(void **state)
{
	struct rig *r = rig_new(NULL);
	int a = dial(r);
	(void)state;
	says(a, "POST / HTTP/1.1\r\nHost: x\r\nSET k 1\r\n");
	hears_end(a);
	a = dial(r);
	says(a, "EXISTS k\r\n");
	hear(a, ":0\r\n");
	close(a);
	rig_end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replies_wait_for_their_own_tick),
		cmocka_unit_test(test_closing_waits_as_well),
		cmocka_unit_test(test_half_closed_client_gets_its_answers),
		cmocka_unit_test(test_a_silent_client_that_hangs_up_is_let_go),
		cmocka_unit_test(test_commands_may_come_in_any_pieces),
		cmocka_unit_test(test_pipelines_deeper_than_a_tick_keep_order),
		cmocka_unit_test(test_what_follows_auth_is_parsed_after_it),
		cmocka_unit_test(test_protocol_error_is_answered_in_its_place),
		cmocka_unit_test(test_big_values_come_back_as_they_went),
		cmocka_unit_test(test_a_reply_shows_the_value_of_its_moment),
		cmocka_unit_test(test_silenced_replies_leave_nothing_behind),
		cmocka_unit_test(test_slow_reader_blocks_nobody_and_meets_its_limit),
		cmocka_unit_test(test_paused_commands_run_later_in_order),
		cmocka_unit_test(test_clients_can_be_told_apart_and_killed),
		cmocka_unit_test(test_maxclients_turns_away_with_a_reason),
		cmocka_unit_test(test_renamed_commands_are_unknown_by_their_old_names),
		cmocka_unit_test(test_web_pages_are_turned_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
