/* scripted.h: a server that notes all it hears and says what a script has for
 * it: what comes next when it has heard a text. */
#ifndef PEN_TEST_SCRIPTED_H
#define PEN_TEST_SCRIPTED_H

#include "support/backend.h"

enum { SCRIPTED_MAX = 256 * 1024 };

/* Steps in order, ended by one without `says`. */
struct scripted_step {
	const char *heard; /* behind what was heard before; "": at once */
	const char *says;
};

struct scripted {
	struct backend backend;
	const struct scripted_step *steps;
	pthread_mutex_t lock;
	char bytes[SCRIPTED_MAX]; /* of the last connection */
	size_t length;
	int ended; /* connections that are over */
	bool reset; /* the last one was broken off */
};

/* In memory that a test's threads share: static. */
void scripted_start(struct scripted *s, const struct scripted_step *steps);
void scripted_stop(struct scripted *s);
/* The last connection has heard exactly that, so far. */
bool scripted_has_heard(
    struct scripted *s, const char *bytes, size_t n);
/* Waits for that, fails the test otherwise. */
void scripted_expect(struct scripted *s, const char *what);
/* So many connections are over. */
bool scripted_is_over(struct scripted *s, int connections);

#endif
