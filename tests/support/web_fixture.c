/* web_fixture.c: see web_fixture.h. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/web_fixture.h"

struct web_fixture web_fixture;

const char *
web_fixture_command(const char *line)
{
	return endpoint_ask(&web_fixture.ctl, text("%s\n", line));
}

void
web_fixture_begin(const char *more, const char *value)
{
	struct web_fixture *w = &web_fixture;

	backend_start(&w->back, ENDPOINT_TCP4, backend_say, "served");
	endpoint_new(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	pen_up(&w->pen, &w->front, "-C", w->ctl.text, "-O",
	    text("web %s", w->web.text), "-O", text("%s %s", more, value), "-r",
	    w->front.text, w->back.at.text, NULL);
}

void
web_fixture_end(void)
{
	pen_down(&web_fixture.pen);
	backend_stop(&web_fixture.back);
}

void
web_fixture_add_servers(int n)
{
	int i;

	for (i = 1; i < n; i++)
		web_fixture_command(
		    text("server %d address 127.0.0.1 port %d", i, i));
}

const char *
web_fixture_get_from(
    const struct endpoint *at, const char *path, const char *header)
{
	int fd = endpoint_connect(at);
	const char *got,
	    *request = text("GET %s HTTP/1.1\r\nHost: localhost\r\n"
			    "%sConnection: close\r\n\r\n",
		path, header);

	endpoint_send(fd, request, strlen(request));
	got = endpoint_recv_all(fd);
	close(fd);
	return got;
}

const char *
web_fixture_get(const char *path)
{
	return web_fixture_get_from(&web_fixture.web, path, "");
}

void
web_fixture_expect_status(const char *path, int status)
{
	const char *got = web_fixture_get(path);

	ck_assert_msg(
	    strncmp(got, text("HTTP/1.1 %d ", status), 13) == 0, "%s", got);
}

void
web_fixture_expect_in(const char *got, const char *what)
{
	ck_assert_msg(strstr(got, what) != NULL, "no \"%s\" in: %s", what, got);
}

void
web_fixture_expect_growth(long before, long most)
{
	long now = pen_rss_kb(&web_fixture.pen);

	ck_assert_msg(!pen_is_plain() || now - before < most,
	    "resident %ld kB, then %ld kB", before, now);
}
