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

#include "control/apply.h"

struct refresh;

/* Looks up nothing until refresh_start(). `p` outlives it, and its loop and
 * resolver do. NULL with errno ENOMEM. */
struct refresh *refresh_new(struct pen *p);
/* Cancels what is under way; NULL is fine. */
void refresh_free(struct refresh *r);
/* The next lookup comes after the interval that the plan in force has; 0:
 * never. */
void refresh_start(struct refresh *r);

/* The draft may have another interval; see apply.h. */
void refresh_commit(struct apply *a);

#endif
