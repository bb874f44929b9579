/* inherit.h: what the process was given by the one that started it: listening
 * sockets, as systemd passes them (sd_listen_fds(3)). */
#ifndef PEN_CONTROL_INHERIT_H
#define PEN_CONTROL_INHERIT_H

#include "net/inherited.h"

/* Adds the descriptors from 3 on that LISTEN_FDS counts, if they are for this
 * process by LISTEN_PID, and removes both and LISTEN_FDNAMES from the
 * environment. What is no listening socket is logged and closed. To be called
 * before a fork and before anything is opened. */
void inherit_sockets(struct inherited *in);

#endif
