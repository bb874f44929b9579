/* frontend.h: where clients come in. It owns the listeners, the sessions, the
 * flows of datagrams, the queries of DNS and the core that these share
 * (frontend_core.h).
 *
 *     listener --> frontend --> session --> pool_choose, sock_connect, pipes
 *                     |
 *                     '-------> dummy (answers by itself)
 *
 * When a limit is reached the listeners pause and connections wait in the
 * backlog; the end of any session resumes them. */
#ifndef PEN_PROXY_FRONTEND_H
#define PEN_PROXY_FRONTEND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/addr.h"
#include "base/error.h"
#include "net/loop/loop.h"
#include "net/sock_group.h"
#include "pool/pool.h"
#include "proxy/core/frontend_options.h"
#include "proxy/core/frontend_stats.h"

struct frontend_address {
	struct addr at;
	bool v6_only; /* an IPv6 wildcard takes no IPv4: it must not, or a twin
		       * or another program listens on the same port */
	bool v6_settled; /* that follows from other services or programs */
	bool v4_taken;	 /* from other programs */
	bool datagram;
};

struct frontend;
struct flow_past;
struct frontend_core;
struct listener;
struct socket_set;

/* A frontend that listens nowhere yet; loop and pool outlive it. NULL with a
 * full message in `e`. */
struct frontend *frontend_new(struct loop *l, struct pool *p,
    const struct frontend_options *o, struct error *e);
/* Closes the listeners, resets what sessions are left, frees all. */
void frontend_free(struct frontend *f);

const struct frontend_options *frontend_options(const struct frontend *f);
/* Takes new settings: times count for the sessions that are there, too, the
 * rest for sessions from now on, the backlog for listeners opened later. */
void frontend_set_options(struct frontend *f, const struct frontend_options *o);
/* Servers of the pool have been set, added or removed: closes spare connections
 * and sockets for DNS of those that are not present, and opens what is due. */
void frontend_servers_changed(struct frontend *f);

/* Listeners are rows of that table from now on, and take their sockets from it
 * where it has them. `s` stays the caller's; NULL: there is none. */
void frontend_use_sockets(struct frontend *f, struct socket_set *s);

/* Listens at exactly these addresses from frontend_relistened() on. A listener
 * that is wanted and there stays as it is; the others are closed only then, and
 * clients in their backlogs are served first, over the limits if need be.
 * New ones accept if the others do: after frontend_start(), below the limits.
 * Where an old one stands in the way of a new one, as 0.0.0.0:80 of
 * 127.0.0.1:80, it must be closed before: that comes last, and it is opened
 * again should the new one fail (should that fail too, it is logged). Returns
 * 0, or -1 with a full message that names the address, and the listeners as
 * they were. Not to be called from a listener's own callback. */
int frontend_relisten(struct frontend *f, const struct frontend_address *list,
    unsigned count, struct error *e);
void frontend_relistened(struct frontend *f);

/* ---- a frontend in several processes ---- */

/* Each listener opened from now on has sockets for `members` processes (2 ..
 * SOCK_GROUP_MAX), to which the kernel deals out clients: by address, or each
 * connection. This process has all of them and accepts nothing. */
void frontend_share(
    struct frontend *f, unsigned members, enum sock_group_by by);
/* Takes over all inherited sockets of a group: clients are distributed as by
 * the other process until frontend_steer(). */
void frontend_follow_group(struct frontend *f);
/* Clients are dealt out to the members from now on. Sockets of more members
 * than there are get none, and stay: a client may be in a backlog. */
void frontend_steer(struct frontend *f);
/* The same of datagrams alone: the next of a flow comes to the member that has
 * the flow, before all is done. */
void frontend_steer_datagrams(struct frontend *f);
/* Opens sockets for so many members, which get no clients yet; those that are
 * there stay, also if it fails. Returns 0, or -1 with a full message. */
int frontend_grow(struct frontend *f, unsigned members, struct error *e);
/* In a child process: makes this frontend member `i` of `members`, with its own
 * sockets only, its part of the common limits, and counters at zero. */
void frontend_become(struct frontend *f, unsigned i, unsigned members);
/* In a member: also serves inherited sockets of another member, at the
 * addresses of this one, until they are given back. Clients in their backlogs
 * are then left to the other one. */
void frontend_cover(struct frontend *f);
void frontend_cover_end(struct frontend *f);
/* Calls `fn` for each socket of member `i` that was opened by the last
 * frontend_relisten(), or with `lent` for each that is not a Unix socket. */
void frontend_each_member(struct frontend *f, unsigned i, bool lent,
    void (*fn)(void *arg, int fd), void *arg);

/* Accepts from now on; a listener that cannot do so yet retries by itself. */
void frontend_start(struct frontend *f);
/* Closes the listeners (their socket files too); sessions go on. Not to be
 * called from a listener's own callback. */
void frontend_stop(struct frontend *f);
/* Takes no new clients from now on, for good: accepts those that wait in the
 * backlogs unless they are another process's, closes the others, and
 * opens no connections in advance. Known flows of datagrams go on through their
 * listeners, and DNS queries that were received are answered. Sessions
 * continue, except that those that may be are closed when idle between
 * requests. Not to be called from a listener's own callback. */
void frontend_drain(struct frontend *f);
/* A server went down, or came up: ends its sessions and flows, and those of
 * others that are down, where on_down is cut, or of those that are worse than
 * one that is up, where on_up is; soon, in portions. */
void frontend_cut_sessions(struct frontend *f);
/* Another frontend has sockets of this one, which drains: it no longer receives
 * datagrams there, and flows and queries that came so end. */
void frontend_close_moved(struct frontend *f);
/* Accepts and receives nothing until frontend_resume(), from connections,
 * datagrams and queries alike: they wait in the kernel. Sessions and flows go
 * on. */
void frontend_pause(struct frontend *f);
void frontend_resume(struct frontend *f);
/* Another process receives at the listeners from now on: flows whose sockets it
 * has end here. */
void frontend_pass_flows(struct frontend *f);
/* Calls `fn` for each listener. */
void frontend_each_listener(struct frontend *f,
    void (*fn)(void *arg, struct listener *l), void *arg);
/* The client's next datagram goes to `server`, by the flow's socket if it has
 * one, which is the frontend's from now on, or closed. Returns whether there is
 * such a listener, and memory. */
bool frontend_import_flow(
    struct frontend *f, const struct flow_past *past, struct server *server);
/* Sessions, flows and DNS queries that are not over. */
uint64_t frontend_left(const struct frontend *f);

/* Clients get servers by these routes from now on, which the frontend owns;
 * NULL: by none. Those that wait for a server are routed anew. */
struct routes;
void frontend_set_routes(struct frontend *f, struct routes *r);
/* The routes in force; NULL: none. */
struct routes *frontend_routes(const struct frontend *f);

/* Clients and servers talk so from now on; those that are there go on as they
 * are. */
void frontend_set_tls(struct frontend *f, const struct frontend_tls *tls);

const struct frontend_stats *frontend_stats(const struct frontend *f);
/* Sets counters to zero, and peaks to what is open now. */
void frontend_clear_stats(struct frontend *f);
/* The same, from `past` on, of which only what counts since the start, and
 * peaks, is used. */
void frontend_restore_stats(
    struct frontend *f, const struct frontend_stats *past);

/* ---- what it is made of ---- */

/* The core of the frontend: for health checks, which connect to servers as it
 * does, and for its limits. */
struct frontend_core *frontend_core_of(struct frontend *f);
/* The sessions, for connections.h. */
struct sessions *frontend_sessions(struct frontend *f);
/* The flows, for the functions of flow.h about single ones. */
struct flows *frontend_flows(struct frontend *f);
/* The table of sources, for reports. */
const struct source_limits *frontend_sources(const struct frontend *f);
/* How many pre-opened connections wait for a client. */
uint64_t frontend_preopened(const struct frontend *f);

/* ---- logs ---- */

/* The service that it serves, in lines of logs: its name, NULL being the first,
 * and " service=NAME", or "". They stay the caller's. */
void frontend_set_service(
    struct frontend *f, const char *name, const char *label);

struct sink;
struct log_format;
struct sessionlog;
/* Sessions log there from now on; NULL: nowhere. It stays the caller's. */
void frontend_set_requestlog(struct frontend *f, struct sink *r);
/* The same for lines of sessions that are over; it is the frontend's from now
 * on. */
void frontend_set_sessionlog(struct frontend *f, struct sessionlog *g);
/* From now on this frontend counts the lines that the program's own log
 * loses. */
void frontend_count_log(struct frontend *f);
/* How its lines are written, which is the frontend's from now on; NULL:
 * logfmt. */
void frontend_set_log_format(struct frontend *f, struct log_format *format);
/* Requests of HTTP are logged there from now on, NULL: nowhere, in that format.
 * Both are the frontend's from now on. */
void frontend_set_httplog(struct frontend *f, struct sessionlog *g);
void frontend_set_request_format(
    struct frontend *f, struct log_format *format);

#endif
