/* inspect_linux.h: facts about a machine that only Linux has. */
#ifndef PEN_DSR_INSPECT_LINUX_H
#define PEN_DSR_INSPECT_LINUX_H

#include "dsr/inspect/inspect.h"

/* Offloads, rights, forwarding, routes, the peer of a veth pair. */
void inspect_linux_read(
    struct inspect_machine *m, const struct inspect_request *w);

#endif
