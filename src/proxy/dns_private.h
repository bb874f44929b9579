/* dns_private.h: the inside of DNS, for dns.c (queries) and dns_socket.c
 * (sockets to servers, and what they tell about them). */
#ifndef PEN_PROXY_DNS_PRIVATE_H
#define PEN_PROXY_DNS_PRIVATE_H

#include "proxy/dns.h"
#include "proxy/frontend_core.h"

/* One of the sockets to a server. A retired one waits for its last answers. */
struct dns_socket {
	struct list link; /* of its server's retired ones */
	struct dns *dns;
	struct server *server;
	unsigned generation; /* of the server */
	struct watch watch;
	struct addr at;
	int fd;
	uint64_t number;
	uint64_t opened;   /* ms */
	unsigned sent;	   /* queries so far */
	unsigned awaiting; /* answers */
	bool retired;
	struct task free_task;
};

/* A number that nobody can foretell. */
uint64_t dns_draw(struct dns *d);

/* ---- sockets ---- */

/* A socket to the server, one of several at random; NULL with errno. */
struct dns_socket *dns_socket_to(struct dns *d, struct server *server);
/* It awaits an answer, or shall stay for another reason; the other one ends
 * that and closes it when it was the last reason. */
void dns_socket_hold(struct dns_socket *s);
void dns_socket_let_go(struct dns_socket *s);
/* Of dns.c: answers, or an error, are there to be read. */
void dns_on_answers(struct watch *w, unsigned ready);
/* Retires the sockets to servers that are gone. */
void dns_sockets_adjust(struct dns *d);
/* No new query uses any of them; all at the end. */
void dns_sockets_retire(struct dns *d);

/* ---- what they tell ---- */

/* A server that took the place of a socket's own is neither praised nor
 * blamed. */
void dns_server_answered(const struct dns_socket *s);
/* A query that was sent at that time (ms) was not answered in time. That
 * counts against the server only if it has answered nothing since: a name that
 * takes it long says nothing about it, however often somebody asks for it. It
 * has failed after udp_fail of them in a row that last `timeout` or longer. */
void dns_server_silent(const struct dns_socket *s, uint64_t sent);
void dns_server_failed(struct dns *d, struct server *s, int error);
/* Nobody is at the address of that socket. The server has failed when nobody
 * is at its others either. Returns whether the queries on the socket may go to
 * the same server once more. */
bool dns_server_refused(const struct dns_socket *s, int error);

#endif
