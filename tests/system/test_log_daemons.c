/* test_log_daemons.c: the session log beside real programs: rsyslog reads what
 * pen sends, and goes and comes back; logrotate moves files away; the journal's
 * socket gets all fields. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/mounts.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 20000 };

static struct backend back;
static struct endpoint front;
static struct pen pen;
static struct child daemon_;

/* ---- pen ---- */

static void
up(const char *log, const char *more)
{
	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-O", text("session_log %s", log), "-O",
	    more, front.text, back.at.text, NULL);
}

static void
down(void)
{
	pen_down(&pen);
	backend_stop(&back);
}

static void
visit(int times)
{
	while (times-- > 0)
		ck_assert_str_eq(endpoint_hear(&front), "served");
}

/* ---- rsyslog ---- */

static const char rsyslog_conf[] =
    "%s\n"
    "template(name=\"t\" type=\"string\" string=\"%%protocol-version%%|"
    "%%syslogfacility-text%%.%%syslogseverity-text%%|%%hostname%%|"
    "%%programname%%|%%procid%%|%%msgid%%|%%structured-data%%|"
    "%%timereported:::date-rfc3339%%|%%msg%%\\n\")\n"
    "*.* action(type=\"omfile\" file=\"%s\" template=\"t\")\n";

static void
rsyslog_start(const char *input, const char *got)
{
	const char *conf = scratch("rsyslog.conf");

	write_file(conf, text(rsyslog_conf, input, got));
	child_start(&daemon_,
	    (const char *const[]){ child_find("rsyslogd"), "-n", "-f", conf,
		"-i", scratch("rsyslog.pid"), NULL });
}

/* What it has understood of a line: RFC 5424, section 6. */
START_TEST(collector)
{
	const char *got = scratch("got"), *line;
	char host[256] = "";
	struct endpoint at;

	NEED_PROGRAM("rsyslogd");
	NEEDS_ONE_WORKER("lines have the process ID of their worker");
	udp_endpoint(&at, ENDPOINT_TCP4);
	rsyslog_start(text("module(load=\"imudp\")\ninput(type=\"imudp\" "
			   "address=\"%s\" port=\"%d\")",
			  udp_host(&at), at.port),
	    got);
	up(text("syslog:%s", at.text), "retry 1");
	WAIT_FOR((visit(1), file_has(got, "|session|")), SOON);
	down();
	ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
	line = text("1|daemon.info|%s|pen|%ld|session|-|20", host,
	    (long)pen.child.pid);
	ck_assert_msg(file_has(got, line), "no %s in %s", line, contents(got));
	ck_assert_ptr_nonnull(
	    strstr(contents(got), "reason=done client=127.0.0.1:"));
	ck_assert_int_eq(count_in(contents(got), "1|daemon.info|"),
	    count_in(contents(got), "\n"));
	child_stop(&daemon_, SIGTERM);
}
END_TEST

/* It is started again: the lines in between are lost, no client is. */
START_TEST(local_daemon)
{
	static const char input[] =
	    "module(load=\"imuxsock\" SysSock.Name=\"/dev/log\")";
	const char *got[2] = { scratch("got"), scratch("later") };

	NEED_PROGRAM("rsyslogd");
	NEEDS_ONE_WORKER("lines have the process ID of their worker");
	if (suite_is_in_valgrind() || !mounts_devices())
		SKIP("no mounts of one's own here");
	rsyslog_start(input, got[0]);
	WAIT_FOR(
	    endpoint_path_listens("/dev/log") || access("/dev/log", F_OK) == 0,
	    SOON);
	up("syslog", "retry 1");
	WAIT_FOR((visit(1), file_has(got[0], "reason=done")), SOON);
	ck_assert(file_has(got[0],
	    text("|pen|%ld|-|-|20", (long)pen.child.pid)));
	child_stop(&daemon_, SIGTERM);
	WAIT_FOR((visit(1),
		     child_has_said(&pen.child, "session log lines dropped "
						"count=")),
	    SOON);
	rsyslog_start(input, got[1]);
	WAIT_FOR((visit(1), file_has(got[1], "reason=done")), SOON);
	WAIT_FOR((visit(1),
		     child_has_said(&pen.child, "session log resumed "
						"dropped=")),
	    SOON);
	down();
	child_stop(&daemon_, SIGTERM);
}
END_TEST

/* ---- the journal ---- */

START_TEST(journal)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX,
		.sun_path = "/run/systemd/journal/socket" };
	char got[8192] = "";
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (suite_is_in_valgrind() || !mounts_private() ||
	    !mounts_empty("/run", NULL))
		SKIP("no mounts of one's own here");
	ck_assert_int_eq(mkdir("/run/systemd", 0755), 0);
	ck_assert_int_eq(mkdir("/run/systemd/journal", 0755), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	endpoint_set_deadline(fd, SOON);
	up("journal", "retry 1");
	visit(1);
	ck_assert_int_gt(recv(fd, got, sizeof(got) - 1, 0), 0);
	ck_assert_msg(strstr(got,
			  "PRIORITY=6\nSYSLOG_IDENTIFIER=pen\n"
			  "MESSAGE=reason=done client=127.0.0.1:") == got,
	    "%s", got);
	ck_assert_ptr_nonnull(strstr(got, "\nPEN_REASON=done\nPEN_CLIENT="));
	ck_assert_ptr_nonnull(
	    strstr(got, text("\nPEN_SERVER=%s\n", back.at.text)));
	ck_assert_int_eq(got[strlen(got) - 1], '\n');
	down();
	close(fd);
}
END_TEST

/* ---- logrotate ---- */

/* The example as it stands, but for the directories. */
static const char *
rotation(void)
{
	const char *conf = scratch("logrotate.conf");
	const char *source = getenv("SRCDIR");

	ck_assert_int_eq(
	    system(text("sed 's,/var/log/pen/,%s/,; s,/run/,%s/run/,g' "
			"%s/examples/pen.logrotate >%s && chmod 644 %s",
		scratch(""), scratch(""), source != NULL ? source : "..",
		conf, conf)),
	    0);
	return conf;
}

START_TEST(logrotate)
{
	const char *log = scratch("sessions.log"), *conf = rotation();
	const char *old = scratch("sessions.log.1"), *run = scratch("run");

	NEED_PROGRAM("logrotate");
	ck_assert_int_eq(mkdir(run, 0700), 0);
	up(log, text("log_format jsonl"));
	/* where the guide has it */
	ck_assert_int_eq(mkdir(text("%s/pen-http", run), 0700), 0);
	write_file(text("%s/pen-http/pid", run),
	    text("%ld\n", (long)pen.child.pid));
	visit(3);
	WAIT_FOR(count_in(contents(log), "\n") == 3, SOON);
	visit(2);
	ck_assert_int_eq(
	    system(text("%s -f -s %s %s", child_find("logrotate"),
		scratch("state"), conf)),
	    0);
	WAIT_FOR(access(log, F_OK) == 0, SOON);
	visit(4);
	down();
	ck_assert_int_eq(count_in(contents(old), "\"reason\":\"done\""), 5);
	ck_assert_int_eq(count_in(contents(log), "\"reason\":\"done\""), 4);
	ck_assert_int_eq(count_in(contents(log), "\n"), 4);
}
END_TEST

SUITE(test_log_daemons)
{
	Suite *s = suite_create("log_daemons");

	SUITE_ADD(s, collector, 60);
	SUITE_ADD(s, local_daemon, 60);
	SUITE_ADD(s, journal, 60);
	SUITE_ADD(s, logrotate, 60);
	return s;
}
