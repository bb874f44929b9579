/* context.h: the one context of the process: what the operator wants, and what
 * does it. Everything above this directory works on it; nothing below has it.
 * pen.h has its life; service.h has what serves clients. */
#ifndef PEN_CONTROL_CONTEXT_H
#define PEN_CONTROL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/life/executable.h"
#include "control/life/notify.h"
#include "control/life/predecessor.h"
#include "control/life/recent.h"
#include "control/life/service.h"
#include "control/life/stopping.h"
#include "control/life/process_role.h"
#include "control/plan/plan.h"
#include "net/loop/loop.h"
#include "net/loop/pieces.h"
#include "net/socket_set.h"
#include "proxy/core/shared_limit.h"

struct command_group;
struct acl_loads;
struct control;
struct errors;
struct fit;
struct geoip;
struct http_watch;
struct on_state;
struct programs;
struct participant;
struct peers;
struct process;
struct refresh;
struct request;
struct sink;
struct resolver;
struct starter;
struct tls_memory;
struct upgrade;
struct web;

enum phase {
	PHASE_PLANNING,
	PHASE_STARTING,
	PHASE_SERVING,
	PHASE_DRAINING,
	PHASE_STOPPING
};

/* Of all peers since the start. */
struct peers_stats {
	uint64_t senders, receivers; /* connections that are open */
	uint64_t sent, received;     /* reports of clients */
	uint64_t flows_sent, flows_received; /* of direct server return */
	uint64_t used; /* of those received: nothing newer was known */
	uint64_t lost; /* changes that were not sent in time */
	uint64_t refused; /* connections */
};

struct pen {
	/* The language, and the participants of an apply; see registry.h. */
	const struct command_group *commands;
	const struct participant *participants;
	enum phase phase;
	struct plan *plan;  /* in force */
	struct plan *given; /* by the command line; a reload begins here */
	struct loop *loop;  /* from STARTING on, as those below */
	struct service *service; /* the first one, which is always there */
	uint64_t services_added; /* besides the first */
	struct service *blank;	 /* for drafts of new ones; NULL: none yet */
	struct control *control;
	struct pieces replies; /* of control and web, together */
	struct tls_memory *tls_memory; /* of all services; NULL: no TLS yet */
	struct geoip *geoip; /* NULL: no database of countries */
	struct resolver *resolver;
	struct http_watch *http_watch; /* NULL: none wanted so far */
	struct refresh *refresh; /* of names; from SERVING on */
	uint64_t names_ttl_ms;	 /* of those that the start has looked up */
	struct sink *log;	  /* NULL: none */
	struct list log_targets; /* of sessions and requests: log_target.h */
	struct list log_formats; /* those in use: log_format.h */
	struct web *web; /* pages; NULL: none */
	struct fit *fit; /* NULL: no file is wanted */
	struct peers *peers; /* NULL: none yet */
	struct peers_stats peer_stats;
	uint64_t started_ms; /* of the loop */
	int64_t started_wall; /* seconds since 1970 */
	int64_t loaded_wall;  /* the same: the last reload that succeeded, or
			       * the start */
	bool reload_failed;   /* the last one */
	struct request *reload;	  /* of SIGHUP, while it waits for names */
	struct programs *programs;
	struct starter *starter; /* of programs and upgrades; NULL: pen does */
	char *bounds; /* sandbox_bounds.h; NULL: none */
	bool has_unix; /* in the sandbox: Unix sockets can be made */
	struct on_state *on_state;
	struct errors *errors; /* all of a file that is read; NULL: the first
				* one ends that */
	const char *who;      /* gave the command that is applied; or NULL */
	struct acl_loads *loads;  /* of that command; NULL: it may wait */
	struct buffer included; /* before SERVING: words of `include`, each
				 * with its NUL */
	struct recent recent;
	struct stopping stopping; /* in DRAINING */
	int answers; /* of control, unfinished: a graceful stop waits */
	unsigned processors;	  /* at the start; 0: not known yet */
	size_t descriptors;	  /* the process may have; 0: not known yet */
	struct shared_limit shared_limit; /* of the clients of all services */
	uint64_t control_clients; /* at a time */
	/* All listening sockets; those of others until the first apply is
	 * over. */
	struct socket_set sockets;
	struct notify notify; /* the service manager */
	struct executable executable;
	struct process *process;  /* main's; NULL: none */
	struct process_role role;
	struct predecessor predecessor;
	struct upgrade *upgrade; /* under way: no plan changes; NULL: none */
	bool replaced;		  /* another one serves, and this one drains */
	pid_t successor;	  /* that one; 0: it has ended */
};

/* Before a report of counters: adds those that other processes have counted. */
static inline void
pen_count(struct pen *p)
{
	if (p->role.count != NULL)
		p->role.count(p);
}

/* The same of one server. */
static inline void
pen_count_server(struct pen *p, struct server *s)
{
	if (p->role.count_server != NULL)
		p->role.count_server(p, s);
}

#endif
