/* test_guide_ecmp_services.c: the files of examples/guide for proxies on three
 * hosts, each with thirty services, whose addresses real BIRDs announce to a
 * router: one service's servers are stopped, then one host's pen is killed. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/ecmp_fixture.h"
#include "support/backend.h"
#include "support/suite.h"
#include "support/wait.h"

enum {
	SOON = ECMP_SOON,
	SERVICES = 30,
	OF_GUIDE = 2, /* web and ldap; the others are as web */
	LDAP = 1,
	CLIENTS = 3 /* of each service at a time */
};

static struct guide guide = { .name = "ecmp-services" };
static struct backend web[ECMP_SERVERS], ldap[ECMP_SERVERS];

static const char *
address(int service)
{
	return text("198.51.100.%d", 1 + service);
}

/* ---- files ---- */

/* Sections of more services, as the comment of the guide describes them. */
static const char *
more_sections(void)
{
	const char *all = "";
	int i;

	for (i = OF_GUIDE; i < SERVICES; i++)
		all = text("%sservice s%d\nlisten %s:80\n"
			   "server 0 address 192.0.2.21 port 80\n"
			   "server 1 address 192.0.2.22 port 80\n"
			   "fit_file /run/pen-ecmp-services/s%d.fit\n",
		    all, i, address(i), i);
	return all;
}

static const char *
bird(void)
{
	const char *all =
	    guide_quote("ecmp-services.conf", "/etc/bird/bird.conf");
	int i;

	for (i = OF_GUIDE; i < SERVICES; i++)
		all = text("%sprotocol static s%d from service {\n"
			   "    route %s/32 blackhole;\n}\n",
		    all, i, address(i));
	return all;
}

static const char *
at_boot(void)
{
	return text("ip route add default via 192.0.2.1\n%s",
	    guide_quote("ecmp-services.conf", "On each host, at each boot:"));
}

/* ---- servers ---- */

static void
serve(struct backend *b, const char *port)
{
	struct endpoint at, any = { .port = atoi(port) };
	int i;

	for (i = 0; i < ECMP_SERVERS; i++) {
		endpoint_at_host(&at, &any, text("192.0.2.%d", 21 + i));
		net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
		backend_start_at(&b[i], &at, backend_say, port);
		net_fixture_leave(&guide.fixture);
	}
}

static void
stop(struct backend *b)
{
	int i;

	for (i = 0; i < ECMP_SERVERS; i++)
		backend_stop(&b[i]);
}

/* ---- the router ---- */

/* How many hosts the router sends clients of each service to. */
static int
next_hops(const char *routes, int service)
{
	const char *at = strstr(routes, text("%s ", address(service)));
	int i, count = 0;

	if (at == NULL)
		return 0;
	/* one is in the line itself, several are each in a line below it */
	for (i = 0; i < ECMP_HOSTS; i++) {
		const char *via = strstr(at, text("via 192.0.2.%d ", 11 + i));
		const char *end = strstr(at, "\n198.51.100.");

		count += via != NULL && (end == NULL || via < end);
	}
	return count;
}

static bool
has_next_hops(int of_ldap, int of_others)
{
	const char *routes = ecmp_routes(&guide, "198.51.100.0/24");
	int i;

	for (i = 0; i < SERVICES; i++)
		if (next_hops(routes, i) != (i == LDAP ? of_ldap : of_others))
			return false;
	return true;
}

static void
wait_next_hops(const char *when, int of_ldap, int of_others)
{
	long long began = wait_now_ms();

	WAIT_FOR(has_next_hops(of_ldap, of_others), SOON);
	printf("%s: next hops %d of ldap, %d of 29 others after %lld ms\n",
	    when, of_ldap, of_others, wait_now_ms() - began);
}

/* ---- clients ---- */

static void
expect_answers(int service)
{
	struct endpoint at, any = { .port = service == LDAP ? 389 : 80 };
	int i;

	endpoint_at_host(&at, &any, address(service));
	for (i = 0; i < CLIENTS; i++)
		ck_assert_str_eq(
		    endpoint_hear(&at), service == LDAP ? "389" : "80");
}

/* All services answer clients beyond the router, ldap as it is said. */
static void
expect_service(bool of_ldap)
{
	struct endpoint at, any = { .port = 389 };
	int i;

	net_fixture_enter(&guide.fixture, NET_FIXTURE_CLIENT);
	for (i = 0; i < SERVICES; i++)
		if (i != LDAP || of_ldap)
			expect_answers(i);
	if (!of_ldap) {
		endpoint_at_host(&at, &any, address(LDAP));
		ck_assert_int_eq(endpoint_try_connect(&at), -1);
		ck_assert_int_eq(errno, ENETUNREACH);
	}
	net_fixture_leave(&guide.fixture);
}

START_TEST(thirty_services)
{
	struct child monitor;
	const char *moved;
	int i;

	NEED_ECMP(&guide);
	guide.more = more_sections();
	serve(web, "80");
	serve(ldap, "389");
	for (i = 0; i < ECMP_HOSTS; i++)
		ecmp_start(&guide, i, at_boot, bird);
	wait_next_hops("start", ECMP_HOSTS, ECMP_HOSTS);
	expect_service(true);
	net_fixture_start(&guide.fixture, NET_FIXTURE_ROUTER, &monitor,
	    (const char *[]){ child_find("ip"), "monitor", "route", NULL });
	stop(ldap);
	wait_next_hops("servers of ldap stopped", 0, ECMP_HOSTS);
	expect_service(false);
	WAIT_FOR(
	    strstr(child_out(&monitor), "Deleted 198.51.100.2 ") != NULL, SOON);
	/* no route of the others was touched in the meantime */
	moved = child_out(&monitor);
	ck_assert_ptr_null(strstr(moved, "198.51.100.1"));
	ck_assert_ptr_null(strstr(moved, "198.51.100.3"));
	child_stop(&monitor, SIGKILL);
	child_stop(&ecmp_hosts[0].pen.child, SIGKILL);
	wait_next_hops("one pen killed", 0, ECMP_HOSTS - 1);
	expect_service(false);
	serve(ldap, "389");
	wait_next_hops("servers of ldap back", ECMP_HOSTS - 1, ECMP_HOSTS - 1);
	expect_service(true);
	guide_machine(&guide, "d0-");
	guide_start_at(&guide, &ecmp_hosts[0].pen, ecmp_hosts[0].where);
	wait_next_hops("pen started again", ECMP_HOSTS, ECMP_HOSTS);
	expect_service(true);
	ecmp_down(&guide);
	stop(web);
	stop(ldap);
}
END_TEST

SUITE(test_guide_ecmp_services)
{
	Suite *s = suite_create("guide_ecmp_services");

	SUITE_ADD(s, thirty_services, 240);
	return s;
}
