/* The process around the server: background, files that name it, log, supervisor. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include "base/err.h"

struct config;

/* Changes into `dir`, where one was given. */
enum err srv_process_dir(const struct config *cfg, struct errinfo *ei);
/* Log level, file and syslog. A log file that cannot be opened is an error. */
enum err srv_process_log(const struct config *cfg, struct errinfo *ei);
/* Into the background where `daemonize` says so. Before any thread or loop. */
enum err srv_process_daemonize(const struct config *cfg, struct errinfo *ei);
/* Signals that must not end it, and a line in the log for a failed check. */
void srv_process_signals(void);
/* Writes the pid file, where one is named (or it runs in the background); takes it away again. */
void srv_process_pidfile(const struct config *cfg);
void srv_process_pidfile_remove(const struct config *cfg);
/* Tells systemd ("READY=1", "STOPPING=1") where `supervised` says so. */
void srv_process_notify(const struct config *cfg, const char *state);

#endif
