/* Macros that keep this room's rows of the command table short. */
#ifndef SERVER_ROWS_H
#define SERVER_ROWS_H

#include "commands/cmd.h"

#define ROW(name_, arity_, fn_, flags_, acl_) .name = name_, .arity = arity_, .fn = fn_, .flags = flags_, .acl = acl_
#define ROW_DOC(group_, since_, complexity_, summary_) \
	.group = group_, .since = since_, .complexity = complexity_, .summary = summary_
#define ROW_END \
	{ \
		.name = NULL \
	}
#define ROW_ARGS(...) \
	.args = (const struct cmd_arg[]) \
	{ \
		__VA_ARGS__, \
		{ \
			.name = NULL \
		} \
	}
#define ROW_TIPS(...) \
	.tips = (const char *const[]) \
	{ \
		__VA_ARGS__, NULL \
	}
#define ROW_HISTORY(...) \
	.history = (const struct cmd_history[]) \
	{ \
		__VA_ARGS__, \
		{ \
			.since = NULL \
		} \
	}
#define ARG(name_, type_, ...) \
	{ \
		.name = name_, .type = ARG_##type_, __VA_ARGS__ \
	}
#define ARG_ONE_OF(name_, ...) \
	{ \
		.name = name_, .type = ARG_ONEOF, .sub = (const struct cmd_arg[]) \
		{ \
			__VA_ARGS__, \
			{ \
				.name = NULL \
			} \
		} \
	}
#define ARG_WORD(name_, token_) \
	{ \
		.name = name_, .type = ARG_PURE_TOKEN, .token = token_ \
	}
#define ARG_SUB(...) \
	.sub = (const struct cmd_arg[]) \
	{ \
		__VA_ARGS__, \
		{ \
			.name = NULL \
		} \
	}

/* Flags that most commands of this room share. */
#define CMD_ANYTIME (CMD_NOSCRIPT | CMD_LOADING | CMD_STALE)

#endif
