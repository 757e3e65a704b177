/* Two servers side by side: started here, spoken to over plain sockets, ended by their process numbers. */
#include "oracle.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 30000

/* Below the range that the system takes for outgoing connections. */
static int free_port(void)
{
	static struct chance chance;
	if (!chance.s)
		chance.s = (uint64_t)getpid() * 1000003 + (uint64_t)time(NULL);
	for (int i = 0; i < 200; i++) {
		int port = 20000 + (int)chance_below(&chance, 12000);
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		struct sockaddr_in a = {
			.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		int on = 1;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		int taken = fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a));
		close(fd);
		if (!taken)
			return port;
	}
	die("no free port");
}

static int connect_port(int port)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		return -1;
	}
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static void run_program(struct server *s)
{
	char port[16], pool[300], log[300];
	snprintf(port, sizeof(port), "%d", s->port);
	snprintf(pool, sizeof(pool), "%s/pool", s->dir);
	snprintf(log, sizeof(log), "%s/log", s->dir);
	const char *medium = getenv("ORACLE_MEDIUM");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(fd, 1);
	dup2(fd, 2);
	const char *common[] = {s->program, "--port", port, "--bind", "127.0.0.1", "--dir", s->dir,
		"--enable-debug-command", "yes", "--databases", "16"};
	const char *argv[32] = {0};
	size_t n = sizeof(common) / sizeof(*common);
	memcpy(argv, common, sizeof(common));
	const char *own[] = {"--pool", pool, "--pool-size", "4gb", "--pool-medium", medium ? medium : "pmem"};
	const char *redis[] = {"--save", "", "--appendonly", "no"};
	if (s->perdure)
		memcpy(argv + n, own, sizeof(own));
	else
		memcpy(argv + n, redis, sizeof(redis));
	execv(s->program, (char **)argv);
	_exit(127);
}

bool server_alive(const struct server *s)
{
	int status;
	return s->pid > 0 && waitpid(s->pid, &status, WNOHANG) == 0;
}

void server_log(const struct server *s, struct str *out)
{
	char path[300], line[1000];
	snprintf(path, sizeof(path), "%s/log", s->dir);
	FILE *f = fopen(path, "r");
	if (!f)
		return;
	if (fseek(f, -1500, SEEK_END) == 0 && !fgets(line, sizeof(line), f))
		line[0] = 0;
	while (fgets(line, sizeof(line), f))
		str_addf(out, "  | %s", line);
	fclose(f);
}

static void show_log(const struct server *s)
{
	struct str out = {0};
	server_log(s, &out);
	fputs(out.p ? out.p : "", stderr);
	str_free(&out);
}

void server_start(struct server *s)
{
	if (!s->dir[0]) {
		const char *base = getenv(s->perdure ? "PERDURE_SHM" : "TMPDIR");
		if (!base)
			base = s->perdure && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
		snprintf(s->dir, sizeof(s->dir), "%s/perdure-oracle.XXXXXX", base);
		if (!mkdtemp(s->dir))
			die("mkdtemp %s: %s", s->dir, strerror(errno));
		for (int i = 0; i < CLIENTS; i++)
			s->fd[i] = -1;
	}
	s->port = free_port();
	s->pid = fork();
	if (s->pid < 0)
		die("fork: %s", strerror(errno));
	if (s->pid == 0)
		run_program(s);
	for (int i = 0; i < PATIENCE_MS / 5; i++) {
		int fd = connect_port(s->port);
		if (fd >= 0) {
			close(fd);
			server_connect(s);
			return;
		}
		if (!server_alive(s))
			break;
		usleep(5000);
	}
	show_log(s);
	die("%s did not start", s->program);
}

void server_kill(struct server *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	s->pid = 0;
}

static void remove_dir(const char *dir)
{
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void server_end(struct server *s)
{
	server_kill(s);
	for (int i = 0; i < CLIENTS; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = -1;
		str_free(&s->in[i]);
	}
	if (s->dir[0])
		remove_dir(s->dir);
	s->dir[0] = 0;
}

void server_connect(struct server *s)
{
	for (int i = 0; i < CLIENTS; i++) {
		if (s->fd[i] >= 0)
			close(s->fd[i]);
		s->fd[i] = connect_port(s->port);
		s->in[i].n = s->taken[i] = 0;
		if (s->fd[i] < 0) {
			show_log(s);
			die("%s does not accept connections", s->program);
		}
		fcntl(s->fd[i], F_SETFL, O_NONBLOCK);
	}
}

void command_encode(const struct command *c, struct str *out)
{
	str_addf(out, "*%u\r\n", c->argc);
	for (unsigned i = 0; i < c->argc; i++) {
		str_addf(out, "$%u\r\n", c->argv[i].n);
		str_add(out, c->argv[i].p, c->argv[i].n);
		str_add(out, "\r\n", 2);
	}
}

/* Takes what has arrived; false when the connection ended. */
static bool take_in(struct server *s, int client)
{
	char part[65536];
	ssize_t n = read(s->fd[client], part, sizeof(part));
	if (n > 0)
		str_add(&s->in[client], part, (size_t)n);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void server_send(struct server *s, int client, const char *p, size_t n)
{
	/* Replies are read meanwhile: a server that cannot write may stop reading. */
	while (n > 0) {
		ssize_t w = write(s->fd[client], p, n);
		if (w > 0) {
			p += w;
			n -= (size_t)w;
			continue;
		}
		if (w < 0 && errno != EAGAIN && errno != EINTR)
			return; /* the reader will notice */
		struct pollfd f = {.fd = s->fd[client], .events = POLLIN | POLLOUT};
		if (poll(&f, 1, PATIENCE_MS) == 0)
			die("%s reads nothing for %d ms", s->program, PATIENCE_MS);
		if ((f.revents & POLLIN) && !take_in(s, client))
			return;
	}
}

size_t reply_length(const char *p, size_t n)
{
	const char *end = n ? memchr(p, '\n', n) : NULL;
	if (!end)
		return 0;
	size_t head = (size_t)(end - p) + 1;
	long long count = strtoll(p + 1, NULL, 10);
	size_t items = 0;
	switch (p[0]) {
	case '$':
	case '=':
	case '!':
		if (count < 0)
			return head;
		return n >= head + (size_t)count + 2 ? head + (size_t)count + 2 : 0;
	case '*':
	case '~':
	case '>': items = count > 0 ? (size_t)count : 0; break;
	case '%': items = count > 0 ? (size_t)count * 2 : 0; break;
	default: return head;
	}
	size_t at = head;
	for (size_t i = 0; i < items; i++) {
		size_t l = reply_length(p + at, n - at);
		if (l == 0)
			return 0;
		at += l;
	}
	return at;
}

bool server_reply(struct server *s, int client, const char **p_out, size_t *n_out)
{
	struct str *in = &s->in[client];
	if (s->taken[client] == in->n)
		in->n = s->taken[client] = 0;
	for (;;) {
		size_t n = reply_length(in->p + s->taken[client], in->n - s->taken[client]);
		if (n) {
			*p_out = in->p + s->taken[client];
			*n_out = n;
			s->taken[client] += n;
			return true;
		}
		struct pollfd f = {.fd = s->fd[client], .events = POLLIN};
		if (poll(&f, 1, PATIENCE_MS) == 0) {
			fprintf(stderr, "oracle: %s does not answer for %d ms\n", s->program, PATIENCE_MS);
			return false;
		}
		if (!take_in(s, client))
			return false;
	}
}

const char *server_ask(struct server *s, size_t *n_out, int argc, ...)
{
	struct command c = {0};
	va_list ap;
	va_start(ap, argc);
	for (int i = 0; i < argc; i++) {
		const char *word = va_arg(ap, const char *);
		size_t n = va_arg(ap, size_t);
		command_arg(&c, word, n);
	}
	va_end(ap);
	struct str out = {0};
	command_encode(&c, &out);
	server_send(s, 0, out.p, out.n);
	str_free(&out);
	const char *p;
	if (!server_reply(s, 0, &p, n_out)) {
		show_log(s);
		die("%s is gone after %s", s->program, c.argv[0].p);
	}
	command_free(&c);
	return p;
}
