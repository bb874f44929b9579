/* httpref.h: what must come of a stream of requests, by a parser that has
 * nothing in common with pen's: it has the whole stream before it, splits each
 * section into a list of lines and counts fields in it; RFC 9112 and 9110 rule
 * by rule, and none of what they allow to guess. */
#ifndef PEN_TEST_HTTPREF_H
#define PEN_TEST_HTTPREF_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTPREF_MAX = 256 * 1024 };

/* How fields that say who the client is are dealt with. */
struct httpref_adding {
	const char *lines; /* each with its CRLF */
	bool drop_for;	   /* the client's X-Forwarded-For and Forwarded go */
};

struct httpref {
	char out[HTTPREF_MAX]; /* what goes on to the server */
	size_t length;
	unsigned requests; /* of which the header section is right */
	bool wrong;	   /* something is, and nothing behind it goes on */
	bool partial;	   /* the stream ends within something */
	bool waits;	   /* behind CONNECT or Upgrade nothing is read */
	bool over;	   /* the last request was: what follows goes nowhere */
};

void httpref_read(struct httpref *r, const struct httpref_adding *adding,
    const char *bytes, size_t n);

#endif
