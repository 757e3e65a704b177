/* INFO server, clients, replication, cpu, modules, cluster. */
#include "base/version.h"
#include "server/info.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

static void put_path(struct buf *b, const char *key, const char *path)
{
	buf_addf(b, "%s:%s\r\n", key, path ? path : "");
}

void srv__info_server(struct srv *srv, struct buf *b)
{
	struct utsname u;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = 0;
	if (uname(&u) != 0)
		memset(&u, 0, sizeof u);
	int64_t up = (int64_t)(clock_mono_us() - srv->started_mono_us) / 1000000;
	static const char *const supervised[] = {"no", "upstart", "systemd", "unknown"};
	buf_addf(b, "redis_version:%s\r\nredis_git_sha1:00000000\r\nredis_git_dirty:0\r\nredis_build_id:0\r\n",
		PERDURE_REDIS_VERSION);
	buf_addf(b,
		"perdure_version:%s\r\nserver_name:perdure\r\nredis_mode:standalone\r\nos:%s %s %s\r\narch_bits:%zu\r\n",
		PERDURE_VERSION, u.sysname, u.release, u.machine, sizeof(void *) * 8);
	buf_addf(b, "monotonic_clock:POSIX clock_gettime\r\nmultiplexing_api:libuv %s\r\natomicvar_api:c11-builtin\r\n",
		uv_version_string());
	buf_addf(b, "gcc_version:%s\r\nprocess_id:%ld\r\nprocess_supervised:%s\r\nrun_id:%s\r\ntcp_port:%lld\r\n",
#ifdef __clang__
		"0.0.0",
#else
		__VERSION__,
#endif
		(long)getpid(), supervised[config_i(srv->cfg, CFG_SUPERVISED)], srv->run_id,
		(long long)config_i(srv->cfg, CFG_PORT));
	buf_addf(b,
		"server_time_usec:%lld\r\nuptime_in_seconds:%lld\r\nuptime_in_days:%lld\r\nhz:%lld\r\nconfigured_hz:%lld\r\n",
		(long long)clock_us(), (long long)up, (long long)up / 86400, (long long)config_i(srv->cfg, CFG_HZ),
		(long long)config_i(srv->cfg, CFG_HZ));
	buf_addf(b, "lru_clock:%lld\r\n", (long long)(srv__now_ms(srv) / 1000) & ((1 << 24) - 1));
	put_path(b, "executable", exe);
	put_path(b, "config_file", config_file(srv->cfg));
	buf_adds(b, "io_threads_active:0\r\n");
}

void srv__info_clients(struct srv *srv, struct buf *b)
{
	unsigned blocked = 0;
	for (struct link *l = srv->all.next; l != &srv->all; l = l->next)
		blocked += SRV_CONTAINER(l, struct client, all)->s.flags & SESSION_BLOCKED ? 1 : 0;
	buf_addf(b, "connected_clients:%u\r\ncluster_connections:0\r\nmaxclients:%lld\r\n", srv->clients_n,
		(long long)config_i(srv->cfg, CFG_MAXCLIENTS));
	buf_addf(b, "client_recent_max_input_buffer:%llu\r\nclient_recent_max_output_buffer:%llu\r\n",
		(unsigned long long)srv->stats.client_in_max, (unsigned long long)srv->stats.client_out_max);
	buf_addf(b, "blocked_clients:%u\r\ntracking_clients:0\r\npubsub_clients:0\r\nwatching_clients:%u\r\n", blocked,
		srv__watching(srv));
	buf_adds(b,
		"clients_in_timeout_table:0\r\ntotal_watched_keys:0\r\ntotal_blocking_keys:0\r\n"
		"total_blocking_keys_on_nokey:0\r\n");
}

unsigned srv__watching(const struct srv *srv)
{
	unsigned n = 0;
	for (struct session *s = engine_sessions(srv->e); s; s = s->next)
		n += session_watch_count(s) > 0;
	return n;
}

void srv__info_replication(struct srv *srv, struct buf *b)
{
	buf_addf(b, "role:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\nmaster_replid:%s\r\n",
		srv->repl_id);
	buf_addf(
		b, "master_replid2:%040d\r\nmaster_repl_offset:0\r\nsecond_repl_offset:-1\r\nrepl_backlog_active:0\r\n", 0);
	buf_addf(b, "repl_backlog_size:%lld\r\nrepl_backlog_first_byte_offset:0\r\nrepl_backlog_histlen:0\r\n",
		(long long)config_i(srv->cfg, CFG_REPL_BACKLOG_SIZE));
}

static void put_time(struct buf *b, const char *key, struct timeval t)
{
	buf_addf(b, "%s:%ld.%06ld\r\n", key, (long)t.tv_sec, (long)t.tv_usec);
}

void srv__info_cpu(struct srv *srv, struct buf *b)
{
	struct rusage self, children, thread;
	(void)srv;
	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	getrusage(RUSAGE_THREAD, &thread);
	put_time(b, "used_cpu_sys", self.ru_stime);
	put_time(b, "used_cpu_user", self.ru_utime);
	put_time(b, "used_cpu_sys_children", children.ru_stime);
	put_time(b, "used_cpu_user_children", children.ru_utime);
	put_time(b, "used_cpu_sys_main_thread", thread.ru_stime);
	put_time(b, "used_cpu_user_main_thread", thread.ru_utime);
}

void srv__info_modules(struct srv *srv, struct buf *b)
{
	(void)srv;
	(void)b;
}

void srv__info_cluster(struct srv *srv, struct buf *b)
{
	(void)srv;
	buf_adds(b, "cluster_enabled:0\r\n");
}
