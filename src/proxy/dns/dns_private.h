/* dns_private.h: the inside of DNS, for dns.c (queries), dns_ask.c (a query at
 * a server) and dns_socket.c (sockets to servers, and failures that they
 * see). */
#ifndef PEN_PROXY_DNS_PRIVATE_H
#define PEN_PROXY_DNS_PRIVATE_H

#include "proxy/core/frontend_core.h"
#include "proxy/dns/dns.h"

/* One of the sockets to a server. A retired one waits for its last answers. */
struct dns_socket {
	struct dns *dns;
	struct server *server;
	unsigned generation; /* of the server */
	struct watch watch;
	struct addr at;
	int fd;
	size_t queue; /* bytes of its receive buffer; 0: the system's */
	uint64_t number;
	uint64_t opened;   /* ms */
	unsigned sent;	   /* queries so far */
	unsigned awaiting; /* answers */
	bool retired;
	uint8_t alone; /* dgram_receive_answers() */
	struct task free_task;
};

struct dns_key {
	uint64_t socket;
	uint64_t id;
};

/* A query at a server, whose answer it awaits. */
struct dns_ask {
	struct hash_table_link link;
	struct list of_query;
	struct dns_key key;
	struct dns_query *query;
	struct dns_socket *socket; /* NULL: not in use */
	struct server *server;
	uint64_t sent; /* ms */
	uint64_t sent_us;
	bool late;     /* dns_retry has expired: the server is silent */
};

struct dns_query {
	struct list order;
	struct expiry expiry;
	struct dns *dns;
	struct listener *listener;
	struct dgram_local local;
	struct peer who;
	struct attempts attempts;
	struct list asks;     /* the newest comes last */
	struct dns_ask first; /* of them; more are allocated */
	uint64_t came, asked; /* ms: it came; it was sent to the newest
			       * server */
	uint64_t came_us;
	bool all_asked;	      /* no other server is to be tried */
	uint16_t id;	      /* the client's */
	size_t n, end;	      /* bytes; where the question ends */
	struct addr *client;  /* after the message, in the same memory */
	char message[];
};

/* ---- dns_ask.c ---- */

/* Sends the query to a server. Returns 0, or -1 with errno: then nothing has
 * changed. */
int dns_ask(struct dns_query *q, struct server *server);
/* The query that waits for the answer with that id on that socket, or NULL. */
struct dns_ask *dns_ask_find(struct dns *d, const struct dns_key *key);
/* The answer is no longer awaited, and the server no longer counts it. */
void dns_ask_end(struct dns_ask *a);
void dns_asks_end(struct dns_query *q);

/* Returns an unpredictable number of DNS_DRAWN bits: the low ones for the
 * socket, and those above for the id. */
enum { DNS_ID_BITS = 16, DNS_DRAWN = 20 };
uint32_t dns_draw(struct dns *d);

/* ---- sockets ---- */

/* Returns one of the sockets to the server, by the low bits of a drawn number,
 * or NULL with errno. */
struct dns_socket *dns_socket_to(
    struct dns *d, struct server *server, uint32_t drawn);
/* Take and drop a reference to the socket, one for each answer it awaits. A
 * retired socket is closed with its last reference. */
void dns_socket_hold(struct dns_socket *s);
void dns_socket_let_go(struct dns_socket *s);
/* Callback of its watch, in dns.c: answers, or an error, can be read. */
void dns_on_answers(struct watch *w, unsigned ready);
/* Retires the sockets to servers that are gone. */
void dns_sockets_adjust(struct dns *d);
/* Retires all sockets. */
void dns_sockets_retire(struct dns *d);

/* ---- results of sockets ---- */

/* A result of a socket is ignored when its server was replaced since.
 * `well`: the answer was neither SERVFAIL nor REFUSED. */
void dns_server_answered(const struct dns_socket *s, bool well);
/* A query that was sent at that time (ms) was not answered in time. That is a
 * failure of the server only if it has answered nothing since: a name that
 * takes long is none, however often it is queried. It has failed after udp_fail
 * of them in a row that last `timeout` or longer. */
void dns_server_silent(const struct dns_socket *s, uint64_t sent);
/* The server's address refuses: what is sent, or its socket. The next one is
 * tried from now on. The server has failed when all its addresses have refused,
 * and two refusals came since its last answer: a single one may be forged.
 * Returns whether the query may go to the same server once more. */
bool dns_server_refused(struct dns *d, struct server *s, int error);
/* The address of that socket refused a query. Returns the same of all queries
 * on the socket. */
bool dns_socket_refused(const struct dns_socket *s, int error);

#endif
