/* The command families of strings, bits and keys: their handlers, and what these share. The rows stand in
 * strings_table.c, bits_table.c and generic_table.c. */
#ifndef COMMANDS_FAMILIES_H
#define COMMANDS_FAMILIES_H

#include "commands/cmd.h"

/* Keys looked up at once by commands that take many. */
#define FAM_BATCH 32u

/* Hashes the n (<= FAM_BATCH) keys that stand at argv[first], argv[first + step] ... and prefetches them. */
void fam_keys(const struct call *c, uint32_t first, uint32_t step, uint32_t n, bool writes, struct ks_key *out);

/* A look-up of any type; the session may have asked to leave no trace (CLIENT NO-TOUCH). */
bool fam_find(const struct call *c, struct ks_key key, struct ks_ref *out);
/* The same on behalf of a change: no hit or miss of the keyspace statistics. */
bool fam_find_write(const struct call *c, struct ks_key key, struct ks_ref *out);
/* The same for a string: 1 found, 0 absent, -1 another type (error sent). */
int fam_string_write(struct call *c, struct ks_key key, struct ks_ref *out);
/* A look-up that counts in the statistics and leaves the access clock alone (EXISTS, TYPE, TTL, OBJECT). */
bool fam_look(const struct call *c, struct ks_key key, struct ks_ref *out);

/* ks_reserve_free, or -OOM sent. */
bool fam_reserve_free(struct call *c);

/* An int argument with the two errors Redis has for it. */
bool fam_int(struct call *c, uint32_t i, int *out);
/* A database number; "ERR DB index is out of range" among the errors. */
bool fam_db(struct call *c, uint32_t i, unsigned *out);

/* Deadline in Unix ms from the number `when`, in seconds or ms, counted from `base` (0: absolute). False: it
 * does not fit (nothing sent). */
bool fam_deadline(int64_t when, bool seconds, int64_t base, int64_t *out);
/* "ERR invalid expire time in '...' command". */
void fam_bad_expire(struct call *c);

/* Sends the whole value of a string key. */
void fam_reply_value(struct call *c, const struct ks_ref *r);

/* call_reserve for a key that may be made and `bytes` of its value; refuses names beyond KS_KEY_MAX. False: error
 * sent. */
bool fam_room(struct call *c, struct ks_key key, size_t bytes);
/* For many keys; their names count among the bytes. */
bool fam_room_many(struct call *c, uint32_t first, uint32_t step, size_t bytes);

/* Redis turns a value that an editing command merely looked at into its raw form, and OBJECT ENCODING tells. Does the
 * same for a string key; needs room for tstr_write(its length, 0). */
void fam_make_raw(struct ks_ref *r);

/* ---- handlers ---- */

void cmd_get(struct call *c);
void cmd_set(struct call *c);
void cmd_setnx(struct call *c);
void cmd_setex(struct call *c);
void cmd_psetex(struct call *c);
void cmd_getset(struct call *c);
void cmd_getex(struct call *c);
void cmd_getdel(struct call *c);
void cmd_mget(struct call *c);
void cmd_mset(struct call *c);
void cmd_msetnx(struct call *c);
void cmd_append(struct call *c);
void cmd_strlen(struct call *c);
void cmd_getrange(struct call *c);
void cmd_setrange(struct call *c);
void cmd_incr(struct call *c);
void cmd_decr(struct call *c);
void cmd_incrby(struct call *c);
void cmd_decrby(struct call *c);
void cmd_incrbyfloat(struct call *c);
void cmd_lcs(struct call *c);

void cmd_setbit(struct call *c);
void cmd_getbit(struct call *c);
void cmd_bitcount(struct call *c);
void cmd_bitpos(struct call *c);
void cmd_bitop(struct call *c);
void cmd_bitfield(struct call *c);
void cmd_bitfield_ro(struct call *c);

void cmd_del(struct call *c);
void cmd_exists(struct call *c);
void cmd_touch(struct call *c);
void cmd_type(struct call *c);
void cmd_ttl(struct call *c);
void cmd_pttl(struct call *c);
void cmd_expiretime(struct call *c);
void cmd_pexpiretime(struct call *c);
void cmd_expire(struct call *c);
void cmd_pexpire(struct call *c);
void cmd_expireat(struct call *c);
void cmd_pexpireat(struct call *c);
void cmd_persist(struct call *c);
void cmd_rename(struct call *c);
void cmd_renamenx(struct call *c);
void cmd_copy(struct call *c);
void cmd_move(struct call *c);
void cmd_keys(struct call *c);
void cmd_scan(struct call *c);
void cmd_randomkey(struct call *c);
void cmd_object_encoding(struct call *c);
void cmd_object_freq(struct call *c);
void cmd_object_idletime(struct call *c);
void cmd_object_refcount(struct call *c);
void cmd_object_help(struct call *c);
void cmd_dbsize(struct call *c);
void cmd_flushdb(struct call *c);
void cmd_flushall(struct call *c);
void cmd_swapdb(struct call *c);

/* Where a bit offset argument stands; `hash`: "#n" counts in units of `bits`. False: error sent. */
bool fam_bit_offset(struct call *c, uint32_t i, bool hash, unsigned bits, uint64_t *out);

#endif
