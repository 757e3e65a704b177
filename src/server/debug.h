/* What the files of DEBUG share. */
#ifndef SERVER_DEBUG_H
#define SERVER_DEBUG_H

#include "server/inner.h"

void srv__debug_digest(struct call *c);
void srv__debug_digest_value(struct call *c);

#endif
