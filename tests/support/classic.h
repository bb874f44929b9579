/* classic.h: classic Pen, as Debian packs it, beside ours: two balancers with
 * the same options before servers that the test chooses. */
#ifndef PEN_TEST_CLASSIC_H
#define PEN_TEST_CLASSIC_H

#include <stdbool.h>

#include "support/child.h"
#include "support/endpoint.h"

struct twin {
	struct child child;
	struct endpoint front, ctl;
};

/* Is Debian's package of Pen 0.34.1 installed? */
bool classic_is_there(void);
/* Each with its own front and control socket; lists end with NULL. Return when
 * it listens. Classic Pen does not run as root: it becomes nobody. */
void twin_start_ours(
    struct twin *t, const char *const options[], const char *const servers[]);
void twin_start_classic(
    struct twin *t, const char *const options[], const char *const servers[]);
void twin_stop(struct twin *t);

#endif
