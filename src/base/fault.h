/* Named fault points: tests make a place fail. Compiled to nothing unless PERDURE_FAULTS is defined. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

#ifdef PERDURE_FAULTS
/* True when this passage of the point shall fail. Any thread. */
bool fault_hit(const char *name);
/* Fails the passages first .. first+count-1 of the point, counted from now; count 0 turns it off.
 * The environment's PERDURE_FAULT="name:first:count,..." is read at the first fault_hit. */
void fault_arm(const char *name, unsigned first, unsigned count);
#else
static inline bool fault_hit(const char *name)
{
	(void)name;
	return false;
}
#endif

#endif
