/* Configuration: one table of directives (config_rows.def), by Redis's names and rules. Values are read by id.
 * A directive without a meaning here is known all the same: checked, remembered, answered by CONFIG GET. */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include "base/buf.h"
#include "base/bytes.h"
#include "base/err.h"

enum config_flag {
	CF_IMMUTABLE = 1 << 0, /* CONFIG SET refuses it */
	CF_INERT = 1 << 1,     /* no meaning here: remembered only */
	CF_HIDDEN = 1 << 2,    /* not in CONFIG GET with a pattern that is not its name */
	CF_SECRET = 1 << 3,    /* its value is not logged */
	CF_PROTECTED = 1 << 4, /* CONFIG SET only with enable-protected-configs */
	CF_MULTI = 1 << 5,     /* each line of a file adds to it */
	CF_FILE_ONLY = 1 << 6  /* not a parameter: CONFIG GET and SET do not know it */
};

enum config_id {
#define B(id, name, flags, def, apply) CFG_##id,
#define I(id, name, flags, lo, hi, def, apply) CFG_##id,
#define M(id, name, flags, lo, hi, def, apply) CFG_##id,
#define E(id, name, flags, words, def, apply) CFG_##id,
#define S(id, name, flags, def, apply) CFG_##id,
#define L(id, name, flags, parse, def, apply) CFG_##id,
#include "server/config_rows.def"
#undef B
#undef I
#undef M
#undef E
#undef S
#undef L
	CFG_COUNT
};

struct config;
struct srv;

/* All defaults. */
struct config *config_new(void);
void config_free(struct config *cfg);

/* Values in force. Numbers, bytes, yes/no and words (their number) by _i; texts and lists by _s, never NULL. */
int64_t config_i(const struct config *cfg, enum config_id id);
const char *config_s(const struct config *cfg, enum config_id id);
/* Appends the value in force as CONFIG GET shows it. */
void config_text(const struct config *cfg, enum config_id id, struct buf *out);
/* True where a file or an argument has said something about it. */
bool config_given(const struct config *cfg, enum config_id id);

/* Reads [config-file | -] [--directive value ...] as redis-server takes it. On ERR_ARGUMENT the message is the
 * whole text for the operator, ready to print; the values are then undefined. */
enum err config_load_args(struct config *cfg, int argc, char **argv, struct errinfo *ei);
/* Absolute path of the file it was read from; NULL: none. */
const char *config_file(const struct config *cfg);
/* Refuses what must not be ignored silently (TLS, ACL files, replication, cluster). */
enum err config_check(const struct config *cfg, struct errinfo *ei);
/* 0 always, 1 every second, 2 no, -1 the medium's default: from durability, else from appendonly and appendfsync. */
int config_durability(const struct config *cfg);
/* The names of given directives that mean nothing here, for one line of the log. Returns how many. */
unsigned config_inert_given(const struct config *cfg, struct buf *names);

/* ---- CONFIG GET, SET, REWRITE ---- */

/* Calls fn with every parameter whose name (or alias) matches, once each; values as text. */
void config_match(const struct config *cfg, const struct bytes *patterns, unsigned n,
	void (*fn)(void *ctx, const char *name, struct bytes value), void *ctx);

/* Sets n pairs (name, value), all or nothing. On false err holds what follows "ERR " and nothing has changed.
 * srv: whom the apply functions act on; NULL applies nothing. */
bool config_set(struct config *cfg, struct srv *srv, const struct bytes *pairs, unsigned n, struct buf *err);

/* Whether CONFIG SET takes the directive only where enable-protected-configs says so. */
bool config_protected(struct bytes name);
/* Writes the values in force into the file, keeping its lines, comments and order; atomically. On failure
 * errno-style text in err. */
bool config_rewrite(const struct config *cfg, const char *path, struct buf *err);

/* Sets one directive from its words, as a line of a file would; NULL or what is wrong. For tests and wiring. */
const char *config_put(struct config *cfg, const char *name, const char *value);

#endif
