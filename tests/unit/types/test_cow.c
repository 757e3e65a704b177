/* Copy-on-write: what a snapshot could reach is never changed, whatever is done to the keyspace afterwards. The
 * store's floor epoch is raised by hand, as a snapshot raises it. */
#include "world.h"

#include "store/internal.h"

enum { NAMES = 3000 };

/* From here on everything there is shared; returns the root of it. */
static st_off freeze(struct world *w)
{
	struct st__meta_layout *m;

	st_commit(w->st);
	m = st__meta_edit(w->st);
	m->floor = m->epoch;
	m->epoch++;
	st_commit(w->st);
	return st_root(w->st);
}

struct digest {
	struct store *st;
	uint64_t sum, objects;
};

static void digest(void *ctx, st_off off)
{
	struct digest *d = ctx;
	const struct st_obj *o = st_home(d->st, off);
	size_t n = st_size(d->st, off);

	d->objects++;
	d->sum += st_hash(d->st, o, n) * (off | 1);
	if (d->st->kinds[o->kind]->children)
		d->st->kinds[o->kind]->children(o, n, digest, d);
}

static struct digest digest_of(struct world *w, st_off root)
{
	struct digest d = {w->st, 0, 0};

	digest(&d, root);
	return d;
}

static const char *name_of(int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "key:%d", i);
	return name;
}

static void fill(struct world *w)
{
	world_open(w, 128 << 20, 3);
	for (int i = 0; i < NAMES; i++) {
		world_put(w, (unsigned)i % 2, name_of(i), world_fill((char)('a' + i % 26), (size_t)(i % 50 ? i % 100 : 40000)),
			i % 4 ? TSTR_TTL_NONE : 2000000 + i);
		if (i % 16 == 0)
			st_commit(w->st);
	}
	world_check(w);
}

/* Every kind of change, to many keys; round and tick size vary what is fresh, edited and shared at each. */
static void change(struct world *w, struct rng *rng, int i)
{
	const char *name = name_of(i);
	unsigned db = (unsigned)i % 2;
	struct ks_ref r;
	struct tstr v;

	world_reserve(w, 200000);
	if (!ks_find(w->ks, db, world_key(w, name), &r)) {
		world_set(w, db, name, "back");
		return;
	}
	tstr_view(&r, &v);
	switch (rng_below(rng, 9)) {
	case 0:
		tstr_put(w->ks, db, r.key, &r, world_fill('P', v.len), TSTR_TTL_KEEP);
		break;
	case 1:
		tstr_put_i64(w->ks, db, r.key, &r, i, TSTR_TTL_NONE);
		break;
	case 2:
		tstr_write(w->ks, db, r.key, &r, v.len / 2, BYTES_LIT("written"));
		break;
	case 3:
		tstr_write(w->ks, db, r.key, &r, v.len, world_fill('A', 300));
		break;
	case 4:
		ks_set_deadline(&r, 1500000 + i);
		break;
	case 5:
		ks_persist(&r);
		break;
	case 6:
		ks_rename(&r, 2, world_key(w, "renamed"));
		break;
	case 7:
		ks_copy(&r, 1 - db, world_key(w, name));
		break;
	default:
		ks_delete(&r);
	}
}

static void test_nothing_that_is_shared_is_changed(void **state)
{
	struct world w;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	fill(&w);
	for (int round = 0; round < 4; round++) {
		st_off root = freeze(&w);
		struct digest before = digest_of(&w, root), after;
		uint64_t counts[2] = {ks_count(w.ks, 0), ks_count(w.ks, 1)};

		assert_true(before.objects > NAMES / 2);
		for (int n = 0; n < 1000; n++) {
			change(&w, &rng, (int)rng_below(&rng, NAMES));
			if (rng_below(&rng, 12) == 0)
				st_commit(w.st);
		}
		if (round == 1)
			ks_swap(w.ks, 0, 1);
		if (round == 2)
			ks_flush(w.ks, 0);
		if (round == 3) {
			ks_set_now(w.ks, 2000000 + NAMES);
			assert_true(ks_expire_due(w.ks, 10 * NAMES) > 0);
		}
		st_commit(w.st);
		assert_null(ks_check(w.ks));
		after = digest_of(&w, root);
		assert_int_equal(after.objects, before.objects);
		assert_int_equal(after.sum, before.sum);
		/* And it is a keyspace that still holds together. */
		st_unit_begin(w.st);
		st_set_root(w.st, root);
		assert_null(ks_check(w.ks));
		assert_int_equal(ks_count(w.ks, 0), counts[0]);
		assert_int_equal(ks_count(w.ks, 1), counts[1]);
		st_unit_undo(w.st);
	}
	world_close(&w);
}

static void test_the_first_change_after_a_snapshot_clones_the_way_down(void **state)
{
	struct world w;
	struct ks_ref r;
	st_off root, db, item;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "k", world_fill('v', 64), TSTR_TTL_NONE);
	root = freeze(&w);
	r = world_ref(&w, 0, "k");
	item = r.pos.item;
	db = ((const struct ks__dataset_layout *)st_view(w.st, root))->db[0];
	world_reserve(&w, 64);
	tstr_put(w.ks, 0, r.key, &r, world_fill('w', 64), TSTR_TTL_NONE);
	assert_int_not_equal(r.pos.item, item);
	assert_int_not_equal(st_root(w.st), root);
	assert_int_not_equal(((const struct ks__dataset_layout *)st_view(w.st, st_root(w.st)))->db[0], db);
	/* The ref is good after the move, and the second change stays where the first one put the record. */
	item = r.pos.item;
	tstr_put(w.ks, 0, r.key, &r, world_fill('x', 64), TSTR_TTL_NONE);
	st_commit(w.st);
	r = world_ref(&w, 0, "k");
	tstr_put(w.ks, 0, r.key, &r, world_fill('y', 64), TSTR_TTL_NONE);
	assert_int_equal(r.pos.item, item);
	st_commit(w.st);
	assert_null(ks_check(w.ks));
	assert_int_equal(strspn(world_get(&w, 0, "k"), "y"), 64);
	world_close(&w);
}

static void test_a_pinned_record_moves_when_it_is_changed(void **state)
{
	struct world w;
	struct ks_ref r;
	st_off item;
	const struct ks__record_layout *old;

	(void)state;
	world_open(&w, 16 << 20, 1);
	world_put(&w, 0, "k", world_fill('v', 64), TSTR_TTL_NONE);
	st_commit(w.st);
	r = world_ref(&w, 0, "k");
	item = r.pos.item;
	assert_true(st_pin(w.st, item));
	world_reserve(&w, 64);
	tstr_put(w.ks, 0, r.key, &r, world_fill('w', 64), TSTR_TTL_NONE);
	assert_int_not_equal(r.pos.item, item);
	st_commit(w.st);
	old = st_home(w.st, item);
	assert_int_equal(strspn(rec_value(old).p, "v"), 64);
	assert_int_equal(strspn(world_get(&w, 0, "k"), "w"), 64);
	st_unpin(w.st, item);
	world_check(&w);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_that_is_shared_is_changed),
		cmocka_unit_test(test_the_first_change_after_a_snapshot_clones_the_way_down),
		cmocka_unit_test(test_a_pinned_record_moves_when_it_is_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
