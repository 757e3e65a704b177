/* Percentiles of the time that commands take. */
#include "commands/internal.h"

#include "base/mem.h"

uint64_t engine__latency_at(const struct latency *l, double p)
{
	double wanted = (double)l->n * p / 100;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < LATENCY_CLASSES; i++) {
		sum += l->count[i];
		if (l->count[i] > 0 && (double)sum >= wanted)
			return latency_top(i);
	}
	return 0;
}

void engine_set_latency_tracking(struct engine *e, bool on)
{
	e->latencies = on;
}

bool engine_latency_at(const struct cmd *c, double p, uint64_t *ns_out)
{
	const struct latency *l = row_of(c)->latency;
	if (l == NULL || l->n == 0)
		return false;
	*ns_out = engine__latency_at(l, p);
	return true;
}

void engine__latency_start(struct cmd_row *row)
{
	row->latency = mem_zalloc(sizeof(*row->latency));
}
