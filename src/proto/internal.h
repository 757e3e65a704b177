/* Shared inside the room. */
#ifndef PROTO_INTERNAL_H
#define PROTO_INTERNAL_H

#include "proto/resp.h"

/* Makes room for one more argument behind argc of them; `left` are still to come (0 unknown). */
struct bytes *resp__grow(struct bytes *argv, uint32_t argc, uint32_t *cap, int64_t left);

/* resp_split_line into an array that is reused: *argv and *cap are kept up to date, *argc is set. */
bool resp__split(struct bytes line, struct buf *store, struct bytes **argv, uint32_t *argc, uint32_t *cap);

#endif
