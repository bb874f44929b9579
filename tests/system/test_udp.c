/* test_udp.c: datagrams through pen: who answers whom, from where, how large,
 * for how long, and what happens when servers go or there are too many
 * clients. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/shortcuts.h"
#include "support/child.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000, BIGGEST = 65507 };

static struct udp_server a, b;
static struct endpoint front, ctl;
static struct pen pen;

static void
up_at(const char *option, const char *value)
{
	endpoint_new(&ctl, ENDPOINT_UNIX);
	if (option != NULL)
		pen_up(&pen, &ctl, "-U", "-C", ctl.text, option, value,
		    front.text, a.at.text, b.at.text, NULL);
	else
		pen_up(&pen, &ctl, "-U", "-C", ctl.text, front.text, a.at.text,
		    b.at.text, NULL);
}

static void
up(const char *option, const char *value)
{
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	up_at(option, value);
}

static void
down(void)
{
	pen_down(&pen);
	udp_server_stop(&a);
	udp_server_stop(&b);
}

static bool
control_says(const char *command, const char *what)
{
	return strstr(endpoint_ask(&ctl, text("%s\n", command)), what) != NULL;
}

/* Any family in front, any behind. */
START_TEST(families)
{
	static const enum endpoint_kind kinds[] = { ENDPOINT_TCP4,
		ENDPOINT_TCP6, ENDPOINT_UNIX };
	enum endpoint_kind in = kinds[_i / 3], out = kinds[_i % 3];
	int fd, i;

	if (!endpoint_has_kind(in) || !endpoint_has_kind(out))
		SKIP("no IPv6 here");
	udp_server_start(&a, out, "a:");
	udp_server_start(&b, out, "b:");
	udp_endpoint(&front, in);
	up_at(NULL, NULL);
	fd = udp_client(&front);
	for (i = 0; i < 5; i++)
		ck_assert_str_eq(
		    udp_ask(fd, text("x%d", i), SOON), text("a:x%d", i));
	close(fd);
	down();
}
END_TEST

/* A client stays with its server; with -r its datagrams are spread. */
START_TEST(who_serves)
{
	int fd, other, i;

	NEEDS_ONE_WORKER("numbers of flows are of the worker that has them");
	up(NULL, NULL);
	fd = udp_client(&front);
	other = udp_client(&front);
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	/* the same host: sticky, as for TCP */
	ck_assert_str_eq(udp_ask(other, "y", SOON), "a:y");
	ck_assert(control_says("flows", "requests 4 responses 4 sx 4 rx 12"));
	ck_assert(control_says("flow 1 json", "\"requests\":1") ||
	    control_says("flow 1 json", "built without"));
	ck_assert(control_says("flow 2", "error: flow: there is no flow 2"));
	ck_assert(control_says("servers",
	    "conn 2 max 0 hard 0 weight 0 prio 0 "
	    "sx 5 rx 15"));
	ck_assert(control_says("statistics", "datagrams_up 5\n"));
	close(fd);
	close(other);
	down();
	up("-O", "roundrobin");
	fd = udp_client(&front);
	for (i = 0; i < 6; i++)
		ck_assert_str_eq(
		    udp_ask(fd, "x", SOON), i % 2 == 0 ? "a:x" : "b:x");
	ck_assert(control_says("statistics", "flows 2\n"));
	close(fd);
	down();
}
END_TEST

/* Nothing is lost or changed, be it nothing or all that fits. */
START_TEST(all_sizes)
{
	static const size_t sizes[] = { 0, 1, 2, 1472, 1473, 8192, 65000,
		BIGGEST };
	static char out[BIGGEST], in[BIGGEST + 100];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 7 + i / 251);
	udp_server_start(&a, ENDPOINT_TCP4, "");
	udp_server_start(&b, ENDPOINT_TCP4, "");
	udp_endpoint(&front, ENDPOINT_TCP4);
	up_at(NULL, NULL);
	fd = udp_client(&front);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		ck_assert_int_eq(send(fd, out, sizes[i], 0), (int)sizes[i]);
		ck_assert_int_eq(recv(fd, in, sizeof(in), 0), (int)sizes[i]);
		ck_assert_int_eq(memcmp(in, out, sizes[i]), 0);
	}
	close(fd);
	down();
}
END_TEST

/* Answers come from the address that was asked, of a host that has several. */
START_TEST(from_where_it_was_asked)
{
	struct endpoint any, second;
	int fd, i;

	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	any = front;
	endpoint_at_host(&second, &front, "127.0.0.2");
	snprintf(front.text, sizeof(front.text), "0.0.0.0:%d", front.port);
	up_at(NULL, NULL);
	/* connected sockets hear only from where they talk to */
	for (i = 0; i < 3; i++) { /* at first, and by sockets of their own */
		fd = udp_client(&second);
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
		close(fd);
		fd = udp_client(&any);
		ck_assert_str_eq(udp_ask(fd, "y", SOON), "a:y");
		ck_assert_str_eq(udp_ask(fd, "y", SOON), "a:y");
		close(fd);
		if (i == 1)
			(void)endpoint_ask(&ctl, "udp_pmtu on\n");
	}
	down();
	if (!endpoint_has_kind(ENDPOINT_TCP6))
		return;
	/* the same through a socket of both families */
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_at_host(&second, &front, "127.0.0.3");
	snprintf(front.text, sizeof(front.text), ":::%d", front.port);
	up_at(NULL, NULL);
	fd = udp_client(&second);
	ck_assert_str_eq(udp_ask(fd, "z", SOON), "a:z");
	close(fd);
	down();
}
END_TEST

#ifdef __linux__
/* One datagram of each client while pen is stopped, so that it finds them all;
 * and their answers. */
static void
ask_at_once(const int *fds, int n)
{
	char in[8];
	int i;

	pen_freeze(&pen);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(send(fds[i], "x", 1, 0), 1);
	pen_thaw(&pen);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(recv(fds[i], in, sizeof(in), 0), 3);
}

/* The socket that answers leave from is opened although there are as many
 * datagrams as a turn reads each time, after which more may be there. */
START_TEST(answered_cheaply_under_load)
{
	enum { TURN = 64 };
	int fds[TURN], i, before;
	struct endpoint at;

	NEEDS_ONE_WORKER("each has a part of the datagrams");
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	at = front;
	snprintf(front.text, sizeof(front.text), "0.0.0.0:%d", front.port);
	up_at(NULL, NULL);
	for (i = 0; i < TURN; i++)
		fds[i] = udp_client(&at);
	ask_at_once(fds, TURN);
	before = pen_fds(&pen);
	ask_at_once(fds, TURN);
	ck_assert_int_eq(pen_fds(&pen), before + SHORTCUT_REPLY_SOCKETS);
	for (i = 0; i < TURN; i++)
		close(fds[i]);
	down();
}
END_TEST
#endif

/* The server refuses: its clients go to the next one with that very datagram,
 * and come back when it does. */
START_TEST(dead_servers)
{
	/* around the size of the blocks that small ones are kept in */
	static const int size[8] = { 1, 2, 127, 128, 129, 130, 500, 900 };
	struct endpoint at;
	const char *question;
	int fds[8], i;

	up("-O", "blacklist 1");
	for (i = 0; i < 8; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "x", SOON), "a:x");
	}
	at = a.at;
	udp_server_stop(&a);
	for (i = 0; i < 8; i++) {
		question = text("%0*d", size[i], i);
		ck_assert_str_eq(
		    udp_ask(fds[i], question, SOON), text("b:%s", question));
	}
	ck_assert(control_says("servers json", "blacklisted") ||
	    control_says("servers json", "built without"));
	ck_assert(!control_says("statistics", "retries 0\n"));
	udp_server_start_at(&a, &at, "A:");
	for (i = 0; i < 8; i++) { /* a flow stays where it is now */
		ck_assert_str_eq(udp_ask(fds[i], "z", SOON), "b:z");
		close(fds[i]);
	}
	udp_server_stop(&b);
	fds[0] = udp_client(&front);
	WAIT_FOR(strcmp(udp_try(fds[0], "w", 500), "A:w") == 0, 10000);
	close(fds[0]);
	pen_down(&pen);
	udp_server_stop(&a);
}
END_TEST

/* The datagram that is refused goes no further; the next one does. */
START_TEST(tries_limit_servers)
{
	int fd;

	up("-O", "tries 1");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	udp_server_stop(&a);
	ck_assert_str_eq(udp_try(fd, "y", 200), "");
	WAIT_FOR(strcmp(udp_try(fd, "z", 200), "b:z") == 0, SOON);
	close(fd);
	pen_down(&pen);
	udp_server_stop(&b);
}
END_TEST

/* Nobody is there: with -r, too, a datagram is tried at each server once. */
START_TEST(each_is_tried_once)
{
	int fd;

	up("-r", "-U");
	udp_server_stop(&a);
	udp_server_stop(&b);
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	WAIT_FOR(control_says("statistics", "dropped_no_server 1\n"), SOON);
	pen_expect_rest(&pen);
	close(fd);
	pen_down(&pen);
}
END_TEST

/* Drained: old flows stay, new ones go elsewhere. Down: all go. */
START_TEST(drained_and_down)
{
	struct udp_server third;
	int fd, other;

	up("-O", "balance roundrobin");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 drain\n"), "");
	other = udp_client(&front);
	ck_assert_str_eq(udp_ask(other, "y", SOON), "b:y");
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	ck_assert_str_eq(endpoint_ask(&ctl, "server 0 down\n"), "");
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "b:x");
	/* another address is another server */
	udp_server_start(&third, ENDPOINT_TCP4, "c:");
	ck_assert_str_eq(endpoint_ask(&ctl,
			     text("server 1 address %s port %d\n",
				 udp_host(&third.at), third.at.port)),
	    "");
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "c:x");
	udp_server_stop(&third);
	close(fd);
	close(other);
	down();
}
END_TEST

START_TEST(flows_end)
{
	int fd, i;

	up("-O", "udp_timeout 1");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	ck_assert(control_says("statistics", "flows 1\n"));
	WAIT_FOR(control_says("statistics", "flows 0\n"), 10000);
	ck_assert(control_says("servers", "conn 0 "));
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	close(fd);
	down();
	up("-O", "udp_responses 1");
	fd = udp_client(&front);
	for (i = 0; i < 3; i++)
		ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	WAIT_FOR(control_says("statistics", "flows 0\n"), 10000);
	ck_assert(control_says("statistics", "flows_opened 3\n"));
	close(fd);
	down();
}
END_TEST

/* A server that takes questions and answers none is found out. */
/* A server with as many flows as it may have gets the next client, as those
 * before have their answers. */
START_TEST(answered_flows_give_way)
{
	int fd[4], i;

	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, _i == 0 ? "-rU" : "-U", "-C", ctl.text, front.text,
	    text("%s:2:2", a.at.text), NULL);
	for (i = 0; i < 4; i++) {
		fd[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fd[i], "x", SOON), "a:x");
	}
	ck_assert(control_says("statistics", "flows 2\n"));
	/* one without an answer stays */
	a.replies = 0;
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(send(fd[i], "y", 1, 0), 1);
	WAIT_FOR(atomic_load(&a.received) == 6, SOON);
	ck_assert_int_eq(send(fd[2], "z", 1, 0), 1);
	WAIT_FOR(control_says("statistics", "dropped_no_server 1\n"), SOON);
	for (i = 0; i < 4; i++)
		close(fd[i]);
	pen_down(&pen);
	udp_server_stop(&a);
}
END_TEST

START_TEST(silent_servers)
{
	struct udp_server *silent = &a;
	int fd = -1, i;

	up("-O",
	    "udp_responses 1; udp_fail 3; timeout 0.2; balance roundrobin");
	silent->replies = 0;
	for (i = 0; i < 100 && control_says("servers", "0 addr"); i++) {
		if (fd >= 0)
			close(fd);
		fd = udp_client(&front);
		(void)udp_try(fd, "x", 50);
		if (child_has_said(&pen.child, "server blacklisted server=0"))
			break;
	}
	ck_assert(child_has_said(&pen.child, "server blacklisted server=0"));
	for (i = 0; i < 4; i++)
		ck_assert_str_eq(udp_ask(fd, "y", SOON), "b:y");
	close(fd);
	down();
}
END_TEST

/* As many descriptors as the system lets us have, less some. */
static int
descriptors(void)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &r), 0);
	return r.rlim_cur > 1000000 ? 1000000 : (int)r.rlim_cur - 100;
}

/* Many clients, several answers each, all sizes: everybody gets its own. */
START_TEST(everybody_gets_its_own)
{
	int clients = (int)suite_amount(10000, 200), *fds, i, k;
	static char out[BIGGEST], in[BIGGEST + 1];

	NEEDS_MORE_THAN_SELECT();
	if (clients > descriptors() / 2)
		clients = descriptors() / 2;
	udp_server_start(&a, ENDPOINT_TCP4, "");
	udp_server_start(&b, ENDPOINT_TCP4, "");
	a.replies = b.replies = -1;
	udp_endpoint(&front, ENDPOINT_TCP4);
	up_at("-O", "balance roundrobin");
	fds = malloc((size_t)clients * sizeof(*fds));
	ck_assert_ptr_nonnull(fds);
	for (i = 0; i < clients; i++)
		fds[i] = udp_client(&front);
	for (i = 0; i < clients; i++) {
		/* 0 to 65,507, and the small ones that are usual */
		size_t n = i % 3 == 0 ? (size_t)(i * 7919) % (BIGGEST + 1)
				      : 16 + (size_t)(i * 37) % 1400;

		memset(out, 'a' + i % 26, n);
		n = n < 16 ? 16 : n;
		/* more of the largest would not fit into a socket's queue */
		snprintf(
		    out, 16, "%d from %d", n > 2000 ? 1 : i % 6, i % 100000);
		ck_assert_int_eq(send(fds[i], out, n, 0), (int)n);
		for (k = 0; k < out[0] - '0'; k++) {
			if (recv(fds[i], in, sizeof(in), 0) != (int)n ||
			    memcmp(in, out, n) != 0)
				ck_abort_msg("client %d, answer %d", i, k);
		}
	}
	for (i = 0; i < clients; i++) { /* and nothing of others */
		if (recv(fds[i], in, sizeof(in), MSG_DONTWAIT) >= 0)
			ck_abort_msg("client %d got too much", i);
		close(fds[i]);
	}
	ck_assert(control_says("statistics", text("flows %d\n", clients)));
	ck_assert(control_says("statistics", "dropped_send 0\n"));
	free(fds);
	down();
}
END_TEST

/* A flood of senders that never come back throws out its own kind first, and
 * does not keep us from those we know. */
START_TEST(steady_clients_survive_a_flood)
{
	enum { STEADY = 100 };
	static struct udp_flood flood;
	int fds[STEADY], i, asked = 0, lost = 0;

	NEEDS_ONE_WORKER("numbers of flows are of the worker that has them");
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start_limited(&pen, 20000, "-f", "-U", "-x",
	    text("%ld", suite_amount(10000, 300)), "-O", "udp_timeout 3600",
	    "-C", ctl.text, front.text, a.at.text, b.at.text, NULL);
	pen_wait_ready(&pen, &ctl);
	for (i = 0; i < STEADY; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "1", SOON), "a:1");
		ck_assert_str_eq(udp_ask(fds[i], "2", SOON), "a:2");
	}
	udp_flood_start(&flood, &front, 0, (int)suite_amount(1000000, 20000));
	for (i = 0; !flood.over; i = (i + 1) % STEADY) {
		lost += strcmp(udp_ask(fds[i], "3", 300), "a:3") != 0;
		asked++;
	}
	udp_flood_stop(&flood);
	fprintf(stderr,
	    "flood of %d in %d ms: %d questions of others, %d lost\n%s",
	    flood.amount, flood.ms, asked, lost,
	    endpoint_ask(&ctl, "statistics\n"));
	ck_assert_int_le(lost, 2 + asked / 4);
	/* none of theirs was made anew */
	for (i = 0; i < STEADY; i++) {
		ck_assert(!control_says(text("flow %d", i), "requests 1 ") &&
		    !control_says(text("flow %d", i), "error"));
		close(fds[i]);
	}
	down();
}
END_TEST

/* Nor does it make us forget to which server they belong. */
START_TEST(known_clients_survive_a_flood)
{
	static struct udp_flood flood;
	int fd, i;

	up("-c", "50");
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "1", SOON), "a:1");
	ck_assert_str_eq(udp_ask(fd, "2", SOON), "a:2");
	close(fd);
	for (i = 0; i < 6; i++) {
		udp_flood_start(&flood, &front, 1000 + 200 * i, 200);
		WAIT_FOR(flood.over, SOON);
		udp_flood_stop(&flood);
		fd = udp_client(&front);
		ck_assert_str_eq(udp_ask(fd, "3", SOON), "a:3");
		close(fd);
	}
	down();
}
END_TEST

/* Out of descriptors the idlest flow gives its own; nobody waits, nothing
 * spins. */
START_TEST(few_descriptors)
{
	enum { CLIENTS = 300 };
	int fds[CLIENTS], i;

	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start_limited(&pen, 64, "-f", "-U", "-x", "1000", "-C", ctl.text,
	    front.text, a.at.text, b.at.text, NULL);
	pen_wait_ready(&pen, &ctl);
	for (i = 0; i < CLIENTS; i++) {
		fds[i] = udp_client(&front);
		ck_assert_str_eq(udp_ask(fds[i], "x", SOON), "a:x");
	}
	/* the first ones are served anew */
	for (i = 0; i < CLIENTS; i += 30)
		ck_assert_str_eq(udp_ask(fds[i], "y", SOON), "a:y");
	pen_expect_rest(&pen);
	for (i = 0; i < CLIENTS; i++)
		close(fds[i]);
	down();
}
END_TEST

/* As many flows as descriptors allow, from addresses that are made up; those
 * that come then take the place of the idlest, and when all is quiet nothing
 * runs. */
START_TEST(as_many_flows_as_descriptors)
{
	enum { KEPT = 256, STEP = 2048 }; /* descriptors that are no flow's */
	static struct udp_flood flood;
	long files = suite_amount(20000, 500), rss;
	int fd, some = (int)files - KEPT, now;

	NEEDS_ONE_WORKER("each worker has as many descriptors");
	NEEDS_MORE_THAN_SELECT();
	if (descriptors() < files - 100)
		SKIP("too few descriptors are allowed here");
	udp_server_start(&a, ENDPOINT_TCP4, "a:");
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_start_limited(&pen, (unsigned long)files, "-f", "-U", "-x",
	    "1000000", "-C", ctl.text, front.text, a.at.text, b.at.text, NULL);
	pen_wait_ready(&pen, &ctl);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "1", SOON), "a:1");
	rss = pen_rss_kb(&pen);
	for (now = 0; now < some;
	     now += flood.amount) { /* as the queue has room */
		udp_flood_start(
		    &flood, &front, now, some - now < STEP ? some - now : STEP);
		udp_flood_stop(&flood);
		WAIT_FOR(control_says("statistics",
			     text("flows_opened %d\n", now + flood.amount + 1)),
		    SOON);
	}
	fprintf(stderr, "%d flows: %ld bytes resident each\n", some,
	    (pen_rss_kb(&pen) - rss) * 1024 / some);
	udp_flood_start(&flood, &front, some, 1024);
	udp_flood_stop(&flood);
	ck_assert_str_eq(udp_ask(fd, "2", SOON), "a:2");
	ck_assert(!control_says("statistics", "flows_evicted 0\n"));
	pen_expect_rest(&pen);
	close(fd);
	down();
}
END_TEST

/* The header says who the client is and whom it asked; the server gives it back
 * with the datagram. */
START_TEST(proxy_headers)
{
	static const char signature[] = "\r\n\r\n\0\r\nQUIT\n\x21\x12\0\x0c";
	const struct sockaddr_in *asked =
	    (const struct sockaddr_in *)(const void *)&front.addr;
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	unsigned char got[256];
	int fd, i;

	udp_server_start(&a, ENDPOINT_TCP4, "");
	udp_server_start(&b, ENDPOINT_TCP4, "");
	udp_endpoint(&front, ENDPOINT_TCP4);
	up_at("--udp-proxy", _i == 0 ? "first" : "every");
	fd = udp_client(&front);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &len), 0);
	for (i = 0; i < 3; i++) {
		bool headed = i == 0 || _i == 1;
		size_t head = headed ? 28 : 0;

		ck_assert_int_eq(send(fd, "hello", 5, 0), 5);
		ck_assert_int_eq(
		    recv(fd, got, sizeof(got), 0), (int)(head + 5));
		ck_assert_int_eq(memcmp(got + head, "hello", 5), 0);
		if (!headed)
			continue;
		ck_assert_int_eq(memcmp(got, signature, 16), 0);
		ck_assert_int_eq(memcmp(got + 16, &own.sin_addr, 4), 0);
		ck_assert_int_eq(memcmp(got + 20, &asked->sin_addr, 4), 0);
		ck_assert_int_eq(memcmp(got + 24, &own.sin_port, 2), 0);
		ck_assert_int_eq(got[26] << 8 | got[27], front.port);
	}
	close(fd);
	down();
}
END_TEST

/* What the kernel gives pen in one piece is several datagrams all the same;
 * with a header in front of each they go one by one. */
START_TEST(joined_datagrams)
{
#ifdef UDP_SEGMENT
	static const size_t sizes[] = { 100, 100, 50 };
	const size_t head = _i == 0 ? 0 : 28;
	int fd, each = 100;
	char out[250], in[300];
	size_t i, n = 0;

	for (i = 0; i < sizeof(out); i++)
		out[i] = (char)i;
	udp_server_start(&a, ENDPOINT_TCP4, "");
	udp_server_start(&b, ENDPOINT_TCP4, "");
	udp_endpoint(&front, ENDPOINT_TCP4);
	up_at("--udp-proxy", _i == 0 ? "off" : "every");
	fd = udp_client(&front);
	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &each, sizeof(each)) < 0)
		SKIP("the kernel has no UDP_SEGMENT");
	ck_assert_int_eq(send(fd, out, sizeof(out), 0), (int)sizeof(out));
	for (i = 0; i < 3; n += sizes[i++]) {
		ck_assert_int_eq(
		    recv(fd, in, sizeof(in), 0), (int)(head + sizes[i]));
		ck_assert_mem_eq(in + head, out + n, sizes[i]);
	}
	close(fd);
	down();
#else
	SKIP("built without UDP_SEGMENT");
#endif
}
END_TEST

/* The listener moves; and goes, with what came through it. */
START_TEST(listeners_move)
{
	struct endpoint second;
	int fd;

	up(NULL, NULL);
	fd = udp_client(&front);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "a:x");
	close(fd);
	udp_endpoint(&second, ENDPOINT_TCP4);
	ck_assert_str_eq(endpoint_ask(&ctl, text("listen %s\n", second.text)),
	    text("%s\n", second.text));
	ck_assert(control_says("statistics", "flows 0\n"));
	fd = udp_client(&second);
	ck_assert_str_eq(udp_ask(fd, "y", SOON), "a:y");
	close(fd);
	down();
}
END_TEST

SUITE(test_udp)
{
	Suite *s = suite_create("udp");
	TCase *matrix = tcase_create("families");

	tcase_set_timeout(matrix, 30);
	tcase_add_loop_test(matrix, families, 0, 9);
	suite_add_tcase(s, matrix);
	SUITE_ADD(s, who_serves, 30);
	SUITE_ADD(s, all_sizes, 30);
	SUITE_ADD(s, from_where_it_was_asked, 30);
#ifdef __linux__
	SUITE_ADD(s, answered_cheaply_under_load, 30);
#endif
	SUITE_ADD(s, dead_servers, 60);
	SUITE_ADD(s, tries_limit_servers, 60);
	SUITE_ADD(s, each_is_tried_once, 60);
	SUITE_ADD(s, drained_and_down, 30);
	SUITE_ADD(s, flows_end, 60);
	SUITE_ADD(s, silent_servers, 60);
	SUITE_ADD(s, everybody_gets_its_own, 120);
	SUITE_ADD(s, steady_clients_survive_a_flood, 120);
	SUITE_ADD(s, as_many_flows_as_descriptors, 60);
	SUITE_ADD(s, known_clients_survive_a_flood, 60);
	SUITE_ADD(s, few_descriptors, 60);
	SUITE_ADD_LOOP(s, joined_datagrams, 30, 2);
	SUITE_ADD(s, listeners_move, 30);
	tcase_add_loop_test(matrix, proxy_headers, 0, 2);
	tcase_add_loop_test(matrix, answered_flows_give_way, 0, 2);
	return s;
}
