/* inspectrun.c: the command line of an inspection, and reading its report. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "support/inspectrun.h"
#include "support/suite.h"

void
inspectrun_start(struct inspectrun *r, const char *const before[],
    const char *const settings[])
{
	const char *argv[CHILD_ARGS];
	int i = 0;

	while (before != NULL && before[i] != NULL) {
		argv[i] = before[i];
		i++;
	}
	argv[i++] = getenv("PEN") != NULL ? getenv("PEN") : "./pen";
	argv[i++] = "--check";
	argv[i++] = "-O";
	argv[i++] = "dsr_if eth0";
	while (settings != NULL && *settings != NULL) {
		argv[i++] = "-O";
		argv[i++] = *settings++;
	}
	argv[i++] = NET_FIXTURE_VIP4 ":0,[" NET_FIXTURE_VIP6 "]:0";
	argv[i++] = net_fixture_server4(0);
	argv[i++] = net_fixture_server6(1);
	argv[i] = NULL;
	net_fixture_start(r->fixture, NET_FIXTURE_DIRECTOR, &r->child, argv);
}

const char *
inspectrun_check(struct inspectrun *r, const char *const before[],
    const char *const settings[])
{
	inspectrun_start(r, before, settings);
	child_wait(&r->child, 20000);
	return child_err(&r->child);
}

const char *
inspectrun_line(const char *report, const char *begins)
{
	const char *at = report, *end;
	size_t n = strlen(begins);

	for (; *at != '\0'; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		if (strncmp(at, begins, n) == 0)
			return text("%.*s", (int)(end - at), at);
	}
	return NULL;
}

/* How many there are; lines of the log are none. */
static unsigned
findings(const char *report)
{
	static const char *const levels[] = {
		"note: ", "warning: ", "error: "
	};
	const char *at = report;
	unsigned n = 0, i;

	while (at != NULL && *at != '\0') {
		for (i = 0; i < 3; i++)
			n += strncmp(at, levels[i], strlen(levels[i])) == 0;
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	return n;
}

void
inspectrun_mend(const struct inspectrun *r, const char *report,
    const struct finding *list, unsigned n)
{
	bool wrong = false;
	unsigned i;

	ck_assert_msg(findings(report) == n, "%u findings are not %u:\n%s",
	    findings(report), n, report);
	for (i = 0; i < n; i++) {
		const char *found = inspectrun_line(report, list[i].line);
		const char *mend;

		ck_assert_msg(found != NULL, "not found: %s\nin: %s",
		    list[i].line, report);
		wrong = wrong || strncmp(found, "error: ", 7) == 0;
		mend = strstr(found, "; fix: ");
		if (list[i].where == NET_FIXTURE_HOME)
			continue;
		ck_assert_msg(mend != NULL, "%s", found);
		net_fixture_run(r->fixture, list[i].where, 10000, "sh", "-c",
		    mend + strlen("; fix: "), NULL);
	}
	ck_assert_int_eq(r->child.status, wrong);
}

void
inspectrun_is_fine(const struct inspectrun *r, const char *report)
{
	inspectrun_mend(r, report, NULL, 0);
}
