/* The rows of the bit commands. */
#include "commands/families.h"
#include "commands/internal.h"

#define K(flags_) .keys = {KEY_ONE(1, flags_)}
#define UNIT \
	A("unit", ONEOF, A_OPT, A_SINCE("7.0.0"), A_SUB( \
		A("byte", PURE_TOKEN, A_TOKEN("BYTE")), A("bit", PURE_TOKEN, A_TOKEN("BIT"))))
#define FIELD A("encoding", STRING), A("offset", INTEGER)

const struct cmd cmd_table_bits[] = {
	{CMD("setbit", 4, cmd_setbit, CMD_WRITE | CMD_DENYOOM, ACL_BITMAP),
	 DOC("bitmap", "2.2.0", "O(1)", "Sets or clears a bit of a string and returns what it was."),
	 K(KEY_RW | KEY_ACCESS | KEY_UPDATE),
	 .args = ARGS(A("key", KEY), A("offset", INTEGER), A("value", INTEGER))},
	{CMD("getbit", 3, cmd_getbit, CMD_READONLY | CMD_FAST, ACL_BITMAP),
	 DOC("bitmap", "2.2.0", "O(1)", "Returns a bit of a string."),
	 K(KEY_RO | KEY_ACCESS),
	 .args = ARGS(A("key", KEY), A("offset", INTEGER))},
	{CMD("bitcount", -2, cmd_bitcount, CMD_READONLY, ACL_BITMAP),
	 DOC("bitmap", "2.6.0", "O(N)", "Counts the bits set in a string or a range of it."),
	 .history = HISTORY({"7.0.0", "`BYTE` and `BIT`."}),
	 K(KEY_RO | KEY_ACCESS),
	 .args = ARGS(A("key", KEY), A("range", BLOCK, A_OPT, A_SUB(
		A("start", INTEGER), A("end", INTEGER), UNIT)))},
	{CMD("bitpos", -3, cmd_bitpos, CMD_READONLY, ACL_BITMAP),
	 DOC("bitmap", "2.8.7", "O(N)", "Finds the first bit set or clear in a string or a range of it."),
	 .history = HISTORY({"7.0.0", "`BYTE` and `BIT`."}),
	 K(KEY_RO | KEY_ACCESS),
	 .args = ARGS(A("key", KEY), A("bit", INTEGER), A("range", BLOCK, A_OPT, A_SUB(
		A("start", INTEGER), A("end-unit-block", BLOCK, A_OPT, A_SUB(A("end", INTEGER), UNIT)))))},
	{CMD("bitop", -4, cmd_bitop, CMD_WRITE | CMD_DENYOOM, ACL_BITMAP),
	 DOC("bitmap", "2.6.0", "O(N)", "Combines strings bit by bit and keeps the result."),
	 .keys = {KEY_ONE(2, KEY_OW | KEY_UPDATE), KEY_RUN(3, -1, 1, KEY_RO | KEY_ACCESS)},
	 .args = ARGS(A("operation", ONEOF, A_SUB(A("and", PURE_TOKEN, A_TOKEN("AND")), A("or", PURE_TOKEN, A_TOKEN("OR")),
		A("xor", PURE_TOKEN, A_TOKEN("XOR")), A("not", PURE_TOKEN, A_TOKEN("NOT")))),
		A("destkey", KEY), A("key", KEY, A_MANY, A_KEYSPEC(1)))},
	{CMD("bitfield", -2, cmd_bitfield, CMD_WRITE | CMD_DENYOOM, ACL_BITMAP),
	 DOC("bitmap", "3.2.0", "O(1) for each operation", "Reads and changes integers of any width anywhere in a string."),
	 .keys = {{.flags = KEY_RW | KEY_ACCESS | KEY_UPDATE | KEY_VARIABLE_FLAGS, .begin = KEYS_INDEX, .pos = 1, .step = 1,
		.notes = "read, written or both"}},
	 .args = ARGS(A("key", KEY), A("operation", ONEOF, A_OPT_MANY, A_SUB(
		A("get-block", BLOCK, A_TOKEN("GET"), A_SUB(FIELD)),
		A("write", BLOCK, A_SUB(
			A("overflow-block", ONEOF, A_OPT, A_TOKEN("OVERFLOW"), A_SUB(
				A("wrap", PURE_TOKEN, A_TOKEN("WRAP")), A("sat", PURE_TOKEN, A_TOKEN("SAT")),
				A("fail", PURE_TOKEN, A_TOKEN("FAIL")))),
			A("write-operation", ONEOF, A_SUB(
				A("set-block", BLOCK, A_TOKEN("SET"), A_SUB(FIELD, A("value", INTEGER))),
				A("incrby-block", BLOCK, A_TOKEN("INCRBY"), A_SUB(FIELD, A("increment", INTEGER))))))))))},
	{CMD("bitfield_ro", -2, cmd_bitfield_ro, CMD_READONLY | CMD_FAST, ACL_BITMAP),
	 DOC("bitmap", "6.0.0", "O(1) for each operation", "Reads integers of any width anywhere in a string."),
	 K(KEY_RO | KEY_ACCESS),
	 .args = ARGS(A("key", KEY), A("get-block", BLOCK, A_OPT_MANY_TOKENS, A_TOKEN("GET"), A_SUB(FIELD)))},
	CMD_END
};
