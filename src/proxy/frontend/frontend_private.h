/* frontend_private.h: the whole of a frontend, for its own files. What serves
 * clients sees its core (frontend_core.h). */
#ifndef PEN_PROXY_FRONTEND_PRIVATE_H
#define PEN_PROXY_FRONTEND_PRIVATE_H

#include "net/listener.h"
#include "net/sock_group.h"
#include "proxy/core/frontend_core.h"
#include "proxy/datagram/flow.h"
#include "proxy/dns/dns.h"
#include "proxy/frontend/dummy.h"
#include "proxy/frontend/frontend.h"
#include "proxy/session/session.h"

/* What is to become of a listener while they are moved. */
enum disposition { DISPOSITION_STAYS, DISPOSITION_COMES, DISPOSITION_GOES };

struct frontend_listener {
	struct list link;
	struct listener listener;
	struct frontend_address address;
	enum disposition disposition;
	bool covered;	  /* another process will have it again */
	struct task task; /* frees it */
};

/* The walk that ends what servers that are down still have. */
struct frontend_cut {
	struct task task;
	struct id_walk sessions, flows;
};

struct frontend {
	struct frontend_core core;
	struct list listeners;	     /* struct frontend_listener */
	struct socket_set *sockets;  /* of the process; NULL: none */
	bool paused; /* all of them are, by frontend_pause() */
	unsigned members; /* of the group of each listener; 1: it is alone */
	enum sock_group_by by; /* how clients are dealt out to these */
	bool takes_over; /* from another process, which still has the clients */
	unsigned parts;	  /* of several processes, each has one; 1: all */
	struct frontend_cut cut;
	struct sessions sessions;
	struct flows flows;
	struct dns dns;
	struct dummies dummies;
};

/* frontend_group.c: opens the siblings of a listener that was just opened, and
 * closes them. Returns 0, or -1 with a full message. */
int frontend_group_open(struct frontend *f, struct frontend_listener *fl,
    const struct sock_listen_options *o, struct error *e);
void frontend_group_close(struct frontend_listener *fl);
/* frontend_listen.c: how sockets of this address are opened. */
struct sock_listen_options frontend_listen_options(
    const struct frontend *f, const struct frontend_address *a);
/* A process alone serves all sockets at an address that it has inherited: opens
 * a listener for each that is left. Returns 0, or -1 with a full message. */
int frontend_listen_rest(
    struct frontend *f, const struct frontend_address *a, struct error *e);
/* Sets what the socket of a listener for datagrams needs besides. */
void frontend_prepare_datagrams(
    const struct frontend *f, int fd, const struct frontend_address *a);

/* The part of a member of the limits that are for all clients. */
void frontend_take_part(
    const struct frontend *f, struct frontend_options *o);

/* For frontend_core.hold and .serves_port. */
void frontend_hold(struct frontend_core *core, bool hold);
bool frontend_serves_port(const struct frontend_core *core, uint16_t port);

/* Sets how many connections the listeners accept at a time, and which socket
 * options those inherit. */
void frontend_tune_listeners(struct frontend *f);

#endif
