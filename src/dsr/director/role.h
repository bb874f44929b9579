/* role.h: whether a director is active or a standby, since when, and which
 * other host has claimed a VIP. Pure: times are passed in. */
#ifndef PEN_DSR_ROLE_H
#define PEN_DSR_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/segment/who_has.h"

/* All zero: nothing has begun, and no host has claimed a VIP. */
struct role {
	bool standby;
	uint64_t since; /* ms */
	/* The last message of another host with a VIP as its sender: an
	 * announcement of the director that has the VIPs, as a rule. */
	struct mac claimant;
	struct peer claimed; /* that VIP */
	uint64_t claimed_at; /* ms; 0: none */
};

/* Sets the role, active or standby, since `since`; no effect if it is the same.
 * Earlier claims of other hosts no longer count. */
void role_set(struct role *r, bool standby, uint64_t since);
/* A host claims a VIP. */
void role_claim(struct role *r, const struct who_has *m, uint64_t now);
/* "active" or "standby". */
const char *role_name(const struct role *r);

#endif
