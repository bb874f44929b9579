/* test_dsr_stop.c: a director that is told to stop forwards what it knows, and
 * nothing that begins. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct net_fixture_options two = { .servers = 2 };
static struct net_fixture fixture;
static struct dsrnet net;

static bool
tells(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

START_TEST(connections_go_on)
{
	int near, far, late;
	unsigned i;

	NEED_DSR_OF_OURS("a graceful stop");
	NEED_NET_FIXTURE(&fixture, &two);
	net.option = "-Odrain_timeout 0";
	dsrnet_begin(&net, &fixture, NET_FIXTURE_VIP4, SOCK_STREAM);
	dsrnet_connect(&net, &near, &far);
	dsrnet_pass(near, far, 4);
	ck_assert_int_eq(kill(net.pen.child.pid, SIGQUIT), 0);
	WAIT_FOR(child_has_said(&net.pen.child, "stopping"), 5000);
	late = dsrnet_dial(&net);
	for (i = 0; i < 20; i++)
		dsrnet_pass(near, far, 100);
	for (i = 0; i < two.servers; i++)
		ck_assert(!tells(net.at[i]));
	ck_assert(!child_has_ended(&net.pen.child));
	/* the server's own end does not come by here: the client's does */
	close(far);
	close(near);
	WAIT_FOR(child_has_ended(&net.pen.child), 20000);
	ck_assert_int_eq(net.pen.child.status, 0);
	close(late);
	for (i = 0; i < two.servers; i++)
		close(net.at[i]);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_stop)
{
	Suite *s = suite_create("dsr_stop");

	SUITE_ADD(s, connections_go_on, 60);
	return s;
}
