/* test_udp_dead_server.c: a dead server is noticed, and its clients
 * go elsewhere. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

START_TEST(udp_dead_server)
{
	struct udp_server one, two;
	struct endpoint front, ctl;
	struct pen pen;
	int fd;

	udp_server_start(&one, ENDPOINT_TCP4, "one:");
	udp_server_start(&two, ENDPOINT_TCP4, "two:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, one.at.text,
	    two.at.text, NULL);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", 10000), "one:x");
	udp_server_stop(&one);
	ck_assert_str_eq(udp_ask(fd, "y", 10000), "two:y");
	ck_assert_str_eq(udp_ask(fd, "z", 10000), "two:z");
	close(fd);
	pen_down(&pen);
	udp_server_stop(&two);
}
END_TEST

SUITE(test_udp_dead_server)
{
	Suite *s = suite_create("udp_dead_server");

	SUITE_ADD(s, udp_dead_server, 30);
	return s;
}
