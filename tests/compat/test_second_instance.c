/* test_second_instance.c: a second copy on the same port is an error and takes
 * no client of the first. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"

START_TEST(second_instance)
{
	struct backend first, second;
	struct endpoint front;
	struct pen pen;
	int i;

	backend_start(&first, ENDPOINT_TCP4, backend_say, "first");
	backend_start(&second, ENDPOINT_TCP4, backend_say, "second");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, first.at.text, NULL);
	pen_expect_failure(
	    front.text, "-f", "-r", front.text, second.at.text, NULL);
	pen_expect_failure("in use", "-r", front.text, second.at.text, NULL);
	/* nor by a wildcard beside it */
	pen_expect_failure(
	    "in use", "-r", text("%d", front.port), second.at.text, NULL);
	for (i = 0; i < 10; i++)
		ck_assert_str_eq(endpoint_hear(&front), "first");
	pen_down(&pen);
	/* but after the first has ended, at once */
	pen_up(&pen, &front, "-r", front.text, second.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "second");
	pen_down(&pen);
	backend_stop(&first);
	backend_stop(&second);
}
END_TEST

SUITE(test_second_instance)
{
	Suite *s = suite_create("second_instance");

	SUITE_ADD(s, second_instance, 15);
	return s;
}
