/* test_page.c: the live page in a browser, driven by the scripts in tests/page:
 * it follows what happens, all can read it, nothing in it runs that others have
 * chosen. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nameserver.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"
#include "support/web_fixture.h"

enum { PATIENCE_MS = 5000, FOLLOWS_MS = 4000 };

/* ---- the browser ---- */

static const char *
source(const char *file)
{
	const char *dir = getenv("SRCDIR");

	return text("%s/%s", dir != NULL ? dir : ".", file);
}

/* Where tests/setup.sh has put what the scripts need. */
static const char *
modules(void)
{
	const char *dir = getenv("PEN_NODE_MODULES");

	return dir != NULL ? dir : source("build-tests/node/node_modules");
}

/* The one without windows takes two thirds of the other's time. */
static const char *
browser(void)
{
	const char *program = child_find("chromium-headless-shell");

	return program != NULL ? program : child_find("chromium");
}

#define NEED_BROWSER()                                                       \
	do {                                                                 \
		if (browser() == NULL)                                       \
			SKIP("chromium is not installed");                   \
		NEED_PROGRAM("node");                                        \
		if (access(text("%s/playwright-core", modules()), F_OK) < 0) \
			SKIP("playwright-core is not installed: "            \
			     "tests/run.sh installs it from npm");           \
	} while (0)

/* Runs cases of page.mjs with these words more, which end with NULL. */
static void
browse(const char *name, const char *const words[])
{
	const char *const env[] = { "PEN_NODE_MODULES", modules(), "HOME",
		scratch(""), "TMPDIR", scratch(""), NULL };
	const struct child_gifts gifts = { .env = env };
	const char *argv[CHILD_ARGS] = { "node", source("tests/page/page.mjs"),
		name, text("url=http://%s/", web_fixture.web.text),
		text("chromium=%s", browser()),
		text("patience=%lld", wait_scaled(PATIENCE_MS)) };
	struct child node;
	int i;

	for (i = 0; words[i] != NULL; i++)
		argv[6 + i] = words[i];
	child_start_given(&node, argv, &gifts);
	ck_assert_msg(child_wait(&node, 60000) == 0, "%s: %.2000s%.1000s", name,
	    child_out(&node), child_err(&node));
}

/* ---- cases ---- */

/* Starts pen with these servers, which are checked often, and a setting more.
 * Returns whether it has the page. */
static bool
begin(struct web_fixture *w, const struct endpoint *first,
    const struct endpoint *second, const char *more)
{
	endpoint_new(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	pen_up(&w->pen, &w->front, "-C", w->ctl.text, "-O",
	    text("web %s", w->web.text), "-O", "check connect", "-O",
	    "check_interval 0.3", "-O", "check_rise 1", "-O", more, "-r",
	    w->front.text, first->text, second->text, NULL);
	if (strstr(web_fixture_get_from(&w->web, "/status.json", ""),
		"without Jansson") == NULL)
		return true;
	pen_down(&w->pen);
	return false;
}

/* A server is killed and comes back. */
START_TEST(follows)
{
	struct endpoint servers[2];
	const char *pen = getenv("PEN");

	NEED_BROWSER();
	endpoint_new(&servers[0], ENDPOINT_TCP4);
	endpoint_new(&servers[1], ENDPOINT_TCP4);
	if (!begin(&web_fixture, &servers[0], &servers[1], "timeout 3"))
		SKIP("built without Jansson");
	browse("follows",
	    (const char *[]){ text("server0=%s", servers[0].text),
		text("server1=%s", servers[1].text),
		text("front=%s", web_fixture.front.text),
		text("soon=%lld", wait_scaled(FOLLOWS_MS)),
		text("pen=%s", pen != NULL ? pen : "./pen"), NULL });
	pen_down(&web_fixture.pen);
}
END_TEST

/* With a server that is up and one that is down; of direct return, as if pen
 * did it. Pictures stay in the build directory. */
START_TEST(looks)
{
	struct endpoint nobody;

	NEED_BROWSER();
	ck_assert(mkdir("pictures", 0777) == 0 || errno == EEXIST);
	endpoint_new(&nobody, ENDPOINT_TCP4);
	backend_start(&web_fixture.back, ENDPOINT_TCP4, backend_say, "served");
	if (!begin(&web_fixture, &web_fixture.back.at, &nobody, "timeout 3")) {
		backend_stop(&web_fixture.back);
		SKIP("built without Jansson");
	}
	browse("accessible,shapes,direct",
	    (const char *[]){ "pictures=pictures", NULL });
	web_fixture_end();
}
END_TEST

/* A query for web.test A, of class IN. */
static const char dns_query[] =
    "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x03web\x04test\x00"
    "\x00\x01\x00\x01";

START_TEST(dns)
{
	enum { QUERIES = 20 };
	struct web_fixture *w = &web_fixture;
	struct nameserver server;
	char answer[512];
	int fd, i;

	NEED_BROWSER();
	ck_assert(mkdir("pictures", 0777) == 0 || errno == EEXIST);
	nameserver_start(&server);
	nameserver_set(&server, "web.test", "10.0.0.1", NULL);
	udp_endpoint(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	pen_up(&w->pen, &w->ctl, "--dns", "-C", w->ctl.text, "-O",
	    text("web %s", w->web.text), w->front.text, server.text, NULL);
	if (strstr(web_fixture_get("/status.json"), "without Jansson") !=
	    NULL) {
		pen_down(&w->pen);
		nameserver_stop(&server);
		SKIP("built without Jansson");
	}
	fd = udp_client(&w->front);
	for (i = 0; i < QUERIES; i++) {
		ck_assert_int_eq(send(fd, dns_query, sizeof(dns_query) - 1, 0),
		    sizeof(dns_query) - 1);
		ck_assert_int_gt(recv(fd, answer, sizeof(answer), 0), 0);
	}
	close(fd);
	browse("dns",
	    (const char *[]){
		text("queries=%d", QUERIES), "pictures=pictures", NULL });
	pen_down(&w->pen);
	nameserver_stop(&server);
}
END_TEST

/* Names of servers, which a command or DNS may have brought. */
START_TEST(strangers)
{
	static const char *const names[] = {
		"<script>window.hacked=1</script>",
		"<img/src=x/onerror=window.hacked=1>",
		"\"'><svg/onload=window.hacked=1>",
		"</td><a/href=javascript:window.hacked=1>&amp;&#60;",
	};
	char all[1024] = "names=";
	int i;

	NEED_BROWSER();
	web_fixture_begin("check_interval", "1");
	if (strstr(web_fixture_get("/status.json"), "without Jansson") !=
	    NULL) {
		web_fixture_end();
		SKIP("built without Jansson");
	}
	for (i = 0; i < 4; i++) {
		web_fixture_command(text("server %d address \"/%s%s\"", i + 1,
		    names[i][0] == '"' ? "\\" : "", names[i]));
		web_fixture_command(text("server %d drain", i + 1));
		strcat(strcat(all, i > 0 ? "\n/" : "/"), names[i]);
	}
	web_fixture_command("server 5 address \"/web\xe2\x80\xaelive\"");
	web_fixture_command("server 5 drain");
	browse("strangers", (const char *[]){ all, "changes=5", NULL });
	web_fixture_end();
}
END_TEST

/* What is wrong with a pen whose two servers are the same one: it does not
 * answer; its servers, whose checks are good, fail all their clients, or answer
 * all of them with errors; it is full. */
static const struct {
	const char *name;
	backend_fn *serve;
	const char *setting;
} wrong[] = { { "stopped", backend_echo, "timeout 3" },
	{ "failing", backend_reset, "timeout 3" },
	{ "errors", backend_error, "http" },
	{ "full", backend_echo, "conn_max 20" } };
enum { WRONG = sizeof(wrong) / sizeof(wrong[0]) };

/* All in one browser, at once: most of it is waiting. */
START_TEST(trouble)
{
	static struct web_fixture all[WRONG];
	const char *words[WRONG + 2] = { "sessions=20" };
	int i;

	NEED_BROWSER();
	for (i = 0; i < WRONG; i++) {
		struct web_fixture *w = &all[i];

		backend_start(
		    &w->back, ENDPOINT_TCP4, wrong[i].serve, "served");
		if (!begin(w, &w->back.at, &w->back.at, wrong[i].setting)) {
			backend_stop(&w->back);
			SKIP("built without Jansson");
		}
		words[i + 1] = text("%s=%s,%s,%ld", wrong[i].name, w->web.text,
		    w->front.text, (long)w->pen.child.pid);
	}
	web_fixture.web = all[0].web;
	browse("trouble", words);
	for (i = 0; i < WRONG; i++) {
		pen_down(&all[i].pen);
		backend_stop(&all[i].back);
	}
}
END_TEST

/* Routes lead to a service that is full, and another one is down. */
START_TEST(services)
{
	struct web_fixture *w = &web_fixture;
	struct endpoint shop, mail, nobody;

	NEED_BROWSER();
	ck_assert(mkdir("pictures", 0777) == 0 || errno == EEXIST);
	backend_start(&w->back, ENDPOINT_TCP4, backend_echo, NULL);
	endpoint_new(&w->front, ENDPOINT_TCP4);
	endpoint_new(&w->web, ENDPOINT_TCP4);
	endpoint_new(&w->ctl, ENDPOINT_UNIX);
	endpoint_new(&shop, ENDPOINT_TCP4);
	endpoint_new(&mail, ENDPOINT_TCP4);
	endpoint_new(&nobody, ENDPOINT_TCP4);
	write_file(scratch("pen.conf"),
	    text("web %s\ncontrol %s\n"
		 "service www\nlisten %s\nroute default service shop\n"
		 "service shop\nlisten %s\nconn_max 20\n"
		 "server 0 address 127.0.0.1 port %d\n"
		 "service mail\nlisten %s\ncheck connect\n"
		 "check_interval 0.3\nserver 0 address 127.0.0.1 port %d\n",
		w->web.text, w->ctl.text, w->front.text, shop.text,
		w->back.at.port, mail.text, nobody.port));
	pen_up(&w->pen, &w->front, "-F", scratch("pen.conf"), NULL);
	if (strstr(web_fixture_get("/status.json"), "without Jansson") !=
	    NULL) {
		web_fixture_end();
		SKIP("built without Jansson");
	}
	browse("services",
	    (const char *[]){ text("front=%s", w->front.text), "sessions=20",
		"pictures=pictures", NULL });
	web_fixture_end();
}
END_TEST

SUITE(test_page)
{
	Suite *s = suite_create("page");

	SUITE_ADD(s, follows, 120);
	SUITE_ADD(s, looks, 120);
	SUITE_ADD(s, dns, 120);
	SUITE_ADD(s, strangers, 120);
	SUITE_ADD(s, trouble, 120);
	SUITE_ADD(s, services, 120);
	return s;
}
