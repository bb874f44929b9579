/* test_dsr_places.c: several addresses, several ports of them: what is for
 * others stays outside. */
#include "config.h"

#include <check.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"

static const struct net_fixture_options one = { .servers = 1 };
static struct net_fixture fixture;
static struct dsrpen pen;

/* Places of clients'. The server has all of them. */
static const struct place {
	const char *vip;
	int port;
	bool served;
} places[] = {
	{ NET_FIXTURE_VIP4, 80, true },
	{ NET_FIXTURE_VIP4, 443, true },
	{ NET_FIXTURE_VIP4, 81, false },
	{ NET_FIXTURE_VIP4, 53, false },
	{ NET_FIXTURE_VIP4_B, 80, true },
	{ NET_FIXTURE_VIP4_B, 40000, true },
	{ NET_FIXTURE_VIP6, 53, true },
	{ NET_FIXTURE_VIP6, 80, false },
	{ NET_FIXTURE_VIP6_B, 53, false },
};

enum { PLACES = sizeof(places) / sizeof(places[0]) };

static int at[PLACES], from[PLACES];

static long
others(void)
{
	return report_number(dsrpen_ask(&pen, "dsr"), "dropped_not_local");
}

static bool
all_are_there(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		if (places[i].served && !net_fixture_is_readable(at[i]))
			return false;
	return true;
}

static void
expect_right_ones(int type)
{
	long before = others(), wrong = 0;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		at[i] = net_fixture_listen(&fixture, NET_FIXTURE_SERVER, type,
		    places[i].vip, places[i].port);
		from[i] = net_fixture_dial(&fixture, NET_FIXTURE_CLIENT, type,
		    places[i].vip, places[i].port);
		if (type == SOCK_DGRAM)
			(void)send(from[i], "x", 1, 0);
		/* nobody answers for the last one at all */
		wrong += !places[i].served && i + 1 < PLACES;
	}
	WAIT_FOR(all_are_there(), 10000);
	WAIT_FOR(others() >= before + wrong, 10000);
	for (i = 0; i < PLACES; i++) {
		ck_assert_msg(
		    places[i].served == net_fixture_is_readable(at[i]), "%s %d",
		    places[i].vip, places[i].port);
		close(from[i]);
		close(at[i]);
	}
}

/* The server has one address, of IPv4: hardware has no family. */
START_TEST(several_places)
{
	NEED_DSR_OF_OURS("several places");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":80+443," NET_FIXTURE_VIP4_B
			     ":0,[" NET_FIXTURE_VIP6 "]:53",
	    net_fixture_server4(0), NULL);
	expect_right_ones(_i == 0 ? SOCK_STREAM : SOCK_DGRAM);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* New ones have no place any more. */
START_TEST(connections_outlast_their_port)
{
	struct dsrnet net = { .option = NULL };
	int near, far, late;
	long before;

	NEED_DSR_OF_OURS("a port that goes away");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrnet_begin(&net, &fixture, net_fixture_vip(_i), SOCK_STREAM);
	(void)dsrnet_connect(&net, &near, &far);
	dsrnet_pass(near, far, 1000);
	(void)dsrpen_ask(&net.pen,
	    text(_i == 0 ? "listen %s:80" : "listen [%s]:80", net.vip));
	dsrnet_pass(near, far, 1000);
	dsrnet_pass(far, near, 1000);
	before =
	    report_number(dsrpen_ask(&net.pen, "dsr"), "dropped_not_local");
	late = dsrnet_dial(&net);
	WAIT_FOR(report_number(
		     dsrpen_ask(&net.pen, "dsr"), "dropped_not_local") > before,
	    5000);
	ck_assert(!net_fixture_is_readable(net.at[0]));
	close(late);
	close(near);
	close(far);
	dsrnet_end(&net);
}
END_TEST

/* ---- two of them ---- */

static void
second_is_refused(const char *listen)
{
	struct dsrpen second;

	dsrpen_start(&second, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-O", "dsr_fast_path auto", listen, net_fixture_server4(0), NULL);
	WAIT_FOR(child_has_ended(&second.child), 10000);
	ck_assert_int_eq(second.child.status, 1);
	ck_assert_msg(child_has_said(&second.child, "is in use"), "%s",
	    child_err(&second.child));
}

/* The first one may answer for the same address. */
static void
second_is_started(const char *listen)
{
	struct dsrpen second;

	dsrpen_start(&second, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-O", "dsr_fast_path auto", listen, net_fixture_server4(0), NULL);
	WAIT_FOR(child_has_ended(&second.child) ||
		endpoint_path_listens(second.control),
	    10000);
	ck_assert_msg(second.child.running, "%s", child_err(&second.child));
	(void)dsrpen_ask(&second, "dsr");
	dsrpen_down(&second);
}

static void
first_is_up(const char *listen)
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-O",
	    "dsr_fast_path auto", listen, net_fixture_server4(0), NULL);
}

/* Both would pass on each frame. */
START_TEST(a_second_copy)
{
	NEED_DSR_OF_OURS("locks");
	NEED_NET_FIXTURE(&fixture, &one);
	first_is_up(NET_FIXTURE_VIP4 ":0");
	second_is_refused(NET_FIXTURE_VIP4 ":0");
	second_is_refused(NET_FIXTURE_VIP4_B ":0," NET_FIXTURE_VIP4 ":80");
	second_is_started(NET_FIXTURE_VIP4_B ":0");
	/* what it serves later counts, what it does not serve any more does
	 * not */
	dsrpen_ask(&pen, "listen " NET_FIXTURE_VIP4_B ":80");
	second_is_refused(NET_FIXTURE_VIP4_B ":0");
	second_is_started(NET_FIXTURE_VIP4_B ":81");
	second_is_started(NET_FIXTURE_VIP4 ":0");
	dsrpen_down(&pen);
	/* a name in the system goes with its process */
	first_is_up(NET_FIXTURE_VIP4 ":0");
	child_stop(&pen.child, SIGKILL);
	second_is_started(NET_FIXTURE_VIP4 ":0");
	net_fixture_down(&fixture);
}
END_TEST

/* An address that came after the change of user has that user's lock, which one
 * that is still root must respect. */
START_TEST(a_second_copy_of_a_user)
{
	struct dsrpen second;

	NEED_DSR_OF_OURS("locks");
	if (geteuid() != 0 || getpwnam("nobody") == NULL)
		SKIP("needs root and the user nobody");
	NEED_NET_FIXTURE(&fixture, &one);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-u",
	    "nobody", "-O", "dsr_fast_path auto", NET_FIXTURE_VIP4 ":0",
	    net_fixture_server4(0), NULL);
	ck_assert_str_eq(dsrpen_ask(&pen, "listen " NET_FIXTURE_VIP4_B ":80"),
	    NET_FIXTURE_VIP4_B ":80\n");
	dsrpen_start(&second, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    "-u", "nobody", "-O", "dsr_fast_path auto", NET_FIXTURE_VIP4_B ":0",
	    net_fixture_server4(0), NULL);
	WAIT_FOR(child_has_ended(&second.child), 10000);
	ck_assert_msg(child_has_said(&second.child, "is in use"), "%s",
	    child_err(&second.child));
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

/* Only one program fits an interface: the second one has no fast path. */
START_TEST(a_second_one_beside_a_fast_path)
{
	struct dsrpen second;

	NEED_DSR_OF_OURS("locks");
	NEED_NET_FIXTURE(&fixture, &one);
	first_is_up(NET_FIXTURE_VIP4 ":80");
	dsrpen_up(&second, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4_B,
	    NET_FIXTURE_VIP4_B ":80", net_fixture_server4(0), NULL);
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(&second, "dsr"), "\nlink packet\n"));
	ck_assert_ptr_nonnull(
	    strstr(dsrpen_ask(&second, "dsr"), "\nfast_path no\n"));
	dsrpen_down(&second);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_dsr_places)
{
	Suite *s = suite_create("dsr_places");
	TCase *t = tcase_create("dsr_places");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, several_places, 0, 2);
	tcase_add_loop_test(t, connections_outlast_their_port, 0, 2);
	tcase_add_test(t, a_second_copy);
	tcase_add_test(t, a_second_copy_of_a_user);
	tcase_add_test(t, a_second_one_beside_a_fast_path);
	suite_add_tcase(s, t);
	return s;
}
