/* names_fixture.h: pen before servers that it finds by the name "web.test": two
 * of them, with the same port, at 127.0.0.1 and 127.0.0.2, which say "one" and
 * "two". The name leads to the first one. */
#ifndef PEN_TEST_NAMES_FIXTURE_H
#define PEN_TEST_NAMES_FIXTURE_H

#include "support/backend.h"
#include "support/nameserver.h"
#include "support/penrun.h"

#define NAME "web.test"

struct names_fixture {
	struct nameserver names;
	struct backend one, two;
	struct endpoint front, ctl;
	struct pen pen;
};

/* All but pen. */
void names_fixture_begin(struct names_fixture *r);
/* "web.test:PORT" */
const char *names_fixture_server(const struct names_fixture *r);
/* "web.test*:PORT" */
const char *names_fixture_all(const struct names_fixture *r);
/* The option without which root may not open a control socket on TCP. */
const char *names_fixture_user(void);
/* Starts pen, which looks names up that often, in seconds. */
void names_fixture_start(struct names_fixture *r, const char *interval);
/* How often pen has said it. */
int names_fixture_said(const struct names_fixture *r, const char *what);
/* Whether the servers have these addresses, in the order of their numbers;
 * NULL: that one has none, or is not there. */
bool names_fixture_has(const struct names_fixture *r, const char *first,
    const char *second, const char *third);
void names_fixture_end(struct names_fixture *r);

#endif
