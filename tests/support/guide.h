/* guide.h: a file of examples/guide as somebody has it who follows the guide:
 * pen on a machine of its own, 192.0.2.10, servers 192.0.2.21 and 192.0.2.22, a
 * client 192.0.2.100, all on one segment.
 *
 * The file is used as it is, but that /etc/pen, /run/pen-NAME and /var/log/pen
 * are below the test's scratch directory. */
#ifndef PEN_TEST_GUIDE_H
#define PEN_TEST_GUIDE_H

#include "support/net_fixture.h"
#include "support/penrun.h"

#define GUIDE_PEN    "192.0.2.10"
#define GUIDE_CLIENT "192.0.2.100"
#define GUIDE_SERVER "192.0.2.21" /* the first */

struct guide {
	const char *name; /* of the file, without ".conf" */
	const char *more; /* lines after those of the file; NULL: none */
	struct net_fixture fixture;
	struct pen pen;
};

/* Makes the network, and directories for the file; NULL, or why this machine
 * cannot. With two pens they are 192.0.2.11 and 192.0.2.12, as
 * NET_FIXTURE_DIRECTOR and NET_FIXTURE_DIRECTOR2. */
const char *guide_network(struct guide *g, const char *name, bool two_pens);
#define NEED_GUIDES(g, name, two_pens)                              \
	do {                                                        \
		const char *why = guide_network(g, name, two_pens); \
		if (why != NULL)                                    \
			SKIP(why);                                  \
	} while (0)
#define NEED_GUIDE(g, name) NEED_GUIDES(g, name, false)

/* From now on paths are those of another machine, whose name is part of them;
 * guide_network() begins with "". */
void guide_machine(struct guide *g, const char *machine);
/* What this machine has in its files: pairs of words, the first those of the
 * guide. NULL ends them. */
void guide_differs(const char *const *pairs);

/* Where a path of the guide is in this test. Lives until the test ends. */
const char *guide_path(const char *path);
/* Starts pen with the file, after --check has had nothing to say of it. */
void guide_start(struct guide *g);
/* The same for one more pen, on that machine. */
void guide_start_at(
    struct guide *g, struct pen *pen, enum net_fixture_place where);
/* What the control socket answers. */
const char *guide_ask(struct guide *g, const char *line);
/* The same for a service of a file that has several. */
const char *guide_ask_service(
    struct guide *g, const char *service, const char *line);
/* SIGTERM, and the end of the network. */
void guide_end(struct guide *g);

/* The file's text with paths of this test. */
const char *guide_text(const char *file);
/* The lines that the comments of that file have, indented, behind the paragraph
 * that says `heading`: what is to be written elsewhere. */
const char *guide_quote(const char *file, const char *heading);

/* Waits until a server's checks say "up result ok" of it, "down result failed"
 * and so on. Checks are frequent meanwhile. */
void guide_wait_server(struct guide *g, int number, const char *state);
void guide_wait_service(
    struct guide *g, const char *service, int number, const char *state);
/* Waits until somebody listens there. */
void guide_wait_listen(struct child *c, const char *host, int port);

#endif
