/* test_neighbor_vip.c: addresses that are ours: who asks gets a reply, all hear
 * of them, and who else claims them is reported. */
#include "config.h"

#include "unit/dsr/segment.h"

static const unsigned families[] = { AF_INET, AF_INET6 };

/* The only frame sent, which goes to `to`. */
static struct frame
answer_to(const struct mac *to)
{
	struct frame f;
	struct mac m;

	ck_assert_uint_eq(sent_n, 1);
	sent_n = 0;
	frame_parse(&f, sent[0].bytes, sent[0].length);
	m = frame_mac_to(&f);
	ck_assert_mem_eq(&m, to, sizeof(m));
	m = frame_mac_from(&f);
	ck_assert_mem_eq(&m, &own, sizeof(m));
	return f;
}

START_TEST(answers_arp)
{
	struct peer vip = ip_of(AF_INET, 200), client = ip_of(AF_INET, 9),
		    other = ip_of(AF_INET, 201);
	struct mac mac = mac_of(9);
	struct peer *asking[] = { &client, NULL };
	struct frame f;
	struct arp a;
	int i;

	options.vlan = _i == 0 ? 0 : 77;
	options.ip4 = ip_of(AF_INET, 202);
	segment_open();
	ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
	sent_n = 0;
	for (i = 0; i < 2; i++) { /* also who only wants to know (RFC 5227) */
		say_arp(&mac_broadcast, &mac, asking[i], &vip, true);
		f = answer_to(&mac);
		ck_assert(frame_read_arp(&f, &a));
		ck_assert_uint_eq(f.vlan, options.vlan);
		ck_assert(!a.request);
		ck_assert_mem_eq(&a.sender_mac, &own, sizeof(own));
		ck_assert_mem_eq(&a.target_mac, &mac, sizeof(mac));
		ck_assert_mem_eq(a.sender, vip.ip + 12, 4);
		if (asking[i] != NULL)
			ck_assert_mem_eq(a.target, client.ip + 12, 4);
	}
	say_arp(&mac_broadcast, &mac, &client, &options.ip4, true);
	answer_to(&mac);
	say_arp(&mac_broadcast, &mac, &client, &other, true);
	say_arp(&own, &mac, &client, &vip, false);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_uint_eq(n.stats.answers, 3);
	neighbors_remove_vip(&n, &vip);
	neighbors_remove_vip(&n, &vip);
	say_arp(&mac_broadcast, &mac, &client, &vip, true);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_uint_eq(conflicts, 0);
	segment_close();
}
END_TEST

static struct ndp
solicit(const struct peer *from, const struct mac *mac, const struct peer *who)
{
	struct ndp d = { .has_mac = from != NULL, .mac = *mac };

	if (from != NULL)
		memcpy(d.from, from->ip, 16);
	memcpy(d.target, who->ip, 16);
	ndp_group(d.to, who->ip);
	return d;
}

START_TEST(answers_ndp)
{
	struct peer vip = ip_of(AF_INET6, 200), client = ip_of(AF_INET6, 9),
		    other = ip_of(AF_INET6, 201);
	struct mac mac = mac_of(9), group;
	struct peer *asking[] = { &client, NULL };
	struct frame f;
	struct ndp d;
	int i;

	segment_open();
	ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
	sent_n = 0;
	mac_of_group(&group, ndp_all_nodes);
	for (i = 0; i < 2; i++) {
		say_ndp(&own, &mac, solicit(asking[i], &mac, &vip));
		f = answer_to(i == 0 ? &mac : &group);
		ck_assert(frame_read_ndp(&f, &d));
		ck_assert(d.advertisement);
		ck_assert(d.override);
		ck_assert(!d.router);
		ck_assert_int_eq(d.solicited, i == 0);
		ck_assert_mem_eq(d.to, i == 0 ? client.ip : ndp_all_nodes, 16);
		ck_assert_mem_eq(d.from, vip.ip, 16);
		ck_assert_mem_eq(d.target, vip.ip, 16);
		ck_assert(d.has_mac);
		ck_assert_mem_eq(&d.mac, &own, sizeof(own));
	}
	/* our link-local address, with which we ask */
	say_ndp(&own, &mac, solicit(&client, &mac, &n.own6));
	answer_to(&mac);
	say_ndp(&own, &mac, solicit(&client, &mac, &other));
	ck_assert_uint_eq(sent_n, 0);
	segment_close();
}
END_TEST

/* Frames that announce the VIP, since the last time. */
static unsigned
announced(const struct peer *vip)
{
	struct frame f;
	struct arp a;
	struct ndp d;
	unsigned found = 0;
	size_t i;

	for (i = 0; i < sent_n; i++) {
		frame_parse(&f, sent[i].bytes, sent[i].length);
		if (frame_read_arp(&f, &a))
			found += a.request && mac_equal(&a.sender_mac, &own) &&
			    memcmp(a.sender, vip->ip + 12, 4) == 0 &&
			    memcmp(a.target, vip->ip + 12, 4) == 0;
		else if (frame_read_ndp(&f, &d))
			found += d.advertisement && d.override &&
			    !d.solicited && mac_equal(&d.mac, &own) &&
			    memcmp(d.to, ndp_all_nodes, 16) == 0 &&
			    memcmp(d.target, vip->ip, 16) == 0;
	}
	sent_n = 0;
	return found;
}

START_TEST(announces)
{
	struct peer vip = ip_of(families[_i], 200);
	int again, i;

	segment_open();
	ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
	for (again = 0; again < 2; again++) {
		ck_assert_uint_eq(announced(&vip), 1);
		for (i = 1; i < NEIGHBOR_ANNOUNCE; i++) {
			now += NEIGHBOR_ANNOUNCE_MS - 1;
			neighbors_tick(&n, now);
			ck_assert_uint_eq(announced(&vip), 0);
			now++;
			neighbors_tick(&n, now);
			ck_assert_uint_eq(announced(&vip), 1);
		}
		now += 100000;
		neighbors_tick(&n, now);
		ck_assert_uint_eq(announced(&vip), 0);
		/* what is there already is not announced again */
		ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
		ck_assert_uint_eq(announced(&vip), 0);
		neighbors_announce(&n, now);
	}
	segment_close();
}
END_TEST

START_TEST(announces_many)
{
	enum { VIPS = 300 };
	uint32_t i;
	struct peer vip;

	segment_open();
	for (i = 0; i < VIPS; i++) {
		vip = ip_of(families[i % 2], i + 1000);
		ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
		now += i % 2;
	}
	segment_run(10000);
	sent_n = 0;
	neighbors_announce(&n, now);
	ck_assert_uint_ge(sent_n, VIPS);
	sent_n = 0;
	now += NEIGHBOR_ANNOUNCE_MS;
	neighbors_tick(&n, now);
	ck_assert_uint_eq(announced(&vip), 1);
	segment_close();
}
END_TEST

START_TEST(conflicts_are_told)
{
	struct peer vip = ip_of(families[_i], 200),
		    other = ip_of(families[_i], 201);
	int i;

	segment_open();
	neighbors_add_vip(&n, &vip, now);
	neighbors_add_vip(&n, &other, now);
	segment_run(5000);
	claim(&vip, &own, false); /* an echo */
	if (_i == 1)		  /* passed on by another */
		say_ndp(&own, &thief, advert(&vip, &own, false));
	ck_assert_uint_eq(conflicts, 0);
	for (i = 0; i < 100; i++)
		claim(&vip, &thief, i % 2);
	ck_assert_uint_eq(conflicts, 1);
	ck_assert_mem_eq(&last_mac, &thief, sizeof(thief));
	ck_assert_uint_eq(sent_n, 0);
	claim(&other, &thief, false);
	ck_assert_uint_eq(conflicts, 2);
	now += NEIGHBOR_CONFLICT_MS - 1;
	claim(&vip, &thief, false);
	ck_assert_uint_eq(conflicts, 2);
	now++;
	defend = true;
	claim(&vip, &thief, false);
	ck_assert_uint_eq(conflicts, 3);
	ck_assert_uint_eq(announced(&vip), 1);
	ck_assert_uint_eq(n.stats.conflicts, 103);
	/* a server that asks in the VIP's name gets no answer either */
	now += NEIGHBOR_CONFLICT_MS;
	if (_i == 0)
		say_arp(&mac_broadcast, &thief, &vip, &other, true);
	else
		say_ndp(&own, &thief, solicit(&vip, &thief, &other));
	ck_assert_uint_eq(conflicts, 4);
	ck_assert_uint_eq(announced(&vip), 1);
	segment_close();
}
END_TEST

static unsigned
announced_within(const struct peer *vip, uint64_t ms)
{
	unsigned found = 0;
	uint64_t end = now + ms;

	for (; now < end; now += 250) {
		neighbors_tick(&n, now);
		found += announced(vip);
	}
	return found;
}

/* When the other host is silent again, routers may have its MAC: the address is
 * announced after the time between two reports, and twice more. */
START_TEST(defended_after_claims)
{
	struct peer vip = ip_of(families[_i], 200);
	unsigned i;

	segment_open();
	neighbors_add_vip(&n, &vip, now);
	segment_run(5000);
	sent_n = 0;
	defend = true;
	for (i = 0; i < 20; i++) {
		claim(&vip, &thief, false);
		ck_assert_uint_eq(announced(&vip), i % 10 == 0);
		ck_assert_uint_eq(announced_within(&vip, 1000), 0);
	}
	ck_assert_uint_eq(
	    announced_within(&vip, NEIGHBOR_CONFLICT_MS - 1500), 0);
	ck_assert_uint_eq(announced_within(&vip, 1000), 1);
	ck_assert_uint_eq(
	    announced_within(&vip, 2 * NEIGHBOR_CONFLICT_MS + 1000), 1);
	ck_assert_uint_eq(announced_within(&vip, 500000), 1);
	/* another time all begins again */
	claim(&vip, &thief, true);
	ck_assert_uint_eq(announced(&vip), 1);
	ck_assert_uint_eq(
	    announced_within(&vip, NEIGHBOR_CONFLICT_MS + 1000), 1);
	neighbors_remove_vip(&n, &vip);
	ck_assert_uint_eq(announced_within(&vip, 100000), 0);
	/* one that is shared is not defended */
	neighbors_add_vip(&n, &vip, now);
	segment_run(5000);
	sent_n = 0;
	defend = false;
	claim(&vip, &thief, false);
	ck_assert_uint_eq(announced_within(&vip, 100000), 0);
	segment_close();
}
END_TEST

/* A claim while an address is announced: that goes on, and the rest follows. */
START_TEST(defended_when_it_was_announced)
{
	struct peer vip = ip_of(families[_i], 200);

	segment_open();
	defend = true;
	neighbors_add_vip(&n, &vip, now);
	ck_assert_uint_eq(announced(&vip), 1);
	claim(&vip, &thief, false);
	ck_assert_uint_eq(announced(&vip), 1);
	ck_assert_uint_eq(announced_within(&vip, 3000), 2);
	ck_assert_uint_eq(
	    announced_within(&vip, NEIGHBOR_CONFLICT_MS + 1000), 1);
	/* taken over again */
	neighbors_announce(&n, now);
	ck_assert_uint_eq(announced_within(&vip, 100000), 3);
	segment_close();
}
END_TEST

/* Both defend it: ever more rarely, and not never. */
START_TEST(two_that_defend)
{
	struct peer vip = ip_of(families[_i], 200);
	unsigned i, hour[2] = { 0 };

	segment_open();
	defend = true;
	neighbors_add_vip(&n, &vip, now);
	segment_run(5000);
	claim(&vip, &thief, false);
	for (i = 0; i < 2 * 3600; i++)
		if (announced_within(&vip, 1000) > 0) {
			hour[i / 3600]++;
			claim(&vip, &thief, false);
		}
	ck_assert_uint_lt(hour[0], 30);
	ck_assert_uint_lt(hour[1], 14);
	ck_assert_uint_gt(hour[1], 4);
	segment_close();
}
END_TEST

START_TEST(refreshed)
{
	struct peer vip = ip_of(families[_i], 200);

	segment_open();
	neighbors_add_vip(&n, &vip, now);
	segment_run(5000);
	sent_n = 0;
	neighbors_refresh_vips(&n, 60000, now);
	ck_assert_uint_eq(announced_within(&vip, 59000), 0);
	ck_assert_uint_eq(announced_within(&vip, 2000), 1);
	ck_assert_uint_eq(announced_within(&vip, 600000), 10);
	neighbors_refresh_vips(&n, 0, now);
	ck_assert_uint_eq(announced_within(&vip, 600000), 0);
	segment_close();
}
END_TEST

/* An address that somebody asks for before taking it is defended by the answer,
 * and no conflict yet. */
START_TEST(a_probe_is_no_conflict)
{
	struct peer vip = ip_of(families[_i], 200);

	segment_open();
	neighbors_add_vip(&n, &vip, now);
	sent_n = 0;
	if (_i == 0)
		say_arp(&mac_broadcast, &thief, NULL, &vip, true);
	else
		say_ndp(&own, &thief, solicit(NULL, &thief, &vip));
	ck_assert_uint_eq(conflicts, 0);
	ck_assert_uint_eq(sent_n, 1);
	segment_close();
}
END_TEST

static void
add_loop(Suite *s, const char *name, const TTest *test)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, 30);
	tcase_add_loop_test(c, test, 0, 2);
	suite_add_tcase(s, c);
}

SUITE(test_neighbor_vip)
{
	Suite *s = suite_create("neighbor_vip");

	add_loop(s, "answers_arp", answers_arp);
	SUITE_ADD(s, answers_ndp, 10);
	add_loop(s, "announces", announces);
	SUITE_ADD(s, announces_many, 10);
	add_loop(s, "conflicts_are_told", conflicts_are_told);
	add_loop(s, "defended_after_claims", defended_after_claims);
	add_loop(s, "defended_when_it_was_announced",
	    defended_when_it_was_announced);
	add_loop(s, "two_that_defend", two_that_defend);
	add_loop(s, "refreshed", refreshed);
	add_loop(s, "a_probe_is_no_conflict", a_probe_is_no_conflict);
	return s;
}
