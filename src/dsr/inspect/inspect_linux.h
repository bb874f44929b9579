/* inspect_linux.h: what only Linux tells of a machine. */
#ifndef PEN_DSR_INSPECT_LINUX_H
#define PEN_DSR_INSPECT_LINUX_H

#include "dsr/inspect/inspect.h"

/* What only Linux tells: offloads, rights, forwarding, routes. */
void inspect_linux_read(
    struct inspect_machine *m, const struct inspect_request *w);

#endif
