/* apply.h: the one way in which a plan comes into force: at the start, after a
 * command, after a reload.
 *
 *     draft -> check -> prepare --> commit    the draft is in force
 *                |         |
 *                |         '-> cancel         nothing has changed
 *                '--------------------------> nothing has changed
 *
 * The participants carry it out, in the order of the array in registry.c. All
 * of them check the draft, and open nothing. Then all of them prepare: they
 * open what is new beside what is there. If one fails, those before it cancel
 * what they have prepared, in reverse order. Then all of them commit, which
 * cannot fail.
 *
 * A start is the first apply: it goes the same way, with nothing open yet. */
#ifndef PEN_CONTROL_APPLY_H
#define PEN_CONTROL_APPLY_H

#include "control/apply/names.h"
#include "control/apply/shares.h"
#include "control/apply/tls_config.h"
#include "control/life/context.h"

/* A server that the draft sets or removes; without an address one that it
 * removes, or whose name has none yet. */
struct change {
	unsigned slot;
	struct server_addrs addrs;
};

struct changes {
	struct change *list;
	size_t count, room;
};

struct apply_all;
struct check_changes;
struct log_format;
struct sessionlog_options;
struct web;

/* The draft of one service on its way. */
struct apply {
	struct pen *pen;
	struct service *service;
	const struct apply_all *all;
	const struct plan *draft; /* of all services */
	const struct plan *now; /* in force until the commit */
	struct plan *wanted;	/* the draft */
	const struct names *names;
	bool new;   /* the service is not there yet */
	bool first; /* nothing is open yet: everything is new */
	/* What it changes, CHANGED_*; all until SERVING. */
	uint64_t changed;
	size_t descriptors; /* that it may have */

	/* What participants have prepared. */
	struct changes servers;
	struct tls_config_change tls;
	struct check_changes *checks;
	struct sessionlog *sessions;
	struct log_format *format, *request_format;
	struct sessionlog *httplog; /* of requests of HTTP */
	struct routes *routes;
	struct buffer route_warnings; /* new ones */
	bool servers_move;	      /* slots get other addresses */
};

/* The draft of the process and its services on its way. */
struct apply_all {
	struct pen *pen;
	struct plan *draft;	/* of all; freed if it is not in force */
	const struct plan *now; /* in force until the commit */
	const struct names *names;
	bool first; /* as above */
	/* What it changes, in the process and in any service. */
	uint64_t changed;
	bool leaves;	   /* a service does */
	struct apply *one; /* the services that may change, the first in
			    * front, in the order of the draft */
	unsigned count;
	struct shares shares;

	/* What participants have prepared. */
	struct sink *log;
	struct geoip *geoip;
	struct web *web;
};

/* Adds to `n` the host names that `draft` needs and whose addresses are not
 * known; and, known or not, those of the servers that `n` is for. Returns 0, or
 * -1 with errno ENOMEM. */
int apply_want_names(
    const struct pen *p, const struct plan *draft, struct names *n);
/* Whether that number is free: no server in force or in the draft has it, and
 * none that is removed and still has connections. */
bool apply_is_free(
    const struct service *svc, const struct plan *draft, unsigned number);
/* Makes `draft` the plan in force, and changes what runs accordingly. Servers
 * that stay keep their connections, counters, clients and health; those that
 * are gone get no new client. `draft` belongs to the pen from now on: it is in
 * force, or freed. Returns 0, or -1 with a full message; then nothing has
 * changed. */
int apply_plan(
    struct pen *p, struct plan *draft, const struct names *n, struct error *e);
/* Looks the names up that apply_want_names() finds, and applies the plan. The
 * lookups block: only before the program serves. The draft comes into force
 * even if errors were kept in p->errors: more of them are found then. */
int apply_plan_now(struct pen *p, struct plan *draft, struct error *e);

/* The participants, in this order; the last has no name. What one does for the
 * process is called once, what it does for services for each that may change,
 * behind that. Each part may be left out. A prepare that fails has undone
 * itself; commit or cancel follows one that succeeded. None of these is called
 * if the draft changes nothing of what is in `on`. */
struct participant {
	const char *name;
	bool of_leader; /* a worker leaves it to its leader */
	/* It checks each setting by itself: also a plan that is flawed. */
	bool of_each;
	/* Before that it only checks: there is no loop to open anything in. */
	enum phase since;
	struct {
		uint64_t on; /* CHANGED_* */
		int (*check)(struct apply_all *a, struct error *e);
		int (*prepare)(struct apply_all *a, struct error *e);
		void (*commit)(struct apply_all *a);
		void (*cancel)(struct apply_all *a);
	} process;
	struct {
		uint64_t on;
		int (*check)(struct apply *a, struct error *e);
		int (*prepare)(struct apply *a, struct error *e);
		void (*commit)(struct apply *a);
		void (*cancel)(struct apply *a);
	} service;
};

/* ---- the parts of participants; each is called by apply.c alone ---- */

/* Settings of the start; and how much is logged, how the loop waits. */
int apply_process_check(struct apply_all *a, struct error *e);
int apply_process_check_service(struct apply *a, struct error *e);
void apply_process_commit(struct apply_all *a);

/* apply_want_names() of one service; `svc` is NULL: a new one. */
int apply_servers_want_names(
    const struct service *svc, const struct plan *draft, struct names *n);
/* Whether any server of the range has a name for a host. */
bool apply_servers_have_names(const struct plan *p, struct names_range r);
/* Finds out which servers the draft changes, and their addresses. */
int apply_servers_check(struct apply *a, struct error *e);
/* apply_pool.c: takes the draft's settings, but keeps the memory of clients:
 * that is given up when nothing can fail any more. */
int apply_servers_prepare(struct apply *a, struct error *e);
void apply_servers_commit(struct apply *a);
void apply_servers_cancel(struct apply *a);

/* Routes by first bytes: those to services must end at one that is there; which
 * servers the others mean, among those of the draft. */
int apply_routes_check(struct apply_all *a, struct error *e);
int apply_routes_prepare(struct apply *a, struct error *e);
void apply_routes_commit(struct apply *a);
void apply_routes_cancel(struct apply *a);
/* Connects routes to the services that they lead to, once all services are
 * open. */
void apply_routes_connect(struct apply *a);

/* Access lists, and what refers to them; the number of the one that a server
 * refers to, or -1. */
int apply_acls_check(struct apply_all *a, struct error *e);
int apply_acls_check_service(struct apply *a, struct error *e);
void apply_acls_commit(struct apply_all *a);
/* Takes the named lists out that are empty and that nothing refers to. Returns
 * 0, or -1 with errno ENOMEM. */
int apply_acls_remove_unused(struct plan *p);
/* Whether a setting of any service or of the process, or a server, refers to
 * the list. */
bool apply_acls_is_used(const struct plan *p, const struct acl_ref *list);
int apply_acls_number(const struct process_plan *p, const struct acl_ref *ref);

/* Whether errors that servers answer are reported. */
void apply_http_watch_commit(struct apply *a);
/* The frontend and its settings. */
int apply_frontend_check(struct apply *a, struct error *e);
int apply_frontend_prepare(struct apply *a, struct error *e);
void apply_frontend_commit(struct apply *a);
/* Closes sockets to servers that were removed, or that get no new clients. */
void apply_frontend_commit_servers(struct apply *a);
void apply_frontend_cancel(struct apply *a);

/* Marks the listening sockets that services have elsewhere in the draft: their
 * addresses may move to others, of Unix sockets with the same listen_mode and
 * without workers. */
void apply_listen_mark(struct pen *p, const struct plan *draft);
/* Where clients come in: sockets, or the VIPs of direct server return. */
int apply_listen_prepare(struct apply *a, struct error *e);
void apply_listen_commit(struct apply *a);
void apply_listen_cancel(struct apply *a);

/* The log of what clients send first, which all services share; and of each
 * service those of sessions and of requests of HTTP, and their formats. */
int apply_log_prepare(struct apply_all *a, struct error *e);
void apply_log_commit(struct apply_all *a);
void apply_log_cancel(struct apply_all *a);
int apply_log_check_service(struct apply *a, struct error *e);
int apply_log_prepare_service(struct apply *a, struct error *e);
void apply_log_commit_service(struct apply *a);
void apply_log_cancel_service(struct apply *a);
/* Where it goes: an address (names are looked up at the start only), or none: a
 * file. Returns 0, or -1 with a short message. */
int apply_log_find(
    const struct pen *p, const char *text, struct addr *to, struct error *e);
/* Whether the first service changes in what the logs of others follow. */
bool apply_log_concerns_services(
    const struct plan *now, const struct plan *wanted);
/* Where sessions of the service are logged; NULL: nowhere. `all` has the
 * process and the first service. */
const char *apply_log_sessions_to(
    const struct plan *all, const struct plan *plan);
/* Whether it is not switched off; "auto" is not, also in the background. */
bool apply_log_sessions_are_wanted(
    const struct plan *all, const struct plan *plan);
/* The options of that log; `to` is NULL if there is none. Returns 0, or -1 with
 * a full message. */
int apply_log_sessions(const struct pen *p, const struct plan *all,
    const struct plan *plan, struct sessionlog_options *o, struct error *e);
/* Where requests of HTTP are logged; NULL: nowhere. */
const char *apply_log_requests_to(const struct plan *p);
/* The same of a service's log of requests of HTTP. */
int apply_log_requests(const struct pen *p, const struct plan *plan,
    struct sessionlog_options *o, struct error *e);

#endif
