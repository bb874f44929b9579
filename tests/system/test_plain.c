/* test_plain.c: the page without scripts has what the live one has of services,
 * and of servers that answer with errors. */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "support/suite.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { SOON = 10000, REQUESTS = 10 };

/* `site` has HTTP, `mail` a server that is down. */
static void
up(void)
{
	struct web_fixture *w = &web_fixture;
	struct endpoint mail, unused;

	backend_start(&w->back, ENDPOINT_TCP4, backend_error, NULL);
	endpoint_new(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	endpoint_new(&mail, ENDPOINT_TCP4);
	endpoint_new(&unused, ENDPOINT_TCP4);
	write_file(scratch("pen.conf"),
	    text("web %s\ncontrol %s\n"
		 "service site\nlisten %s\nhttp\n"
		 "server 0 address 127.0.0.1 port %d\n"
		 "service mail\nlisten %s\ncheck connect\n"
		 "check_interval 0.3\nserver 0 address 127.0.0.1 port %d\n",
		w->web.text, w->ctl.text, w->front.text, w->back.at.port,
		mail.text, unused.port));
	pen_up(&w->pen, &w->front, "-F", scratch("pen.conf"), NULL);
}

static bool
has(const char *what)
{
	return strstr(web_fixture_get("/plain"), what) != NULL;
}

START_TEST(services_and_errors)
{
	const char *got;
	int i;

	up();
	for (i = 0; i < REQUESTS; i++)
		endpoint_ask(&web_fixture.front,
		    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
	WAIT_FOR(has(text("<td class=\"n\" data-label=\"http_5xx\">%d</td>",
		     REQUESTS)),
	    SOON);
	WAIT_FOR(has("<tr class=\"down\"><td data-label=\"service\">mail</td>"
		     "<td data-label=\"state\">down</td>"),
	    SOON);
	got = web_fixture_get("/plain");
	web_fixture_expect_in(got, "<caption>Services</caption>");
	web_fixture_expect_in(got, "<h2>service mail</h2>");
	/* mail has no HTTP */
	web_fixture_expect_in(got, "<td data-label=\"http_5xx\"></td>");
	web_fixture_end();
}
END_TEST

/* One service needs no table of services. */
START_TEST(one_service)
{
	web_fixture_begin("timeout", "3");
	ck_assert(has("<caption>Servers</caption>"));
	ck_assert(!has("<caption>Services</caption>"));
	ck_assert(!has("data-label=\"http_5xx\""));
	web_fixture_end();
}
END_TEST

SUITE(test_plain)
{
	Suite *s = suite_create("plain");

	SUITE_ADD(s, services_and_errors, 60);
	SUITE_ADD(s, one_service, 30);
	return s;
}
