/* test_check_dns.c: name servers, real ones, checked by a query. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "system/nameserver.h"

enum { SOON = 20000 };

static struct pen pen;
static struct endpoint front, ctl, at[2];
static struct child server[2];

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

static bool
says(const char *what)
{
	return strstr(ask("checks"), what) != NULL;
}

/* By UDP or TCP; one of two is killed, and back. */
static void
left_out_and_back(enum nameserver kind, const char *how)
{
	static int number; /* no two of a test have the same */
	int i;

	for (i = 0; i < 2; i++) {
		udp_endpoint(&at[i], ENDPOINT_TCP4);
		nameserver_up(&server[i], kind, &at[i], number++);
	}
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "--dns", "-C", ctl.text, "-b", "0", "-O",
	    text("check dns a.test A%s", how), "-O", "check_interval 50ms",
	    "-O", "check_fall 2", front.text, at[0].text, at[1].text, NULL);
	WAIT_FOR(says("0 check dns state up result ok") &&
		says("1 check dns state up result ok"),
	    SOON);
	child_stop(&server[1], SIGTERM);
	WAIT_FOR(
	    child_has_said(&pen.child, "server down server=1 name=127"), SOON);
	/* While it ends, it may be silent first. */
	WAIT_FOR(says("1 check dns state down result failed") &&
		says("reason Connection refused"),
	    SOON);
	nameserver_up(&server[1], kind, &at[1], number++);
	WAIT_FOR(child_has_said(&pen.child, "server up server=1"), SOON);
	/* a name that is not there; a type that it has not */
	ask(text("check dns nothing.test%s", how));
	WAIT_FOR(says("reason NXDOMAIN"), SOON);
	ask(text("check dns a.test SRV%s", how));
	WAIT_FOR(says("reason NOERROR without a record"), SOON);
	ask(text("check dns nothing.test nxdomain%s", how));
	WAIT_FOR(says("1 check dns state up"), SOON);
	/* more than fits into a datagram */
	ask(text("check dns big.test TXT%s", how));
	WAIT_FOR(says("result ok") && says("reason NOERROR"), SOON);
	pen_down(&pen);
	child_stop(&server[0], SIGTERM);
	child_stop(&server[1], SIGTERM);
}

START_TEST(unbound)
{
	NEED_PROGRAM(nameserver_program(NAMESERVER_UNBOUND));
	left_out_and_back(NAMESERVER_UNBOUND, "");
	left_out_and_back(NAMESERVER_UNBOUND, " tcp");
}
END_TEST

START_TEST(others)
{
	enum nameserver kind = (enum nameserver)_i;

	NEED_PROGRAM(nameserver_program(kind));
	left_out_and_back(kind, "");
}
END_TEST

SUITE(test_check_dns)
{
	Suite *s = suite_create("check_dns");
	TCase *each = tcase_create("others");

	SUITE_ADD(s, unbound, 60);
	tcase_set_timeout(each, 60);
	tcase_add_loop_test(each, others, NAMESERVER_NSD, NAMESERVER_KINDS);
	suite_add_tcase(s, each);
	return s;
}
