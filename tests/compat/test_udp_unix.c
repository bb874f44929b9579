/* test_udp_unix.c: -U works with Unix sockets. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

START_TEST(udp_unix)
{
	struct udp_server one, two;
	struct endpoint front, ctl;
	struct pen pen;
	int fd;

	udp_server_start(&one, ENDPOINT_UNIX, "one:");
	udp_server_start(&two, ENDPOINT_UNIX, "two:");
	udp_endpoint(&front, ENDPOINT_UNIX);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, one.at.text,
	    two.at.text, NULL);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", 10000), "one:x");
	ck_assert_str_eq(udp_ask(fd, "", 10000), "one:");
	close(fd);
	pen_down(&pen);
	ck_assert_int_ne(access(front.text, F_OK), 0);
	udp_server_stop(&one);
	udp_server_stop(&two);
}
END_TEST

SUITE(test_udp_unix)
{
	Suite *s = suite_create("udp_unix");

	SUITE_ADD(s, udp_unix, 30);
	return s;
}
