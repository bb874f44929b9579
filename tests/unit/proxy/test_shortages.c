/* test_shortages.c: flows and DNS queries in a real loop when something does
 * not fit or is short: descriptors, ports, queues. */
#include "config.h"

#include <check.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/dgram.h"
#include "support/check_fixture.h"
#include "support/child.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/udp_fixture.h"

static struct endpoint one;

/* ---- what does not fit ---- */

/* A Unix server's answer that is longer than a datagram of ours can be does not
 * arrive cut; the next one arrives. */
START_TEST(no_half_answers)
{
	static char bytes[100000];
	int a, client, room = 400000;

	udp_fixture_begin(false);
	udp_endpoint(&fixture.front, ENDPOINT_UNIX);
	udp_endpoint(&one, ENDPOINT_UNIX);
	fixture_add_server(0, &one);
	a = udp_fixture_serve(&one);
	setsockopt(a, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	ck_assert_int_eq(sendto(a, bytes, sizeof(bytes), 0,
			     &udp_fixture_from.u.sa, udp_fixture_from.len),
	    sizeof(bytes));
	udp_fixture_answer(a, client);
	ck_assert_uint_eq(fixture_stats()->datagrams.too_long, 1);
	ck_assert_uint_eq(fixture_stats()->datagrams.down, 1);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* The queue of a Unix server is full: what it does not take counts as dropped
 * and nothing else. */
START_TEST(dropped_is_not_sent)
{
	enum { MOST = 5000 };
	int a, client, sent = 0;

	udp_fixture_begin(false);
	udp_endpoint(&one, ENDPOINT_UNIX);
	fixture_add_server(0, &one);
	a = udp_fixture_serve(&one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	while (fixture_stats()->datagrams.unsent == 0 && sent < MOST) {
		udp_fixture_ask(client);
		sent++;
		RUN_UNTIL(fixture_stats()->datagrams.up +
			fixture_stats()->datagrams.unsent >=
		    (uint64_t)sent);
	}
	if (sent < MOST)
		ck_assert_uint_eq(
		    fixture_stats()->datagrams.up, (uint64_t)sent - 1);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->sent,
	    fixture_stats()->datagrams.up * UDP_FIXTURE_QUERY);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* No resolver asks in so many bytes; what is longer is not kept for anybody. */
START_TEST(long_queries_are_dropped)
{
	enum { LONGEST = 4096 };
	int a, client;

	udp_fixture_begin(true);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask_long(client, LONGEST);
	RUN_UNTIL(fixture_tells(a));
	ck_assert_uint_eq(fixture_stats()->dns.waiting, 1);
	udp_fixture_ask_long(client, LONGEST + 1);
	RUN_UNTIL(fixture_stats()->datagrams.too_long == 1);
	ck_assert_uint_eq(fixture_stats()->dns.waiting, 1);
	ck_assert_uint_eq(fixture_stats()->dns.malformed, 0);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* The queries that wait are bounded in bytes, too, whatever conn_max is. */
START_TEST(queries_are_bounded_in_bytes)
{
	enum { LONGEST = 4096, MOST = 32 * 1024 * 1024 / LONGEST, STEP = 32 };
	uint64_t sent = 0, i;
	int a, client;

	udp_fixture_begin(true);
	fixture.options.sessions_max = 1000000;
	fixture.options.dns.timeout_ms = 3600000; /* none ends meanwhile */
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	while (sent < MOST + STEP) {
		for (i = 0; i < STEP; i++)
			udp_fixture_ask_long(client, LONGEST);
		sent += STEP;
		RUN_UNTIL(fixture_stats()->dns.queries +
			fixture_stats()->datagrams.no_memory ==
		    sent);
	}
	ck_assert_uint_eq(fixture_stats()->dns.waiting, MOST);
	ck_assert_uint_eq(fixture_stats()->datagrams.no_memory, STEP);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* ---- shortages ---- */

/* Connections are at their limit: a new place for datagrams listens all the
 * same. */
START_TEST(new_place_beside_full_one)
{
	struct frontend_address at[2] = { { .datagram = true } };
	struct endpoint elsewhere;
	int a, tcp, busy, client;

	udp_fixture_begin(true);
	fixture.options.sessions_max = 1;
	a = udp_fixture_server(0, &one);
	tcp = endpoint_listen(&one, 5);
	udp_fixture_front();
	at[0].at = at[1].at = fixture_addr(&fixture.front);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 2, &fixture.e), 0);
	busy = endpoint_connect(&fixture.front);
	RUN_UNTIL(fixture_stats()->sessions == 1);
	udp_endpoint(&elsewhere, ENDPOINT_TCP4);
	at[0].at = at[1].at = fixture_addr(&elsewhere);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 2, &fixture.e), 0);
	client = udp_client(&elsewhere);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	close(busy);
	close(client);
	close(tcp);
	close(a);
	fixture_end();
}
END_TEST

/* Without descriptors for new sockets queries take those that are there. */
START_TEST(dns_without_descriptors)
{
	struct rlimit before, few;
	int a, client, i;

	udp_fixture_begin(true);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (i = 0; i < 40; i++) {
		udp_fixture_ask(client);
		udp_fixture_arrives(a);
		udp_fixture_answer(a, client);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(fixture_stats()->dns.failed, 0);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* The socket to an emergency server goes with the server, as those of
 * others. */
START_TEST(dns_socket_of_an_emergency_server)
{
	int a, client, before;

	udp_fixture_begin(true);
	a = udp_fixture_server(0, &one);
	ck_assert_ptr_nonnull(pool_set_slot(fixture.pool, SLOT_EMERGENCY,
	    &(struct server_spec){ .name = (char *)(uintptr_t)one.text,
		.addrs = { .count = 1, .addr = { fixture_addr(&one) } },
		.set = { .acl = -1 } }));
	pool_remove_server(fixture.pool, pool_server(fixture.pool, 0));
	udp_fixture_front();
	client = udp_client(&fixture.front);
	before = child_fds(getpid());
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	ck_assert(before < 0 || child_fds(getpid()) == before + 1);
	pool_remove_server(
	    fixture.pool, pool_slot(fixture.pool, SLOT_EMERGENCY));
	frontend_set_options(fixture.frontend, &fixture.options);
	RUN_UNTIL(child_fds(getpid()) == before);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* ---- time ---- */

static int chatterer;

/* One datagram in each turn. */
static void
chatter(struct timer *t)
{
	udp_fixture_ask(chatterer);
	ck_assert_int_eq(timer_start(fixture.loop, t, 0), 0);
}

/* A flood at one address is held back, although there is little to do at the
 * other. */
START_TEST(flood_beside_a_calm_place)
{
	struct frontend_address at[2] = { { .datagram = true },
		{ .datagram = true } };
	static struct udp_flood flood;
	struct timer t;
	struct endpoint calm;
	int a;

	if (geteuid() != 0)
		SKIP("no long queue without being root");
	udp_fixture_begin(false);
	fixture.options.sessions_max = 10;
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	udp_endpoint(&calm, ENDPOINT_TCP4);
	at[0].at = fixture_addr(&fixture.front);
	at[1].at = fixture_addr(&calm);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 2, &fixture.e), 0);
	chatterer = udp_client(&calm);
	timer_init(&t, chatter);
	chatter(&t);
	udp_flood_start(
	    &flood, &fixture.front, 0, (int)suite_amount(2000000, 200000));
	RUN_UNTIL(fixture_stats()->datagrams.flood > 500);
	udp_flood_stop(&flood);
	timer_fini(&t);
	close(chatterer);
	close(a);
	fixture_end();
}
END_TEST

#ifdef CLONE_NEWNET
enum { PORTS = 30 };

/* A network of our own. */
static bool
leave_network(void)
{
	struct ifreq lo = { .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	strcpy(lo.ifr_name, "lo");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	close(fd);
	return true;
}

/* What a filter of this host drops gets EPERM: no shortage. */
START_TEST(filtered_server_is_down)
{
	static const char *const drop[] = { "nft",
		"add table ip t;"
		"add chain ip t o { type filter hook output priority 0; };"
		"add rule ip t o udp dport != 0 drop",
		NULL };
	struct child nft;

	NEED_PROGRAM("nft");
	if (!leave_network())
		SKIP("no network of our own here");
	udp_endpoint(&one, ENDPOINT_TCP4);
	check_fixture_begin(&one);
	check_fixture_front(60000);
	child_start(&nft, drop);
	if (child_wait(&nft, 10000) != 0)
		SKIP("no filters here");
	check_fixture_bad("udp 00 expect 00", "Operation not permitted");
	check_fixture_end();
}
END_TEST

/* Sockets that are bound to no port get one of these from now on. */
static bool
few_ports(void)
{
	static const char range[] = "30000 30029";
	int fd = open(
	    "/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, range, sizeof(range) - 1);
	close(fd);
	return n == (ssize_t)sizeof(range) - 1;
}

static void
set_sources(unsigned n)
{
	struct addr at;
	unsigned i;

	fixture.options.source.count = n;
	for (i = 0; i < n; i++) {
		ck_assert_int_eq(
		    addr_parse_ip(&at, text("127.0.7.%u", i + 1), 0), 0);
		peer_from_addr(&fixture.options.source.at[i], &at);
	}
}

/* Ports are nearly all taken: the idlest flow gives its own before the kernel
 * has to search. Each source has as many ports. */
START_TEST(out_of_ports)
{
	enum { SERVED = 4 * PORTS };
	unsigned sources = _i == 0 ? 1 : 2, most = (PORTS - 2) * sources;
	struct endpoint own;
	int a, client, i;
	bool few;

	if (!leave_network())
		SKIP("no network of our own here");
	udp_fixture_begin(false);
	a = udp_fixture_server(0, &one);
	few = few_ports();
	set_sources(_i == 0 ? 0 : sources);
	udp_fixture_front();
	for (i = 0; i < SERVED && few; i++) {
		endpoint_at_host(&own, &one, text("127.0.5.%d", i + 1));
		client = udp_fixture_serve(&own);
		ck_assert_int_eq(
		    connect(client, (struct sockaddr *)&fixture.front.addr,
			fixture.front.len),
		    0);
		udp_fixture_ask(client);
		udp_fixture_arrives(a);
		udp_fixture_answer(a, client);
		close(client);
	}
	if (few) {
		ck_assert_uint_eq(fixture_stats()->flows.ports_max, most);
		ck_assert_uint_eq(fixture_stats()->flows.ports, most);
		ck_assert_uint_eq(fixture_stats()->flows.peak, most + 1);
		ck_assert_uint_eq(
		    fixture_stats()->flows.evicted, SERVED - most);
	}
	ck_assert_uint_eq(fixture_stats()->datagrams.unsent, 0);
	close(a);
	fixture_end();
	if (!few)
		SKIP("the range of ports cannot be set here");
}
END_TEST

/* One of a single host's clients, at a port of its own. */
static int
client_at(int port)
{
	struct endpoint own = fixture.front;
	struct addr a;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(addr_parse_ip(&a, "127.0.6.1", (uint16_t)port), 0);
	ck_assert_int_eq(bind(fd, &a.u.sa, a.len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&own.addr, own.len), 0);
	endpoint_send(fd, "hello", 5);
	return fd;
}

/* A host's clients go to one server until there is no port left to that one;
 * then from the next source, then to the next server, which nobody is blamed
 * for; and when there is none left at all they are told so. */
START_TEST(no_port_to_one_server)
{
	enum { MANY = PORTS + 10 };
	static struct backend second;
	int fds[2 * PORTS + 1], i, first = _i == 0 ? PORTS : MANY;
	bool few;

	if (!leave_network())
		SKIP("no network of our own here");
	fixture_begin();
	backend_start(&fixture.backend, ENDPOINT_TCP4, backend_echo, NULL);
	backend_start(&second, ENDPOINT_TCP4, backend_echo, NULL);
	fixture_add_server(0, &fixture.backend.at);
	fixture_add_server(1, &second.at);
	few = few_ports();
	set_sources(_i == 0 ? 0 : 2);
	fixture_front();
	for (i = 0; i < MANY && few; i++) {
		fds[i] = client_at(10000 + i);
		fixture_hears(fds[i], "hello");
	}
	if (few) {
		ck_assert_int_eq(
		    (int)pool_server(fixture.pool, 0)->connections, first);
		ck_assert_int_eq((int)pool_server(fixture.pool, 1)->connections,
		    MANY - first);
		ck_assert_uint_eq(
		    pool_server(fixture.pool, 0)->counters->failures, 0);
	}
	for (; i < 2 * PORTS && few && _i == 0; i++) {
		fds[i] = client_at(10000 + i);
		fixture_hears(fds[i], "hello");
	}
	if (few && _i == 0) {
		fds[i] = client_at(10000 + i);
		i++;
		RUN_UNTIL(fixture_stats()->reasons[REASON_NO_RESOURCES] == 1);
		ck_assert_uint_eq(
		    pool_server(fixture.pool, 0)->counters->failures, 0);
		ck_assert_uint_eq(
		    pool_server(fixture.pool, 1)->counters->failures, 0);
	}
	while (i > 0 && few)
		close(fds[--i]);
	fixture_end();
	backend_stop(&fixture.backend);
	backend_stop(&second);
	if (!few)
		SKIP("the range of ports cannot be set here");
}
END_TEST

static bool
switch_ipv6_off(void)
{
	int fd = open(
	    "/proc/sys/net/ipv6/conf/lo/disable_ipv6", O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, "1", 1);
	close(fd);
	return n == 1;
}

/* An address of a family that is switched off here lacks no port: a server
 * whose other address refuses has failed. */
START_TEST(no_ipv6_is_no_lack_of_ports)
{
	struct server_spec spec;
	struct endpoint dead;
	bool off;
	int fd;

	if (!leave_network())
		SKIP("no network of our own here");
	off = switch_ipv6_off();
	fixture_begin();
	endpoint_new(&dead, ENDPOINT_TCP4);
	server_spec_init(&spec);
	spec.name = dead.text;
	spec.addrs.count = 2;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], "::1", 9), 0);
	spec.addrs.addr[1] = fixture_addr(&dead);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(0), &spec));
	fixture_front();
	fd = endpoint_connect(&fixture.front);
	RUN_UNTIL(pool_server(fixture.pool, 0)->counters->failures > 0);
	close(fd);
	fixture_end();
	if (!off)
		SKIP("IPv6 cannot be switched off here");
}
END_TEST

/* Nor do datagrams, of clients or of checks. */
START_TEST(no_ipv6_is_no_route)
{
	struct addr to;

	if (!leave_network())
		SKIP("no network of our own here");
	if (!switch_ipv6_off())
		SKIP("IPv6 cannot be switched off here");
	ck_assert_int_eq(addr_parse_ip(&to, "::1", 9), 0);
	ck_assert_int_eq(dgram_connect(&to, NULL), -1);
	ck_assert_int_eq(errno, ENETUNREACH);
	ck_assert(dgram_error_blames(errno));
}
END_TEST
#endif

SUITE(test_shortages)
{
	Suite *s = suite_create("shortages");
#ifdef CLONE_NEWNET
	TCase *ports = tcase_create("ports");
#endif

	SUITE_ADD(s, no_half_answers, 30);
	SUITE_ADD(s, dropped_is_not_sent, 60);
	SUITE_ADD(s, long_queries_are_dropped, 30);
	SUITE_ADD(s, queries_are_bounded_in_bytes, 60);
	SUITE_ADD(s, new_place_beside_full_one, 30);
	SUITE_ADD(s, dns_without_descriptors, 30);
	SUITE_ADD(s, dns_socket_of_an_emergency_server, 30);
	SUITE_ADD(s, flood_beside_a_calm_place, 60);
#ifdef CLONE_NEWNET
	SUITE_ADD(s, filtered_server_is_down, 30);
	tcase_set_timeout(ports, 30);
	tcase_add_loop_test(ports, out_of_ports, 0, 2);
	tcase_add_loop_test(ports, no_port_to_one_server, 0, 2);
	tcase_add_test(ports, no_ipv6_is_no_lack_of_ports);
	tcase_add_test(ports, no_ipv6_is_no_route);
	suite_add_tcase(s, ports);
#endif
	return s;
}
