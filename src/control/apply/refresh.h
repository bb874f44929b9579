/* refresh.h: the names of servers are looked up again from time to time, so
 * that traffic follows their addresses.
 *
 *     every interval: names_look_up() --> addresses differ: apply_plan()
 *                                     --> a name fails: its addresses are kept
 *
 * A server whose addresses change is the same server, and its sessions stay
 * with the addresses that they are connected to. */
#ifndef PEN_CONTROL_REFRESH_H
#define PEN_CONTROL_REFRESH_H

#include <stdint.h>

struct names;
struct pen;
struct refresh;

/* Looks up nothing until refresh_start(). `p` outlives it, and its loop and
 * resolver do. NULL with errno ENOMEM. */
struct refresh *refresh_new(struct pen *p);
/* Cancels what is under way; NULL is fine. */
void refresh_free(struct refresh *r);
/* The next lookup comes after the interval that the plan in force has, or when
 * the first address that was found expires; with an interval of 0 never. */
void refresh_start(struct refresh *r);

/* When names that were looked up at the start have to be again; 0: none
 * were. */
uint64_t refresh_ttl(const struct names *n);

/* The plan in force may have another interval now, or servers that wait for an
 * address; what was found for it may expire sooner. */
void refresh_settle(struct pen *p, const struct names *n);

#endif
