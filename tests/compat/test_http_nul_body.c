/* test_http_nul_body.c: with -H, bodies pass as they are, bytes of 0 and what
 * reads as a request included. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/pattern.h"
#include "support/penrun.h"
#include "support/scripted.h"
#include "support/suite.h"
#include "support/wait.h"

#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n"
#define TOLD "X-Forwarded-Proto: http\r\nX-Forwarded-For: 127.0.0.1\r\n"

static struct scripted server;

START_TEST(http_nul_body)
{
	static char said[110000], wanted[110000];
	size_t head = strlen(POST "\r\n"), longer = strlen(POST TOLD "\r\n");
	struct endpoint front;
	struct pen pen;
	int fd;

	memcpy(said, POST "\r\n", head);
	pattern_fill(1, 0, said + head, 100000);
	memset(said + head, 0, 100);
	memcpy(said + head + 100, "\r\n\r\nGET / HTTP/1.1\r\n\r\n", 22);
	memcpy(wanted, POST TOLD "\r\n", longer);
	memcpy(wanted + longer, said + head, 100000);
	scripted_start(&server, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", "-H", front.text, server.backend.at.text,
	    NULL);
	fd = endpoint_connect(&front);
	endpoint_send(fd, said, head + 100000);
	WAIT_FOR(
	    scripted_has_heard(&server, wanted, longer + 100000), 10000);
	close(fd);
	pen_down(&pen);
	scripted_stop(&server);
}
END_TEST

SUITE(test_http_nul_body)
{
	Suite *s = suite_create("http_nul_body");

	SUITE_ADD(s, http_nul_body, 30);
	return s;
}
