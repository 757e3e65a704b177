/* The server's log. One line an event, in the format of Redis: "pid:role date mark text". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_VERBOSE, LOG_NOTICE, LOG_WARNING, LOG_NOTHING };

/* Text beyond 4 KiB is cut. errno is kept. May be called from any thread; the settings below are made before there
 * are others, except the level. */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* Appends to this file from now on; NULL or "" is standard output. Returns 0, or errno. Opened anew a
 * line, so a log rotated away is never written to. */
int log_set_file(const char *path);
void log_set_syslog(int on, const char *ident, int facility);

#endif
