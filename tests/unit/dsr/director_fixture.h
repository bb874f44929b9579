/* director_fixture.h: a director without a link: its servers' next hop is
 * given, its link is what a test makes of it. Included once by each program. */
#ifndef PEN_TEST_DIRECTOR_FIXTURE_H
#define PEN_TEST_DIRECTOR_FIXTURE_H

#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/director/director_private.h"
#include "support/suite.h"

/* Servers 0 and 1 have numbers 2 and 3. */
enum { SERVERS = 4, FIRST = 2, MTU = 1500 };

static const struct mac ours = { { 2, 0, 0, 0, 0, 1 } },
			hop = { { 2, 0, 0, 0, 0, 2 } };
static const struct peer client = { .family = AF_INET,
	.port = 40000,
	.ip = { [10] = 0xff, 0xff, 198, 51, 100, 7 } },
			 vip = { .family = AF_INET,
				 .port = 443,
				 .ip = { [10] = 0xff, 0xff, 192, 0, 2, 1 } };

static struct director d;
/* A frame of the client's, as it came. */
static unsigned char bytes[FRAME_MADE_MAX];
static struct arrival arrival;
static struct link_frame on_link;

static inline void
director_fixture_add_server(unsigned i)
{
	struct server_spec spec;
	struct server *s;
	char name[20];

	server_spec_init(&spec);
	snprintf(name, sizeof(name), "10.0.0.%u", i + 1);
	spec.name = name;
	spec.addrs.count = 1;
	ck_assert_int_eq(addr_parse_ip(&spec.addrs.addr[0], name, 0), 0);
	s = pool_set_slot(d.pool, server_slot(i), &spec);
	ck_assert_ptr_nonnull(s);
	d.forward.hops.list[FIRST + i] =
	    (struct nexthop){ .hop = HOP_GIVEN, .generation = s->generation };
}

static inline void
director_fixture_up(void)
{
	static const struct link_ops ops = { .name = "none" };
	struct nexthops *hops = &d.forward.hops;
	struct error e;
	unsigned i;

	memset(&d, 0, sizeof(d));
	director_join(&d, loop_new(NULL, &e), pool_new());
	d.vips.list = calloc(1, sizeof(vip));
	hops->list = calloc(FIRST + SERVERS, sizeof(*hops->list));
	ck_assert(d.loop && d.pool && d.vips.list && hops->list);
	hops->count = FIRST + SERVERS;
	for (i = 0; i < SERVERS; i++)
		director_fixture_add_server(i);
	d.vips.list[0] = vip;
	d.vips.count = 1;
	hops->forward.gateway_mac = hop;
	d.forward.wire.link.ops = &ops;
	d.forward.wire.link.mac = ours;
	d.forward.wire.link.mtu = MTU;
	ck_assert_int_eq(dsr_flows_init(&d.dispatch.flows, 1000), 0);
	dispatch_open(&d.dispatch);
}

static inline void
director_fixture_down(void)
{
	dsr_flows_fini(&d.dispatch.flows);
	free(d.forward.hops.list);
	free(d.vips.list);
	pool_free(d.pool);
	loop_free(d.loop);
}

/* A frame of the connection from that port, in `arrival` and `on_link`. */
static inline void
director_fixture_frame(uint16_t port, uint8_t flags)
{
	struct frame_head head = { .to = ours };
	struct tcp_segment s = { .flags = flags };
	struct peer from = client;
	size_t n;

	from.port = port;
	n = frame_make_tcp(bytes, sizeof(bytes), &head, &from, &vip, &s);
	ck_assert_uint_gt(n, 0);
	frame_parse(&arrival.frame, bytes, n);
	ck_assert_int_eq(arrival.frame.kind, FRAME_FLOW);
	on_link = (struct link_frame){ .bytes = bytes, .length = (unsigned)n };
	dsr_key_make(&arrival.key, &from, &vip, IPPROTO_TCP);
	arrival.hash = dsr_flows_hash(&d.dispatch.flows, &arrival.key);
}

#endif
