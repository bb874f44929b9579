/* test_datagrams.c: flows and DNS queries in a real loop when servers fail or
 * clients are kept out: who is blamed, and that nobody else pays for it. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proxy/datagram/flow.h"
#include "proxy/datagram/flow_past.h"
#include "support/acladd.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/udp_fixture.h"

enum { FLOWS, DNS, KINDS };

static struct endpoint one, two;

/* ---- what routers and hosts say ---- */

static void
put16(uint8_t *at, unsigned n)
{
	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

/* "Destination unreachable" with that code, about what came last, which had
 * gone to `to`. Returns false when we may not say so. */
static bool
unreachable(const struct endpoint *to, uint8_t code)
{
	const struct sockaddr_in *server_at =
	    (const struct sockaddr_in *)(const void *)&to->addr;
	struct sockaddr_in at = udp_fixture_from.u.in;
	uint8_t m[36] = { 3, code, [8] = 0x45, [16] = 64, [17] = 17 };
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), i;
	unsigned sum = 0;

	if (fd < 0)
		return false;
	put16(m + 6, code == 4 ? 1400 : 0); /* the next hop's MTU */
	put16(m + 10, 28 + UDP_FIXTURE_QUERY);
	memcpy(m + 20, &udp_fixture_from.u.in.sin_addr, 4);
	memcpy(m + 24, &server_at->sin_addr, 4);
	memcpy(m + 28, &udp_fixture_from.u.in.sin_port, 2);
	memcpy(m + 30, &server_at->sin_port, 2);
	put16(m + 32, 8 + UDP_FIXTURE_QUERY);
	for (i = 0; i < 36; i += 2)
		sum += (unsigned)m[i] << 8 | m[i + 1];
	put16(m + 2, ~(sum + (sum >> 16)) & 0xffff);
	at.sin_port = 0;
	ck_assert_int_eq(
	    sendto(fd, m, 36, 0, (struct sockaddr *)&at, sizeof(at)), 36);
	close(fd);
	return true;
}

/* A datagram was too long for a link on the way: no server's fault. */
START_TEST(path_mtu_fails_nobody)
{
	int a, client;
	bool said;

	udp_fixture_begin(_i == DNS);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	said = unreachable(&one, 4);
	udp_fixture_answer(a, client);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	close(client);
	close(a);
	fixture_end();
	if (!said)
		SKIP("no raw sockets here");
}
END_TEST

/* A server was replaced when news of the old one come: the new one gets what
 * that did not take. */
START_TEST(news_of_one_that_is_replaced)
{
	int a, b, client;
	bool said;

	udp_fixture_begin(_i == DNS);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	b = udp_fixture_server(0, &two);
	said = unreachable(&one, 3);
	if (said) {
		udp_fixture_arrives(b);
		udp_fixture_answer(b, client);
	}
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	close(client);
	close(a);
	close(b);
	fixture_end();
	if (!said)
		SKIP("no raw sockets here");
}
END_TEST

/* ---- servers ---- */

/* With check_lazy it needs no check for a while. */
START_TEST(answer_is_noted)
{
	int a, client;

	udp_fixture_begin(_i == DNS);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	ck_assert_uint_eq(
	    pool_server(fixture.pool, 0)->counters->answered_ms, 0);
	udp_fixture_answer(a, client);
	ck_assert_uint_gt(
	    pool_server(fixture.pool, 0)->counters->answered_ms, 0);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* Questions that went unanswered before a server failed are not held against it
 * when it is back. */
START_TEST(revived_server_is_asked)
{
	struct pool_options o;
	int a, clients[5], i;

	udp_fixture_begin(false);
	fixture.options.udp.responses = 1;
	fixture.options.udp.fail = 3;
	fixture.options.connect_timeout_ms = 200;
	o = *pool_options(fixture.pool);
	o.blacklist_ms = 300;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	for (i = 0; i < 5; i++)
		clients[i] = udp_client(&fixture.front);
	for (i = 0; i < 3; i++) {
		udp_fixture_ask(clients[i]);
		udp_fixture_arrives(a);
	}
	close(a);
	udp_fixture_ask(clients[3]);
	RUN_UNTIL(pool_server(fixture.pool, 0)->counters->failures == 1);
	a = udp_fixture_serve(&one);
	RUN_UNTIL(pool_server(fixture.pool, 0)->blacklisted_until <=
	    loop_now(fixture.loop));
	udp_fixture_ask(clients[4]);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, clients[4]);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 1);
	for (i = 0; i < 5; i++)
		close(clients[i]);
	close(a);
	fixture_end();
}
END_TEST

/* A flow goes from a to b and, much later, back to a: that it had left a once
 * is no reason to drop a datagram. */
START_TEST(each_datagram_has_its_round)
{
	struct pool_options o;
	int a, b, client;

	udp_fixture_begin(false);
	o = *pool_options(fixture.pool);
	o.blacklist_ms = 1;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	a = udp_fixture_server(0, &one);
	b = udp_fixture_server(1, &two);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	close(a);
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	a = udp_fixture_serve(&one);
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	close(b);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	ck_assert_uint_eq(fixture_stats()->datagrams.no_server, 0);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

static void
set_addresses(const struct addr *first)
{
	struct server_spec spec;

	server_spec_init(&spec);
	spec.name = one.text;
	spec.addrs.count = 2;
	spec.addrs.addr[0] = *first;
	spec.addrs.addr[1] = fixture_addr(&two);
	ck_assert_ptr_nonnull(
	    pool_set_slot(fixture.pool, server_slot(0), &spec));
}

static void
set_both_addresses(void)
{
	struct addr first = fixture_addr(&one);

	set_addresses(&first);
}

/* A name gets another address, in front; then it has only that. */
START_TEST(address_that_stays)
{
	int a, b, client;

	udp_fixture_begin(false);
	b = udp_fixture_server(0, &two);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	udp_endpoint(&one, ENDPOINT_TCP4);
	a = udp_fixture_serve(&one);
	set_both_addresses();
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	fixture_add_server(0, &one);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	close(client);
	close(a);
	close(b);
	fixture_end();
}
END_TEST

/* Nobody is at the first address of its name; somebody is at the second. */
START_TEST(second_address)
{
	int b, client, i;

	udp_fixture_begin(_i == DNS);
	udp_endpoint(&one, ENDPOINT_TCP4);
	udp_endpoint(&two, ENDPOINT_TCP4);
	set_both_addresses();
	b = udp_fixture_serve(&two);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	for (i = 0; i < 3; i++) {
		udp_fixture_ask(client);
		udp_fixture_arrives(b);
		udp_fixture_answer(b, client);
	}
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->addr_first, 1);
	close(b);
	udp_fixture_ask(client);
	RUN_UNTIL(pool_server(fixture.pool, 0)->counters->failures == 1);
	close(client);
	fixture_end();
}
END_TEST

/* No socket can be connected to the first one, as if there was no route. */
START_TEST(address_without_a_route)
{
	struct addr none;
	int b, client;

	udp_fixture_begin(_i == DNS);
	ck_assert_int_eq(addr_parse_ip(&none, "fe80::1", 53), 0);
	udp_endpoint(&one, ENDPOINT_TCP4);
	b = udp_fixture_server(0, &two);
	set_addresses(&none);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 0);
	close(client);
	close(b);
	fixture_end();
}
END_TEST

static bool
comes_to(int fd, int client)
{
	udp_fixture_ask(client);
	fixture_breathe();
	return fixture_tells(fd);
}

/* Nobody answers at the first one: it has its turn, then the second one. */
START_TEST(silent_address)
{
	struct pool_options o;
	int a, b, client;

	udp_fixture_begin(_i == DNS);
	fixture.options.udp.responses = 1;
	fixture.options.udp.fail = 3;
	fixture.options.dns.retry_ms = 20;
	fixture.options.connect_timeout_ms = 50;
	o = *pool_options(fixture.pool);
	o.blacklist_ms = 1;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	a = udp_fixture_server(0, &one);
	b = udp_fixture_server(0, &two);
	set_both_addresses();
	udp_fixture_front();
	client = udp_client(&fixture.front);
	RUN_UNTIL(comes_to(a, client));
	RUN_UNTIL(comes_to(b, client));
	close(client);
	close(a);
	close(b);
	fixture_end();
}
END_TEST

/* What a server refuses and another one gets is one datagram: for the flow, and
 * for the limits on its client. */
START_TEST(refused_datagram_counts_once)
{
	struct flow_info info;
	int a, b, client;

	udp_fixture_begin(false);
	fixture.options.udp.each = _i == 1;
	fixture.options.limits.rate.count = 1;
	fixture.options.limits.rate.period_ms = 3600 * 1000;
	a = udp_fixture_server(0, &one);
	b = udp_fixture_server(1, &two);
	close(a);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(b);
	udp_fixture_answer(b, client);
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->failures, 1);
	ck_assert_uint_eq(fixture_stats()->limits.dropped, 0);
	ck_assert(flows_next(frontend_flows(fixture.frontend), 0, &info));
	ck_assert_uint_eq(info.requests, 1);
	ck_assert_uint_eq(info.up, UDP_FIXTURE_QUERY);
	close(client);
	close(b);
	fixture_end();
}
END_TEST

/* A Unix server reads nothing: soon its queue is full. */
static bool
fails_in_the_end(int client)
{
	udp_fixture_ask(client);
	return pool_server(fixture.pool, 0)->counters->failures > 0;
}

START_TEST(full_queue_is_silence)
{
	int a, client;

	udp_fixture_begin(false);
	fixture.options.udp.responses = 1;
	fixture.options.udp.fail = 3;
	fixture.options.connect_timeout_ms = 500;
	udp_endpoint(&one, ENDPOINT_UNIX);
	fixture_add_server(0, &one);
	a = udp_fixture_serve(&one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	RUN_UNTIL(fails_in_the_end(client));
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* ---- clients ---- */

/* Those that are kept out take nobody's place, and hear nothing. */
START_TEST(kept_out)
{
	struct pool_options o;
	struct endpoint outside;
	struct acl *acl;
	int a, in[2], out, i;

	udp_fixture_begin(_i == DNS);
	fixture.options.sessions_max = 2;
	o = *pool_options(fixture.pool);
	o.client_acl = 1;
	ck_assert_int_eq(pool_set_options(fixture.pool, &o), 0);
	acl = pool_acl(fixture.pool, 1);
	ck_assert_int_eq(acl_add(acl, false, "127.0.0.9", NULL), 0);
	ck_assert_int_eq(acl_add(acl, true, "127.0.0.0/8", NULL), 0);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	udp_endpoint(&outside, ENDPOINT_TCP4);
	for (i = 0; i < 2; i++) {
		in[i] = udp_client(&fixture.front);
		udp_fixture_ask(in[i]);
		udp_fixture_arrives(a);
		udp_fixture_answer(a, in[i]);
	}
	out = socket(AF_INET, SOCK_DGRAM, 0);
	endpoint_at_host(&outside, &outside, "127.0.0.9");
	ck_assert_int_eq(
	    bind(out, (struct sockaddr *)&outside.addr, outside.len), 0);
	ck_assert_int_eq(connect(out, (struct sockaddr *)&fixture.front.addr,
			     fixture.front.len),
	    0);
	for (i = 0; i < 3; i++)
		udp_fixture_ask(out);
	RUN_UNTIL(fixture_stats()->datagrams.no_server == 3);
	ck_assert(!fixture_tells(out));
	ck_assert_uint_eq(fixture_stats()->flows.now, _i == FLOWS ? 2 : 0);
	ck_assert_uint_eq(fixture_stats()->flows.evicted, 0);
	ck_assert_uint_eq(fixture_stats()->dns.waiting, 0);
	close(out);
	for (i = 0; i < 2; i++)
		close(in[i]);
	close(a);
	fixture_end();
}
END_TEST

/* ---- where we come from ---- */

/* Servers see one source after the other, of their own family. */
START_TEST(sources_in_turn)
{
	enum { MANY = 20 };
	static const char *const text[] = { "127.0.0.2", "::1", "127.0.0.3" };
	struct sources *s = &fixture.options.source;
	int a, client, i, seen[2] = { 0, 0 };
	struct peer from;
	struct addr at;

	udp_fixture_begin(_i == DNS);
	s->count = 3;
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(addr_parse_ip(&at, text[i], 0), 0);
		peer_from_addr(&s->at[i], &at);
	}
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	for (i = 0; i < MANY; i++) {
		client = udp_client(&fixture.front);
		udp_fixture_ask(client);
		udp_fixture_arrives(a);
		udp_fixture_answer(a, client);
		peer_from_addr(&from, &udp_fixture_from);
		seen[0] += peer_same_host(&from, &s->at[0]);
		seen[1] += peer_same_host(&from, &s->at[2]);
		close(client);
	}
	ck_assert_int_eq(seen[0] + seen[1], MANY);
	ck_assert_int_gt(seen[0], 0);
	ck_assert_int_gt(seen[1], 0);
	/* taken back while flows are there that use them */
	fixture.options.source.count = 0;
	frontend_set_options(fixture.frontend, &fixture.options);
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	udp_fixture_answer(a, client);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* A server without a port of its own has the one that the client came to. */
START_TEST(server_has_the_clients_port)
{
	struct frontend_address at[2] = { { .datagram = true },
		{ .datagram = true } };
	struct endpoint place[2], all;
	int a[2], client, i, k;

	udp_fixture_begin(false);
	for (i = 0; i < 2; i++) {
		udp_endpoint(&place[i], ENDPOINT_TCP4);
		at[i].at = fixture_addr(&place[i]);
		endpoint_at_host(&place[i], &place[i], "127.0.8.1");
		a[i] = udp_fixture_serve(&place[i]);
	}
	endpoint_at_host(&all, &place[0], "127.0.8.1");
	((struct sockaddr_in *)(void *)&all.addr)->sin_port = 0;
	fixture_add_server(0, &all);
	udp_fixture_front();
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, at, 2, &fixture.e), 0);
	for (i = 0; i < 4; i++) {
		k = i % 2;
		client = socket(AF_INET, SOCK_DGRAM, 0);
		ck_assert_int_eq(
		    connect(client, &at[k].at.u.sa, at[k].at.len), 0);
		udp_fixture_ask(client);
		udp_fixture_arrives(a[k]);
		udp_fixture_answer(a[k], client);
		close(client);
	}
	ck_assert_uint_eq(pool_server(fixture.pool, 0)->counters->connects, 4);
	close(a[0]);
	close(a[1]);
	fixture_end();
}
END_TEST

/* ---- the end of a flow ---- */

/* Four questions at once are two flows' or four: each has its own socket, and
 * each question gets its answers, whatever came for another flow before. */
START_TEST(requests_begin_flows)
{
	enum { ASKED = 4 };
	struct addr from[ASKED];
	int a, client, i, k, ports = 1;

	udp_fixture_begin(false);
	fixture.options.udp.requests = _i == 0 ? 2 : 1;
	fixture.options.udp.responses = _i == 0 ? 0 : 2;
	fixture.options.udp.timeout_ms = _i == 0 ? 300 : 60000;
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	for (i = 0; i < ASKED; i++)
		udp_fixture_ask(client);
	for (i = 0; i < ASKED; i++) {
		udp_fixture_arrives(a);
		from[i] = udp_fixture_from;
		ports += i > 0 && !addr_equal(&from[i], &from[i - 1]);
	}
	ck_assert_int_eq(ports, _i == 0 ? 2 : 4);
	for (k = 0; k < (_i == 0 ? 1 : 2); k++)
		for (i = 0; i < ASKED; i++) {
			udp_fixture_from = from[i];
			udp_fixture_answer(a, client);
		}
	RUN_UNTIL(fixture_stats()->flows.now == 0);
	ck_assert_uint_eq(fixture_stats()->flows.opened, (uint64_t)ports);
	ck_assert_uint_eq(fixture_stats()->flows.evicted, 0);
	ck_assert_int_eq(pool_server(fixture.pool, 0)->connections, 0);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* A client of an older process goes on with its server, also if that process
 * was told the address that the client came to, and this one is not. */
START_TEST(adopted)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
	struct flow_past past = { .steady = true };
	int a, b, client, i;

	udp_fixture_begin(false);
	a = udp_fixture_server(0, &one);
	b = udp_fixture_server(1, &two);
	udp_fixture_front();
	for (i = 0; i < 2; i++) {
		client = udp_client(&fixture.front);
		past.client.len = sizeof(past.client.u);
		ck_assert_int_eq(getsockname(client, &past.client.u.sa,
				     &past.client.len),
		    0);
		past.listener = fixture_addr(&fixture.front);
		past.local.family = _i == 0 ? 0 : AF_INET;
		memcpy(past.local.ip, mapped, _i == 0 ? 0 : sizeof(mapped));
		past.server = pool_server(fixture.pool, (unsigned)i);
		ck_assert(frontend_import_flow(fixture.frontend, &past,
		    pool_server(fixture.pool, (unsigned)i)));
		udp_fixture_ask(client);
		udp_fixture_arrives(i == 0 ? a : b);
		udp_fixture_answer(i == 0 ? a : b, client);
		close(client);
	}
	ck_assert_uint_eq(fixture_stats()->flows.opened, 2);
	close(a);
	close(b);
	fixture_end();
}
END_TEST

static struct flow_info
first_flow(void)
{
	struct flow_info info;

	ck_assert(flows_next(frontend_flows(fixture.frontend), 0, &info));
	return info;
}

/* Since its last datagram. */
START_TEST(flow_is_idle)
{
	int a, client;

	udp_fixture_begin(false);
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	RUN_UNTIL(first_flow().idle_ms >= 20);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	ck_assert_uint_lt(first_flow().idle_ms, first_flow().age_ms);
	close(client);
	close(a);
	fixture_end();
}
END_TEST

/* A flow ends when its time is up, not at the next full second. */
START_TEST(flow_ends_in_time)
{
	enum { LIMIT = 150 };
	long long began;
	int a, client;

	udp_fixture_begin(false);
	fixture.options.udp.timeout_ms = LIMIT;
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	client = udp_client(&fixture.front);
	udp_fixture_ask(client);
	udp_fixture_arrives(a);
	began = wait_now_ms();
	RUN_UNTIL(fixture_stats()->flows.now == 0);
	ck_assert_int_lt(wait_now_ms() - began, wait_scaled(5 * LIMIT));
	close(client);
	close(a);
	fixture_end();
}
END_TEST

enum { MANY = 3000, PORTION = 1000 };

static uint64_t flows_before;
static uint64_t most_ended; /* between two looks at the sockets */

static void
on_look(struct watch *w, unsigned ready)
{
	uint64_t flows = fixture_stats()->flows.now;

	(void)w;
	(void)ready;
	if (flows_before > flows && flows_before - flows > most_ended)
		most_ended = flows_before - flows;
	flows_before = flows;
}

/* All are due at once when udp_timeout is lowered: sockets get their turn
 * between portions of them. */
START_TEST(flows_end_in_portions)
{
	static int clients[MANY];
	int i, a, always[2];
	struct watch w;

	NEEDS_MORE_THAN_SELECT();
	udp_fixture_begin(false);
	fixture.options.sessions_max = 2 * MANY;
	a = udp_fixture_server(0, &one);
	udp_fixture_front();
	for (i = 0; i < MANY; i++) {
		clients[i] = udp_client(&fixture.front);
		udp_fixture_ask(clients[i]);
		if (i % 100 == 99)
			RUN_UNTIL(
			    fixture_stats()->flows.now == (uint64_t)i + 1);
	}
	ck_assert_int_eq(pipe(always), 0);
	ck_assert_int_eq(write(always[1], "x", 1), 1);
	flows_before = most_ended = 0;
	ck_assert_int_eq(watch_start(fixture.loop, &w, always[0],
			     READY_READ | WATCH_LEVEL, on_look),
	    0);
	fixture.options.udp.timeout_ms = 1;
	frontend_set_options(fixture.frontend, &fixture.options);
	RUN_UNTIL(fixture_stats()->flows.now == 0);
	fixture_breathe();
	ck_assert_uint_gt(most_ended, 0);
	ck_assert_uint_le(most_ended, PORTION);
	watch_stop(fixture.loop, &w);
	close(always[0]);
	close(always[1]);
	for (i = 0; i < MANY; i++)
		close(clients[i]);
	close(a);
	fixture_end();
}
END_TEST

SUITE(test_datagrams)
{
	Suite *s = suite_create("datagrams");
	TCase *both = tcase_create("flows and DNS");

	tcase_set_timeout(both, 30);
	tcase_add_loop_test(both, path_mtu_fails_nobody, 0, KINDS);
	tcase_add_loop_test(both, news_of_one_that_is_replaced, 0, KINDS);
	tcase_add_loop_test(both, second_address, 0, KINDS);
	tcase_add_loop_test(both, address_without_a_route, 0, KINDS);
	tcase_add_loop_test(both, silent_address, 0, KINDS);
	tcase_add_loop_test(both, refused_datagram_counts_once, 0, 2);
	tcase_add_loop_test(both, kept_out, 0, KINDS);
	tcase_add_loop_test(both, sources_in_turn, 0, KINDS);
	tcase_add_loop_test(both, requests_begin_flows, 0, 2);
	tcase_add_loop_test(both, adopted, 0, 2);
	suite_add_tcase(s, both);
	SUITE_ADD_LOOP(s, answer_is_noted, 30, KINDS);
	SUITE_ADD(s, server_has_the_clients_port, 30);
	SUITE_ADD(s, revived_server_is_asked, 30);
	SUITE_ADD(s, address_that_stays, 30);
	SUITE_ADD(s, full_queue_is_silence, 30);
	SUITE_ADD(s, flow_is_idle, 30);
	SUITE_ADD(s, flow_ends_in_time, 30);
	SUITE_ADD(s, flows_end_in_portions, 30);
	SUITE_ADD(s, each_datagram_has_its_round, 30);
	return s;
}
