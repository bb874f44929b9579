/* flow_past.h: flows of datagrams that another process served. Their clients
 * keep the servers that they had, and with their sockets their ports there;
 * without, answers to earlier requests still come through that process. */
#ifndef PEN_PROXY_FLOW_PAST_H
#define PEN_PROXY_FLOW_PAST_H

#include "base/addr.h"
#include "net/dgram.h"

struct flows;
struct server;

struct flow_past {
	struct addr client;
	struct addr listener;	   /* the address that clients come to */
	struct dgram_local local;  /* which one of this host that was */
	const struct server *server;
	bool steady; /* its client has spoken again after an answer */

	bool has_socket; /* else another one is to be opened */
	int fd;		 /* owned */
	bool introduced, coalescing, answered; /* as in struct flow */
	uint64_t requests, responses;
};

/* The first flow whose number is not below *from, which becomes the number
 * after it. Those without a server, those that get no more of their clients'
 * datagrams, and those of a frontend that balances each datagram by itself, or
 * whose clients a proxy names with the next one, are left out. With `socket` it
 * has a copy of the flow's socket, if descriptors are left. Returns whether
 * there is one. */
bool flows_export(const struct flows *fs, uint64_t *from, bool socket,
    struct flow_past *past);
/* Another process has got what flows_export() gave: ends the flows whose
 * sockets it has. */
void flows_pass(struct flows *fs);

#endif
