/* Where a configuration comes from: a file or standard input, files it includes, and arguments. */
#include "server/config_inner.h"

#include "base/mem.h"
#include "base/version.h"
#include "proto/resp.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define INCLUDE_DEPTH 16

struct loader {
	struct config *cfg;
	struct errinfo *ei;
	unsigned depth;
};

static enum err fatal(struct loader *l, const char *where, unsigned line, const char *text, const char *why)
{
	char at[32] = "";
	if (line)
		snprintf(at, sizeof at, ", line %u", line);
	return err_set(l->ei, ERR_ARGUMENT, "\n*** FATAL CONFIG FILE ERROR (Perdure %s) ***\nIn %s%s\n>>> '%s'\n%s",
		PERDURE_VERSION, where, at, text, why);
}

static enum err load_file(struct loader *l, const char *path);

static enum err include(struct loader *l, const char *pattern, const char *where, unsigned line, const char *text)
{
	glob_t g;
	if (l->depth >= INCLUDE_DEPTH)
		return fatal(l, where, line, text, "files include each other too deeply");
	int rc = glob(pattern, 0, NULL, &g);
	if (rc != 0) {
		bool wild = strpbrk(pattern, "*?[") != NULL;
		if (wild && rc == GLOB_NOMATCH)
			return ERR_OK;
		return load_file(l, pattern); /* says why it cannot be read */
	}
	enum err e = ERR_OK;
	for (size_t i = 0; i < g.gl_pathc && e == ERR_OK; i++)
		e = load_file(l, g.gl_pathv[i]);
	globfree(&g);
	return e;
}

/* One directive with its words. */
static enum err directive(
	struct loader *l, const struct bytes *w, unsigned n, const char *where, unsigned line, const char *text)
{
	if (bytes_ieq(w[0], "include")) {
		if (n != 2)
			return fatal(l, where, line, text, "wrong number of arguments");
		char path[PATH_MAX];
		snprintf(path, sizeof path, "%.*s", (int)w[1].n, w[1].p);
		return include(l, path, where, line, text);
	}
	int id = config__find(w[0]);
	if (id < 0)
		return fatal(l, where, line, text, "Bad directive or wrong number of arguments");
	struct config *cfg = l->cfg;
	const struct config_row *r = &config__rows[id];
	bool adds = (r->flags & CF_MULTI) && (cfg->given[id] || id == CFG_OUTPUT_LIMIT);
	struct config_value v;
	const char *e = config__parse(r, w + 1, n - 1, adds ? &cfg->v[id] : NULL, &v);
	if (e)
		return fatal(l, where, line, text, e);
	config__value_free(&cfg->v[id]);
	cfg->v[id] = v;
	cfg->given[id] = true;
	return ERR_OK;
}

static enum err load_line(struct loader *l, char *text, const char *where, unsigned line)
{
	size_t n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		text[--n] = 0;
	text += strspn(text, " \t");
	if (*text == 0 || *text == '#')
		return ERR_OK;
	struct buf store = {0};
	struct bytes *w = NULL;
	size_t words = 0;
	enum err e = ERR_OK;
	if (!resp_split_line(bytes_of(text), &store, &w, &words))
		e = fatal(l, where, line, text, "Unbalanced quotes in configuration line");
	else if (words)
		e = directive(l, w, (unsigned)words, where, line, text);
	mem_free(w);
	buf_free(&store);
	return e;
}

/* The next line into text, with a zero behind it; false at the end. */
static bool read_line(FILE *f, struct buf *text)
{
	int c = getc(f);
	text->n = 0;
	if (c == EOF)
		return false;
	for (; c != EOF && c != '\n'; c = getc(f))
		buf_add(text, &(char){(char)c}, 1);
	buf_add(text, "", 1);
	return true;
}

static enum err load_stream(struct loader *l, FILE *f, const char *where)
{
	struct buf text = {0};
	enum err e = ERR_OK;
	for (unsigned line = 1; e == ERR_OK && read_line(f, &text); line++)
		e = load_line(l, text.p, where, line);
	buf_free(&text);
	return e;
}

static enum err load_file(struct loader *l, const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return fatal(l, path, 0, path, strerror(errno));
	l->depth++;
	enum err e = load_stream(l, f, path);
	l->depth--;
	fclose(f);
	return e;
}

/* --name value ..., up to the next --name. */
static enum err load_arguments(struct loader *l, int argc, char **argv)
{
	for (int i = 0; i < argc;) {
		if (strncmp(argv[i], "--", 2) != 0 || argv[i][2] == 0)
			return fatal(l, "the arguments", 0, argv[i], "a directive with two dashes before it is expected here");
		int from = i++;
		while (i < argc && strncmp(argv[i], "--", 2) != 0)
			i++;
		struct bytes *w = mem_alloc((size_t)(i - from + 1) * sizeof *w);
		struct buf text = {0};
		unsigned n = 0;
		for (int k = from; k < i; k++) {
			w[n++] = bytes_of(argv[k] + (k == from ? 2 : 0));
			buf_addf(&text, "%s%s", k > from ? " " : "", argv[k] + (k == from ? 2 : 0));
		}
		/* "--save" alone is "--save ''", as Redis takes it; a lone argument may hold several words */
		if (n == 1 && bytes_ieq(w[0], "save"))
			w[n++] = BYTES_LIT("");
		buf_add(&text, "", 1);
		struct buf store = {0};
		struct bytes *split = NULL;
		size_t words = 0;
		enum err e;
		int id = config__find(w[0]);
		if (n == 2 && id >= 0 && config__rows[id].type == CT_LIST && memchr(w[1].p ? w[1].p : "", ' ', w[1].n) &&
			resp_split_line(w[1], &store, &split, &words)) {
			struct bytes *all = mem_alloc((words + 1) * sizeof *all);
			all[0] = w[0];
			memcpy(all + 1, split, words * sizeof *all);
			e = directive(l, all, (unsigned)words + 1, "the arguments", 0, text.p);
			mem_free(all);
		} else {
			e = directive(l, w, n, "the arguments", 0, text.p);
		}
		mem_free(split);
		buf_free(&store);
		buf_free(&text);
		mem_free(w);
		if (e != ERR_OK)
			return e;
	}
	return ERR_OK;
}

enum err config_load_args(struct config *cfg, int argc, char **argv, struct errinfo *ei)
{
	struct loader l = {cfg, ei, 0};
	int i = 1;
	enum err e = ERR_OK;
	if (i < argc && strncmp(argv[i], "--", 2) != 0) {
		if (strcmp(argv[i], "-") == 0) {
			e = load_stream(&l, stdin, "standard input");
		} else {
			char path[PATH_MAX];
			if (!realpath(argv[i], path))
				return fatal(&l, argv[i], 0, argv[i], strerror(errno));
			mem_free(cfg->file);
			cfg->file = mem_strdup(path);
			e = load_file(&l, path);
		}
		i++;
	}
	if (e == ERR_OK && i < argc && strcmp(argv[i], "-") == 0 && !cfg->file) {
		e = load_stream(&l, stdin, "standard input");
		i++;
	}
	if (e == ERR_OK)
		e = load_arguments(&l, argc - i, argv + i);
	return e;
}
