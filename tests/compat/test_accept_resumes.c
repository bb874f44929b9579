/* test_accept_resumes.c: after many failed connects pen still accepts, and
 * costs nothing while nothing happens. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(accept_resumes)
{
	struct endpoint front, at;
	struct backend b;
	struct pen pen;
	int i, fd, many = (int)suite_amount(2000, 200);

	endpoint_new(&at, ENDPOINT_TCP4);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-x", "20", "-b", "0", "--retry", "0", "-r",
	    front.text, at.text, NULL);
	for (i = 0; i < many; i++) {
		fd = endpoint_try_connect(&front);
		ck_assert(fd >= 0 || errno == ECONNRESET); /* already */
		if (fd < 0)
			continue;
		endpoint_expect_reset(fd);
		close(fd);
	}
	pen_expect_rest(&pen);
	backend_start_at(&b, &at, backend_say, "back");
	for (i = 0; i < 50; i++)
		ck_assert_str_eq(endpoint_hear(&front), "back");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_accept_resumes)
{
	Suite *s = suite_create("accept_resumes");

	SUITE_ADD(s, accept_resumes, 30);
	return s;
}
