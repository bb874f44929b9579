/* upgrade_start.h: starts the program that takes over, with the descriptors
 * that it needs; PEN_UPGRADE in its environment names them. */
#ifndef PEN_CONTROL_UPGRADE_START_H
#define PEN_CONTROL_UPGRADE_START_H

#include <sys/types.h>

#include "base/error.h"

struct pen;

struct upgrade_child {
	pid_t pid;
	int fd;	      /* to talk to it; non-blocking */
	int error_fd; /* its standard error; non-blocking */
};

/* Returns 0 with both descriptors the caller's, or -1 with a short message.
 * Does not block: memory is not copied. */
int upgrade_start(
    struct pen *p, struct upgrade_child *child, struct error *e);

#endif
