/* own_servers.h: servers that would be pen itself: a listening address of their
 * service or one that leads back to it (see circles.h), or a control socket.
 * Each client would come to pen again, for ever, or could command it.
 *
 *     start, command, reload    such a server is an error
 *     name looked up again      such an address is left out: the server has
 *                               the others, or keeps those that it had
 *
 * With direct server return frames go elsewhere. */
#ifndef PEN_CONTROL_OWN_SERVERS_H
#define PEN_CONTROL_OWN_SERVERS_H

#include "base/error.h"
#include "control/apply/names.h"
#include "pool/server/server.h"

struct apply;

enum { OWN_TITLE_MAX = 32 };

/* "server 3", or what the special ones are called. Returns `text`. */
const char *own_server_title(unsigned slot, char text[OWN_TITLE_MAX]);

/* Whether none of `found` is pen itself, for the server that the draft has in
 * the slot. Addresses that it has in force already are not checked again, so
 * that no unrelated change is an error. Returns 0, or -1 with a full
 * message. */
int own_servers_check(const struct apply *a, unsigned slot,
    const struct server_addrs *found, struct error *e);

/* The name in the slot has been looked up again: takes out of `found` what is
 * pen itself, and makes it what the server has if nothing is left. Logs the
 * first time. */
void own_servers_exclude(
    const struct apply *a, unsigned slot, struct server_addrs *found);

/* The same for a server that stands for all addresses of a name: sets
 * own[i] for each address that is pen itself. Returns whether there are
 * others. */
bool own_servers_find(const struct apply *a, unsigned slot,
    const struct resolved *r, bool own[RESOLVE_MAX]);

/* Whether names of the service were looked up again for this apply. */
bool own_servers_are_looked_up(const struct apply *a);

#endif
