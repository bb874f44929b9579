/* model.h: a second opinion on what a frame is, and frames to have one
 * about. */
#ifndef PEN_TEST_DSR_MODEL_H
#define PEN_TEST_DSR_MODEL_H

#include "dsr/frame/frame.h"

/* The same as frame_parse(), slowly. */
void model_parse(struct frame *f, unsigned char *bytes, size_t length);
/* The same as frame_checksum_ok(). */
bool model_checksum_ok(const struct frame *f);

enum { MADE_MAX = 2048 };

struct made {
	unsigned char bytes[MADE_MAX];
	size_t n;
	size_t net; /* where IP or ARP begins */
	/* What frame_parse() must find, but for `bytes` and `length`. */
	struct frame is;
	bool sum_ok;
};

/* A good frame, by the dice of `seed`. */
void made_frame(struct made *m, uint64_t *seed);
/* Spoils it in one way of many; returns the way's name. What `is` says is no
 * longer so. */
const char *made_spoil(struct made *m, uint64_t *seed);

uint64_t roll(uint64_t *seed);
size_t below(uint64_t *seed, size_t n);

#endif
