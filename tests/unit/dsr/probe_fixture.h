/* probe_fixture.h: servers that answer the requests of checks, each in its
 * manner, and a clock of our own. Included once by each program. */
#ifndef PEN_TEST_PROBE_FIXTURE_H
#define PEN_TEST_PROBE_FIXTURE_H

#include <check.h>
#include <string.h>

#include "dsr/segment/probe.h"
#include "support/suite.h"

enum {
	SERVERS = 1000,
	VIPS = 3,
	SENT = 8192,
	INTERVAL = 2000000,
	TIMEOUT = 1000000
};

/* What a server does with a request. */
enum manner { WELL, REFUSES, SILENT, ABSENT, DEAF_ONCE, SLOW };

struct sent {
	uint32_t server;
	struct peer from, to;
	struct tcp_segment s;
	bool answered;
};

static struct probes p;
static struct probes_plan plan;
static struct peer vips[VIPS];
static uint64_t now;
static struct sent sent[SENT];
static unsigned sent_n;
static enum manner manner[SERVERS][VIPS];
static unsigned results[SERVERS];
static uint32_t versions[SERVERS];
static struct probe_report last[SERVERS];

static inline struct peer
ip4(unsigned last_byte, uint16_t port)
{
	struct peer a = { .family = AF_INET, .port = port };

	memset(a.ip + 10, 0xff, 2);
	a.ip[12] = 10;
	a.ip[15] = (uint8_t)last_byte;
	return a;
}

static inline struct peer
ip6(unsigned last_byte, uint16_t port)
{
	struct peer a = { .family = AF_INET6, .port = port, .ip = { 0xfd } };

	a.ip[15] = (uint8_t)last_byte;
	return a;
}

static inline unsigned
place_of(const struct peer *to)
{
	unsigned i;

	for (i = 0; i < VIPS; i++)
		if (peer_same_host(&vips[i], to) && vips[i].port == to->port)
			return i;
	ck_abort_msg("asked for a vip that is none");
	return 0;
}

static inline bool
on_send(void *arg, uint32_t server, const struct peer *from,
    const struct peer *to, const struct tcp_segment *s)
{
	ck_assert_ptr_eq(arg, &p);
	if (manner[server][place_of(to)] == ABSENT)
		return false;
	if (sent_n == SENT)
		ck_abort_msg("too much is sent");
	sent[sent_n++] = (struct sent){ server, *from, *to, *s, false };
	return true;
}

static inline void
on_result(
    void *arg, uint32_t server, uint32_t version, const struct probe_report *r)
{
	ck_assert_ptr_eq(arg, &p);
	versions[server] = version;
	results[server]++;
	last[server] = *r;
}

static inline void
set_plan(unsigned count)
{
	plan = (struct probes_plan){ .own = { ip4(2, 0), ip6(2, 0) },
		.vip = vips,
		.count = count,
		.interval = INTERVAL,
		.timeout = TIMEOUT };
	ck_assert_int_eq(probes_set(&p, &plan, now), 0);
}

static inline void
begin(unsigned servers, unsigned count)
{
	struct probes_options o = {
		.send = on_send, .on_result = on_result, .arg = &p
	};
	unsigned i;

	now = 5000000;
	sent_n = 0;
	memset(manner, 0, sizeof(manner));
	memset(results, 0, sizeof(results));
	vips[0] = ip4(10, 80);
	vips[1] = ip4(10, 443);
	vips[2] = ip6(10, 80);
	ck_assert_int_eq(probes_init(&p, &o), 0);
	set_plan(count);
	for (i = 0; i < servers; i++)
		ck_assert_int_eq(probes_add(&p, i, 1, now), 0);
}

/* ---- servers ---- */

static inline bool
hand_in(const struct sent *q, uint8_t flags, uint32_t seq, uint32_t ack)
{
	struct tcp_segment s = { .seq = seq, .ack = ack, .flags = flags };

	return probes_on_tcp(&p, &q->to, &q->from, &s, now);
}

static inline bool
is_again(const struct sent *q)
{
	const struct sent *o;

	for (o = sent; o < q; o++)
		if (o->server == q->server && o->s.seq == q->s.seq &&
		    o->from.port == q->from.port && o->s.flags == FRAME_SYN)
			return true;
	return false;
}

static inline void
answer(struct sent *q)
{
	enum manner m = manner[q->server][place_of(&q->to)];

	q->answered = true;
	if (q->s.flags != FRAME_SYN || m == SILENT ||
	    (m == DEAF_ONCE && !is_again(q)))
		return;
	if (m == REFUSES)
		ck_assert(hand_in(q, FRAME_RST | FRAME_ACK, 0, q->s.seq + 1));
	else
		ck_assert(hand_in(q, FRAME_SYN | FRAME_ACK, 77, q->s.seq + 1));
}

/* Lets time pass, a look each millisecond; answers come a little later. */
static inline void
pass(uint64_t us)
{
	uint64_t end = now + us;
	unsigned i;

	for (; now < end; now += 1000) {
		(void)probes_tick(&p, now);
		now += 300;
		for (i = 0; i < sent_n; i++)
			if (!sent[i].answered)
				answer(&sent[i]);
		now -= 300;
	}
}

static inline unsigned
count(uint8_t flags)
{
	unsigned i, n = 0;

	for (i = 0; i < sent_n; i++)
		n += sent[i].s.flags == flags;
	return n;
}

#endif
