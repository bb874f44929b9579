/* passed.h: descriptors that come along with what is read from a Unix socket
 * (SCM_RIGHTS, unix(7)), in order, or are to be sent so. */
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
/* Adds one, which is the list's then; without memory it is closed. */
void passed_add(struct passed *p, int fd);
/* Takes the socket with that number, which sock_inode() has of it. -1: none. */
int passed_take_socket(struct passed *p, uint64_t inode);
/* Sends all of them, at most PASSED_MOST, with bytes to a Unix socket; they
 * stay the list's. Returns how many bytes, or -1 with errno: then none. */
enum { PASSED_MOST = 200 };
ssize_t passed_send(
    const struct passed *p, int fd, const void *bytes, size_t n);
/* Closes those that were not taken, and is as new. */
void passed_drop(struct passed *p);

#endif
