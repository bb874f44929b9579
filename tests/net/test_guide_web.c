/* test_guide_web.c: the files of examples/guide for web servers do what they
 * say, with nginx behind pen and curl in front. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "net/guide_programs.h"
#include "support/identity.h"
#include "support/suite.h"
#include "support/wait.h"

static struct guide guide;
static struct nginx web[GUIDE_SERVERS];

/* nginx at port 80 of the servers. */
static void
web_up(void)
{
	int i;

	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_nginx_up(&guide, &web[i], i, "listen *:80;");
}

static const char *
fetch(const char *url, const char *option, const char *value)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, 20000,
	    "curl", "-sS", "--max-time", "20", url, option, value, NULL);
}

static void
expect_page_for(const char *client, const char *page, const char *proto)
{
	const char *says =
	    text(" client=%s for=%s proto=%s", client, client, proto);

	ck_assert_msg(
	    strncmp(page, "server ", 7) == 0 && strcmp(page + 8, says) == 0,
	    "%s", page);
}

static void
expect_page(const char *page, const char *proto)
{
	expect_page_for(GUIDE_CLIENT, page, proto);
}

/* Pages come from both; nobody notices that one of them dies. */
START_TEST(http)
{
	bool seen[2] = { false, false };
	const char *page;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "http");
	web_up();
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	for (i = 0; i < 10; i++) {
		/* what a client says of itself counts for nothing */
		page = fetch("http://" GUIDE_PEN "/", "-H",
		    "X-Forwarded-For: 198.51.100.7");
		expect_page(page, "http");
		seen[page[7] - '0'] = true;
	}
	ck_assert(seen[0] && seen[1]);
	expect_page_for("2001:db8::100",
	    fetch("http://[2001:db8::10]/", "-g", "-sS"), "http");
	child_stop(&web[1].child, SIGKILL);
	for (i = 0; i < 10; i++)
		expect_page(
		    fetch("http://" GUIDE_PEN "/", "-H", "X: y"), "http");
	guide_wait_server(&guide, 1, "down result failed");
	child_stop(&web[0].child, SIGKILL);
	guide_wait_server(&guide, 0, "down result failed");
	page = fetch("http://" GUIDE_PEN "/", "-w", "%{http_code}");
	ck_assert_ptr_nonnull(strstr(page, "503"));
	page = net_fixture_run(&guide.fixture, NET_FIXTURE_DIRECTOR, 20000,
	    "curl", "-sS", "http://127.0.0.1:8080/metrics", NULL);
	ck_assert_ptr_nonnull(strstr(page, "pen_server"));
	guide_end(&guide);
}
END_TEST

/* Makes the file of the certificate as the hook of certbot does. */
static void
renew(void)
{
	struct identity id;

	identity_new(&id, "www.example.org");
	write_file(scratch("fullchain.pem"), contents(id.ec));
	write_file(scratch("privkey.pem"), "");
	write_file(scratch("ca.pem"), contents(id.ca));
	run_program(10000, "sh", "-e", "-c",
	    text("RENEWED_LINEAGE=%s; chown() { :; }\n%s", scratch("."),
		guide_quote("https.conf", "renewal-hooks/deploy")),
	    NULL);
}

static const char *
fetch_tls(void)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, 20000,
	    "curl", "-sS", "--max-time", "20", "--cacert", scratch("ca.pem"),
	    "--resolve", "www.example.org:443:" GUIDE_PEN,
	    "https://www.example.org/", NULL);
}

START_TEST(https)
{
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "https");
	web_up();
	renew();
	guide_start(&guide);
	expect_page(fetch_tls(), "https");
	ck_assert_ptr_nonnull(
	    strstr(guide_ask(&guide, "certs"), "www.example.org"));
	guide_end(&guide);
	nginx_down(&web[0]);
	nginx_down(&web[1]);
}
END_TEST

SUITE(test_guide_web)
{
	Suite *s = suite_create("guide_web");

	SUITE_ADD(s, http, 60);
	SUITE_ADD(s, https, 60);
	return s;
}
