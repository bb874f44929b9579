/* inspect.h: what a machine and its segment lack for direct server return, and
 * the commands that fix it.
 *
 *     inspect_machine_read() --> facts --> inspect_judge_machine() --> findings
 *     inspect_ask()          --> facts --> inspect_judge_segment() --> findings
 *
 * The first two collect data and change nothing for longer than they take; the
 * judges are pure, and report rows of a table: inspect_finding.c. Commands are
 * Linux's, a line for a shell, or settings of pen's that begin with dsr_; those
 * for another host are marked in the message ("to run there"). */
#ifndef PEN_DSR_INSPECT_H
#define PEN_DSR_INSPECT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/finding.h"
#include "dsr/segment/vip_lock.h"
#include "dsr/segment/who_has.h"

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
	bool shared;	    /* other directors may have the VIPs, too */
	bool fast;	    /* a fast path */
	bool no_flows;	    /* are remembered */
	struct vip_others others;
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
	bool xdp;	   /* a program takes its frames before all others */
	bool no_xdp;	   /* this build has no such links */
	/* With a fast path that is wanted: it is one end of a veth pair, whose
	 * peer does not take what such a program sends, or it is not known
	 * whether it does; */
	bool peer_refuses, peer_unknown;
	char peer[16];			 /* that one; "": it is not here */
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

/* ---- the segment ---- */

enum {
	INSPECT_MACS = 4,	 /* remembered for an address */
	INSPECT_QUESTIONS = 1024 /* servers beyond are not probed */
};

enum inspect_role { INSPECT_VIP, INSPECT_OWN, INSPECT_SERVER };

/* An address, and the hosts that claim it. For VIPs and own addresses there
 * should be none. */
struct inspect_question {
	enum inspect_role role;
	struct peer ip;
	const struct inspect_server *server; /* of that role */
	struct mac mac[INSPECT_MACS];
	unsigned macs;
	/* The system's, to a server that did not answer. */
	struct inspect_route route;
};

struct inspect_segment {
	struct inspect_question *question; /* owned */
	unsigned questions;
	bool asked;	    /* false: nothing of it is known */
	uint16_t vlan;	    /* tag of the segment, as far as is known */
	struct mac mac;	    /* of the interface */
	const char *link;   /* the kind that would open; NULL: none */
	const char *better; /* the best kind, when that is another one */
	bool fast;	    /* it has a fast path, and that was wanted */
	struct error error; /* why that, or any, would not open */
};

/* The questions for what is wanted. Returns 0, or -1 with errno ENOMEM. */
int inspect_segment_init(
    struct inspect_segment *s, const struct inspect_request *w);
void inspect_segment_fini(struct inspect_segment *s);
/* Tries which link would open, and probes by one that takes no frames from a
 * running director: for three seconds at the most, or until all servers have
 * answered and VIPs had their time. First by probes (who_has.h), which no host
 * remembers; then from dsr_ip, if no other host has it, like a director. */
void inspect_ask(struct inspect_segment *s, const struct inspect_request *w);
void inspect_judge_segment(const struct inspect_segment *s,
    const struct inspect_request *w, finding_report_fn *report, void *arg);

/* Pure halves of probing. A question as a frame, `from` an own address or NULL;
 * its length as frame_make_X(). */
size_t inspect_make(unsigned char *out, size_t room,
    const struct inspect_segment *s, const struct inspect_question *q,
    const struct peer *from);
/* Notes the MAC of a host that claims an address. */
void inspect_hear(struct inspect_segment *s, const struct frame *f);

#endif
