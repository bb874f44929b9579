/* groups.h: the multicast groups that neighbour solicitations for our IPv6
 * addresses go to. A switch with MLD snooping passes them only to ports that
 * have reported the group, and the kernel reports none for a packet socket.
 *
 *     needed ----> three reports within 2 s --.
 *                                             +--> reported --> left: a leave
 *     query -----> a report within its time --'
 *
 * Reports are those of MLDv2 (RFC 3810), and of MLDv1 (RFC 2710) for some
 * minutes after a query of that version. They come from our link-local address
 * if neighbours use one, else from :: (RFC 3590). IPv4 needs no such thing: ARP
 * requests are broadcast.
 *
 * Pure, as neighbours are, by which frames leave. */
#ifndef PEN_DSR_GROUPS_H
#define PEN_DSR_GROUPS_H

#include "dsr/frame/frame.h"
#include "dsr/segment/neighbor.h"

enum {
	GROUPS_REPORTS = 3, /* of a group that begins to be needed */
	GROUPS_REPORT_MS = 1000,
	GROUPS_V1_MS = 260000, /* after a query of MLDv1 (RFC 3810, 9.12) */
	GROUPS_TICK_MS = 250	/* answers are not later than that */
};

struct group {
	uint8_t ip[16];
	uint64_t due;  /* of the next report; 0: none */
	unsigned left; /* reports that follow without a query */
	bool needed;
};

struct groups {
	/* Set once; it outlives this. Its MAC, tag and address are used. */
	struct neighbors *neighbors;
	/* Private. */
	struct group *list;
	unsigned count;
	uint64_t v1_until;
	uint64_t drawn; /* random numbers */
};

/* Sets the addresses whose groups are needed; IPv4 ones have none. Returns 0,
 * or -1 with errno ENOMEM and some of the groups missing. */
int groups_set(struct groups *g, const struct peer *list, unsigned count,
    uint64_t now);
/* Whatever is there now may have missed the reports: sends them again. */
void groups_renew(struct groups *g, uint64_t now);
/* A query was received, with any tag. */
void groups_on_query(
    struct groups *g, const struct mld_query *q, uint16_t vlan, uint64_t now);
/* Sends reports that are due: to be called every GROUPS_TICK_MS. */
void groups_tick(struct groups *g, uint64_t now);
/* Leaves all. */
void groups_fini(struct groups *g);

#endif
