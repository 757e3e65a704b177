/* Which arguments of a command are keys: by the key specifications of its row, or by the row's own function where
 * specifications cannot tell (keys that move, or a use that depends on other arguments). */
#include "commands/internal.h"

#include "base/num.h"

struct key_run {
	int64_t first, last, step;
};

/* Where the search ends: 1 found at *at_out, 0 not there, -1 cannot be told. */
static int begin_search(const struct cmd_key_spec *k, const struct bytes *argv, uint32_t argc, int64_t *at_out)
{
	if (k->begin == KEYS_INDEX) {
		*at_out = k->pos;
		return 1;
	}
	if (k->begin != KEYS_KEYWORD)
		return -1;
	int64_t i = k->pos > 0 ? k->pos : (int64_t)argc + k->pos;
	int step = k->pos > 0 ? 1 : -1;
	for (; i > 0 && i < (int64_t)argc; i += step) {
		if (bytes_ieq(argv[i], k->keyword)) {
			*at_out = i + 1;
			return 1;
		}
	}
	return 0;
}

/* The keys of one specification. False: the arguments do not fit it. */
static bool find_keys(const struct cmd_key_spec *k, const struct bytes *argv, uint32_t argc, int64_t at,
	struct key_run *out)
{
	out->first = at;
	out->step = k->step;
	if (k->find == KEYS_RANGE) {
		if (k->last >= 0)
			out->last = at + k->last;
		else if (k->limit == 0)
			out->last = (int64_t)argc + k->last;
		else
			out->last = at + ((int64_t)argc - at) / k->limit + k->last;
	} else if (k->find == KEYS_KEYNUM) {
		int64_t n;
		if (at + k->last >= (int64_t)argc || !num_i64(argv[at + k->last], &n) || n <= 0 || n > (int64_t)argc)
			return false;
		out->first = at + k->limit;
		out->last = out->first + (n - 1) * k->step;
	} else {
		return false;
	}
	return out->first > 0 && out->first < (int64_t)argc && out->last >= out->first && out->last < (int64_t)argc;
}

static int by_specs(const struct cmd *c, const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	int n = 0;
	for (uint32_t i = 0; i < c->keys_n; i++) {
		const struct cmd_key_spec *k = &c->keys[i];
		if (k->flags & KEY_NOT_KEY)
			continue;
		int64_t at;
		int found = begin_search(k, argv, argc, &at);
		if (found == 0)
			continue;
		struct key_run run;
		if (found < 0 || !find_keys(k, argv, argc, at, &run))
			return -1;
		for (int64_t pos = run.first; pos <= run.last; pos += run.step, n++)
			if (n < max)
				out[n] = (struct cmd_keyref){(uint32_t)pos, k->flags};
		if (k->flags & KEY_INCOMPLETE)
			return -1;
	}
	return n;
}

int engine_keys(const struct engine *e, const struct cmd *c, const struct bytes *argv, uint32_t argc,
	struct cmd_keyref *out, int max)
{
	(void)e;
	bool varies = false, any = false;
	for (uint32_t i = 0; i < c->keys_n; i++) {
		varies |= (c->keys[i].flags & KEY_VARIABLE_FLAGS) != 0;
		any |= !(c->keys[i].flags & KEY_NOT_KEY);
	}
	int n = any ? by_specs(c, argv, argc, out, max) : 0;
	if (c->get_keys != NULL && (n < 0 || !any || varies))
		n = c->get_keys(argv, argc, out, max);
	return n;
}

/* ---- rows with a key whose use varies ---- */

static int one_key(uint32_t flags, struct cmd_keyref *out, int max)
{
	if (max > 0)
		out[0] = (struct cmd_keyref){1, flags};
	return 1;
}

/* Overwritten, or read and replaced. */
int cmd_set_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	for (uint32_t i = 3; i < argc; i++)
		if (bytes_ieq(argv[i], "GET"))
			return one_key(KEY_RW | KEY_ACCESS | KEY_UPDATE, out, max);
	return one_key(KEY_OW | KEY_UPDATE, out, max);
}

/* Read only as long as there are GETs alone; what is not understood may write. */
int cmd_bitfield_keys(const struct bytes *argv, uint32_t argc, struct cmd_keyref *out, int max)
{
	for (uint32_t i = 2; i < argc; i++) {
		uint32_t more = argc - 1 - i;
		if (bytes_ieq(argv[i], "GET") && more >= 2)
			i += 2;
		else if (bytes_ieq(argv[i], "OVERFLOW") && more >= 1)
			i += 1;
		else
			return one_key(KEY_RW | KEY_ACCESS | KEY_UPDATE, out, max);
	}
	return one_key(KEY_RO | KEY_ACCESS, out, max);
}
