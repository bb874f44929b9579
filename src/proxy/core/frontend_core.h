/* frontend_core.h: what all that serves a frontend's clients has in common: the
 * sessions, the flows of datagrams, DNS, the dummy server and the pre-opened
 * connections. Settings, counters, limits of all clients, and how servers are
 * reached. */
#ifndef PEN_PROXY_FRONTEND_CORE_H
#define PEN_PROXY_FRONTEND_CORE_H

#include "net/dgram.h"
#include "net/pipe.h"
#include "net/sock.h"
#include "pool/pool.h"
#include "proxy/core/frontend_options.h"
#include "proxy/core/frontend_stats.h"
#include "proxy/core/preopened.h"
#include "proxy/core/shared_limit.h"
#include "tls/tls_client.h"
#include "tls/tls_server.h"

struct dns;
struct dummies;
struct flows;
struct sink;
struct routes;
struct sessionlog;
struct sessions;

/* The first member of struct frontend. */
struct frontend_core {
	struct loop *loop;
	struct pool *pool;
	struct sessions *sessions; /* those of the frontend, which owns them */
	struct flows *flows;
	struct dns *dns;
	struct dummies *dummies;
	struct frontend_options options;
	const char *service; /* for session logs; NULL: the first; not owned */
	const char *label; /* in the program's lines: " service=NAME", or "" */
	struct sock_tuning up_tuning; /* their settings of servers' sockets */
	bool tuned;		      /* they set something */
	bool started;		      /* frontend_start() was called */
	bool draining;		      /* frontend_drain() was */
	struct routes *routes; /* owned; NULL: all servers for all clients */
	uint8_t hello; /* what clients do before they get a server */
	uint16_t near_ports;	      /* the first that the system chooses */
	unsigned source_turn;	      /* which source was used last */
	struct dgram_queues queues;   /* of sockets to servers */
	bool own_told; /* that ours is used instead of a client's address */
	uint64_t ids; /* the last number sent to a server */
	struct http_identities identities; /* of requests */
	/* Its own, or in memory that several processes share. */
	struct frontend_stats *stats, own_stats;
	struct frontend_tls tls;
	struct source_limits sources;
	bool limited; /* the settings limit them */
	int64_t best_level; /* of servers, when they were walked: level.h */
	struct pipe_share share;
	struct sink *requestlog; /* NULL: none; not owned */
	struct sessionlog *sessionlog; /* owned; NULL: none */
	struct log_format *log_format; /* NULL: logfmt */
	struct sessionlog *httplog; /* of requests; the same */
	struct log_format *request_format; /* of these; owned */
	struct http_logging logging;	   /* the same for http_log.h */
	struct preopened preopened;

	struct shared_limit_member shared; /* among all frontends */
	bool full; /* a limit is reached: listeners are paused */
	bool rate_reached;
	struct rate_bucket rate; /* of conn_rate */
	struct timer rate_timer; /* while it is empty */

	/* What the listeners do: set by their owner. */
	/* Pauses or resumes all: a limit is reached, or left. */
	void (*hold)(struct frontend_core *f, bool hold);
	/* Whether clients come to this port: looks at all. */
	bool (*serves_port)(const struct frontend_core *f, uint16_t port);
};

/* `f` is zeroed. Returns 0, or -1 with errno ENOMEM; then there is nothing to
 * end. */
int frontend_core_init(struct frontend_core *f, struct loop *l, struct pool *p,
    const struct frontend_options *o);
/* All that serves clients is gone. */
void frontend_core_fini(struct frontend_core *f);
/* Numbers that are sent begin with others than those of any process. */
void frontend_core_begin_ids(struct frontend_core *f);
/* Counts there from now on, what its log loses, too. */
void frontend_core_count_in(struct frontend_core *f, struct frontend_stats *st);
/* The options are others. */
void frontend_core_adjust(struct frontend_core *f);

/* A client's connection was accepted, or has ended: counts it, and holds or
 * releases the listeners when a limit is reached or left. */
void frontend_client_in(struct frontend_core *f);
void frontend_client_out(struct frontend_core *f, enum reason why);
/* Whether the limits of all clients allow one more. */
bool frontend_has_room(const struct frontend_core *f);
/* Holds or releases the listeners if a limit is another one. */
void frontend_check_limits(struct frontend_core *f);
/* A client of one is a client of the other from now on. */
void frontend_client_moves(
    struct frontend_core *from, struct frontend_core *to);
/* A session begins to wait for its server, or does so no more. */
void frontend_connecting(struct frontend_core *f, bool begins);

/* ---- frontend_server.c: towards servers ---- */

/* When a silent server, or client, is taken for unreachable. */
struct sock_keepalive frontend_keepalive(const struct frontend_core *f);
/* How to connect to servers; `port` is for those that have none of their
 * own. */
struct sock_connect_options frontend_connect_options(
    struct frontend_core *f, uint16_t port);

/* Whose address the socket to a server is to have, for this client: with
 * transparent the client's own, if that can be. NULL: ours. */
const struct peer *frontend_client_of(struct frontend_core *f,
    const struct peer *client, const struct addr *to);

/* Whether this server talks TLS. */
bool frontend_server_is_tls(
    const struct frontend_core *f, const struct server *s);
/* The version of its PROXY header. */
enum proxy_version frontend_server_proxy(
    const struct frontend_options *o, const struct server *s);

/* Which address of the server `fd` is connected to, or connects to, at `port`
 * where that has none; -1: none that it has now. */
int frontend_server_address(const struct server *s, int fd, uint16_t port);

/* Names pen itself, connected by `fd` to a server at `to`, in a header without
 * addresses so far, of version 1: "UNKNOWN" is an error to some programs. On a
 * Unix socket it stays so. */
void frontend_name_ourselves(
    struct proxy_header *h, int fd, const struct addr *to);

/* Whether an error of a server that a client reached by this port means that
 * the server has failed. One that has no port of its own may refuse on one and
 * serve on others: clients, which choose the port, could have it blacklisted.
 * Only the first port matters, which health checks also use. */
bool frontend_error_blames_server(const struct frontend_core *f,
    const struct server *s, uint16_t port, int error);

/* Logs that a server failed and reports it to the pool. `why` is a short
 * message with more than the errno, or NULL. */
void frontend_server_failed(
    struct frontend_core *f, struct server *s, int error, const char *why);
/* The same of a connection. With DNS the reason begins with "TCP: ": the server
 * may answer over UDP. */
void frontend_connection_failed(
    struct frontend_core *f, struct server *s, int error, const char *why);

#endif
