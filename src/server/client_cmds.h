/* What the files of CLIENT share. */
#ifndef SERVER_CLIENT_CMDS_H
#define SERVER_CLIENT_CMDS_H

#include "base/num.h"
#include "server/inner.h"

void srv__cmd_client_info(struct call *c);
void srv__cmd_client_list(struct call *c);
void srv__cmd_client_kill(struct call *c);

/* One line of CLIENT LIST. */
void srv__client_line(struct client *c, struct buf *b);
struct client *srv__client_by_id(const struct srv *srv, uint64_t id);
/* normal, replica, pubsub, master: 0 to 3; -1: no such type. */
int srv__client_type(struct bytes word);

#endif
