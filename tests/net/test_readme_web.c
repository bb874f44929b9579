/* test_readme_web.c: what README.md says of web servers. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "net/readme_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#define PAGE   "http://front/"
#define ASK    "GET / HTTP/1.1\r\nHost: front\r\n\r\n"
#define CLIENT "10.0.0.100"
#define FRONT  "10.0.0.9"

static void
in_turn(void)
{
	expect_turns(PAGE);
}

static const char *
name_for(const char *client)
{
	const char *page = fetch(PAGE, "--interface", client);

	return text("%.*s", (int)strcspn(page, "\n"), page);
}

static void
stays_with_its_server(void)
{
	const char *first = name_for(CLIENT), *other = name_for("10.0.0.101");

	ck_assert_str_ne(first, other);
	ck_assert_str_eq(name_for(CLIENT), first);
	ck_assert_str_eq(name_for(CLIENT), first);
	ck_assert_str_eq(name_for("10.0.0.101"), other);
}

static void
address_decides(void)
{
	const char *names = fetch_names(5, PAGE);

	ck_assert_msg(strcmp(names, "web1 web1 web1 web1 web1 ") == 0 ||
		strcmp(names, "web2 web2 web2 web2 web2 ") == 0,
	    "%s", names);
}

static void
three_of_four(void)
{
	const char *s = fetch_names(8, PAGE);
	int n = 0;

	for (; (s = strstr(s, "web1")) != NULL; s++)
		n++;
	ck_assert_int_eq(n, 6);
}

static struct site sorry = { .name = "sorry" };

static void
webs_and_sorry(void)
{
	webs_up();
	machine_serve(THIRD, 80, site_serve, &sorry);
}

static void
sorry_when_both_are_gone(void)
{
	expect_turns(PAGE);
	webs_down();
	ck_assert_str_eq(fetch_names(2, PAGE), "sorry sorry ");
}

static bool
all_from(const char *name)
{
	return strcmp(fetch_names(4, PAGE),
		   text("%s %s %s %s ", name, name, name, name)) == 0;
}

static void
asks_for_health(void)
{
	expect_turns(PAGE);
	atomic_store(&readme_sites[0].health, 500);
	WAIT_FOR(all_from("web2"), 20000);
}

static void
adds_header_and_503(void)
{
	const char *page = fetch(PAGE);

	ck_assert_ptr_nonnull(strstr(page, "X-Forwarded-For: " CLIENT));
	webs_down();
	ck_assert_str_eq(
	    fetch(PAGE, "-o", "page", "-w", "%{http_code}"), "503");
}

static void
cookie_brings_back(void)
{
	const char *first = fetch(PAGE, "-c", "jar");
	int i;

	first = text("%.*s", (int)strcspn(first, "\n"), first);
	ck_assert_ptr_nonnull(strstr(contents("jar"), "SRV"));
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(
		    strncmp(fetch(PAGE, "-b", "jar"), first, strlen(first)), 0);
	expect_turns(PAGE);
}

enum { EACH = 100, CONNS = 50, RATE = 100 };

static int
served(void)
{
	return atomic_load(&readme_webs[0]->accepted) +
	    atomic_load(&readme_webs[1]->accepted);
}

static void
others_wait(void)
{
	int fds[2 * EACH], i, late;

	for (i = 0; i < 2 * EACH; i++)
		fds[i] = client_dial(CLIENT, FRONT, 80, "");
	WAIT_FOR(served() == 2 * EACH, 20000);
	ck_assert_int_eq(atomic_load(&readme_webs[0]->accepted), EACH);
	late = client_dial(CLIENT, FRONT, 80, ASK);
	ck_assert(!net_fixture_is_readable(late));
	close(fds[0]);
	ck_assert_ptr_nonnull(strstr(client_hears(late), "web"));
	for (i = 1; i < 2 * EACH; i++)
		close(fds[i]);
	close(late);
}

static int
open_one(const char *from)
{
	return client_try(from, FRONT, 80, ASK);
}

static void
clients_are_limited(void)
{
	long long began = wait_now_ms();
	int fds[RATE], i, n;

	for (i = 0; i < CONNS; i++)
		ck_assert_int_ge(fds[i] = open_one(CLIENT), 0);
	ck_assert_int_lt(open_one(CLIENT), 0);
	/* which is no other client's limit */
	ck_assert_int_ge(open_one("10.0.0.101"), 0);
	for (i = 0; i < CONNS; i++)
		close(fds[i]);
	for (n = CONNS + 1; (i = open_one(CLIENT)) >= 0; n++)
		close(i);
	/* a tenth of the rate comes back each second */
	ck_assert_int_le(n, RATE + 1 + (wait_now_ms() - began) * RATE / 10000);
}

static void
webs_at_8080(void)
{
	webs_up_at(8080);
}

const struct example readme_web[] = {
	{ .line = "pen -r 80 web1 web2", .before = webs_up, .check = in_turn },
	{ .line = "pen --workers auto -r 80 web1 web2",
	    .before = webs_up,
	    .check = in_turn },
	{ .line = "pen 80 web1 web2",
	    .before = webs_up,
	    .check = stays_with_its_server },
	{ .line = "pen -h 80 web1 web2",
	    .before = webs_up,
	    .check = address_decides },
	{ .line = "pen --balance wrr 80 web1:80:0:0:3 web2:80:0:0:1",
	    .before = webs_up,
	    .check = three_of_four },
	{ .line = "pen -r -e sorry:80 80 web1 web2",
	    .before = webs_and_sorry,
	    .check = sorry_when_both_are_gone },
	{ .line = "pen -r --check-servers \"http /health\" 80 web1 web2",
	    .before = webs_up,
	    .check = asks_for_health },
	{ .line = "pen -r -H --http-status 80 web1 web2",
	    .before = webs_up,
	    .check = adds_header_and_503 },
	{ .line = "pen -r -H --http-sticky SRV 80 web1 web2",
	    .before = webs_up,
	    .check = cookie_brings_back },
	{ .line = "pen -r --queue 10 80 web1:80:100 web2:80:100",
	    .before = webs_up,
	    .check = others_wait },
	{ .line = "pen -r --client-conns 50 --client-rate 100/10"
		  " 80 web1 web2",
	    .before = webs_up,
	    .check = clients_are_limited },
	{ .line = "pen -r 80 'web.internal*:8080'",
	    .before = webs_at_8080,
	    .check = in_turn },
	{ .line = NULL },
};

README_SUITE(test_readme_web, readme_web)
