/* Where the server listens: addresses of `bind`, `port`, and a unix socket. */
#include "server/inner.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct listener {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} h;
	struct listener *next;
	struct srv *srv;
	bool tcp;
	char name[160];
};

static void on_closed(uv_handle_t *h)
{
	mem_free(SRV_CONTAINER(h, struct listener, h));
}

static void on_connection(uv_stream_t *s, int status)
{
	struct listener *l = SRV_CONTAINER(s, struct listener, h);
	if (status < 0) {
		log_msg(LOG_WARNING, "Accepting a client on %s: %s", l->name, uv_strerror(status));
		return;
	}
	struct client *c = srv__client_new(l->srv, l->tcp);
	if (uv_accept(s, &c->h.stream) != 0)
		srv__client_close(c);
	else
		srv__client_begin(c);
}

static struct listener *listener_new(struct srv *srv, bool tcp)
{
	struct listener *l = mem_zalloc(sizeof *l);
	l->srv = srv;
	l->tcp = tcp;
	if (tcp)
		uv_tcp_init(&srv->loop, &l->h.tcp);
	else
		uv_pipe_init(&srv->loop, &l->h.pipe, 0);
	return l;
}

/* Starts listening; 0 or a libuv error, after which l is gone. */
static int listener_start(struct listener *l)
{
	struct srv *srv = l->srv;
	int rc = uv_listen(&l->h.stream, (int)config_i(srv->cfg, CFG_TCP_BACKLOG), on_connection);
	if (rc != 0) {
		uv_close(&l->h.handle, on_closed);
		return rc;
	}
	struct listener **tail = &srv->listeners;
	while (*tail)
		tail = &(*tail)->next;
	*tail = l;
	return 0;
}

/* ---- TCP ---- */

static int listen_sockaddr(struct srv *srv, const struct sockaddr *sa, const char *host, int64_t port)
{
	struct listener *l = listener_new(srv, true);
	bool v6 = sa->sa_family == AF_INET6;
	snprintf(l->name, sizeof l->name, v6 ? "[%.120s]:%lld" : "%.120s:%lld", host, (long long)port);
	int rc = uv_tcp_bind(&l->h.tcp, sa, v6 ? UV_TCP_IPV6ONLY : 0);
	if (rc != 0) {
		uv_close(&l->h.handle, on_closed);
		return rc;
	}
	return listener_start(l);
}

static int listen_host(struct srv *srv, const char *host, int64_t port)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	if (strcmp(host, "*") == 0)
		host = "0.0.0.0";
	else if (strcmp(host, "::*") == 0)
		host = "::";
	if (uv_ip4_addr(host, (int)port, &a.in) == 0 || uv_ip6_addr(host, (int)port, &a.in6) == 0)
		return listen_sockaddr(srv, &a.sa, host, port);
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
	char service[16];
	snprintf(service, sizeof service, "%lld", (long long)port);
	if (getaddrinfo(host, service, &hints, &list) != 0)
		return UV_EADDRNOTAVAIL;
	int rc = listen_sockaddr(srv, list->ai_addr, host, port);
	freeaddrinfo(list);
	return rc;
}

/* An address that this machine does not have, or a protocol that it does not speak. */
static bool absent(int rc)
{
	return rc == UV_EADDRNOTAVAIL || rc == UV_EAFNOSUPPORT || rc == UV_EPROTONOSUPPORT || rc == UV_ENOPROTOOPT;
}

static bool open_tcp(struct srv *srv, const char *bind, int64_t port, char *err, size_t errn)
{
	char list[1024], *save = NULL;
	if (port == 0)
		return true;
	snprintf(list, sizeof list, "%s", *bind ? bind : "");
	for (char *host = strtok_r(list, " ", &save); host; host = strtok_r(NULL, " ", &save)) {
		bool optional = *host == '-';
		int rc = listen_host(srv, host + optional, port);
		if (rc == 0 || (optional && absent(rc)) || rc == UV_EAFNOSUPPORT || rc == UV_EPROTONOSUPPORT)
			continue;
		snprintf(err, errn, "cannot listen on %s:%lld: %s", host + optional, (long long)port, uv_strerror(rc));
		return false;
	}
	return true;
}

/* ---- unix socket ---- */

static bool open_unix(struct srv *srv, char *err, size_t errn)
{
	const char *path = config_s(srv->cfg, CFG_UNIXSOCKET);
	if (!*path)
		return true;
	unlink(path);
	struct listener *l = listener_new(srv, false);
	snprintf(l->name, sizeof l->name, "%.150s", path);
	int rc = uv_pipe_bind(&l->h.pipe, path);
	if (rc != 0)
		uv_close(&l->h.handle, on_closed);
	else
		rc = listener_start(l);
	if (rc != 0) {
		snprintf(err, errn, "cannot listen on the unix socket %s: %s", path, uv_strerror(rc));
		return false;
	}
	unsigned long mode = strtoul(config_s(srv->cfg, CFG_UNIXSOCKETPERM), NULL, 8);
	if (mode)
		chmod(path, (mode_t)mode);
	return true;
}

/* ---- all of them ---- */

static void close_some(struct srv *srv, bool tcp_only)
{
	struct listener **at = &srv->listeners;
	while (*at) {
		struct listener *l = *at;
		if (tcp_only && !l->tcp) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		uv_close(&l->h.handle, on_closed);
	}
}

static void remember(struct srv *srv, const char *bind, int64_t port)
{
	char *copy = mem_strdup(bind);
	mem_free(srv->listen_bind);
	srv->listen_bind = copy;
	srv->listen_port = port;
}

bool srv__listen_open(struct srv *srv, char *err, size_t errn)
{
	const char *bind = config_s(srv->cfg, CFG_BIND);
	int64_t port = config_i(srv->cfg, CFG_PORT);
	if (!open_tcp(srv, bind, port, err, errn) || !open_unix(srv, err, errn)) {
		srv__listen_close(srv);
		return false;
	}
	remember(srv, bind, port);
	if (srv->listeners)
		return true;
	snprintf(err, errn, "there is no address to listen on (see bind, port and unixsocket)");
	return false;
}

void srv__listen_close(struct srv *srv)
{
	close_some(srv, false);
}

bool srv__listen_replace(struct srv *srv, char *err, size_t errn)
{
	const char *bind = config_s(srv->cfg, CFG_BIND);
	int64_t port = config_i(srv->cfg, CFG_PORT);
	char ignored[256];
	/* the same address cannot be bound twice: the old ones go first and come back when it fails */
	close_some(srv, true);
	if (open_tcp(srv, bind, port, err, errn)) {
		remember(srv, bind, port);
		return true;
	}
	close_some(srv, true);
	if (!open_tcp(srv, srv->listen_bind, srv->listen_port, ignored, sizeof ignored))
		log_msg(LOG_WARNING, "The old addresses could not be listened on again: %s", ignored);
	return false;
}

size_t srv_listen_text(const struct srv *srv, char *p, size_t n)
{
	size_t at = 0;
	if (n)
		p[0] = 0;
	for (const struct listener *l = srv->listeners; l && at < n; l = l->next)
		at += (size_t)snprintf(p + at, n - at, "%s%s", l == srv->listeners ? "" : ", ", l->name);
	return at < n ? at : n;
}
