/* Random commands from a small grammar.
 *
 * A row is a command's words: upper-case words stand for themselves, lower-case ones for random arguments (word_of
 * below). [x] is there or not, (x|y) is one of them, {a b c} stands in any order, a word or group followed by + comes
 * one to four times, by * none to three times. Now and then an argument is spoilt, dropped, doubled or added. */
#include "oracle.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gen {
	struct chance chance;
	struct command *c;
	bool in_multi;
};

/* The first few would give keys a life that ends in the middle of the run: not for commands that set deadlines. */
#define SHORT_LIVES 3
static const char *const nonsense[] = {"1", "4294967296", "2147483648", "", "abc", "-1", "0",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
	"18446744073709551616",
	"1e5", "1.5", "inf", "-inf", "nan", "+1", " 1", "1 ", "01", "0x10", "-0", "(1", "[a", "*", "NX", "GET", "LIMIT",
	"-2147483649", "1e400", ".5", "5.", "--1", "3.0e3", "\r\n", "1\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
#define NONSENSE ((uint32_t)(sizeof(nonsense) / sizeof(*nonsense)))

static void put(struct gen *g, const char *p, size_t n)
{
	command_arg(g->c, p, n);
}

static void putf(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void putf(struct gen *g, const char *fmt, ...)
{
	char line[400];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	put(g, line, (size_t)n);
}

static void put_key(struct gen *g)
{
	uint32_t i = chance_below(&g->chance, 24);
	if (i == 23)
		put(g, "", 0);
	else if (i == 22)
		put(g, "\0b\r\n\xff", 5);
	else if (i == 21)
		putf(g, "longer:key:with:many:parts:%0200d", 7);
	else
		putf(g, "k%u", i % 10);
}

/* A value of n bytes: text, or bytes of any kind. */
static void put_bytes(struct gen *g, size_t n)
{
	struct str s = {0};
	uint64_t r = chance_next(&g->chance);
	bool text = r & 1;
	uint32_t span = 1 + (uint32_t)(r >> 8 & 7);
	for (size_t i = 0; i < n; i++) {
		char ch = (char)(text ? 'a' + chance_below(&g->chance, span) : chance_below(&g->chance, 256));
		str_add(&s, &ch, 1);
	}
	put(g, s.n ? s.p : "", s.n);
	str_free(&s);
}

static void put_value(struct gen *g)
{
	switch (chance_below(&g->chance, 16)) {
	case 0:
	case 1:
	case 2: putf(g, "%d", (int)chance_below(&g->chance, 200) - 100); break;
	case 3: putf(g, "%lld", (long long)chance_next(&g->chance)); break;
	case 4: putf(g, "%d.%u", (int)chance_below(&g->chance, 20) - 10, chance_below(&g->chance, 1000)); break;
	case 5: put(g, "", 0); break;
	case 6: put_bytes(g, 40 + chance_below(&g->chance, 10)); break; /* about the length that Redis embeds */
	case 7: put_bytes(g, chance_below(&g->chance, 1200)); break;
	case 8:
		if (one_in(&g->chance, 6))
			put_bytes(g, 16000 + chance_below(&g->chance, 1000));
		else if (one_in(&g->chance, 8))
			put_bytes(g, 60000 + chance_below(&g->chance, 30000));
		else
			put_bytes(g, 500 + chance_below(&g->chance, 30));
		break;
	default: put_bytes(g, 1 + chance_below(&g->chance, 12)); break;
	}
}

static void put_pattern(struct gen *g)
{
	static const char *const patterns[] = {"*", "k*", "k?", "k[0-4]", "k[^12]", "*1", "?", "", "k\\1", "nosuch", "k[",
		"[a-z]*", "k[9-0]", "*[15]", "**", "k[1", "\\", "*\xff*", "longer:*:parts:*7"};
	const char *p = patterns[chance_below(&g->chance, sizeof(patterns) / sizeof(*patterns))];
	put(g, p, strlen(p));
}

static void put_bitfield_type(struct gen *g)
{
	static const char *const odd[] = {"u64", "i65", "u0", "x8", "u", "i0", "u-1"};
	if (one_in(&g->chance, 25))
		putf(g, "%s", odd[chance_below(&g->chance, 7)]);
	else if (one_in(&g->chance, 2))
		putf(g, "u%u", 1 + chance_below(&g->chance, 63));
	else
		putf(g, "i%u", 1 + chance_below(&g->chance, 64));
}

/* Deadlines stand far away or in the past, so that no reply depends on when it was asked. */
static long long far_ms(struct gen *g)
{
	return 4102444800000ll + chance_below(&g->chance, 90000);
}

/* The random argument that a lower-case word stands for. */
static void word_of(struct gen *g, const char *word, size_t n)
{
	struct chance *c = &g->chance;
	char w[16] = {0};
	memcpy(w, word, n < sizeof(w) ? n : sizeof(w) - 1);
	if (!strcmp(w, "key"))
		put_key(g);
	else if (!strcmp(w, "value"))
		put_value(g);
	else if (!strcmp(w, "int"))
		putf(g, "%lld", one_in(c, 8) ? (long long)chance_next(c) : (long long)chance_below(c, 2000) - 1000);
	else if (!strcmp(w, "small"))
		putf(g, "%d", (int)chance_below(c, 24) - 12);
	else if (!strcmp(w, "offset"))
		putf(g, "%u", one_in(c, 5) ? chance_below(c, 40000) : chance_below(c, 100));
	else if (!strcmp(w, "bitoffset"))
		putf(g, "%u", one_in(c, 6) ? chance_below(c, 300000) : chance_below(c, 300));
	else if (!strcmp(w, "fieldoffset"))
		putf(g, "%s%u", one_in(c, 3) ? "#" : "", chance_below(c, 200));
	else if (!strcmp(w, "fieldtype"))
		put_bitfield_type(g);
	else if (!strcmp(w, "bit"))
		putf(g, "%u", chance_below(c, 2));
	else if (!strcmp(w, "seconds"))
		putf(g, "%d", one_in(c, 8) ? -(int)chance_below(c, 100) : 10000 + (int)chance_below(c, 1000000));
	else if (!strcmp(w, "ms"))
		putf(g, "%d", one_in(c, 8) ? -(int)chance_below(c, 100) : 10000000 + (int)chance_below(c, 1000000));
	else if (!strcmp(w, "at"))
		putf(g, "%lld", one_in(c, 8) ? (long long)chance_below(c, 2000) : far_ms(g) / 1000);
	else if (!strcmp(w, "msat"))
		putf(g, "%lld", one_in(c, 8) ? (long long)chance_below(c, 2000) : far_ms(g));
	else if (!strcmp(w, "laterat")) /* a deadline in the past would leave the key to either server's expiry */
		putf(g, "%lld", one_in(c, 12) ? -(long long)chance_below(c, 100) : far_ms(g) / 1000);
	else if (!strcmp(w, "latermsat"))
		putf(g, "%lld", one_in(c, 12) ? -(long long)chance_below(c, 100) : far_ms(g));
	else if (!strcmp(w, "float"))
		putf(g, "%.*f", (int)chance_below(c, 8), ((double)chance_below(c, 2000000) - 1000000) / 777);
	else if (!strcmp(w, "db"))
		putf(g, "%u", one_in(c, 20) ? 16 : chance_below(c, 3));
	else if (!strcmp(w, "pattern"))
		put_pattern(g);
	else
		die("no such word in a grammar: %s", w);
}

/* ---- the grammar ---- */

/* End of the group that opens at p. */
static const char *group_end(const char *p)
{
	int depth = 0;
	for (; *p; p++) {
		if (strchr("[({", *p))
			depth++;
		else if (strchr("])}", *p) && --depth == 0)
			return p;
	}
	die("a group without end in a grammar");
}

static void expand(struct gen *g, const char *p, const char *end);

/* One of the parts between the bars that stand at this level. */
static void expand_one_of(struct gen *g, const char *p, const char *end)
{
	const char *part[32];
	unsigned n = 0;
	part[n++] = p;
	for (const char *q = p; q < end; q++) {
		if (strchr("[({", *q))
			q = group_end(q);
		else if (*q == '|')
			part[n++] = q + 1;
	}
	unsigned i = chance_below(&g->chance, n);
	expand(g, part[i], i + 1 < n ? part[i + 1] - 1 : end);
}

static const char *item_end(const char *p, const char *end)
{
	if (strchr("[({", *p))
		return group_end(p) + 1;
	while (p < end && *p != ' ' && *p != '+' && *p != '*')
		p++;
	return p;
}

static void expand_any_order(struct gen *g, const char *p, const char *end)
{
	const char *from[16], *to[16];
	unsigned n = 0;
	while (p < end) {
		while (p < end && *p == ' ')
			p++;
		if (p == end)
			break;
		from[n] = p;
		p = item_end(p, end);
		if (p < end && (*p == '+' || *p == '*'))
			p++;
		to[n++] = p;
	}
	for (; n > 0; n--) {
		unsigned i = chance_below(&g->chance, n);
		expand(g, from[i], to[i]);
		from[i] = from[n - 1];
		to[i] = to[n - 1];
	}
}

static void expand_item(struct gen *g, const char *p, const char *end)
{
	if (*p == '[') {
		if (one_in(&g->chance, 2))
			expand_one_of(g, p + 1, end - 1);
	} else if (*p == '(') {
		expand_one_of(g, p + 1, end - 1);
	} else if (*p == '{') {
		expand_any_order(g, p + 1, end - 1);
	} else if (islower((unsigned char)*p)) {
		word_of(g, p, (size_t)(end - p));
	} else {
		put(g, p, (size_t)(end - p));
	}
}

static void expand(struct gen *g, const char *p, const char *end)
{
	while (p < end) {
		if (*p == ' ') {
			p++;
			continue;
		}
		const char *stop = item_end(p, end);
		unsigned times = 1;
		if (stop < end && *stop == '+')
			times = 1 + chance_below(&g->chance, 4);
		else if (stop < end && *stop == '*')
			times = chance_below(&g->chance, 4);
		for (unsigned i = 0; i < times; i++)
			expand_item(g, p, stop);
		p = stop < end && (*stop == '+' || *stop == '*') ? stop + 1 : stop;
	}
}

/* ---- spoiling ---- */

static void replace_arg(struct command *c, unsigned i, const char *p, size_t n)
{
	struct command t = {0};
	command_arg(&t, p, n);
	free(c->argv[i].p);
	c->argv[i] = t.argv[0];
}

static bool sets_deadlines(const struct command *c)
{
	static const char *const names[] = {
		"SET", "GETEX", "SETEX", "PSETEX", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (command_is(c, names[i]))
			return true;
	}
	return false;
}

static void spoil(struct gen *g)
{
	struct command *c = g->c;
	uint32_t from = sets_deadlines(c) ? SHORT_LIVES : 0;
	const char *odd = nonsense[from + chance_below(&g->chance, NONSENSE - from)];
	unsigned i = c->argc > 1 ? 1 + chance_below(&g->chance, c->argc - 1u) : 0;
	switch (chance_below(&g->chance, 6)) {
	case 0:
	case 1:
	case 2:
		if (i)
			replace_arg(c, i, odd, strlen(odd));
		break;
	case 3:
		if (i) {
			free(c->argv[i].p);
			memmove(&c->argv[i], &c->argv[i + 1], (c->argc - i - 1u) * sizeof(c->argv[0]));
			c->argc--;
		}
		break;
	case 4: command_arg(c, odd, strlen(odd)); break;
	default:
		for (uint32_t j = 0; j < c->argv[0].n; j++) {
			if (one_in(&g->chance, 2))
				c->argv[0].p[j] = (char)tolower((unsigned char)c->argv[0].p[j]);
		}
		break;
	}
}

/* ---- sequences ---- */

static const struct row *const families[] = {rows_string, rows_bits, rows_key, rows_connection};

struct table {
	const struct row *row[512];
	unsigned upto[512]; /* sums of weights */
	unsigned n, total;
};

static void table_fill(struct table *t, bool (*knows)(const char *name))
{
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++) {
		for (const struct row *r = families[f]; r->grammar; r++) {
			char name[32] = {0};
			for (size_t i = 0; i < sizeof(name) - 1 && r->grammar[i] && r->grammar[i] != ' '; i++)
				name[i] = r->grammar[i];
			if (!knows(name))
				continue;
			t->total += r->weight;
			t->upto[t->n] = t->total;
			t->row[t->n++] = r;
		}
	}
}

static const struct row *table_pick(const struct table *t, struct chance *c)
{
	unsigned x = chance_below(c, t->total), i = 0;
	while (t->upto[i] <= x)
		i++;
	return t->row[i];
}

/* Something that expires while nobody asks; then both servers are made to notice. */
static void short_life(struct gen *g, struct sequence *out, unsigned client)
{
	g->c = sequence_add(out);
	g->c->client = (uint8_t)client;
	g->c->pause_ms = 12;
	put(g, "PEXPIRE", 7);
	put_key(g);
	put(g, "1", 1);
	struct command *c = sequence_add(out);
	c->client = (uint8_t)client;
	command_arg(c, "EXISTS", 6);
	struct command *before = c - 1;
	command_arg(c, before->argv[1].p, before->argv[1].n);
}

static void one_command(struct gen *g, const struct table *t, struct sequence *out, unsigned client)
{
	const struct row *r = table_pick(t, &g->chance);
	while (g->in_multi && r->alone)
		r = table_pick(t, &g->chance);
	g->c = sequence_add(out);
	g->c->client = (uint8_t)client;
	expand(g, r->grammar, r->grammar + strlen(r->grammar));
	if (!r->alone && one_in(&g->chance, 25))
		spoil(g);
}

static void word(struct gen *g, struct sequence *out, unsigned client, const char *name)
{
	g->c = sequence_add(out);
	g->c->client = (uint8_t)client;
	put(g, name, strlen(name));
}

void generate(struct sequence *out, size_t n, uint64_t seed, bool (*knows)(const char *name))
{
	static struct table table;
	if (table.n == 0)
		table_fill(&table, knows);
	struct gen g = {.chance = {seed * 0x2545F4914F6CDD1Dull + 1}};
	bool multi[CLIENTS] = {0};
	/* One of the clients speaks RESP3. */
	word(&g, out, 2, "HELLO");
	put(&g, "3", 1);
	while (out->n < n) {
		unsigned client = chance_below(&g.chance, CLIENTS);
		g.in_multi = multi[client];
		for (unsigned burst = 1 + chance_below(&g.chance, 24); burst > 0; burst--) {
			if (!g.in_multi && one_in(&g.chance, 60)) {
				short_life(&g, out, client);
			} else if (!g.in_multi && one_in(&g.chance, 40)) {
				word(&g, out, client, "WATCH");
				put_key(&g);
			} else if (one_in(&g.chance, g.in_multi ? 200 : 40)) {
				word(&g, out, client, "MULTI");
				g.in_multi = true;
			} else if (g.in_multi && one_in(&g.chance, 8)) {
				word(&g, out, client, one_in(&g.chance, 8) ? "DISCARD" : "EXEC");
				g.in_multi = false;
			} else {
				one_command(&g, &table, out, client);
			}
		}
		multi[client] = g.in_multi;
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (multi[i])
			word(&g, out, i, "EXEC");
	}
}
