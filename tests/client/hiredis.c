/* A real client library against the server: hiredis, blocking, pipelined, and asynchronous on libuv.
 *
 * hiredis PORT. Debian's hiredis (0.14) speaks RESP2 only; the Tcl suite covers RESP3. */
#include <hiredis/hiredis.h>

#include <hiredis/async.h>
#include <hiredis/adapters/libuv.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed, bad_here;

#define EXPECT(c) \
	do { \
		if (!(c)) { \
			printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #c); \
			bad_here = 1; \
		} \
	} while (0)

static redisContext *connect_port(int port)
{
	struct timeval patience = {10, 0};
	redisContext *c = redisConnectWithTimeout("127.0.0.1", port, patience);
	if (!c || c->err) {
		printf("cannot connect: %s\n", c ? c->errstr : "no memory");
		exit(1);
	}
	redisSetTimeout(c, patience);
	return c;
}

/* The reply to one command; the caller frees it. Ends the program where the connection does. */
static redisReply *ask(redisContext *c, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	redisReply *r = redisvCommand(c, fmt, ap);
	va_end(ap);
	if (!r) {
		printf("%s: the connection ended: %s\n", fmt, c->errstr);
		exit(1);
	}
	return r;
}

static int is_text(const redisReply *r, int type, const char *text)
{
	return r->type == type && (size_t)r->len == strlen(text) && memcmp(r->str, text, (size_t)r->len) == 0;
}

#define STATUS(text, ...) \
	do { \
		redisReply *r_ = ask(c, __VA_ARGS__); \
		EXPECT(is_text(r_, REDIS_REPLY_STATUS, text)); \
		freeReplyObject(r_); \
	} while (0)
#define BULK(text, ...) \
	do { \
		redisReply *r_ = ask(c, __VA_ARGS__); \
		EXPECT(is_text(r_, REDIS_REPLY_STRING, text)); \
		freeReplyObject(r_); \
	} while (0)
#define INT(n, ...) \
	do { \
		redisReply *r_ = ask(c, __VA_ARGS__); \
		EXPECT(r_->type == REDIS_REPLY_INTEGER && r_->integer == (n)); \
		freeReplyObject(r_); \
	} while (0)
#define NIL(...) \
	do { \
		redisReply *r_ = ask(c, __VA_ARGS__); \
		EXPECT(r_->type == REDIS_REPLY_NIL); \
		freeReplyObject(r_); \
	} while (0)
#define ERROR(start, ...) \
	do { \
		redisReply *r_ = ask(c, __VA_ARGS__); \
		EXPECT(r_->type == REDIS_REPLY_ERROR && strncmp(r_->str, start, strlen(start)) == 0); \
		freeReplyObject(r_); \
	} while (0)

/* ---- blocking ---- */

static void test_strings(int port)
{
	redisContext *c = connect_port(port);
	STATUS("PONG", "PING");
	STATUS("OK", "SET %s %s", "name", "value with spaces");
	BULK("value with spaces", "GET name");
	NIL("GET nothing");
	INT(17, "STRLEN name");
	INT(22, "APPEND name %s", ", and");
	BULK("value", "GETRANGE name 0 4");
	INT(41, "INCRBY counter 41");
	INT(42, "INCR counter");
	BULK("10.5", "INCRBYFLOAT float 10.5");
	ERROR("ERR value is not an integer", "INCR name");
	ERROR("ERR unknown command", "NOSUCHCOMMAND");
	NIL("SET name other NX");
	BULK("42", "SET counter 5 GET");
	INT(3, "DEL name counter float");
	redisFree(c);
}

static void test_binary(int port)
{
	redisContext *c = connect_port(port);
	char all[256];
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	redisReply *r = ask(c, "SET %b %b", all, sizeof(all), all, sizeof(all));
	EXPECT(is_text(r, REDIS_REPLY_STATUS, "OK"));
	freeReplyObject(r);
	r = ask(c, "GET %b", all, sizeof(all));
	EXPECT(r->type == REDIS_REPLY_STRING && r->len == 256 && memcmp(r->str, all, 256) == 0);
	freeReplyObject(r);
	redisFree(c);
}

static void test_arrays(int port)
{
	redisContext *c = connect_port(port);
	STATUS("OK", "MSET a 1 b 2 c 3");
	redisReply *r = ask(c, "MGET a nothing c");
	EXPECT(r->type == REDIS_REPLY_ARRAY && r->elements == 3);
	EXPECT(is_text(r->element[0], REDIS_REPLY_STRING, "1"));
	EXPECT(r->element[1]->type == REDIS_REPLY_NIL);
	EXPECT(is_text(r->element[2], REDIS_REPLY_STRING, "3"));
	freeReplyObject(r);
	r = ask(c, "BITFIELD bf SET u8 0 255 GET u8 0 OVERFLOW FAIL INCRBY u8 0 1");
	EXPECT(r->type == REDIS_REPLY_ARRAY && r->elements == 3);
	EXPECT(r->element[0]->integer == 0 && r->element[1]->integer == 255);
	EXPECT(r->element[2]->type == REDIS_REPLY_NIL);
	freeReplyObject(r);
	r = ask(c, "SCAN 0 COUNT 1000 MATCH %s", "[abc]");
	EXPECT(r->type == REDIS_REPLY_ARRAY && r->elements == 2 && r->element[1]->elements == 3);
	freeReplyObject(r);
	redisFree(c);
}

static void test_transactions(int port)
{
	redisContext *c = connect_port(port);
	STATUS("OK", "MULTI");
	STATUS("QUEUED", "SET t 1");
	STATUS("QUEUED", "INCR t");
	redisReply *r = ask(c, "EXEC");
	EXPECT(r->type == REDIS_REPLY_ARRAY && r->elements == 2 && r->element[1]->integer == 2);
	freeReplyObject(r);
	redisContext *d = connect_port(port);
	STATUS("OK", "WATCH t");
	freeReplyObject(ask(d, "SET t changed"));
	STATUS("OK", "MULTI");
	STATUS("QUEUED", "SET t mine");
	NIL("EXEC");
	BULK("changed", "GET t");
	redisFree(d);
	redisFree(c);
}

static void test_expiry(int port)
{
	redisContext *c = connect_port(port);
	STATUS("OK", "SET e v EX 100");
	redisReply *r = ask(c, "TTL e");
	EXPECT(r->type == REDIS_REPLY_INTEGER && r->integer >= 99 && r->integer <= 100);
	freeReplyObject(r);
	INT(1, "PERSIST e");
	INT(-1, "TTL e");
	INT(-2, "TTL nothing");
	INT(1, "PEXPIREAT e 1");
	NIL("GET e");
	redisFree(c);
}

static void test_databases(int port)
{
	redisContext *c = connect_port(port);
	STATUS("OK", "SET k zero");
	STATUS("OK", "SELECT 4");
	NIL("GET k");
	STATUS("OK", "SET k four");
	INT(1, "MOVE k 5");
	STATUS("OK", "SELECT 5");
	BULK("four", "GET k");
	ERROR("ERR DB index is out of range", "SELECT 99");
	redisFree(c);
}

/* ---- pipelined ---- */

static void test_pipeline(int port)
{
	enum { N = 20000 };
	redisContext *c = connect_port(port);
	for (int i = 0; i < N; i++) {
		redisAppendCommand(c, "SET pipe:%d %d", i, i * 3);
		redisAppendCommand(c, "GET pipe:%d", i);
	}
	for (int i = 0; i < N; i++) {
		redisReply *r;
		char text[16];
		snprintf(text, sizeof(text), "%d", i * 3);
		EXPECT(redisGetReply(c, (void **)&r) == REDIS_OK && is_text(r, REDIS_REPLY_STATUS, "OK"));
		freeReplyObject(r);
		EXPECT(redisGetReply(c, (void **)&r) == REDIS_OK && is_text(r, REDIS_REPLY_STRING, text));
		freeReplyObject(r);
		if (bad_here)
			break;
	}
	redisFree(c);
}

static void test_big_values(int port)
{
	enum { N = 8 * 1024 * 1024 };
	redisContext *c = connect_port(port);
	char *big = malloc(N);
	for (int i = 0; i < N; i++)
		big[i] = (char)(i * 7 + i / 1000);
	for (int i = 0; i < 4; i++)
		redisAppendCommand(c, "SET big:%d %b", i, big, (size_t)N - (size_t)i);
	for (int i = 0; i < 4; i++)
		redisAppendCommand(c, "GET big:%d", i);
	for (int i = 0; i < 8; i++) {
		redisReply *r = NULL;
		EXPECT(redisGetReply(c, (void **)&r) == REDIS_OK);
		if (!r)
			break;
		if (i < 4)
			EXPECT(is_text(r, REDIS_REPLY_STATUS, "OK"));
		else
			EXPECT(r->type == REDIS_REPLY_STRING && r->len == N - (size_t)(i - 4) && memcmp(r->str, big, r->len) == 0);
		freeReplyObject(r);
	}
	free(big);
	redisFree(c);
}

/* ---- asynchronous, on libuv ---- */

enum { ASYNC_CLIENTS = 50, ASYNC_COMMANDS = 400 };

struct async_state {
	int replies;
	long long sum, last;
};

static void on_incr(redisAsyncContext *ac, void *reply, void *privdata)
{
	struct async_state *s = privdata;
	redisReply *r = reply;
	EXPECT(r && r->type == REDIS_REPLY_INTEGER);
	if (!r)
		return;
	s->replies++;
	s->sum += r->integer;
	if (r->integer > s->last)
		s->last = r->integer;
	int *left = ac->data;
	if (--*left == 0)
		redisAsyncDisconnect(ac);
}

static void on_connect(const redisAsyncContext *ac, int status)
{
	(void)ac;
	EXPECT(status == REDIS_OK);
}

static int disconnects;
static void on_disconnect(const redisAsyncContext *ac, int status)
{
	(void)ac;
	EXPECT(status == REDIS_OK);
	disconnects++;
}

static void test_async(int port)
{
	struct async_state s = {0};
	int left[ASYNC_CLIENTS];
	uv_loop_t *loop = uv_default_loop();
	disconnects = 0;
	for (int i = 0; i < ASYNC_CLIENTS; i++) {
		redisAsyncContext *ac = redisAsyncConnect("127.0.0.1", port);
		if (!ac || ac->err) {
			EXPECT(!"redisAsyncConnect");
			return;
		}
		redisLibuvAttach(ac, loop);
		redisAsyncSetConnectCallback(ac, on_connect);
		redisAsyncSetDisconnectCallback(ac, on_disconnect);
		left[i] = ASYNC_COMMANDS;
		ac->data = &left[i];
		for (int j = 0; j < ASYNC_COMMANDS; j++)
			redisAsyncCommand(ac, on_incr, &s, "INCR async");
	}
	uv_run(loop, UV_RUN_DEFAULT);
	const long long n = (long long)ASYNC_CLIENTS * ASYNC_COMMANDS;
	EXPECT(s.replies == n);
	EXPECT(s.last == n);
	/* Each number was given exactly once. */
	EXPECT(s.sum == n * (n + 1) / 2);
	EXPECT(disconnects == ASYNC_CLIENTS);
}

/* ---- leaving ---- */

static void test_quit(int port)
{
	redisContext *c = connect_port(port);
	STATUS("OK", "QUIT");
	redisReply *r = redisCommand(c, "PING");
	EXPECT(!r && c->err);
	if (r)
		freeReplyObject(r);
	redisFree(c);
}

static void run(const char *name, void (*test)(int port), int port)
{
	redisContext *c = connect_port(port);
	freeReplyObject(ask(c, "FLUSHALL"));
	redisFree(c);
	bad_here = 0;
	test(port);
	if (bad_here) {
		printf("FAIL %s\n", name);
		failed++;
	} else {
		passed++;
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: hiredis PORT\n");
		return 2;
	}
	int port = (int)strtol(argv[1], NULL, 10);
	run("strings", test_strings, port);
	run("binary", test_binary, port);
	run("arrays", test_arrays, port);
	run("transactions", test_transactions, port);
	run("expiry", test_expiry, port);
	run("databases", test_databases, port);
	run("pipeline", test_pipeline, port);
	run("big values", test_big_values, port);
	run("asynchronous", test_async, port);
	run("quit", test_quit, port);
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
