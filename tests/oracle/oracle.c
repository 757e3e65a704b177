/* oracle [--seed N] [--rounds N] [--commands N] [--seconds N] [--kill N] [--pipeline N] [--server PROGRAM]
 *
 * Each round: a new random sequence from the next seed, run on both servers, then the datasets compared. Every N-th
 * round (--kill) Perdure is ended by SIGKILL before that comparison and started again. A difference is shrunk and
 * printed with its seed; the same seed and number of commands give the same sequence. */
#include "oracle.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct server perdure = {.program = NULL, .perdure = true};
static struct server redis = {.program = "/usr/bin/redis-server"};

static void clean_up(void)
{
	static pid_t owner;
	if (!owner)
		owner = getpid();
	if (owner != getpid())
		return;
	server_end(&perdure);
	server_end(&redis);
}

static void on_signal(int sig)
{
	(void)sig;
	exit(1);
}

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Families that Perdure does not have yet are left out. */
static bool knows(const char *name)
{
	size_t n;
	if (strcmp(name, "NOSUCHCOMMAND") == 0)
		return true;
	const char *p = server_ask(&perdure, &n, 3, "COMMAND", (size_t)7, "INFO", (size_t)4, name, strlen(name));
	return n > 6 && strncmp(p, "*1\r\n*-1", 7) != 0 && strncmp(p, "*1\r\n$-1", 7) != 0;
}

/* ---- one run ---- */

/* While looking for the cause of a difference. How often a sequence must be good to be taken for good: more than once
 * for differences that hang on timing. Fresh: each try gets a new pool. */
static unsigned retries = 1;
static bool fresh;
static unsigned long pipeline = 1000; /* commands in one write at most */

static bool differs(const struct command *c, bool ok, const char *x, size_t xn, const char *y, size_t yn,
	struct str *what)
{
	if (!ok) {
		usleep(500000); /* a crash takes its time */
		bool alive = server_alive(&perdure);
		str_addf(what, "  a connection ended (perdure %s)\n", alive ? "lives" : "HAS DIED");
		if (!alive)
			server_log(&perdure, what);
		return true;
	}
	if (same_reply(c, x, xn, y, yn))
		return false;
	/* Long replies from a little before the place where they part. */
	size_t at = 0;
	while (at < xn && at < yn && x[at] == y[at])
		at++;
	size_t from = at > 60 && xn + yn > 400 ? at - 30 : 0;
	if (from)
		str_addf(what, "  from byte %zu on\n", from);
	str_addf(what, "  perdure: %s\n  redis:   %s\n", shown(x + from, xn - from), shown(y + from, yn - from));
	return true;
}

bool run_sequence(struct server *a, struct server *b, const struct sequence *s, bool data_too, struct difference *out)
{
	size_t n;
	out->what.n = 0;
	if (fresh)
		server_end(a);
	if (!server_alive(a))
		server_start(a);
	server_connect(a);
	server_connect(b);
	server_ask(a, &n, 1, "FLUSHALL", (size_t)8);
	server_ask(b, &n, 1, "FLUSHALL", (size_t)8);
	struct str bytes = {0};
	for (size_t i = 0; i < s->n;) {
		/* As many commands of one client as stand together go in one write. */
		size_t end = i;
		bytes.n = 0;
		do {
			command_encode(&s->c[end++], &bytes);
		} while (end < s->n && s->c[end].client == s->c[i].client && s->c[end - 1].pause_ms == 0 &&
			end - i < pipeline);
		int client = s->c[i].client;
		server_send(a, client, bytes.p, bytes.n);
		server_send(b, client, bytes.p, bytes.n);
		for (; i < end; i++) {
			const char *x = NULL, *y = NULL;
			size_t xn = 0, yn = 0;
			bool ok = server_reply(a, client, &x, &xn);
			ok = server_reply(b, client, &y, &yn) && ok;
			if (differs(&s->c[i], ok, x, xn, y, yn, &out->what)) {
				/* Where a server died, any command of the same write may be why. */
				out->at = ok ? i : end - 1;
				str_free(&bytes);
				return false;
			}
			if (s->c[i].pause_ms)
				usleep(s->c[i].pause_ms * 1000u);
		}
	}
	str_free(&bytes);
	out->at = s->n;
	if (!data_too)
		return true;
	server_connect(a);
	server_connect(b);
	return same_data(a, b, &out->what);
}

/* ---- shrinking ---- */


static void without(const struct sequence *s, size_t from, size_t n, struct sequence *out)
{
	out->n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (i < from || i >= from + n)
			*sequence_add(out) = s->c[i]; /* arguments are shared; s keeps owning them */
	}
}

void shrink(struct server *a, struct server *b, struct sequence *s, unsigned seconds)
{
	double deadline = seconds_now() + seconds;
	struct difference d = {0};
	struct sequence shorter = {0};
	for (size_t piece = s->n / 2; piece > 0; piece /= 2) {
		for (size_t at = 0; at < s->n && seconds_now() < deadline;) {
			without(s, at, piece, &shorter);
			bool good = true;
			for (unsigned i = 0; i < retries && good; i++)
				good = run_sequence(a, b, &shorter, true, &d);
			if (good) {
				at += piece;
				continue;
			}
			struct sequence t = *s;
			*s = shorter;
			shorter = t;
			if (d.at + 1 < s->n)
				s->n = d.at + 1;
		}
	}
	free(shorter.c);
	str_free(&d.what);
}

#define SHOWN 40u /* commands printed at most */

static void report(uint64_t seed, size_t commands, struct sequence *s, struct difference *d, bool killed)
{
	printf("seed %llu, %zu commands%s: command %zu differs\n", (unsigned long long)seed, commands,
		killed ? ", after kill -9 and restart" : "", d->at);
	fputs(d->what.p ? d->what.p : "", stdout);
	if (d->at < s->n)
		s->n = d->at + 1;
	struct difference again = {0};
	unsigned tries = 1;
	fresh = false;
	while (tries <= 20 && run_sequence(&perdure, &redis, s, true, &again))
		fresh = ++tries > 10;
	if (tries > 20) {
		printf("it does not happen again, in 10 tries with this pool and 10 with new ones\n");
		fresh = false;
		return;
	}
	if (fresh) {
		printf("it happens with a new pool\n");
		tries -= 10;
	}
	if (tries > 1)
		printf("it does not happen each time: %u tries\n", tries);
	retries = tries > 1 ? 3 * tries : 1;
	struct sequence shorter = {0};
	without(s, s->n, 0, &shorter);
	shrink(&perdure, &redis, &shorter, 60);
	for (unsigned i = 0; i < retries && run_sequence(&perdure, &redis, &shorter, true, &again); i++)
		;
	printf("shortest sequence found:\n");
	size_t first = shorter.n > SHOWN ? shorter.n - SHOWN : 0;
	if (first)
		printf("  ... %zu commands ...\n", first);
	for (size_t i = first; i < shorter.n; i++) {
		const struct command *c = &shorter.c[i];
		printf("  %u>", c->client);
		for (unsigned j = 0; j < c->argc; j++)
			printf(" \"%s\"", shown(c->argv[j].p, c->argv[j].n));
		printf("%s\n", c->pause_ms ? "   (and a pause)" : "");
	}
	fputs(again.what.p ? again.what.p : "", stdout);
	fflush(stdout);
	fresh = false;
	free(shorter.c);
}

static bool round_of(uint64_t seed, size_t commands, bool kill_it)
{
	struct sequence s = {0};
	struct difference d = {0};
	generate(&s, commands, seed, knows);
	bool same = run_sequence(&perdure, &redis, &s, !kill_it, &d);
	if (same && kill_it) {
		server_kill(&perdure);
		server_start(&perdure);
		server_connect(&redis);
		same = same_data(&perdure, &redis, &d.what);
	}
	if (!same)
		report(seed, commands, &s, &d, kill_it);
	sequence_free(&s);
	str_free(&d.what);
	return same;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	unsigned long rounds = 40, commands = 3000, seconds = 600, kill_each = 8;
	perdure.program = getenv("PERDURE_SERVER") ? getenv("PERDURE_SERVER") : "build/perdure-server";
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--rounds"))
			rounds = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--commands"))
			commands = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--seconds"))
			seconds = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--kill"))
			kill_each = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--pipeline"))
			pipeline = strtoul(argv[i + 1], NULL, 10);
		else if (!strcmp(argv[i], "--server"))
			perdure.program = argv[i + 1];
		else
			die("unknown option %s", argv[i]);
	}
	if (strstr(perdure.program, "redis-server")) { /* the oracle against itself: what differs is the oracle's fault */
		perdure.perdure = false;
		kill_each = 0;
	}
	clean_up();
	atexit(clean_up);
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	signal(SIGPIPE, SIG_IGN);
	server_start(&perdure);
	server_start(&redis);
	unsigned long good = 0, bad = 0;
	double deadline = seconds_now() + (double)seconds;
	for (unsigned long i = 0; i < rounds && bad < 5 && seconds_now() < deadline; i++) {
		if (round_of(seed + i, commands, kill_each && i % kill_each == kill_each - 1))
			good++;
		else
			bad++;
	}
	printf("%lu passed, %lu failed\n", good, bad);
	return bad > 0 || good == 0;
}
