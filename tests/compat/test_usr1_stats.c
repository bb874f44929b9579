/* test_usr1_stats.c: SIGUSR1 prints what there is to know of each server, as
 * words and plausible numbers, and disturbs nobody. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

/* No number in a small test is as large as a pointer. */
static void
expect_small_numbers(const char *s)
{
	for (; *s != '\0'; s++)
		if (strspn(s, "0123456789") > 9)
			ck_abort_msg("a strange number: %s", s);
	ck_assert_ptr_null(strstr(s, "0x"));
}

START_TEST(usr1_stats)
{
	struct backend a, b;
	struct endpoint front;
	struct pen pen;
	const char *stats;
	int i, fd;

	backend_start(&a, ENDPOINT_TCP4, backend_sink, NULL);
	backend_start(&b, ENDPOINT_UNIX, backend_sink, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, a.at.text, b.at.text, NULL);
	for (i = 0; i < 8; i++)
		ck_assert_str_eq(endpoint_ask(&front, "12345"), "received 5\n");
	fd = endpoint_connect(&front);
	endpoint_send(fd, "x", 1);
	WAIT_FOR(a.open + b.open == 1, 5000);
	stats = pen_stats(&pen);
	ck_assert_ptr_nonnull(strstr(stats, "127.0.0.1"));
	ck_assert_ptr_nonnull(strstr(stats, text("%d", a.at.port)));
	ck_assert_ptr_nonnull(strstr(stats, b.at.text));
	/* four of them had five bytes each, and got eleven */
	ck_assert_ptr_nonnull(strstr(stats, "20"));
	ck_assert_ptr_nonnull(strstr(stats, "44"));
	expect_small_numbers(stats);
	ck_assert_int_eq((int)(pen_stats(&pen)[0] != '\0'), 1);
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(endpoint_recv_all(fd), "received 1\n");
	close(fd);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

SUITE(test_usr1_stats)
{
	Suite *s = suite_create("usr1_stats");

	SUITE_ADD(s, usr1_stats, 15);
	return s;
}
