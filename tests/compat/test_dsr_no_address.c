/* test_dsr_no_address.c: a director whose host has no IPv4 address, only the
 * link-local one of IPv6 that an interface gets by being up. Pen could not even
 * read its servers' addresses then. */
#include "config.h"

#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/netrig.h"
#include "support/suite.h"
#include "support/wait.h"

static struct netrig rig;
static struct dsrpen pen;

START_TEST(serves_without_an_address)
{
	const struct netrig_options two = { .servers = 2 };
	int first, second, near;

	NEED_DSR();
	NEED_NETRIG(&rig, &two);
	netrig_ip(&rig, NETRIG_DIRECTOR,
	    "addr flush dev lo\n"
	    "addr add fe80::2/64 dev eth0 nodad\n");
	first =
	    netrig_listen(&rig, NETRIG_SERVER, SOCK_STREAM, NETRIG_VIP4, 7007);
	second = netrig_listen(
	    &rig, NETRIG_SERVER + 1, SOCK_STREAM, NETRIG_VIP4, 7007);
	dsrpen_up(&pen, &rig, NETRIG_DIRECTOR, NETRIG_VIP4, "-r",
	    NETRIG_VIP4 ":0", netrig_server4(0), netrig_server4(1), NULL);
	near = netrig_dial(&rig, NETRIG_CLIENT, SOCK_STREAM, NETRIG_VIP4, 7007);
	WAIT_FOR(netrig_is_connected(near), 10000);
	close(near);
	dsrpen_down(&pen);
	close(first);
	close(second);
	netrig_down(&rig);
}
END_TEST

SUITE(test_dsr_no_address)
{
	Suite *s = suite_create("dsr_no_address");

	SUITE_ADD(s, serves_without_an_address, 60);
	return s;
}
