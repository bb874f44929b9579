/* test_dsr_change.c: long downloads go on while a director's list of servers
 * changes, and those that begin later follow the list. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 4, LISTED = 3, LONG = 200, SHORT = 12 };
/* A step is more than there is on the way and in a client's socket. */
enum { PAGE = 250000, STEP = 50000 };

static const struct net_fixture_options four = { .servers = SERVERS };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct nginx web[SERVERS];
static struct dsrmany many, few;

static const char *
server(bool v6, unsigned i)
{
	return v6 ? net_fixture_server6(i) : net_fixture_server4(i);
}

static void
web_up(unsigned i)
{
	char ten[] = "0000000000";

	dsrmany_web(&fixture, i, &web[i], PAGE);
	memset(ten, '0' + (int)i, strlen(ten));
	write_file(text("%s/short", web[i].root), ten);
}

static bool
macs_are_known(void)
{
	return strstr(dsrpen_ask(&pen, "dsr"), "unknown") == NULL;
}

/* Of new clients each of `servers` (their digits) gets the same share, others
 * get none. */
static void
expect_new_at(const char *vip, const char *servers)
{
	unsigned i, got;

	WAIT_FOR(macs_are_known(), 5000);
	dsrmany_init(&few, &fixture, "GET /short\r\n");
	for (i = 0; i < SHORT; i++)
		dsrmany_add(&few, SOCK_STREAM, NULL, vip, 80);
	dsrmany_wait_known(&few, 10000);
	for (i = 0; i < SERVERS; i++) {
		unsigned k;

		for (got = 0, k = 0; k < few.count; k++)
			got += few.one[k].server == (int)i;
		if (strchr(servers, '0' + (int)i) == NULL) {
			ck_assert_uint_eq(got, 0);
			continue;
		}
		/* a port used before may lead back to its server */
		ck_assert_uint_ge(got + 2, SHORT / strlen(servers));
		ck_assert_uint_le(got, SHORT / strlen(servers) + 2);
	}
	dsrmany_close_all(&few);
	dsrmany_turn(&many, 0);
}

static void
tell(const char *line)
{
	const char *answer = dsrpen_ask(&pen, line);

	ck_assert_msg(strstr(answer, "error") == NULL, "%s: %s", line, answer);
}

/* All but those of the server that went down end with all of their page. */
static void
expect_whole(int down)
{
	unsigned i, broken = 0;

	many.most = 0;
	WAIT_FOR((dsrmany_turn(&many, 10), dsrmany_open(&many) == 0), 60000);
	for (i = 0; i < many.count; i++) {
		const struct dsrmany_one *o = &many.one[i];

		ck_assert(!o->moved);
		broken += o->fate == DSRMANY_BROKEN;
		if (o->server != down) {
			ck_assert_int_eq(o->fate, DSRMANY_ENDED);
			ck_assert_uint_eq(o->got, PAGE);
		} else {
			ck_assert_int_eq(o->fate, DSRMANY_BROKEN);
		}
	}
	printf(
	    "%u of %u downloads ended with their server\n", broken, many.count);
}

static void
begin(const char *vip, bool v6)
{
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		web_up(i);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, vip, "-r",
	    v6 ? text("[%s]:0", vip) : text("%s:0", vip), server(v6, 0),
	    server(v6, 1), server(v6, 2), NULL);
	WAIT_FOR(macs_are_known(), 5000);
	/* they take what they are told to, so that none ends too soon */
	net_fixture_set(
	    &fixture, NET_FIXTURE_CLIENT, "ipv4/tcp_rmem", "4096 16384 16384");
	dsrmany_init(&many, &fixture, "GET /page\r\n");
	many.most = 1;
	for (i = 0; i < LONG; i++)
		dsrmany_add(&many, SOCK_STREAM, NULL, vip, 80);
	dsrmany_wait_known(&many, 10000);
	for (i = 0; i < LISTED; i++)
		ck_assert_uint_ge(dsrmany_count(&many, (int)i), LONG / LISTED);
}

static void
end(void)
{
	unsigned i;

	dsrpen_down(&pen);
	for (i = 0; i < SERVERS; i++)
		nginx_down(&web[i]);
	net_fixture_down(&fixture);
}

static void
expect_to_follow(const char *vip, bool v6)
{
	unsigned ones;

	begin(vip, v6);
	ones = dsrmany_count(&many, 1);
	expect_new_at(vip, "012");
	tell("server 0 drain");
	expect_new_at(vip, "12");
	tell(text("server 3 address %s", server(v6, 3)));
	expect_new_at(vip, "123");
	tell("server 2 remove");
	expect_new_at(vip, "13");
	dsrmany_expect_progress(&many, STEP, LONG);
	tell("server 1 down");
	expect_new_at(vip, "3");
	tell("server 0 up");
	tell(text("server 2 address %s", server(v6, 2)));
	expect_new_at(vip, "023");
	many.most += STEP;
	WAIT_FOR((dsrmany_turn(&many, 10), dsrmany_count(&many, 1) == 0), 5000);
	tell("server 1 up");
	expect_new_at(vip, "0123");
	dsrmany_expect_progress(&many, STEP, LONG - ones);
	expect_whole(1);
	end();
}

START_TEST(downloads_go_on)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no control socket here");
	NEED_PROGRAM("nginx");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &four);
	expect_to_follow(NET_FIXTURE_VIP4, false);
}
END_TEST

START_TEST(downloads_go_on_over_ipv6)
{
	if (dsrpen_is_classic())
		SKIP("a classic pen has no control socket here");
	NEED_PROGRAM("nginx");
	NEED_DSR();
	NEED_NET_FIXTURE(&fixture, &four);
	expect_to_follow(NET_FIXTURE_VIP6, true);
}
END_TEST

SUITE(test_dsr_change)
{
	Suite *s = suite_create("dsr_change");

	SUITE_ADD(s, downloads_go_on, 60);
	SUITE_ADD(s, downloads_go_on_over_ipv6, 60);
	return s;
}
