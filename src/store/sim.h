/* The simulated medium: what was stored is kept apart from what was flushed and fenced, so that a test can ask for the
 * memory as a power cut would leave it. For tests; open a store on it with ST_MEDIUM_SIM. */
#ifndef STORE_SIM_H
#define STORE_SIM_H

#include "store/store.h"

struct st_sim;
struct rng;

enum st_sim_event { ST_SIM_FLUSH, ST_SIM_FENCE, ST_SIM_STREAM, ST_SIM_STORE, ST_SIM_PERSIST };

/* Which of the lines that no fence has covered reach the medium. */
enum st_sim_subset {
	ST_SIM_NOTHING,     /* none */
	ST_SIM_EVERYTHING,  /* all, flushed or not */
	ST_SIM_LOG_ONLY,    /* lines of the log extent and nothing else */
	ST_SIM_ALL_BUT_LOG,
	ST_SIM_ALL_BUT_ONE, /* all flushed ones but one */
	ST_SIM_RANDOM,      /* each with one random probability; per line the older versions first */
	ST_SIM_SUBSETS
};

/* A medium of this size, all zero, or holding an image (copied). bytes: a multiple of 64 KiB, at least 2 MiB. */
struct st_sim *st_sim_new(uint64_t bytes, const char *image);
/* The same in two memories of the caller that hold the same: one to work on, one for what is durable. */
struct st_sim *st_sim_in(uint64_t bytes, char *work, char *media);
/* Works on the caller's image in place, and keeps no account of what is durable: for opening what a cut has left. */
struct st_sim *st_sim_over(uint64_t bytes, char *image);
void st_sim_free(struct st_sim *s);
uint64_t st_sim_bytes(const struct st_sim *s);
/* fn is called before each event takes place; it may take images. */
void st_sim_watch(struct st_sim *s, void (*fn)(void *ctx, enum st_sim_event ev), void *ctx);
/* Events so far. */
uint64_t st_sim_events(const struct st_sim *s);
/* Flushed or streamed line versions that no fence has covered. */
size_t st_sim_pending(const struct st_sim *s);
/* Writes the memory (st_sim_bytes of it) as a power cut now could leave it. */
void st_sim_image(struct st_sim *s, enum st_sim_subset subset, struct rng *rng, char *out);
/* The same for many images at little cost: a view is a private mapping of what is durable, good until the medium's next
 * event (of a medium made by st_sim_new); st_sim_cut makes it the image. */
char *st_sim_view(const struct st_sim *s);
void st_sim_unview(const struct st_sim *s, char *view);
void st_sim_cut(struct st_sim *s, enum st_sim_subset subset, struct rng *rng, char *view);

/* Ends a store on a simulated medium as a crash would: nothing more is committed or marked clean. */
void st_abandon(struct store *st);

#endif
