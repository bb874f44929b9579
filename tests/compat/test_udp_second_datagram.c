/* test_udp_second_datagram.c: a client's next datagrams follow its session. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

START_TEST(udp_second_datagram)
{
	struct udp_server one, two;
	struct endpoint front, ctl;
	struct pen pen;
	int fd, i;

	udp_server_start(&one, ENDPOINT_TCP4, "one:");
	udp_server_start(&two, ENDPOINT_TCP4, "two:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, one.at.text,
	    two.at.text, NULL);
	fd = udp_client(&front);
	for (i = 0; i < 10; i++)
		ck_assert_str_eq(udp_ask(fd, "x", 10000), "one:x");
	ck_assert_int_eq(atomic_load(&two.received), 0);
	close(fd);
	pen_down(&pen);
	udp_server_stop(&one);
	udp_server_stop(&two);
}
END_TEST

SUITE(test_udp_second_datagram)
{
	Suite *s = suite_create("udp_second_datagram");

	SUITE_ADD(s, udp_second_datagram, 30);
	return s;
}
