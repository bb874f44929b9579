/* test_control_close_unused.c: closing connections that are not there changes
 * no count. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(control_close_unused)
{
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	int fd, i;

	NEEDS_ONE_WORKER("the number is of the worker that serves the client");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	for (i = 1; i < 50; i++)
		ck_assert_str_eq(endpoint_ask(&ctl, text("close %d\n", i)),
		    text("Connection %d out of range\n", i));
	ck_assert_str_eq(endpoint_ask(&ctl, "close 4000000000\n"),
	    "Connection 4000000000 out of range\n");
	endpoint_expect_echo(fd, "still here");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "statistics\n"), "sessions 1\n"));
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "close 0\n"), "Forcibly closing connection 0\n");
	endpoint_expect_reset(fd);
	ck_assert_str_eq(
	    endpoint_ask(&ctl, "close 0\n"), "Connection 0 out of range\n");
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "statistics\n"), "sessions 0\n"));
	ck_assert_ptr_nonnull(
	    strstr(endpoint_ask(&ctl, "servers\n"), "conn 0 "));
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_control_close_unused)
{
	Suite *s = suite_create("control_close_unused");

	SUITE_ADD(s, control_close_unused, 30);
	return s;
}
