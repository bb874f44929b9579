/* inspect_finding.h: the rows of all that can be found, and how one of them is
 * reported. */
#ifndef PEN_DSR_INSPECT_FINDING_H
#define PEN_DSR_INSPECT_FINDING_H

#include "dsr/inspect/inspect.h"

enum inspect_row {
	/* rights */
	FOUND_NO_RAW, FOUND_NO_BPF,
	/* the interface */
	FOUND_NO_INTERFACE, FOUND_NO_ETHERNET, FOUND_DOWN, FOUND_NO_CARRIER,
	FOUND_MTU_IP6, FOUND_MTU, FOUND_XDP_DIRECTOR, FOUND_XDP_PROGRAM,
	FOUND_PROMISCUOUS, FOUND_LRO, FOUND_GRO, FOUND_RXVLAN,
	/* the fast path */
	FOUND_FAST_NO_XDP, FOUND_FAST_LINK, FOUND_FAST_PEER,
	FOUND_FAST_PEER_AWAY, FOUND_FAST_PEER_UNKNOWN, FOUND_FAST_NO_FLOWS,
	FOUND_FAST_PROGRAM, FOUND_FAST_OTHER_LINK,
	/* addresses of this machine */
	FOUND_OWN_STACK4, FOUND_OWN_STACK6, FOUND_VIP_HERE, FOUND_VIP_ROUTE,
	FOUND_DSR_IP_HERE, FOUND_SERVER_IS_VIP, FOUND_SERVER_HERE,
	FOUND_FORWARDING, FOUND_FORWARDING_VIP,
	/* the link */
	FOUND_LINK, FOUND_LINK_NOT_BEST, FOUND_NO_LINK, FOUND_LINK_LOST,
	/* the segment */
	FOUND_VIP_AT_SERVER4, FOUND_VIP_AT_SERVER6, FOUND_VIP_TAKEN,
	FOUND_VIP_SHARED, FOUND_DSR_IP_AT_SERVER, FOUND_DSR_IP_TAKEN,
	FOUND_SERVER_SILENT, FOUND_SERVER_ELSEWHERE, FOUND_SERVER_TWICE,
	FOUND_SERVERS_ONE_MAC4, FOUND_SERVERS_ONE_MAC6, FOUND_ALL_SILENT,
	FOUND_ALL_SILENT_UNTAGGED,
	FOUND_MANY_SILENT, FOUND_NOT_ASKED, FOUND_ROWS
};

/* The input of a judge; the data that it has is set. */
struct inspect_judge {
	const struct inspect_machine *machine;
	const struct inspect_segment *segment;
	const struct inspect_request *wanted;
	struct finding_writer out;

	unsigned silent; /* servers that did not answer */
};

/* As finding_set(). */
void inspect_set_ip(
    struct inspect_judge *j, const char *name, const struct peer *ip);
void inspect_set_mac(
    struct inspect_judge *j, const char *name, const struct mac *mac);
/* Sets {number}, {name} and {server}, which is "number (name)". */
void inspect_set_server(
    struct inspect_judge *j, const struct inspect_server *s);
/* Reports a row with the values that were set. */
void inspect_say(struct inspect_judge *j, enum inspect_row row);

/* Whether that kind of link is set. */
bool inspect_wants_link(const struct inspect_request *w, const char *kind);

#endif
