/* What the files of the configuration share. */
#ifndef SERVER_CONFIG_INNER_H
#define SERVER_CONFIG_INNER_H

#include "server/config.h"

enum config_type { CT_BOOL, CT_INT, CT_MEM, CT_ENUM, CT_STR, CT_LIST };

struct config_word {
	const char *name; /* NULL ends the list */
	int64_t value;
};

/* Makes the canonical text of a list from its words. old: the value so far when lines add up, else NULL.
 * Returns NULL, or what is wrong. */
typedef const char *(*config_parse_fn)(const struct bytes *w, unsigned n, const char *old, struct buf *out);
/* Puts a changed value into force; NULL, or what is wrong (then the old value comes back). */
typedef const char *(*config_apply_fn)(struct srv *srv);

struct config_row {
	const char *name;
	enum config_type type;
	uint32_t flags;
	int64_t lo, hi;
	const char *def;
	const struct config_word *words;
	config_parse_fn parse;
	config_apply_fn apply;
};

struct config_value {
	int64_t i;
	char *s;
};

struct config {
	struct config_value v[CFG_COUNT];
	bool given[CFG_COUNT];
	char *file;
};

/* config_table.c */
extern const struct config_row config__rows[CFG_COUNT];
/* Names that Redis also takes; id of the row meant, or -1. */
struct config_alias {
	const char *name;
	enum config_id id;
};
extern const struct config_alias config__aliases[];
int config__find(struct bytes name);

/* config_parse.c */
/* Parses a value's words for a row. old: as in config_parse_fn. */
const char *config__parse(const struct config_row *r, const struct bytes *w, unsigned n, const struct config_value *old,
	struct config_value *out);
/* The same from one string, as CONFIG SET has it. */
const char *config__parse_text(
	const struct config_row *r, struct bytes text, const struct config_value *old, struct config_value *out);
void config__format(const struct config_row *r, const struct config_value *v, struct buf *out);
bool config__same(const struct config_row *r, const struct config_value *a, const struct config_value *b);
void config__value_free(struct config_value *v);

const char *config__parse_bind(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_octal(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_out_limit(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_oom_values(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_rename(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_join(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_save(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_mem_percent(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_notify(const struct bytes *w, unsigned n, const char *old, struct buf *out);
const char *config__parse_percentiles(const struct bytes *w, unsigned n, const char *old, struct buf *out);

/* config_apply.c */
const char *config__apply_durability(struct srv *srv);
const char *config__apply_bind(struct srv *srv);
const char *config__apply_limits(struct srv *srv);
const char *config__apply_maxclients(struct srv *srv);
const char *config__apply_loglevel(struct srv *srv);
const char *config__apply_dir(struct srv *srv);
const char *config__apply_hz(struct srv *srv);
const char *config__apply_latency(struct srv *srv);
const char *config__apply_requirepass(struct srv *srv);

/* Quotes a value for a line of a file where it needs that. */
void config__quote(struct buf *out, struct bytes s);

#endif
