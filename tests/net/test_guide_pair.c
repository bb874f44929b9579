/* test_guide_pair.c: the files of examples/guide for more than one balancer and
 * for direct return: real keepaliveds move the address, and a director with one
 * network card passes on what clients send. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SOON = 30000, SERVERS = 2, PAIR = 2 };

static struct guide guide;
static struct nginx web[SERVERS];

/* nginx at port 80 of all addresses of the servers. */
static void
web_up(const char *page, const char *lines)
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
		nginx_up_with(&web[i], text("server %d %s", i, page), "",
		    text("listen *:80; %s", lines));
		net_fixture_leave(&guide.fixture);
	}
}

static void
web_down(void)
{
	nginx_down(&web[0]);
	nginx_down(&web[1]);
}

/* "" when it cannot be fetched. */
static const char *
fetch(const char *url)
{
	struct child c;

	net_fixture_start(&guide.fixture, NET_FIXTURE_CLIENT, &c,
	    (const char *[]){ "curl", "-sS", "--connect-timeout", "1", "-m",
		"10", url, NULL });
	return child_wait(&c, SOON) == 0 ? child_out(&c) : "";
}

/* ---- direct return ---- */

/* Runs lines of the guide there. */
static void
carry_out(enum net_fixture_place where, const char *lines)
{
	net_fixture_run(
	    &guide.fixture, where, SOON, "sh", "-e", "-c", lines, NULL);
}

static bool
has_macvlan(void)
{
	struct child c;

	net_fixture_start(&guide.fixture, NET_FIXTURE_DIRECTOR, &c,
	    (const char *[]){ "ip", "link", "add", "try0", "link", "eth0",
		"type", "macvlan", "mode", "bridge", NULL });
	if (child_wait(&c, SOON) != 0)
		return false;
	net_fixture_ip(&guide.fixture, NET_FIXTURE_DIRECTOR, "link del try0\n");
	return true;
}

START_TEST(dsr)
{
	bool seen[SERVERS] = { false, false };
	const char *page;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_PROGRAM("sysctl");
	NEED_GUIDE(&guide, "dsr");
	if (!has_macvlan())
		SKIP("the kernel has no macvlan");
	web_up("client=$remote_addr", "");
	carry_out(NET_FIXTURE_DIRECTOR,
	    guide_quote("dsr.conf", "On this host, at each boot:"));
	for (i = 0; i < SERVERS; i++)
		carry_out(NET_FIXTURE_SERVER + i,
		    guide_quote("dsr.conf", "On each server, at each boot"));
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	for (i = 0; i < 6; i++) {
		page = fetch("http://192.0.2.20/");
		ck_assert_int_eq(strncmp(page, "server ", 7), 0);
		ck_assert_str_eq(page + 8, " client=" GUIDE_CLIENT);
		seen[page[7] - '0'] = true;
	}
	ck_assert(seen[0] && seen[1]);
	guide_end(&guide);
	web_down();
}
END_TEST

/* ---- two balancers ---- */

static struct balancer {
	enum net_fixture_place where;
	struct pen pen;
	struct child keepalived;
	const char *conf;
} pair[PAIR] = {
	{ .where = NET_FIXTURE_DIRECTOR },
	{ .where = NET_FIXTURE_DIRECTOR2 },
};

static void
keepalived_start(struct balancer *b)
{
	const char *dir = scratch(text("keepalived%d", b->where));

	ck_assert_int_eq(mkdir(dir, 0755), 0);
	net_fixture_run(&guide.fixture, b->where, SOON,
	    child_find("keepalived"), "-t", "-f", b->conf, NULL);
	net_fixture_start(&guide.fixture, b->where, &b->keepalived,
	    (const char *[]){ child_find("keepalived"), "-n", "-l", "-P", "-f",
		b->conf, "-p", text("%s/pid", dir), "-r", text("%s/vrrp", dir),
		NULL });
}

static bool
has_address(const struct balancer *b)
{
	return strstr(net_fixture_run(&guide.fixture, b->where, SOON, "ip",
			  "addr", "show", "dev", "eth0", NULL),
		   GUIDE_PEN "/24") != NULL;
}

static struct balancer *
owner(void)
{
	WAIT_FOR(has_address(&pair[0]) != has_address(&pair[1]), SOON);
	return has_address(&pair[0]) ? &pair[0] : &pair[1];
}

static void
pair_up(void)
{
	static const char *const second[] = { "router_id pen1",
		"router_id pen2", NULL };
	int i;

	for (i = 0; i < PAIR; i++) {
		guide_machine(&guide, text("pen%d-", i));
		if (i == 1)
			guide_differs(second);
		write_file(guide_path("/etc/pen/peer.key"),
		    "a secret of more than 32 bytes, shared");
		ck_assert_int_eq(
		    chmod(guide_path("/etc/pen/peer.key"), 0600), 0);
		guide_start_at(&guide, &pair[i].pen, pair[i].where);
		pair[i].conf = scratch(text("keepalived%d.conf", i));
		write_file(pair[i].conf, guide_text("keepalived.conf"));
		keepalived_start(&pair[i]);
	}
}

/* The switch, and the client, have to learn where the address is. */
static const char *
page_by_address(void)
{
	const char *page = "";

	WAIT_FOR(*(page = fetch("http://" GUIDE_PEN "/")) != '\0', SOON);
	return page;
}

/* Pages come by the address, from the same server whoever has it. */
START_TEST(two_balancers)
{
	struct balancer *first, *second;
	const char *page;
	int i;

#ifndef HAVE_OPENSSL
	SKIP("built without TLS");
#endif
	NEED_PROGRAM("nginx");
	NEED_PROGRAM("keepalived");
	if (geteuid() != 0)
		SKIP("keepalived needs root");
	NEED_GUIDES(&guide, "two-balancers", true);
	web_up("client=$remote_addr",
	    guide_quote(
		"two-balancers.conf", "With nginx, in the block server { }"));
	pair_up();
	first = owner();
	second = first == &pair[0] ? &pair[1] : &pair[0];
	page = page_by_address();
	ck_assert_str_eq(page + 8, " client=" GUIDE_CLIENT);
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(page_by_address(), page);
	child_stop(&first->pen.child, SIGKILL);
	WAIT_FOR(has_address(second) && !has_address(first), SOON);
	ck_assert_str_eq(page_by_address(), page);
	child_stop(&first->keepalived, SIGTERM);
	child_stop(&second->keepalived, SIGTERM);
	pen_down(&second->pen);
	net_fixture_down(&guide.fixture);
	web_down();
}
END_TEST

SUITE(test_guide_pair)
{
	Suite *s = suite_create("guide_pair");

	SUITE_ADD(s, dsr, 60);
	SUITE_ADD(s, two_balancers, 120);
	return s;
}
