/* test_comeback.c: all servers were gone, and one is back: its first client is
 * served. Nobody waits for the end of a blacklist time when nobody else is
 * left. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000, AT_ONCE = 1000, MOMENT = 100 };

static struct endpoint front, ctl, at[3];
static struct pen pen;

static int
blacklisted(void)
{
	return count_in(
	    endpoint_ask(&ctl, "servers long\n"), " state blacklisted ");
}

/* ---- connections ---- */

static void
up_waiting(
    const char *retry, enum endpoint_kind kind, const char *mode, int servers)
{
	int i;

	for (i = 0; i < 3; i++)
		endpoint_new(&at[i], kind);
	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-C", ctl.text, "--retry", retry, "-O", mode,
	    front.text, at[0].text, servers > 1 ? at[1].text : NULL,
	    servers > 2 ? at[2].text : NULL, NULL);
}

/* Clients do not wait. */
static void
up_tcp(enum endpoint_kind kind, const char *mode, int servers)
{
	up_waiting("0", kind, mode, servers);
}

static void
is_reset(void)
{
	int fd = endpoint_connect(&front);

	endpoint_expect_reset(fd);
	close(fd);
}

/* A server alone is tried by each client, of whatever family and however it is
 * chosen. */
START_TEST(single_server_restarted)
{
	static const char *const modes[] = { "roundrobin", "no roundrobin",
		"stubborn", "hash", "balance p2c" };
	enum endpoint_kind kind = _i % 2 == 0 ? ENDPOINT_TCP4 : ENDPOINT_UNIX;
	struct backend b;
	long long began;
	int i;

	up_tcp(kind, modes[_i / 2], 1);
	for (i = 0; i < 3; i++)
		is_reset();
	ck_assert_int_eq(blacklisted(), 1);
	backend_start_at(&b, &at[0], backend_say, "back");
	began = wait_now_ms();
	ck_assert_str_eq(endpoint_hear(&front), "back");
	ck_assert_int_lt(wait_now_ms() - began, wait_scaled(AT_ONCE));
	ck_assert_int_eq(blacklisted(), 0);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* Whichever of several is back is found by the first client. */
START_TEST(one_of_three_is_back)
{
	struct backend b;
	int i;

	up_tcp(ENDPOINT_TCP4, "roundrobin", 3);
	is_reset();
	is_reset();
	backend_start_at(&b, &at[_i], backend_say, "back");
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(endpoint_hear(&front), "back");
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* While others are there, one that refused is tried again soon, though not at
 * once: the blacklist time is for those that are silent. */
START_TEST(refusal_is_no_long_absence)
{
	struct backend a, b;
	int i;

	up_tcp(ENDPOINT_TCP4, "roundrobin", 2);
	backend_start_at(&b, &at[1], backend_say, "b");
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(endpoint_hear(&front), "b");
	ck_assert_int_eq(blacklisted(), 1);
	backend_start_at(&a, &at[0], backend_say, "a");
	WAIT_FOR(strcmp(endpoint_hear(&front), "a") == 0, SOON);
	ck_assert_int_eq(blacklisted(), 0);
	pen_down(&pen);
	backend_stop(&a);
	backend_stop(&b);
}
END_TEST

/* Servers killed one after the other, each back when the next one goes: nobody
 * is refused. */
START_TEST(storm_of_restarts)
{
	struct backend b[3];
	int i, k, n = 0;

	up_tcp(ENDPOINT_TCP4, "roundrobin", 3);
	for (i = 0; i < 3; i++)
		backend_start_at(&b[i], &at[i], backend_say, "served");
	for (i = 0; i < 18; i++) {
		backend_stop(&b[i % 3]);
		for (k = 0; k < 10; k++)
			n += strcmp(endpoint_hear(&front), "served") == 0;
		backend_start_at(&b[i % 3], &at[i % 3], backend_say, "served");
	}
	ck_assert_int_eq(n, 180);
	pen_down(&pen);
	for (i = 0; i < 3; i++)
		backend_stop(&b[i]);
}
END_TEST

/* ---- clients that wait ---- */

static long
counter(const char *name)
{
	return report_number(
	    endpoint_ask(&ctl, "statistics\n"), text("\n%s ", name));
}

/* Who comes while all servers refuse is served when one is back, with all that
 * it has said meanwhile. */
START_TEST(client_waits_for_a_restart)
{
	struct backend b;
	char got[16] = "";
	int fd;

	up_waiting("10", _i == 0 ? ENDPOINT_TCP4 : ENDPOINT_UNIX, "roundrobin",
	    _i + 1);
	fd = endpoint_connect(&front);
	endpoint_send(fd, "hello", 5);
	WAIT_FOR(blacklisted() == _i + 1, SOON);
	ck_assert_int_eq(counter("connecting"), 1);
	backend_start_at(&b, &at[_i], backend_echo, NULL);
	endpoint_recv(fd, got, 5);
	ck_assert_str_eq(got, "hello");
	close(fd);
	ck_assert_int_eq(b.accepted, 1);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* It waits for all of the time, of which the last part may be short. */
START_TEST(waiting_has_an_end)
{
	static const struct {
		const char *retry;
		int ms, tries;
	} rows[] = { { "0", 0, 1 }, { "0.2", 200, 2 }, { "1", 1000, 2 } };
	long long began;

	up_waiting(rows[_i].retry, ENDPOINT_TCP4, "roundrobin", 2);
	began = wait_now_ms();
	is_reset();
	ck_assert_int_ge(wait_now_ms() - began, rows[_i].ms);
	WAIT_FOR(counter("closed_no_server") == 1, SOON);
	ck_assert_int_eq(counter("connecting"), 0);
	ck_assert_int_ge(counter("retries"), 2 * rows[_i].tries - 1);
	pen_down(&pen);
}
END_TEST

/* A client that goes away, and one of a stubborn pool. */
START_TEST(who_does_not_wait)
{
	struct backend b;
	int fd;

	up_waiting("60", ENDPOINT_TCP4, "roundrobin", 1);
	fd = endpoint_connect(&front);
	WAIT_FOR(counter("connecting") == 1, SOON);
	endpoint_reset(fd);
	WAIT_FOR(counter("connecting") == 0, SOON);
	/* and the next one is served as if nothing had been */
	backend_start_at(&b, &at[0], backend_say, "back");
	ck_assert_str_eq(endpoint_hear(&front), "back");
	pen_down(&pen);
	backend_stop(&b);
	up_waiting("60", ENDPOINT_TCP4, "stubborn", 1);
	is_reset();
	pen_down(&pen);
}
END_TEST

/* ---- datagrams ---- */

static void
up_udp(const char *option, const char *mode)
{
	udp_endpoint(&at[0], ENDPOINT_TCP4);
	udp_endpoint(&at[1], ENDPOINT_TCP4);
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, option, "-C", ctl.text, "-O", mode, front.text,
	    at[0].text, at[1].text, NULL);
}

/* The first datagram after its return is answered; so is every later one. */
START_TEST(udp_servers_restarted)
{
	static const char *const modes[] = { "roundrobin", "no roundrobin",
		"hash" };
	struct udp_server s;
	int fd, i;

	up_udp("-U", modes[_i / 2]);
	fd = udp_client(&front);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(udp_try(fd, "x", MOMENT), "");
	WAIT_FOR(blacklisted() == 2, SOON);
	udp_server_start_at(&s, &at[_i % 2], "back:");
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "back:x");
	close(fd);
	pen_down(&pen);
	udp_server_stop(&s);
}
END_TEST

/* A client that speaks before it is answered stays with its server, though that
 * counts as failed: both its questions are answered. */
START_TEST(udp_client_stays_with_the_last_resort)
{
	struct udp_server s[2];
	char got[16];
	int fd, i, k;

	up_udp("-U", "no roundrobin");
	fd = udp_client(&front);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(udp_try(fd, "x", MOMENT), "");
	WAIT_FOR(blacklisted() == 2, SOON);
	for (i = 0; i < 2; i++) {
		udp_server_start_at(&s[i], &at[i], "");
		s[i].replies = 0;
	}
	for (k = 0; k < 10; k++)
		ck_assert_int_eq(send(fd, "y", 1, 0), 1);
	WAIT_FOR(s[0].received + s[1].received >= 10, SOON);
	ck_assert(s[0].received == 0 || s[1].received == 0);
	for (i = 0; i < 2; i++)
		s[i].replies = 1;
	ck_assert_int_eq(send(fd, "z", 1, 0), 1);
	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), 1);
	close(fd);
	pen_down(&pen);
	for (i = 0; i < 2; i++)
		udp_server_stop(&s[i]);
}
END_TEST

/* ---- DNS ---- */

/* id, flags, one question: a.test A IN */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
enum { QUERY = sizeof(query) - 1, SERVFAIL = 2 };

/* The client's answer; its response code. */
static int
rcode(int fd)
{
	char got[512];

	ck_assert_int_eq(recv(fd, got, sizeof(got), 0), QUERY);
	ck_assert_int_eq(memcmp(got, query, 2), 0);
	ck_assert_int_eq(got[2] & 0x80, 0x80);
	return got[3] & 0x0f;
}

/* Answers one query at a server's socket. */
static void
answer_one(int server)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char got[512];

	ck_assert_int_eq(recvfrom(server, got, sizeof(got), 0,
			     (struct sockaddr *)&from, &len),
	    QUERY);
	got[2] |= (char)0x80;
	ck_assert_int_eq(
	    sendto(server, got, QUERY, 0, (struct sockaddr *)&from, len),
	    QUERY);
}

START_TEST(name_servers_restarted)
{
	int fd, server, i;

	up_udp("--dns", "roundrobin");
	fd = udp_client(&front);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
		ck_assert_int_eq(rcode(fd), SERVFAIL);
	}
	server = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(
	    bind(server, (struct sockaddr *)&at[_i].addr, at[_i].len), 0);
	endpoint_set_deadline(server, SOON);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
		answer_one(server);
		ck_assert_int_eq(rcode(fd), 0);
	}
	close(fd);
	close(server);
	pen_down(&pen);
}
END_TEST

static void
add_each(Suite *s, const char *name, const TTest *test, int times)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, test, 0, times);
	suite_add_tcase(s, c);
}

SUITE(test_comeback)
{
	Suite *s = suite_create("comeback");

	add_each(s, "single_server_restarted", single_server_restarted, 10);
	add_each(s, "one_of_three_is_back", one_of_three_is_back, 3);
	SUITE_ADD(s, refusal_is_no_long_absence, 30);
	SUITE_ADD(s, storm_of_restarts, 30);
	add_each(
	    s, "client_waits_for_a_restart", client_waits_for_a_restart, 2);
	add_each(s, "waiting_has_an_end", waiting_has_an_end, 3);
	SUITE_ADD(s, who_does_not_wait, 30);
	add_each(s, "udp_servers_restarted", udp_servers_restarted, 6);
	SUITE_ADD(s, udp_client_stays_with_the_last_resort, 30);
	add_each(s, "name_servers_restarted", name_servers_restarted, 2);
	return s;
}
