/* test_next_client_data.c: what one client or server left unread is never seen
 * by the next. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

enum { BULK = 1 << 20 };

/* A lot of 'S' that this client will not read, then silence. */
static void
pour(struct backend *b, int fd)
{
	static char secret[BULK];
	char c;

	(void)b;
	memset(secret, 'S', sizeof(secret));
	if (recv(fd, &c, 1, MSG_PEEK) == 1 && c == 'p')
		backend_send(fd, secret, sizeof(secret));
	else
		backend_echo(b, fd);
}

START_TEST(next_client_data)
{
	static char secret[BULK];
	struct backend b;
	struct endpoint front;
	struct pen pen;
	int i, fd;

	memset(secret, 'C', sizeof(secret));
	backend_start(&b, ENDPOINT_TCP4, pour, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-x", "1", "-r", "-O", "buffer 1m", front.text,
	    b.at.text, NULL);
	for (i = 0; i < 20; i++) {
		/* asks for a lot, sends a lot, reads nothing, breaks off */
		fd = endpoint_connect(&front);
		endpoint_send(fd, "p", 1);
		send(fd, secret, sizeof(secret), MSG_DONTWAIT);
		if (i % 2 == 0)
			endpoint_reset(fd);
		else
			close(fd);
		fd = endpoint_connect(&front);
		endpoint_expect_echo(fd, "mine alone");
		shutdown(fd, SHUT_WR);
		endpoint_expect_end(fd);
		close(fd);
	}
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_next_client_data)
{
	Suite *s = suite_create("next_client_data");

	SUITE_ADD(s, next_client_data, 30);
	return s;
}
