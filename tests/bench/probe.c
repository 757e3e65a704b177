/*
 * What the bench measures with, where a script would be too coarse:
 *
 *	probe exec CPU PROGRAM ARG...		becomes PROGRAM, on that processor; ends when its parent ends
 *	probe run PID CPU SERVER_CPU PROGRAM ARG...
 *						runs a load generator on CPU and tells what the server PID spent meanwhile
 *	probe load PORT PREFIX FIRST COUNT SIZE SEED
 *						sets PREFIX000000000000 + FIRST ..., each to bytes of its own; SIZE 0: to 1000000
 *	probe reopen PORT KEY TIMES CPU LOG PROGRAM ARG...
 *						starts a server, asks for KEY until it answers, kills it with SIGKILL;
 *						LOG is the file for what the server prints; TIMES pairs: time to the
 *						answer, processor time of the server by then
 *
 * Every answer is one line of "name value" pairs; times in microseconds. Needs Linux.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "probe: ");
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\n");
	va_end(ap);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void pause_us(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

static long number(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (*s == '\0' || *end != '\0')
		die("not a number: %s", s);
	return n;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		die("processor %d: %s", cpu, strerror(errno));
}

/* ---- what a process and a processor have spent ---- */

struct spent {
	int64_t all_ns, main_ns;      /* processor time of the process, and of its first thread */
	int64_t server_ns, client_ns; /* time the two processors were busy, whoever it was */
	int64_t written;              /* bytes the process caused to be written to a disk */
	int64_t at_ns;
};

static bool read_small(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	return true;
}

/* utime + stime of the whole process, in steps of a clock tick: what is left when finer times are not to be had. */
static int64_t process_ns(int pid)
{
	char path[64], buf[1024];
	unsigned long long user, sys;
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!read_small(path, buf, sizeof(buf)) || (p = strrchr(buf, ')')) == NULL ||
	    sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &sys) != 2)
		die("no process %d", pid);
	return (int64_t)((user + sys) * (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

/* The same to the nanosecond: the sum over its threads. A thread that has ended would be missing; then the sum is
 * clearly less than the coarse one, which is taken instead. */
static int64_t threads_ns(int pid, int64_t *main_out)
{
	char path[320], buf[128];
	int64_t sum = 0, coarse;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (d == NULL)
		die("no process %d", pid);
	*main_out = 0;
	while ((e = readdir(d)) != NULL) {
		long long ns;

		snprintf(path, sizeof(path), "/proc/%d/task/%.200s/schedstat", pid, e->d_name);
		if (e->d_name[0] == '.' || !read_small(path, buf, sizeof(buf)) || sscanf(buf, "%lld", &ns) != 1)
			continue;
		sum += ns;
		if (atoi(e->d_name) == pid)
			*main_out = ns;
	}
	closedir(d);
	coarse = process_ns(pid);
	return sum < coarse - 20000000 ? coarse : sum;
}

static int64_t busy_ns(int cpu)
{
	char buf[8192], want[16];
	unsigned long long v[8];
	char *p;

	snprintf(want, sizeof(want), "cpu%d ", cpu);
	if (!read_small("/proc/stat", buf, sizeof(buf)) || (p = strstr(buf, want)) == NULL ||
	    sscanf(p + strlen(want), "%llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4],
		   &v[5], &v[6], &v[7]) != 8)
		return 0;
	return (int64_t)((v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) *
			 (1000000000ULL / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

static int64_t bytes_written(int pid)
{
	char path[64], buf[512];
	long long n;
	char *p;

	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	if (!read_small(path, buf, sizeof(buf)) || (p = strstr(buf, "\nwrite_bytes: ")) == NULL ||
	    sscanf(p + 14, "%lld", &n) != 1)
		return 0;
	return n;
}

static void look(int pid, int server_cpu, int client_cpu, struct spent *out)
{
	out->all_ns = threads_ns(pid, &out->main_ns);
	out->server_ns = busy_ns(server_cpu);
	out->client_ns = busy_ns(client_cpu);
	out->written = bytes_written(pid);
	out->at_ns = now_ns();
}

/* Work that a server leaves for later belongs to the commands that caused it: waits until 0.2 s pass with less than
 * 4 ms of work in them, for 15 s at most. Returns how long that took, without the quiet part. */
static int64_t settle(int pid)
{
	int64_t start = now_ns(), main_ns, last = threads_ns(pid, &main_ns);

	for (int i = 0; i < 75; i++) {
		int64_t next;

		pause_us(200000);
		next = threads_ns(pid, &main_ns);
		if (next - last < 4000000)
			break;
		last = next;
	}
	return now_ns() - start - 200000000;
}

static pid_t start(int cpu, char **argv, const char *log)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(cpu);
	if (log != NULL) {
		int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);

		dup2(fd, 1);
		dup2(fd, 2);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "probe: %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int cmd_run(int argc, char **argv)
{
	struct spent a, b;
	struct rusage ru;
	int64_t client, wall, after;
	int pid, cpu, server_cpu, status;

	if (argc < 4)
		die("run PID CPU SERVER_CPU PROGRAM ARG...");
	pid = (int)number(argv[0]);
	cpu = (int)number(argv[1]);
	server_cpu = (int)number(argv[2]);
	look(pid, server_cpu, cpu, &a);
	waitpid(start(cpu, argv + 3, NULL), &status, 0);
	wall = now_ns() - a.at_ns;
	after = settle(pid);
	look(pid, server_cpu, cpu, &b);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		die("%s failed", argv[3]);
	getrusage(RUSAGE_CHILDREN, &ru);
	client = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * INT64_C(1000000000) +
		 (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * INT64_C(1000);
	printf("wall %" PRId64 " after %" PRId64 " cpu %" PRId64 " main %" PRId64 " client %" PRId64 " written %" PRId64
	       " others %" PRId64 " others_client %" PRId64 " elapsed %" PRId64 "\n",
	       wall / 1000, after / 1000, (b.all_ns - a.all_ns) / 1000, (b.main_ns - a.main_ns) / 1000, client / 1000,
	       b.written - a.written, (b.server_ns - a.server_ns - (b.all_ns - a.all_ns)) / 1000,
	       (b.client_ns - a.client_ns - client) / 1000, (b.at_ns - a.at_ns) / 1000);
	return 0;
}

static int cmd_exec(int argc, char **argv)
{
	if (argc < 2)
		die("exec CPU PROGRAM ARG...");
	pin((int)number(argv[0]));
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execvp(argv[1], argv + 1);
	die("%s: %s", argv[1], strerror(errno));
}

/* ---- talking to a server ---- */

static int dial(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	struct timeval patience = { 60, 0 };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

static void send_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			die("sending: %s", strerror(errno));
		p += k;
		n -= (size_t)k;
	}
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

/* Reads n answers to SET. */
static void read_oks(int fd, size_t n)
{
	char buf[4096];
	size_t want = n * 5;

	while (want > 0) {
		ssize_t k = recv(fd, buf, want < sizeof(buf) ? want : sizeof(buf), 0);

		if (k <= 0)
			die("no answer: %s", k == 0 ? "connection closed" : strerror(errno));
		if (memchr(buf, '-', (size_t)k) != NULL)
			die("the server says %.*s", (int)k, buf);
		want -= (size_t)k;
	}
}

/* Writes a SET of prefix and number n to a value of its own, returns the end. SIZE 0 stands for a number. */
static char *put_set(char *p, const char *prefix, long n, long size, uint64_t *seed)
{
	p += sprintf(p, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s%012ld\r\n", strlen(prefix) + 12, prefix, n);
	if (size == 0)
		return p + sprintf(p, "$7\r\n1000000\r\n");
	p += sprintf(p, "$%ld\r\n", size);
	for (long k = 0; k < size; k += 8) {
		uint64_t x = (next_random(seed) & 0x3f3f3f3f3f3f3f3fu) + 0x3030303030303030u;

		memcpy(p + k, &x, size - k < 8 ? (size_t)(size - k) : 8);
	}
	p += size;
	*p++ = '\r';
	*p++ = '\n';
	return p;
}

static int cmd_load(int argc, char **argv)
{
	long first, count, size, per;
	uint64_t seed;
	char *buf;
	int fd;

	if (argc != 6)
		die("load PORT PREFIX FIRST COUNT SIZE SEED");
	fd = dial((int)number(argv[0]));
	if (fd < 0)
		die("port %s: %s", argv[0], strerror(errno));
	first = number(argv[2]);
	count = number(argv[3]);
	size = number(argv[4]);
	seed = (uint64_t)number(argv[5]) * 0x9e3779b97f4a7c15u | 1;
	per = size > 65536 ? 1 : 131072 / (size + 64);
	buf = malloc((size_t)per * ((size_t)size + strlen(argv[1]) + 128));
	if (buf == NULL)
		die("no memory");
	for (long at = 0; at < count; at += per) {
		long n = count - at < per ? count - at : per;
		char *p = buf;

		for (long i = 0; i < n; i++)
			p = put_set(p, argv[1], first + at + i, size, &seed);
		send_all(fd, buf, (size_t)(p - buf));
		read_oks(fd, (size_t)n);
	}
	free(buf);
	close(fd);
	printf("loaded %ld\n", count);
	return 0;
}

/* Asks for a key until the server answers with its value, for five minutes at most. Returns false when it never did;
 * a server that answers "not there" has lost the key. */
static bool first_answer(int port, const char *key, pid_t pid)
{
	int64_t end = now_ns() + INT64_C(300000000000);
	char ask[128], buf[256];
	int n = snprintf(ask, sizeof(ask), "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(key), key);
	int fd = -1, status;

	while (now_ns() < end) {
		ssize_t k;

		if (fd < 0 && (fd = dial(port)) < 0) {
			if (waitpid(pid, &status, WNOHANG) == pid)
				die("the server has ended with status %d", WEXITSTATUS(status));
			pause_us(20);
			continue;
		}
		send_all(fd, ask, (size_t)n);
		k = recv(fd, buf, sizeof(buf) - 1, 0);
		if (k <= 0) {
			close(fd);
			fd = -1;
			continue;
		}
		buf[k] = '\0';
		if (strncmp(buf, "-LOADING", 8) == 0) {
			pause_us(200);
			continue;
		}
		close(fd);
		if (buf[0] != '$' || buf[1] == '-' || buf[1] == '0')
			die("GET %s answers %s", key, buf);
		return true;
	}
	return false;
}

static int cmd_reopen(int argc, char **argv)
{
	long times;
	int port, cpu;

	if (argc < 6)
		die("reopen PORT KEY TIMES CPU LOG PROGRAM ARG...");
	port = (int)number(argv[0]);
	times = number(argv[2]);
	cpu = (int)number(argv[3]);
	prctl(PR_SET_TIMERSLACK, 1000);
	for (long i = 0; i < times; i++) {
		int64_t t0 = now_ns(), t1, cpu_ns, main_ns;
		pid_t pid = start(cpu, argv + 5, argv[4]);
		bool answered = first_answer(port, argv[1], pid);

		t1 = now_ns();
		cpu_ns = threads_ns(pid, &main_ns);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (!answered)
			die("no answer in five minutes");
		printf("%s%" PRId64 " %" PRId64, i > 0 ? " " : "", (t1 - t0) / 1000, cpu_ns / 1000);
	}
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
		{ "exec", cmd_exec },
		{ "run", cmd_run },
		{ "load", cmd_load },
		{ "reopen", cmd_reopen },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 2, argv + 2);
	die("exec | run | load | reopen");
}
