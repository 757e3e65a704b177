/* CLIENT LIST and CLIENT INFO: a line that describes a client. */
#include "server/client_cmds.h"
#include "server/inner.h"

static void put_flags(struct buf *b, const struct client *c)
{
	const struct {
		bool on;
		char letter;
	} all[] = {
		{c->s.flags & SESSION_MULTI, 'x'},
		{(c->flags & CL_STALLED) || (c->s.flags & SESSION_BLOCKED), 'b'},
		{c->s.flags & SESSION_DIRTY_CAS, 'd'},
		{c->flags & CL_CLOSE, 'c'},
		{c->flags & CL_DYING, 'A'},
		{c->s.flags & SESSION_UNIX, 'U'},
		{c->s.flags & SESSION_READONLY, 'r'},
		{c->s.flags & SESSION_NO_EVICT, 'e'},
		{c->s.flags & SESSION_NO_TOUCH, 'T'},
	};
	size_t before = b->n;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].on)
			buf_add(b, &all[i].letter, 1);
	if (b->n == before)
		buf_add(b, "N", 1);
}

static void put_text(struct buf *b, const char *key, const struct buf *text)
{
	buf_adds(b, key);
	if (text->n)
		buf_add(b, text->p, text->n);
}

size_t srv__client_memory(const struct client *c)
{
	return sizeof *c + srv__gather_bytes(c) + srv__out_memory(c) + session_multi_bytes(&c->s) + c->s.name.cap +
		c->s.lib_name.cap + c->s.lib_ver.cap;
}

void srv__client_line(struct client *c, struct buf *b)
{
	const struct session *s = &c->s;
	int64_t now = srv__now_ms(c->srv);
	uv_os_fd_t fd = -1;
	uv_fileno(&c->h.handle, &fd);
	bool in_tick = c->flags & CL_GATHERED;
	size_t held = in_tick ? c->seg_n : c->in.n;
	size_t out = srv__out_memory(c);
	buf_addf(
		b, "id=%llu addr=%s laddr=%s fd=%d", (unsigned long long)s->id, srv__client_addr(c), srv__client_laddr(c), fd);
	put_text(b, " name=", &s->name);
	buf_addf(
		b, " age=%lld idle=%lld flags=", (long long)(now - s->created_ms) / 1000, (long long)(now - s->last_ms) / 1000);
	put_flags(b, c);
	buf_addf(b, " db=%u sub=0 psub=0 ssub=0 multi=%d qbuf=%zu qbuf-free=%zu argv-mem=%zu multi-mem=%zu", s->db,
		session_multi_count(s), held, !in_tick && c->in.cap > held ? c->in.cap - held : 0, (size_t)0,
		session_multi_bytes(s));
	buf_addf(b, " rbs=0 rbp=0 obl=0 oll=%u omem=%zu tot-mem=%zu events=%s cmd=%s user=%s redir=-1 resp=%d", c->out.n,
		out, srv__client_memory(c), c->out.flying ? "rw" : "r", s->last_cmd ? engine_fullname(s->last_cmd) : "NULL",
		s->user ? s->user : "(superuser)", s->resp);
	put_text(b, " lib-name=", &s->lib_name);
	put_text(b, " lib-ver=", &s->lib_ver);
	buf_add(b, "\n", 1);
}

/* The client with this id, or NULL. */
struct client *srv__client_by_id(const struct srv *srv, uint64_t id)
{
	for (struct session *s = engine_sessions(srv->e); s; s = s->next)
		if (s->id == id)
			return s->ops == &srv->session_ops ? client_of(s) : NULL;
	return NULL;
}

int srv__client_type(struct bytes word)
{
	static const char *const names[] = {"normal", "replica", "pubsub", "master"};
	if (bytes_ieq(word, "slave"))
		return 1;
	for (int i = 0; i < 4; i++)
		if (bytes_ieq(word, names[i]))
			return i;
	return -1;
}

void srv__cmd_client_info(struct call *c)
{
	struct buf b = {0};
	srv__client_line(client_of(c->s), &b);
	c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
	buf_free(&b);
}

static bool list_ids(struct call *c, struct buf *b)
{
	const struct srv *srv = srv_of(c);
	for (uint32_t i = 3; i < c->argc; i++) {
		int64_t id;
		if (!num_i64(c->argv[i], &id)) {
			reply_error(c->r, "ERR Invalid client ID");
			return false;
		}
		struct client *cl = id > 0 ? srv__client_by_id(srv, (uint64_t)id) : NULL;
		if (cl)
			srv__client_line(cl, b);
	}
	return true;
}

void srv__cmd_client_list(struct call *c)
{
	struct srv *srv = srv_of(c);
	struct buf b = {0};
	int type = -1;
	if (c->argc == 4 && call_arg_is(c, 2, "type")) {
		type = srv__client_type(c->argv[3]);
		if (type < 0) {
			reply_errorf(c->r, "ERR Unknown client type '%.*s'", (int)c->argv[3].n, c->argv[3].p);
			return;
		}
	} else if (c->argc > 3 && call_arg_is(c, 2, "id")) {
		if (list_ids(c, &b))
			c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
		buf_free(&b);
		return;
	} else if (c->argc != 2) {
		reply_syntax(c->r);
		return;
	}
	for (struct session *s = engine_sessions(srv->e); s; s = s->next)
		if (s->ops == &srv->session_ops && (type < 0 || type == (int)srv__client_class(client_of(s))))
			srv__client_line(client_of(s), &b);
	c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
	buf_free(&b);
}
