/* What the store's helper threads share: they take no signals, and wait by the monotonic clock. */
#ifndef STORE_THREAD_H
#define STORE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Starts a thread that blocks all signals. Ends the process where the system gives none. */
void st__thread_start(pthread_t *t, void *(*fn)(void *), void *arg, const char *name);
/* A condition whose timed waits st__wait_ms makes. */
void st__cond_init(pthread_cond_t *c);
/* Waits at most ms milliseconds; the lock is held before and after. False: the time is up. */
bool st__wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t ms);

/* How long to wait before I/O that has failed so many times is tried again. */
static inline uint64_t st__retry_ms(uint64_t failures)
{
	return failures >= 7 ? 500 : 5ull << failures;
}

#endif
