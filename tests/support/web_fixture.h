/* web_fixture.h: pen with a server, and its pages, as monitoring and strangers
 * get them. */
#ifndef PEN_TEST_WEB_FIXTURE_H
#define PEN_TEST_WEB_FIXTURE_H

#include "support/backend.h"
#include "support/penrun.h"
#include "support/endpoint.h"

struct web_fixture {
	struct backend back; /* server 0: says "served" */
	struct endpoint front, web, ctl;
	struct pen pen;
};
extern struct web_fixture web_fixture;

/* Starts both, with one setting more. */
void web_fixture_begin(const char *more, const char *value);
void web_fixture_end(void);

/* The answer of a command. */
const char *web_fixture_command(const char *line);
/* Servers 1 to n - 1, of no use. */
void web_fixture_add_servers(int n);

/* The whole answer of a path. */
const char *web_fixture_get(const char *path);
/* The same with lines of the request's header, from pages elsewhere. */
const char *web_fixture_get_from(
    const struct endpoint *at, const char *path, const char *header);
void web_fixture_expect_status(const char *path, int status);
/* Fails the test when `what` is not in it. */
void web_fixture_expect_in(const char *got, const char *what);
/* Resident memory in kB has grown by no more than `most`; builds that change
 * its sizes find leaks in their own way. */
void web_fixture_expect_growth(long before, long most);

#endif
