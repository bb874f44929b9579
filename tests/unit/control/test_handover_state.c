/* test_handover_state.c: the state of one pen arrives at another one; nothing
 * that is corrupt does harm. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/apply/apply.h"
#include "control/upgrade/handover_state.h"
#include "net/loop/loop.h"
#include "support/ask.h"
#include "support/pooladmin.h"
#include "support/suite.h"
#include "support/udp.h"

static struct pen *pen;
static struct error e;
static struct endpoint front;

static void
takes(const char *line)
{
	char answer[4096];

	ck_assert_msg(ask_pen(pen, line, answer, sizeof(answer), &e) == 0,
	    "%s: %s", line, e.text);
}

/* One that serves at `listening`, with servers as the words say. */
static struct pen *
begin(const char *listening, const char *servers)
{
	pen = pen_new();
	ck_assert_ptr_nonnull(pen);
	ck_assert_int_eq(
	    spec_parse_listen(&pen->plan->listen, listening, RESOLVE_NAMES, &e),
	    0);
	takes(servers);
	takes("udp; blacklist 100");
	ck_assert_msg(pen_start(pen, &e) == 0, "%s", e.text);
	return pen;
}

static struct server *
server(const struct pen *p, unsigned number)
{
	return pool_server(p->service->pool, number);
}

static struct peer
client(uint8_t n)
{
	struct peer who = { .family = AF_INET,
		.ip = { [10] = 0xff, 0xff, 10, 9, 8, n },
		.port = n };

	return who;
}

/* Clients 1 to `count`, of servers 0 and 1 in turn, the last one seen last. */
static void
remember(struct pen *p, uint8_t count)
{
	struct sticky *sticky = pool_sticky(p->service->pool);
	struct peer who;
	sticky_hint hint;
	uint8_t i;

	for (i = 1; i <= count; i++) {
		who = client(i);
		hint = 0;
		ck_assert_int_eq(sticky_remember(sticky, &who, &hint, i % 2,
				     i % 3 == 0, loop_now(p->loop)),
		    0);
		sticky_count_bytes(sticky, &who, &hint, i, 7);
	}
}

/* Flows of clients that have asked the server, and nothing came back yet. */
static void
begin_flows(struct pen *p, unsigned number, uint8_t count)
{
	struct flow_past past = { .steady = true };
	uint8_t i;

	past.listener = p->plan->listen.entry[0].at;
	for (i = 1; i <= count; i++) {
		ck_assert_int_eq(
		    addr_parse_ip(&past.client, text("127.0.0.%d", i), i), 0);
		ck_assert(frontend_adopt_flow(
		    p->service->frontend, &past, server(p, number)));
	}
	/* once is enough */
	ck_assert(!frontend_adopt_flow(
	    p->service->frontend, &past, server(p, number)));
}

/* Everything that can be learned. */
static struct pen *
learn(void)
{
	struct frontend_stats stats = { .accepted = 17, .flows = { .now = 9 } };
	struct server_past past = { .connects = 5, .sent = 1000 };
	struct pen *p;
	uint64_t now;

	udp_endpoint(&front, ENDPOINT_TCP4);
	p = begin(front.text,
	    "server 0 address 10.0.0.1 port 80;"
	    "server 1 address 10.0.0.2 port 80;"
	    "server 2 address 10.0.0.3 port 80;"
	    "server 3 address 10.0.0.4 port 80");
	now = loop_now(p->loop);
	pool_set_admin(p->service->pool, server(p, 0), SERVER_DRAINING);
	pool_failed(p->service->pool, server(p, 1), "of a failure", now);
	stats.reasons[REASON_CLIENT_RESET] = 4;
	stats.datagrams.up = 99;
	remember(p, 60);
	frontend_restore_stats(p->service->frontend, &stats);
	pool_restore_counters(p->service->pool, server(p, 2), &past);
	begin_flows(p, 2, 20);
	return p;
}

static void
write_all(struct pen *p, struct buffer *out)
{
	struct handover_state_writer w;
	int rc;

	buffer_init(out);
	handover_state_writer_init(&w, p);
	while ((rc = handover_state_write(&w, out)) > 0)
		;
	ck_assert_int_eq(rc, 0);
	while ((rc = handover_state_write_flows(&w, out)) > 0)
		;
	ck_assert_int_eq(rc, 0);
}

static void
read_all(struct pen *p, const struct buffer *b)
{
	struct handover_reader r;
	struct handover_record record;
	struct handover_state_reader l;

	handover_reader_init(&r);
	handover_state_reader_init(&l, p);
	(void)handover_feed(&r, buffer_bytes(b), buffer_length(b));
	while (handover_next(&r, &record))
		handover_state_read(&l, &record);
	handover_state_reader_end(&l);
	handover_reader_fini(&r);
}

/* The same servers in another order, one of them missing, one new. It is where
 * the old one was. */
static struct pen *
successor(struct pen *old)
{
	if (old != NULL)
		frontend_stop(old->service->frontend);
	return begin(front.text,
	    "server 0 address 10.0.0.3 port 80;"
	    "server 1 address 10.0.0.9 port 80;"
	    "server 2 address 10.0.0.2 port 80;"
	    "server 3 address 10.0.0.1 port 80");
}

static int
server_of(struct pen *p, uint8_t n)
{
	struct peer who = client(n);
	sticky_hint hint = 0;
	struct sticky_client *c =
	    sticky_find(pool_sticky(p->service->pool), &who, &hint, 0, 0);

	return c != NULL ? (int)c->server : -1;
}

START_TEST(servers_are_found_by_address)
{
	struct pen *old = learn(), *new;
	struct buffer b;

	write_all(old, &b);
	new = successor(old);
	read_all(new, &b);
	ck_assert_int_eq(server_state(server(new, 0)), SERVER_UP);
	ck_assert_int_eq(server_state(server(new, 1)), SERVER_UP);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	ck_assert_int_eq(server_state(server(new, 3)), SERVER_DRAIN);
	ck_assert_str_eq(server(new, 2)->history.reason, "of a failure");
	ck_assert_uint_eq(
	    server(new, 2)->history.changes, server(old, 1)->history.changes);
	ck_assert_uint_eq(server(new, 2)->failures, 1);
	ck_assert_uint_eq(server(new, 0)->connects, 25);
	ck_assert_uint_eq(server(new, 0)->sent, 1000);
	/* the blacklisting ends when it would have */
	pool_revive(
	    new->service->pool, server(old, 1)->blacklisted_until - 1000);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_BLACKLISTED);
	pool_revive(
	    new->service->pool, server(old, 1)->blacklisted_until + 60000);
	ck_assert_int_eq(server_state(server(new, 2)), SERVER_UP);
	/* the mark is in the plan, and is written */
	ck_assert_int_eq(plan_server(new->plan, 3)->admin, SERVER_DRAINING);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* One that is down until its first success still is. */
START_TEST(unproven_servers)
{
	struct pen *old = learn(), *new;
	struct buffer b;

	server(old, 2)->health =
	    (struct health){ .down = true, .unproven = true };
	write_all(old, &b);
	new = successor(old);
	server(new, 0)->checked = server(new, 3)->checked = true;
	read_all(new, &b);
	ck_assert(server(new, 0)->health.down);
	ck_assert(server(new, 0)->health.unproven);
	ck_assert(!server(new, 3)->health.unproven);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

START_TEST(clients_and_counters)
{
	struct pen *old = learn(), *new;
	struct sticky *sticky;
	const struct frontend_stats *st;
	const struct sticky_client *c;
	struct buffer b;

	write_all(old, &b);
	new = successor(old);
	sticky = pool_sticky(new->service->pool);
	read_all(new, &b);
	ck_assert_uint_eq(sticky_count(sticky), 80); /* flows have some */
	ck_assert_int_eq(server_of(new, 2), 3);
	ck_assert_int_eq(server_of(new, 3), 2);
	ck_assert_int_eq(server_of(new, 61), -1);
	c = sticky_at(sticky, 0);
	ck_assert_uint_eq(c->connects, 1);
	ck_assert_uint_eq(c->received, 7);
	st = frontend_stats(new->service->frontend);
	ck_assert_uint_eq(st->accepted, 17);
	ck_assert_uint_eq(st->reasons[REASON_CLIENT_RESET], 4);
	ck_assert_uint_eq(st->datagrams.up, 99);
	/* what is there now is counted here */
	ck_assert_uint_eq(st->flows.now, 20);
	ck_assert_uint_eq(server(new, 0)->connections, 20);
	ck_assert_uint_eq(server(new, 0)->connects, 25);
	buffer_fini(&b);
	pen_free(old);
	pen_free(new);
}
END_TEST

/* ---- corrupted ---- */

static unsigned seed = 1;

static unsigned
draw(void)
{
	return (unsigned)rand_r(&seed) >> 4;
}

/* Copies the state; some payloads are changed, cut or longer, with checks that
 * are right. */
static void
corrupt(const struct buffer *from, struct buffer *to)
{
	unsigned char payload[HANDOVER_PAYLOAD_MAX + 64];
	struct handover_reader r;
	struct handover_record record;
	struct handover_writer w;
	size_t n, i;

	buffer_init(to);
	handover_begin(&w, to);
	handover_reader_init(&r);
	ck_assert_int_eq(
	    handover_feed(&r, buffer_bytes(from), buffer_length(from)), 0);
	while (handover_next(&r, &record)) {
		n = record.left;
		memcpy(payload, record.at, n);
		for (i = draw() % 4; i > 0 && n > 0; i--)
			payload[draw() % n] = (unsigned char)draw();
		if (draw() % 8 == 0)
			n = n > 0 ? draw() % n : 0;
		else if (draw() % 8 == 0 && n < HANDOVER_PAYLOAD_MAX)
			for (i = draw() % 32; i > 0; i--)
				payload[n++] = (unsigned char)draw();
		handover_open(&w, (enum handover_type)record.type);
		handover_add(&w, payload, n);
		handover_close(&w);
	}
	handover_reader_fini(&r);
}

/* Whatever comes, there are servers, and clients are served. */
START_TEST(corrupted_states)
{
	struct pen *old, *new;
	struct peer who = client(99);
	struct attempts attempts = { .count = 0 };
	struct buffer good, bad_;
	long i;

	log_level = LOG_LEVEL_ERROR;
	old = learn();
	write_all(old, &good);
	new = successor(old);
	for (i = suite_amount(20000, 2000); i > 0; i--) {
		corrupt(&good, &bad_);
		read_all(new, &bad_);
		buffer_fini(&bad_);
	}
	ck_assert_uint_le(sticky_count(pool_sticky(new->service->pool)),
	    pool_options(new->service->pool)->clients_max);
	for (i = 0; i < 4; i++) {
		pool_set_admin(new->service->pool, server(new, (unsigned)i),
		    SERVER_ENABLED);
		ck_assert_int_lt(
		    server_state(server(new, (unsigned)i)), SERVER_STATES);
	}
	ck_assert_ptr_nonnull(pool_choose(
	    new->service->pool, &who, &attempts, loop_now(new->loop)));
	buffer_fini(&good);
	pen_free(old);
	pen_free(new);
}
END_TEST

SUITE(test_handover_state)
{
	Suite *s = suite_create("handover_state");

	SUITE_ADD(s, servers_are_found_by_address, 10);
	SUITE_ADD(s, unproven_servers, 20);
	SUITE_ADD(s, clients_and_counters, 10);
	SUITE_ADD(s, corrupted_states, 120);
	return s;
}
