/* flow_private.h: the inside of a flow, for flow_arrival.c (datagrams of
 * clients), flow.c (to the server and back), flow_socket.c (sockets and ports),
 * flow_health.c (failures) and flow_table.c (which flows there are, and their
 * life). */
#ifndef PEN_PROXY_FLOW_PRIVATE_H
#define PEN_PROXY_FLOW_PRIVATE_H

#include "proxy/core/frontend_core.h"
#include "proxy/datagram/flow.h"
#include "proxy/datagram/flow_past.h"
#include "proxy/log/dump.h"

/* Identifies a flow. All bytes are compared, so padding is zero. */
struct flow_key {
	uint8_t client[16]; /* address, or a hash of a Unix client's */
	uint8_t local[16];  /* the address it had sent to */
	uint64_t listener;
	uint32_t scope;
	uint32_t server; /* with udp_each; else UINT32_MAX */
	uint16_t port;
	uint16_t family;
	uint32_t zero;
};
enum { FLOW_WORDS = 6 };

struct flow {
	struct hash_table_link link;
	struct flow_key key; /* near the link: looked at together */
	struct list order;   /* of young or steady */
	struct frontend_core *frontend;
	struct listener *listener;
	struct addr *client; /* heap: to answer to */
	struct dgram_local local;
	struct peer who;
	struct server *server;
	struct source *client_source; /* its limits; NULL: none */
	unsigned generation;	  /* of the server, when it was chosen */
	unsigned address;	  /* of the server's, where fd goes */
	unsigned addresses_tried; /* without an answer */
	struct attempts attempts;
	int fd;
	int family;    /* of fd */
	struct flow_source *source; /* whose port fd has; NULL: none */
	uint16_t port;
	uint32_t queue; /* bytes of fd's receive buffer; 0: the system's */
	struct watch watch;
	struct flow_question question; /* the last one, until it is answered */
	uint32_t number;
	uint32_t first_ms; /* until the first answer, and 1; 0: none */
	uint64_t started, active; /* ms */
	uint64_t asked; /* ms: the first word without an answer since */
	uint64_t requests, responses;
	uint64_t up, down; /* bytes */
	bool answered;	   /* since the client's last word */
	bool steady;
	bool introduced; /* the server has had a header */
	bool coalescing; /* its socket may give several datagrams as one */
	uint8_t alone;	 /* dgram_receive_answers() */
	bool retired;	 /* its client's next datagram is another flow's */
	bool passed;	 /* another process has got its socket */
	bool fragments;	 /* flow_permit_fragments() has been */
	struct task free_task;
};

enum flow_entry {
	FLOW_MAY_COME,
	FLOW_TOO_LATE,	   /* the frontend takes no new clients any more */
	FLOW_BEYOND_LIMIT, /* the client's source has as many as it may */
	FLOW_CROWDED_OUT   /* newcomers crowd, and have had their share */
};

/* The sender of a datagram, and the key of its flow. */
struct arrival {
	struct listener *listener;
	const struct dgram *dgram;
	struct peer who;
	struct flow_key key;
	uint64_t hash; /* of the key */
	const struct attempts *tried; /* servers that refused it; NULL: none */
};

/* Returns the flow that the datagram belongs to, or NULL. */
struct flow *flow_find(const struct flows *fs, const struct arrival *a);
/* The first look at a datagram: what finds its flow. */
void flow_meet(struct flows *fs, struct arrival *a, struct listener *l,
    const struct dgram *d);
/* Gives the flow of an arrival, `w` or a new one, a server that was chosen for
 * it. NULL: no memory. */
struct flow *flow_begin(struct flows *fs, const struct arrival *a,
    struct flow *w, struct server *s, const struct attempts *attempts);
/* The flow of a datagram with udp_each, where the server is chosen before the
 * flow is known. NULL: the datagram is dropped, and counted. */
struct flow *flow_of_each(struct flows *fs, struct arrival *a);
/* Sends one datagram of the client to the flow's server, or several of one size
 * that came as one; `segment`: that size, or 0. Tries other servers, counts
 * what is dropped, and ends the flow if no server is left. */
void flow_forward(
    struct flow *w, const char *bytes, size_t n, unsigned segment);
/* Called after a listener's turn; `all`: it has read all datagrams. */
void flow_turn_over(struct flows *fs, const struct listener *l, bool all);
/* Whether a client may have a new flow in this turn. */
enum flow_entry flow_may_come(const struct flows *fs, const struct arrival *a);
/* Makes a flow, of a client that may have one, without a server. When there are
 * too many it ends the idlest to make room. NULL: no memory. */
struct flow *flow_new(struct flows *fs, const struct arrival *a);
/* Ends the flow: closes its socket and releases its server. */
void flow_end(struct flow *w, enum reason why);
/* Gives the flow no more of its client's datagrams. It ends when the answers to
 * those it has had are in, or after udp_timeout. */
void flow_retire(struct flow *w);
/* A datagram came or went: the flow is the least idle one now. */
void flow_touch(struct flow *w);
/* Releases its server, which no longer counts the flow. */
void flow_release(struct flow *w);
/* Ends the idlest flow except `but`. Returns whether there was one. */
bool flow_end_idlest(struct flows *fs, const struct flow *but);
/* Chooses for a client that has no server. While those that may serve it are
 * only at their limits, flows give way that have their answer and whose clients
 * have never sent more after one. */
struct server *flow_choose(
    struct flows *fs, const struct arrival *a, struct attempts *attempts);

/* Opens the flow's socket to its server. When descriptors or ports are short,
 * the idlest flows are ended for it. Returns 0, or -1 with errno. */
int flow_open_socket(struct flow *w);
/* Takes over the socket that another process had for it, if it is connected to
 * its server; else closes it. */
void flow_import_socket(struct flow *w, const struct flow_past *past);
/* A datagram may be longer than the path MTU, if that is not to be discovered
 * (udp_pmtu): routers may fragment it. Those of IPv6 fragment nothing. */
void flow_permit_fragments(struct flow *w);
/* Waits for answers at its socket. Returns 0, or -1 with errno. */
int flow_watch(struct flow *w);
/* Closes the socket; the flow keeps its server. */
void flow_hang_up(struct flow *w);
/* Take over the source addresses of the settings. Return 0, or -1 with errno
 * ENOMEM; then nothing has changed. */
int flow_sources_init(struct flows *fs);
int flow_sources_adjust(struct flows *fs);
/* Frees them; no flow is left. */
void flow_sources_fini(struct flows *fs);

/* Whether the server, whose name has other addresses by now, still has that of
 * the flow; then the flow goes on with it. */
bool flow_find_address(struct flow *w);
/* Whether its server is present, and still the one that was chosen, be it with
 * more addresses than then. */
static inline bool
flow_is_current(struct flow *w)
{
	return w->server->present &&
	    (w->server->generation == w->generation || flow_find_address(w));
}
/* Whether its server, which checks have marked down, answers the flow all the
 * same: since then, and within `timeout` to the client's last words. */
bool flow_is_served(const struct flow *w);
/* Notes a question to the server. Returns whether the server has failed: it has
 * answered none of so many questions, sent over so long a time. */
bool flow_note_question(struct flow *w);
void flow_note_answer(struct flow *w);
void flow_server_failed(struct flow *w, int error);
/* The server's address refused the datagram: closes the socket. Returns true
 * when the server is to be tried again: it has another address, or refused for
 * the first time since it answered; else the server has failed and is
 * released. */
bool flow_refused(struct flow *w, int error);

#endif
