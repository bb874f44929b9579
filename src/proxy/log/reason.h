/* reason.h: why a session or a flow ended: one list for log, counters and
 * tests. */
#ifndef PEN_PROXY_REASON_H
#define PEN_PROXY_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "pool/server/server.h"

enum reason {
	REASON_DONE,	       /* both sides have sent FIN */
	REASON_CLIENT_RESET,   /* the client sent a RST */
	REASON_SERVER_RESET,   /* the server sent a RST */
	REASON_NO_SERVER,      /* no server was available */
	REASON_IDLE_TIMEOUT,   /* silent for too long */
	REASON_HALF_TIMEOUT,   /* half-closed and silent for too long */
	REASON_LINGER_TIMEOUT, /* its server sent FIN, the client continued */
	REASON_FASTCLOSE, /* one side sent FIN, and tcp_fastclose */
	REASON_NO_RESOURCES,	/* out of memory or descriptors */
	REASON_STOPPED,		/* by command, or the program ends */
	REASON_SERVER_DOWN,	/* its server is down: on_down */
	REASON_SERVER_UP,	/* a better server is up: on_up */
	REASON_MAX_AGE,		/* drained for its age, and did not end */
	REASON_QUIET_END,	/* drained, and idle between requests */
	REASON_TLS_FAILED,	/* the client's handshake, or what came later */
	REASON_TLS_TIMEOUT,	/* the client's handshake took too long */
	REASON_TRUNCATED,	/* TLS ended without close_notify: a reset */
	REASON_QUEUE_TIMEOUT,	/* all servers stayed full */
	REASON_HELLO_TIMEOUT,	/* its header or first bytes did not come in
				 * time */
	REASON_HELLO_TOO_LONG,	/* they were too many */
	REASON_CLIENT_CONNS,	/* its source has too many connections */
	REASON_CLIENT_RATE,	/* its source comes too often */
	REASON_TARPIT,		/* the same: it was kept waiting, then closed */
	REASON_NO_CLOSE_NOTIFY, /* the same of a client: passed on as an end */
	REASON_PROXY_REFUSED,	/* accept_proxy does not permit its address */
	REASON_PROXY_INVALID,	/* its PROXY header is wrong, or missing */
	REASON_PROXY_TIMEOUT,	/* it did not come in time */
	REASON_BAD_REQUEST,	/* of HTTP, refused with a page */
	REASON_REDIRECTED,	/* of HTTP, to HTTPS */
	REASON_EVICTED,		/* of a flow: others needed what it had */
	REASON_NO_ANSWER,	/* to its request: the server ended */
	REASON_DENIED,		/* an access list does not permit it */
	REASON_SERVICE_FULL,	/* the one that its route leads to */
	REASONS
};

/* Whether a session that ends resets its client; UNTOLD: unless it got a FIN,
 * and may have unread bytes of the answer, which a reset would destroy, or its
 * reset was due all the same;
 * LAGGING: of those only one that has not taken all, and a server likewise, so
 * that what is cut does not look complete. */
enum reset_client { RESET_NEVER, RESET_LAGGING, RESET_UNTOLD, RESET_ALWAYS };

struct reason_row {
	const char *name; /* as in log lines and reports */
	/* As of HTTP, for readers of web servers' logs: 200 for a good end, 308
	 * for a client that was redirected, 4xx for what the client did, 5xx
	 * for the rest. */
	unsigned short status;
	uint8_t resets_client; /* enum reset_client */
	bool resets_server;
};

extern const struct reason_row reason_rows[REASONS];

/* The status; a flow of datagrams that is silent has ended well. */
unsigned reason_status(enum reason r, bool is_flow);
/* How a session with a server ended, by its status: 2xx, 4xx, 5xx. */
enum server_end reason_end(enum reason r);
/* "done", "client_reset", ...: as in log lines and reports. */
const char *reason_name(enum reason r);

#endif
