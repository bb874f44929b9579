/* defaults.h: "defaults", the section of a file with what services begin with.
 *
 *     defaults             begins a plan that is no service's
 *     idle_timeout 5m
 *     service web          begins with a copy of it
 *     idle_timeout 1h      replaces that value, in this service
 *
 * The next "defaults" replaces it. It ends with the file that is read, and not
 * with one that is included there. As in HAProxy, what is added at run time
 * does not begin with it: no section is in force then. */
#ifndef PEN_CONTROL_DEFAULTS_H
#define PEN_CONTROL_DEFAULTS_H

#include "control/plan/plan.h"
#include "control/value/row.h"

/* The name of the plan, which no service can have. */
#define DEFAULTS_NAME "defaults"

struct defaults {
	/* NULL: no section yet. It stays the same one, because callers refer
	 * to it, and is owned. */
	struct plan *plan;
	char *origin; /* FILE:LINE of the section in force; owned */
	bool used;    /* a service has begun with it */
	/* FILE:LINE where "default", which did not listen yet, has a section
	 * below one; owned. */
	char *first;
};

/* Begins a section; c->plan becomes its plan. Returns 0, or -1 with a short
 * message. */
int defaults_begin(struct call *c, struct error *e);
/* Whether commands of `c` are for the section. */
bool defaults_are_meant(const struct call *c);
/* Whether c->row may stand in the section: settings may, and what begins
 * another one. Returns 0, or -1 with a short message. */
int defaults_check_row(const struct call *c, struct error *e);
/* A service begins, whose plan is new: puts the values of the section there,
 * if there is one. Returns 0, or -1 with errno ENOMEM. */
int defaults_copy(const struct call *c, struct plan *service);
/* A section of "default" follows, which does not begin there: if its listening
 * address is there, it may have been meant to. Returns 0, or -1 with errno
 * ENOMEM. */
int defaults_note_first(const struct call *c);
/* The file was read: warns of what has no effect. */
void defaults_end(const struct call *c);

#endif
