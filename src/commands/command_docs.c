/* COMMAND DOCS: the table's documentation as maps. Fields without a value are left out. */
#include "commands/command.h"

static const char *const arg_types[] = {
	[ARG_STRING] = "string", [ARG_INTEGER] = "integer", [ARG_DOUBLE] = "double", [ARG_KEY] = "key",
	[ARG_PATTERN] = "pattern", [ARG_UNIX_TIME] = "unix-time", [ARG_PURE_TOKEN] = "pure-token", [ARG_ONEOF] = "oneof",
	[ARG_BLOCK] = "block"
};

/* Adds a field that has a value; returns how many were added. */
static int64_t put_field(struct reply *r, const char *name, const char *value)
{
	if (value == NULL)
		return 0;
	reply_str(r, name);
	reply_str(r, value);
	return 1;
}

static void put_arg_flags(struct reply *r, uint32_t flags)
{
	reply_set(r, __builtin_popcount(flags & (ARG_OPTIONAL | ARG_MULTIPLE | ARG_MULTIPLE_TOKEN)));
	if (flags & ARG_OPTIONAL)
		reply_status(r, "optional");
	if (flags & ARG_MULTIPLE)
		reply_status(r, "multiple");
	if (flags & ARG_MULTIPLE_TOKEN)
		reply_status(r, "multiple_token");
}

static void put_args(struct reply *r, const struct cmd_arg *args)
{
	int64_t count = 0;
	while (args[count].name != NULL)
		count++;
	reply_array(r, count);
	for (const struct cmd_arg *a = args; a->name != NULL; a++) {
		size_t mark = r->ops->open(r);
		int64_t n = put_field(r, "name", a->name);
		n += put_field(r, "type", arg_types[a->type]);
		if (a->type == ARG_KEY) {
			reply_str(r, "key_spec_index");
			reply_i64(r, a->key_spec);
			n++;
		}
		n += put_field(r, "token", a->token);
		n += put_field(r, "since", a->since);
		n += put_field(r, "deprecated_since", a->deprecated_since);
		if (a->flags != 0) {
			reply_str(r, "flags");
			put_arg_flags(r, a->flags);
			n++;
		}
		if (a->sub != NULL) {
			reply_str(r, "arguments");
			put_args(r, a->sub);
			n++;
		}
		r->ops->close(r, mark, '%', n);
	}
}

static void put_history(struct reply *r, const struct cmd_history *h)
{
	int64_t n = 0;
	while (h[n].since != NULL)
		n++;
	reply_str(r, "history");
	reply_set(r, n);
	for (; h->since != NULL; h++) {
		reply_array(r, 2);
		reply_str(r, h->since);
		reply_str(r, h->change);
	}
}

static void put_docs(struct reply *r, const struct cmd_row *row)
{
	const struct cmd *c = &row->c;
	reply_str(r, row->full);
	size_t mark = r->ops->open(r);
	int64_t n = put_field(r, "summary", c->summary);
	n += put_field(r, "since", c->since);
	n += put_field(r, "group", c->group);
	n += put_field(r, "complexity", c->complexity);
	if (c->deprecated_since != NULL || c->syscmd) {
		reply_str(r, "doc_flags");
		reply_set(r, (c->deprecated_since != NULL) + c->syscmd);
		if (c->deprecated_since != NULL)
			reply_status(r, "deprecated");
		if (c->syscmd)
			reply_status(r, "syscmd");
		n++;
	}
	n += put_field(r, "deprecated_since", c->deprecated_since);
	n += put_field(r, "replaced_by", c->replaced_by);
	if (c->history != NULL) {
		put_history(r, c->history);
		n++;
	}
	if (c->args != NULL) {
		reply_str(r, "arguments");
		put_args(r, c->args);
		n++;
	}
	if (row->sub != NULL) {
		reply_str(r, "subcommands");
		reply_map(r, cmd__count_subs(row));
		for (const struct cmd_row *sub = row->sub; sub != NULL; sub = sub->next)
			put_docs(r, sub);
		n++;
	}
	r->ops->close(r, mark, '%', n);
}

void cmd_command_docs(struct call *c)
{
	struct reply *r = c->r;
	if (c->argc == 2) {
		reply_map(r, c->e->names);
		for (const struct cmd_row *row = c->e->rows; row != NULL; row = row->next)
			put_docs(r, row);
		return;
	}
	size_t mark = r->ops->open(r);
	int64_t n = 0;
	for (uint32_t i = 2; i < c->argc; i++) {
		const struct cmd *found = engine_find(c->e, c->argv[i]);
		if (found == NULL)
			continue;
		put_docs(r, row_of(found));
		n++;
	}
	r->ops->close(r, mark, '%', n);
}
