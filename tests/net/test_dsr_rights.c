/* test_dsr_rights.c: what a director may do: CAP_NET_RAW while it opens its
 * interface, nothing from then on. */
#include "config.h"

#include <check.h>
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;
static struct dsrpen pen;

static bool
is_empty_set(const char *name)
{
	const char *set = child_status_line(pen.child.pid, name);

	while (isspace((unsigned char)*set))
		set++;
	return *set != '\0' && strspn(set, "0\n") == strlen(set);
}

static void
expect_no_rights(void)
{
	ck_assert(is_empty_set("CapEff"));
	ck_assert(is_empty_set("CapPrm"));
	ck_assert(is_empty_set("CapInh"));
	ck_assert(is_empty_set("CapAmb"));
	ck_assert_int_eq(
	    atoi(child_status_line(pen.child.pid, "NoNewPrivs")), 1);
}

/* A connection, the same after what needs the link again: another address. */
static void
expect_service(void)
{
	int at[2], near;

	at[0] = net_fixture_listen(&fixture, NET_FIXTURE_SERVER, SOCK_STREAM,
	    NET_FIXTURE_VIP4_B, 7007);
	at[1] = net_fixture_listen(&fixture, NET_FIXTURE_SERVER + 1,
	    SOCK_STREAM, NET_FIXTURE_VIP4_B, 7007);
	ck_assert_str_eq(dsrpen_ask(&pen, "listen " NET_FIXTURE_VIP4_B ":0"),
	    NET_FIXTURE_VIP4_B ":0\n");
	near = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, SOCK_STREAM,
	    NET_FIXTURE_VIP4_B, 7007);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	close(near);
	close(at[0]);
	close(at[1]);
}

static void
up(void)
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0),
	    net_fixture_server4(1), NULL);
}

static void
down(void)
{
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

START_TEST(root_gives_up_all)
{
	NEED_DSR_OF_OURS("rights");
	NEED_NET_FIXTURE(&fixture, &two);
	up();
	expect_no_rights();
	ck_assert(is_empty_set("CapBnd"));
	expect_service();
	down();
}
END_TEST

START_TEST(raw_sockets_are_all_it_needs)
{
	const char *wrapper = getenv("PEN_TEST_WRAPPER");

	NEED_DSR_OF_OURS("rights");
	NEED_PROGRAM("setpriv");
	NEED_NET_FIXTURE(&fixture, &two);
	setenv("PEN_TEST_WRAPPER",
	    text("%s --bounding-set=-all,+net_raw %s", child_find("setpriv"),
		wrapper != NULL ? wrapper : ""),
	    1);
	up();
	expect_no_rights();
	expect_service();
	down();
}
END_TEST

SUITE(test_dsr_rights)
{
	Suite *s = suite_create("dsr_rights");

	SUITE_ADD(s, root_gives_up_all, 60);
	SUITE_ADD(s, raw_sockets_are_all_it_needs, 60);
	return s;
}
