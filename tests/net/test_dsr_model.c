/* test_dsr_model.c: what a director sends, beside what it must send, for frames
 * of all kinds: what leaves is what came, but for its MACs, in the same order;
 * to a server, and of one flow always to the same; and nothing else does. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "support/dsrmodel.h"
#include "support/suite.h"

enum { PORT = 7007, MACS = 12 };

static bool
is_it(const struct net_fixture_tap *out, const struct framegen_frame *m,
    bool *more)
{
	uint8_t own[6];

	*more = false;
	net_fixture_mac(NET_FIXTURE_DIRECTOR, own);
	return out->length == m->length &&
	    memcmp(out->bytes + 6, own, 6) == 0 &&
	    memcmp(out->bytes + MACS, m->bytes + MACS, m->length - MACS) == 0;
}

static int
server_of(const struct net_fixture_tap *out)
{
	uint8_t mac[6];
	int i;

	for (i = 0; i < DSRMODEL_SERVERS; i++) {
		net_fixture_mac(NET_FIXTURE_SERVER + i, mac);
		if (memcmp(out->bytes, mac, 6) == 0)
			return i;
	}
	return -1;
}

static const struct dsrmodel_way by_mac = { .is_it = is_it,
	.server_of = server_of };
/* Not the best kind there is, where that is another one. */
static const struct dsrmodel_way by_packet = {
	.option = { "dsr_fast_path off" },
	.is_it = is_it,
	.server_of = server_of
};

START_TEST(frames4_of_a_port)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_mac, false, PORT);
}
END_TEST

START_TEST(frames4_of_all_ports)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_mac, false, 0);
}
END_TEST

START_TEST(frames6_of_a_port)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_mac, true, PORT);
}
END_TEST

START_TEST(frames6_of_all_ports)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_mac, true, 0);
}
END_TEST

START_TEST(frames4_by_packet)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_packet, false, PORT);
}
END_TEST

START_TEST(frames6_by_packet)
{
	NEED_DSRMODEL();
	dsrmodel_expect(&by_packet, true, 0);
}
END_TEST

SUITE(test_dsr_model)
{
	Suite *s = suite_create("dsr_model");

	SUITE_ADD(s, frames4_of_a_port, 60);
	SUITE_ADD(s, frames4_of_all_ports, 60);
	SUITE_ADD(s, frames6_of_a_port, 60);
	SUITE_ADD(s, frames6_of_all_ports, 60);
	SUITE_ADD(s, frames4_by_packet, 60);
	SUITE_ADD(s, frames6_by_packet, 60);
	return s;
}
