/* Values of directives: from words to a value and back to text, by type; and the forms of their own. */
#include "server/config_inner.h"

#include "base/mem.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define WORDS_MAX 64u

static const char *out_of_bounds(const struct config_row *r)
{
	static char text[128];
	snprintf(text, sizeof text, "argument must be between %lld and %lld inclusive", (long long)r->lo, (long long)r->hi);
	return text;
}

static const char *parse_words(const struct config_row *r, const struct bytes *w, unsigned n, int64_t *out)
{
	/* shutdown-on-* takes several words at once: each of them is a bit */
	int64_t v = 0;
	for (unsigned k = 0; k < n; k++) {
		const struct config_word *e = r->words;
		while (e->name && !bytes_ieq(w[k], e->name))
			e++;
		if (!e->name) {
			static char text[512];
			size_t at = (size_t)snprintf(text, sizeof text, "argument(s) must be one of the following: ");
			for (e = r->words; e->name && at < sizeof text; e++)
				at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", e == r->words ? "" : ", ", e->name);
			return text;
		}
		v = n > 1 ? v | e->value : e->value;
	}
	if (n > 1 && (v & 3) == 3)
		return "save and nosave exclude each other";
	*out = v;
	return NULL;
}

static const char *parse_number(const struct config_row *r, struct bytes w, int64_t *out)
{
	if (r->type == CT_INT && !num_i64(w, out))
		return "argument couldn't be parsed into an integer";
	if (r->type == CT_MEM && !num_memory(w, out))
		return "argument must be a memory value";
	if (*out < r->lo || *out > r->hi)
		return out_of_bounds(r);
	return NULL;
}

const char *config__parse(const struct config_row *r, const struct bytes *w, unsigned n, const struct config_value *old,
	struct config_value *out)
{
	*out = (struct config_value){0, NULL};
	bool several = r->type == CT_LIST || (r->type == CT_ENUM && strncmp(r->name, "shutdown-on-", 12) == 0);
	if (n == 0 || (n != 1 && !several))
		return "wrong number of arguments";
	switch (r->type) {
	case CT_BOOL:
		if (!bytes_ieq(w[0], "yes") && !bytes_ieq(w[0], "no"))
			return "argument must be 'yes' or 'no'";
		out->i = bytes_ieq(w[0], "yes");
		return NULL;
	case CT_INT:
	case CT_MEM: return parse_number(r, w[0], &out->i);
	case CT_ENUM: return parse_words(r, w, n, &out->i);
	case CT_STR:
		if (memchr(w[0].p ? w[0].p : "", 0, w[0].n))
			return "argument holds a zero byte";
		out->s = mem_alloc(w[0].n + 1);
		if (w[0].n)
			memcpy(out->s, w[0].p, w[0].n);
		out->s[w[0].n] = 0;
		return NULL;
	case CT_LIST: break;
	}
	struct buf b = {0};
	const char *e = r->parse(w, n, old ? old->s : NULL, &b);
	if (e) {
		buf_free(&b);
		return e;
	}
	buf_add(&b, "", 1);
	out->s = mem_strdup(b.p);
	buf_free(&b);
	return NULL;
}

const char *config__parse_text(
	const struct config_row *r, struct bytes text, const struct config_value *old, struct config_value *out)
{
	bool several = r->type == CT_LIST || (r->type == CT_ENUM && strncmp(r->name, "shutdown-on-", 12) == 0);
	if (!several)
		return config__parse(r, &text, 1, old, out);
	struct bytes w[WORDS_MAX];
	unsigned n = 0;
	for (size_t i = 0; i < text.n;) {
		while (i < text.n && text.p[i] == ' ')
			i++;
		size_t from = i;
		while (i < text.n && text.p[i] != ' ')
			i++;
		if (i == from)
			break;
		if (n == WORDS_MAX)
			return "too many words";
		w[n++] = (struct bytes){text.p + from, i - from};
	}
	if (n == 0)
		w[n++] = BYTES_LIT("");
	return config__parse(r, w, n, old, out);
}

void config__format(const struct config_row *r, const struct config_value *v, struct buf *out)
{
	const char *sep = "";
	switch (r->type) {
	case CT_BOOL: buf_adds(out, v->i ? "yes" : "no"); return;
	case CT_INT:
	case CT_MEM: buf_addf(out, "%lld", (long long)v->i); return;
	case CT_STR:
	case CT_LIST: buf_adds(out, v->s); return;
	case CT_ENUM: break;
	}
	for (const struct config_word *e = r->words; e->name; e++)
		if (e->value == v->i) {
			buf_adds(out, e->name);
			return;
		}
	for (const struct config_word *e = r->words; e->name; e++)
		if (e->value && (e->value & v->i) == e->value) {
			buf_addf(out, "%s%s", sep, e->name);
			sep = " ";
		}
}

bool config__same(const struct config_row *r, const struct config_value *a, const struct config_value *b)
{
	return r->type == CT_STR || r->type == CT_LIST ? strcmp(a->s, b->s) == 0 : a->i == b->i;
}

void config__value_free(struct config_value *v)
{
	mem_free(v->s);
	v->s = NULL;
}

/* ---- forms of their own ---- */

static void join(struct buf *out, const struct bytes *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_add(out, " ", 1);
		buf_add(out, w[i].p, w[i].n);
	}
}

const char *config__parse_bind(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	if (n > 16)
		return "Too many bind addresses specified.";
	if (n == 1 && w[0].n == 0)
		return NULL;
	join(out, w, n);
	return NULL;
}

const char *config__parse_octal(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	if (n != 1 || w[0].n == 0 || w[0].n > 4)
		return "argument couldn't be parsed as an octal number";
	for (size_t i = 0; i < w[0].n; i++)
		if (w[0].p[i] < '0' || w[0].p[i] > '7')
			return "argument couldn't be parsed as an octal number";
	char digits[8] = {0};
	memcpy(digits, w[0].p, w[0].n);
	long v = strtol(digits, NULL, 8);
	if (v > 0777)
		return "argument must be between 0 and 777 inclusive";
	buf_addf(out, "%lo", (unsigned long)v);
	return NULL;
}

static const char *const out_classes[] = {"normal", "slave", "pubsub"};

static int out_class(struct bytes w)
{
	if (bytes_ieq(w, "replica"))
		return 1;
	for (int i = 0; i < 3; i++)
		if (bytes_ieq(w, out_classes[i]))
			return i;
	return -1;
}

const char *config__parse_out_limit(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	long long v[3][3] = {{0, 0, 0}, {268435456, 67108864, 60}, {33554432, 8388608, 60}};
	char name[3][16];
	if (old)
		sscanf(old, "%15s %lld %lld %lld %15s %lld %lld %lld %15s %lld %lld %lld", name[0], &v[0][0], &v[0][1],
			&v[0][2], name[1], &v[1][0], &v[1][1], &v[1][2], name[2], &v[2][0], &v[2][1], &v[2][2]);
	if (n == 0 || n % 4)
		return "Wrong number of arguments in buffer limit configuration.";
	for (unsigned k = 0; k < n; k += 4) {
		int c = out_class(w[k]);
		if (c < 0)
			return "Invalid client class specified in buffer limit configuration.";
		int64_t hard, soft, secs;
		if (!num_memory(w[k + 1], &hard) || !num_memory(w[k + 2], &soft) || !num_i64(w[k + 3], &secs) || hard < 0 ||
			soft < 0 || secs < 0)
			return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
		v[c][0] = hard;
		v[c][1] = soft;
		v[c][2] = secs;
	}
	for (int c = 0; c < 3; c++)
		buf_addf(out, "%s%s %lld %lld %lld", c ? " " : "", out_classes[c], v[c][0], v[c][1], v[c][2]);
	return NULL;
}

const char *config__parse_oom_values(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	int64_t last = -2001;
	if (n != 3)
		return "wrong number of arguments";
	for (unsigned i = 0; i < n; i++) {
		int64_t v;
		if (!num_i64(w[i], &v) || v < -2000 || v > 2000)
			return "Invalid oom-score-adj-values, elements must be between -2000 and 2000.";
		if (v < last)
			return "Invalid oom-score-adj-values, they must not decrease.";
		last = v;
	}
	join(out, w, n);
	return NULL;
}

/* Old and new names in turn; a new name of "" is written as two quotes. */
const char *config__parse_rename(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	if (n == 1 && w[0].n == 0)
		return NULL;
	if (n != 2)
		return "wrong number of arguments";
	if (w[0].n == 0 || memchr(w[0].p, ' ', w[0].n) || (w[1].n && memchr(w[1].p, ' ', w[1].n)))
		return "command names hold no spaces";
	if (old && *old)
		buf_addf(out, "%s ", old);
	join(out, w, 1);
	buf_add(out, " ", 1);
	if (w[1].n)
		buf_add(out, w[1].p, w[1].n);
	else
		buf_adds(out, "\"\"");
	return NULL;
}

const char *config__parse_join(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	join(out, w, n);
	return NULL;
}

const char *config__parse_save(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	if (n == 1 && w[0].n == 0)
		return NULL;
	if (n % 2)
		return "Invalid save parameters";
	for (unsigned i = 0; i < n; i += 2) {
		int64_t secs, changes;
		if (!num_i64(w[i], &secs) || !num_i64(w[i + 1], &changes) || secs < 1 || changes < 0)
			return "Invalid save parameters";
	}
	if (old && *old)
		buf_addf(out, "%s ", old);
	join(out, w, n);
	return NULL;
}

const char *config__parse_mem_percent(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	if (n != 1)
		return "wrong number of arguments";
	int64_t v;
	if (w[0].n > 1 && w[0].p[w[0].n - 1] == '%') {
		if (!num_i64((struct bytes){w[0].p, w[0].n - 1}, &v) || v < 0)
			return "argument must be a memory or percent value";
		if (v > 100)
			return "percentage argument must be less or equal to 100";
		buf_addf(out, "%lld%%", (long long)v);
		return NULL;
	}
	if (!num_memory(w[0], &v) || v < 0)
		return "argument must be a memory or percent value";
	buf_addf(out, "%lld", (long long)v);
	return NULL;
}

/* The letters, deduplicated and in Redis's order; all of the A classes show as A. */
const char *config__parse_notify(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	static const char all[] = "g$lshzxetd", order[] = "g$lshzxetdKEmn";
	bool on[128] = {false};
	if (n != 1)
		return "wrong number of arguments";
	for (size_t i = 0; i < w[0].n; i++) {
		unsigned char ch = (unsigned char)w[0].p[i];
		if (ch == 'A') {
			for (const char *c = all; *c; c++)
				on[(unsigned char)*c] = true;
		} else if (ch < 128 && ch && strchr(order, ch)) {
			on[ch] = true;
		} else {
			return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
		}
	}
	bool every = true;
	for (const char *c = all; *c; c++)
		every = every && on[(unsigned char)*c];
	if (every)
		buf_add(out, "A", 1);
	for (const char *c = order; *c; c++)
		if (on[(unsigned char)*c] && !(every && strchr(all, *c)))
			buf_add(out, c, 1);
	return NULL;
}

const char *config__parse_percentiles(const struct bytes *w, unsigned n, const char *old, struct buf *out)
{
	(void)old;
	if (n == 1 && w[0].n == 0)
		return NULL;
	for (unsigned i = 0; i < n; i++) {
		double v;
		if (!num_d(w[i], &v))
			return "Invalid latency-tracking-info-percentiles parameters";
		if (v < 0 || v > 100)
			return "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
		buf_addf(out, "%s%.12g", i ? " " : "", v);
	}
	return NULL;
}
