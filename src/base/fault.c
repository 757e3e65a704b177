#include "fault.h"

#ifdef PERDURE_FAULTS

#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 64
#define NAME_MAX_LEN 48

struct point {
	char name[NAME_MAX_LEN];
	unsigned long long passed;
	unsigned long long first, end; /* passages first .. end-1 fail; empty: none */
};

static struct point points[POINTS_MAX];
static unsigned points_n;
static bool env_read;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct point *find(const char *name)
{
	for (unsigned i = 0; i < points_n; i++) {
		if (strcmp(points[i].name, name) == 0)
			return &points[i];
	}
	return NULL;
}

static void arm(const char *name, unsigned first, unsigned count)
{
	struct point *pt = find(name);

	if (!pt) {
		CHECK(points_n < POINTS_MAX && strlen(name) < NAME_MAX_LEN);
		pt = &points[points_n++];
		snprintf(pt->name, sizeof(pt->name), "%s", name);
	}
	pt->passed = 0;
	pt->first = first;
	pt->end = (unsigned long long)first + count;
}

/* "name:first:count,..."; what cannot be read ends the process, since a test that injects nothing is worse. */
static void read_env(void)
{
	const char *e = getenv("PERDURE_FAULT");

	env_read = true;
	while (e && *e) {
		char name[NAME_MAX_LEN];
		unsigned first, count;
		int used = 0;

		CHECK(sscanf(e, "%47[^:]:%u:%u%n", name, &first, &count, &used) == 3 && (e[used] == ',' || !e[used]));
		arm(name, first, count);
		e += used + (e[used] == ',');
	}
}

bool fault_hit(const char *name)
{
	bool hit = false;
	struct point *pt;

	pthread_mutex_lock(&lock);
	if (!env_read)
		read_env();
	pt = find(name);
	if (pt) {
		hit = pt->passed >= pt->first && pt->passed < pt->end;
		pt->passed++;
	}
	pthread_mutex_unlock(&lock);
	return hit;
}

void fault_arm(const char *name, unsigned first, unsigned count)
{
	pthread_mutex_lock(&lock);
	/* The environment comes first, so that it cannot undo what is armed here. */
	if (!env_read)
		read_env();
	arm(name, first, count);
	pthread_mutex_unlock(&lock);
}

#endif
