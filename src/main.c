/* The process: rooms are set up from the ground floor upward and taken down the other way round. */
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "server/process.h"
#include "settings.h"

#include "types/ks.h"

#include <stdio.h>
#include <unistd.h>

static const char usage[] =
	"Usage: perdure-server [CONFIG-FILE | -] [--DIRECTIVE VALUE ...]\n"
	"       perdure-server -v or --version\n"
	"       perdure-server -h or --help\n"
	"\n"
	"A directive is a line of the configuration file with two dashes before it; '-' reads the file from standard\n"
	"input. Without any, the pool is ./data and the port is 6379.\n"
	"\n"
	"       perdure-server /etc/perdure.conf --loglevel verbose\n"
	"       perdure-server --port 7777 --pool /mnt/pmem0/pool --durability always\n"
	"       echo 'maxclients 500' | perdure-server -\n";

/* -v and -h; -1: the server is meant. */
static int answer_only(int argc, char **argv)
{
	if (argc != 2)
		return -1;
	if (strcmp(argv[1], "-v") == 0 || strcmp(argv[1], "--version") == 0) {
		printf("Perdure server v=%s redis=%s malloc=%s bits=%zu\n", PERDURE_VERSION, PERDURE_REDIS_VERSION,
			mem_allocator(), sizeof(void *) * 8);
		return 0;
	}
	if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	return -1;
}

static enum err load_configuration(struct config *cfg, int argc, char **argv, struct errinfo *ei)
{
	enum err e = config_load_args(cfg, argc, argv, ei);
	if (e == ERR_OK)
		e = config_check(cfg, ei);
	if (e == ERR_OK)
		e = srv_process_dir(cfg, ei);
	if (e == ERR_OK)
		e = srv_process_log(cfg, ei);
	if (e == ERR_OK)
		e = srv_process_daemonize(cfg, ei);
	return e;
}

static void log_inert(const struct config *cfg)
{
	struct buf names = {0};
	unsigned n = config_inert_given(cfg, &names);
	if (n)
		log_msg(LOG_NOTICE, "%u directives are remembered but have no effect here: %.*s", n, (int)names.n, names.p);
	buf_free(&names);
}

/* Where it listens, where the pool is, on what and how safe. */
static void log_start(const struct srv *srv, const struct settings_pool *p)
{
	char listen[1024];
	struct srv_pool pool = settings_srv_pool((struct settings_pool *)(uintptr_t)p);
	struct srv_pool_stats s;
	unsigned long long keys = 0;
	pool.stats(pool.ctx, &s);
	for (unsigned db = 0; db < ks_databases(p->ks); db++)
		keys += ks_count(p->ks, db);
	srv_listen_text(srv, listen, sizeof listen);
	log_msg(LOG_NOTICE, "Listening on %s", listen);
	log_msg(LOG_NOTICE, "Pool %s: %llu keys, %llu MB of at most %llu MB, opened in %.1f ms (%s, %llu records replayed)",
		s.path, keys, (unsigned long long)s.mapped >> 20, (unsigned long long)s.reserved >> 20,
		(double)s.open_us / 1000, s.was_clean ? "clean" : "recovered", (unsigned long long)s.recovered_records);
	log_msg(
		LOG_NOTICE, "Medium %s, durability %s: what was acknowledged survives %s", s.medium, s.durability, s.survives);
}

static int serve(struct config *cfg, struct srv *srv, struct errinfo *ei)
{
	struct settings_pool pool;
	int code = 1;
	if (settings_pool_open(&pool, cfg, srv_wake, srv, ei) != ERR_OK)
		return code;
	struct engine *e = engine_new(pool.ks);
	struct engine_pool engine_pool = settings_engine_pool(&pool);
	struct srv_pool srv_pool = settings_srv_pool(&pool);
	engine_set_pool(e, &engine_pool);
	engine_register_builtin(e);
	srv_attach(srv, e, &srv_pool);
	if (srv_listen(srv, ei) == ERR_OK) {
		srv_process_pidfile(cfg);
		log_start(srv, &pool);
		log_inert(cfg);
		log_msg(LOG_NOTICE, "Ready to accept connections");
		srv_process_notify(cfg, "READY=1\n");
		code = srv_run(srv);
		srv_process_notify(cfg, "STOPPING=1\n");
		srv_process_pidfile_remove(cfg);
	}
	engine_free(e);
	settings_pool_close(&pool);
	return code;
}

int main(int argc, char **argv)
{
	struct errinfo ei = {0};
	int code = answer_only(argc, argv);
	if (code >= 0)
		return code;
	struct config *cfg = config_new();
	if (load_configuration(cfg, argc, argv, &ei) != ERR_OK) {
		fprintf(stderr, "%s\n", ei.msg);
		config_free(cfg);
		return 1;
	}
	srv_process_signals();
	log_msg(LOG_NOTICE, "Perdure %s (pid %ld) starting", PERDURE_VERSION, (long)getpid());
	if (argc == 1)
		log_msg(LOG_NOTICE, "No configuration file was named: defaults are used. To name one: %s /path/to/perdure.conf",
			argv[0]);
	struct srv *srv = srv_new(cfg);
	code = serve(cfg, srv, &ei);
	if (ei.code != ERR_OK)
		log_msg(LOG_WARNING, "%s", ei.msg);
	srv_free(srv);
	log_msg(LOG_WARNING, "Perdure is now stopped, bye bye...");
	config_free(cfg);
	return code;
}
