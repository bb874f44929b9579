/* stream.h: long random streams both ways at once over one socket, with random
 * sizes and pauses; every byte that arrives is compared. */
#ifndef PEN_TEST_STREAM_H
#define PEN_TEST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stream_plan {
	uint64_t out_seed, in_seed; /* see pattern.h */
	uint64_t out_bytes, in_bytes;
	bool end_last;	   /* hold the FIN until the other's has come */
	unsigned pause_ms; /* longest pause, at most every 64 KiB; 0: none */
	unsigned pause_of; /* one in so many pieces has a pause; 0: 4 */
};

/* What is not a plain socket: as recv(2) and send(2) that do not block. */
struct stream_io {
	ssize_t (*read)(void *arg, void *bytes, size_t n);
	/* Refused bytes come again, the same and no fewer. */
	ssize_t (*write)(void *arg, const void *bytes, size_t n);
	/* No more will be sent; -1 with errno, EAGAIN: not yet. */
	int (*finish)(void *arg);
	/* Is there something to read that the socket does not tell of? */
	bool (*has_more)(void *arg);
};

/* Sends and receives until both directions have ended with a FIN, without
 * ck_assert. Returns NULL, or what went wrong: a constant string. */
const char *stream_run(int fd, const struct stream_plan *plan);
/* The same over something else on that socket. */
const char *stream_run_by(const struct stream_io *io, void *arg, int fd,
    const struct stream_plan *plan);

#endif
