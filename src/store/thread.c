#include "thread.h"

#include "base/check.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

void st__thread_start(pthread_t *t, void *(*fn)(void *), void *arg, const char *name)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int e = pthread_create(t, NULL, fn, arg);
	CHECK2(e == 0, e, 0);
	pthread_setname_np(*t, name);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void st__cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

bool st__wait_ms(pthread_cond_t *c, pthread_mutex_t *lock, uint64_t ms)
{
	uint64_t until = clock_mono_ns() + ms * 1000000;
	struct timespec t = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
	return pthread_cond_timedwait(c, lock, &t) != ETIMEDOUT;
}
