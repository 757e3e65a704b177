/* GET and SET and their relatives: whole values, with deadlines. */
#include "commands/families.h"

#include "base/check.h"

enum set_flag {
	SET_NX = 1 << 0, SET_XX = 1 << 1, SET_GET = 1 << 2, SET_KEEPTTL = 1 << 3, SET_PERSIST = 1 << 4,
	SET_EX = 1 << 5, SET_PX = 1 << 6, SET_EXAT = 1 << 7, SET_PXAT = 1 << 8,
	SET_TIMES = SET_EX | SET_PX | SET_EXAT | SET_PXAT
};

struct set_opts {
	unsigned flags;
	uint32_t time; /* the argument with the time, where a SET_TIMES flag is set */
};

static const struct set_word {
	const char *word;
	unsigned flag;
	unsigned against; /* flags that may not stand beside it */
	bool set, getex;  /* which command takes it */
} set_words[] = {
	{"nx", SET_NX, SET_XX, true, false},
	{"xx", SET_XX, SET_NX, true, false},
	{"get", SET_GET, 0, true, false},
	{"keepttl", SET_KEEPTTL, SET_TIMES, true, false},
	{"persist", SET_PERSIST, SET_TIMES, false, true},
	{"ex", SET_EX, SET_KEEPTTL | SET_PERSIST | (SET_TIMES & ~SET_EX), true, true},
	{"px", SET_PX, SET_KEEPTTL | SET_PERSIST | (SET_TIMES & ~SET_PX), true, true},
	{"exat", SET_EXAT, SET_KEEPTTL | SET_PERSIST | (SET_TIMES & ~SET_EXAT), true, true},
	{"pxat", SET_PXAT, SET_KEEPTTL | SET_PERSIST | (SET_TIMES & ~SET_PXAT), true, true},
};

static const struct set_word *find_word(const struct call *c, uint32_t i)
{
	for (size_t k = 0; k < sizeof(set_words) / sizeof(set_words[0]); k++) {
		if (call_arg_is(c, i, set_words[k].word))
			return &set_words[k];
	}
	return NULL;
}

/* The options from argv[from] on. False: syntax error sent. */
static bool parse_opts(struct call *c, uint32_t from, bool getex, struct set_opts *o)
{
	*o = (struct set_opts){0, 0};
	for (uint32_t i = from; i < c->argc; i++) {
		const struct set_word *w = find_word(c, i);

		if (!w || !(getex ? w->getex : w->set) || (o->flags & w->against)) {
			reply_syntax(c->r);
			return false;
		}
		o->flags |= w->flag;
		if (!(w->flag & SET_TIMES))
			continue;
		if (++i >= c->argc) {
			reply_syntax(c->r);
			return false;
		}
		o->time = i;
	}
	return true;
}

/* The deadline that argv[i] stands for. False: error sent. */
static bool deadline_arg(struct call *c, uint32_t i, unsigned flags, int64_t *out)
{
	int64_t when;
	int64_t base = flags & (SET_EX | SET_PX) ? ks_now(c->ks) : 0;

	if (!call_i64(c, i, &when))
		return false;
	if (when > 0 && fam_deadline(when, flags & (SET_EX | SET_EXAT), base, out))
		return true;
	fam_bad_expire(c);
	return false;
}

/* Stores the value and raises the events; room is reserved. */
static void put(struct call *c, struct ks_key key, struct ks_ref *found, struct bytes value, int64_t deadline)
{
	tstr_put(c->ks, c->db, key, found, value, deadline);
	ks_event(c->ks, KS_EV_STRING, "set", c->db, key.name);
	if (deadline >= 0)
		ks_event(c->ks, KS_EV_GENERIC, "expire", c->db, key.name);
}

void cmd_get(struct call *c)
{
	struct ks_ref r;

	switch (call_find(c, call_key(c, 1), KS_STRING, &r)) {
	case 1:
		fam_reply_value(c, &r);
		break;
	case 0:
		reply_null(c->r);
		break;
	}
}

/* SET without options: most of them. */
static void set_plain(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	bool found = fam_find_write(c, key, &r);

	if (!fam_room(c, key, c->argv[2].n))
		return;
	put(c, key, found ? &r : NULL, c->argv[2], TSTR_TTL_NONE);
	reply_ok(c->r);
}

/* SET with options. GET answers with the old value whatever else happens; a condition not met with null. */
void cmd_set(struct call *c)
{
	struct set_opts o;
	struct ks_key key;
	struct ks_ref r;
	int64_t deadline = TSTR_TTL_NONE;
	bool found, stores;

	if (LIKELY(c->argc == 3)) {
		set_plain(c);
		return;
	}
	if (!parse_opts(c, 3, false, &o))
		return;
	if ((o.flags & SET_TIMES) && !deadline_arg(c, o.time, o.flags, &deadline))
		return;
	if (o.flags & SET_KEEPTTL)
		deadline = TSTR_TTL_KEEP;
	key = call_key(c, 1);
	if (o.flags & SET_GET) {
		int is = call_find(c, key, KS_STRING, &r);

		if (is < 0)
			return;
		found = is;
	} else {
		found = fam_find_write(c, key, &r);
	}
	stores = !(found ? o.flags & SET_NX : o.flags & SET_XX);
	if (stores && !fam_room(c, key, c->argv[2].n))
		return;
	if ((o.flags & SET_GET) && found)
		fam_reply_value(c, &r);
	else if ((o.flags & SET_GET) || !stores)
		reply_null(c->r);
	else
		reply_ok(c->r);
	if (stores)
		put(c, key, found ? &r : NULL, c->argv[2], found || deadline >= 0 ? deadline : TSTR_TTL_NONE);
}

void cmd_setnx(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;

	if (fam_find_write(c, key, &r)) {
		reply_i64(c->r, 0);
		return;
	}
	if (!fam_room(c, key, c->argv[2].n))
		return;
	put(c, key, NULL, c->argv[2], TSTR_TTL_NONE);
	reply_i64(c->r, 1);
}

/* SETEX and PSETEX: key, time, value. */
static void setex(struct call *c, unsigned unit)
{
	struct ks_key key;
	struct ks_ref r;
	int64_t deadline;
	bool found;

	if (!deadline_arg(c, 2, unit, &deadline))
		return;
	key = call_key(c, 1);
	found = fam_find_write(c, key, &r);
	if (!fam_room(c, key, c->argv[3].n))
		return;
	put(c, key, found ? &r : NULL, c->argv[3], deadline);
	reply_ok(c->r);
}

void cmd_setex(struct call *c)
{
	setex(c, SET_EX);
}

void cmd_psetex(struct call *c)
{
	setex(c, SET_PX);
}

void cmd_getset(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	int found = call_find(c, key, KS_STRING, &r);

	if (found < 0 || !fam_room(c, key, c->argv[2].n))
		return;
	if (found)
		fam_reply_value(c, &r);
	else
		reply_null(c->r);
	put(c, key, found ? &r : NULL, c->argv[2], TSTR_TTL_NONE);
}

/* GETEX past an absolute time that is over: the value is answered, the key goes. */
static void getex_delete(struct call *c, struct ks_ref *r)
{
	if (!fam_reserve_free(c))
		return;
	fam_reply_value(c, r);
	ks_delete(r);
	ks_event(c->ks, KS_EV_GENERIC, "del", c->db, c->argv[1]);
}

void cmd_getex(struct call *c)
{
	struct set_opts o;
	struct ks_key key;
	struct ks_ref r;
	int64_t deadline = 0;
	int found;

	if (!parse_opts(c, 2, true, &o))
		return;
	key = call_key(c, 1);
	found = call_find(c, key, KS_STRING, &r);
	if (found == 0)
		reply_null(c->r);
	if (found <= 0)
		return;
	if ((o.flags & SET_TIMES) && !deadline_arg(c, o.time, o.flags, &deadline))
		return;
	if ((o.flags & (SET_EXAT | SET_PXAT)) && deadline <= ks_now(c->ks)) {
		getex_delete(c, &r);
		return;
	}
	if ((o.flags & SET_PERSIST) && ks_ref_deadline(&r) < 0)
		o.flags = 0;
	if (o.flags && !call_reserve(c, 0))
		return;
	fam_reply_value(c, &r);
	if (o.flags & SET_TIMES) {
		ks_set_deadline(&r, deadline);
		ks_event(c->ks, KS_EV_GENERIC, "expire", c->db, key.name);
	} else if (o.flags & SET_PERSIST) {
		ks_persist(&r);
		ks_event(c->ks, KS_EV_GENERIC, "persist", c->db, key.name);
	}
}

void cmd_getdel(struct call *c)
{
	struct ks_key key = call_key(c, 1);
	struct ks_ref r;
	int found = call_find(c, key, KS_STRING, &r);

	if (found == 0)
		reply_null(c->r);
	if (found <= 0 || !fam_reserve_free(c))
		return;
	fam_reply_value(c, &r);
	ks_delete(&r);
	ks_event(c->ks, KS_EV_GENERIC, "del", c->db, key.name);
}
