/* frontend.h: where clients come in: listeners, the pool that serves them, and
 * the limits: may this client in? It owns its sessions.
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
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/duration.h"
#include "base/error.h"
#include "net/loop.h"
#include "net/sources.h"
#include "pool/pool.h"
#include "proxy/http_responses.h"
#include "proxy/http_sticky.h"
#include "proxy/proxy_header.h"
#include "proxy/reason.h"
#include "proxy/source_limits.h"

/* Which datagrams to a server begin with a PROXY header. */
enum udp_proxy { UDP_PROXY_OFF, UDP_PROXY_FIRST, UDP_PROXY_EVERY };

/* Whose end closes both sides: a server's, a client's. */
enum fastclose {
	FASTCLOSE_OFF,
	FASTCLOSE_UP,
	FASTCLOSE_DOWN,
	FASTCLOSE_BOTH = FASTCLOSE_UP | FASTCLOSE_DOWN
};

/* Datagrams instead of connections, or, for DNS, beside them. */
struct udp_options {
	bool on;
	bool each; /* balance each by itself */
	enum udp_proxy proxy;	/* tell servers who their clients are */
	uint64_t timeout_ms; /* a flow without a datagram; 0: never ends */
	uint64_t responses;  /* answers that end a flow; 0: no number does */
	uint64_t requests;   /* the same of questions */
	uint64_t fail; /* unanswered questions that make a server fail */
};

/* The datagrams are DNS queries. */
struct dns_options {
	bool on;
	uint64_t retry_ms;   /* without an answer: the next server */
	uint64_t timeout_ms; /* the same: the client is told */
};

/* Which sessions may be ended, when they are asked to end, at a quiet moment:
 * those whose client began with a request of HTTP/1, which its client sends
 * again; all; none. */
enum quiet_end { QUIET_END_HTTP, QUIET_END_ALL, QUIET_END_NONE };

/* How sessions end that are asked to. */
struct end_options {
	enum quiet_end quiet;
	uint64_t quiet_ms; /* silence that makes a moment quiet */
	uint64_t drain_ms; /* until those left are ended; 0: never */
	uint64_t max_age_ms; /* a session that is older is asked; 0: none */
};

/* What servers are told of clients when those have said something themselves:
 * it is kept, or it goes; a number from 0 on: it is kept from clients that this
 * access list permits. */
enum http_forwarded {
	HTTP_FORWARDED_APPEND = -1,
	HTTP_FORWARDED_REPLACE = -2
};

/* Connections are HTTP/1, and servers are told who their clients are. */
struct http_options {
	bool on;
	bool standard; /* by Forwarded (RFC 7239), too */
	bool status;   /* who cannot be served gets 503 */
	bool connect;  /* CONNECT is passed on */
	/* That clients without TLS are sent to; 0: they are served. */
	unsigned redirect_port;
	int forwarded; /* enum http_forwarded, or an access list */
	/* The cookie that names a client's server; "": none does. */
	char sticky[HTTP_COOKIE_NAME];
};

/* Settings; control/setting fills them. */
struct frontend_options {
	uint64_t connect_timeout_ms; /* one connect to one server */
	uint64_t retry_ms; /* a client waits for servers that refuse; 0: not */
	unsigned retry_requests; /* how often one may be sent again */
	uint64_t queue_ms; /* it waits for servers that are full; 0: not */
	uint64_t hello_ms; /* until a client has said what is asked of it */
	uint64_t peek_wait_ms; /* for a client that says nothing; 0: hello_ms */
	bool peek; /* a server is chosen when first bytes are there */
	uint64_t idle_timeout_ms;    /* no byte either way; 0: never */
	uint64_t half_timeout_ms;    /* half-closed and no byte; 0: never */
	uint64_t
	    linger_ms; /* client still sends, its server is gone; 0: never */
	uint64_t sessions_max;
	uint64_t pending_max; /* connects under way; 0: no limit */
	uint64_t buffer;      /* bytes read ahead for a slow client; 0: off */
	uint64_t sndbuf, rcvbuf; /* bytes, of TCP sockets; 0: the system's */
	uint64_t rate_down, rate_up; /* bytes a second of each; 0: any number */
	unsigned accept_max;  /* connections accepted at a time */
	int backlog;
	bool nodelay;	     /* no Nagle delay */
	enum proxy_version proxy; /* servers are told who the client is */
	/* The first port that clients come to; 0: none, or not known. */
	uint16_t first_port;
	/* The number of the access list of proxies, which say who the client
	 * is; -1: there are none. */
	int accept_proxy;
	enum fastclose fastclose;
	bool splice;	     /* long flows move in the kernel */
	bool dummy;	     /* be a web server, need no backend */
	unsigned dump;	     /* 0: none, 1: hex, 2: ASCII dump of all data */
	size_t kernel_pipes_max; /* two descriptors each, for splice */
	struct sources source;	 /* local addresses towards servers */
	bool transparent; /* the client's address instead, where possible */
	bool freebind; /* listeners take addresses that are not here yet */
	unsigned unix_mode; /* of files of listeners; 0: as the umask says */
	uint64_t preopened;	 /* connections to servers */

	/* Peers that vanish. 0: as the system has it. */
	bool keepalive; /* towards servers; towards clients it always is */
	uint64_t keepalive_ms;		/* silence before a peer is asked */
	uint64_t keepalive_interval_ms; /* between questions */
	unsigned keepalive_count;	/* unanswered ones that end it */
	uint64_t user_timeout_ms;	/* bytes are not acknowledged */

	struct udp_options udp;
	struct dns_options dns;
	struct end_options end;
	struct limit_options limits;
	struct http_options http;
};

struct tls_server;
struct tls_client;

struct frontend_address {
	struct addr at;
	bool v6_only; /* an IPv4 twin listens on the same port */
	bool datagram;
};

/* Everything counts since the start, but for what is there now. */
struct flow_stats {
	uint64_t now;
	uint64_t peak; /* most at once */
	uint64_t opened;
	uint64_t evicted;   /* for others, before their time */
	uint64_t ports;	    /* local ports that they have, now */
	uint64_t ports_max; /* that they may have; 0: not known */
};

/* Those of flows and of DNS; the last six were dropped. */
struct datagram_stats {
	uint64_t up, down;
	uint64_t no_server; /* nobody could have it */
	uint64_t unsent;    /* the kernel did not take it */
	uint64_t too_long;
	uint64_t no_memory;
	uint64_t flood; /* of newcomers, while they crowd */
	uint64_t unnamed; /* no good PROXY header, or of nobody's proxy */
};

struct dns_stats {
	uint64_t waiting; /* for answers, now */
	uint64_t peak;	  /* most at once */
	uint64_t queries;
	uint64_t failed;    /* answered SERVFAIL: no server did */
	uint64_t malformed; /* no DNS messages */
	uint64_t unasked;   /* answers to nothing that was asked, or late */
};

/* Those of client_conns and client_rate. */
struct limit_stats {
	uint64_t waiting; /* delayed or tarpitted, now */
	uint64_t beyond;  /* connections, flows, datagrams beyond a limit */
	uint64_t refused; /* what became of the connections */
	uint64_t delayed;
	uint64_t tarpitted;
	uint64_t abuse;
	uint64_t dropped; /* datagrams */
	uint64_t untracked; /* connections and datagrams without a limit,
			     * for lack of memory */
	uint64_t pauses;  /* of the listeners, by conn_rate */
};

struct tls_stats {
	uint64_t handshakes; /* with clients, that succeeded */
	uint64_t resumed;    /* of those, without a new key exchange */
	uint64_t up_handshakes, up_resumed; /* the same with servers */
	uint64_t failed, up_failed; /* with clients, with servers */
};

/* Lines of logs that nobody took. */
struct line_stats {
	uint64_t sessions, requests;
};

struct frontend_stats {
	uint64_t sessions;	   /* open now */
	uint64_t sessions_peak;	   /* most open at once */
	uint64_t connecting;	   /* of those, waiting for a server */
	uint64_t queued;	   /* of those, waiting for a place */
	uint64_t accepted;	   /* since the start, as all below */
	uint64_t queued_total;	   /* had to wait for a place */
	uint64_t retries;	   /* servers tried after another failed */
	uint64_t requests_retried; /* sent again, as a server lost them */
	uint64_t up, down;	   /* bytes of closed sessions */
	uint64_t reasons[REASONS]; /* how sessions ended */
	struct flow_stats flows;
	struct datagram_stats datagrams;
	struct dns_stats dns;
	struct tls_stats tls;
	struct limit_stats limits;
	struct line_stats lines_lost;
	/* Answers of servers, by the class of their status, from 1xx on; where
	 * they are read. */
	uint64_t http_classes[HTTP_CLASSES];
};

/* Of sessions, since the start. */
struct frontend_durations {
	struct duration connect;    /* of connects that succeeded */
	struct duration first_byte; /* until the answer began */
	struct duration session;    /* from its beginning to its end */
};

/* TLS; all of it outlives the frontend, or is replaced before it goes. */
struct frontend_tls {
	struct tls_server *server; /* towards clients; NULL: none */
	struct tls_client *client; /* towards servers; NULL: none */
	uint64_t handshake_ms;	   /* how long a client's may take */
	bool upstream; /* servers talk it that say nothing of their own */
	bool require_close_notify; /* a client that ends without it is cut */
};

/* In which version this server is told who its clients are. */
enum proxy_version frontend_server_proxy(
    const struct frontend_options *o, const struct server *s);

struct frontend;
struct inherited;
struct listener;

void frontend_options_init(struct frontend_options *o);

/* A frontend that listens nowhere yet; loop and pool outlive it. NULL with a
 * sentence in `e`. */
struct frontend *frontend_new(struct loop *l, struct pool *p,
    const struct frontend_options *o, struct error *e);
/* Closes the listeners, resets what sessions are left, frees all. */
void frontend_free(struct frontend *f);

const struct frontend_options *frontend_options(const struct frontend *f);
/* Takes new settings: times count for the sessions that are there, too, the
 * rest for sessions from now on, the backlog for listeners opened later. */
void frontend_set_options(struct frontend *f, const struct frontend_options *o);

/* Listeners take their sockets from there from now on, where it has them. `in`
 * stays the caller's; NULL: from nowhere. */
void frontend_inherit(struct frontend *f, struct inherited *in);

/* Opens one more listener; it accepts after frontend_start(). Returns 0, or -1
 * with a sentence in `e` that names the address. An IPv6 wildcard takes IPv4
 * too unless `v6_only`. */
int frontend_listen(
    struct frontend *f, const struct addr *at, bool v6_only, struct error *e);
/* Listens at exactly these addresses from now on. A listener that is wanted and
 * there stays as it is; the others are closed only when all new ones are open,
 * and who waits in their backlogs is served first, beyond the limits if need
 * be. New ones accept if the others do: after frontend_start(), below the
 * limits. Where an old one stands in the way of a new one, as 0.0.0.0:80 of
 * 127.0.0.1:80, it must be closed before: that comes last, and it is opened
 * again should the new one fail (should that fail too, it is logged). Returns
 * 0, or -1 with a sentence and the listeners as they were. Not to be called
 * from a listener's own callback. */
int frontend_relisten(struct frontend *f, const struct frontend_address *list,
    unsigned count, struct error *e);
/* Accepts from now on. Returns 0, or -1 with errno. */
int frontend_start(struct frontend *f);
/* Closes the listeners (their socket files too); sessions go on. Not to be
 * called from a listener's own callback. */
void frontend_stop(struct frontend *f);
/* Takes no new clients from now on, for good: accepts those that wait in the
 * backlogs, but for frontend_leave(), closes the listeners of connections, and
 * opens no connections in advance. Known flows of datagrams go on through their
 * listeners, and DNS queries that were asked are answered. Sessions go on,
 * except that those that may be are ended at a quiet moment. Not to be called
 * from a listener's own callback. */
void frontend_drain(struct frontend *f);
/* A server went down, or came up: ends its sessions and flows, and those of
 * others that are down, where on_down says so, or of those that are worse than
 * one that is up, where on_up does; soon, in portions. */
void frontend_cut_sessions(struct frontend *f);
/* Accepts and receives nothing until frontend_resume(), from connections,
 * datagrams and queries alike: they wait in the kernel. Sessions and flows go
 * on. */
void frontend_pause(struct frontend *f);
void frontend_resume(struct frontend *f);
/* Another process has the listeners, too, which are paused: it accepts and
 * receives from now on, and the socket files are its own. */
void frontend_leave(struct frontend *f);
/* Calls `fn` for each listener. */
void frontend_each_listener(struct frontend *f,
    void (*fn)(void *arg, struct listener *l), void *arg);
/* Asks sessions of servers that have more than their share to end at a quiet
 * moment, so that their clients are balanced anew; soon, in portions. Of each
 * such server `percent` of its sessions at most. Returns 0 and how many they
 * are at most, or -1 with a phrase. */
int frontend_rebalance(struct frontend *f, unsigned percent, uint64_t *asked,
    struct error *e);
/* Sessions, flows and DNS queries that are not over. */
uint64_t frontend_left(const struct frontend *f);

/* Clients get servers by these routes from now on, which the frontend owns;
 * NULL: by none. Those that wait for a server are routed anew. */
struct routes;
void frontend_set_routes(struct frontend *f, struct routes *r);
/* Those in force; NULL: none. */
struct routes *frontend_routes(const struct frontend *f);

/* Clients and servers talk so from now on; those that are there go on as they
 * are. */
void frontend_set_tls(struct frontend *f, const struct frontend_tls *tls);

const struct frontend_stats *frontend_stats(const struct frontend *f);
const struct frontend_durations *frontend_durations(const struct frontend *f);
/* All that counts since the start counts from now on; peaks are what is there
 * now. */
void frontend_clear_stats(struct frontend *f);
/* The same, from `past` on, of which only what counts since the start, and
 * peaks, is used. */
void frontend_restore_stats(
    struct frontend *f, const struct frontend_stats *past);

/* ---- connections, for reports and commands ---- */

/* A session as it is at the moment. */
struct connection_info {
	unsigned number;
	unsigned phase; /* its state as a number, as below from 1 on */
	/* "hello", "connecting", "relaying", "draining", "queued" */
	const char *state;
	int down_fd, up_fd; /* of client and server; -1: none */
	struct peer client;
	uint32_t client_number;	     /* in the memory of clients; 0: none */
	const struct server *server; /* NULL: none chosen yet */
	const struct stream *stream; /* the client's; until the loop goes on */
	size_t pending_up, pending_down; /* bytes read, not yet taken */
	uint64_t up, down;		 /* bytes moved */
	uint64_t age_ms, idle_ms;
};

/* Each returns false when there is no such connection. */
bool frontend_connection(
    const struct frontend *f, uint64_t number, struct connection_info *info);
/* The first one whose number is not below `from`. */
bool frontend_connection_next(
    const struct frontend *f, uint64_t from, struct connection_info *info);
/* Ends it abortively. */
bool frontend_close_connection(struct frontend *f, uint64_t number);
/* All numbers are below it. */
uint64_t frontend_connections_end(const struct frontend *f);
/* The connection that a descriptor belongs to, or -1; a walk. */
int64_t frontend_connection_of_fd(const struct frontend *f, int fd);

/* ---- flows of datagrams ---- */

struct flow_info {
	uint64_t number;
	struct peer client;
	const struct server *server; /* NULL: none at the moment */
	int fd;
	uint64_t requests, responses, up, down;
	uint64_t age_ms, idle_ms;
};

/* Each returns false when there is no such flow. */
bool frontend_flow(
    const struct frontend *f, uint64_t number, struct flow_info *info);
/* The first one whose number is not below `from`. */
bool frontend_flow_next(
    const struct frontend *f, uint64_t from, struct flow_info *info);

/* ---- limits of each source ---- */

/* The table of sources, for reports. */
const struct source_limits *frontend_sources(const struct frontend *f);
/* Which limit a client that comes now would be beyond. */
enum limit_verdict frontend_limit(
    struct frontend *f, const struct peer *who);

/* ---- pre-opened connections ---- */

/* How many are open and wait for a client. */
uint64_t frontend_preopened(const struct frontend *f);

/* ---- logs ---- */

struct requestlog;
struct sessionlog;
/* Sessions log there from now on; NULL: nowhere. It stays the caller's. */
void frontend_set_requestlog(struct frontend *f, struct requestlog *r);
/* The same for lines of sessions that are over. */
void frontend_set_sessionlog(struct frontend *f, struct sessionlog *g);

#endif
