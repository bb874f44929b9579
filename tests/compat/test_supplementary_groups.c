/* test_supplementary_groups.c: -u gives up root's other groups too. */
#include "config.h"

#include <check.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

START_TEST(supplementary_groups)
{
	static const gid_t groups[] = { 0, 1, 2, 3 };
	const struct passwd *nobody = getpwnam("nobody");
	struct backend b;
	struct endpoint front;
	struct pen pen;
	const char *have;

	if (geteuid() != 0 || nobody == NULL)
		SKIP("needs root and the user nobody");
	if (setgroups(4, groups) < 0)
		SKIP("may not set groups");
	backend_start(&b, ENDPOINT_TCP4, backend_say, "here");
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-u", "nobody", "-r", front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "here");
	have = child_status_line(pen.child.pid, "Groups");
	ck_assert_ptr_null(strstr(text(" %s ", have), " 0 "));
	ck_assert_ptr_null(strstr(text(" %s ", have), " 3 "));
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_supplementary_groups)
{
	Suite *s = suite_create("supplementary_groups");

	SUITE_ADD(s, supplementary_groups, 15);
	return s;
}
