/* stream.h: long random streams both ways at once over one socket, with random
 * sizes and pauses; every byte that arrives is compared. */
#ifndef PEN_TEST_STREAM_H
#define PEN_TEST_STREAM_H

#include <stdbool.h>
#include <stdint.h>

struct stream_plan {
	uint64_t out_seed, in_seed; /* see pattern.h */
	uint64_t out_bytes, in_bytes;
	bool end_last;	   /* hold the FIN until the other's has come */
	unsigned pause_ms; /* longest pause, at most every 64 KiB; 0: none */
};

/* Sends and receives until both directions have ended with a FIN, without
 * ck_assert. Returns NULL, or what went wrong: a constant string. */
const char *stream_run(int fd, const struct stream_plan *plan);

#endif
