/* test_control_slow_dns.c: a name that takes its time to be looked up holds up
 * nobody but who asked for it. Without a name server that keeps silent, a name
 * that does not exist must do. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(control_slow_dns)
{
	static const char line[] =
	    "server 1 address slow.host.invalid; blacklist 7\n";
	struct endpoint front, ctl;
	struct backend b;
	struct pen pen;
	const char *answer;
	int slow, i;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-C", ctl.text, front.text, b.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	slow = endpoint_connect(&ctl);
	endpoint_send(slow, line, sizeof(line) - 1);
	for (i = 0; i < 20; i++) {
		ck_assert_str_eq(endpoint_hear(&front), "here");
		ck_assert_str_eq(endpoint_ask(&ctl, "blacklist\n"), "30\n");
	}
	answer = endpoint_recv_all(slow);
	ck_assert_msg(
	    strncmp(answer,
		"error: server \"slow.host.invalid\": ", 35) == 0,
	    "%s", answer);
	ck_assert_str_eq(endpoint_ask(&ctl, "blacklist\n"), "30\n");
	close(slow);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_control_slow_dns)
{
	Suite *s = suite_create("control_slow_dns");

	SUITE_ADD(s, control_slow_dns, 30);
	return s;
}
