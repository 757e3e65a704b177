/* OBJECT: what is known about a key besides its value. */
#include "commands/families.h"

#include <limits.h>

/* Redis keeps one object for each of these integers and reports the reference count of those as INT_MAX. */
#define SHARED_INTEGERS 10000

/* The key at argv[2]; null is answered when it is absent. */
static bool look(struct call *c, struct ks_ref *r)
{
	if (fam_look(c, ks_key(c->ks, c->argv[2]), r))
		return true;
	reply_null(c->r);
	return false;
}

void cmd_object_encoding(struct call *c)
{
	struct ks_ref r;

	if (look(c, &r))
		reply_str(c->r, ks_ref_encoding(&r));
}

void cmd_object_refcount(struct call *c)
{
	struct ks_ref r;
	int64_t v;

	if (!look(c, &r))
		return;
	if (ks_ref_type(&r) == KS_STRING && tstr_held_i64(&r, &v) && v >= 0 && v < SHARED_INTEGERS)
		reply_i64(c->r, INT_MAX);
	else
		reply_i64(c->r, 1);
}

void cmd_object_idletime(struct call *c)
{
	struct ks_ref r;

	if (look(c, &r))
		reply_i64(c->r, ks_ref_idle(&r) / 1000);
}

void cmd_object_freq(struct call *c)
{
	struct ks_ref r;

	if (!look(c, &r))
		return;
	reply_error(c->r, "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that "
		"when switching between policies at runtime LRU and LFU data will take some time to adjust.");
}

void cmd_object_help(struct call *c)
{
	static const char *const lines[] = {
		"ENCODING <key>",
		"    The name of the representation that Redis would use for the key's value.",
		"FREQ <key>",
		"    The key's access counter, logarithmic; with an LFU eviction policy only.",
		"IDLETIME <key>",
		"    Seconds since the key was last used; without an LFU eviction policy only.",
		"REFCOUNT <key>",
		"    How often the value is referred to.",
		NULL
	};

	reply_help(c->r, "OBJECT", lines);
}
