/* test_dsr_no_address.c: a director whose host has no IPv4 address, only the
 * link-local one of IPv6 that an interface gets by being up. Pen could not even
 * read its servers' addresses then. */
#include "config.h"

#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static struct net_fixture fixture;
static struct dsrpen pen;

START_TEST(serves_without_an_address)
{
	const struct net_fixture_options two = { .servers = 2 };
	int first, second, near;

	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &two);
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR,
	    "addr flush dev lo\n"
	    "addr add fe80::2/64 dev eth0 nodad\n");
	first = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, NET_FIXTURE_VIP4, 7007);
	second = net_fixture_listen(&fixture, NET_FIXTURE_SERVER + 1,
	    SOCK_STREAM, NET_FIXTURE_VIP4, 7007);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0),
	    net_fixture_server4(1), NULL);
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, NET_FIXTURE_VIP4, 7007);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	close(near);
	dsrpen_down(&pen);
	close(first);
	close(second);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_no_address)
{
	Suite *s = suite_create("dsr_no_address");

	SUITE_ADD(s, serves_without_an_address, 60);
	return s;
}
