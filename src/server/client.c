/* A connection's life: accepted, checked, named, closed. A session ends only between ticks. */
#include "server/inner.h"

#include "base/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/un.h>

static const char refuse_full[] = "-ERR max number of clients reached\r\n";
static const char refuse_protected[] =
	"-DENIED Perdure is in protected mode: it has no password and was not told which addresses to serve, so it only "
	"answers on the loopback interface. To connect from other machines, do one of these: 1) on this machine run "
	"'CONFIG SET protected-mode no' through redis-cli, and CONFIG REWRITE to keep it, if nobody else can reach the "
	"port. "
	"2) Put 'protected-mode no' into the configuration file and restart. 3) Start it with '--protected-mode no'. "
	"4) Set a password with requirepass, or addresses with bind.\r\n";

/* ---- names ---- */

static void put_addr(const struct sockaddr_storage *ss, char *out, size_t n)
{
	char ip[INET6_ADDRSTRLEN] = "?";
	int port = 0;
	if (ss->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)ss;
		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof ip);
		port = ntohs(in->sin_port);
	} else if (ss->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)ss;
		inet_ntop(AF_INET6, &in->sin6_addr, ip, sizeof ip);
		port = ntohs(in->sin6_port);
	}
	snprintf(out, n, ss->ss_family == AF_INET6 ? "[%s]:%d" : "%s:%d", ip, port);
}

static char *name_of(struct client *c, int (*get)(const uv_tcp_t *h, struct sockaddr *name, int *len))
{
	char text[sizeof((struct sockaddr_un *)0)->sun_path + 8];
	if (c->flags & CL_TCP) {
		struct sockaddr_storage ss = {0};
		int len = sizeof ss;
		get(&c->h.tcp, (struct sockaddr *)&ss, &len);
		put_addr(&ss, text, sizeof text);
	} else {
		snprintf(text, sizeof text, "%.100s:0", config_s(c->srv->cfg, CFG_UNIXSOCKET));
	}
	return mem_strdup(text);
}

const char *srv__client_addr(struct client *c)
{
	if (!c->addr)
		c->addr = name_of(c, uv_tcp_getpeername);
	return c->addr;
}

const char *srv__client_laddr(struct client *c)
{
	if (!c->laddr)
		c->laddr = name_of(c, uv_tcp_getsockname);
	return c->laddr;
}

enum out_class srv__client_class(const struct client *c)
{
	(void)c;
	return OUT_NORMAL;
}

static bool is_local(struct client *c)
{
	struct sockaddr_storage ss = {0};
	int len = sizeof ss;
	if (!(c->flags & CL_TCP))
		return true;
	if (uv_tcp_getpeername(&c->h.tcp, (struct sockaddr *)&ss, &len) != 0)
		return false;
	if (ss.ss_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *)(const void *)&ss)->sin_addr.s_addr) >> 24) == 127;
	const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)&ss)->sin6_addr;
	return IN6_IS_ADDR_LOOPBACK(a) || (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127);
}

bool srv__client_local(struct client *c)
{
	return is_local(c);
}

/* ---- birth ---- */

struct client *srv__client_new(struct srv *srv, bool tcp)
{
	struct client *c = mem_zalloc(sizeof *c);
	c->srv = srv;
	c->flags = tcp ? CL_TCP : 0;
	int rc = tcp ? uv_tcp_init(&srv->loop, &c->h.tcp) : uv_pipe_init(&srv->loop, &c->h.pipe, 0);
	CHECK2(rc == 0, rc, tcp);
	link_init(&c->pending);
	link_init(&c->outs);
	link_init(&c->waiting);
	link_init(&c->dead);
	link_init(&c->paused);
	link_add(&srv->all, &c->all);
	session_init(&c->s, srv->e, &srv->session_ops);
	c->s.created_ms = c->s.last_ms = clock_ms();
	if (!tcp)
		c->s.flags |= SESSION_UNIX;
	srv->clients_n++;
	return c;
}

/* Tells why and closes; the socket of a new connection takes a line. */
static void turn_away(struct client *c, const char *text, size_t n)
{
	uv_buf_t b = uv_buf_init((char *)(uintptr_t)text, (unsigned)n);
	c->srv->stats.rejected++;
	uv_try_write(&c->h.stream, &b, 1);
	srv__client_close(c);
}

void srv__client_begin(struct client *c)
{
	struct srv *srv = c->srv;
	const struct config *cfg = srv->cfg;
	srv->stats.connections++;
	if (srv->clients_n > (uint64_t)config_i(cfg, CFG_MAXCLIENTS)) {
		turn_away(c, refuse_full, sizeof refuse_full - 1);
		return;
	}
	if (config_i(cfg, CFG_PROTECTED_MODE) && !engine_password_needed(srv->e) && !is_local(c)) {
		turn_away(c, refuse_protected, sizeof refuse_protected - 1);
		return;
	}
	if (c->flags & CL_TCP) {
		int64_t alive = config_i(cfg, CFG_TCP_KEEPALIVE);
		uv_tcp_nodelay(&c->h.tcp, 1);
		if (alive > 0)
			uv_tcp_keepalive(&c->h.tcp, 1, (unsigned)alive);
	}
	if (log_get_level() <= LOG_VERBOSE)
		log_msg(LOG_VERBOSE, "Accepted %s", srv__client_addr(c));
	srv__gather_start(c);
}

/* ---- death ---- */

static void on_closed(uv_handle_t *h)
{
	struct client *c = SRV_CONTAINER(h, struct client, h);
	srv__out_free(c);
	link_del(&c->all);
	mem_free(c->addr);
	mem_free(c->laddr);
	mem_free(c);
}

void srv__client_close(struct client *c)
{
	if (c->flags & CL_CLOSING)
		return;
	DCHECK(!(c->flags & CL_GATHERED) && !c->srv->tick.running);
	c->flags |= CL_CLOSING;
	link_del(&c->pending);
	link_del(&c->outs);
	link_del(&c->waiting);
	link_del(&c->dead);
	link_del(&c->paused);
	session_fini(&c->s);
	srv__gather_forget(c);
	c->srv->clients_n--;
	uv_close(&c->h.handle, on_closed);
}

void srv__client_kill(struct client *c)
{
	if (c->flags & (CL_CLOSING | CL_DYING))
		return;
	if (!c->srv->tick.running && !(c->flags & CL_GATHERED)) {
		srv__client_close(c);
		return;
	}
	c->flags |= CL_DYING | CL_SKIP;
	link_add(&c->srv->dead, &c->dead);
}

void srv__client_close_after_reply(struct client *c)
{
	c->flags |= CL_CLOSE | CL_SKIP;
	if (c->out.n == 0 && !c->srv->tick.running)
		srv__client_kill(c);
}

void srv__client_bury(struct srv *srv)
{
	while (!link_empty(&srv->dead))
		srv__client_close(SRV_CONTAINER(srv->dead.next, struct client, dead));
}
