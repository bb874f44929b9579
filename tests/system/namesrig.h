/* namesrig.h: pen before servers that it finds by the name "web.test": two of
 * them, with the same port, at 127.0.0.1 and 127.0.0.2, which say "one" and
 * "two". The name leads to the first one. */
#ifndef PEN_TEST_NAMESRIG_H
#define PEN_TEST_NAMESRIG_H

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"

#define NAME "web.test"

struct names_rig {
	struct nameserver names;
	struct backend one, two;
	struct spot front, ctl;
	struct pen pen;
};

/* All but pen. */
void names_rig_begin(struct names_rig *r);
/* "web.test:PORT" */
const char *names_rig_server(const struct names_rig *r);
/* Starts pen, which looks names up that often, in seconds. */
void names_rig_start(struct names_rig *r, const char *interval);
/* How often pen has said it. */
int names_rig_said(const struct names_rig *r, const char *what);
void names_rig_end(struct names_rig *r);

#endif
