/* dsrmodel.c: batches of frames, and the order in which they leave. */
#include "config.h"

#include <check.h>
#include <sched.h>
#include <string.h>

#include "support/dsrmodel.h"
#include "support/suite.h"
#include "support/wait.h"

enum { FRAMES = 10000, BATCH = 100 };

static const struct net_fixture_options two = { .servers = DSRMODEL_SERVERS };
static const struct dsrmodel_way *way;
static struct net_fixture fixture;
static struct dsrpen pen;
static struct net_fixture_tap near, out;
static struct framegen gen;
static struct framegen_frame sent[BATCH + 1]; /* the last one: a mark */
static int server[FRAMEGEN_FLOWS]; /* the number, from 1 on; 0: not known */

/* MLD: behind hop-by-hop options. */
static bool
is_group_report(const unsigned char *f, size_t n)
{
	return n >= 78 && f[12] == 0x86 && f[13] == 0xdd && f[20] == 0 &&
	    f[21] == 1 && f[54] == 58 &&
	    (f[62] == 131 || f[62] == 132 || f[62] == 143);
}

/* The director's own: questions and answers about MACs, and its groups. */
static bool
is_neighbors(const unsigned char *f, size_t n)
{
	return (n >= 42 && f[12] == 8 && f[13] == 6) ||
	    (n >= 78 && f[12] == 0x86 && f[13] == 0xdd && f[20] == 58 &&
		f[21] == 255 && (f[54] == 135 || f[54] == 136)) ||
	    is_group_report(f, n);
}

static const char *
hex(const unsigned char *b, size_t n)
{
	const char *s = "";

	for (size_t i = 0; i < n && i < 120; i++)
		s = text("%s%02x", s, b[i]);
	return s;
}

static const char *
which(void)
{
	unsigned i;
	bool more;

	for (i = 0; i <= BATCH; i++)
		if (way->is_it(&out, &sent[i], &more))
			return text("%u, %s", i, sent[i].what);
	return "none of them";
}

static void
expect_server(const struct framegen_frame *m)
{
	int at = way->server_of(&out) + 1;

	if (m->flow == FRAMEGEN_FLOWS)
		return;
	/* an answer to the sender does not say which server it is now */
	if (at == 0) {
		if (m->begins)
			server[m->flow] = 0;
		return;
	}
	/* an error about a flow that never was begins none */
	if (server[m->flow] != 0 && !m->begins)
		ck_assert_msg(server[m->flow] == at,
		    "%s of flow %u: to server %d, not %d", m->what, m->flow, at,
		    server[m->flow]);
	if (strcmp(m->what, "error") != 0)
		server[m->flow] = at;
}

/* Takes what has left by now; true: up to the mark. `at` is the next frame
 * of the batch that has not left. */
static bool
take(unsigned *at)
{
	bool more;

	while (*at <= BATCH && net_fixture_tap_next(&out)) {
		if (out.outgoing || is_neighbors(out.bytes, out.length))
			continue;
		while (*at < BATCH && !sent[*at].passes)
			++*at;
		ck_assert_msg(way->is_it(&out, &sent[*at], &more),
		    "the next to leave is %u, %s:\n%s\nbut it is %s:\n%s", *at,
		    sent[*at].what, hex(sent[*at].bytes, sent[*at].length),
		    which(), hex(out.bytes, out.length));
		expect_server(&sent[*at]);
		if (!more)
			++*at;
	}
	return *at > BATCH;
}

/* What two cores send is received on two cores, in any order. */
static void
stay_on_this_core(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static unsigned
send_batch(uint64_t number)
{
	unsigned i, passing = 0, at = 0;

	for (i = 0; i < BATCH; i++)
		framegen_next(&gen, &sent[i]);
	framegen_mark(&gen, &sent[BATCH], number);
	for (i = 0; i <= BATCH; i++) {
		net_fixture_tap_send(&near, sent[i].bytes, sent[i].length);
		passing += sent[i].passes;
	}
	WAIT_FOR(take(&at), 10000);
	ck_assert_uint_eq(net_fixture_tap_lost(&out), 0);
	return passing;
}

/* Whether it has left; notes whose server it went to. */
static bool
has_left(unsigned *seen)
{
	while (net_fixture_tap_next(&out))
		if (!out.outgoing && !is_neighbors(out.bytes, out.length)) {
			if (way->server_of(&out) >= 0)
				seen[way->server_of(&out)]++;
			return true;
		}
	return false;
}

/* Servers' MACs are known when a frame for each has left. */
static void
wait_for_servers(void)
{
	unsigned seen[DSRMODEL_SERVERS] = { 0 }, tries = 0;
	static struct framegen_frame m;

	while (seen[0] == 0 || seen[1] == 0) {
		ck_assert_uint_lt(tries++, 1000);
		framegen_mark(&gen, &m, 0);
		net_fixture_tap_send(&near, m.bytes, m.length);
		WAIT_FOR(has_left(seen), 10000);
	}
}

static const char *
option(unsigned i)
{
	return way->option[i] != NULL ? text("-O%s", way->option[i]) : "-f";
}

void
dsrmodel_expect(const struct dsrmodel_way *w, bool v6, uint16_t port)
{
	const char *ip = net_fixture_vip(v6);
	const char *(*address)(unsigned i) =
	    v6 != w->other_family ? net_fixture_server6 : net_fixture_server4;
	unsigned i, passing = 0;

	NEED_NET_FIXTURE(&fixture, &two);
	way = w;
	gen = (struct framegen){ .v6 = v6, .port = port, .random = 7 + port };
	net_fixture_mac(NET_FIXTURE_DIRECTOR, gen.mac);
	net_fixture_mac(NET_FIXTURE_CLIENT, gen.from);
	dsrpen_up(&pen, &fixture, NET_FIXTURE_DIRECTOR, ip, "-r", option(0),
	    option(1), option(2), option(3),
	    text(v6 ? "[%s]:%d" : "%s:%d", ip, port), address(0), address(1),
	    NULL);
	net_fixture_tap(&near, &fixture, NET_FIXTURE_CLIENT, "eth0");
	/* a tap at its own end would not see what XDP sockets send */
	net_fixture_tap(&out, &fixture, NET_FIXTURE_SWITCH, "d1");
	stay_on_this_core();
	wait_for_servers();
	memset(server, 0, sizeof(server));
	for (i = 0; i < FRAMES / BATCH; i++)
		passing += send_batch(i + 1);
	/* a third passes; it all tells nothing when nothing does */
	ck_assert_uint_gt(passing, FRAMES / 8);
	ck_assert_uint_lt(passing, FRAMES / 2);
	net_fixture_tap_close(&near);
	net_fixture_tap_close(&out);
	dsrpen_down(&pen);
	net_fixture_down(&fixture);
}
