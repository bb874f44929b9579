/* test_server_zero_empty.c: an empty slot 0 is no server: nobody is sent there,
 * and with no other server a client is refused. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"

START_TEST(server_zero_empty)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;
	const char *second;
	int i, fd;

	backend_start(&b, ENDPOINT_TCP4, backend_say, "one");
	endpoint_new(&front, ENDPOINT_TCP4);
	second = text("server 1 address 127.0.0.1 port %d", b.at.port);
	pen_up(&pen, &front, "-r", "-O", second, front.text, NULL);
	for (i = 0; i < 6; i++)
		ck_assert_str_eq(endpoint_hear(&front), "one");
	ck_assert_int_eq(b.accepted, 6);
	backend_stop(&b);
	for (i = 0; i < 3; i++) {
		fd = endpoint_connect(&front);
		endpoint_expect_reset(fd);
		close(fd);
	}
	pen_down(&pen);
}
END_TEST

SUITE(test_server_zero_empty)
{
	Suite *s = suite_create("server_zero_empty");

	SUITE_ADD(s, server_zero_empty, 15);
	return s;
}
