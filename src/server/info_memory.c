/* INFO memory, and the facts behind it: DRAM of the process. The dataset is in the pool (INFO pool). */
#include "base/num.h"
#include "server/info.h"

#include <stdio.h>
#include <unistd.h>

/* RssAnon: the pool's mapping is not counted. */
static uint64_t resident(void)
{
	char line[256];
	unsigned long long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssAnon: %llu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

void srv__memory_facts(struct srv *srv, struct memory_facts *m)
{
	memset(m, 0, sizeof *m);
	mem_stats_get(&m->a);
	m->rss = resident();
	if (m->a.allocated > srv->stats.used_peak)
		srv->stats.used_peak = m->a.allocated;
	m->peak = srv->stats.used_peak;
	m->startup = srv->startup_bytes;
	for (struct link *l = srv->all.next; l != &srv->all; l = l->next)
		m->clients += srv__client_memory(SRV_CONTAINER(l, struct client, all));
	m->overhead = m->startup + m->clients;
	if (m->overhead > m->a.allocated)
		m->overhead = m->a.allocated;
	m->dataset = m->a.allocated - m->overhead;
	uint64_t net = m->a.allocated > m->startup ? m->a.allocated - m->startup : 0;
	m->dataset_perc = net ? 100 * ratio(m->dataset, net) : 0;
	m->peak_perc = 100 * ratio(m->a.allocated, m->peak);
	m->frag = ratio(m->rss, m->a.allocated);
	m->alloc_frag = ratio(m->a.active, m->a.allocated);
	m->alloc_rss = ratio(m->a.resident, m->a.active);
	m->rss_overhead = ratio(m->rss, m->a.resident);
	m->system_total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_bytes(struct buf *b, const char *key, uint64_t n)
{
	char human[32];
	size_t len = num_put_human(human, n);
	buf_addf(b, "%s:%llu\r\n%s_human:%.*s\r\n", key, (unsigned long long)n, key, (int)len, human);
}

static void put_u64(struct buf *b, const char *key, uint64_t n)
{
	buf_addf(b, "%s:%llu\r\n", key, (unsigned long long)n);
}

static void put_frag(struct buf *b, const char *key, double r, uint64_t have, uint64_t of)
{
	buf_addf(b, "%s_ratio:%.2f\r\n%s_bytes:%lld\r\n", key, r, key, (long long)(have - of));
}

void srv__info_memory(struct srv *srv, struct buf *b)
{
	struct memory_facts m;
	struct buf policy = {0};
	srv__memory_facts(srv, &m);
	put_bytes(b, "used_memory", m.a.allocated);
	put_bytes(b, "used_memory_rss", m.rss);
	put_bytes(b, "used_memory_peak", m.peak);
	buf_addf(b, "used_memory_peak_perc:%.2f%%\r\n", m.peak_perc);
	put_u64(b, "used_memory_overhead", m.overhead);
	put_u64(b, "used_memory_startup", m.startup);
	put_u64(b, "used_memory_dataset", m.dataset);
	buf_addf(b, "used_memory_dataset_perc:%.2f%%\r\n", m.dataset_perc);
	put_u64(b, "allocator_allocated", m.a.allocated);
	put_u64(b, "allocator_active", m.a.active);
	put_u64(b, "allocator_resident", m.a.resident);
	put_bytes(b, "total_system_memory", m.system_total);
	buf_adds(b,
		"used_memory_lua:0\r\nused_memory_vm_eval:0\r\nused_memory_lua_human:0B\r\nused_memory_scripts_eval:0\r\n"
		"number_of_cached_scripts:0\r\nnumber_of_functions:0\r\nnumber_of_libraries:0\r\n"
		"used_memory_vm_functions:0\r\nused_memory_vm_total:0\r\nused_memory_vm_total_human:0B\r\n"
		"used_memory_functions:0\r\nused_memory_scripts:0\r\nused_memory_scripts_human:0B\r\n");
	put_bytes(b, "maxmemory", (uint64_t)config_i(srv->cfg, CFG_MAXMEMORY));
	config_text(srv->cfg, CFG_MAXMEMORY_POLICY, &policy);
	buf_addf(b, "maxmemory_policy:%.*s\r\n", (int)policy.n, policy.p);
	buf_free(&policy);
	put_frag(b, "allocator_frag", m.alloc_frag, m.a.active, m.a.allocated);
	put_frag(b, "allocator_rss", m.alloc_rss, m.a.resident, m.a.active);
	put_frag(b, "rss_overhead", m.rss_overhead, m.rss, m.a.resident);
	buf_addf(b, "mem_fragmentation_ratio:%.2f\r\nmem_fragmentation_bytes:%lld\r\n", m.frag,
		(long long)(m.rss - m.a.allocated));
	buf_adds(b,
		"mem_not_counted_for_evict:0\r\nmem_replication_backlog:0\r\nmem_total_replication_buffers:0\r\n"
		"mem_clients_slaves:0\r\n");
	put_u64(b, "mem_clients_normal", m.clients);
	buf_addf(b, "mem_cluster_links:0\r\nmem_aof_buffer:0\r\nmem_allocator:%s\r\nactive_defrag_running:0\r\n",
		mem_allocator());
	struct srv_pool_stats p;
	srv->pool.stats(srv->pool.ctx, &p);
	put_u64(b, "lazyfree_pending_objects", p.reclaim_pending);
	buf_adds(b, "lazyfreed_objects:0\r\n");
}
