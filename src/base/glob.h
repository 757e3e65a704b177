/* The glob patterns of KEYS, SCAN MATCH, CONFIG GET and ACLs: * ? [a-z] [^x] \x. Bounded work:
 * linear in the text for each star, never exponential (CVE-2022-36021, CVE-2024-31228). */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "bytes.h"

bool glob_match(struct bytes pattern, struct bytes text, bool nocase);

#endif
