/* What the files of this room share: the server, its clients, the tick. Not for other rooms. */
#ifndef SERVER_INNER_H
#define SERVER_INNER_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "commands/session.h"
#include "proto/resp.h"
#include "server/config.h"
#include "server/server.h"

#include <uv.h>

#define SRV_CONTAINER(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

/* ---- intrusive lists: a client stands in several ---- */

struct link {
	struct link *prev, *next;
};

static inline void link_init(struct link *l)
{
	l->prev = l->next = l;
}

static inline bool link_empty(const struct link *l)
{
	return l->next == l;
}

static inline void link_add(struct link *head, struct link *l)
{
	l->prev = head->prev;
	l->next = head;
	head->prev->next = l;
	head->prev = l;
}

/* Harmless on a link that stands nowhere. */
static inline void link_del(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

/* ---- limits of the tick ---- */

#define TICK_COMMANDS 1024u            /* gathered at most */
#define TICK_CLIENT_BYTES (16u * 1024) /* read of one client a turn, big arguments apart */
#define TICK_US 1000                   /* then commit and reply before going on */
#define TICK_ARENA (1024u * 1024)
#define TICK_ARGV_STEAL 256u /* commands of more arguments take the parser's array along */

/* ---- output ---- */

/* Memory that replies are written into. Shared ones serve many clients of a tick; own ones a slow reader. */
struct ochunk {
	struct ochunk *next;
	size_t cap, used;
	uint32_t refs;
	bool shared;
	char data[];
};
#define OCHUNK_SHARED (64u * 1024)

#define LSN_OPEN UINT64_MAX /* of output made in the running tick, before its commit */

/* A run of output bytes. Exactly one of chunk and pin is set, or neither (static bytes). */
struct piece {
	const char *p;
	size_t n;
	struct ochunk *chunk;
	uint64_t pin;
	uint64_t lsn; /* must be durable before the bytes leave */
};

/* A client's output in order: pieces [head, head + n) of q. */
struct outq {
	struct piece *q;
	uint32_t head, n, cap;
	uint32_t flying;       /* handed to uv_write */
	size_t bytes;          /* not yet written */
	size_t added;          /* ever added: places for mark and rewind */
	struct ochunk *own;    /* last chunk of its own, filled by later leftovers */
	int64_t soft_since_ms; /* over the soft limit since; 0: it is not */
	struct piece first[2];
};

/* ---- clients ---- */

enum client_flag {
	CL_GATHERED = 1 << 0, /* has commands in the running tick */
	CL_SKIP = 1 << 1,     /* the rest of them is not executed */
	CL_STALLED = 1 << 2,  /* paused: input is kept, not looked at */
	CL_CLOSE = 1 << 3,    /* executes no more; close when the output is out */
	CL_DYING = 1 << 4,    /* close when the tick ends */
	CL_CLOSING = 1 << 5,  /* uv_close was called */
	CL_EOF = 1 << 6,      /* the other side has ended its stream */
	CL_READING = 1 << 7,
	CL_TCP = 1 << 8,
	CL_BIG = 1 << 9,   /* the read under way goes into the client's own buffer */
	CL_LEFT = 1 << 10, /* its kept input may hold whole commands */
	CL_DEAF = 1 << 11  /* gathered a protocol error: input is ignored */
};

struct client {
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} h;
	struct srv *srv;
	uint32_t flags;
	uint32_t cmds; /* gathered of it in this tick */
	/* input */
	uint64_t turn;            /* last turn of the loop it was gathered in */
	struct buf in;            /* bytes not yet executed; empty in an idle client */
	size_t need;              /* length of `in` at which parsing can go on; 0 unknown */
	struct resp_parser *half; /* parser of a command begun, else the server's shared one serves */
	char *seg;                /* what was gathered in this tick: [seg, seg + seg_n) */
	size_t seg_n, seg_used;   /* seg_used: up to the end of the last whole command */
	struct outq out;
	struct link all, pending, outs, waiting, dead, paused;
	struct session s;
	uv_write_t wreq;
	uint64_t bytes_in, bytes_out;
	char *addr, *laddr; /* made when first asked for */
};

static inline struct client *client_of(struct session *s)
{
	return SRV_CONTAINER(s, struct client, s);
}

/* ---- the tick ---- */

/* One command, gathered and not yet executed. */
struct gathered {
	struct client *c;
	const struct cmd *cmd; /* NULL: unknown name, or (argc 0) a protocol error whose text is argv[0] */
	struct bytes *argv;
	uint32_t argc;
	bool hashed;
	size_t raw;    /* where it starts in the client's seg */
	uint64_t hash; /* of the first key */
};

struct tick {
	struct gathered *cmds;
	unsigned n;
	struct client **clients; /* gathered from, in order of arrival */
	unsigned clients_n;
	char *arena;
	size_t used;
	void **held; /* memory that commands point into, freed at the end */
	unsigned held_n, held_cap;
	bool running;
	int64_t now_us;
	bool more_work; /* the store has more to reclaim, or keys more to expire */
};

/* The sink that writes RESP into a client's output. */
struct sink {
	struct reply r;
	struct srv *srv;
	struct client *c;
};

/* ---- statistics ---- */

/* A rate, sampled sixteen times a window as Redis does. */
struct rate {
	uint64_t last;
	uint64_t last_ms;
	uint64_t samples[16];
	unsigned at;
};

struct srv_stats {
	uint64_t connections, rejected;
	uint64_t net_in, net_out, reads, writes;
	uint64_t ticks;
	uint64_t client_in_max, client_out_max; /* of the last seconds */
	uint64_t used_peak;
	struct rate ops, in, out;
};

struct out_limit {
	int64_t hard, soft, soft_seconds;
};
enum out_class { OUT_NORMAL, OUT_REPLICA, OUT_PUBSUB, OUT_CLASSES };

struct listener;
struct rename;

struct srv {
	struct session_ops session_ops; /* how a session leads back here */
	struct config *cfg;
	struct engine *e;
	struct ks *ks;
	struct srv_pool pool;
	uv_loop_t loop;
	uv_prepare_t prepare;
	uv_check_t check;
	uv_idle_t idle;
	uv_async_t wake;
	uv_timer_t cron, expiry;
	uv_signal_t sig_int, sig_term;
	bool idle_on;
	uint64_t turn;
	int64_t expiry_at; /* deadline the timer is set for */

	struct tick tick;
	struct sink sink, push;
	struct resp_parser parser;
	struct resp_limits lim, lim_unauth;

	struct link all, pending, outs, waiting, dead, paused;
	unsigned clients_n;
	uint64_t next_id;
	struct ochunk *chunk, *chunk_free;
	unsigned chunk_free_n;

	struct listener *listeners;
	char *listen_bind; /* what they were opened by */
	int64_t listen_port;
	struct out_limit out_limits[OUT_CLASSES];
	int64_t pause_until_ms; /* 0: no pause */
	bool pause_writes_only;
	int64_t timeout_ms;
	int64_t query_limit;

	struct srv_stats stats;
	int64_t started_ms;
	uint64_t started_mono_us;
	uint64_t startup_bytes; /* of memory when serving began */
	uint64_t cron_runs;
	char run_id[41], repl_id[41];
	bool stopping, interrupted;
	int exit_code;
	char apply_err[256];
	struct rename *renames;
	unsigned renames_n;
};

static inline struct srv *srv_of(const struct call *c)
{
	return SRV_CONTAINER(c->s->ops, struct srv, session_ops);
}

/* ---- loop.c ---- */
void srv__stop(struct srv *srv, int exit_code);
/* False, with a line in the log, where stopping would lose writes that could not be made durable. */
bool srv__may_stop(struct srv *srv, bool force);
void srv__cron_start(struct srv *srv);
void srv__new_repl_id(struct srv *srv);
/* Time of the running tick, or of now outside one, in ms. */
int64_t srv__now_ms(const struct srv *srv);

/* ---- gather.c ---- */
void srv__gather_init(struct srv *srv);
void srv__gather_fini(struct srv *srv);
void srv__gather_start(struct client *c);
void srv__gather_stop(struct client *c);
/* Gathers from the clients that have whole commands left over. Call once a turn, before polling. */
void srv__gather_pending(struct srv *srv);
/* Keeps what of the tick's input was not executed, and forgets the tick. */
void srv__gather_settle(struct srv *srv);
void srv__gather_limits(struct srv *srv);
/* The commands from offset raw of the client's gathered input on are not executed now. */
void srv__gather_hold_back(struct client *c, size_t raw);
/* Bytes of input memory the client holds. */
size_t srv__gather_bytes(const struct client *c);
void srv__gather_give_back(struct client *c);
/* p is freed when the tick has ended. */
void srv__gather_hold(struct srv *srv, void *p);
/* Drops all input of a client that closes. */
void srv__gather_forget(struct client *c);

/* ---- tick.c ---- */
/* Executes, commits and answers all that is gathered. */
void srv__tick(struct srv *srv);
/* The same when there is nothing gathered but other work may be due. */
void srv__tick_idle(struct srv *srv);

/* ---- output.c ---- */
void srv__out_init(struct srv *srv);
void srv__out_fini(struct srv *srv);
/* Room for n bytes of output in a row; give back the part used with srv__out_used before the next call. */
char *srv__out_room(struct srv *srv, size_t n);
void srv__out_used(struct client *c, char *p, size_t n);
/* A piece of its own that is filled in later (array headers): returns its number. */
#define OUT_SLOT 24
size_t srv__out_slot(struct client *c);
void srv__out_slot_fill(struct client *c, size_t slot, const char *p, size_t n);
/* Bytes that stay where they are: static ones (pin 0) or of the pool object `pin`. */
void srv__out_ref(struct client *c, const char *p, size_t n, uint64_t pin);
/* Drops what was added beyond out.added == mark. */
void srv__out_rewind(struct client *c, size_t mark);
/* The tick is committed under this LSN: writes what may leave, queues the rest. */
void srv__out_commit(struct srv *srv, uint64_t lsn);
/* More LSNs are durable. */
void srv__out_release(struct srv *srv);
void srv__out_free(struct client *c);
void srv__out_give_back(struct client *c);
size_t srv__out_memory(const struct client *c);
void srv__out_check_limit(struct client *c);
/* The pool is about to be closed: copies output that points into it. */
void srv__out_unpin_all(struct srv *srv);

/* ---- sink.c ---- */
void srv__sink_init(struct srv *srv);

/* ---- client.c ---- */
struct client *srv__client_new(struct srv *srv, bool tcp);
/* The handle is connected: checks limits and begins to read. */
void srv__client_begin(struct client *c);
/* Closes now; only between ticks. Harmless when already closing. */
void srv__client_close(struct client *c);
/* Closes at the tick's end, or now when none is running. */
void srv__client_kill(struct client *c);
/* Closes once the output is out. */
void srv__client_close_after_reply(struct client *c);
void srv__client_bury(struct srv *srv);
const char *srv__client_addr(struct client *c);
const char *srv__client_laddr(struct client *c);
enum out_class srv__client_class(const struct client *c);
size_t srv__client_memory(const struct client *c);
unsigned srv__watching(const struct srv *srv); /* clients that watch keys */
/* Connected over a unix socket or the loopback interface. */
bool srv__client_local(struct client *c);

/* ---- pause.c ---- */
bool srv__paused_for(const struct srv *srv, const struct gathered *g);
/* The client's commands from offset raw of its gathered input on wait. */
void srv__pause_client(struct client *c, size_t raw);
void srv__pause(struct srv *srv, int64_t until_ms, bool writes_only);
void srv__unpause(struct srv *srv);

/* ---- listen.c ---- */
/* Opens what the configuration says; on failure says why and nothing of it stays open. */
bool srv__listen_open(struct srv *srv, char *err, size_t errn);
void srv__listen_close(struct srv *srv);
/* CONFIG SET bind/port: the new listeners replace the old ones, or nothing changes. */
bool srv__listen_replace(struct srv *srv, char *err, size_t errn);

/* ---- cron.c, stats.c ---- */
void srv__cron(struct srv *srv);
void srv__limit_files(struct srv *srv);
void srv__stats_begin(struct srv *srv);
void srv__stats_reset(struct srv *srv);
void srv__rate_sample(struct rate *r, uint64_t value, uint64_t now_ms);
double srv__rate_value(const struct rate *r);

/* ---- rename.c ---- */
void srv__rename_load(struct srv *srv);
void srv__rename_free(struct srv *srv);
/* Turns a new name into the old one, and makes an old one unknown. */
void srv__rename_apply(struct srv *srv, struct gathered *g);

/* ---- config_apply.c ---- */
const char *config__apply_limits(struct srv *srv);
const char *config__apply_latency(struct srv *srv);

/* ---- commands of this room ---- */
extern const struct cmd srv__client_cmds[], srv__config_cmds[], srv__info_cmds[], srv__shutdown_cmds[],
	srv__debug_cmds[], srv__memory_cmds[];

#endif
