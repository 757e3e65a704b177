/* The oracle: the same random commands to two servers, Perdure and Debian's redis-server; replies must be the same
 * bytes, except for what tests/oracle/differences.md lists. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_ARGS 24
#define CLIENTS 3
#define DATABASES 16

/* ---- bytes and chance ---- */

struct str {
	char *p;
	size_t n;
	size_t cap;
};
void str_add(struct str *s, const void *p, size_t n);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_free(struct str *s);
/* C-like escapes, shortened in the middle, for people. A static buffer per call, a few at a time. */
const char *shown(const char *p, size_t n);
__attribute__((noreturn)) void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct chance {
	uint64_t s;
};
uint64_t chance_next(struct chance *c);
static inline uint32_t chance_below(struct chance *c, uint32_t n)
{
	return (uint32_t)((chance_next(c) >> 32) * n >> 32);
}
/* True once in n. */
static inline bool one_in(struct chance *c, uint32_t n)
{
	return chance_below(c, n) == 0;
}

/* ---- commands ---- */

struct command {
	uint8_t client;
	uint8_t argc;
	uint16_t pause_ms; /* to wait after the reply: something expires meanwhile */
	struct {
		char *p;
		uint32_t n;
	} argv[MAX_ARGS];
};
struct sequence {
	struct command *c;
	size_t n;
	size_t cap;
};
struct command *sequence_add(struct sequence *s);
void sequence_free(struct sequence *s);
void command_arg(struct command *c, const void *p, size_t n);
void command_free(struct command *c);
bool command_is(const struct command *c, const char *name);

/* A family of commands: rows of weight and grammar, see generate.c. The last row's grammar is NULL. */
struct row {
	unsigned weight;
	const char *grammar;
	bool alone; /* not inside MULTI: its reply is compared by a rule that looks at the command */
};
extern const struct row rows_string[], rows_bits[], rows_key[], rows_connection[];

/* Fills `out` with n commands. The rows that `knows` says no to are left out. */
void generate(struct sequence *out, size_t n, uint64_t seed, bool (*knows)(const char *name));

/* ---- servers ---- */

struct server {
	const char *program;
	bool perdure;
	int pid;
	int port;
	char dir[200];
	int fd[CLIENTS];
	struct str in[CLIENTS]; /* read and not yet taken */
	size_t taken[CLIENTS];
};
void server_start(struct server *s);
void server_kill(struct server *s);
/* Stops it and removes its folder. */
void server_end(struct server *s);
/* All connections anew. */
void server_connect(struct server *s);
bool server_alive(const struct server *s);
/* Appends the end of what it logged. */
void server_log(const struct server *s, struct str *out);
/* Appends the command in RESP. */
void command_encode(const struct command *c, struct str *out);
void server_send(struct server *s, int client, const char *p, size_t n);
/* The next reply of this client, whole; valid until the next call. False when the connection ended. */
bool server_reply(struct server *s, int client, const char **p_out, size_t *n_out);
/* One command of words, to client 0; the reply's bytes. */
const char *server_ask(struct server *s, size_t *n_out, int argc, ...);

/* Length of the reply at p, 0 when it is not whole yet. */
size_t reply_length(const char *p, size_t n);

/* ---- comparing ---- */

/* True when the two replies to c are the same, by the rules of differences.md. */
bool same_reply(const struct command *c, const char *a, size_t an, const char *b, size_t bn);
/* Compares keys, values, encodings and deadlines in all databases. False: `what` says where they differ. */
bool same_data(struct server *a, struct server *b, struct str *what);

/* Where two runs first differ. */
struct difference {
	size_t at; /* index of the command; the sequence's length: in the data at the end */
	struct str what;
};
/* Empties both servers, runs the sequence on both. True: no difference. */
bool run_sequence(struct server *a, struct server *b, const struct sequence *s, bool data_too, struct difference *out);
/* Removes commands as long as a difference stays; at most `seconds`. */
void shrink(struct server *a, struct server *b, struct sequence *s, unsigned seconds);

#endif
