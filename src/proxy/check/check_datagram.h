/* check_datagram.h: a check by one datagram and what comes back. As any of the
 * two may be lost, it is sent once more when half of the time is over; with
 * udp_proxy it has the header that others have, for a client of pen itself, but
 * for one to a port only for checks.
 *
 * The first member of the state of a kind that uses it; the kind's stop() is
 * check_datagram_stop(), or calls it. */
#ifndef PEN_PROXY_CHECK_DATAGRAM_H
#define PEN_PROXY_CHECK_DATAGRAM_H

#include "proxy/check/check.h"

struct check_question {
	const void *bytes; /* stay valid */
	size_t n;
	/* A datagram came from the server; it is gone after the call. */
	void (*on_answer)(struct check *c, const char *bytes, size_t n);
};

struct check_datagram {
	/* Private. */
	struct check *check;
	struct check_question question;
	struct watch watch;
	struct timer again;
};

/* A server that has no socket there refuses: its host reports it by ICMP. */
void check_datagram_start(struct check *c, const struct check_question *q);
void check_datagram_stop(struct check *c);

#endif
