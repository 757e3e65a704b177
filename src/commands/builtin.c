/* The families of commands that live in this room. Apart from engine.c, so that a test may link fewer. */
#include "commands/internal.h"

void engine_register_builtin(struct engine *e)
{
#define REGISTER(file) engine_register(e, cmd_table_##file);
	CMD_TABLES(REGISTER)
#undef REGISTER
}
