/* webrig.c: see webrig.h. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/webrig.h"

struct webrig webrig;

const char *
webrig_command(const char *line)
{
	return spot_ask(&webrig.ctl, text("%s\n", line));
}

void
webrig_begin(const char *more, const char *value)
{
	struct webrig *w = &webrig;

	backend_start(&w->back, SPOT_TCP4, backend_say, "served");
	spot_new(&w->front, SPOT_TCP4);
	spot_new(&w->web, SPOT_TCP4);
	spot_new(&w->ctl, SPOT_UNIX);
	pen_up(&w->pen, &w->front, "-C", w->ctl.text, "-O",
	    text("web %s", w->web.text), "-O", text("%s %s", more, value), "-r",
	    w->front.text, w->back.at.text, NULL);
}

void
webrig_end(void)
{
	pen_down(&webrig.pen);
	backend_stop(&webrig.back);
}

void
webrig_add_servers(int n)
{
	int i;

	for (i = 1; i < n; i++)
		webrig_command(
		    text("server %d address 127.0.0.1 port %d", i, i));
}

const char *
webrig_get_from(const struct spot *at, const char *path, const char *header)
{
	int fd = spot_connect(at);
	const char *got,
	    *request = text("GET %s HTTP/1.1\r\nHost: localhost\r\n"
			    "%sConnection: close\r\n\r\n",
		path, header);

	spot_send(fd, request, strlen(request));
	got = spot_recv_all(fd);
	close(fd);
	return got;
}

const char *
webrig_get(const char *path)
{
	return webrig_get_from(&webrig.web, path, "");
}

void
webrig_expect_status(const char *path, int status)
{
	const char *got = webrig_get(path);

	ck_assert_msg(
	    strncmp(got, text("HTTP/1.1 %d ", status), 13) == 0, "%s", got);
}

void
webrig_expect_in(const char *got, const char *what)
{
	ck_assert_msg(strstr(got, what) != NULL, "no \"%s\" in: %s", what, got);
}

void
webrig_expect_growth(long before, long most)
{
	long now = child_rss_kb(webrig.pen.child.pid);

	ck_assert_msg(!pen_is_plain() || now - before < most,
	    "resident %ld kB, then %ld kB", before, now);
}
