/* frontend_options.h: the settings of a frontend; control/setting sets them. */
#ifndef PEN_PROXY_FRONTEND_OPTIONS_H
#define PEN_PROXY_FRONTEND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sources.h"
#include "proxy/core/source_limits.h"
#include "proxy/http/http_identity.h"
#include "proxy/http/http_sticky.h"
#include "proxy/wire/proxy_header.h"

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
	enum udp_proxy proxy;	/* PROXY headers to servers */
	uint64_t timeout_ms; /* a flow without a datagram; 0: never ends */
	uint64_t responses;  /* answers that end a flow; 0: no number does */
	uint64_t requests;   /* the same of questions */
	uint64_t fail; /* unanswered questions that make a server fail */
	bool pmtu;     /* DF: path MTUs are discovered; also with DNS */
};

/* The datagrams are DNS queries. */
struct dns_options {
	bool on;
	uint64_t retry_ms;   /* without an answer: the next server */
	uint64_t timeout_ms; /* the same: SERVFAIL for the client */
	uint64_t max;	     /* queries that wait */
};

/* Which drained sessions may be closed when idle between requests: those whose
 * client began with a request of HTTP/1, which its client sends again; all;
 * none. */
enum quiet_end { QUIET_END_HTTP, QUIET_END_ALL, QUIET_END_NONE };

/* How drained sessions end. */
struct end_options {
	enum quiet_end quiet;
	uint64_t quiet_ms; /* silence that makes a moment quiet */
	uint64_t drain_ms; /* until those left are ended; 0: never */
	uint64_t max_age_ms; /* a session that is older is drained; 0: none */
};

/* What happens to such fields that clients send: they are kept, or removed; a
 * number from 0 on: they are kept from clients that this access list
 * permits. */
enum http_forwarded {
	HTTP_FORWARDED_APPEND = -1,
	HTTP_FORWARDED_REPLACE = -2
};

/* Connections are HTTP/1, and servers get the client address. */
struct http_options {
	bool on;
	bool standard; /* by Forwarded (RFC 7239), too */
	bool status;   /* clients without a server get 503 */
	bool connect;  /* CONNECT is passed on */
	/* That clients without TLS are sent to; 0: they are served. */
	unsigned redirect_port;
	int forwarded; /* enum http_forwarded, or an access list */
	/* The cookie that names a client's server; "": none does. */
	char sticky[HTTP_COOKIE_NAME];
	/* The field that identifies a request; "": none does. */
	char request_id[HTTP_IDENTITY_NAME];
};

struct frontend_options {
	uint64_t connect_timeout_ms; /* one connect to one server */
	uint64_t retry_ms; /* a client waits for servers that refuse; 0: not */
	unsigned retry_requests; /* how often one may be sent again */
	uint64_t queue_ms; /* it waits for servers that are full; 0: not */
	uint64_t hello_ms; /* until a client has sent what a step needs */
	uint64_t peek_wait_ms; /* for a silent client; 0: hello_ms */
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
	enum proxy_version proxy; /* servers get the client address */
	/* The first port that clients come to; 0: none, or not known. */
	uint16_t first_port;
	/* The number of the access list of proxies, which send the client
	 * address; -1: there are none. */
	int accept_proxy;
	enum fastclose fastclose;
	bool splice;	     /* long flows move in the kernel */
	bool dummy;	     /* be a web server, need no backend */
	unsigned dump;	     /* 0: none, 1: hex, 2: ASCII dump of all data */
	size_t kernel_pipes_max; /* two descriptors each, for splice */
	struct sources source;	 /* local addresses towards servers */
	bool transparent; /* the client's address instead, where possible */
	bool freebind; /* listeners take addresses that are not here yet */
	unsigned unix_mode; /* of files of listeners; 0: by the umask */
	uint64_t preopened;	 /* connections to servers */

	/* Peers that vanish. 0: as the system has it. */
	bool keepalive; /* towards servers; towards clients it always is */
	uint64_t keepalive_ms;		/* silence before a peer is probed */
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

/* TLS; all of it outlives the frontend, or is replaced before it goes. */
struct frontend_tls {
	struct tls_server *server; /* towards clients; NULL: none */
	struct tls_client *client; /* towards servers; NULL: none */
	uint64_t handshake_ms;	   /* how long a client's may take */
	bool upstream; /* for servers without a setting of their own */
	bool require_close_notify; /* a client that ends without it is cut */
};

void frontend_options_init(struct frontend_options *o);

#endif
