/* test_dsr_flows.c: states of flows, time, and servers that are forgotten. */
#include "config.h"

#include "unit/dsr/flow_fixture.h"

/* ---- states ---- */

/* From a first frame on: the frames, each with the state that follows. */
struct step {
	uint8_t flags;
	enum dsr_state state;
};

enum { STEPS = 8 };

static const struct story {
	const char *name;
	size_t n;
	struct step step[STEPS];
} stories[] = {
	{ "a connection", 7,
	    { { SYN, DSR_SYN }, { SYN, DSR_SYN }, { ACK, DSR_ESTABLISHED },
		{ ACK, DSR_ESTABLISHED }, { SYN, DSR_ESTABLISHED },
		{ FIN | ACK, DSR_FIN }, { ACK, DSR_FIN } } },
	{ "the client resets", 4,
	    { { SYN, DSR_SYN }, { ACK, DSR_ESTABLISHED },
		{ RST | ACK, DSR_CLOSE }, { RST, DSR_CLOSE } } },
	{ "who never asked", 3,
	    { { SYN, DSR_SYN }, { RST, DSR_CLOSE }, { ACK, DSR_CLOSE } } },
	{ "a forged reset", 6,
	    { { SYN, DSR_SYN }, { ACK, DSR_ESTABLISHED },
		{ ACK, DSR_ESTABLISHED }, { RST, DSR_CLOSE },
		{ ACK, DSR_PICKUP }, { ACK, DSR_ESTABLISHED } } },
	{ "begun before we came", 5,
	    { { ACK, DSR_PICKUP }, { ACK, DSR_PICKUP }, { ACK, DSR_PICKUP },
		{ ACK, DSR_ESTABLISHED }, { FIN | ACK, DSR_FIN } } },
	{ "ended before we came", 3,
	    { { FIN | ACK, DSR_CLOSE }, { ACK, DSR_CLOSE },
		{ SYN, DSR_SYN } } },
	{ "begun before, ends at once", 2,
	    { { ACK, DSR_PICKUP }, { FIN | ACK, DSR_CLOSE } } },
	{ "reset first", 2, { { RST, DSR_CLOSE }, { SYN, DSR_SYN } } },
	{ "the same ports again", 4,
	    { { SYN, DSR_SYN }, { FIN | ACK, DSR_FIN }, { SYN, DSR_SYN },
		{ ACK, DSR_ESTABLISHED } } },
	{ "no flags at all", 3,
	    { { 0, DSR_PICKUP }, { SYN, DSR_SYN }, { 0, DSR_SYN } } },
};

START_TEST(states)
{
	const struct story *s;
	size_t i, k;

	setup(100);
	for (i = 0; i < sizeof(stories) / sizeof(*stories); i++) {
		s = &stories[i];
		for (k = 0; k < s->n; k++) {
			if (k == 0)
				add((uint32_t)i, 3, s->step[k].flags);
			else
				frame((uint32_t)i, s->step[k].flags);
			if (find((uint32_t)i)->state != s->step[k].state)
				ck_abort_msg("%s: step %zu is %s", s->name, k,
				    dsr_state_name(find((uint32_t)i)->state));
		}
	}
	ck_assert_uint_eq(listed(), fs.count);
	dsr_flows_fini(&fs);
}
END_TEST

START_TEST(datagrams)
{
	struct dsr_flow *w;
	int i;

	setup(10);
	w = add_of(1, IPPROTO_UDP, 5, 0);
	ck_assert_uint_eq(w->state, DSR_UDP_NEW);
	for (i = 2; i <= DSR_ASSURED; i++) {
		ck_assert_uint_eq(w->state, DSR_UDP_NEW);
		dsr_flows_on_frame(&fs, w, 0, 100, now);
	}
	ck_assert_uint_eq(w->state, DSR_UDP);
	ck_assert_uint_eq(w->server, 5);
	ck_assert_uint_eq(w->frames, DSR_ASSURED);
	ck_assert_uint_eq(w->bytes, 60 + 100 * (DSR_ASSURED - 1));
	/* the same ports of another protocol are another flow */
	ck_assert_ptr_null(find(1));
	dsr_flows_fini(&fs);
}
END_TEST

static unsigned assured_count;

static void
on_assured(void *arg, const struct dsr_flow *w)
{
	ck_assert_ptr_eq(arg, &fs);
	ck_assert_ptr_eq(dsr_flows_at(&fs, w->number), w);
	assured_count++;
}

/* Each is reported once, when that is so, and is found by its number as long as
 * it lasts. */
START_TEST(assured)
{
	uint32_t number;
	int i;

	setup(10);
	fs.on_assured = on_assured;
	fs.arg = &fs;
	assured_count = 0;
	add(1, 3, SYN);
	ck_assert_uint_eq(assured_count, 0);
	for (i = 0; i < 3; i++)
		frame(1, ACK);
	ck_assert_uint_eq(assured_count, 1);
	add(2, 3, ACK);
	for (i = 0; i < DSR_ASSURED; i++)
		frame(2, ACK);
	ck_assert_uint_eq(assured_count, 2);
	add_of(3, IPPROTO_UDP, 5, 0);
	ck_assert_uint_eq(assured_count, 2);
	number = find(2)->number;
	dsr_flows_remove(&fs, find(2));
	ck_assert_ptr_null(dsr_flows_at(&fs, number));
	ck_assert_ptr_null(dsr_flows_at(&fs, 0));
	ck_assert_ptr_null(dsr_flows_at(&fs, fs.made + 1));
	dsr_flows_fini(&fs);
}
END_TEST

START_TEST(begins_again)
{
	setup(10);
	establish(1);
	ck_assert(!dsr_flow_begins_again(find(1), SYN));
	frame(1, FIN | ACK);
	ck_assert(dsr_flow_begins_again(find(1), SYN));
	ck_assert(!dsr_flow_begins_again(find(1), ACK));
	ck_assert(!dsr_flow_begins_again(find(1), SYN | ACK));
	dsr_flows_remove(&fs, find(1));
	ck_assert_ptr_null(find(1));
	ck_assert_uint_eq(fs.count, 0);
	dsr_flows_fini(&fs);
}
END_TEST

/* Whatever of a key differs makes another flow. */
START_TEST(keys)
{
	struct peer client[] = { peer(AF_INET, 1, 1), peer(AF_INET, 2, 1),
		peer(AF_INET, 1, 2), peer(AF_INET6, 1, 1) },
		    vip[] = { peer(AF_INET, 9, 80), peer(AF_INET, 9, 81),
			    peer(AF_INET, 8, 80) };
	uint8_t protocol[] = { IPPROTO_TCP, IPPROTO_UDP };
	uint32_t i, all = 4 * 3 * 2;
	struct dsr_key k;
	struct dsr_flow *w;
	bool again;

	setup(100);
	/* mapped in IPv6 is none of IPv4 */
	memset(client[3].ip + 10, 0xff, 2);
	for (again = false;; again = true) {
		for (i = 0; i < all; i++) {
			dsr_key_make(&k, &client[i % 4], &vip[i / 4 % 3],
			    protocol[i / 12]);
			w = dsr_flows_find(&fs, &k, dsr_flows_hash(&fs, &k));
			ck_assert_int_eq(w != NULL, again);
			if (again)
				ck_assert_uint_eq(w->server, i);
			else
				dsr_flows_add(&fs, &k, dsr_flows_hash(&fs, &k),
				    i, SYN, 60, now);
		}
		if (again)
			break;
	}
	ck_assert_uint_eq(fs.count, all);
	dsr_flows_fini(&fs);
}
END_TEST

/* ---- time ---- */

START_TEST(timeouts)
{
	static const struct {
		uint8_t protocol, flags[6];
		uint32_t seconds;
	} kind[] = {
		{ IPPROTO_TCP, { SYN }, 60 },
		{ IPPROTO_TCP, { SYN, ACK }, 900 },
		{ IPPROTO_TCP, { ACK }, 900 },
		{ IPPROTO_TCP, { SYN, ACK, FIN }, 120 },
		{ IPPROTO_TCP, { SYN, ACK, RST }, 10 },
		{ IPPROTO_UDP, { ACK }, 300 },
		{ IPPROTO_UDP, { ACK, ACK, ACK, ACK, ACK }, 300 },
	};
	uint32_t i, k, n = sizeof(kind) / sizeof(*kind);

	for (i = 0; i < n; i++) {
		setup(10);
		add_of(1, kind[i].protocol, 0, kind[i].flags[0]);
		for (k = 1; kind[i].flags[k] != 0; k++)
			dsr_flows_on_frame(&fs, find_of(1, kind[i].protocol),
			    kind[i].flags[k], 60, now);
		now += 1000 * (uint64_t)kind[i].seconds;
		ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 0);
		now += 1000;
		ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1);
		ck_assert_ptr_null(find_of(1, kind[i].protocol));
		ck_assert_uint_eq(fs.stats.expired, 1);
		ck_assert_uint_eq(fs.count, 0);
		dsr_flows_fini(&fs);
	}
}
END_TEST

/* For flows that there are, too; 0 is no timeout. */
START_TEST(timeouts_that_are_set)
{
	static const struct dsr_timeouts is = { .tcp = 2, .fin = 1, .udp = 3 },
					 none = { .tcp = 0 };

	setup(10);
	establish(1);
	establish(2);
	frame(2, FIN | ACK);
	add_of(3, IPPROTO_UDP, 0, 0);
	add(4, 0, SYN);
	dsr_flows_set_timeouts(&fs, &none);
	now += 1000000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1); /* the SYN */
	dsr_flows_set_timeouts(&fs, &is);
	frame(1, ACK);
	frame(2, ACK);
	dsr_flows_on_frame(&fs, find_of(3, IPPROTO_UDP), 0, 60, now);
	now += 1000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 0);
	now += 1000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1);
	ck_assert_ptr_null(find(2));
	now += 1000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1);
	ck_assert_ptr_null(find(1));
	now += 1000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1);
	ck_assert_uint_eq(fs.count, 0);
	dsr_flows_fini(&fs);
}
END_TEST

/* How it counts at its server after these frames, and for how many seconds;
 * FOR_EVER: until it ends. */
enum { NEVER = -1, FOR_EVER = 1000, DATAGRAM = 12 };

static int counted;

static void
on_count(void *arg, struct dsr_flow *w, enum dsr_counts was)
{
	(void)arg;
	counted += (w->counts > 0) - (was > 0);
}

START_TEST(what_counts)
{
	static const struct {
		uint8_t protocol, flags[6];
		int seconds;
	} kind[] = {
		{ IPPROTO_TCP, { SYN }, DSR_COUNTS_S },
		{ IPPROTO_TCP, { SYN, SYN }, DSR_COUNTS_S },
		{ IPPROTO_TCP, { SYN, ACK }, FOR_EVER },
		{ IPPROTO_TCP, { ACK }, DSR_COUNTS_S },
		{ IPPROTO_TCP, { ACK, ACK, ACK, ACK }, FOR_EVER },
		{ IPPROTO_TCP, { FIN }, NEVER },
		{ IPPROTO_TCP, { RST }, NEVER },
		{ IPPROTO_TCP, { SYN, RST }, NEVER },
		{ IPPROTO_TCP, { SYN, ACK, FIN }, NEVER },
		{ IPPROTO_TCP, { SYN, ACK, FIN, ACK }, NEVER },
		{ IPPROTO_TCP, { SYN, ACK, RST }, NEVER },
		{ IPPROTO_TCP, { SYN, ACK, RST, ACK }, DSR_COUNTS_S },
		[DATAGRAM] = { IPPROTO_UDP, { ACK }, DSR_COUNTS_S },
		{ IPPROTO_UDP, { ACK, ACK }, DSR_COUNTS_S },
		{ IPPROTO_UDP, { ACK, ACK, ACK }, DSR_COUNTS_S },
		{ IPPROTO_UDP, { ACK, ACK, ACK, ACK }, DSR_COUNTS_UDP_S },
	};
	const struct dsr_flow *w;
	uint32_t i, k;

	for (i = 0; i < sizeof(kind) / sizeof(*kind); i++) {
		setup(10);
		fs.on_count = on_count;
		add_of(2, IPPROTO_TCP, 0, RST); /* beside others */
		w = add_of(1, kind[i].protocol, 0, kind[i].flags[0]);
		counted = w->counts > 0;
		for (k = 1; kind[i].flags[k] != 0; k++)
			dsr_flows_on_frame(&fs, find_of(1, kind[i].protocol),
			    kind[i].flags[k], 60, now);
		w = find_of(1, kind[i].protocol);
		ck_assert_int_eq(w->counts,
		    kind[i].seconds == NEVER ? DSR_COUNTS_NOT
			: i == DATAGRAM	     ? DSR_COUNTS_AS_LOAD
					     : DSR_COUNTS);
		ck_assert_int_eq(counted, w->counts > 0);
		if (kind[i].seconds != NEVER)
			now += 1000 * (uint64_t)kind[i].seconds;
		dsr_flows_stop_counting(&fs, now, MOST);
		ck_assert_int_eq(counted, kind[i].seconds != NEVER);
		now += 1000;
		dsr_flows_stop_counting(&fs, now, MOST);
		ck_assert_int_eq(counted, kind[i].seconds == FOR_EVER);
		ck_assert_int_eq(w->counts > 0, counted);
		ck_assert_uint_eq(fs.count, 2);
		dsr_flows_fini(&fs);
	}
}
END_TEST

/* In portions, in any order, with others that go on or leave. */
START_TEST(counting_stops_in_portions)
{
	uint32_t i;

	setup(1000);
	fs.on_count = on_count;
	for (i = 0; i < 1000; i++)
		add(i, 0, SYN);
	counted = 1000;
	for (i = 0; i < 1000; i += 10)
		dsr_flows_remove(&fs, find(i));
	counted -= 100; /* on_end() has told that */
	now += 1000 * (DSR_COUNTS_S + 1);
	for (i = 1; i < 1000; i += 10)
		frame(i, ACK);
	for (i = 2; i < 1000; i += 10)
		frame(i, SYN);
	for (i = 0; i < 10; i++)
		ck_assert_uint_eq(dsr_flows_stop_counting(&fs, now, 70), 70);
	ck_assert_uint_eq(dsr_flows_stop_counting(&fs, now, 70), 0);
	ck_assert_int_eq(counted, 200);
	/* what goes on counts again */
	frame(3, SYN);
	frame(4, ACK);
	ck_assert_int_eq(counted, 202);
	now += 1000 * (DSR_COUNTS_S + 1);
	ck_assert_uint_eq(dsr_flows_stop_counting(&fs, now, MOST), 101);
	ck_assert_int_eq(counted, 101);
	dsr_flows_fini(&fs);
}
END_TEST

/* A frame makes time begin anew, also for the order of those that wait. */
START_TEST(frames_keep_it)
{
	setup(10);
	establish(1);
	establish(2);
	now += 900000;
	frame(1, ACK);
	now += 1000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 1);
	ck_assert_ptr_nonnull(find(1));
	ck_assert_ptr_null(find(2));
	ck_assert_uint_eq(find(1)->seen, now / 1000 - 1);
	dsr_flows_fini(&fs);
}
END_TEST

START_TEST(portions)
{
	uint32_t i;

	setup(1000);
	for (i = 0; i < 1000; i++)
		add(i, 0, i % 2 ? SYN : ACK);
	now += 901000;
	for (i = 0; i < 14; i++) {
		ck_assert_uint_eq(dsr_flows_expire(&fs, now, 70), 70);
		ck_assert_uint_eq(listed(), fs.count);
	}
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, 70), 20);
	ck_assert_uint_eq(fs.count, 0);
	/* what they lived in is used again */
	for (i = 0; i < 1000; i++)
		add(i, 0, SYN);
	ck_assert_uint_eq(fs.made, 1000);
	ck_assert_uint_eq(fs.stats.peak, 1000);
	dsr_flows_fini(&fs);
}
END_TEST

/* ---- servers ---- */

static unsigned ends, ends_server;

static void
on_end(void *arg, struct dsr_flow *w)
{
	ck_assert_ptr_eq(arg, &fs);
	ends++;
	ends_server = w->server;
}

START_TEST(flows_of_servers)
{
	uint32_t i;

	setup(100);
	fs.on_end = on_end;
	fs.arg = &fs;
	for (i = 0; i < 70; i++)
		establish(i); /* server i % 7 */
	add(70, 3, SYN);
	ck_assert_uint_eq(dsr_flows_of(&fs, 3), 11);
	ck_assert_uint_eq(dsr_flows_of(&fs, 1000000), 0);
	dsr_flows_remove(&fs, find(70));
	ck_assert_uint_eq(ends, 1);
	ck_assert_uint_eq(ends_server, 3);
	ck_assert_uint_eq(dsr_flows_of(&fs, 3), 10);
	now += 901000;
	ck_assert_uint_eq(dsr_flows_expire(&fs, now, MOST), 70);
	ck_assert_uint_eq(ends, 71);
	for (i = 0; i < 7; i++)
		ck_assert_uint_eq(dsr_flows_of(&fs, i), 0);
	dsr_flows_fini(&fs);
}
END_TEST

SUITE(test_dsr_flows)
{
	Suite *s = suite_create("dsr_flows");

	SUITE_ADD(s, states, 10);
	SUITE_ADD(s, datagrams, 10);
	SUITE_ADD(s, assured, 10);
	SUITE_ADD(s, begins_again, 10);
	SUITE_ADD(s, keys, 10);
	SUITE_ADD(s, timeouts, 10);
	SUITE_ADD(s, timeouts_that_are_set, 10);
	SUITE_ADD(s, what_counts, 10);
	SUITE_ADD(s, counting_stops_in_portions, 10);
	SUITE_ADD(s, frames_keep_it, 10);
	SUITE_ADD(s, portions, 10);
	SUITE_ADD(s, flows_of_servers, 10);
	return s;
}
