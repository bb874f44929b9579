/* plain.c: runs the tests of one program, one after the other. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/suite.h"

enum { TESTS_MAX = 200 };

static const TTest *tests[TESTS_MAX];
static int numbers[TESTS_MAX]; /* _i of each */
static int count, running;

Suite *
suite_create(const char *name)
{
	printf("%s:\n", name);
	return NULL;
}

TCase *
tcase_create(const char *name)
{
	(void)name;
	return NULL;
}

void
tcase_set_timeout(TCase *c, double seconds)
{
	(void)c;
	(void)seconds;
}

void
tcase_add_loop_test(TCase *c, const TTest *t, int from, int to)
{
	(void)c;
	for (; from < to; from++) {
		if (count == TESTS_MAX)
			ck_abort_msg("too many tests");
		numbers[count] = from;
		tests[count++] = t;
	}
}

void
tcase_add_test(TCase *c, const TTest *t)
{
	tcase_add_loop_test(c, t, 0, 1);
}

void
suite_add_tcase(Suite *s, TCase *c)
{
	(void)s;
	(void)c;
}

/* The last line is like Check's: whoever counts results can read it. */
static void
summary(int passed, int wrong)
{
	int ran = passed + wrong;

	printf("%d%%: Checks: %d, Failures: %d, Errors: 0\n",
	    ran == 0 ? 100 : passed * 100 / ran, ran, wrong);
}

void
plain_wrong(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%s:%d: %s: ", file, line,
	    running < count ? tests[running]->name : "?");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	summary(running, 1);
	exit(1);
}

int
suite_run(Suite *s)
{
	(void)s;
	for (running = 0; running < count; running++)
		tests[running]->run(numbers[running]);
	summary(count, 0);
	return 0;
}

long
suite_amount(long heavy, long light)
{
	return suite_is_light() ? light : heavy;
}

int
suite_rounds(int n)
{
	return n;
}

bool
suite_is_light(void)
{
	return getenv("PEN_TEST_LIGHT") != NULL;
}
