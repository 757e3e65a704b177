/* pool-dump [--keys] [--objects] POOL: prints the structures of a pool that no server has open. */
#include "tool.h"

#include <inttypes.h>
#include <string.h>

struct dump {
	struct ks *ks;
	unsigned db;
};

static void print_name(struct bytes s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= ' ' && s.p[i] < 127 && s.p[i] != '\\')
			putchar(s.p[i]);
		else
			printf("\\x%02x", (unsigned char)s.p[i]);
}

static void print_key(void *ctx, struct bytes name, enum ks_type type)
{
	struct dump *d = ctx;
	struct ks_ref r;
	if (!ks_peek(d->ks, d->db, ks_key(d->ks, name), &r))
		return;
	printf("  db%u ", d->db);
	print_name(name);
	printf(" %s %s, %" PRIu64 " bytes at %#" PRIx64, ks_type_name(type), ks_ref_encoding(&r), ks_ref_bytes(&r),
		r.pos.item);
	if (ks_ref_deadline(&r) >= 0)
		printf(", expires at %" PRId64, ks_ref_deadline(&r));
	putchar('\n');
}

static void print_object(void *ctx, st_off off, const void *obj, size_t n)
{
	const struct st_obj *o = obj;
	(void)ctx;
	printf("  %#14" PRIx64 " %6zu bytes, kind %3u, birth %u, flags %#x\n", off, n, o->kind, o->birth, o->flags);
}

int main(int argc, char **argv)
{
	bool keys = false, objects = false;
	const char *path = NULL;
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--keys") == 0)
			keys = true;
		else if (strcmp(argv[i], "--objects") == 0)
			objects = true;
		else if (argv[i][0] != '-' && !path)
			path = argv[i];
		else
			path = "", i = argc;
	if (!path || !*path) {
		fprintf(stderr,
			"usage: pool-dump [--keys] [--objects] POOL\n"
			"Prints superblock, extents, head state and size classes of the pool in directory POOL;\n"
			"--keys: every key; --objects: every object.\n");
		return 2;
	}
	struct store *st;
	struct dump d = {.db = 0};
	tool_open(path, &st, &d.ks);
	st_dump(st, stdout);
	if (keys) {
		printf("keys\n");
		for (; d.db < ks_databases(d.ks); d.db++)
			for (uint64_t cursor = 0;;) {
				cursor = ks_scan(d.ks, d.db, cursor, 100, print_key, &d);
				if (!cursor)
					break;
			}
	}
	if (objects) {
		printf("objects\n");
		st_each(st, print_object, NULL);
	}
	ks_close(d.ks);
	st_close(st);
	return 0;
}
