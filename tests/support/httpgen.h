/* httpgen.h: streams of requests by dice, by the same number the same ones:
 * right ones, and such that one thing was done to. */
#ifndef PEN_TEST_HTTPGEN_H
#define PEN_TEST_HTTPGEN_H

#include <stddef.h>
#include <stdint.h>

enum { HTTPGEN_MAX = 16 * 1024 };

struct httpgen {
	char bytes[HTTPGEN_MAX];
	size_t length;
	const char *what; /* what was done to it; "right": nothing */
};

void httpgen_make(struct httpgen *g, uint64_t number);

#endif
