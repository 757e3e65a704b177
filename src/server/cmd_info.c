/* INFO: its sections are rows of a table. */
#include "server/info.h"
#include "server/rows.h"

enum { IN_DEFAULT = 1, IN_ALL = 2 };

static const struct section {
	const char *name, *title;
	unsigned in;
	void (*fill)(struct srv *srv, struct buf *b);
} sections[] = {
	{"server", "Server", IN_DEFAULT | IN_ALL, srv__info_server},
	{"clients", "Clients", IN_DEFAULT | IN_ALL, srv__info_clients},
	{"memory", "Memory", IN_DEFAULT | IN_ALL, srv__info_memory},
	{"persistence", "Persistence", IN_DEFAULT | IN_ALL, srv__info_persistence},
	{"stats", "Stats", IN_DEFAULT | IN_ALL, srv__info_stats},
	{"replication", "Replication", IN_DEFAULT | IN_ALL, srv__info_replication},
	{"cpu", "CPU", IN_DEFAULT | IN_ALL, srv__info_cpu},
	{"modules", "Modules", IN_DEFAULT, srv__info_modules},
	{"commandstats", "Commandstats", IN_ALL, srv__info_commandstats},
	{"errorstats", "Errorstats", IN_DEFAULT | IN_ALL, srv__info_errorstats},
	{"latencystats", "Latencystats", IN_ALL, srv__info_latencystats},
	{"cluster", "Cluster", IN_DEFAULT | IN_ALL, srv__info_cluster},
	{"keyspace", "Keyspace", IN_DEFAULT | IN_ALL, srv__info_keyspace},
	{"pool", "Pool", IN_DEFAULT | IN_ALL, srv__info_pool},
};
#define SECTIONS (sizeof sections / sizeof *sections)

static bool wanted(const struct section *s, const struct call *c)
{
	if (c->argc == 1)
		return s->in & IN_DEFAULT;
	for (uint32_t i = 1; i < c->argc; i++) {
		if (call_arg_is(c, i, s->name) || call_arg_is(c, i, "everything"))
			return true;
		if (call_arg_is(c, i, "all") && (s->in & IN_ALL))
			return true;
		if (call_arg_is(c, i, "default") && (s->in & IN_DEFAULT))
			return true;
	}
	return false;
}

static void cmd_info(struct call *c)
{
	struct buf b = {0};
	for (size_t i = 0; i < SECTIONS; i++) {
		if (!wanted(&sections[i], c))
			continue;
		buf_addf(&b, "%s# %s\r\n", b.n ? "\r\n" : "", sections[i].title);
		sections[i].fill(srv_of(c), &b);
	}
	c->r->ops->verbatim(c->r, "txt", buf_bytes(&b));
	buf_free(&b);
}

const struct cmd srv__info_cmds[] = {
	{ROW("info", -1, cmd_info, CMD_LOADING | CMD_STALE, ACL_DANGEROUS),
		ROW_DOC("server", "1.0.0", "O(1)", "Answers facts and counters of the server."),
		ROW_ARGS(ARG("section", STRING, .flags = ARG_OPTIONAL | ARG_MULTIPLE)),
		ROW_HISTORY({"7.0.0", "Takes several sections."}),
		ROW_TIPS("nondeterministic_output", "request_policy:all_shards", "response_policy:special")},
	ROW_END};
