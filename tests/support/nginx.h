/* nginx.h: real web servers behind pen, each in a scratch directory. */
#ifndef PEN_TEST_NGINX_H
#define PEN_TEST_NGINX_H

#include "support/child.h"
#include "support/endpoint.h"

struct nginx {
	struct child child;
	struct endpoint at;
	const char *root; /* its files; "/" answers `page` */
	const char *listen, *lines;
};

/* Starts one of a single process (so that a kill is its whole end) at a fresh
 * port, and waits until it listens. "/" answers with `page`; files under
 * /files/ can be put and got; "/status" is nginx's own count of requests. */
void nginx_up(struct nginx *n, const char *page);
/* The same with more words at its "listen" and more lines for its server, which
 * live as long as it. */
void nginx_up_with(
    struct nginx *n, const char *page, const char *listen, const char *lines);
/* Starts it again where it was, after a kill. */
void nginx_again(struct nginx *n, const char *page);
void nginx_down(struct nginx *n);
/* Requests served so far, those of this question not counted. */
long nginx_requests(const struct nginx *n);

/* Runs a program with arguments (ended by NULL) to its end, which must be a
 * good one, and returns what it printed. */
const char *run_program(int ms, ...) __attribute__((sentinel));
/* The number that follows `label` in `report`; the test fails without. */
long report_number(const char *report, const char *label);

#endif
