/* Three strengths of assertion: CHECK always; DCHECK in debug builds; CANNOT for what cannot happen.
 * A failed one prints the place and the values and aborts: going on would write wrong data. */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

__attribute__((noreturn, cold)) void check_fail(const char *file, int line, const char *what,
	unsigned long long a, unsigned long long b);

#define CHECK(c) ((c) ? (void)0 : check_fail(__FILE__, __LINE__, #c, 0, 0))
/* With two values to print. */
#define CHECK2(c, a, b) \
	((c) ? (void)0 : check_fail(__FILE__, __LINE__, #c, (unsigned long long)(a), (unsigned long long)(b)))
#define CANNOT(what) check_fail(__FILE__, __LINE__, what, 0, 0)

#ifdef PERDURE_DEBUG
#define DCHECK(c) CHECK(c)
#define DCHECK2(c, a, b) CHECK2(c, a, b)
#else
#define DCHECK(c) ((void)sizeof(!(c)))
#define DCHECK2(c, a, b) ((void)sizeof(!(c)))
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Called by check_fail before abort; the server sets it to write its crash report. */
void check_on_fail(void (*fn)(const char *line));

#endif
