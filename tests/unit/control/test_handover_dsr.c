/* test_handover_dsr.c: the servers and flows of a director arrive at that of
 * another process. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "control/handover/handover_state.h"
#include "control/life/context.h"
#include "dsr/director/director_private.h"
#include "support/ask.h"
#include "support/suite.h"

static struct pen *old, *new;

/* One with a director that has no link. */
static struct pen *
begin(const char *servers)
{
	struct pen *p = pen_new();
	struct director *d = calloc(1, sizeof(*d));
	char answer[256];
	struct error e;

	ck_assert(p != NULL && d != NULL);
	ck_assert_int_eq(ask_pen(p, servers, answer, sizeof(answer), &e), 0);
	ck_assert_msg(pen_start(p, &e) == 0, "%s", e.text);
	director_join(d, p->loop, p->service->pool);
	timer_init(&d->tick, NULL);
	ck_assert_int_eq(dsr_flows_init(&d->dispatch.flows, 10), 0);
	dispatch_open(&d->dispatch);
	p->service->director = d;
	return p;
}

static void
end(struct pen *p)
{
	director_free(p->service->director);
	p->service->director = NULL;
	pen_free(p);
}

static struct server *
server(const struct pen *p, unsigned number)
{
	return pool_server(p->service->pool, number);
}

static bool
has_flows(const struct pen *p, unsigned number)
{
	return director_has_flows(p->service->director, server(p, number));
}

/* An established connection. */
static void
add_flow(struct pen *p, unsigned number)
{
	struct director_flow f = { .key = { .client_port = (uint16_t)number,
					.vip_port = 80,
					.protocol = IPPROTO_TCP,
					.family = AF_INET },
		.past = { .state = DSR_ESTABLISHED, .frames = 9 } };

	ck_assert(director_restore_flow(
	    p->service->director, &f, server(p, number)));
}

static void
hand_over(bool to_peer)
{
	struct handover_state_writer w;
	struct handover_state_reader l;
	struct handover_record record;
	struct handover_reader r;
	struct buffer b;

	buffer_init(&b);
	handover_state_writer_init(&w, old);
	w.to_peer = to_peer;
	while (handover_state_write(&w, &b) > 0)
		;
	while (handover_state_write_flows(&w, &b) > 0)
		;
	handover_reader_init(&r);
	handover_state_reader_init(&l, new);
	l.from_peer = to_peer;
	ck_assert_int_eq(
	    handover_feed(&r, buffer_bytes(&b), buffer_length(&b)), 0);
	while (handover_next(&r, &record))
		handover_state_read(&l, &record);
	ck_assert_ptr_null(r.error);
	if (to_peer)
		handover_state_reader_fini(&l);
	else
		handover_state_reader_end(&l);
	handover_reader_fini(&r);
	buffer_fini(&b);
}

/* That of a server is the one of the first listening address. */
START_TEST(ports_of_servers_do_not_count)
{
	old = begin("server 0 address 10.0.0.1 port 80;"
		    "server 1 address 10.0.0.2 port 80; server 1 drain");
	new = begin("server 0 address 10.0.0.2 port 443;"
		    "server 1 address 10.0.0.1 port 443");
	add_flow(old, 0);
	add_flow(old, 1);
	hand_over(false);
	ck_assert_int_eq(server_state(server(new, 0)), SERVER_DRAIN);
	ck_assert_int_eq(server_state(server(new, 1)), SERVER_UP);
	ck_assert(has_flows(new, 0) && has_flows(new, 1));
	end(old);
	end(new);
}
END_TEST

/* By a command: the configuration still has it, or has it elsewhere. */
START_TEST(flows_of_a_removed_server)
{
	old = begin("server 0 address 10.0.0.1 port 80;"
		    "server 1 address 10.0.0.2 port 80;"
		    "server 2 address 10.0.0.3 port 80;"
		    "server 3 address 10.0.0.1 port 80; server 3 drain");
	new = begin("server 0 address 10.0.0.3 port 80;"
		    "server 1 address 10.0.0.1 port 80");
	add_flow(old, 0);
	add_flow(old, 1);
	add_flow(old, 2);
	server(old, 3)->counters->connects = 77;
	pool_remove_server(old->service->pool, server(old, 0));
	pool_remove_server(old->service->pool, server(old, 1));
	pool_remove_server(old->service->pool, server(old, 2));
	hand_over(false);
	ck_assert(has_flows(new, 0) && has_flows(new, 1));
	/* that of 10.0.0.2, which is not there, is lost */
	ck_assert_uint_eq(new->service->director->dispatch.flows.count, 2);
	ck_assert_int_eq(server_state(server(new, 0)), SERVER_UP);
	ck_assert_uint_eq(server(new, 0)->connections, 1);
	/* what was known of the one that was not removed counts */
	ck_assert_int_eq(server_state(server(new, 1)), SERVER_DRAIN);
	ck_assert_uint_eq(server(new, 1)->counters->connects, 77);
	end(old);
	end(new);
}
END_TEST

/* It is reported, also without a flow, and taken for one that may be right. */
START_TEST(a_peer_gets_the_tag)
{
	static const struct director_export past = { .vlan_known = true,
		.vlan = 7 };
	struct director *d;

	old = begin("server 0 address 10.0.0.1 port 80");
	new = begin("server 0 address 10.0.0.1 port 80");
	d = new->service->director;
	hand_over(true);
	ck_assert_uint_eq(d->vlan_suggested, 0);
	director_restore(old->service->director, &past);
	hand_over(true);
	ck_assert_uint_eq(d->vlan_suggested, 7);
	ck_assert(!d->vlan_confirmed && d->forward.wire.vlan == 0);
	end(old);
	end(new);
}
END_TEST

SUITE(test_handover_dsr)
{
	Suite *s = suite_create("handover_dsr");

	SUITE_ADD(s, ports_of_servers_do_not_count, 10);
	SUITE_ADD(s, flows_of_a_removed_server, 10);
	SUITE_ADD(s, a_peer_gets_the_tag, 10);
	return s;
}
