/* test_director_flows.c: which server the flows of a director have when servers
 * are out of reach. */
#include "config.h"

#include <unistd.h>

#include "pool/balance.h"
#include "pool/sticky/sticky.h"
#include "unit/dsr/director_fixture.h"

enum { CONNECTIONS = 8, PORT = 40000 };

static struct neighbor neighbor[SERVERS];

/* In turn, whatever the client was given before. */
static void
up(void)
{
	struct pool_options o;
	unsigned i;

	director_fixture_up();
	o = *pool_options(d.pool);
	o.sticky = false;
	ck_assert_int_eq(pool_set_options(d.pool, &o), 0);
	memset(neighbor, 0, sizeof(neighbor));
	for (i = 0; i < SERVERS; i++) {
		neighbor[i].state = NEIGHBOR_REACHABLE;
		d.forward.hops.list[FIRST + i].hop = HOP_SERVER;
		d.forward.hops.list[FIRST + i].neighbor = &neighbor[i];
	}
}

/* The server of the next frame of a connection; SERVERS: none. */
static unsigned
server_of(unsigned connection, uint8_t flags)
{
	struct server *s;

	director_fixture_frame((uint16_t)(PORT + connection), flags);
	s = dispatch_server(&d.dispatch, &arrival, &on_link);
	return s != NULL ? s->number : (unsigned)SERVERS;
}

/* Two connections at each server. */
static void
connect_all(void)
{
	unsigned i;

	for (i = 0; i < CONNECTIONS; i++) {
		ck_assert_uint_eq(server_of(i, FRAME_SYN), i % SERVERS);
		ck_assert_uint_eq(server_of(i, FRAME_ACK), i % SERVERS);
	}
}

static void
go_away(unsigned server)
{
	neighbor[server].state = NEIGHBOR_FAILED;
	pool_failed(
	    d.pool, pool_server(d.pool, server), "a test", loop_now(d.loop));
}

static void
come_back(unsigned server)
{
	neighbor[server].state = NEIGHBOR_REACHABLE;
	neighbor[server].returning = false;
	pool_connected(d.pool, pool_server(d.pool, server), loop_now(d.loop));
}

START_TEST(flows_of_a_server_that_fails_alone_move)
{
	connect_all();
	go_away(1);
	ck_assert_uint_ne(server_of(1, FRAME_ACK), 1);
	ck_assert_uint_eq(server_of(2, FRAME_ACK), 2);
	come_back(1);
	ck_assert_uint_eq(server_of(5, FRAME_ACK), 1);
}
END_TEST

/* Nobody can be chosen: the connection may still be there tomorrow. Its frames
 * go to nobody, or to where its server was. */
START_TEST(flows_stay_while_all_servers_are_gone)
{
	unsigned i, server;

	connect_all();
	for (i = 0; i < SERVERS; i++)
		go_away(i);
	for (i = 0; i < CONNECTIONS; i++) {
		server = server_of(i, FRAME_ACK);
		ck_assert(server == SERVERS || server == i % SERVERS);
	}
	ck_assert_uint_eq(server_of(CONNECTIONS, FRAME_SYN), SERVERS);
	ck_assert_uint_eq(d.dispatch.flows.count, CONNECTIONS);
	ck_assert_uint_eq(pool_server(d.pool, 0)->connections, 2);
	for (i = 0; i < SERVERS; i++)
		come_back(i);
	for (i = 0; i < CONNECTIONS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_ACK), i % SERVERS);
}
END_TEST

/* The others are asked when the first one is there again: until they have
 * answered their connections wait, while new ones go to whoever is there. */
START_TEST(flows_wait_for_servers_that_return)
{
	unsigned i;

	connect_all();
	for (i = 0; i < SERVERS; i++)
		go_away(i);
	for (i = 1; i < SERVERS; i++)
		neighbor[i].returning = true;
	come_back(0);
	for (i = 0; i < CONNECTIONS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_ACK), i % SERVERS);
	ck_assert_uint_eq(server_of(CONNECTIONS, FRAME_SYN), 0);
	/* nobody knows the hardware address, so their frames are lost */
	director_fixture_frame(PORT + 1, FRAME_ACK);
	ck_assert(!forward_send(&d.forward, pool_server(d.pool, 1),
	    on_link.bytes, on_link.length));
	/* one stays silent */
	neighbor[1].returning = false;
	come_back(2);
	come_back(3);
	ck_assert_uint_ne(server_of(1, FRAME_ACK), 1);
	ck_assert_uint_eq(server_of(2, FRAME_ACK), 2);
	ck_assert_uint_eq(server_of(3, FRAME_ACK), 3);
}
END_TEST

/* Blacklisted for whatever else, a server that is there keeps what it has. */
START_TEST(flows_of_a_blacklisted_server_go_on)
{
	unsigned i;

	connect_all();
	pool_failed(d.pool, pool_server(d.pool, 1), "a test", loop_now(d.loop));
	ck_assert_uint_eq(server_of(1, FRAME_ACK), 1);
	for (i = 0; i < 2; i++)
		ck_assert_uint_ne(server_of(CONNECTIONS + i, FRAME_SYN), 1);
}
END_TEST

/* Nobody is left, but one can be reached, whatever it was blacklisted for: a
 * new client gets that one, and nobody pays for the others. */
START_TEST(a_blacklisted_server_is_better_than_none)
{
	unsigned i;
	uint64_t until;

	for (i = 0; i < SERVERS; i++)
		go_away(i);
	until = pool_server(d.pool, 0)->blacklisted_until;
	neighbor[2].state = NEIGHBOR_REACHABLE;
	ck_assert_uint_eq(server_of(0, FRAME_SYN), 2);
	ck_assert_uint_eq(server_of(0, FRAME_ACK), 2);
	ck_assert_uint_eq(pool_server(d.pool, 0)->blacklisted_until, until);
	ck_assert_uint_eq(pool_server(d.pool, 0)->counters->failures, 1);
}
END_TEST

static void
check_fails(unsigned server)
{
	struct server *s = pool_server(d.pool, server);

	while (!s->health.down)
		pool_checked(d.pool, s, false, "test", loop_now(d.loop));
}

/* What was begun stays with a server that is down, unless on_down says
 * otherwise. */
START_TEST(flows_of_a_server_that_is_down)
{
	connect_all();
	check_fails(1);
	check_fails(2);
	pool_server(d.pool, 2)->set.on_down = SERVER_ON_DOWN_CUT;
	ck_assert_uint_eq(server_of(1, FRAME_ACK), 1);
	ck_assert_uint_lt(server_of(2, FRAME_ACK), SERVERS);
	ck_assert_uint_ne(server_of(2, FRAME_ACK), 2);
}
END_TEST

/* A director that stops forwards what goes on, which it may not have seen the
 * beginning of, and nothing that begins, not even again. */
START_TEST(no_flow_begins_in_a_drain)
{
	connect_all();
	ck_assert_uint_eq(server_of(1, FRAME_RST), 1);
	director_drain(&d);
	ck_assert_uint_eq(director_left(&d), CONNECTIONS - 1);
	ck_assert_uint_eq(server_of(0, FRAME_ACK), 0);
	ck_assert_uint_eq(server_of(CONNECTIONS, FRAME_SYN), SERVERS);
	ck_assert_uint_eq(server_of(1, FRAME_SYN), SERVERS);
	ck_assert_uint_lt(server_of(CONNECTIONS + 1, FRAME_ACK), SERVERS);
	/* those of a server that is gone go on elsewhere */
	go_away(2);
	ck_assert_uint_lt(server_of(2, FRAME_ACK), SERVERS);
	ck_assert_uint_ne(server_of(2, FRAME_ACK), 2);
}
END_TEST

/* One that stands by sees no frames: what it had itself may be over. */
START_TEST(a_standby_follows_other_directors)
{
	struct dsr_report r = { .server = pool_server(d.pool, 2)->slot };

	connect_all();
	director_fixture_frame(PORT + 1, FRAME_ACK);
	r.key = arrival.key;
	ck_assert(!director_learn_flow(&d, &r));
	d.vips.standby = true;
	ck_assert(director_learn_flow(&d, &r));
	d.vips.standby = false;
	ck_assert_uint_eq(server_of(1, FRAME_ACK), 2);
}
END_TEST

/* Peers get those that have had an answer. */
START_TEST(clients_are_proven)
{
	struct pool_options o = *pool_options(d.pool);

	o.sticky = true;
	ck_assert_int_eq(pool_set_options(d.pool, &o), 0);
	ck_assert_uint_lt(server_of(0, FRAME_SYN), SERVERS);
	ck_assert(!sticky_at(pool_sticky(d.pool), 0)->proven);
	ck_assert_uint_lt(server_of(0, FRAME_ACK), SERVERS);
	ck_assert(sticky_at(pool_sticky(d.pool), 0)->proven);
}
END_TEST

static unsigned
server_of_datagram(unsigned connection)
{
	struct server *s;

	director_fixture_frame((uint16_t)(PORT + connection), 0);
	arrival.frame.protocol = arrival.key.protocol = IPPROTO_UDP;
	arrival.hash = dsr_flows_hash(&d.dispatch.flows, &arrival.key);
	s = dispatch_server(&d.dispatch, &arrival, &on_link);
	return s != NULL ? s->number : (unsigned)SERVERS;
}

static void
let_pass(unsigned seconds)
{
	dsr_flows_stop_counting(
	    &d.dispatch.flows, loop_now(d.loop) + 1000 * (seconds + 1), 1000);
}

/* A stop waits for datagrams as long as they count. */
START_TEST(idle_datagrams_are_not_left)
{
	unsigned i;

	connect_all();
	for (i = 0; i < DSR_ASSURED; i++)
		(void)server_of_datagram(100);
	(void)server_of_datagram(101);
	ck_assert_uint_eq(director_left(&d), CONNECTIONS + 2);
	let_pass(DSR_COUNTS_S);
	ck_assert_uint_eq(director_left(&d), CONNECTIONS + 1);
	let_pass(DSR_COUNTS_UDP_S);
	ck_assert_uint_eq(director_left(&d), CONNECTIONS);
	ck_assert_uint_eq(d.dispatch.flows.count, CONNECTIONS + 2);
	(void)server_of_datagram(100);
	ck_assert_uint_eq(director_left(&d), CONNECTIONS + 1);
}
END_TEST

/* Those of a server that is down are another server's with the next one, also
 * if the client never gets an answer. */
START_TEST(datagrams_leave_a_server_that_is_down)
{
	unsigned i;

	for (i = 0; i < 2 * DSR_ASSURED; i++)
		ck_assert_uint_eq(server_of_datagram(100), 0);
	check_fails(0);
	ck_assert_uint_ne(server_of_datagram(100), 0);
	ck_assert_uint_lt(server_of_datagram(100), SERVERS);
}
END_TEST

/* It may stop at once. */
START_TEST(no_flow_is_left_of_a_standby)
{
	connect_all();
	d.vips.standby = true;
	ck_assert_uint_eq(director_left(&d), 0);
	d.dispatch.flows.max = 0;
	ck_assert_uint_eq(director_left(&d), 0);
}
END_TEST

static void
limit_all(unsigned hard, bool weighted)
{
	struct server_spec spec;
	char name[20];
	unsigned i;

	for (i = 0; i < SERVERS; i++) {
		server_spec_init(&spec);
		snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
		spec.name = name;
		spec.addrs = server_addrs(pool_server(d.pool, i));
		spec.set.hard = hard;
		if (weighted)
			spec.set.weight = i + 1;
		ck_assert_ptr_nonnull(
		    pool_set_slot(d.pool, server_slot(i), &spec));
		d.forward.hops.list[FIRST + i].generation =
		    pool_server(d.pool, i)->generation;
	}
}

static unsigned
all_connections(void)
{
	unsigned i, n = 0;

	for (i = 0; i < SERVERS; i++)
		n += pool_server(d.pool, i)->connections;
	return n;
}

static unsigned
all_load(void)
{
	unsigned i, n = 0;

	for (i = 0; i < SERVERS; i++)
		n += pool_load(pool_server(d.pool, i));
	return n;
}

/* Each has been answered, for all that can be known; all are served. */
START_TEST(one_datagram_takes_no_place)
{
	unsigned i;

	limit_all(1, false);
	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(server_of_datagram(i), i % SERVERS);
	ck_assert_uint_eq(all_connections(), 0);
	ck_assert_uint_eq(pool_server(d.pool, 1)->counters->connects, 25);
	/* those that go on, do, for seconds */
	for (i = 96; i < 100; i++)
		ck_assert_uint_eq(server_of_datagram(i), i % SERVERS);
	ck_assert_uint_eq(all_connections(), SERVERS);
	ck_assert_uint_eq(server_of_datagram(100), SERVERS);
	let_pass(DSR_COUNTS_S);
	ck_assert_uint_eq(all_connections(), 0);
	ck_assert_uint_lt(server_of_datagram(100), SERVERS);
	ck_assert_uint_eq(pool_server(d.pool, 1)->counters->failures, 0);
}
END_TEST

/* A SYN that no ACK follows has a place for seconds, then the next client. */
START_TEST(unanswered_connections_give_their_place_up)
{
	unsigned i;

	limit_all(1, false);
	for (i = 0; i < SERVERS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_SYN), i);
	ck_assert_uint_eq(server_of(1, FRAME_ACK), 1);
	ck_assert_uint_eq(server_of(SERVERS, FRAME_SYN), SERVERS);
	let_pass(DSR_COUNTS_S);
	ck_assert_uint_eq(all_connections(), 1);
	for (i = 0; i < 3; i++)
		ck_assert_uint_lt(
		    server_of(SERVERS + 1 + i, FRAME_SYN), SERVERS);
	ck_assert_uint_eq(server_of(2 * SERVERS, FRAME_SYN), SERVERS);
	ck_assert_uint_eq(all_connections(), SERVERS);
	/* a late answer: it counts again, beyond the limit */
	ck_assert_uint_eq(server_of(0, FRAME_ACK), 0);
	ck_assert_uint_eq(all_connections(), SERVERS + 1);
	ck_assert_uint_eq(server_of(0, FRAME_RST), 0);
	ck_assert_uint_eq(server_of(1, FRAME_FIN | FRAME_ACK), 1);
	let_pass(DSR_COUNTS_S);
	ck_assert_uint_eq(all_connections(), 0);
	dsr_flows_expire(&d.dispatch.flows, loop_now(d.loop) + 1000000, 1000);
	ck_assert_uint_eq(d.dispatch.flows.count, 0);
	ck_assert_uint_eq(all_connections(), 0);
}
END_TEST

/* leastconn sees the same numbers. */
START_TEST(least_connections_of_what_counts)
{
	struct pool_options o = *pool_options(d.pool);
	unsigned i;

	o.balance = balance_find("leastconn");
	ck_assert_int_eq(pool_set_options(d.pool, &o), 0);
	for (i = 0; i < SERVERS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_SYN), i);
	for (i = 1; i < SERVERS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_ACK), i);
	let_pass(DSR_COUNTS_S);
	ck_assert_uint_eq(server_of(SERVERS, FRAME_SYN), 0);
	ck_assert_uint_ne(server_of(SERVERS + 1, FRAME_SYN), 0);
}
END_TEST

/* They take no place, but not all go to one server: each gets the share of its
 * weight. */
START_TEST(datagrams_are_load)
{
	static const char *const by[] = { "leastconn", "wleastconn", "p2c",
		"least_time" };
	static const unsigned slack[] = { 1, 1, 20, 4 }; /* p2c draws */
	struct pool_options o = *pool_options(d.pool);
	unsigned i, k, n[SERVERS], server;

	for (k = 0; k < sizeof(by) / sizeof(by[0]); k++) {
		memset(n, 0, sizeof(n));
		o.balance = balance_find(by[k]);
		ck_assert_ptr_nonnull(o.balance);
		ck_assert_int_eq(pool_set_options(d.pool, &o), 0);
		limit_all(1, k > 0);
		for (i = 0; i < 100; i++) {
			server = server_of_datagram(100 * k + i);
			ck_assert_uint_lt(server, SERVERS);
			n[server]++;
		}
		for (i = 0; i < SERVERS; i++) {
			server = k == 0 ? 25 : 10 * (i + 1);
			ck_assert_uint_le(n[i], server + slack[k]);
			ck_assert_uint_ge(n[i] + slack[k], server);
		}
		ck_assert_uint_eq(all_connections(), 0);
		/* one that goes on is a connection, and no load besides */
		ck_assert_uint_lt(server_of_datagram(100 * k), SERVERS);
		ck_assert_uint_eq(all_connections(), 1);
		let_pass(DSR_COUNTS_S);
		for (i = 0; i < SERVERS; i++)
			ck_assert_uint_eq(pool_load(pool_server(d.pool, i)), 0);
	}
	/* also of one that ends */
	(void)server_of_datagram(1000);
	ck_assert_uint_eq(all_load(), 1);
	dsr_flows_expire(&d.dispatch.flows, loop_now(d.loop) + 1000000, 1000);
	ck_assert_uint_eq(all_load(), 0);
}
END_TEST

/* All but the flows begins anew, as in another process. */
static unsigned
hand_over(struct director_flow *list, unsigned most)
{
	unsigned n = 0, i;
	uint32_t at = 0;

	while (n < most && director_next_flow(&d, &at, &list[n]))
		n++;
	director_fixture_down();
	up();
	for (i = 0; i < n; i++)
		ck_assert(director_restore_flow(
		    &d, &list[i], pool_slot(d.pool, list[i].server)));
	return n;
}

START_TEST(flows_go_to_the_next_process)
{
	struct director_flow list[2 * CONNECTIONS];
	unsigned i;

	connect_all();
	ck_assert_uint_eq(server_of(7, FRAME_FIN | FRAME_ACK), 7 % SERVERS);
	ck_assert_uint_eq(server_of(CONNECTIONS, FRAME_SYN), 0);
	ck_assert_uint_eq(hand_over(list, 2 * CONNECTIONS), CONNECTIONS + 1);
	ck_assert_uint_eq(d.dispatch.flows.stats.opened, 0);
	ck_assert_uint_eq(d.dispatch.flows.lists[DSR_SYN].count, 1);
	ck_assert_uint_eq(d.dispatch.flows.lists[DSR_FIN].count, 1);
	ck_assert_uint_eq(pool_server(d.pool, 0)->connections, 3);
	ck_assert_uint_eq(pool_server(d.pool, 3)->connections, 1);
	for (i = 0; i <= CONNECTIONS; i++)
		ck_assert_uint_eq(server_of(i, FRAME_ACK), i % SERVERS);
	/* once is enough, and a server that is not here has none */
	ck_assert(!director_restore_flow(
	    &d, &list[0], pool_slot(d.pool, list[0].server)));
	list[0].key.client_port = 1;
	ck_assert(!director_restore_flow(&d, &list[0], NULL));
	ck_assert_uint_eq(d.dispatch.flows.count, CONNECTIONS + 1);
}
END_TEST

static void
ignore(void *arg, const unsigned char *frame, size_t length)
{
	(void)arg;
	(void)frame;
	(void)length;
}

static void
nothing(struct link *l)
{
	(void)l;
}

static int
any_filter(struct link *l, const struct link_filter *f, struct error *e)
{
	(void)l;
	(void)f;
	(void)e;
	return 0;
}

/* An upgrade fails while there is no carrier: servers are not asked before it
 * is back. */
START_TEST(no_carrier_when_it_goes_on)
{
	static const struct link_ops ops = { .take = nothing,
		.set_filter = any_filter };
	struct neighbors_options o = { .mac = ours, .send = ignore };
	struct neighbors *n = &d.forward.hops.neighbors;
	struct error e;
	uint64_t asked;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	d.forward.wire.link.ops = &ops;
	d.forward.wire.link.fd = pipes[0];
	watch_init(&d.watch);
	timer_init(&d.tick, NULL);
	ck_assert_int_eq(neighbors_init(n, &o, 1), 0);
	ck_assert_ptr_nonnull(neighbors_add(n, &client, 1));
	nexthops_note_link(&d.forward.hops, "a test");
	director_pause(&d);
	ck_assert_int_eq(director_start(&d, &e), 0);
	asked = n->stats.requests;
	neighbors_tick(n, loop_now(d.loop) + 10000);
	ck_assert_uint_eq(n->stats.requests, asked);
	d.forward.wire.link.up = true;
	nexthops_note_link(&d.forward.hops, "");
	ck_assert_uint_gt(n->stats.requests, asked);
	director_pause(&d);
	groups_fini(&d.forward.hops.groups);
	neighbors_fini(n);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

SUITE(test_director_flows)
{
	Suite *s = suite_create("director_flows");
	TCase *t = tcase_create("director_flows");

	tcase_add_checked_fixture(t, up, director_fixture_down);
	tcase_add_test(t, flows_of_a_server_that_fails_alone_move);
	tcase_add_test(t, flows_stay_while_all_servers_are_gone);
	tcase_add_test(t, flows_wait_for_servers_that_return);
	tcase_add_test(t, flows_of_a_blacklisted_server_go_on);
	tcase_add_test(t, a_blacklisted_server_is_better_than_none);
	tcase_add_test(t, flows_of_a_server_that_is_down);
	tcase_add_test(t, no_flow_begins_in_a_drain);
	tcase_add_test(t, a_standby_follows_other_directors);
	tcase_add_test(t, clients_are_proven);
	tcase_add_test(t, idle_datagrams_are_not_left);
	tcase_add_test(t, datagrams_leave_a_server_that_is_down);
	tcase_add_test(t, no_flow_is_left_of_a_standby);
	tcase_add_test(t, one_datagram_takes_no_place);
	tcase_add_test(t, unanswered_connections_give_their_place_up);
	tcase_add_test(t, least_connections_of_what_counts);
	tcase_add_test(t, datagrams_are_load);
	tcase_add_test(t, flows_go_to_the_next_process);
	tcase_add_test(t, no_carrier_when_it_goes_on);
	suite_add_tcase(s, t);
	return s;
}
