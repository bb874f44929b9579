/* test_dsr_model.c: what a director sends, beside what it must send, for frames
 * of all kinds: what leaves is what came, but for its MACs, in the same order; to
 * a server, and of one flow always to the same; and nothing else does. */
#include "config.h"

#include <check.h>
#include <sched.h>
#include <string.h>

#include "support/dsrpen.h"
#include "support/framegen.h"
#include "support/suite.h"
#include "support/wait.h"

enum { PORT = 7007, FRAMES = 10000, BATCH = 100, HEAD = 12 };

static const struct netrig_options two = { .servers = 2 };
static struct netrig rig;
static struct dsrpen pen;
static struct netrig_tap near, out;
static struct framegen gen;
static struct framegen_frame sent[BATCH + 1]; /* the last one: a mark */
static unsigned char server[FRAMEGEN_FLOWS];  /* last byte of its MAC */

/* The director's own: questions and answers about MACs. */
static bool
is_neighbors(const unsigned char *f, size_t n)
{
	return (n >= 42 && f[12] == 8 && f[13] == 6) ||
	    (n >= 78 && f[12] == 0x86 && f[13] == 0xdd && f[20] == 58 &&
		f[21] == 255 && (f[54] == 135 || f[54] == 136));
}

static const char *
hex(const unsigned char *b, size_t n)
{
	const char *s = "";

	for (size_t i = 0; i < n && i < 120; i++)
		s = text("%s%02x", s, b[i]);
	return s;
}

/* Whether what has left is this one. */
static bool
is_it(const struct framegen_frame *m)
{
	return out.length == m->length &&
	    memcmp(out.bytes + HEAD, m->bytes + HEAD, m->length - HEAD) == 0;
}

static const char *
which(void)
{
	unsigned i;

	for (i = 0; i <= BATCH; i++)
		if (is_it(&sent[i]))
			return text("%u, %s", i, sent[i].what);
	return "none of them";
}

static void
expect_macs(const struct framegen_frame *m, const unsigned char *f)
{
	uint8_t a[6], b[6];

	netrig_mac(NETRIG_DIRECTOR, a);
	ck_assert_mem_eq(f + 6, a, 6);
	netrig_mac(NETRIG_SERVER, a);
	netrig_mac(NETRIG_SERVER + 1, b);
	ck_assert(memcmp(f, a, 6) == 0 || memcmp(f, b, 6) == 0);
	if (m->flow == FRAMEGEN_FLOWS)
		return;
	/* an error about a flow that never was begins none */
	if (server[m->flow] != 0 && !m->begins)
		ck_assert_msg(server[m->flow] == f[5],
		    "%s of flow %u: to server %d, not %d", m->what, m->flow,
		    f[5], server[m->flow]);
	if (strcmp(m->what, "error") != 0)
		server[m->flow] = f[5];
}

/* Takes what has left by now; true: up to the mark. `at` is the next frame
 * of the batch that has not left. */
static bool
take(unsigned *at)
{
	while (*at <= BATCH && netrig_tap_next(&out)) {
		if (!out.outgoing || is_neighbors(out.bytes, out.length))
			continue;
		while (*at < BATCH && !sent[*at].passes)
			++*at;
		ck_assert_msg(is_it(&sent[*at]),
		    "the next to leave is %u, %s:\n%s\nbut it is %s:\n%s", *at,
		    sent[*at].what, hex(sent[*at].bytes, sent[*at].length),
		    which(), hex(out.bytes, out.length));
		expect_macs(&sent[*at], out.bytes);
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
		netrig_tap_send(&near, sent[i].bytes, sent[i].length);
		passing += sent[i].passes;
	}
	WAIT_FOR(take(&at), 10000);
	ck_assert_uint_eq(netrig_tap_lost(&out), 0);
	return passing;
}

/* Whether it has left; notes whose server it went to. */
static bool
has_left(unsigned *seen)
{
	while (netrig_tap_next(&out))
		if (out.outgoing && !is_neighbors(out.bytes, out.length)) {
			seen[out.bytes[5]]++;
			return true;
		}
	return false;
}

/* Servers' MACs are known when a frame for each has left. */
static void
wait_for_servers(void)
{
	unsigned seen[256] = { 0 }, tries = 0;
	static struct framegen_frame m;

	while (seen[3] == 0 || seen[4] == 0) {
		ck_assert_uint_lt(tries++, 1000);
		framegen_mark(&gen, &m, 0);
		netrig_tap_send(&near, m.bytes, m.length);
		WAIT_FOR(has_left(seen), 10000);
	}
}

static void
expect_model(bool v6, uint16_t port)
{
	const char *ip = v6 ? NETRIG_VIP6 : NETRIG_VIP4;
	unsigned i, passing = 0;

	if (dsrpen_is_classic())
		SKIP("a classic pen judges no frames");
	NEED_DSR();
	NEED_NETRIG(&rig, &two);
	gen = (struct framegen){ .v6 = v6, .port = port, .random = 7 + port };
	netrig_mac(NETRIG_DIRECTOR, gen.mac);
	netrig_mac(NETRIG_CLIENT, gen.from);
	dsrpen_up(&pen, &rig, NETRIG_DIRECTOR, ip, "-r",
	    text(v6 ? "[%s]:%d" : "%s:%d", ip, port),
	    v6 ? netrig_server6(0) : netrig_server4(0),
	    v6 ? netrig_server6(1) : netrig_server4(1), NULL);
	netrig_tap(&near, &rig, NETRIG_CLIENT, "eth0");
	netrig_tap(&out, &rig, NETRIG_DIRECTOR, "eth0");
	stay_on_this_core();
	wait_for_servers();
	memset(server, 0, sizeof(server));
	for (i = 0; i < FRAMES / BATCH; i++)
		passing += send_batch(i + 1);
	/* a third passes; it all tells nothing when nothing does */
	ck_assert_uint_gt(passing, FRAMES / 8);
	ck_assert_uint_lt(passing, FRAMES / 2);
	netrig_tap_close(&near);
	netrig_tap_close(&out);
	dsrpen_down(&pen);
	netrig_down(&rig);
}

START_TEST(frames4_of_a_port)
{
	expect_model(false, PORT);
}
END_TEST

START_TEST(frames4_of_all_ports)
{
	expect_model(false, 0);
}
END_TEST

START_TEST(frames6_of_a_port)
{
	expect_model(true, PORT);
}
END_TEST

START_TEST(frames6_of_all_ports)
{
	expect_model(true, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("dsr_model");

	SUITE_ADD(s, frames4_of_a_port, 60);
	SUITE_ADD(s, frames4_of_all_ports, 60);
	SUITE_ADD(s, frames6_of_a_port, 60);
	SUITE_ADD(s, frames6_of_all_ports, 60);
	return suite_main(s);
}
