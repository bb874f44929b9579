/* test_control_silent_peer.c: a control client that says nothing, or half a
 * line, holds up neither traffic nor other control clients. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(control_silent_peer)
{
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	int silent, half;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	silent = endpoint_connect(&ctl);
	half = endpoint_connect(&ctl);
	endpoint_send(half, "serv", 4);
	ck_assert_str_eq(endpoint_hear(&front), "here");
	ck_assert_str_eq(endpoint_ask(&ctl, "blacklist\n"), "30\n");
	ck_assert_str_eq(endpoint_hear(&front), "here");
	endpoint_send(half, "er x\n", 5);
	ck_assert_str_eq(endpoint_recv_all(half),
	    "error: server: there is no server \"x\" (\"server add x\" adds "
	    "it)\n");
	close(half);
	close(silent);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_control_silent_peer)
{
	Suite *s = suite_create("control_silent_peer");

	SUITE_ADD(s, control_silent_peer, 20);
	return s;
}
