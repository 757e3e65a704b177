/* DEBUG: for tests and for looking inside. Behind enable-debug-command. */
#include "base/glob.h"
#include "base/num.h"
#include "server/debug.h"
#include "server/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void debug_sleep(struct call *c)
{
	char text[64];
	snprintf(text, sizeof text, "%.*s", (int)(c->argv[2].n < 60 ? c->argv[2].n : 60), c->argv[2].p);
	double s = strtod(text, NULL);
	if (s > 0) {
		struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
		nanosleep(&t, NULL);
	}
	reply_ok(c->r);
}

/* What RDB would take for the value, uncompressed. */
static uint64_t serialized_length(const struct ks_ref *ref)
{
	struct tstr v;
	int64_t i;
	if (ks_ref_type(ref) != KS_STRING)
		return 0;
	tstr_view(ref, &v);
	if (v.len <= 11 && tstr_i64(ref, &v, &i)) {
		if (i >= INT8_MIN && i <= INT8_MAX)
			return 2;
		if (i >= INT16_MIN && i <= INT16_MAX)
			return 3;
		if (i >= INT32_MIN && i <= INT32_MAX)
			return 5;
	}
	return v.len + (v.len < 64 ? 1 : v.len < 16384 ? 2 : 5);
}

static void debug_object(struct call *c)
{
	struct ks_ref ref;
	if (!ks_peek(c->ks, c->db, ks_key(c->ks, c->argv[2]), &ref)) {
		reply_no_key(c->r);
		return;
	}
	int64_t idle = ks_ref_idle(&ref) / 1000;
	char text[256];
	int n = snprintf(text, sizeof text,
		"Value at:0x%llx refcount:1 encoding:%s serializedlength:%llu lru:%lld lru_seconds_idle:%lld",
		(unsigned long long)ref.pos.item, ks_ref_encoding(&ref), (unsigned long long)serialized_length(&ref),
		(long long)(srv__now_ms(srv_of(c)) / 1000 - idle) & 0xffffff, (long long)idle);
	c->r->ops->status(c->r, (struct bytes){text, (size_t)n});
}

static void debug_set_active_expire(struct call *c)
{
	ks_set_active_expire(c->ks, !bytes_eq(c->argv[2], BYTES_LIT("0")));
	reply_ok(c->r);
}

/* Closes the pool and opens it again, as a restart would, under the feet of the clients. */
static void debug_reload(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct errinfo ei = {0};
	for (uint32_t i = 2; i < c->argc; i++)
		if (!call_arg_is(c, i, "nosave") && !call_arg_is(c, i, "noflush") && !call_arg_is(c, i, "merge")) {
			reply_error(c->r, "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.");
			return;
		}
	if (c->in_exec) {
		reply_error(c->r, "ERR DEBUG RELOAD is not allowed inside a transaction");
		return;
	}
	srv->pool.commit(srv->pool.ctx);
	srv__out_unpin_all(srv);
	engine_set_ks(srv->e, NULL);
	srv->ks = srv->pool.reopen(srv->pool.ctx, &ei);
	if (!srv->ks) {
		log_msg(LOG_WARNING, "DEBUG RELOAD: the pool cannot be opened again: %s", ei.msg);
		_exit(1);
	}
	engine_set_ks(srv->e, srv->ks);
	ks_set_now(srv->ks, srv__now_ms(srv));
	log_msg(LOG_WARNING, "Pool reloaded by DEBUG RELOAD");
	reply_ok(c->r);
}

static void debug_poolcheck(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct buf b = {0};
	if (c->in_exec) {
		reply_error(c->r, "ERR DEBUG POOLCHECK is not allowed inside a transaction");
		return;
	}
	srv->pool.commit(srv->pool.ctx); /* the verifier wants all of it committed */
	bool ok = srv->pool.verify(srv->pool.ctx, &b);
	if (ok)
		c->r->ops->status(c->r, buf_bytes(&b));
	else
		reply_errorf(c->r, "ERR pool check: %.*s", (int)b.n, b.p);
	buf_free(&b);
}

static void debug_change_repl_id(struct call *c)
{
	srv__new_repl_id(srv_of(c));
	reply_ok(c->r);
}

static void debug_stringmatch(struct call *c)
{
	reply_i64(c->r, glob_match(c->argv[2], c->argv[3], false));
}

static void debug_error(struct call *c)
{
	reply_errorf(c->r, "%.*s", (int)c->argv[2].n, c->argv[2].p);
}

static void debug_log(struct call *c)
{
	log_msg(LOG_WARNING, "DEBUG LOG: %.*s", (int)c->argv[2].n, c->argv[2].p);
	reply_ok(c->r);
}

static void debug_populate(struct call *c)
{
	int64_t count, size = 0;
	struct bytes prefix = c->argc > 3 ? c->argv[3] : BYTES_LIT("key");
	if (!call_i64(c, 2, &count) || (c->argc > 4 && !call_i64(c, 4, &size)))
		return;
	if (count < 0 || size < 0 || size > INT32_MAX || prefix.n > KS_KEY_MAX - 32) {
		reply_error(c->r, "ERR value is out of range");
		return;
	}
	struct buf key = {0}, value = {0};
	for (int64_t i = 0; i < count; i++) {
		struct ks_ref ref;
		key.n = value.n = 0;
		buf_add(&key, prefix.p, prefix.n);
		buf_addf(&key, ":%lld", (long long)i);
		buf_addf(&value, "value:%lld", (long long)i);
		if (size) {
			if ((size_t)size > value.n)
				memset(buf_room(&value, (size_t)size - value.n), 0, (size_t)size - value.n);
			value.n = (size_t)size;
		}
		struct ks_key k = ks_key(c->ks, buf_bytes(&key));
		if (ks_peek(c->ks, c->db, k, &ref))
			continue;
		if (!call_reserve(c, key.n + value.n))
			break;
		tstr_put(c->ks, c->db, k, NULL, buf_bytes(&value), TSTR_TTL_NONE);
	}
	if (!c->r->errors)
		reply_ok(c->r);
	buf_free(&key);
	buf_free(&value);
}

static void debug_help(struct call *c)
{
	static const char *const lines[] = {
		"CHANGE-REPL-ID",
		"    Takes a new replication ID.",
		"DIGEST",
		"    Answers a hash of the whole dataset, as redis-server computes it.",
		"DIGEST-VALUE <key> [<key> ...]",
		"    Answers a hash of each value.",
		"ERROR <string>",
		"    Answers this error.",
		"LOG <message>",
		"    Writes into the log.",
		"OBJECT <key>",
		"    Shows how a key is kept.",
		"POOLCHECK",
		"    Verifies the whole pool, and says what it found.",
		"POPULATE <count> [<prefix>] [<size>]",
		"    Makes strings <prefix>:0 and so on, where there are none.",
		"RELOAD [NOSAVE] [NOFLUSH] [MERGE]",
		"    Closes the pool and opens it again.",
		"SET-ACTIVE-EXPIRE <0|1>",
		"    Whether keys expire without being asked for.",
		"SLEEP <seconds>",
		"    Stops the server for a while.",
		"STRINGMATCH-LEN <pattern> <string>",
		"    Matches as KEYS does: 1 or 0.",
		NULL,
	};
	reply_help(c->r, "DEBUG", lines);
}

static const struct debug_sub {
	const char *name;
	uint32_t argc_min, argc_max;
	void (*fn)(struct call *c);
} debug_subs[] = {
	{"help", 2, 2, debug_help},
	{"sleep", 3, 3, debug_sleep},
	{"object", 3, 4, debug_object},
	{"set-active-expire", 3, 3, debug_set_active_expire},
	{"reload", 2, 5, debug_reload},
	{"digest", 2, 2, srv__debug_digest},
	{"digest-value", 2, UINT32_MAX, srv__debug_digest_value},
	{"change-repl-id", 2, 2, debug_change_repl_id},
	{"stringmatch-len", 4, 4, debug_stringmatch},
	{"poolcheck", 2, 2, debug_poolcheck},
	{"error", 3, 3, debug_error},
	{"log", 3, 3, debug_log},
	{"populate", 3, 5, debug_populate},
};

static void cmd_debug(struct call *c)
{
	for (size_t i = 0; i < sizeof debug_subs / sizeof *debug_subs; i++) {
		const struct debug_sub *s = &debug_subs[i];
		if (call_arg_is(c, 1, s->name) && c->argc >= s->argc_min && c->argc <= s->argc_max) {
			s->fn(c);
			return;
		}
	}
	reply_subcommand_error(c->r, "DEBUG", c->argv[1]);
}

const struct cmd srv__debug_cmds[] = {
	{ROW("debug", -2, cmd_debug, CMD_ADMIN | CMD_ANYTIME | CMD_PROTECTED, 0),
		ROW_DOC("server", "1.0.0", "Depends on the subcommand.", "Commands for tests and for looking inside.")},
	ROW_END};
