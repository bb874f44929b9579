/* inspect_finding.h: the rows of all that can be found, and how one of them is
 * reported. */
#ifndef PEN_DSR_INSPECT_FINDING_H
#define PEN_DSR_INSPECT_FINDING_H

#include "dsr/inspect/inspect.h"

enum inspect_row {
	/* rights */
	FOUND_NO_RAW, FOUND_NO_BPF,
	/* the link */
	FOUND_NO_LINK,
	/* the interface */
	FOUND_NO_INTERFACE, FOUND_NO_ETHERNET, FOUND_DOWN, FOUND_NO_CARRIER,
	FOUND_MTU_IP6, FOUND_MTU,
	FOUND_PROMISCUOUS, FOUND_LRO, FOUND_GRO, FOUND_RXVLAN,
	/* the fast path */
	FOUND_FAST_NO_XDP, FOUND_FAST_LINK, FOUND_FAST_TAKEN, FOUND_FAST_PEER,
	FOUND_FAST_PEER_AWAY, FOUND_FAST_PEER_UNKNOWN, FOUND_FAST_NO_FLOWS,
	/* addresses of this machine */
	FOUND_OWN_STACK4, FOUND_OWN_STACK6, FOUND_OWN_STACK_USED,
	FOUND_VIP_HERE, FOUND_VIP_USED, FOUND_VIP_ROUTE,
	FOUND_DSR_IP_HERE, FOUND_DSR_IP_USED,
	FOUND_SERVER_IS_VIP, FOUND_SERVER_HERE,
	FOUND_FORWARDING, FOUND_FORWARDING_VIP, FOUND_FORWARDING_USED,
	FOUND_ROWS
};

/* The input of a judge; the data that it has is set. */
struct inspect_judge {
	const struct inspect_machine *machine;
	const struct inspect_request *wanted;
	struct finding_writer out;
};

/* finding_set() of an address. */
void inspect_set_ip(
    struct inspect_judge *j, const char *name, const struct peer *ip);
/* Sets {number}, {name} and {server}, which is "number (name)". */
void inspect_set_server(
    struct inspect_judge *j, const struct inspect_server *s);
/* Reports a row with the values that were set. */
void inspect_report(struct inspect_judge *j, enum inspect_row row);

/* Whether that kind of link is set. */
bool inspect_wants_link(const struct inspect_request *w, const char *kind);

#endif
