/* inspectrun.h: pen --check as the director of a fixture of two servers, and
 * what it finds. */
#ifndef PEN_TEST_INSPECTRUN_H
#define PEN_TEST_INSPECTRUN_H

#include "support/child.h"
#include "support/net_fixture.h"

struct inspectrun {
	const struct net_fixture *fixture; /* the test's; up while it runs */
	struct child child;
};

/* A finding, and where its command belongs; NET_FIXTURE_HOME: nowhere. */
struct finding {
	enum net_fixture_place where;
	const char *line; /* begins like this */
};

/* Starts it for both families: each has a VIP and a server. `before` is put in
 * front of the command, `settings` are -O; both end with NULL, or are NULL. */
void inspectrun_start(struct inspectrun *r, const char *const before[],
    const char *const settings[]);
/* The same, and waits for its end. Returns its report, which lives until the
 * test ends. */
const char *inspectrun_check(struct inspectrun *r, const char *const before[],
    const char *const settings[]);

/* The line of a report that begins like this, until the test ends; NULL: there
 * is none. */
const char *inspectrun_line(const char *report, const char *begins);
/* The report has these findings and no others but how frames are moved, and the
 * exit status is theirs, else the test fails; the commands are carried out. */
void inspectrun_mend(const struct inspectrun *r, const char *report,
    const struct finding *list, unsigned n);
#define INSPECTRUN_MEND(run, report, ...)                          \
	do {                                                       \
		const struct finding these[] = { __VA_ARGS__ };    \
		inspectrun_mend((run), (report), these,            \
		    (unsigned)(sizeof(these) / sizeof(these[0]))); \
	} while (0)
/* It says how frames are moved, and has no findings. */
void inspectrun_is_fine(const struct inspectrun *r, const char *report);

#endif
