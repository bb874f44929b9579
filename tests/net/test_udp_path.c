/* test_udp_path.c: datagrams whose path behind pen has a smaller MTU than pen's
 * link: routers fragment them, and none is lost until an ICMP message has come,
 * or because it does not. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/endpoint.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

#define PEN	    NET_FIXTURE_SERVER
#define NEAR_SERVER (NET_FIXTURE_SERVER + 1)
#define FAR_SERVER  (NET_FIXTURE_SERVER + 2)
enum { PORT = 53, SMALL = 40, LARGE = 1400, SOON = 10000 };

static struct net_fixture fixture;
static struct child pen;

static const char *
with_port(const char *ip)
{
	return text("%s:%d", ip, PORT);
}

/* The first one that comes is the first one that was sent. */
static void
arrives(int fd, size_t n, char *first, struct sockaddr_storage *from,
    socklen_t *len)
{
	char bytes[2 * LARGE];

	*len = sizeof(*from);
	WAIT_FOR(net_fixture_is_readable(fd), SOON);
	ck_assert_int_eq(
	    recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)from, len),
	    (int)n);
	memcpy(first, bytes, 4);
}

static void
start(const char *mode, const char *front, const char *back)
{
	const char *program = getenv("PEN");
	const char *argv[] = { program != NULL ? program : "./pen", "-f", mode,
		"-C", scratch("ctl"), front, back, NULL };

	net_fixture_start(&fixture, PEN, &pen, argv);
	WAIT_FOR(endpoint_path_listens(scratch("ctl")), SOON);
}

/* A question and its answer, a query for A of "a." with zeros behind it; pen
 * may change the id. */
static void
exchange(int client, int server, size_t up, size_t down)
{
	char bytes[LARGE] = "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1";
	struct sockaddr_storage from;
	socklen_t len;

	ck_assert_int_eq(send(client, bytes, up, 0), (int)up);
	arrives(server, up, bytes, &from, &len);
	bytes[2] |= (char)0x80;
	ck_assert_int_eq(
	    sendto(server, bytes, down, 0, (struct sockaddr *)&from, len),
	    (int)down);
	arrives(client, down, bytes, &from, &len);
}

static const struct path {
	const char *mode;
	bool far; /* the server is beyond the small link; else the client */
	const char *front; /* where clients come to; NULL: its address */
} paths[] = {
	{ "--dns", false, NULL },
	{ "-U", false, NULL },
	{ "--dns", true, NULL },
	{ "-U", true, NULL },
	{ "--dns", false, "[::]:53" },
	{ "-U", false, "[::]:53" },
};
enum { PATHS = sizeof(paths) / sizeof(paths[0]) };

START_TEST(large_ones_arrive)
{
	const struct path *p = &paths[_i];
	struct net_fixture_options o = {
		.servers = 3, .router = !p->far, .beyond = 1, .far_mtu = 1280
	};
	const char *front, *back;
	int client, server;

	NEED_NET_FIXTURE(&fixture, &o);
	net_fixture_ip(&fixture, PEN,
	    text("route add %s via 192.168.100.9\n", net_fixture_far4(2)));
	front = net_fixture_server4(0);
	back = p->far ? net_fixture_far4(2) : net_fixture_server4(1);
	server = net_fixture_listen(&fixture, p->far ? FAR_SERVER : NEAR_SERVER,
	    SOCK_DGRAM, back, PORT);
	start(p->mode, p->front != NULL ? p->front : with_port(front),
	    with_port(back));
	client = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_DGRAM, front, PORT);
	exchange(client, server, SMALL, SMALL);
	exchange(
	    client, server, p->far ? LARGE : SMALL, p->far ? SMALL : LARGE);
	close(client);
	close(server);
	child_stop(&pen, SIGTERM);
	net_fixture_down(&fixture);
}
END_TEST

SUITE(test_udp_path)
{
	Suite *s = suite_create("udp_path");

	SUITE_ADD_LOOP(s, large_ones_arrive, 60, PATHS);
	return s;
}
