/* The pool in words, for pool-dump. */
#include "internal.h"

#include <inttypes.h>

static void dump_super(const struct store *st, FILE *out)
{
	const struct st__super_layout *s = &st->pool->root->super;
	static const char *const medium[] = {"none yet", "pmem", "file", "sim"};
	fprintf(out, "superblock\n  format %u, slab %u bytes, features %#" PRIx64 "\n  uuid ", s->format, s->slab_bytes,
		s->features);
	for (unsigned i = 0; i < sizeof(s->uuid); i++)
		fprintf(out, "%02x", s->uuid[i]);
	fprintf(out, "\n  created %" PRIu64 " (ms since 1970), opened %" PRIu64 " times, medium %s\n", s->created_ms,
		s->boots, s->medium <= 3 ? medium[s->medium] : "unknown");
}

static void dump_extents(const struct store *st, FILE *out)
{
	fprintf(out, "extents\n");
	for (uint32_t i = 0; i < st->extents; i++) {
		const struct st__extent_layout *x = (const void *)(st->front.base + st->span[i].start);
		fprintf(out, "  %u: %s at %#" PRIx64 ", %" PRIu64 " units of 64 KiB, %" PRIu64 " of them head\n", i,
			x->kind == ST__EXTENT_LOG ? "log" : "data", x->start, x->slabs, x->head_slabs);
	}
}

static void dump_head(const struct store *st, FILE *out)
{
	const struct st__meta_layout *m = st__meta(st);
	fprintf(out,
		"head state at %#" PRIx64 "\n  dataset %#" PRIx64 ", epoch %u, floor %u\n  reclaim queue %#" PRIx64 " (%" PRIu64
		" in its top block), dead list %#" PRIx64 "\n  objects %" PRIu64 ", %" PRIu64 " bytes\n",
		st->meta_off, m->root, m->epoch, m->floor, m->queue, m->queue_n, m->dead, m->objects, m->object_bytes);
}

static void dump_classes(const struct store *st, FILE *out)
{
	uint64_t slabs[ST__CLASSES] = {0}, full[ST__CLASSES] = {0}, used[ST__CLASSES] = {0};
	for (uint32_t i = 1; i < st->extents; i++)
		for (uint64_t u = 0; u < st->span[i].units; u++) {
			const struct st__slab *b = &st->slab[(st->span[i].start >> ST__SLAB_SHIFT) + u];
			if (b->state != ST__SLAB_PARTIAL && b->state != ST__SLAB_FULL)
				continue;
			const uint64_t *bits = (const void *)(st->front.base + b->bits_off);
			slabs[b->cls]++;
			full[b->cls] += b->state == ST__SLAB_FULL;
			for (unsigned k = 0; k < ST__BITMAP / 8; k++)
				used[b->cls] += (uint64_t)__builtin_popcountll(bits[k]);
		}
	fprintf(out, "classes\n  %8s %8s %8s %12s %6s\n", "bytes", "slabs", "full", "objects", "used");
	for (unsigned c = 0; c < st__class_count(); c++)
		if (slabs[c])
			fprintf(out, "  %8u %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %5.1f%%\n", st__classes()[c].size, slabs[c],
				full[c], used[c], 100.0 * (double)used[c] * st__classes()[c].size / ((double)slabs[c] * ST__SLAB));
	fprintf(out, "  %" PRIu64 " free slabs of %" PRIu64 "\n", st->free_slabs, st->slabs);
}

void st_dump(const struct store *st, FILE *out)
{
	dump_super(st, out);
	dump_extents(st, out);
	dump_head(st, out);
	dump_classes(st, out);
}
