/* Shared by the two files of COMMAND. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "commands/internal.h"

int64_t cmd__count_subs(const struct cmd_row *row);
void cmd_command_docs(struct call *c);

#endif
