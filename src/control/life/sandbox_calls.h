/* sandbox_calls.h: which system calls the process may make: seccomp of Linux by
 * libseccomp. */
#ifndef PEN_CONTROL_SANDBOX_CALLS_H
#define PEN_CONTROL_SANDBOX_CALLS_H

#include <stdbool.h>

#include "base/error.h"

/* What not every configuration needs. */
enum {
	SANDBOX_FORK = 1,  /* workers */
	/* Direct server return: packets, netlink, bpf. */
	SANDBOX_FRAMES = 2,
	/* Listeners, servers, pages at Unix sockets; without them there are
	 * only those for datagrams, which reach log daemons. */
	SANDBOX_UNIX = 4
};

/* From now on other system calls fail; with `tries` nothing fails, and the
 * kernel logs them. Returns 0, or -1 with a short message. */
int sandbox_calls_enter(bool tries, unsigned needs, struct error *e);
/* Writes the version of libseccomp; "" without it. */
enum { SANDBOX_VERSION_MAX = 40 };
void sandbox_calls_library_version(char text[SANDBOX_VERSION_MAX]);

#endif
