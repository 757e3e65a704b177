/* The rope in the pool, byte by byte, and what its files share.
 *
 * levels 0: root.node is the only chunk. Otherwise it is a node over children of one level less; child i of a node
 * over chunks (level 1) holds bytes i * ROPE_CHUNK on, one of a node above 512 times as many a level. A reference of
 * 0, or one beyond a node's cap, is a hole: zeros. A chunk may be shorter than its place; what it lacks is zeros. */
#ifndef STRUCT_ROPE_INT_H
#define STRUCT_ROPE_INT_H

#include "struct/rope.h"

#define ROPE__FAN_BITS 9u
#define ROPE__FAN (1u << ROPE__FAN_BITS)
#define ROPE__LEVELS 4u
/* Chunks are edited by parts of this many bytes of the object, the last one as long as is left. */
#define ROPE__PART 512u

struct rope__chunk_layout {
	struct st_obj obj;
	uint32_t used; /* bytes of b that count; those beyond mean nothing */
	uint32_t pad;
	uint8_t b[];
};
struct rope__node_layout {
	struct st_obj obj;
	uint32_t cap; /* length of ref, at most ROPE__FAN */
	uint32_t pad;
	uint64_t ref[];
};
_Static_assert(sizeof(struct rope__chunk_layout) == 16 && sizeof(struct rope__node_layout) == 16, "headers");

/* Levels that a rope of this many bytes has. */
static inline uint32_t rope__levels(uint64_t len)
{
	uint32_t levels = 0;
	for (uint64_t last = len ? (len - 1) / ROPE_CHUNK : 0; last; last >>= ROPE__FAN_BITS)
		levels++;
	return levels;
}

/* The chunk of an index, 0 in a hole. */
st_off rope__chunk(const struct store *st, const struct rope_root *r, uint64_t index);

/* How much of a chunk's place is stored: its used bytes. */
static inline uint32_t rope__used(const struct store *st, st_off chunk)
{
	const struct rope__chunk_layout *c = st_view_part(st, chunk, 0);
	return c->used;
}

/* True when no part of the chunk is edited in this tick: its bytes stand at home, in one piece. */
bool rope__home(const struct store *st, st_off chunk);

/* Copies payload bytes [at, at+n) of a chunk, all of them used ones, out of wherever its parts stand. */
void rope__chunk_get(const struct store *st, st_off chunk, size_t at, void *out, size_t n);

#endif
