/* test_udp_ipv6.c: datagrams over IPv6 are forwarded. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

START_TEST(udp_ipv6)
{
	struct udp_server one, two;
	struct endpoint front, ctl;
	struct pen pen;
	int fd;

	if (!endpoint_has_kind(ENDPOINT_TCP6))
		SKIP("no IPv6 here");
	udp_server_start(&one, ENDPOINT_TCP6, "one:");
	udp_server_start(&two, ENDPOINT_TCP6, "two:");
	udp_endpoint(&front, ENDPOINT_TCP6);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, one.at.text,
	    two.at.text, NULL);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", 10000), "one:x");
	ck_assert_str_eq(udp_ask(fd, "y", 10000), "one:y");
	close(fd);
	pen_down(&pen);
	udp_server_stop(&one);
	udp_server_stop(&two);
}
END_TEST

SUITE(test_udp_ipv6)
{
	Suite *s = suite_create("udp_ipv6");

	SUITE_ADD(s, udp_ipv6, 30);
	return s;
}
