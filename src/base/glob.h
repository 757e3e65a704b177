/* The glob patterns of KEYS, SCAN MATCH, CONFIG GET and ACLs: * ? [a-z] [^x] \x. Bounded work: at most pattern times
 * text, never exponential (CVE-2022-36021, CVE-2024-31228), and no recursion. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "bytes.h"

/* The whole of text must match. Corners as Redis 7 has them: an empty text matches "" and "*" only; a set without its
 * ']' ends with the pattern; in sets an escaped byte keeps its case; range ends change places before they lose it. */
bool glob_match(struct bytes pattern, struct bytes text, bool nocase);

#endif
