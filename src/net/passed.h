/* passed.h: descriptors that come along with what is read from a Unix socket
 * (SCM_RIGHTS, unix(7)), in order. */
#ifndef PEN_NET_PASSED_H
#define PEN_NET_PASSED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct iovec;

/* All zero: none have come. */
struct passed {
	int *fd; /* -1: taken */
	uint32_t count, room;
	bool incomplete; /* some were lost: there was no room for them */
};

/* Reads as readv(2) does, but again after EINTR; appends descriptors, which are
 * closed on exec. */
ssize_t passed_receive(
    struct passed *p, int fd, struct iovec *parts, unsigned count);
/* Closes those that were not taken, and is as new. */
void passed_drop(struct passed *p);

#endif
