/* test_neighbor_claims.c: what is said about the addresses of servers, and whom
 * we believe. */
#include "config.h"

#include "unit/dsr/segment.h"

static const unsigned families[] = { AF_INET, AF_INET6 };
static const struct mac seven = { { 2, 1, 0, 0, 0, 7 } };

/* A server that is known, as _i wants it: IPv4, IPv6. */
static struct neighbor *
known(int i)
{
	struct peer ip = ip_of(families[i], 7);
	struct neighbor *w;

	segment_open();
	host_add(ip, mac_of(7));
	w = neighbors_add(&n, &ip, now);
	ck_assert_ptr_nonnull(w);
	segment_pump();
	ck_assert_int_eq(w->state, NEIGHBOR_REACHABLE);
	now += 5000;
	return w;
}

static bool
is_at(const struct neighbor *w, const struct mac *mac)
{
	const struct mac *m = neighbor_mac(w);

	return m != NULL && mac_equal(m, mac);
}

/* However it says so: the server itself is asked, and stays. */
START_TEST(a_thief)
{
	struct neighbor *w = known(_i);
	struct host *h = &hosts[0];
	int to_us;

	for (to_us = 0; to_us < 2; to_us++) {
		now += 5000;
		h->alone = h->all = 0;
		claim(&h->ip, &thief, to_us);
		ck_assert(is_at(w, &h->mac));
		/* also while the request is under way */
		claim(&h->ip, &thief, true);
		ck_assert(is_at(w, &h->mac));
		segment_pump();
		ck_assert(is_at(w, &h->mac));
		ck_assert_int_eq(w->state, NEIGHBOR_REACHABLE);
		ck_assert_uint_eq(h->alone, 1);
		ck_assert_uint_eq(h->all, 0);
	}
	ck_assert_uint_eq(n.stats.claims, 4);
	ck_assert_uint_eq(n.stats.moves, 0);
	ck_assert_uint_eq(ups + downs, 1);
	segment_close();
}
END_TEST

START_TEST(a_thief_who_shouts)
{
	struct neighbor *w = known(_i);
	int i;

	for (i = 0; i < 10000; i++) {
		claim(&hosts[0].ip, &thief, i % 2);
		now += i % 2;
		neighbors_tick(&n, now);
		segment_pump();
	}
	ck_assert(is_at(w, &hosts[0].mac));
	ck_assert_uint_le(hosts[0].alone, 6); /* in 5 seconds */
	ck_assert_uint_eq(ups + downs, 1);
	segment_close();
}
END_TEST

/* It is announced, and the old card is silent: so be it. */
START_TEST(a_new_card)
{
	struct neighbor *w = known(_i);
	struct host *h = &hosts[0];

	h->mac = mac_of(8);
	h->deaf = true;
	claim(&h->ip, &h->mac, false);
	ck_assert(!is_at(w, &h->mac));
	segment_run(1000);
	ck_assert(is_at(w, &h->mac));
	ck_assert_uint_eq(n.stats.moves, 1);
	ck_assert_uint_eq(downs, 0);
	segment_close();
}
END_TEST

/* Speaking is not answering: only that proves that our frames arrive. */
START_TEST(only_answers_count)
{
	struct neighbor *w = known(_i);
	struct host *h = &hosts[0];
	unsigned i;

	h->up = false;
	for (i = 0; i < 40; i++) {
		claim(&h->ip, &h->mac, false);
		segment_run(1000);
	}
	ck_assert_int_eq(w->state, NEIGHBOR_FAILED);
	ck_assert_uint_eq(downs, 1);
	/* but it is a reason to ask again soon */
	segment_run(1000);
	h->up = true;
	h->all = 0;
	now += 1000;
	claim(&h->ip, &h->mac, false);
	segment_pump();
	ck_assert_uint_eq(h->all, 1);
	ck_assert(is_at(w, &h->mac));
	segment_close();
}
END_TEST

/* Of many that have failed the one that is heard is asked; when it answers, so
 * are those that failed with it. */
START_TEST(the_one_that_is_heard)
{
	struct peer ip[3];
	unsigned i;

	segment_open();
	for (i = 0; i < 3; i++) {
		ip[i] = ip_of(families[_i], 7 + i);
		host_add(ip[i], mac_of(7 + i))->up = false;
		ck_assert_ptr_nonnull(neighbors_add(&n, &ip[i], now));
		segment_run(100);
	}
	segment_run(4500);
	ck_assert_uint_eq(downs, 3);
	hosts[1].up = true;
	for (i = 0; i < 3; i++)
		hosts[i].all = 0;
	claim(&ip[1], &hosts[1].mac, false);
	ck_assert_uint_eq(segment_pump(), 3);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(hosts[i].all, 1);
	ck_assert_uint_eq(ups, 1);
	ck_assert_int_eq(last->state, NEIGHBOR_REACHABLE);
	segment_close();
}
END_TEST

/* A reply nobody asked for does not keep a server alive. */
START_TEST(answers_without_questions)
{
	struct neighbor *w = known(_i);
	uint64_t answered = w->answered;

	claim(&hosts[0].ip, &hosts[0].mac, true);
	ck_assert_uint_eq(w->answered, answered);
	ck_assert_uint_eq(n.stats.requests, 1);
	segment_close();
}
END_TEST

/* A server that had failed speaks to us. */
START_TEST(speaks_to_us)
{
	struct peer ip = ip_of(families[_i], 7);
	struct neighbor *w;

	segment_open();
	w = neighbors_add(&n, &ip, now);
	segment_run(4000);
	ck_assert_int_eq(w->state, NEIGHBOR_FAILED);
	claim(&ip, &seven, true);
	ck_assert_int_eq(w->state, NEIGHBOR_REACHABLE);
	ck_assert_uint_eq(ups, 1);
	segment_close();
}
END_TEST

START_TEST(strangers)
{
	uint32_t i;
	struct peer ip;

	known(0);
	for (i = 100; i < 1000; i++) {
		ip = ip_of(families[i % 2], i);
		claim(&ip, &thief, i % 3 == 0);
	}
	ck_assert_uint_eq(n.servers.count, 1);
	ck_assert_uint_eq(n.stats.requests, 1);
	segment_close();
}
END_TEST

START_TEST(impossible_addresses)
{
	static const struct mac bad[] = { { { 0 } },
		{ { 1, 0, 0x5e, 0, 0, 1 } },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } } };
	struct peer ip = ip_of(families[_i], 7);
	struct neighbor *w;
	struct ndp d;
	int i;

	segment_open();
	w = neighbors_add(&n, &ip, now);
	for (i = 0; i < 3; i++)
		claim(&ip, &bad[i], true);
	d = advert(&ip, &bad[1], true);
	if (_i == 1)
		say_ndp(&own, &thief, d);
	ck_assert_uint_eq(n.stats.bad, (uint64_t)(3 + _i));
	claim(&ip, &own, true); /* our own frames, heard again */
	d.mac = own;
	if (_i == 1)
		say_ndp(&own, &thief, d);
	ck_assert_ptr_null(neighbor_mac(w));
	segment_close();
}
END_TEST

/* An advertisement that must not replace anything (RFC 4861, 7.2.5). */
START_TEST(without_override)
{
	struct neighbor *w = known(1);
	struct host *h = &hosts[0];
	struct ndp d;

	h->deaf = true;
	h->up = false;
	/* all are asked now */
	segment_run(w->answered + NEIGHBOR_REFRESH_MS + 1500 - now);
	d = advert(&h->ip, &thief, true);
	d.override = false;
	say_ndp(&own, &thief, d);
	ck_assert(is_at(w, &h->mac));
	d.override = true;
	say_ndp(&own, &thief, d);
	ck_assert(is_at(w, &thief));
	/* for the same address it says that it is well */
	now += NEIGHBOR_REFRESH_MS + 1;
	neighbors_tick(&n, now);
	d.override = d.has_mac = d.solicited = false;
	say_ndp(&own, &thief, d);
	ck_assert_int_eq(w->state, NEIGHBOR_PROBE);
	d.solicited = true;
	say_ndp(&own, &thief, d);
	ck_assert_int_eq(w->state, NEIGHBOR_REACHABLE);
	ck_assert_uint_eq(w->answered, now);
	segment_close();
}
END_TEST

/* A card that hears everything hears what others tell each other. */
START_TEST(not_for_us)
{
	struct peer ip = ip_of(AF_INET, 7), vip = ip_of(AF_INET, 200);
	struct neighbor *w;

	segment_open();
	ck_assert_int_eq(neighbors_add_vip(&n, &vip, now), 0);
	w = neighbors_add(&n, &ip, now);
	sent_n = 0;
	say_arp(&(struct mac){ { 2, 9, 9, 9, 9, 9 } }, &seven, &ip, &vip, true);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_ptr_null(neighbor_mac(w));
	/* nor is another VLAN ours */
	options.vlan = 5;
	say_arp(&own, &seven, &ip, &vip, true);
	ck_assert_uint_eq(sent_n, 0);
	ck_assert_ptr_null(neighbor_mac(w));
	options.vlan = 0xe000; /* a priority, no VLAN */
	say_arp(&own, &seven, &ip, &vip, true);
	ck_assert_uint_eq(sent_n, 1);
	ck_assert(is_at(w, &seven));
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

SUITE(test_neighbor_claims)
{
	Suite *s = suite_create("neighbor_claims");

	add_loop(s, "a_thief", a_thief);
	add_loop(s, "a_thief_who_shouts", a_thief_who_shouts);
	add_loop(s, "a_new_card", a_new_card);
	add_loop(s, "only_answers_count", only_answers_count);
	add_loop(s, "the_one_that_is_heard", the_one_that_is_heard);
	add_loop(s, "answers_without_questions", answers_without_questions);
	add_loop(s, "speaks_to_us", speaks_to_us);
	SUITE_ADD(s, strangers, 10);
	add_loop(s, "impossible_addresses", impossible_addresses);
	SUITE_ADD(s, without_override, 10);
	SUITE_ADD(s, not_for_us, 10);
	return s;
}
