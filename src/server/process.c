/* The process around the server: background, files that name it, log, supervisor. */
#include "server/process.h"

#include "base/check.h"
#include "base/log.h"
#include "server/config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SUPERVISED_NO, SUPERVISED_UPSTART, SUPERVISED_SYSTEMD, SUPERVISED_AUTO };

static const char default_pidfile[] = "/var/run/perdure.pid";

enum err srv_process_dir(const struct config *cfg, struct errinfo *ei)
{
	const char *dir = config_s(cfg, CFG_DIR);
	if (*dir && chdir(dir) != 0)
		return err_set(ei, ERR_IO, "Can't chdir to '%s': %s", dir, strerror(errno));
	return ERR_OK;
}

enum err srv_process_log(const struct config *cfg, struct errinfo *ei)
{
	const char *file = config_s(cfg, CFG_LOGFILE);
	log_set_level((enum log_level)config_i(cfg, CFG_LOGLEVEL));
	int rc = log_set_file(file);
	if (rc != 0)
		return err_set(ei, ERR_IO, "Can't open the log file '%s': %s", file, strerror(rc));
	if (config_i(cfg, CFG_SYSLOG_ENABLED))
		log_set_syslog(1, config_s(cfg, CFG_SYSLOG_IDENT), (int)config_i(cfg, CFG_SYSLOG_FACILITY));
	return ERR_OK;
}

enum err srv_process_daemonize(const struct config *cfg, struct errinfo *ei)
{
	/* a supervisor wants to see the process itself */
	if (!config_i(cfg, CFG_DAEMONIZE) || config_i(cfg, CFG_SUPERVISED) != SUPERVISED_NO)
		return ERR_OK;
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		return err_set(ei, ERR_IO, "Can't go into the background: %s", strerror(errno));
	if (pid > 0)
		_exit(0);
	setsid();
	int null = open("/dev/null", O_RDWR);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	return ERR_OK;
}

static void on_check_failed(const char *line)
{
	log_msg(LOG_WARNING, "=== PERDURE BUG: %s", line);
	log_msg(LOG_WARNING, "The process ends here. What was acknowledged is in the pool; please report this line.");
}

void srv_process_signals(void)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	check_on_fail(on_check_failed);
}

static const char *pidfile(const struct config *cfg)
{
	const char *path = config_s(cfg, CFG_PIDFILE);
	return !*path && config_i(cfg, CFG_DAEMONIZE) ? default_pidfile : path;
}

void srv_process_pidfile(const struct config *cfg)
{
	const char *path = pidfile(cfg);
	if (!*path)
		return;
	FILE *f = fopen(path, "w");
	if (!f) {
		log_msg(LOG_WARNING, "Failed to write PID file: %s", strerror(errno));
		return;
	}
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
}

void srv_process_pidfile_remove(const struct config *cfg)
{
	const char *path = pidfile(cfg);
	if (*path && unlink(path) == 0)
		log_msg(LOG_NOTICE, "Removing the pid file.");
}

void srv_process_notify(const struct config *cfg, const char *state)
{
	int64_t by = config_i(cfg, CFG_SUPERVISED);
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if ((by != SUPERVISED_SYSTEMD && by != SUPERVISED_AUTO) || !path || strlen(path) >= sizeof a.sun_path)
		return;
	memcpy(a.sun_path, path, strlen(path));
	if (a.sun_path[0] == '@')
		a.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&a, n) < 0)
		log_msg(LOG_WARNING, "systemd could not be told '%s': %s", state, strerror(errno));
	close(fd);
}
