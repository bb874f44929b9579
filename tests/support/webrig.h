/* webrig.h: pen with a server, and its pages, as monitoring and strangers get
 * them. */
#ifndef PEN_TEST_WEBRIG_H
#define PEN_TEST_WEBRIG_H

#include "support/backend.h"
#include "support/penrun.h"
#include "support/spot.h"

struct webrig {
	struct backend back; /* server 0: says "served" */
	struct spot front, web, ctl;
	struct pen pen;
};
extern struct webrig webrig;

/* Starts both, with one setting more. */
void webrig_begin(const char *more, const char *value);
void webrig_end(void);

/* The answer of a command. */
const char *webrig_command(const char *line);
/* Servers 1 to n - 1, of no use. */
void webrig_add_servers(int n);

/* The whole answer of a path. */
const char *webrig_get(const char *path);
/* The same with lines of the request's header, from pages elsewhere. */
const char *webrig_get_from(
    const struct spot *at, const char *path, const char *header);
void webrig_expect_status(const char *path, int status);
/* Fails the test when `what` is not in it. */
void webrig_expect_in(const char *got, const char *what);
/* Resident memory in kB has grown by no more than `most`; builds that change
 * its sizes find leaks in their own way. */
void webrig_expect_growth(long before, long most);

#endif
