/* What the files of INFO and MEMORY share. */
#ifndef SERVER_INFO_H
#define SERVER_INFO_H

#include "server/inner.h"

/* Memory of the process (DRAM). The dataset itself is in the pool. */
struct memory_facts {
	struct mem_stats a;
	uint64_t rss; /* private memory that is resident */
	uint64_t peak, startup;
	uint64_t clients; /* buffers and sessions */
	uint64_t overhead, dataset;
	double dataset_perc, peak_perc;
	double frag, alloc_frag, alloc_rss, rss_overhead;
	uint64_t system_total;
};
void srv__memory_facts(struct srv *srv, struct memory_facts *m);

void srv__info_server(struct srv *srv, struct buf *b);
void srv__info_clients(struct srv *srv, struct buf *b);
void srv__info_memory(struct srv *srv, struct buf *b);
void srv__info_persistence(struct srv *srv, struct buf *b);
void srv__info_stats(struct srv *srv, struct buf *b);
void srv__info_replication(struct srv *srv, struct buf *b);
void srv__info_cpu(struct srv *srv, struct buf *b);
void srv__info_modules(struct srv *srv, struct buf *b);
void srv__info_commandstats(struct srv *srv, struct buf *b);
void srv__info_errorstats(struct srv *srv, struct buf *b);
void srv__info_latencystats(struct srv *srv, struct buf *b);
void srv__info_cluster(struct srv *srv, struct buf *b);
void srv__info_keyspace(struct srv *srv, struct buf *b);
void srv__info_pool(struct srv *srv, struct buf *b);

#endif
