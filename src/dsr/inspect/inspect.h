/* inspect.h: what a machine lacks for direct server return, and the commands
 * that fix it.
 *
 *     inspect_machine_read() --> facts --> inspect_judge_machine() --> findings
 *
 * The first one collects data, sends nothing and changes nothing; the judge is
 * pure, and reports rows of a table: inspect_finding.c. Commands are Linux's, a
 * line for a shell, or settings of pen's that begin with dsr_; those for
 * another host are marked in the message ("to run there"). */
#ifndef PEN_DSR_INSPECT_H
#define PEN_DSR_INSPECT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/finding.h"
#include "dsr/link/link.h"
#include "dsr/segment/who_has.h"

/* The libraries of links and the fast path that this build has. */
void inspect_each_library(
    void (*found)(const char *name, const char *version));

/* ---- the request ---- */

struct inspect_server {
	struct peer ip;
	unsigned number;
	const char *name;
};

/* Pointers are the caller's. Ports do not count. */
struct inspect_request {
	const char *interface;
	const char *link; /* kind; NULL: the best */
	const struct peer *vip;
	unsigned vips;
	struct peer own[2]; /* dsr_ip, IPv4 and IPv6; family 0: none */
	enum link_fast_mode fast;
	bool no_flows;	    /* are remembered */
	const struct inspect_server *server;
	unsigned servers;
};

/* ---- the machine ---- */

enum {
	INSPECT_LRO = 1, /* offloads: merging by the card, by the kernel, */
	INSPECT_GRO = 2,
	INSPECT_RXVLAN = 4 /* tags taken out of frames; not of veth, where
			    * they are not lost */
};

enum {
	INSPECT_RAW = 1,   /* rights: CAP_NET_RAW */
	INSPECT_ADMIN = 2, /* CAP_NET_ADMIN */
	INSPECT_BPF = 4	   /* CAP_BPF, or CAP_SYS_ADMIN */
};

enum inspect_way {
	INSPECT_NO_ROUTE,
	INSPECT_ROUTE, /* to somewhere else */
	INSPECT_LOCAL  /* the machine itself */
};

/* The route that the system has to an address: the most specific net. */
struct inspect_route {
	enum inspect_way way;
	struct peer net;
	unsigned prefix; /* bits */
	char interface[16]; /* it leads through; "": not known */
	bool router;	    /* the next hop is one */
};

/* An address that some interface of the machine has. */
struct inspect_address {
	char interface[16];
	struct peer ip;
	unsigned prefix; /* bits */
};

/* All zero but `exists` is a machine without faults. Families: 0 is IPv4, 1
 * IPv6. */
struct inspect_machine {
	bool exists;
	bool no_ethernet, down, no_carrier, promiscuous;
	unsigned mtu;	   /* 0: not known */
	unsigned offloads; /* that are on */
	unsigned lacks;	   /* rights */
	bool forwards[2];  /* frames of this interface */
	bool ip6_off;	   /* on this interface */
	bool xdp;	   /* a program, not our director's, is attached */
	bool no_xdp;	   /* this build has no fast path, */
	bool no_link;	   /* nor that kind of link */
	/* If a fast path is wanted: it is one end of a veth pair, whose
	 * peer does not take what such a program sends, or it is not known
	 * whether it does; */
	bool peer_refuses, peer_unknown;
	char peer[16];			 /* that one; "": it is not here */
	/* The interface that all default routes of a family lead through; "":
	 * none, or they lead through several. */
	char way[2][16];
	struct peer session; /* the address here by which the operator has
			      * logged in; family 0: not known */
	struct inspect_address *address; /* owned */
	unsigned addresses;
	struct inspect_route *route; /* to each VIP; owned; NULL: not known */
};

/* Fills `m`. Returns 0, or -1 with errno; inspect_machine_free() frees in any
 * case. */
int inspect_machine_read(
    struct inspect_machine *m, const struct inspect_request *w);
void inspect_machine_free(struct inspect_machine *m);
void inspect_judge_machine(const struct inspect_machine *m,
    const struct inspect_request *w, finding_report_fn *report, void *arg);

#endif
