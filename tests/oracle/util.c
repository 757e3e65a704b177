/* Bytes, chance, sequences of commands. */
#include "oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("oracle: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

void str_add(struct str *s, const void *p, size_t n)
{
	if (s->n + n + 1 > s->cap) {
		s->cap = (s->n + n + 1) * 2;
		s->p = realloc(s->p, s->cap);
		if (!s->p)
			die("out of memory");
	}
	if (n)
		memcpy(s->p + s->n, p, n);
	s->n += n;
	s->p[s->n] = 0;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	char line[2048];
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	str_add(s, line, n < (int)sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void str_free(struct str *s)
{
	free(s->p);
	*s = (struct str){0};
}

const char *shown(const char *p, size_t n)
{
	static char ring[8][1200];
	static unsigned next;
	char *out = ring[next++ % 8], *w = out;
	for (size_t i = 0; i < n; i++) {
		if (n > 200 && i == 120) {
			w += sprintf(w, "\"...(%zu bytes)...\"", n);
			i = n - 40;
		}
		unsigned char ch = (unsigned char)p[i];
		if (ch == '\r')
			w += sprintf(w, "\\r");
		else if (ch == '\n')
			w += sprintf(w, "\\n");
		else if (ch == '"' || ch == '\\')
			w += sprintf(w, "\\%c", ch);
		else if (ch < 32 || ch > 126)
			w += sprintf(w, "\\x%02x", ch);
		else
			*w++ = (char)ch;
	}
	*w = 0;
	return out;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t chance_next(struct chance *c)
{
	uint64_t z = c->s += 0x9E3779B97F4A7C15ull;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return z ^ z >> 31;
}

struct command *sequence_add(struct sequence *s)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 256;
		s->c = realloc(s->c, s->cap * sizeof(*s->c));
		if (!s->c)
			die("out of memory");
	}
	struct command *c = &s->c[s->n++];
	*c = (struct command){0};
	return c;
}

void command_free(struct command *c)
{
	for (unsigned i = 0; i < c->argc; i++)
		free(c->argv[i].p);
	c->argc = 0;
}

void sequence_free(struct sequence *s)
{
	for (size_t i = 0; i < s->n; i++)
		command_free(&s->c[i]);
	free(s->c);
	*s = (struct sequence){0};
}

void command_arg(struct command *c, const void *p, size_t n)
{
	if (c->argc == MAX_ARGS)
		return;
	char *copy = malloc(n + 1);
	if (!copy)
		die("out of memory");
	if (n)
		memcpy(copy, p, n);
	copy[n] = 0;
	c->argv[c->argc].p = copy;
	c->argv[c->argc].n = (uint32_t)n;
	c->argc++;
}

bool command_is(const struct command *c, const char *name)
{
	return c->argc > 0 && strlen(name) == c->argv[0].n && strcasecmp(c->argv[0].p, name) == 0;
}
