/* The object that holds the roots of the structures under test, as a key's record or a database would, and what the
 * model tests need from a store: so that they run on the double and on the real one. */
#ifndef TESTS_STRUCT_OWNER_H
#define TESTS_STRUCT_OWNER_H

#include "base/rng.h"
#include "struct/bt.h"
#include "struct/hx.h"
#include "struct/rope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct owner {
	struct st_obj obj;
	struct hx_root hx;
	struct rope_root rope;
	struct bt_root bt;
	uint64_t pad;
};

static void owner_children(const void *obj, size_t n, st_visit_fn visit, void *ctx)
{
	const struct owner *o = obj;

	assert_true(n >= sizeof(*o));
	if (hx_root_ref(&o->hx))
		visit(ctx, hx_root_ref(&o->hx));
	if (o->rope.node)
		visit(ctx, o->rope.node);
	if (bt_root_ref(&o->bt))
		visit(ctx, bt_root_ref(&o->bt));
}

/* A store under test. */
struct world {
	struct store *st;
	void (*snapshot)(struct store *st); /* NULL: it has none */
	void (*release)(struct store *st);
	void (*verify)(struct store *st); /* between ticks */
};

static inline const struct owner *owner_view(const struct world *w)
{
	return st_view(w->st, st_root(w->st));
}

static inline struct owner *owner_edit(const struct world *w)
{
	return st_edit_root(w->st);
}

static inline void owner_register(const struct world *w)
{
	static const struct st_kind_ops dataset = {"owner", owner_children, NULL}, record = {"item", NULL, NULL};

	hx_register(w->st);
	rope_register(w->st);
	bt_register(w->st);
	st_register(w->st, ST_KIND_DATASET, &dataset);
	st_register(w->st, ST_KIND_RECORD, &record);
}

static inline void owner_make(const struct world *w)
{
	st_off off;

	owner_register(w);
	assert_true(st_reserve(w->st, sizeof(struct owner), false));
	struct owner *o = st_alloc(w->st, sizeof(*o), ST_KIND_DATASET, &off);
	memset((char *)o + sizeof(o->obj), 0, sizeof(*o) - sizeof(o->obj));
	st_set_root(w->st, off);
	st_commit(w->st);
}

static inline void world_commit(const struct world *w)
{
	st_work(w->st, 1000);
	st_commit(w->st);
}

/* Operations of a model run: all of them when PERDURE_TEST_LONG is set, else a part that suits every build. */
static inline uint64_t runs(uint64_t n)
{
	return getenv("PERDURE_TEST_LONG") ? n : n / 20;
}
#define RUNS(n) runs(n)

#endif
