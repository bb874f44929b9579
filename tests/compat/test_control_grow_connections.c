/* test_control_grow_connections.c: conn_max grows while connections are open,
 * and all of them, old and new, work. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(control_grow_connections)
{
	enum { FEW = 5, MANY = 300 };
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	int fds[MANY], i;

	NEEDS_ONE_WORKER("each worker has its part of conn_max");
	backend_start(&b, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-x", "5", "-C", ctl.text, front.text,
	    b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	for (i = 0; i < FEW; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "old");
	}
	ck_assert_str_eq(endpoint_ask(&ctl, "conn_max\n"), "5\n");
	ck_assert_str_eq(endpoint_ask(&ctl, "conn_max 400\n"), "400\n");
	for (; i < MANY; i++) {
		fds[i] = endpoint_connect(&front);
		endpoint_expect_echo(fds[i], "new");
	}
	/* it only grows */
	ck_assert_str_eq(endpoint_ask(&ctl, "conn_max 10\n"), "400\n");
	for (i = 0; i < MANY; i++) {
		endpoint_expect_echo(fds[i], "still here");
		close(fds[i]);
	}
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_control_grow_connections)
{
	Suite *s = suite_create("control_grow_connections");

	SUITE_ADD(s, control_grow_connections, 60);
	return s;
}
