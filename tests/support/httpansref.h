/* httpansref.h: what must become of a stream of answers, by a reader that has
 * nothing in common with pen's: it has the whole stream before it, and splits
 * each section into a list of lines; RFC 9112, 2.2, 5.2, 6.3 and 7.1, rule by
 * rule. */
#ifndef PEN_TEST_HTTPANSREF_H
#define PEN_TEST_HTTPANSREF_H

#include <stddef.h>
#include <stdint.h>

#include "support/httpref.h"

enum httpansref_end {
	HTTPANSREF_MORE,    /* all answers so far are complete, or will be */
	HTTPANSREF_CLOSE,   /* the last one lasts until the connection ends */
	HTTPANSREF_TUNNEL,  /* another protocol has begun */
	HTTPANSREF_OVER,    /* nothing follows the last one */
	HTTPANSREF_UNASKED, /* bytes came without a request */
	HTTPANSREF_WRONG    /* what came is no answer, or has no end */
};

struct httpansref {
	char out[HTTPREF_MAX]; /* what goes on to the client */
	size_t length;
	unsigned left; /* requests without a complete answer */
	enum httpansref_end end;
};

/* The kinds of requests are those of http_request.h. */
void httpansref_read(struct httpansref *a, const uint8_t *kinds,
    unsigned requests, const char *bytes, size_t n);

#endif
