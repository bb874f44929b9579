/* frontend_private.h: the whole of a frontend, for frontend.c and
 * frontend_listen.c. What serves clients sees its core (frontend_core.h). */
#ifndef PEN_PROXY_FRONTEND_PRIVATE_H
#define PEN_PROXY_FRONTEND_PRIVATE_H

#include "net/listener.h"
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
	struct inherited *inherited; /* sockets for them; NULL: none */
	bool paused; /* all of them are, by frontend_pause() */
	struct frontend_cut cut;
	struct sessions sessions;
	struct flows flows;
	struct dns dns;
	struct dummies dummies;
};

/* For frontend_core.hold and .serves_port. */
void frontend_hold(struct frontend_core *core, bool hold);
bool frontend_serves_port(const struct frontend_core *core, uint16_t port);

/* Sets how many connections the listeners accept at a time, and which socket
 * options those inherit. */
void frontend_tune_listeners(struct frontend *f);

#endif
