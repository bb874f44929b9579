/* sock_private.h: what the files of sock.h share: sock.c and sock_listen.c. */
#ifndef PEN_NET_SOCK_PRIVATE_H
#define PEN_NET_SOCK_PRIVATE_H

#include <sys/socket.h>

#include "net/sock.h"

#if !defined(SOCK_NONBLOCK) || !defined(HAVE_ACCEPT4) || !defined(HAVE_PIPE2)
#define SOCK_NEEDS_FLAGS 1
#endif

#ifdef SOCK_NEEDS_FLAGS
/* Makes a descriptor non-blocking and close-on-exec, where no call makes it so.
 * Returns 0, or -1 with errno. */
int sock_set_flags(int fd);
#endif

/* A non-blocking socket, closed on exec. Returns -1 with errno. */
int sock_new(int family, int type);
/* setsockopt() of an int; an option that the system refuses is left as it
 * was. */
void sock_set_int(int fd, int level, int name, int value);
/* Whether a socket that connects to `to`, or is connected, has itself at the
 * far end: the system has chosen the port of a server of this host for its near
 * end, which is only possible while nothing listens there. What is sent would
 * come back (RFC 9293, 3.5, simultaneous open; UDP likewise). `near_ports`: as
 * in struct sock_connect_options; a call is spared for servers below. */
bool sock_is_to_itself(int fd, const struct addr *to, uint16_t near_ports);
/* close() that leaves errno as it was, for the way out after an error. */
void sock_close_quietly(int fd);

#endif
