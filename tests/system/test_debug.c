/* test_debug.c: what -d and -dd show of traffic: who came, which server was
 * chosen and why, and the data, of streams and datagrams. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/child.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct endpoint front, dead, ctl;
static struct pen pen;

static void
expect_line(const char *part)
{
	WAIT_FOR(child_has_said(&pen.child, part), SOON);
}

/* The first server refuses, the second one answers. */
START_TEST(choices_of_sessions)
{
	struct backend back;

	backend_start(&back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&dead, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, _i == 0 ? "-d" : "-f", "-r", front.text, dead.text,
	    back.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "served");
	WAIT_FOR(child_has_said(&pen.child, "reason=done"), SOON);
	if (_i == 0) {
		expect_line("session begins session=");
		expect_line(text("server chosen client=127.0.0.1:"));
		expect_line(text("server=0 name=127.0.0.1 address=%s "
				 "rule=balance passed_over=\"\"",
		    dead.text));
		expect_line(text("server=1 name=127.0.0.1 address=%s "
				 "rule=retry passed_over=\"0 blacklisted\"",
		    back.at.text));
		expect_line(text("server set server=0 %s", dead.text));
	} else {
		ck_assert(!child_has_said(&pen.child, "chosen"));
		ck_assert(!child_has_said(&pen.child, "begins"));
	}
	pen_down(&pen);
	backend_stop(&back);
}
END_TEST

/* Nobody is left: the line says what keeps each of them out. */
START_TEST(no_choice)
{
	int fd;

	endpoint_new(&dead, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-d", "-r", front.text, dead.text, "-O",
	    "server 0 drain", NULL);
	fd = endpoint_connect(&front);
	endpoint_expect_reset(fd);
	close(fd);
	WAIT_FOR(child_has_said(&pen.child, "no server chosen client="), SOON);
	expect_line("passed_over=\"0 drain\"");
	pen_down(&pen);
}
END_TEST

/* Questions and answers, by flows and as DNS queries. */
START_TEST(datagrams)
{
	struct udp_server server;
	int fd;

	udp_server_start(&server, ENDPOINT_TCP4, "a:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "-U", "-dd", "-a", front.text,
	    server.at.text, NULL);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "Question", SOON), "a:Question");
	expect_line("flow begins flow=");
	expect_line("server chosen client=127.0.0.1:");
	expect_line("bytes=8\n");
	expect_line(" at=0 Question\n");
	expect_line(text("from=%s bytes=10\n", server.at.text));
	expect_line(" at=0 a:Question\n");
	close(fd);
	pen_down(&pen);
	udp_server_stop(&server);
}
END_TEST

SUITE(test_debug)
{
	Suite *s = suite_create("debug");

	SUITE_ADD_LOOP(s, choices_of_sessions, 15, 2);
	SUITE_ADD(s, no_choice, 15);
	SUITE_ADD(s, datagrams, 15);
	return s;
}
