/* test_idle_timeout_large.c: an idle timeout has nothing to do with the size of
 * any table: more seconds than connections or clients fit, it is kept as it was
 * given, and a short one set afterwards fires. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(idle_timeout_large)
{
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-x", "2", "-c", "2", "-C", ctl.text, "-O",
	    "idle_timeout 0.3", front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	ck_assert_str_eq(endpoint_ask(&ctl, "idle_timeout 1000000\n"),
	    "Idle timeout: 1000000 seconds\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "idle_timeout\n"),
	    "Idle timeout: 1000000 seconds\n");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	close(fd);
	/* more seconds than the two connections there is room for */
	ck_assert_str_eq(endpoint_ask(&ctl, "idle_timeout 3\n"),
	    "Idle timeout: 3 seconds\n");
	fd = endpoint_connect(&front);
	endpoint_expect_echo(fd, "x");
	endpoint_expect_end(fd);
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_idle_timeout_large)
{
	Suite *s = suite_create("idle_timeout_large");

	SUITE_ADD(s, idle_timeout_large, 30);
	return s;
}
