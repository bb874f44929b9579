/* test_dsr_forged.c: what strangers say about tunnels, in ICMP errors whose
 * sender cannot be known, and about the segment's tag. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"

enum { HEAD = 14, IP = 20, UDP = 8, ICMP = 8, QUOTED = IP + 8, OFFERED = 1400 };

static const struct net_fixture_options two = { .servers = 2, .beyond = 2 };
static const struct net_fixture_options near_one = { .servers = 1 };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct net_fixture_tap client;
static unsigned char frame[HEAD + IP + UDP + OFFERED];

static void
put_ip(unsigned char *p, const char *from, const char *to, unsigned protocol,
    size_t content)
{
	memset(p, 0, IP);
	p[0] = 0x45;
	net_fixture_put16(p + 2, (unsigned)(IP + content));
	p[8] = 64;
	p[9] = (unsigned char)protocol;
	memcpy(p + 12, from, 4);
	memcpy(p + 16, to, 4);
	net_fixture_put16(p + 10, net_fixture_sum(p, IP));
}

static void
send_frame(size_t length)
{
	net_fixture_mac(NET_FIXTURE_DIRECTOR, frame);
	net_fixture_mac(NET_FIXTURE_CLIENT, frame + 6);
	net_fixture_put16(frame + 12, 0x0800);
	net_fixture_tap_send(&client, frame, length);
}

/* Anybody says that a packet in the tunnel to that server was too big. */
static void
send_news_of(const char *ip, unsigned mtu)
{
	unsigned char *icmp = frame + HEAD + IP, *quote = icmp + ICMP;
	char server[4];

	put_ip(frame + HEAD, "\6\6\6\6", "\300\250\144\2", 1, ICMP + QUOTED);
	memset(icmp, 0, ICMP + QUOTED);
	icmp[0] = 3;
	icmp[1] = 4;
	net_fixture_put16(icmp + 6, mtu);
	inet_pton(AF_INET, ip, server);
	put_ip(quote, "\300\250\144\2", server, 4, 1480);
	net_fixture_put16(icmp + 2, net_fixture_sum(icmp, ICMP + QUOTED));
	send_frame(HEAD + IP + ICMP + QUOTED);
}

static void
send_news(unsigned mtu)
{
	send_news_of(net_fixture_far4(0), mtu);
}

/* A datagram that may be cut. */
static void
send_datagram(void)
{
	unsigned char *udp = frame + HEAD + IP;

	put_ip(frame + HEAD, "\300\250\144\1", "\300\250\144\12", 17,
	    UDP + OFFERED);
	memset(udp, 0, UDP + OFFERED);
	net_fixture_put16(udp, 4000);
	net_fixture_put16(udp + 2, 7007);
	net_fixture_put16(udp + 4, UDP + OFFERED);
	send_frame(HEAD + IP + UDP + OFFERED);
}

static long
count(const char *what)
{
	return report_number(dsrpen_ask(&pen, "dsr"), what);
}

static bool
says(const char *what)
{
	return strstr(dsrpen_ask(&pen, "dsr"), what) != NULL;
}

static void
begin_by(const char *gateway, const char *server)
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    "-Odsr_forward tunnel", "-Odsr_ip " NET_FIXTURE_DSR_IP4, gateway,
	    NET_FIXTURE_VIP4 ":0", server, NULL);
	WAIT_FOR(!says("unknown"), 5000);
	net_fixture_tap(&client, &fixture, NET_FIXTURE_CLIENT, "eth0");
}

static void
begin(void)
{
	begin_by("-Odsr_gateway 192.168.100.9", net_fixture_far4(0));
}

static void
end(void)
{
	net_fixture_tap_close(&client);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

/* One small frame must not have all that follow cut into dozens. */
START_TEST(path_mtu)
{
	NEED_DSR_OF_OURS("tunnels");
	NEED_NET_FIXTURE(&fixture, &two);
	begin();
	send_news(68);
	WAIT_FOR(!says("path_mtu 1500"), 5000);
	send_datagram();
	WAIT_FOR(count("forwarded") == 1, 5000);
	ck_assert_int_ge(count("tunnelled"), 2);
	ck_assert_int_le(count("tunnelled"), 3);
	end();
}
END_TEST

/* The kernel has no route to a server on the segment, whatever is said about
 * the path to it. */
START_TEST(path_mtu_without_a_route)
{
	NEED_DSR_OF_OURS("tunnels");
	NEED_NET_FIXTURE(&fixture, &near_one);
	begin_by("-Ono dsr_gateway", net_fixture_server4(0));
	ck_assert(says("path_mtu 1500"));
	send_news_of(net_fixture_server4(0), 1400);
	WAIT_FOR(says("path_mtu 1400"), 5000);
	send_datagram();
	WAIT_FOR(count("forwarded") == 1, 5000);
	ck_assert(!says("mac route"));
	ck_assert_int_eq(count("dropped_send"), 0);
	end();
}
END_TEST

/* Each costs a look at all servers: there are so many in a second and no
 * more. */
START_TEST(flood_of_news)
{
	enum { ALL = 4000 };
	long dropped, received;
	unsigned i;

	NEED_DSR_OF_OURS("tunnels");
	NEED_NET_FIXTURE(&fixture, &two);
	begin();
	dropped = count("dropped_not_local");
	received = count("received");
	for (i = 0; i < ALL; i++)
		send_news(1400);
	WAIT_FOR(count("received") >= received + ALL / 2, 5000);
	ck_assert_int_gt(count("dropped_not_local"), dropped + ALL / 10);
	ck_assert(says("path_mtu 1400"));
	end();
}
END_TEST

/* Who can send frames with a tag must not take the servers away: all that is
 * asked of them would have it, too. */
START_TEST(a_tag_of_strangers)
{
	static const uint8_t question[46] = { 255, 255, 255, 255, 255, 255, 2,
		0, 0, 0x64, 0, 1, 0x81, 0, 0, 5, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1,
		2, 0, 0, 0x64, 0, 1, 192, 168, 100, 1, 0, 0, 0, 0, 0, 0, 192,
		168, 100, 10 };
	static const struct net_fixture_options plain = { .servers = 1 };
	long received;
	int far, near;

	NEED_DSR_OF_OURS("tags");
	NEED_NET_FIXTURE(&fixture, &plain);
	far = net_fixture_listen(
	    &fixture, NET_FIXTURE_SERVER, SOCK_STREAM, NET_FIXTURE_VIP4, 7007);
	net_fixture_tap(&client, &fixture, NET_FIXTURE_CLIENT, "eth0");
	/* the first frame that it hears for its VIP is the stranger's */
	dsrpen_start(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4,
	    NET_FIXTURE_VIP4 ":0", net_fixture_server4(0), NULL);
	WAIT_FOR(endpoint_path_listens(pen.control), 10000);
	WAIT_FOR(!says("unknown"), 10000);
	received = count("received");
	net_fixture_tap_send(&client, question, sizeof(question));
	WAIT_FOR(count("received") > received, 10000);
	ck_assert(!child_has_said(&pen.child, "segment has a VLAN tag"));
	near = net_fixture_dial(
	    &fixture, NET_FIXTURE_CLIENT, SOCK_STREAM, NET_FIXTURE_VIP4, 7007);
	WAIT_FOR(net_fixture_is_connected(near), 10000);
	close(near);
	close(far);
	end();
}
END_TEST

SUITE(test_dsr_forged)
{
	Suite *s = suite_create("dsr_forged");

	SUITE_ADD(s, path_mtu, 60);
	SUITE_ADD(s, path_mtu_without_a_route, 60);
	SUITE_ADD(s, flood_of_news, 60);
	SUITE_ADD(s, a_tag_of_strangers, 60);
	return s;
}
