/* rename-command: names that clients must use instead of others. An old name becomes unknown. */
#include "server/inner.h"

struct rename {
	char *from, *to; /* to "": the command is gone */
};

void srv__rename_load(struct srv *srv)
{
	char *list = mem_strdup(config_s(srv->cfg, CFG_RENAME_COMMAND)), *save = NULL;
	for (char *from = strtok_r(list, " ", &save); from; from = strtok_r(NULL, " ", &save)) {
		char *to = strtok_r(NULL, " ", &save);
		if (!to)
			break;
		if (!engine_find(srv->e, bytes_of(from))) {
			log_msg(LOG_WARNING, "rename-command: there is no command '%s'", from);
			continue;
		}
		srv->renames = mem_realloc(srv->renames, (srv->renames_n + 1) * sizeof *srv->renames);
		srv->renames[srv->renames_n++] = (struct rename){mem_strdup(from), mem_strdup(strcmp(to, "\"\"") ? to : "")};
	}
	mem_free(list);
}

void srv__rename_free(struct srv *srv)
{
	for (unsigned i = 0; i < srv->renames_n; i++) {
		mem_free(srv->renames[i].from);
		mem_free(srv->renames[i].to);
	}
	mem_free(srv->renames);
}

void srv__rename_apply(struct srv *srv, struct gathered *g)
{
	struct bytes name = g->argv[0];
	for (unsigned i = 0; i < srv->renames_n; i++) {
		const struct rename *r = &srv->renames[i];
		if (*r->to && bytes_ieq(name, r->to)) {
			g->argv[0] = bytes_of(r->from);
			g->cmd = engine_resolve(srv->e, g->argv, g->argc);
			return;
		}
	}
	for (unsigned i = 0; i < srv->renames_n; i++) {
		if (!bytes_ieq(name, srv->renames[i].from))
			continue;
		/* a zero byte and more: no command, and the error shows the name as far as the zero */
		char *gone = mem_alloc(name.n + 2);
		memcpy(gone, name.p, name.n);
		memcpy(gone + name.n, "\0?", 2);
		g->argv[0] = (struct bytes){gone, name.n + 2};
		g->cmd = NULL;
		srv__gather_hold(srv, gone);
		return;
	}
}
