/* rights.h: what the process may do beyond its user's own. */
#ifndef PEN_CONTROL_RIGHTS_H
#define PEN_CONTROL_RIGHTS_H

#include <stdbool.h>

#include "base/error.h"

/* Gives up all capabilities for good (capabilities(7)), also what a program
 * that is executed could bring; the user remains, and owns its files as before.
 * Nothing on systems that have none. Returns 0, or -1 with a full message. */
int rights_drop(struct error *e);

/* Reduces the rights of a process that is root, for good: keeps those that
 * reading its files, binding, `write` and `transparent` need; with `frames` all
 * of them. Has no effect for other users, nor where there are no capabilities.
 * Returns 0, or -1 with a full message. */
int rights_reduce(bool frames, struct error *e);

/* The next change of user loses no capabilities. Returns 0, or -1 with a full
 * message. */
int rights_begin_change(struct error *e);
/* After the change of user: gives up all but CAP_NET_BIND_SERVICE, for ports
 * that a reload adds, and with `transparent` the one that addresses of other
 * hosts need (net/sock_nonlocal.h). The program that takes over may get them,
 * too, but no other program. Returns 0, or -1 with a full message. */
int rights_end_change(bool transparent, struct error *e);
/* While `on`, a program that is started gets what rights_end_change() has
 * left. */
void rights_hand_on(bool on);

#endif
