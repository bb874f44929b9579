/* own_address.h: an address of a server that is pen itself. */
#ifndef PEN_CONTROL_OWN_ADDRESS_H
#define PEN_CONTROL_OWN_ADDRESS_H

#include "control/value/spec.h"

/* Whether packets to a server reach a listener of pen, however the address is
 * written. Port 0 of a server is the port that the client came to: any of
 * `clients`. */
bool own_address_is(const struct frontend_address *l,
    const struct listen_list *clients, const struct addr *server);

#endif
