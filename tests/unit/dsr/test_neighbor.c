/* test_neighbor.c: servers are found, watched, given up and found again; and
 * how much is asked for it. */
#include "config.h"

#include "base/hash.h"
#include "unit/dsr/segment.h"

static const unsigned families[] = { AF_INET, AF_INET6 };

static struct neighbor *
add(const struct peer *ip)
{
	struct neighbor *w = neighbors_add(&n, ip, now);

	ck_assert_ptr_nonnull(w);
	return w;
}

static void
assert_mac(const struct neighbor *w, const struct mac *mac)
{
	const struct mac *m = neighbor_mac(w);

	ck_assert_ptr_nonnull(m);
	ck_assert_mem_eq(m, mac, sizeof(*m));
}

/* ---- requests ---- */

START_TEST(an_answer)
{
	struct peer ip = ip_of(families[_i], 7);
	struct host *h;
	struct neighbor *w;

	segment_open();
	h = host_add(ip, mac_of(7));
	w = add(&ip);
	ck_assert_ptr_null(neighbor_mac(w));
	ck_assert_uint_eq(sent_n, 1);
	segment_pump();
	assert_mac(w, &h->mac);
	ck_assert_uint_eq(h->all, 1);
	ck_assert_uint_eq(ups, 1);
	ck_assert_ptr_eq(last, w);
	ck_assert_ptr_eq(neighbors_find(&n, &ip), w);
	ck_assert_str_eq(neighbor_state_name(w->state), "reachable");
	/* silence until it ages */
	ck_assert_uint_eq(segment_run(NEIGHBOR_REFRESH_MS - 1), 0);
	segment_close();
}
END_TEST

/* The fields of an ARP request, without and with an own address. */
START_TEST(question_arp)
{
	struct peer ip = ip_of(AF_INET, 7);
	static const uint8_t none[4];
	struct frame f;
	struct arp a;
	struct mac to;

	if (_i == 1)
		options.ip4 = ip_of(AF_INET, 200);
	segment_open();
	sent_n = 0;
	add(&ip);
	frame_parse(&f, sent[0].bytes, sent[0].length);
	ck_assert(frame_read_arp(&f, &a));
	to = frame_mac_to(&f);
	ck_assert_mem_eq(&to, &mac_broadcast, sizeof(to));
	ck_assert(a.request);
	ck_assert_mem_eq(&a.sender_mac, &own, sizeof(own));
	ck_assert_mem_eq(a.sender, _i == 1 ? options.ip4.ip + 12 : none, 4);
	ck_assert_mem_eq(a.target, ip.ip + 12, 4);
	segment_close();
}
END_TEST

START_TEST(question_ndp)
{
	static const uint8_t made[16] = { 0xfe, 0x80, [11] = 0xff, 0xfe, 0, 0,
		0xee };
	struct peer ip = ip_of(AF_INET6, 7);
	uint8_t group[16];
	struct frame f;
	struct ndp d;

	if (_i == 1)
		options.ip6 = ip_of(AF_INET6, 200);
	segment_open();
	sent_n = 0;
	add(&ip);
	frame_parse(&f, sent[0].bytes, sent[0].length);
	ck_assert(frame_read_ndp(&f, &d));
	ndp_group(group, ip.ip);
	ck_assert(!d.advertisement);
	ck_assert_mem_eq(d.from, _i == 1 ? options.ip6.ip : made, 16);
	ck_assert_mem_eq(d.to, group, 16);
	ck_assert_mem_eq(d.target, ip.ip, 16);
	ck_assert(d.has_mac);
	ck_assert_mem_eq(&d.mac, &own, sizeof(own));
	segment_close();
}
END_TEST

/* ---- life ---- */

START_TEST(refreshed)
{
	struct peer ip = ip_of(families[_i], 7);
	struct host *h;
	struct neighbor *w;

	segment_open();
	h = host_add(ip, mac_of(7));
	w = add(&ip);
	segment_pump();
	ck_assert_uint_eq(segment_run(10 * NEIGHBOR_REFRESH_MS + 1), 10);
	ck_assert_uint_eq(h->alone, 10);
	ck_assert_uint_eq(h->all, 1);
	ck_assert_uint_eq(ups + downs, 1);
	assert_mac(w, &h->mac);
	ck_assert_uint_le(now - w->answered, 1);
	segment_close();
}
END_TEST

START_TEST(never_there)
{
	struct peer ip = ip_of(families[_i], 7);
	struct neighbor *w;

	segment_open();
	w = add(&ip);
	ck_assert_uint_eq(segment_run(2999), 3);
	ck_assert_uint_eq(downs, 0);
	segment_run(1);
	ck_assert_uint_eq(downs, 1);
	ck_assert_int_eq(w->state, NEIGHBOR_FAILED);
	/* not every second any more, and reported once */
	ck_assert_uint_eq(segment_run(50000), 10);
	ck_assert_uint_eq(downs, 1);
	/* late, but there */
	host_add(ip, mac_of(7));
	segment_run(NEIGHBOR_FAILED_MS);
	ck_assert_uint_eq(ups, 1);
	assert_mac(w, &hosts[0].mac);
	segment_close();
}
END_TEST

START_TEST(goes_and_comes_back)
{
	struct peer ip = ip_of(families[_i], 7);
	struct host *h;
	struct neighbor *w;

	segment_open();
	h = host_add(ip, mac_of(7));
	w = add(&ip);
	segment_pump();
	h->up = false;
	h->all = 0;
	segment_run(NEIGHBOR_REFRESH_MS);
	ck_assert_int_eq(w->state, NEIGHBOR_PROBE);
	segment_run(2999);
	assert_mac(w, &h->mac); /* in use till the end */
	ck_assert_uint_eq(h->alone, 1);
	ck_assert_uint_eq(h->all, 2);
	ck_assert_uint_eq(downs, 0);
	segment_run(1);
	ck_assert_uint_eq(downs, 1);
	ck_assert_ptr_null(neighbor_mac(w));
	ck_assert_uint_eq(n.stats.failures, 1);
	h->up = true;
	segment_run(NEIGHBOR_FAILED_MS);
	ck_assert_uint_eq(ups, 2);
	assert_mac(w, &h->mac);
	segment_close();
}
END_TEST

/* ---- a segment that is out of reach ---- */

/* How many of the first servers are in that state. */
static unsigned
count(unsigned servers, enum neighbor_state state)
{
	unsigned i, of_it = 0;

	for (i = 0; i < servers; i++)
		of_it += neighbors_find(&n, &hosts[i].ip)->state == state;
	return of_it;
}

static void
add_three(unsigned family)
{
	unsigned i;

	segment_open();
	for (i = 0; i < 3; i++)
		add(&host_add(ip_of(family, i + 7), mac_of(i + 7))->ip);
	segment_pump();
	ck_assert_uint_eq(count(3, NEIGHBOR_REACHABLE), 3);
}

static void
all_go(bool up)
{
	unsigned i;

	for (i = 0; i < 3; i++)
		hosts[i].up = up;
}

/* Without a carrier nobody can answer. */
START_TEST(no_silence_without_a_carrier)
{
	add_three(families[_i]);
	all_go(false);
	segment_run(NEIGHBOR_REFRESH_MS + 2500);
	ck_assert_uint_eq(count(3, NEIGHBOR_PROBE), 3);
	neighbors_pause(&n);
	ck_assert_uint_eq(segment_run(60000), 0);
	ck_assert_uint_eq(downs, 0);
	/* not even what was waited for when it went */
	neighbors_resume(&n, now);
	segment_run(1900);
	ck_assert_uint_eq(downs, 0);
	all_go(true);
	segment_run(200);
	ck_assert_uint_eq(count(3, NEIGHBOR_REACHABLE), 3);
	ck_assert_uint_eq(ups, 3);
	segment_close();
}
END_TEST

/* Nor what they had been asked before, and waited for their next turn. */
START_TEST(turns_begin_anew_with_the_carrier)
{
	struct rate_limit usual;

	add_three(families[_i]);
	all_go(false);
	segment_run(NEIGHBOR_REFRESH_MS + 1500);
	ck_assert_uint_eq(count(3, NEIGHBOR_PROBE), 3);
	usual = n.limit;
	n.limit = (struct rate_limit){ .count = 1, .period_ms = 60000 };
	n.rate.full = (now + 60000) * 1000000;
	segment_run(1000);
	neighbors_pause(&n);
	n.limit = usual;
	neighbors_resume(&n, now);
	segment_run(1900);
	ck_assert_uint_eq(downs, 0);
	segment_run(1100);
	ck_assert_uint_eq(downs, 3);
	segment_close();
}
END_TEST

/* Who had failed before is asked when there is a carrier, not five seconds
 * later. */
START_TEST(failed_ones_are_asked_with_the_carrier)
{
	add_three(families[_i]);
	hosts[1].up = false;
	segment_run(NEIGHBOR_REFRESH_MS + 3000);
	ck_assert_uint_eq(downs, 1);
	neighbors_pause(&n);
	hosts[1].up = true;
	segment_run(10000);
	neighbors_resume(&n, now);
	segment_pump();
	ck_assert_uint_eq(count(3, NEIGHBOR_FAILED), 0);
	segment_close();
}
END_TEST

/* All were silent at once, so it was the segment: when one answers the others
 * are asked at once, and have as long as new ones. */
START_TEST(all_are_asked_when_the_first_is_back)
{
	struct neighbor *late;

	add_three(families[_i]);
	all_go(false);
	segment_run(NEIGHBOR_REFRESH_MS + 3000 + 500);
	ck_assert_uint_eq(downs, 3);
	late = neighbors_find(&n, &hosts[2].ip);
	ck_assert(!late->returning);
	hosts[0].up = hosts[1].up = true;
	claim(&hosts[0].ip, &hosts[0].mac, true);
	ck_assert(late->returning);
	segment_pump();
	ck_assert_uint_eq(count(3, NEIGHBOR_REACHABLE), 2);
	segment_run(2999);
	ck_assert(late->returning);
	segment_run(1);
	ck_assert(!late->returning);
	ck_assert_uint_eq(hosts[2].all, 6);
	/* it was told to have failed once */
	ck_assert_uint_eq(downs, 3);
	ck_assert_uint_eq(n.stats.failures, 3);
	/* and is asked as one that has */
	ck_assert_uint_eq(segment_run(NEIGHBOR_FAILED_MS) -
		2 * (NEIGHBOR_FAILED_MS / NEIGHBOR_REFRESH_MS),
	    1);
	hosts[2].up = true;
	segment_run(NEIGHBOR_FAILED_MS);
	ck_assert_uint_eq(count(3, NEIGHBOR_REACHABLE), 3);
	segment_close();
}
END_TEST

/* A server alone that fails is no sign of that. */
START_TEST(one_that_returns_alone)
{
	add_three(families[_i]);
	hosts[1].up = hosts[2].up = false;
	segment_run(NEIGHBOR_REFRESH_MS + 3000);
	ck_assert_uint_eq(downs, 2);
	hosts[1].up = true;
	claim(&hosts[1].ip, &hosts[1].mac, true);
	ck_assert_uint_eq(count(3, NEIGHBOR_REACHABLE), 2);
	ck_assert(!neighbors_find(&n, &hosts[2].ip)->returning);
	segment_close();
}
END_TEST

/* Another card with the same address: believed when the old one is silent. */
/* Its MAC is used, and probed alone; a silent one is given up. */
START_TEST(known_from_another_process)
{
	struct peer ip = ip_of(families[_i], 7);
	struct mac bad = { { 1, 0, 0, 0, 0, 1 } }, mac = mac_of(7);
	struct neighbor *w;

	segment_open();
	w = add(&ip);
	neighbors_restore(&n, w, &bad, now);
	ck_assert_ptr_null(neighbor_mac(w));
	neighbors_restore(&n, w, &mac, now);
	assert_mac(w, &mac);
	ck_assert_uint_eq(n.reachable, 1);
	ck_assert_uint_eq(ups, 0);
	neighbors_restore(&n, w, &own, now);
	assert_mac(w, &mac);
	segment_run(NEIGHBOR_TRIES * NEIGHBOR_REPLY_MS + 1);
	ck_assert_ptr_null(neighbor_mac(w));
	ck_assert_uint_eq(n.reachable, 0);
	segment_close();
}
END_TEST

START_TEST(moves)
{
	struct peer ip = ip_of(families[_i], 7);
	struct host *h;
	struct neighbor *w;

	segment_open();
	h = host_add(ip, mac_of(7));
	w = add(&ip);
	segment_pump();
	h->mac = mac_of(8);
	h->deaf = true;
	segment_run(NEIGHBOR_REFRESH_MS + 1);
	assert_mac(w, &(struct mac){ { 2, 1, 0, 0, 0, 7 } });
	segment_run(1000);
	assert_mac(w, &h->mac);
	ck_assert_uint_eq(n.stats.moves, 1);
	ck_assert_uint_eq(ups, 2); /* users of the address are told */
	ck_assert_uint_eq(downs, 0);
	segment_close();
}
END_TEST

/* One lost answer, or two, is no failure. */
START_TEST(lost_answers)
{
	struct peer ip = ip_of(AF_INET, 7);
	struct neighbor *w;
	struct host *h;
	int i;

	segment_open();
	h = host_add(ip, mac_of(7));
	w = add(&ip);
	segment_pump();
	for (i = 0; i < 5; i++) {
		h->up = false;
		segment_run(w->answered + NEIGHBOR_REFRESH_MS + 1500 - now);
		h->up = true;
		segment_run(1000);
	}
	ck_assert_uint_eq(h->alone, 5);
	ck_assert_uint_eq(h->all, 11);
	ck_assert_uint_eq(downs, 0);
	ck_assert_uint_eq(ups, 1);
	segment_close();
}
END_TEST

START_TEST(shared)
{
	struct peer ip = ip_of(AF_INET, 7), other = ip_of(AF_INET, 8);
	struct neighbor *w;

	segment_open();
	w = add(&ip);
	ip.port = 80;
	ck_assert_ptr_eq(add(&ip), w);
	ck_assert_ptr_ne(add(&other), w);
	neighbors_drop(&n, w);
	ck_assert_ptr_eq(neighbors_find(&n, &ip), w);
	neighbors_drop(&n, w);
	ck_assert_ptr_null(neighbors_find(&n, &ip));
	ck_assert_ptr_nonnull(neighbors_find(&n, &other));
	segment_close();
}
END_TEST

static void
drop_it(void *arg, struct neighbor *w, bool reachable)
{
	(void)arg;
	(void)reachable;
	ups++;
	neighbors_drop(&n, w);
}

/* Who is told may drop it at once, whatever it is told. */
START_TEST(dropped_when_told)
{
	struct peer ip = ip_of(AF_INET, 7), gone = ip_of(AF_INET, 8);

	segment_open();
	n.options.on_change = drop_it;
	host_add(ip, mac_of(7));
	add(&ip);
	add(&gone);
	segment_run(4000);
	ck_assert_uint_eq(ups, 2);
	ck_assert_uint_eq(n.servers.count, 0);
	segment_close();
}
END_TEST

/* ---- many ---- */

static void
add_many(void)
{
	uint32_t i;

	for (i = 0; i < HOSTS; i++)
		host_add(ip_of(families[i % 2], i), mac_of(i));
	for (i = 0; i < HOSTS; i++)
		add(&hosts[i].ip);
}

START_TEST(not_too_much_at_once)
{
	unsigned asked, seconds = 0, i;

	segment_open();
	add_many();
	ck_assert_uint_le(sent_n, NEIGHBOR_BURST);
	asked = segment_pump();
	while (ups < HOSTS && ++seconds < 10) {
		unsigned more = segment_run(1000);

		ck_assert_uint_le(more, NEIGHBOR_RATE + 1);
		asked += more;
	}
	ck_assert_uint_le(seconds, 2);
	ck_assert_uint_eq(asked, HOSTS);
	/* Minutes later as well: each once in that time. */
	asked = segment_run(10 * NEIGHBOR_REFRESH_MS);
	ck_assert_uint_ge(asked, 9 * HOSTS);
	ck_assert_uint_le(asked, 10 * HOSTS);
	for (i = 0; i < HOSTS; i++)
		ck_assert_uint_eq(hosts[i].all, 1);
	ck_assert_uint_eq(ups, HOSTS);
	ck_assert_uint_eq(downs, 0);
	segment_close();
}
END_TEST

/* Most are gone: the few that are left never suffer, and each comes back. */
START_TEST(most_have_failed)
{
	enum { LEFT = 50 };
	unsigned claims =
	    (unsigned)suite_rounds((int)suite_amount(400, 20));
	unsigned i, most = 0, asked;

	segment_open();
	add_many();
	segment_run(5000);
	for (i = LEFT; i < HOSTS; i++)
		hosts[i].up = false;
	for (i = 0; i < 300; i++) {
		asked = segment_run(1000);
		most = asked > most ? asked : most;
	}
	/* They make us ask as often as may be. */
	for (i = 0; i < claims * (HOSTS - LEFT); i++) {
		if (i % (HOSTS - LEFT) == 0)
			segment_run(100);
		claim(&hosts[LEFT + i % (HOSTS - LEFT)].ip, &thief, false);
	}
	ck_assert_uint_eq(downs, HOSTS - LEFT);
	ck_assert_uint_le(most, NEIGHBOR_RATE + NEIGHBOR_BURST);
	for (i = 0; i < LEFT; i++) {
		ck_assert_uint_eq(hosts[i].all, 1);
		ck_assert_uint_lt(
		    now - neighbors_find(&n, &hosts[i].ip)->answered,
		    NEIGHBOR_REFRESH_MS + 1000);
	}
	for (i = LEFT; i < HOSTS; i++)
		hosts[i].up = true;
	segment_run(NEIGHBOR_FAILED_MS + 1000);
	ck_assert_uint_eq(ups, HOSTS + HOSTS - LEFT);
	segment_close();
}
END_TEST

/* ---- chance ---- */

/* Frames with any bytes changed: nothing is ever believed that cannot be. */
START_TEST(anything)
{
	long steps = suite_rounds((int)suite_amount(300000, 20000)), i;
	struct host *h;
	unsigned char bytes[sizeof(sent->bytes)];
	size_t length = 0, k;
	uint64_t random_ = 1;
	struct frame f;
	struct who_has message;
	struct peer ip;

	segment_open();
	for (k = 0; k < 20; k++) {
		ip = ip_of(families[k % 2], (uint32_t)k);
		host_add(ip, mac_of((uint32_t)k));
		add(&ip);
		ip = ip_of(families[k % 2], (uint32_t)k + 200);
		ck_assert_int_eq(neighbors_add_vip(&n, &ip, now), 0);
	}
	for (i = 0; i < steps; i++) {
		random_ = hash_mix(random_ + (uint64_t)i);
		now += random_ >> 56;
		neighbors_tick(&n, now);
		h = &hosts[random_ % hosts_n];
		h->up = random_ >> 20 & 3;
		if (sent_n > 0) {
			length = sent[sent_n - 1].length;
			memcpy(bytes, sent[sent_n - 1].bytes, length);
			/* a host's, most likely, and about one of them */
			memcpy(bytes + 6, &h->mac, 6);
		}
		if (random_ >> 23 & 1)
			bytes[(random_ >> 24) % (length | 1)] =
			    (unsigned char)(random_ >> 40);
		if (random_ >> 24 & 1)
			segment_pump();
		sent_n = 0;
		frame_parse(&f, bytes, length);
		if (who_has_read(&f, &message))
			neighbors_on_message(&n, &message, now);
		for (k = 0; k < hosts_n; k++) {
			const struct neighbor *w =
			    neighbors_find(&n, &hosts[k].ip);
			const struct mac *m = neighbor_mac(w);

			if (m != NULL &&
			    (!mac_is_station(m) || mac_equal(m, &own)))
				ck_abort_msg("step %ld: host %zu", i, k);
		}
	}
	ck_assert_uint_eq(n.servers.count, 20);
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

SUITE(test_neighbor)
{
	Suite *s = suite_create("neighbor");

	add_loop(s, "an_answer", an_answer);
	add_loop(s, "question_arp", question_arp);
	add_loop(s, "question_ndp", question_ndp);
	add_loop(s, "refreshed", refreshed);
	add_loop(s, "never_there", never_there);
	add_loop(s, "goes_and_comes_back", goes_and_comes_back);
	add_loop(
	    s, "no_silence_without_a_carrier", no_silence_without_a_carrier);
	add_loop(s, "turns_begin_anew_with_the_carrier",
	    turns_begin_anew_with_the_carrier);
	add_loop(s, "failed_ones_are_asked_with_the_carrier",
	    failed_ones_are_asked_with_the_carrier);
	add_loop(s, "all_are_asked_when_the_first_is_back",
	    all_are_asked_when_the_first_is_back);
	add_loop(s, "one_that_returns_alone", one_that_returns_alone);
	add_loop(s, "moves", moves);
	add_loop(s, "known_from_another_process", known_from_another_process);
	SUITE_ADD(s, lost_answers, 10);
	SUITE_ADD(s, shared, 10);
	SUITE_ADD(s, dropped_when_told, 10);
	SUITE_ADD(s, not_too_much_at_once, 60);
	SUITE_ADD(s, most_have_failed, 60);
	SUITE_ADD(s, anything, 60);
	return s;
}
