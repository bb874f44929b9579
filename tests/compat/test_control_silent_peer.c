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
	struct spot front, ctl;
	struct backend b;
	struct pen pen;
	int silent, half;

	backend_start(&b, SPOT_TCP4, backend_say, "here");
	spot_new(&front, SPOT_TCP4);
	spot_new(&ctl, SPOT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(spot_is_listening(&ctl), 5000);
	silent = spot_connect(&ctl);
	half = spot_connect(&ctl);
	spot_send(half, "serv", 4);
	ck_assert_str_eq(spot_hear(&front), "here");
	ck_assert_str_eq(spot_ask(&ctl, "blacklist\n"), "30\n");
	ck_assert_str_eq(spot_hear(&front), "here");
	spot_send(half, "er x\n", 5);
	ck_assert_str_eq(spot_recv_all(half),
	    "error: server: there is no server \"x\" (\"server add x\" makes "
	    "one)\n");
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
