/* test_fd_leak_connect.c: a failed connect, of whatever kind and whether known
 * at once or later, keeps no descriptor. */
#include "config.h"

#include <check.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(fd_leak_connect)
{
	struct endpoint front, tcp, path;
	struct pen pen;
	int i, fd, fds, many = (int)suite_amount(300, 60);

	endpoint_new(&tcp, ENDPOINT_TCP4);
	endpoint_new(&path, ENDPOINT_UNIX);
	endpoint_new(&front, ENDPOINT_TCP4);
	/* the broadcast address is refused by connect() itself */
	pen_up(&pen, &front, "-b", "0", "--retry", "0", "-r", front.text,
	    tcp.text, path.text, text("255.255.255.255:%d", tcp.port), NULL);
	fds = pen_fds(&pen);
	if (fds < 0)
		SKIP("descriptors cannot be counted here");
	for (i = 0; i < many; i++) {
		fd = endpoint_connect(&front);
		endpoint_expect_reset(fd);
		close(fd);
	}
	WAIT_FOR(pen_fds(&pen) <= fds, 5000);
	pen_down(&pen);
}
END_TEST

SUITE(test_fd_leak_connect)
{
	Suite *s = suite_create("fd_leak_connect");

	SUITE_ADD(s, fd_leak_connect, 30);
	return s;
}
