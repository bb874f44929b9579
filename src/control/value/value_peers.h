/* value_peers.h: the addresses of peers, and of where they are listened for,
 * each with the file of its key. */
#ifndef PEN_CONTROL_VALUE_PEERS_H
#define PEN_CONTROL_VALUE_PEERS_H

#include <stdbool.h>

#include "base/addr.h"

enum { PEERS_MAX = 16, PEER_FILE_MAX = 1024 };

struct peer_spec {
	struct addr at; /* numeric, with a port */
	char file[PEER_FILE_MAX];
};

/* The next of a value of KIND_PEERS, and moves *rest behind it. `*rest` begins
 * as the value. Returns false after the last one. */
bool peer_spec_next(const char **rest, struct peer_spec *p);

#endif
