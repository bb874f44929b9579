/* test_dsr_drops.c: what a director drops, each reason provoked with frames of
 * known sizes. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"

enum {
	HEAD = 14,
	IP = 20,
	UDP = 8,
	MOST = 1500,
	ARP = 42,
	NDP = 86,
	FRAMES = 4,
	REASONS = 6,
	SEND = 5 /* the last */
};

static const char *const reasons[REASONS] = { "malformed", "not_local",
	"no_server", "neighbor", "fragment", "send" };
static const unsigned sizes[FRAMES] = { 60, 61, 700, 1514 };

static const struct net_fixture_options one = { .servers = 1 };
static const struct net_fixture_options beyond = { .servers = 1, .beyond = 1 };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct net_fixture_tap client;
static unsigned char frame[HEAD + MOST];

/* ---- frames ---- */

/* A datagram for the VIP in a frame of so many bytes; `cut` are IPv4's flags
 * and offset of a fragment. */
static void
make(unsigned length, unsigned cut)
{
	unsigned char *ip = frame + HEAD, *udp = ip + IP;

	memset(frame, 0, sizeof(frame));
	net_fixture_mac(NET_FIXTURE_DIRECTOR, frame);
	net_fixture_mac(NET_FIXTURE_CLIENT, frame + 6);
	net_fixture_put16(frame + 12, 0x0800);
	ip[0] = 0x45;
	net_fixture_put16(ip + 2, length - HEAD);
	net_fixture_put16(ip + 4, 7);
	net_fixture_put16(ip + 6, cut);
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, "\300\250\144\1", 4);
	memcpy(ip + 16, "\300\250\144\12", 4);
	net_fixture_put16(ip + 10, net_fixture_sum(ip, IP));
	net_fixture_put16(udp, 4000);
	net_fixture_put16(udp + 2, 7007);
	net_fixture_put16(udp + 4, length - HEAD - IP);
}

static void
make_plain(unsigned length)
{
	make(length, 0);
}

static void
make_bad(unsigned length)
{
	make(length, 0);
	frame[HEAD + 8]--; /* which the checksum does not know */
}

static void
make_broadcast(unsigned length)
{
	make(length, 0);
	memset(frame, 0xff, 6);
}

/* Of a packet whose beginning never comes. */
static void
make_fragment(unsigned length)
{
	make(length, 100);
}

/* ---- what is told ---- */

struct told {
	long frames[REASONS], bytes[REASONS];
};

static struct told
ask(void)
{
	const char *said = dsrpen_ask(&pen, "dsr");
	struct told t;
	int i;

	for (i = 0; i < REASONS; i++) {
		t.frames[i] =
		    report_number(said, text("dropped_%s", reasons[i]));
		t.bytes[i] =
		    report_number(said, text("dropped_%s_bytes", reasons[i]));
	}
	return t;
}

/* Frames like that are lost for this reason, all of them, and nothing else
 * is. */
static void
expect(const char *reason, void (*make_one)(unsigned length))
{
	struct told before = ask(), now = before;
	unsigned bytes = 0;
	int i;

	for (i = 0; i < FRAMES; i++) {
		make_one(sizes[i]);
		net_fixture_tap_send(&client, frame, sizes[i]);
		bytes += sizes[i];
	}
	for (i = 0; strcmp(reasons[i], reason) != 0; i++)
		;
	before.frames[i] += FRAMES;
	before.bytes[i] += bytes;
	WAIT_FOR((now = ask()).frames[i] >= before.frames[i], 5000);
	for (i = 0; i < REASONS; i++) {
		ck_assert_msg(now.frames[i] == before.frames[i] &&
			now.bytes[i] == before.bytes[i],
		    "%s: dropped_%s %ld and not %ld, bytes %ld and not %ld",
		    reason, reasons[i], now.frames[i], before.frames[i],
		    now.bytes[i], before.bytes[i]);
	}
}

/* ---- tests ---- */

/* Without IPv6 nobody speaks of himself. */
static void
begin(const char *server)
{
	static const enum net_fixture_place all[] = { NET_FIXTURE_CLIENT,
		NET_FIXTURE_SWITCH, NET_FIXTURE_DIRECTOR, NET_FIXTURE_SERVER };
	unsigned i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		net_fixture_set(
		    &fixture, all[i], "ipv6/conf/all/disable_ipv6", "1");
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    NET_FIXTURE_VIP4 ":0", server, NULL);
	net_fixture_tap(&client, &fixture, NET_FIXTURE_CLIENT, "eth0");
}

static void
end(void)
{
	net_fixture_tap_close(&client);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}

START_TEST(frames_and_bytes_by_reason)
{
	NEED_DSR_OF_OURS("reasons");
	NEED_NET_FIXTURE(&fixture, &one);
	begin(net_fixture_server4(0));
	expect("malformed", make_bad);
	expect("not_local", make_broadcast);
	expect("fragment", make_fragment);
	(void)dsrpen_ask(&pen, "server 0 down");
	expect("no_server", make_plain);
	end();
}
END_TEST

/* Those that are held have their time; the others have not. */
START_TEST(without_a_hardware_address)
{
	NEED_DSR_OF_OURS("reasons");
	NEED_NET_FIXTURE(&fixture, &one);
	begin("192.168.100.99");
	expect("neighbor", make_plain);
	ck_assert_int_gt(report_number(dsrpen_ask(&pen, "dsr"), "held"), 0);
	end();
}
END_TEST

/* A new address is announced even so, and asked for by nobody. */
START_TEST(what_the_link_does_not_take)
{
	struct told t;
	long more;

	NEED_DSR_OF_OURS("reasons");
	NEED_NET_FIXTURE(&fixture, &one);
	begin("192.168.100.99");
	net_fixture_ip(&fixture, NET_FIXTURE_DIRECTOR, "link set eth0 down\n");
	(void)dsrpen_ask(
	    &pen, "listen " NET_FIXTURE_VIP4 ":0,192.168.100.11:0");
	WAIT_FOR((t = ask()).frames[SEND] > 0, 15000);
	more = t.bytes[SEND] - t.frames[SEND] * ARP;
	ck_assert_int_ge(more, 0);
	ck_assert_int_le(more, t.frames[SEND] * (NDP - ARP));
	ck_assert_int_eq(more % (NDP - ARP), 0);
	end();
}
END_TEST

/* A full packet that may not be cut, and one that is a byte too long. */
START_TEST(too_big_for_a_tunnel)
{
	enum { DONT_CUT = 0x4000, FITS = 1480 };
	const char *said;

	NEED_DSR_OF_OURS("tunnels");
	NEED_NET_FIXTURE(&fixture, &beyond);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, NET_FIXTURE_VIP4, "-r",
	    "-Odsr_forward tunnel", "-Odsr_ip " NET_FIXTURE_DSR_IP4,
	    "-Odsr_gateway 192.168.100.9", NET_FIXTURE_VIP4 ":0",
	    net_fixture_far4(0), NULL);
	net_fixture_tap(&client, &fixture, NET_FIXTURE_CLIENT, "eth0");
	WAIT_FOR(strstr(dsrpen_ask(&pen, "dsr"), "unknown") == NULL, 5000);
	make(HEAD + FITS, DONT_CUT);
	net_fixture_tap_send(&client, frame, HEAD + FITS);
	make(HEAD + FITS + 1, DONT_CUT);
	net_fixture_tap_send(&client, frame, HEAD + FITS + 1);
	make(HEAD + MOST, DONT_CUT);
	net_fixture_tap_send(&client, frame, HEAD + MOST);
	WAIT_FOR(
	    report_number((said = dsrpen_ask(&pen, "dsr")), "too_big") == 2,
	    5000);
	ck_assert_int_eq(report_number(said, "too_big_bytes"),
	    HEAD + FITS + 1 + HEAD + MOST);
	ck_assert_int_eq(report_number(said, "forwarded"), 1);
	ck_assert_int_eq(report_number(said, "forwarded_bytes"), HEAD + FITS);
	end();
}
END_TEST

SUITE(test_dsr_drops)
{
	Suite *s = suite_create("dsr_drops");

	SUITE_ADD(s, frames_and_bytes_by_reason, 60);
	SUITE_ADD(s, without_a_hardware_address, 60);
	SUITE_ADD(s, what_the_link_does_not_take, 60);
	SUITE_ADD(s, too_big_for_a_tunnel, 60);
	return s;
}
