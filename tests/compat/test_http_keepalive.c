/* test_http_keepalive.c: each request of a connection is told who the client
 * is, whole, in parts, or with another one, and whatever it says itself. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/scripted.h"
#include "support/suite.h"
#include "support/wait.h"

#define GET  "GET / HTTP/1.1\r\nHost: a\r\n"
#define TOLD "X-Forwarded-Proto: http\r\nX-Forwarded-For: 127.0.0.1\r\n"

static struct scripted server;

START_TEST(http_keepalive)
{
	struct endpoint front;
	/* a request whose first three letters are there already */
	static const char whole[] = GET "X-Forwarded-For: 1.2.3.4\r\n\r\n";
	const char *rest = &whole[3];
	struct pen pen;
	int fd;

	scripted_start(&server, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(
	    &pen, &front, "-r", "-H", front.text, server.backend.at.text, NULL);
	fd = endpoint_connect(&front);
	endpoint_send(fd, GET "\r\n" GET "\r\nGET", 2 * strlen(GET "\r\n") + 3);
	scripted_expect(&server, GET TOLD "\r\n" GET TOLD "\r\n");
	endpoint_send(fd, rest, strlen(rest));
	endpoint_send(fd, "BREW / HTTP/1.0\r\n\r\n", 19);
	scripted_expect(&server,
	    GET TOLD "\r\n" GET TOLD "\r\n" GET
		     "X-Forwarded-For: 1.2.3.4\r\n" TOLD
		     "\r\nBREW / HTTP/1.0\r\n" TOLD "\r\n");
	close(fd);
	pen_down(&pen);
	scripted_stop(&server);
}
END_TEST

SUITE(test_http_keepalive)
{
	Suite *s = suite_create("http_keepalive");

	SUITE_ADD(s, http_keepalive, 30);
	return s;
}
