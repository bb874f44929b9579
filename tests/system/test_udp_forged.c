/* test_udp_forged.c: an ICMP message that says a server's port is unreachable,
 * sent by somebody else: one alone takes no server out, two in a row do. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/penrun.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { SOON = 10000 };

static struct udp_server b;
static struct endpoint front, ctl, at;
static struct pen pen;
static int server, raw;

static void
address_of(struct sockaddr_in *a, const struct endpoint *s)
{
	memset(a, 0, sizeof(*a));
	a->sin_family = AF_INET;
	a->sin_port = htons((uint16_t)s->port);
	ck_assert_int_eq(inet_pton(AF_INET, udp_host(s), &a->sin_addr), 1);
}

/* The first server is the test itself: it sees pen's ports. */
static void
open_server(void)
{
	struct timeval t = { .tv_sec = SOON / 1000 };
	struct sockaddr_in a;

	udp_endpoint(&at, ENDPOINT_TCP4);
	address_of(&a, &at);
	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(server, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(
	    setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t)), 0);
}

static void
up_alone(const char *way, bool alone)
{
	open_server();
	udp_server_start(&b, ENDPOINT_TCP4, "b:");
	udp_endpoint(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, way, "-C", ctl.text, front.text, at.text,
	    alone ? NULL : b.at.text, NULL);
}

static void
up(const char *way)
{
	up_alone(way, false);
}

static void
down(void)
{
	pen_down(&pen);
	udp_server_stop(&b);
	close(server);
	close(raw);
}

/* What the server gets next, and from where. */
static const char *
next_from(struct sockaddr_in *peer)
{
	socklen_t len = sizeof(*peer);
	char bytes[512];
	ssize_t n = recvfrom(
	    server, bytes, sizeof(bytes), 0, (struct sockaddr *)peer, &len);

	ck_assert_int_ge(n, 0);
	return text("%.*s", (int)n, bytes);
}

static void
answer(const struct sockaddr_in *peer, const char *bytes, size_t n)
{
	ck_assert_int_eq(sendto(server, bytes, n, 0,
			     (const struct sockaddr *)peer, sizeof(*peer)),
	    n);
}

/* Sets the checksum of n bytes, which is at `where` (RFC 1071). */
static void
set_sum(uint8_t *bytes, size_t n, size_t where)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < n; i += 2)
		sum += (uint32_t)(bytes[i] << 8 | bytes[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	bytes[where] = (uint8_t)(sum >> 8);
	bytes[where + 1] = (uint8_t)sum;
}

/* Somebody says that what pen has sent from there has reached no one: ICMP type
 * 3, code 3, with the headers of IP and UDP (RFC 792). */
static void
forge(const struct sockaddr_in *peer)
{
	enum { ICMP = 8, IP = 20, UDP = 8, ALL = ICMP + IP + UDP };
	uint8_t m[ALL] = { 3, 3 }, *ip = m + ICMP, *udp = ip + IP;
	struct sockaddr_in us, to = *peer;

	address_of(&us, &at);
	ip[0] = 0x45;
	ip[3] = IP + UDP;
	ip[8] = 64;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, &peer->sin_addr, 4);
	memcpy(ip + 16, &us.sin_addr, 4);
	set_sum(ip, IP, 10);
	memcpy(udp, &peer->sin_port, 2);
	memcpy(udp + 2, &us.sin_port, 2);
	udp[5] = UDP;
	set_sum(m, ALL, 2);
	to.sin_port = 0;
	ck_assert_int_eq(
	    sendto(raw, m, ALL, 0, (struct sockaddr *)&to, sizeof(to)), ALL);
}

#define NEED_RAW()                                                  \
	do {                                                        \
		raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC,      \
		    IPPROTO_ICMP);                                  \
		if (raw < 0)                                        \
			SKIP("needs raw sockets");                  \
	} while (0)

static bool
is_out(void)
{
	return child_has_said(&pen.child, "server blacklisted server=0");
}

static const char *
heard(int fd)
{
	char bytes[512];
	ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

	ck_assert_int_ge(n, 0);
	return text("%.*s", (int)n, bytes);
}

/* The question goes to the same server once more, from another port; a flow
 * that has its answer remains, too. */
START_TEST(one_takes_no_server_out)
{
	struct sockaddr_in peer, again;
	int fd, i;

	NEED_RAW();
	up("-U");
	fd = udp_client(&front);
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(send(fd, "x", 1, 0), 1);
		ck_assert_str_eq(next_from(&peer), "x");
		forge(&peer);
		ck_assert_str_eq(next_from(&again), "x");
		ck_assert_int_ne(again.sin_port, peer.sin_port);
		answer(&again, "a:x", 3);
		ck_assert_str_eq(heard(fd), "a:x");
		forge(&again);
		ck_assert_int_eq(send(fd, "y", 1, 0), 1);
		ck_assert_str_eq(next_from(&peer), "y");
		answer(&peer, "a:y", 3);
		ck_assert_str_eq(heard(fd), "a:y");
	}
	ck_assert_msg(!is_out(), "%s", child_err(&pen.child));
	close(fd);
	down();
}
END_TEST

/* As a server that is gone does: its client is served by the next. */
START_TEST(two_take_it_out)
{
	struct sockaddr_in peer;
	int fd;

	NEED_RAW();
	up("-U");
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	ck_assert_str_eq(next_from(&peer), "x");
	forge(&peer);
	ck_assert_str_eq(next_from(&peer), "x");
	forge(&peer);
	ck_assert_str_eq(heard(fd), "b:x");
	WAIT_FOR(is_out(), SOON);
	close(fd);
	down();
}
END_TEST

/* Two flows count together: whose they are says nothing. */
START_TEST(two_of_two_flows)
{
	struct sockaddr_in peer, other;
	int fd, second;

	NEED_RAW();
	up("-U");
	fd = udp_client(&front);
	second = udp_client(&front);
	ck_assert_int_eq(send(fd, "x", 1, 0), 1);
	ck_assert_str_eq(next_from(&peer), "x");
	ck_assert_int_eq(send(second, "y", 1, 0), 1);
	ck_assert_str_eq(next_from(&other), "y");
	forge(&peer);
	ck_assert_str_eq(next_from(&peer), "x");
	forge(&other);
	ck_assert_str_eq(heard(second), "b:y");
	WAIT_FOR(is_out(), SOON);
	close(fd);
	close(second);
	down();
}
END_TEST

/* ---- DNS mode ---- */

/* The name a., of type A, asked by a client; QR and the id are what differs. */
static const char query[] = "\x12\x34\x01\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
enum { QUERY = sizeof(query) - 1 };

static void
next_query(char bytes[QUERY], struct sockaddr_in *peer)
{
	socklen_t len = sizeof(*peer);

	ck_assert_int_eq(recvfrom(server, bytes, QUERY, 0,
			     (struct sockaddr *)peer, &len),
	    QUERY);
	ck_assert_int_eq(memcmp(bytes + 2, query + 2, QUERY - 2), 0);
}

static void
answer_query(int fd, const struct sockaddr_in *peer, char bytes[QUERY])
{
	bytes[2] |= (char)0x80;
	answer(peer, bytes, QUERY);
	ck_assert_int_eq(recv(fd, bytes, QUERY, 0), QUERY);
	ck_assert_int_eq(memcmp(bytes, query, 2), 0);
}

/* The query may go to another one; here there is none. */
START_TEST(one_takes_no_name_server_out)
{
	struct sockaddr_in peer;
	char bytes[QUERY];
	int fd, i;

	NEED_RAW();
	up_alone("--dns", true);
	fd = udp_client(&front);
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
		next_query(bytes, &peer);
		forge(&peer);
		next_query(bytes, &peer);
		answer_query(fd, &peer, bytes);
		/* the next query may be sent before that is read */
		forge(&peer);
		ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
		next_query(bytes, &peer);
		answer_query(fd, &peer, bytes);
	}
	ck_assert_msg(!is_out(), "%s", child_err(&pen.child));
	close(fd);
	down();
}
END_TEST

START_TEST(two_take_a_name_server_out)
{
	struct sockaddr_in peer;
	char bytes[QUERY];
	int fd;

	NEED_RAW();
	up("--dns");
	fd = udp_client(&front);
	ck_assert_int_eq(send(fd, query, QUERY, 0), QUERY);
	next_query(bytes, &peer);
	forge(&peer);
	next_query(bytes, &peer);
	forge(&peer);
	WAIT_FOR(is_out(), SOON);
	WAIT_FOR(atomic_load(&b.received) > 0, SOON);
	close(fd);
	down();
}
END_TEST

SUITE(test_udp_forged)
{
	Suite *s = suite_create("udp_forged");

	SUITE_ADD(s, one_takes_no_server_out, 30);
	SUITE_ADD(s, two_take_it_out, 30);
	SUITE_ADD(s, two_of_two_flows, 30);
	SUITE_ADD(s, one_takes_no_name_server_out, 30);
	SUITE_ADD(s, two_take_a_name_server_out, 30);
	return s;
}
