/* test_groups.c: when groups are reported. */
#include "config.h"

#include <stdio.h>

#include "dsr/segment/groups.h"
#include "unit/dsr/segment.h"

static struct groups g;

static void
up(void)
{
	segment_open();
	sent_n = 0;
	g = (struct groups){ .neighbors = &n };
}

static void
down(void)
{
	groups_fini(&g);
	segment_close();
}

/* Types of the records, or of messages of MLDv1, for that address since the
 * last time, in order. */
static const char *
said(const struct peer *address)
{
	static char text[64];
	uint8_t group[16];
	size_t i, at;

	text[0] = '\0';
	ndp_group(group, address->ip);
	for (i = 0; i < sent_n; i++) {
		at = sent[i].length - 16;
		if (memcmp(sent[i].bytes + at, group, 16) == 0)
			snprintf(text + strlen(text),
			    sizeof(text) - strlen(text), "%u ",
			    sent[i].length % 4 == 2 && sent[i].bytes[at - 8] ==
				    131
				? 131u
				: sent[i].bytes[at - 8] == 132
				? 132u
				: sent[i].bytes[at - 4]);
	}
	return text;
}

static void
forget(void)
{
	sent_n = 0;
}

static void
pass(uint64_t ms)
{
	uint64_t end = now + ms;

	for (; now < end; now++)
		groups_tick(&g, now);
	groups_tick(&g, now);
}

static void
ask(const struct peer *address, uint32_t delay_ms, bool v1)
{
	struct mld_query q = { .delay_ms = delay_ms, .v1 = v1 };

	if (address != NULL)
		ndp_group(q.group, address->ip);
	groups_on_query(&g, &q, options.vlan, now);
}

START_TEST(begin_and_end)
{
	struct peer list[] = { ip_of(AF_INET6, 1), ip_of(AF_INET, 2),
		ip_of(AF_INET6, 3), ip_of(AF_INET6, 1) };

	list[3].ip[1] = 7; /* another address, the same group */
	ck_assert_int_eq(groups_set(&g, list, 4, now), 0);
	ck_assert_uint_eq(sent_n, 2);
	ck_assert_str_eq(said(&list[0]), "4 ");
	ck_assert_str_eq(said(&list[2]), "4 ");
	pass(2 * GROUPS_REPORT_MS);
	ck_assert_uint_eq(sent_n, 2 * GROUPS_REPORTS);
	ck_assert_str_eq(said(&list[0]), "4 4 4 ");
	forget();
	pass(1000000);
	ck_assert_int_eq(groups_set(&g, list, 4, now), 0);
	ck_assert_uint_eq(sent_n, 0);
	/* one of the two that share it goes */
	ck_assert_int_eq(groups_set(&g, list, 3, now), 0);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_int_eq(groups_set(&g, list + 1, 3, now), 0);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_int_eq(groups_set(&g, list + 1, 2, now), 0);
	ck_assert_uint_eq(sent_n, 1);
	ck_assert_str_eq(said(&list[0]), "3 ");
	forget();
	groups_renew(&g, now);
	pass(2 * GROUPS_REPORT_MS);
	ck_assert_uint_eq(sent_n, GROUPS_REPORTS);
	forget();
	groups_fini(&g);
	ck_assert_str_eq(said(&list[2]), "3 ");
	ck_assert_uint_eq(sent_n, 1);
}
END_TEST

/* Within its time, tick included; not again until the next query. */
START_TEST(answers)
{
	struct peer list[] = { ip_of(AF_INET6, 1), ip_of(AF_INET6, 2),
		ip_of(AF_INET6, 3) };
	static const uint32_t delays[] = { 0, 1, 200, 1000, 10000 };
	unsigned i;

	groups_set(&g, list, 2, now);
	pass(10000);
	for (i = 0; i < sizeof(delays) / sizeof(*delays); i++) {
		forget();
		ask(NULL, delays[i], false);
		if (delays[i] > 2 * GROUPS_TICK_MS)
			ck_assert_uint_lt(sent_n, 2);
		pass(delays[i] > GROUPS_TICK_MS ? delays[i] - GROUPS_TICK_MS
						: 0);
		ck_assert_uint_eq(sent_n, 2);
		ck_assert_str_eq(said(&list[0]), "2 ");
		ck_assert_str_eq(said(&list[1]), "2 ");
		pass(100000);
		ck_assert_uint_eq(sent_n, 2);
	}
	forget();
	ask(&list[1], 1000, false);
	ask(&list[2], 1000, false);
	pass(1000);
	ck_assert_uint_eq(sent_n, 1);
	ck_assert_str_eq(said(&list[1]), "2 ");
	/* another segment's */
	forget();
	groups_on_query(&g, &(struct mld_query){ .v1 = true }, 9, now);
	pass(1000);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_uint_eq(g.v1_until, 0);
}
END_TEST

/* An old router gets the old messages, for as long as it may be there. */
START_TEST(the_older_version)
{
	struct peer vip = ip_of(AF_INET6, 1), other = ip_of(AF_INET6, 2);

	options.vlan = 77;
	n.options.vlan = 77;
	groups_set(&g, &vip, 1, now);
	pass(10000);
	forget();
	ask(NULL, 1000, true);
	pass(1000);
	ck_assert_uint_eq(sent_n, 1);
	ck_assert_str_eq(said(&vip), "131 ");
	forget();
	groups_set(&g, &other, 1, now);
	ck_assert_str_eq(said(&vip), "132 ");
	pass(5000);
	ck_assert_str_eq(said(&other), "131 131 131 ");
	pass(GROUPS_V1_MS);
	forget();
	ask(NULL, 1000, false);
	pass(1000);
	ck_assert_str_eq(said(&other), "2 ");
}
END_TEST

/* From our link-local address, if it is that by which neighbours are
 * requested, else from none. */
START_TEST(their_source)
{
	struct peer vip = ip_of(AF_INET6, 1), from;
	static const struct peer none;
	struct frame f;

	groups_set(&g, &vip, 1, now);
	frame_parse(&f, sent[0].bytes, sent[0].length);
	ck_assert_mem_eq(f.from.ip, n.own6.ip, 16);
	ck_assert_uint_eq(f.from.ip[0], 0xfe);
	from = ip_of(AF_INET6, 9); /* dsr_ip */
	n.own6 = from;
	forget();
	groups_renew(&g, now);
	frame_parse(&f, sent[0].bytes, sent[0].length);
	ck_assert_mem_eq(f.from.ip, none.ip, 16);
}
END_TEST

SUITE(test_groups)
{
	Suite *s = suite_create("groups");
	TCase *t = tcase_create("groups");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, begin_and_end);
	tcase_add_test(t, answers);
	tcase_add_test(t, the_older_version);
	tcase_add_test(t, their_source);
	suite_add_tcase(s, t);
	return s;
}
