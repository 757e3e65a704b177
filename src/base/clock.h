/* Time. Wall times are Unix times; mono times only measure spans. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void);      /* wall, milliseconds since 1970 */
int64_t clock_us(void);      /* wall, microseconds */
uint64_t clock_mono_ns(void);
uint64_t clock_mono_us(void);

#endif
