/* test_check_udp.c: servers of datagrams checked by a datagram. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 20000 };

static struct pen pen;
static struct endpoint front, ctl;
static struct udp_server a, b;

static const char *
ask(const char *command)
{
	return endpoint_ask(&ctl, text("%s\n", command));
}

/* Each answers "a:" or "b:" and what came. */
START_TEST(left_out_and_back)
{
	struct endpoint at;
	int client, i;

	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	at = b.at;
	pen_up(&pen, &ctl, "-U", "-r", "-b", "0", "-C", ctl.text, "-O",
	    "check udp 70696e67 expect ..3a70696e67", "-O",
	    "check_interval 50ms", "-O", "check_fall 2", front.text, a.at.text,
	    b.at.text, NULL);
	WAIT_FOR(
	    strstr(ask("checks"), "1 check udp state up result ok"), SOON);
	udp_server_stop(&b);
	WAIT_FOR(child_has_said(&pen.child,
		     "reason=\"check udp: Connection refused\" prev=up"),
	    SOON);
	for (i = 0; i < 4; i++) {
		client = udp_client(&front);
		ck_assert_str_eq(udp_ask(client, "x", 5000), "a:x");
		close(client);
	}
	/* one that answers something else stays out */
	udp_server_start_at(&b, &at, "wrong:");
	WAIT_FOR(
	    strstr(ask("checks"),
		"reason timed out waiting for the expected answer"),
	    SOON);
	udp_server_stop(&b);
	udp_server_start_at(&b, &at, "b:");
	WAIT_FOR(child_has_said(&pen.child, "server up server=1"), SOON);
	pen_down(&pen);
	udp_server_stop(&a);
	udp_server_stop(&b);
}
END_TEST

static unsigned long
next_ms(void)
{
	const char *at = strstr(ask("checks"), " next_ms ");

	ck_assert_ptr_nonnull(at);
	return strtoul(at + strlen(" next_ms "), NULL, 10);
}

/* Its answers to clients are enough. */
START_TEST(lazy_while_clients_are_answered)
{
	unsigned long before, next;
	int client, asked = 1;

	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", "check_lazy",
	    front.text, a.at.text, NULL);
	client = udp_client(&front);
	ck_assert_str_eq(udp_ask(client, "x", 5000), "a:x");
	ask("check_interval 3; check udp 78 expect 61");
	next = next_ms();
	do {
		before = next;
		ck_assert_str_eq(udp_ask(client, "x", 5000), "a:x");
		asked++;
		next = next_ms();
	} while (next <= before);
	ck_assert_int_eq(a.received, asked);
	close(client);
	pen_down(&pen);
	udp_server_stop(&a);
}
END_TEST

/* Where datagrams come in they go to such a socket: no check connects to it. */
START_TEST(unix_socket_takes_no_connection)
{
	const char *why;

	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	udp_server_start(&a, ENDPOINT_UNIX, "a:");
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, "-O", "check_interval 50ms",
	    "-O", "check udp 70696e67 expect ..3a70696e67", front.text,
	    a.at.text, NULL);
	WAIT_FOR(strstr(ask("checks"), "0 check udp state up result ok"), SOON);
	why = ask("check connect");
	ck_assert_msg(strstr(why,
			  "check connect opens connections, but its socket "
			  "takes datagrams") != NULL,
	    "%s", why);
	pen_down(&pen);
	udp_server_stop(&a);
}
END_TEST

SUITE(test_check_udp)
{
	Suite *s = suite_create("check_udp");

	SUITE_ADD(s, left_out_and_back, 40);
	SUITE_ADD(s, unix_socket_takes_no_connection, 40);
	SUITE_ADD(s, lazy_while_clients_are_answered, 60);
	return s;
}
