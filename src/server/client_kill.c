/* CLIENT KILL, by address or by filters. */
#include "server/client_cmds.h"

struct filter {
	uint64_t id;              /* 0: any */
	int type;                 /* -1: any */
	const char *user;         /* NULL: any */
	struct bytes addr, laddr; /* p NULL: any */
	int64_t max_age_s;        /* kills clients at least this old; 0: any */
	bool skip_me;
};

static bool fits(const struct filter *f, struct client *c, const struct session *me)
{
	if (f->addr.p && !bytes_eq(f->addr, bytes_of(srv__client_addr(c))))
		return false;
	if (f->laddr.p && !bytes_eq(f->laddr, bytes_of(srv__client_laddr(c))))
		return false;
	if (f->type >= 0 && f->type != (int)srv__client_class(c))
		return false;
	if (f->id && f->id != c->s.id)
		return false;
	if (f->user && strcmp(f->user, c->s.user) != 0)
		return false;
	if (f->max_age_s && (srv__now_ms(c->srv) - c->s.created_ms) / 1000 < f->max_age_s)
		return false;
	return !(f->skip_me && &c->s == me);
}

static bool positive(struct call *c, uint32_t i, const char *error, int64_t *out)
{
	if (num_i64(c->argv[i], out) && *out > 0)
		return true;
	reply_error(c->r, error);
	return false;
}

/* One pair of option and value; false: answered. */
static bool read_filter(struct call *c, uint32_t i, struct filter *f)
{
	struct bytes v = c->argv[i + 1];
	int64_t n;
	if (call_arg_is(c, i, "id")) {
		if (!positive(c, i + 1, "ERR client-id should be greater than 0", &n))
			return false;
		f->id = (uint64_t)n;
	} else if (call_arg_is(c, i, "maxage")) {
		if (!positive(c, i + 1, "ERR maxage is not an integer or out of range", &n))
			return false;
		f->max_age_s = n;
	} else if (call_arg_is(c, i, "type")) {
		f->type = srv__client_type(v);
		if (f->type < 0) {
			reply_errorf(c->r, "ERR Unknown client type '%.*s'", (int)v.n, v.p);
			return false;
		}
	} else if (call_arg_is(c, i, "addr")) {
		f->addr = v;
	} else if (call_arg_is(c, i, "laddr")) {
		f->laddr = v;
	} else if (call_arg_is(c, i, "user")) {
		if (!bytes_eq(v, BYTES_LIT("default"))) {
			reply_errorf(c->r, "ERR No such user '%.*s'", (int)v.n, v.p);
			return false;
		}
		f->user = "default";
	} else if (call_arg_is(c, i, "skipme") && (bytes_ieq(v, "yes") || bytes_ieq(v, "no"))) {
		f->skip_me = bytes_ieq(v, "yes");
	} else {
		reply_syntax(c->r);
		return false;
	}
	return true;
}

void srv__cmd_client_kill(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct filter f = {.type = -1, .skip_me = true};
	bool old_form = c->argc == 3;
	if (old_form) {
		f.addr = c->argv[2];
		f.skip_me = false;
	} else if (c->argc % 2) {
		reply_syntax(c->r);
		return;
	}
	for (uint32_t i = 2; !old_form && i < c->argc; i += 2)
		if (!read_filter(c, i, &f))
			return;
	int64_t killed = 0;
	for (struct session *s = engine_sessions(srv->e); s; s = s->next) {
		if (s->ops != &srv->session_ops || !fits(&f, client_of(s), c->s))
			continue;
		if (s == c->s)
			srv__client_close_after_reply(client_of(s));
		else
			srv__client_kill(client_of(s));
		killed++;
		if (old_form)
			break;
	}
	if (!old_form)
		reply_i64(c->r, killed);
	else if (killed)
		reply_ok(c->r);
	else
		reply_error(c->r, "ERR No such client");
}
