/* flow_private.h: the inside of a flow, for flow.c (datagrams and decisions),
 * flow_socket.c (sockets and ports), flow_health.c (who fails) and flow_table.c
 * (which flows there are, and their life). */
#ifndef PEN_PROXY_FLOW_PRIVATE_H
#define PEN_PROXY_FLOW_PRIVATE_H

#include "base/buffer.h"
#include "proxy/flow.h"
#include "proxy/frontend_core.h"

/* What makes a flow; all bytes count. */
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
	unsigned generation;	  /* of the server, when it was chosen */
	unsigned address;	  /* of the server's, where fd goes */
	unsigned addresses_tried; /* without an answer */
	struct attempts attempts;
	int fd;
	int family;    /* of fd */
	struct flow_source *source; /* whose port fd has; NULL: nobody's */
	uint16_t port;
	struct watch watch;
	struct buffer question; /* the last one, until it is answered */
	uint32_t number;
	uint64_t started, active; /* ms */
	uint64_t requests, responses;
	uint64_t up, down; /* bytes */
	bool answered;	   /* since the client's last word */
	bool steady;
	bool introduced; /* the server has had a header */
	bool coalescing; /* its socket may give several datagrams as one */
	bool retired;	 /* its client's next datagram is another flow's */
	struct task free_task;
};

/* Who sent a datagram, and what finds its flow. */
struct arrival {
	struct listener *listener;
	const struct dgram *dgram;
	struct peer who;
	struct flow_key key;
	uint64_t hash; /* of the key */
};

/* The flow of an arrival, or NULL. */
struct flow *flow_find(const struct flows *fs, const struct arrival *a);
/* A listener has had its turn; whether it has read all that was there. */
void flow_turn_over(struct flows *fs, const struct listener *l, bool all);
/* Whether there may be a new one in this turn; false with errno EBUSY when
 * newcomers crowd and have had their share. */
bool flow_may_come(const struct flows *fs);
/* A new one without a server; makes room by ending the idlest when there are
 * too many. NULL with errno ENOMEM or EBUSY. */
struct flow *flow_new(struct flows *fs, const struct arrival *a);
/* Ends it: the socket is closed, the server's connection counted off. */
void flow_end(struct flow *w);
/* It gets no more of its client's datagrams; it ends when the answers to those
 * that it has had are in, or after udp_timeout. */
void flow_retire(struct flow *w);
/* Something came or went: it is the least idle now. */
void flow_touch(struct flow *w);
/* Lets its server go. */
void flow_release(struct flow *w);
/* Ends the idlest but `but`; returns whether there was one. */
bool flow_end_idlest(struct flows *fs, const struct flow *but);

/* Its socket to the server it has. When descriptors or ports are short the
 * idlest flows give theirs. Returns 0, or -1 with errno. */
int flow_open_socket(struct flow *w);
/* Closes it; the server stays its own. */
void flow_hang_up(struct flow *w);
/* Where sockets are bound, as the settings say now. Each returns 0, or -1 with
 * errno ENOMEM and as it was. */
int flow_sources_init(struct flows *fs);
int flow_sources_adjust(struct flows *fs);
/* No flow is left. */
void flow_sources_fini(struct flows *fs);

/* Whether its server is still there, and the one that was chosen. */
bool flow_is_current(const struct flow *w);
/* Another question went out. Returns whether the server has let so many and so
 * old ones go without any answer that it counts as failed. */
bool flow_note_question(struct flow *w);
void flow_note_answer(struct flow *w);
void flow_server_failed(struct flow *w, int error);
/* Nobody is there: returns true when the server has another address to try,
 * else it has failed and is let go. The socket is closed in any case. */
bool flow_refused(struct flow *w, int error);

#endif
