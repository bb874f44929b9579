/* services_fixture.h: services s0, s1 and so on, sections of one file, with one
 * server. */
#ifndef PEN_TEST_SERVICES_FIXTURE_H
#define PEN_TEST_SERVICES_FIXTURE_H

#include "support/backend.h"
#include "support/endpoint.h"
#include "support/penrun.h"

enum { SERVICES_MOST = 30 };

struct services_fixture {
	struct backend back; /* server 0 of each: says "served" */
	struct endpoint front[SERVICES_MOST], ctl, web;
	struct pen pen;
	struct child child; /* of services_run() */
	const char *conf;   /* the path of the file */
};
extern struct services_fixture services;

/* Starts the server; chooses all addresses. */
void services_begin(void);
/* The section of a service: lines before `listen` and after its server. */
const char *services_section(int i, const char *before, const char *after);
/* Those of all SERVICES_MOST; `last`: more lines of the last one. */
const char *services_sections(const char *before, const char *last);

/* Runs pen with that option and the file. Returns its standard error. */
const char *services_run(const char *option, int status);
/* Writes the file, and starts pen with a control socket. */
void services_up(const char *file);

#endif
