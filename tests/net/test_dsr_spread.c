/* test_dsr_spread.c: what share of the clients each server of a director gets,
 * by the ways to choose, over TCP and UDP, IPv4 and IPv6. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "support/dsrmany.h"
#include "support/dsrpen.h"
#include "support/net_fixture.h"
#include "support/suite.h"
#include "support/wait.h"

enum { SERVERS = 3, CLIENTS = 60, HOSTS = 30 };

static const struct net_fixture_options three = { .servers = SERVERS };
static struct net_fixture fixture;
static struct dsrpen pen;
static struct dsrmany many;

/* Of a test, which does the same in these ways. */
static const struct way {
	const char *name, *vip;
	int type;
	bool v6;
} ways[] = {
	{ "TCP IPv4", NET_FIXTURE_VIP4, SOCK_STREAM, false },
	{ "UDP IPv4", NET_FIXTURE_VIP4, SOCK_DGRAM, false },
	{ "TCP IPv6", NET_FIXTURE_VIP6, SOCK_STREAM, true },
	{ "UDP IPv6", NET_FIXTURE_VIP6, SOCK_DGRAM, true },
};
enum { WAYS = 4 };

static bool
macs_are_known(void)
{
	return strstr(dsrpen_ask(&pen, "dsr"), "unknown") == NULL;
}

static const char *
server(const struct way *w, unsigned i, const char *more)
{
	return w->v6 ? text("[%s]%s", net_fixture_server6(i), more)
		     : text("%s%s", net_fixture_server4(i), more);
}

/* `more` follows the addresses of the servers. */
static void
begin(const struct way *w, const char *option, const char *value,
    const char *const more[SERVERS])
{
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, w->vip,
	    "--hash-prefix6", "128", w->type == SOCK_DGRAM ? "-U" : "-f",
	    option, value,
	    w->v6 ? text("[%s]:0", w->vip) : text("%s:0", w->vip),
	    server(w, 0, more[0]), server(w, 1, more[1]), server(w, 2, more[2]),
	    NULL);
	WAIT_FOR(macs_are_known(), 5000);
	dsrmany_init(&many, &fixture, NULL);
}

static void
end(void)
{
	dsrmany_close_all(&many);
	dsrpen_down(&pen);
}

static void
add(const struct way *w, unsigned n, const char *from)
{
	for (; n > 0; n--)
		dsrmany_add(&many, w->type, from, w->vip, DSRMANY_PORT);
	dsrmany_wait_known(&many, 10000);
}

/* At once, give or take `slack`. */
static void
expect(const struct way *w, const char *what, unsigned a, unsigned b,
    unsigned c, unsigned slack)
{
	unsigned want[SERVERS] = { a, b, c }, got[SERVERS], i;

	for (i = 0; i < SERVERS; i++)
		got[i] = dsrmany_count(&many, (int)i);
	printf("%s, %s: %u %u %u\n", w->name, what, got[0], got[1], got[2]);
	for (i = 0; i < SERVERS; i++) {
		ck_assert_uint_le(got[i], want[i] + slack);
		ck_assert_uint_ge(got[i] + slack, want[i]);
	}
}

/* Closes all of this server's. */
static void
leave(unsigned which)
{
	unsigned i;

	for (i = 0; i < many.count; i++)
		if (many.one[i].server == (int)which)
			dsrmany_close(&many, i);
}

static bool
has_connections(unsigned n)
{
	return strstr(dsrpen_ask(&pen, "servers"), text(" conn %u ", n)) !=
	    NULL;
}

static void
serve(void)
{
	unsigned i;

	for (i = 0; i < SERVERS; i++)
		dsrmany_serve(&fixture, i);
}

static const char *const alike[SERVERS] = { "", "", "" };

static void
leastconn(const struct way *w)
{
	begin(w, "--balance", "leastconn", alike);
	add(w, CLIENTS, NULL);
	expect(w, "leastconn", CLIENTS / 3, CLIENTS / 3, CLIENTS / 3, 1);
	if (w->type == SOCK_STREAM) {
		leave(1);
		WAIT_FOR(has_connections(0), 5000);
		add(w, CLIENTS / 3, NULL);
		expect(w, "leastconn, one let go", CLIENTS / 3, CLIENTS / 3,
		    CLIENTS / 3, 1);
	}
	end();
}

static void
weights(const struct way *w)
{
	static const char *const unlike[SERVERS] = { ":0:0:0:1", ":0:0:0:2",
		":0:0:0:3" };

	begin(w, "-W", "-f", unlike);
	add(w, CLIENTS, NULL);
	expect(w, "weights", CLIENTS / 6, CLIENTS / 3, CLIENTS / 2, 1);
	end();
}

static void
prio(const struct way *w)
{
	static const char *const unlike[SERVERS] = { ":0:0:0:1:7", ":0:0:0:1:5",
		":0:0:0:1:6" };

	begin(w, "--balance", "prio", unlike);
	add(w, CLIENTS, NULL);
	expect(w, "prio", 0, CLIENTS, 0, 0);
	dsrpen_ask(&pen, "server 1 drain");
	add(w, CLIENTS, NULL);
	expect(w, "prio, the best drains", 0, CLIENTS, CLIENTS, 0);
	end();
}

/* A client's address has one server, whatever its port. */
static void
hash_of_addresses(const struct way *w)
{
	unsigned i, k;
	int first;

	begin(w, "-h", "-f", alike);
	for (i = 0; i < HOSTS; i++)
		for (k = 0; k < 4; k++)
			dsrmany_add(&many, w->type,
			    text(w->v6 ? "fd00:64::1:%u" : "192.168.100.%u",
				100 + i),
			    w->vip, DSRMANY_PORT);
	dsrmany_wait_known(&many, 10000);
	for (i = 0; i < many.count; i++) {
		first = many.one[i - i % 4].server;
		ck_assert_int_eq(many.one[i].server, first);
	}
	/* The same addresses each time, so the slack is no chance. */
	expect(w, "hash", HOSTS * 4 / 3, HOSTS * 4 / 3, HOSTS * 4 / 3, HOSTS);
	end();
}

/* The ports are the kernel's: five standard deviations. */
static void
hash_of_ports(const struct way *w)
{
	begin(w, "-rh", "-f", alike);
	add(w, 600, NULL);
	expect(w, "hash with ports", 200, 200, 200, 58);
	end();
}

/* Without a memory of flows there is nothing else, whatever was asked for. */
static void
hash_alone(const struct way *w)
{
	unsigned i;

	begin(w, "-r", "-Odsr_flows 0", alike);
	add(w, 600, NULL);
	for (i = 0; i < many.count; i++)
		dsrmany_ask(&many, i);
	ck_assert_uint_eq(dsrmany_wait_answers(&many, 10000), 0);
	for (i = 0; i < many.count; i++)
		ck_assert(!many.one[i].moved);
	expect(w, "hash alone", 200, 200, 200, 58);
	end();
}

static void
make_hosts(void)
{
	const char *lines = "";
	unsigned i;

	for (i = 0; i < HOSTS; i++)
		lines = text("%saddr add 192.168.100.%u/24 dev eth0\n"
			     "addr add fd00:64::1:%u/64 dev eth0 nodad\n",
		    lines, 100 + i, 100 + i);
	net_fixture_ip(&fixture, NET_FIXTURE_CLIENT, lines);
}

static void
each_way(void (*test)(const struct way *w))
{
	unsigned i;

	make_hosts();
	serve();
	for (i = 0; i < WAYS; i++)
		test(&ways[i]);
	net_fixture_down(&fixture);
}

#define SPREAD(test)                                                      \
	START_TEST(by_##test)                                             \
	{                                                                 \
		if (dsrpen_is_classic())                                  \
			SKIP("a classic pen has no control socket here"); \
		NEED_DSR();                                               \
		NEED_NET_FIXTURE(&fixture, &three);                       \
		each_way(test);                                           \
	}                                                                 \
	END_TEST

SPREAD(leastconn)
SPREAD(weights)
SPREAD(prio)
SPREAD(hash_of_addresses)
SPREAD(hash_of_ports)
SPREAD(hash_alone)

SUITE(test_dsr_spread)
{
	Suite *s = suite_create("dsr_spread");

	SUITE_ADD(s, by_leastconn, 60);
	SUITE_ADD(s, by_weights, 60);
	SUITE_ADD(s, by_prio, 60);
	SUITE_ADD(s, by_hash_of_addresses, 60);
	SUITE_ADD(s, by_hash_of_ports, 60);
	SUITE_ADD(s, by_hash_alone, 60);
	return s;
}
