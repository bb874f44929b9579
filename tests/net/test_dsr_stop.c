/* test_dsr_stop.c: a director that is told to stop forwards what it knows, and
 * nothing that begins; one that comes and goes with its service. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/ctl.h"
#include "support/dsrnet.h"
#include "support/endpoint.h"
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

static const char *
ask(const char *line)
{
	return dsrpen_ask(&net.pen, line);
}

static void
expect_a_connection(void)
{
	int near, far;

	WAIT_FOR(strstr(ask("service direct dsr"), "unknown") == NULL, 10000);
	dsrnet_connect(&net, &near, &far);
	dsrnet_pass(near, far, 100);
	close(near);
	close(far);
}

static const char *
with_director(const char *others, const char *name)
{
	return text("%sservice %s\nlisten " NET_FIXTURE_VIP4 ":0\n"
		    "dsr_if eth0\nserver 0 address %s\n",
	    others, name, net_fixture_server4(0));
}

/* Beside another service, whose process keeps its rights. */
START_TEST(a_service_of_its_own)
{
	static const struct net_fixture_options one = { .servers = 1 };
	static const char web[] = "service web\nlisten 127.0.0.1:8080\n"
				  "server 0 address 127.0.0.1 port 8081\n";
	const char *pen = getenv("PEN"), *file, *control,
		   *argv[] = { NULL, "-f", "-C", NULL, "-F", NULL, NULL };

	NEED_DSR_OF_OURS("services");
	NEED_NET_FIXTURE(&fixture, &one);
	argv[0] = pen != NULL ? pen : "./pen";
	argv[3] = control = scratch("ctl");
	argv[5] = file = scratch("pen.conf");
	dsrnet_open(&net, &fixture, NET_FIXTURE_VIP4, SOCK_STREAM);
	net.pen.where = NET_FIXTURE_DIRECTOR;
	net.pen.control = control;
	write_file(file, web);
	net_fixture_start(&fixture, NET_FIXTURE_DIRECTOR, &net.pen.child, argv);
	WAIT_FOR(endpoint_path_listens(control), 10000);
	write_file(file, with_director(web, "direct"));
	ck_assert_str_eq(ask("reload"), "");
	expect_a_connection();
	/* the locks are those of the first */
	write_file(file, with_director(web, "other"));
	ck_assert(dsrpen_is_refused(&net.pen, &fixture, "reload",
	    "service direct has the interface eth0"));
	write_file(file, with_director(web, "direct"));
	ck_assert_str_eq(ask("service direct remove"), "");
	WAIT_FOR(strstr(ask("services"), "direct") == NULL, 10000);
	ck_assert_str_eq(ask("reload"), "");
	expect_a_connection();
	dsrnet_end(&net);
}
END_TEST

SUITE(test_dsr_stop)
{
	Suite *s = suite_create("dsr_stop");

	SUITE_ADD(s, connections_go_on, 60);
	SUITE_ADD(s, a_service_of_its_own, 60);
	return s;
}
