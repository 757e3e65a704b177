/* syslog.h and log.h use the same names for their levels; the former's are kept under others. */
#include <syslog.h>

static const int syslog_levels[] = {LOG_DEBUG, LOG_INFO, LOG_NOTICE, LOG_WARNING};
enum { SYSLOG_OPTIONS = LOG_PID | LOG_NDELAY | LOG_NOWAIT };
#undef LOG_DEBUG
#undef LOG_NOTICE
#undef LOG_WARNING

#include "log.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_LEN 4096 /* longer text is cut: a line is built on the stack, without an allocation */

static struct {
	enum log_level level;
	char path[PATH_MAX];
	char ident[64]; /* openlog keeps the pointer */
	bool to_syslog;
} out = {.level = LOG_NOTICE};

void log_set_level(enum log_level level)
{
	out.level = level;
}

enum log_level log_get_level(void)
{
	return out.level;
}

int log_set_file(const char *path)
{
	int fd;

	if (!path || !*path) {
		out.path[0] = '\0';
		return 0;
	}
	if (strlen(path) >= sizeof(out.path))
		return ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	close(fd);
	memcpy(out.path, path, strlen(path) + 1);
	return 0;
}

void log_set_syslog(int on, const char *ident, int facility)
{
	if (out.to_syslog)
		closelog();
	out.to_syslog = on != 0;
	if (on) {
		snprintf(out.ident, sizeof(out.ident), "%s", ident ? ident : "perdure");
		openlog(out.ident, SYSLOG_OPTIONS, facility);
	}
}

/* The part before the text. Months are spelled here: strftime would follow the locale. */
static size_t put_head(char *p, size_t room, enum log_level level)
{
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	int64_t now = clock_ms();
	time_t sec = (time_t)(now / 1000);
	struct tm tm;
	int n;

	localtime_r(&sec, &tm);
	n = snprintf(p, room, "%d:M %02d %s %d %02d:%02d:%02d.%03d %c ", (int)getpid(), tm.tm_mday,
		months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
		(int)(now % 1000), ".-*#"[level]);
	return (size_t)n;
}

/* One write a line, so that lines of several threads or processes do not mix. */
static void write_line(const char *p, size_t n)
{
	int fd = STDOUT_FILENO;

	if (out.path[0]) {
		fd = open(out.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0)
			return;
	}
	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		p += k;
		n -= (size_t)k;
	}
	if (out.path[0])
		close(fd);
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	size_t head, room;
	va_list ap;
	int n;
	int saved = errno;

	if (level < out.level || level >= LOG_NOTHING)
		return;
	head = put_head(line, sizeof(line), level);
	room = sizeof(line) - head - 1;
	va_start(ap, fmt);
	n = vsnprintf(line + head, room, fmt, ap);
	va_end(ap);
	if (n < 0)
		n = 0;
	if ((size_t)n >= room)
		n = (int)room - 1;
	if (out.to_syslog)
		syslog(syslog_levels[level], "%s", line + head);
	line[head + (size_t)n] = '\n';
	write_line(line, head + (size_t)n + 1);
	errno = saved;
}
