/* COMMAND: what the table knows, told to clients. DOCS is in command_docs.c. */
#include "commands/command.h"

#include "base/glob.h"
#include "base/mem.h"

struct bit_name {
	uint32_t bit;
	const char *name;
};

static const struct bit_name flag_names[] = {
	{CMD_WRITE, "write"}, {CMD_READONLY, "readonly"}, {CMD_DENYOOM, "denyoom"}, {CMD_ADMIN, "admin"},
	{CMD_PUBSUB, "pubsub"}, {CMD_NOSCRIPT, "noscript"}, {CMD_BLOCKING, "blocking"}, {CMD_LOADING, "loading"},
	{CMD_STALE, "stale"}, {CMD_SKIP_MONITOR, "skip_monitor"}, {CMD_SKIP_SLOWLOG, "skip_slowlog"}, {CMD_FAST, "fast"},
	{CMD_NO_AUTH, "no_auth"}, {CMD_MAY_REPLICATE, "may_replicate"}, {CMD_NO_MANDATORY_KEYS, "no_mandatory_keys"},
	{CMD_NO_ASYNC_LOADING, "no_async_loading"}, {CMD_NO_MULTI, "no_multi"}, {CMD_MOVABLEKEYS, "movablekeys"},
	{CMD_ALLOW_BUSY, "allow_busy"}, {0, NULL}
};
static const struct bit_name acl_names[] = {
	{ACL_KEYSPACE, "@keyspace"}, {ACL_READ, "@read"}, {ACL_WRITE, "@write"}, {ACL_SET, "@set"},
	{ACL_SORTEDSET, "@sortedset"}, {ACL_LIST, "@list"}, {ACL_HASH, "@hash"}, {ACL_STRING, "@string"},
	{ACL_BITMAP, "@bitmap"}, {ACL_HYPERLOGLOG, "@hyperloglog"}, {ACL_GEO, "@geo"}, {ACL_STREAM, "@stream"},
	{ACL_PUBSUB, "@pubsub"}, {ACL_ADMIN, "@admin"}, {ACL_FAST, "@fast"}, {ACL_SLOW, "@slow"},
	{ACL_BLOCKING, "@blocking"}, {ACL_DANGEROUS, "@dangerous"}, {ACL_CONNECTION, "@connection"},
	{ACL_TRANSACTION, "@transaction"}, {ACL_SCRIPTING, "@scripting"}, {0, NULL}
};
static const struct bit_name key_flag_names[] = {
	{KEY_RO, "RO"}, {KEY_RW, "RW"}, {KEY_OW, "OW"}, {KEY_RM, "RM"}, {KEY_ACCESS, "access"}, {KEY_UPDATE, "update"},
	{KEY_INSERT, "insert"}, {KEY_DELETE, "delete"}, {KEY_NOT_KEY, "not_key"}, {KEY_INCOMPLETE, "incomplete"},
	{KEY_VARIABLE_FLAGS, "variable_flags"}, {0, NULL}
};

static void reply_bits(struct reply *r, uint32_t bits, const struct bit_name *names)
{
	int64_t n = 0;
	for (const struct bit_name *b = names; b->name != NULL; b++)
		n += (bits & b->bit) != 0;
	reply_set(r, n);
	for (const struct bit_name *b = names; b->name != NULL; b++)
		if (bits & b->bit)
			reply_status(r, b->name);
}

/* ---- INFO ---- */

static void reply_named_i64(struct reply *r, const char *name, int64_t v)
{
	reply_str(r, name);
	reply_i64(r, v);
}

static void reply_begin_search(struct reply *r, const struct cmd_key_spec *k)
{
	reply_map(r, 2);
	reply_str(r, "type");
	reply_str(r, k->begin == KEYS_INDEX ? "index" : k->begin == KEYS_KEYWORD ? "keyword" : "unknown");
	reply_str(r, "spec");
	if (k->begin == KEYS_INDEX) {
		reply_map(r, 1);
		reply_named_i64(r, "index", k->pos);
	} else if (k->begin == KEYS_KEYWORD) {
		reply_map(r, 2);
		reply_str(r, "keyword");
		reply_str(r, k->keyword);
		reply_named_i64(r, "startfrom", k->pos);
	} else {
		reply_map(r, 0);
	}
}

static void reply_find_keys(struct reply *r, const struct cmd_key_spec *k)
{
	reply_map(r, 2);
	reply_str(r, "type");
	reply_str(r, k->find == KEYS_RANGE ? "range" : k->find == KEYS_KEYNUM ? "keynum" : "unknown");
	reply_str(r, "spec");
	if (k->find == KEYS_RANGE) {
		reply_map(r, 3);
		reply_named_i64(r, "lastkey", k->last);
		reply_named_i64(r, "keystep", k->step);
		reply_named_i64(r, "limit", k->limit);
	} else if (k->find == KEYS_KEYNUM) {
		reply_map(r, 3);
		reply_named_i64(r, "keynumidx", k->last);
		reply_named_i64(r, "firstkey", k->limit);
		reply_named_i64(r, "keystep", k->step);
	} else {
		reply_map(r, 0);
	}
}

static void reply_key_specs(struct reply *r, const struct cmd *c)
{
	reply_set(r, c->keys_n);
	for (uint32_t i = 0; i < c->keys_n; i++) {
		const struct cmd_key_spec *k = &c->keys[i];
		reply_map(r, k->notes != NULL ? 4 : 3);
		if (k->notes != NULL) {
			reply_str(r, "notes");
			reply_str(r, k->notes);
		}
		reply_str(r, "flags");
		reply_bits(r, k->flags, key_flag_names);
		reply_str(r, "begin_search");
		reply_begin_search(r, k);
		reply_str(r, "find_keys");
		reply_find_keys(r, k);
	}
}

static int64_t count_tips(const struct cmd *c)
{
	int64_t n = 0;
	while (c->tips != NULL && c->tips[n] != NULL)
		n++;
	return n;
}

static void reply_info(struct reply *r, const struct cmd_row *row)
{
	const struct cmd *c = &row->c;
	reply_array(r, 10);
	reply_str(r, row->full);
	reply_i64(r, c->arity);
	reply_bits(r, c->flags, flag_names);
	reply_i64(r, row->first);
	reply_i64(r, row->last);
	reply_i64(r, row->step);
	reply_bits(r, row->acl, acl_names);
	int64_t n = count_tips(c);
	reply_set(r, n);
	for (int64_t i = 0; i < n; i++)
		reply_str(r, c->tips[i]);
	reply_key_specs(r, c);
	reply_set(r, cmd__count_subs(row));
	for (const struct cmd_row *sub = row->sub; sub != NULL; sub = sub->next)
		reply_info(r, sub);
}

int64_t cmd__count_subs(const struct cmd_row *row)
{
	int64_t n = 0;
	for (const struct cmd_row *sub = row->sub; sub != NULL; sub = sub->next)
		n++;
	return n;
}

static void reply_info_all(struct call *c)
{
	reply_array(c->r, c->e->names);
	for (const struct cmd_row *row = c->e->rows; row != NULL; row = row->next)
		reply_info(c->r, row);
}

static void cmd_command(struct call *c)
{
	reply_info_all(c);
}

static void cmd_command_info(struct call *c)
{
	if (c->argc == 2) {
		reply_info_all(c);
		return;
	}
	reply_array(c->r, c->argc - 2);
	for (uint32_t i = 2; i < c->argc; i++) {
		const struct cmd *found = engine_find(c->e, c->argv[i]);
		if (found == NULL)
			reply_null(c->r);
		else
			reply_info(c->r, row_of(found));
	}
}

static void cmd_command_count(struct call *c)
{
	reply_i64(c->r, c->e->names);
}

/* ---- LIST ---- */

struct filter {
	enum { LIST_ALL, LIST_MODULE, LIST_ACLCAT, LIST_PATTERN } by;
	uint32_t acl;
	struct bytes pattern;
};

static bool passes(const struct filter *f, const struct cmd_row *row)
{
	switch (f->by) {
	case LIST_MODULE:
		return false; /* there are none */
	case LIST_ACLCAT:
		return (row->acl & f->acl) != 0;
	case LIST_PATTERN:
		return glob_match(f->pattern, bytes_of(row->full), true);
	default:
		return true;
	}
}

static uint32_t acl_category(struct bytes name)
{
	for (const struct bit_name *b = acl_names; b->name != NULL; b++)
		if (bytes_ieq(name, b->name + 1))
			return b->bit;
	return 0;
}

static bool parse_filter(struct call *c, struct filter *f)
{
	*f = (struct filter){.by = LIST_ALL};
	if (c->argc == 2)
		return true;
	if (c->argc != 5 || !call_arg_is(c, 2, "FILTERBY"))
		return false;
	f->pattern = c->argv[4];
	if (call_arg_is(c, 3, "MODULE"))
		f->by = LIST_MODULE;
	else if (call_arg_is(c, 3, "ACLCAT"))
		f->by = LIST_ACLCAT;
	else if (call_arg_is(c, 3, "PATTERN"))
		f->by = LIST_PATTERN;
	else
		return false;
	f->acl = acl_category(c->argv[4]);
	return true;
}

static int64_t list_rows(struct reply *r, const struct filter *f, const struct cmd_row *row)
{
	int64_t n = 0;
	for (; row != NULL; row = row->next) {
		if (passes(f, row)) {
			reply_str(r, row->full);
			n++;
		}
		n += list_rows(r, f, row->sub);
	}
	return n;
}

static void cmd_command_list(struct call *c)
{
	struct filter f;
	if (!parse_filter(c, &f)) {
		reply_syntax(c->r);
		return;
	}
	size_t mark = c->r->ops->open(c->r);
	c->r->ops->close(c->r, mark, '*', list_rows(c->r, &f, c->e->rows));
}

/* ---- GETKEYS ---- */

/* Most keys found without asking for memory. */
#define KEYS_ON_STACK 64

static void reply_keys(struct call *c, bool with_flags)
{
	const struct bytes *argv = c->argv + 2;
	uint32_t argc = c->argc - 2;
	const struct cmd *cmd = engine_resolve(c->e, argv, argc);
	if (cmd == NULL) {
		reply_error(c->r, "ERR Invalid command specified");
		return;
	}
	if (cmd->keys_n == 0 && cmd->get_keys == NULL) {
		reply_error(c->r, "ERR The command has no key arguments");
		return;
	}
	if (cmd->arity >= 0 ? argc != (uint32_t)cmd->arity : argc < (uint32_t)-cmd->arity) {
		reply_error(c->r, "ERR Invalid number of arguments specified for command");
		return;
	}
	struct cmd_keyref few[KEYS_ON_STACK], *refs = few;
	int n = engine_keys(c->e, cmd, argv, argc, refs, KEYS_ON_STACK);
	if (n > KEYS_ON_STACK) {
		refs = mem_alloc((size_t)n * sizeof(*refs));
		n = engine_keys(c->e, cmd, argv, argc, refs, n);
	}
	if (n <= 0 && !(cmd->flags & CMD_NO_MANDATORY_KEYS)) {
		reply_error(c->r, "ERR Invalid arguments specified for command");
		return;
	}
	reply_array(c->r, n < 0 ? 0 : n);
	for (int i = 0; i < n; i++) {
		if (with_flags)
			reply_array(c->r, 2);
		reply_bulk(c->r, argv[refs[i].pos]);
		if (with_flags)
			reply_bits(c->r, refs[i].flags, key_flag_names);
	}
	if (refs != few)
		mem_free(refs);
}

static void cmd_command_getkeys(struct call *c)
{
	reply_keys(c, false);
}

static void cmd_command_getkeysandflags(struct call *c)
{
	reply_keys(c, true);
}

static void cmd_command_help(struct call *c)
{
	static const char *const lines[] = {
		"(no subcommand)",
		"    Describe every command: arity, flags, keys, categories, tips.",
		"COUNT",
		"    Tell how many commands there are.",
		"LIST [FILTERBY <MODULE|ACLCAT|PATTERN> <value>]",
		"    Name the commands, or those that the filter lets through.",
		"INFO [<command-name> ...]",
		"    Describe these commands, or every one.",
		"DOCS [<command-name> ...]",
		"    Give the documentation of these commands, or of every one.",
		"GETKEYS <full-command>",
		"    Tell which arguments of a command are keys.",
		"GETKEYSANDFLAGS <full-command>",
		"    Tell which arguments are keys and what the command does to each.",
		NULL
	};
	reply_help(c->r, "COMMAND", lines);
}

#define ABOUT (CMD_LOADING | CMD_STALE)
#define ANY_ORDER .tips = TIPS("nondeterministic_output_order")
static const struct cmd subcommands[] = {
	{CMD("count", 2, cmd_command_count, ABOUT, ACL_CONNECTION),
	 DOC("server", "2.8.13", "O(1)", "Counts the commands.")},
	{CMD("docs", -2, cmd_command_docs, ABOUT, ACL_CONNECTION),
	 DOC("server", "7.0.0", "O(N) for N names", "Documents commands."),
	 ANY_ORDER, .args = ARGS(A("command-name", STRING, A_OPT_MANY))},
	{CMD("getkeys", -4, cmd_command_getkeys, ABOUT, ACL_CONNECTION),
	 DOC("server", "2.8.13", "O(N) for N arguments",
		"Finds the keys among the arguments of a command.")},
	{CMD("getkeysandflags", -4, cmd_command_getkeysandflags, ABOUT, ACL_CONNECTION),
	 DOC("server", "7.0.0", "O(N) for N arguments",
		"Finds the keys among the arguments of a command, and what it does to them.")},
	{CMD("help", 2, cmd_command_help, ABOUT, ACL_CONNECTION),
	 DOC("server", "5.0.0", "O(1)", "Explains the subcommands.")},
	{CMD("info", -2, cmd_command_info, ABOUT, ACL_CONNECTION),
	 DOC("server", "2.8.13", "O(N) for N names",
		"Describes commands in the form that client libraries read."),
	 ANY_ORDER, .history = HISTORY({"7.0.0", "Without names it describes every command."}),
	 .args = ARGS(A("command-name", STRING, A_OPT_MANY))},
	{CMD("list", -2, cmd_command_list, ABOUT, ACL_CONNECTION),
	 DOC("server", "7.0.0", "O(N) for N commands", "Names the commands."),
	 ANY_ORDER, .args = ARGS(A("filterby", ONEOF, A_OPT, A_TOKEN("FILTERBY"), A_SUB(
		A("module-name", STRING, A_TOKEN("MODULE")),
		A("category", STRING, A_TOKEN("ACLCAT")),
		A("pattern", PATTERN, A_TOKEN("PATTERN")))))},
	CMD_END
};
const struct cmd cmd_table_command[] = {
	{CMD("command", -1, cmd_command, ABOUT, ACL_CONNECTION),
	 DOC("server", "2.8.13", "O(N) for N commands", "Describes every command."),
	 ANY_ORDER, .subs = subcommands},
	CMD_END
};
