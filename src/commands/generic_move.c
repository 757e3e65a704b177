/* A value under another name or in another database: RENAME, RENAMENX, MOVE, COPY. */
#include "commands/families.h"

static void rename_key(struct call *c, bool nx)
{
	struct ks_key from = call_key(c, 1), to = ks_key(c->ks, c->argv[2]);
	struct ks_ref r, old;
	bool same = bytes_eq(from.name, to.name), taken;

	if (!fam_find_write(c, from, &r)) {
		reply_no_key(c->r);
		return;
	}
	taken = same || fam_find_write(c, to, &old);
	if (nx && taken) {
		reply_i64(c->r, 0);
		return;
	}
	if (!same) {
		if (!fam_room(c, to, 0))
			return;
		ks_rename(&r, c->db, to);
		ks_event(c->ks, KS_EV_GENERIC, "rename_from", c->db, from.name);
		ks_event(c->ks, KS_EV_GENERIC, "rename_to", c->db, to.name);
	}
	if (nx)
		reply_i64(c->r, 1);
	else
		reply_ok(c->r);
}

void cmd_rename(struct call *c)
{
	rename_key(c, false);
}

void cmd_renamenx(struct call *c)
{
	rename_key(c, true);
}

void cmd_move(struct call *c)
{
	struct ks_key key;
	struct ks_ref r, old;
	unsigned db;

	if (!fam_db(c, 2, &db))
		return;
	if (db == c->db) {
		reply_error(c->r, "ERR source and destination objects are the same");
		return;
	}
	key = call_key(c, 1);
	if (!fam_find_write(c, key, &r) || ks_find_write(c->ks, db, key, &old)) {
		reply_i64(c->r, 0);
		return;
	}
	if (!call_reserve(c, 0))
		return;
	ks_rename(&r, db, key);
	ks_event(c->ks, KS_EV_GENERIC, "move_from", c->db, key.name);
	ks_event(c->ks, KS_EV_GENERIC, "move_to", db, key.name);
	reply_i64(c->r, 1);
}

static bool parse_copy(struct call *c, unsigned *db, bool *replace)
{
	*db = c->db;
	*replace = false;
	for (uint32_t i = 3; i < c->argc; i++) {
		if (call_arg_is(c, i, "replace")) {
			*replace = true;
		} else if (call_arg_is(c, i, "db") && i + 1 < c->argc) {
			if (!fam_db(c, ++i, db))
				return false;
		} else {
			reply_syntax(c->r);
			return false;
		}
	}
	if (*db == c->db && bytes_eq(c->argv[1], c->argv[2])) {
		reply_error(c->r, "ERR source and destination objects are the same");
		return false;
	}
	return true;
}

void cmd_copy(struct call *c)
{
	struct ks_key to;
	struct ks_ref r, old;
	unsigned db;
	bool replace;

	if (!parse_copy(c, &db, &replace))
		return;
	to = ks_key(c->ks, c->argv[2]);
	if (!fam_find(c, call_key(c, 1), &r) || (ks_find_write(c->ks, db, to, &old) && !replace)) {
		reply_i64(c->r, 0);
		return;
	}
	if (!fam_room(c, to, ks_ref_bytes(&r)))
		return;
	ks_copy(&r, db, to);
	ks_event(c->ks, KS_EV_GENERIC, "copy_to", db, to.name);
	reply_i64(c->r, 1);
}
