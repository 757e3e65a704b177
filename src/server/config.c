/* The values in force: reading them, matching names, setting several at once or none. */
#include "server/config_inner.h"

#include "base/check.h"
#include "base/glob.h"
#include "base/mem.h"

#include <unistd.h>

struct config *config_new(void)
{
	struct config *cfg = mem_zalloc(sizeof *cfg);
	for (int i = 0; i < CFG_COUNT; i++) {
		const char *e = config__parse_text(&config__rows[i], bytes_of(config__rows[i].def), NULL, &cfg->v[i]);
		if (e)
			CANNOT(config__rows[i].name);
	}
	return cfg;
}

void config_free(struct config *cfg)
{
	if (!cfg)
		return;
	for (int i = 0; i < CFG_COUNT; i++)
		config__value_free(&cfg->v[i]);
	mem_free(cfg->file);
	mem_free(cfg);
}

int64_t config_i(const struct config *cfg, enum config_id id)
{
	DCHECK(config__rows[id].type != CT_STR && config__rows[id].type != CT_LIST);
	return cfg->v[id].i;
}

const char *config_s(const struct config *cfg, enum config_id id)
{
	DCHECK(config__rows[id].type == CT_STR || config__rows[id].type == CT_LIST);
	return cfg->v[id].s;
}

bool config_given(const struct config *cfg, enum config_id id)
{
	return cfg->given[id];
}

const char *config_file(const struct config *cfg)
{
	return cfg->file;
}

const char *config_put(struct config *cfg, const char *name, const char *value)
{
	int id = config__find(bytes_of(name));
	struct config_value v;
	if (id < 0)
		return "no such directive";
	const char *e = config__parse_text(&config__rows[id], bytes_of(value), &cfg->v[id], &v);
	if (e)
		return e;
	config__value_free(&cfg->v[id]);
	cfg->v[id] = v;
	cfg->given[id] = true;
	return NULL;
}

unsigned config_inert_given(const struct config *cfg, struct buf *names)
{
	unsigned n = 0;
	for (int i = 0; i < CFG_COUNT; i++)
		if (cfg->given[i] && (config__rows[i].flags & CF_INERT)) {
			if (n++)
				buf_add(names, " ", 1);
			buf_adds(names, config__rows[i].name);
		}
	return n;
}

int config_durability(const struct config *cfg)
{
	if (cfg->given[CFG_DURABILITY])
		return (int)cfg->v[CFG_DURABILITY].i;
	return cfg->v[CFG_APPENDONLY].i ? (int)cfg->v[CFG_APPENDFSYNC].i : -1;
}

enum err config_check(const struct config *cfg, struct errinfo *ei)
{
	const struct {
		bool asked;
		const char *name, *why;
	} refused[] = {
		{cfg->v[CFG_TLS_PORT].i != 0, "tls-port", "TLS is not there yet, and clients would talk in the clear"},
		{cfg->v[CFG_CLUSTER_ENABLED].i != 0, "cluster-enabled", "there is no cluster mode"},
		{*cfg->v[CFG_REPLICAOF].s && strcmp(cfg->v[CFG_REPLICAOF].s, "no one") != 0, "replicaof",
			"replication is not there yet, and this server would serve other data than its master"},
		{*cfg->v[CFG_ACLFILE].s != 0, "aclfile", "ACL files are not there yet, and access would be open"},
		{*cfg->v[CFG_USER].s != 0, "user", "ACL users are not there yet, and access would be open"},
		{*cfg->v[CFG_LOADMODULE].s != 0, "loadmodule", "there are no modules"},
	};
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (refused[i].asked)
			return err_set(
				ei, ERR_ARGUMENT, "'%s' cannot be honoured (%s); remove it to start.", refused[i].name, refused[i].why);
	return ERR_OK;
}

/* ---- CONFIG GET ---- */

static bool any_match(const struct bytes *patterns, unsigned n, const char *name, bool hidden)
{
	for (unsigned i = 0; i < n; i++)
		if (hidden ? bytes_ieq(patterns[i], name) : glob_match(patterns[i], bytes_of(name), true))
			return true;
	return false;
}

void config_text(const struct config *cfg, enum config_id id, struct buf *out)
{
	char cwd[4096];
	if (id == CFG_DIR)
		buf_adds(out, getcwd(cwd, sizeof cwd) ? cwd : "");
	else
		config__format(&config__rows[id], &cfg->v[id], out);
}

static void emit(const struct config *cfg, int id, const char *name,
	void (*fn)(void *ctx, const char *name, struct bytes value), void *ctx)
{
	struct buf b = {0};
	config_text(cfg, (enum config_id)id, &b);
	fn(ctx, name, buf_bytes(&b));
	buf_free(&b);
}

void config_match(const struct config *cfg, const struct bytes *patterns, unsigned n,
	void (*fn)(void *ctx, const char *name, struct bytes value), void *ctx)
{
	for (int i = 0; i < CFG_COUNT; i++) {
		const struct config_row *r = &config__rows[i];
		if (!(r->flags & CF_FILE_ONLY) && any_match(patterns, n, r->name, r->flags & CF_HIDDEN))
			emit(cfg, i, r->name, fn, ctx);
	}
	for (const struct config_alias *a = config__aliases; a->name; a++)
		if (any_match(patterns, n, a->name, false))
			emit(cfg, (int)a->id, a->name, fn, ctx);
}

/* ---- CONFIG SET ---- */

bool config_protected(struct bytes name)
{
	int id = config__find(name);
	return id >= 0 && (config__rows[id].flags & CF_PROTECTED);
}

struct change {
	int id;
	struct bytes name;
	struct config_value value; /* the new one, then the old one */
	bool swapped;
};

static bool refuse(struct buf *err, struct bytes name, const char *why)
{
	buf_adds(err, "CONFIG SET failed (possibly related to argument '");
	buf_add(err, name.p, name.n);
	buf_addf(err, "') - %s", why);
	return false;
}

static bool prepare(const struct config *cfg, struct change *ch, unsigned k, struct bytes text, struct buf *err)
{
	const struct config_row *r = &config__rows[ch[k].id];
	if (r->flags & CF_IMMUTABLE)
		return refuse(err, ch[k].name, "can't set immutable config");
	if ((r->flags & CF_PROTECTED) && cfg->v[CFG_ENABLE_PROTECTED_CONFIGS].i == 0)
		return refuse(err, ch[k].name, "can't set protected config");
	for (unsigned i = 0; i < k; i++)
		if (ch[i].id == ch[k].id)
			return refuse(err, ch[k].name, "duplicate parameter");
	const struct config_value *old = ch[k].id == CFG_OUTPUT_LIMIT ? &cfg->v[ch[k].id] : NULL;
	const char *e = config__parse_text(r, text, old, &ch[k].value);
	return e ? refuse(err, ch[k].name, e) : true;
}

static void swap(struct config *cfg, struct change *c)
{
	struct config_value v = cfg->v[c->id];
	cfg->v[c->id] = c->value;
	c->value = v;
}

/* Applies each function of what changed, once. Returns the number of the change that failed, or n. */
static unsigned apply_all(const struct change *ch, unsigned n, struct srv *srv, const char **why)
{
	for (unsigned i = 0; i < n; i++) {
		config_apply_fn fn = config__rows[ch[i].id].apply;
		bool done = !fn || !ch[i].swapped;
		for (unsigned k = 0; k < i && !done; k++)
			done = ch[k].swapped && config__rows[ch[k].id].apply == fn;
		if (!done && (*why = fn(srv)) != NULL)
			return i;
	}
	return n;
}

static bool change_all(struct config *cfg, struct srv *srv, struct change *ch, unsigned n, struct buf *err)
{
	for (unsigned i = 0; i < n; i++) {
		ch[i].swapped = !config__same(&config__rows[ch[i].id], &cfg->v[ch[i].id], &ch[i].value) || ch[i].id == CFG_DIR;
		if (ch[i].swapped)
			swap(cfg, &ch[i]);
	}
	const char *why = NULL, *ignored = NULL;
	unsigned failed = srv ? apply_all(ch, n, srv, &why) : n;
	if (failed == n) {
		for (unsigned i = 0; i < n; i++)
			cfg->given[ch[i].id] = true;
		return true;
	}
	refuse(err, ch[failed].name, why);
	for (unsigned i = 0; i < n; i++)
		if (ch[i].swapped)
			swap(cfg, &ch[i]);
	apply_all(ch, failed, srv, &ignored);
	return false;
}

bool config_set(struct config *cfg, struct srv *srv, const struct bytes *pairs, unsigned n, struct buf *err)
{
	struct change *ch = mem_zalloc(n * sizeof *ch + 1);
	bool ok = true;
	unsigned done = 0;
	for (unsigned i = 0; i < n && ok; i++) {
		ch[i].id = config__find(pairs[2 * i]);
		ch[i].name = pairs[2 * i];
		if (ch[i].id < 0 || (config__rows[ch[i].id].flags & CF_FILE_ONLY)) {
			buf_adds(err, "Unknown option or number of arguments for CONFIG SET - '");
			buf_add(err, ch[i].name.p, ch[i].name.n);
			buf_adds(err, "'");
			ok = false;
		}
	}
	for (; done < n && ok; done++)
		ok = prepare(cfg, ch, done, pairs[2 * done + 1], err);
	if (ok)
		ok = change_all(cfg, srv, ch, n, err);
	for (unsigned i = 0; i < done; i++)
		config__value_free(&ch[i].value);
	mem_free(ch);
	return ok;
}
