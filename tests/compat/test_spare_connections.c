/* test_spare_connections.c: spare connections under traffic: they are used,
 * replaced, and nothing else suffers. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

static struct endpoint front, ctl;

static bool
idlers_are(const char *wanted)
{
	return strcmp(endpoint_ask(&ctl, "idlers\n"), wanted) == 0;
}

START_TEST(spare_connections)
{
	enum { CLIENTS = 300, TOGETHER = 30 };
	int fds[TOGETHER], i, k, rounds = CLIENTS / TOGETHER;
	struct backend one, two;
	struct pen pen;

	NEEDS_ONE_WORKER("each worker has its part of idlers, rounded up");
	backend_start(&one, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&two, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-r", "-c", "1", "-O", "idlers 5", "-C", ctl.text,
	    front.text, one.at.text, two.at.text, NULL);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
	WAIT_FOR(idlers_are("Idlers: 5/5\n"), 5000);
	for (i = 0; i < rounds; i++) {
		for (k = 0; k < TOGETHER; k++) {
			fds[k] = endpoint_connect(&front);
			endpoint_send(fds[k], "x", 1);
		}
		for (k = 0; k < TOGETHER; k++) {
			char c;

			endpoint_recv(fds[k], &c, 1);
			close(fds[k]);
		}
	}
	WAIT_FOR(idlers_are("Idlers: 5/5\n"), 5000);
	/* each client had a connection, and no more were made than that */
	ck_assert_int_ge(
	    atomic_load(&one.accepted) + atomic_load(&two.accepted), CLIENTS);
	ck_assert_int_le(
	    atomic_load(&one.accepted) + atomic_load(&two.accepted),
	    CLIENTS + 5);
	/* they do not outlive their server's health */
	backend_stop(&two);
	WAIT_FOR(idlers_are("Idlers: 5/5\n"), 10000);
	for (i = 0; i < 20; i++) {
		int fd = endpoint_connect(&front);

		endpoint_expect_echo(fd, "x");
		close(fd);
	}
	pen_down(&pen);
	backend_stop(&one);
}
END_TEST

SUITE(test_spare_connections)
{
	Suite *s = suite_create("spare_connections");

	SUITE_ADD(s, spare_connections, 60);
	return s;
}
