/* test_changed.c: what a draft changes, and which participants of an apply that
 * concerns. That each setting has its effect is in test_each_setting.c. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "control/apply/apply.h"
#include "control/plan/changed.h"
#include "control/plan/table.h"
#include "control/value/value.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *pen;
static uint64_t seen; /* by the last commit */
static unsigned others;

static void
note_changed(struct apply *a)
{
	seen = a->changed & ~CHANGED_DRAFT;
}

static void
note_other(struct apply *a)
{
	(void)a;
	others++;
}

/* Beside the participants that there are, one of all changes, and one of all
 * but those that a server alone depends on. */
static void
begin(struct participant all[64])
{
	unsigned n = 0;

	pen = ask_start();
	for (; pen->participants[n].name != NULL; n++)
		all[n] = pen->participants[n];
	all[n++] = (struct participant){ .name = "seen",
		.since = PHASE_SERVING,
		.service = { .on = CHANGED_ALL, .commit = note_changed } };
	all[n++] = (struct participant){ .name = "others",
		.since = PHASE_SERVING,
		.service = {
		    .on = CHANGED_ALL & ~(CHANGED_SERVER | CHANGED_DRAFT),
		    .commit = note_other } };
	all[n] = (struct participant){ .name = NULL };
	pen->participants = all;
	others = 0;
}

static void
takes(const char *line)
{
	char answer[4096];
	struct error e;

	seen = 0;
	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
}

/* The names of those that `changed` concerns, but the two above. */
static const char *
concerned(uint64_t changed)
{
	const struct participant *who;
	const char *names = "";

	for (who = pen->participants; strcmp(who->name, "seen") != 0; who++)
		if ((who->process.on | who->service.on) & changed)
			names = text("%s%s%s", names,
			    names[0] != '\0' ? ", " : "", who->name);
	return names;
}

/* Whether a server drains is of no interest to TLS, access lists, listeners,
 * logs, routes, warnings. */
static const char drain_concerns[] =
    "process, servers, sockets to servers, peers, tunnels, checks, workers";

START_TEST(a_drain_concerns_few)
{
	struct participant all[64];

	begin(all);
	takes("server 0 drain");
	ck_assert_uint_eq(seen, CHANGED_SERVER);
	ck_assert_str_eq(concerned(seen), drain_concerns);
	ck_assert_uint_eq(others, 0);
	takes("server 0 weight 3");
	ck_assert_uint_eq(seen, CHANGED_SERVER | CHANGED_WEIGHT);
	ck_assert_str_eq(concerned(seen),
	    "process, servers, sockets to servers, peers, tunnels, checks, "
	    "warnings, workers");
	ck_assert_uint_eq(others, 1);
	takes("idle_timeout 7");
	ck_assert_uint_eq(seen, CHANGED_FRONTEND);
	takes("check_interval 7");
	ck_assert_uint_eq(seen, CHANGED_CHECKS);
	takes("on_state /bin/true");
	ck_assert_uint_eq(seen, CHANGED_ON_STATE);
	ck_assert_str_eq(
	    concerned(seen), "process, page and sources, warnings, workers");
	pen_free(pen);
}
END_TEST

/* Those of nearly all changes, of the process and of services. */
static bool
is_general(uint64_t on)
{
	return (on & CHANGED_PROCESS) != 0 && (on & CHANGED_SERVICE) != 0;
}

/* One without would never be called. */
START_TEST(each_part_depends_on_something)
{
	const struct participant *who;

	pen = pen_new();
	for (who = pen->participants; who->name != NULL; who++) {
		ck_assert_msg((who->process.on != 0) ==
			(who->process.check != NULL ||
			    who->process.prepare != NULL ||
			    who->process.commit != NULL),
		    "%s: process", who->name);
		ck_assert_msg((who->service.on != 0) ==
			(who->service.check != NULL ||
			    who->service.prepare != NULL ||
			    who->service.commit != NULL),
		    "%s: service", who->name);
	}
	pen_free(pen);
}
END_TEST

/* Settings that no participant depends on but those of all changes: they are
 * read when they are used, or have an effect only at the start. */
static const char read_in_use[] =
    " resolve_interval start_unresolved resolver conn_max_all log_lines "
    "syslog_facility web_mode web_host web_acl config check print print-all "
    "explain control_acl allow-exit foreground user chroot pid-file workers_by "
    "worker_watchdog spin sandbox fit_file abort_on_error epoll kqueue poll "
    "select";

START_TEST(each_setting_reaches_one)
{
	uint64_t on = 0;
	const struct participant *who;
	const struct command *row;
	const char *names = "";

	pen = pen_new();
	for (who = pen->participants; who->name != NULL; who++) {
		if (!is_general(who->process.on))
			on |= who->process.on;
		if (!is_general(who->service.on))
			on |= who->service.on;
	}
	on &= ~(CHANGED_AT_START | CHANGED_REFERENCES);
	TABLE_EACH (row)
		if (value_is_there(row) && (changed_setting(row) & on) == 0)
			names = text("%s %s", names, row->name);
	ck_assert_str_eq(names, read_in_use);
	pen_free(pen);
}
END_TEST

SUITE(test_changed)
{
	Suite *s = suite_create("changed");

	SUITE_ADD(s, a_drain_concerns_few, 10);
	SUITE_ADD(s, each_part_depends_on_something, 10);
	SUITE_ADD(s, each_setting_reaches_one, 10);
	return s;
}
