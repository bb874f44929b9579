/* test_dsr_full.c: who goes when the table of flows is full; anything; and the
 * speed of a million flows. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "unit/dsr/flow_fixture.h"

/* ---- a full table ---- */

START_TEST(idlest_first)
{
	uint32_t i;

	setup(6);
	establish(1);
	for (i = 2; i <= 6; i++) {
		now += 1000;
		add(i, 0, SYN);
	}
	now += 1000;
	frame(2, SYN); /* 3 is the idlest now, if 1 is not asked */
	add(7, 0, SYN);
	ck_assert_ptr_null(find(3));
	add(8, 0, SYN);
	ck_assert_ptr_null(find(4));
	ck_assert_ptr_nonnull(find(1));
	ck_assert_ptr_nonnull(find(2));
	ck_assert_uint_eq(fs.count, 6);
	ck_assert_uint_eq(fs.stats.evicted, 2);
	ck_assert_uint_eq(fs.stats.pushed_out, 0);
	dsr_flows_fini(&fs);
}
END_TEST

/* One of each: they go in the order of what they have proved. */
START_TEST(order_of_states)
{
	static const struct {
		uint32_t client;
		uint8_t protocol;
	} order[] = {
		{ 4, IPPROTO_UDP }, /* UDP_NEW */
		{ 5, IPPROTO_TCP }, /* SYN */
		{ 6, IPPROTO_TCP }, /* MIDDLE */
		{ 7, IPPROTO_TCP }, /* CLOSE */
		{ 3, IPPROTO_TCP }, /* FIN */
		{ 2, IPPROTO_UDP }, /* UDP */
		{ 1, IPPROTO_TCP }  /* ESTABLISHED */
	};
	uint32_t i;
	int k;

	setup(7);
	/* from the last to go, so that age alone would be the other way */
	establish(1);
	now += 1000;
	add_of(2, IPPROTO_UDP, 0, 0);
	for (k = 1; k < DSR_ASSURED; k++)
		dsr_flows_on_frame(&fs, find_of(2, IPPROTO_UDP), 0, 60, now);
	establish(3);
	frame(3, FIN);
	now += 1000;
	add_of(4, IPPROTO_UDP, 0, 0);
	now += 1000;
	add(5, 0, SYN);
	now += 1000;
	add(6, 0, ACK);
	now += 1000;
	add(7, 0, RST);
	frame(1, ACK); /* among UDP and ESTABLISHED age decides */
	for (i = 0; i < DSR_STATES; i++) {
		now += 1000;
		ck_assert_ptr_nonnull(
		    find_of(order[i].client, order[i].protocol));
		establish(100 + i); /* which goes after them */
		ck_assert_ptr_null(find_of(order[i].client, order[i].protocol));
		ck_assert_uint_eq(fs.count, 7);
	}
	ck_assert_uint_eq(fs.stats.pushed_out, 2);
	dsr_flows_fini(&fs);
	setup(0);
	ck_assert_ptr_null(add(1, 0, SYN));
	dsr_flows_fini(&fs);
}
END_TEST

/* Floods of first frames of any kind leave those alone that are established,
 * even idle ones. */
START_TEST(floods)
{
	static const struct {
		uint8_t protocol, flags;
	} flood[] = { { IPPROTO_TCP, SYN }, { IPPROTO_TCP, ACK },
		{ IPPROTO_TCP, FIN | ACK }, { IPPROTO_TCP, RST },
		{ IPPROTO_UDP, 0 } };
	uint32_t max = (uint32_t)suite_amount(100000, 2000), i, k, lost = 0;

	setup(max);
	for (i = 0; i < max / 2; i++)
		establish(i);
	for (k = 0; k < 5; k++)
		for (i = 0; i < max; i++) {
			now += i % 100 == 0;
			add_of(max + i + k * max, flood[k].protocol, 0,
			    flood[k].flags);
			if (fs.count > max)
				ck_abort_msg("%u flows", (unsigned)fs.count);
		}
	for (i = 0; i < max / 2; i++)
		lost += find(i) == NULL;
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_eq(fs.stats.pushed_out, 0);
	ck_assert_uint_eq(fs.count, max);
	ck_assert_uint_eq(listed(), max);
	dsr_flows_fini(&fs);
}
END_TEST

/* Where all are established newcomers still get the time to become so: of the
 * idlest a small part makes room, and no flood takes more. */
START_TEST(newcomers_have_a_share)
{
	enum { MAX = 6400, SHARE = MAX / 64 };
	uint32_t i, lost = 0;

	setup(MAX);
	for (i = 0; i < MAX; i++) {
		now += 10;
		establish(i);
	}
	for (i = 0; i < SHARE; i++)
		add(MAX + i, 0, SYN);
	for (i = 0; i < SHARE; i++)
		ck_assert_ptr_nonnull(find(MAX + i));
	for (i = 0; i < 10 * MAX; i++)
		add(2 * MAX + i, 0, SYN);
	for (i = 0; i < MAX; i++)
		lost += find(i) == NULL;
	ck_assert_uint_eq(lost, SHARE);
	for (i = 0; i < SHARE; i++)
		ck_assert_ptr_null(find(i)); /* the idlest */
	ck_assert_uint_eq(fs.stats.pushed_out, SHARE);
	dsr_flows_fini(&fs);
}
END_TEST

static uint32_t
just_now(void *arg, const struct dsr_flow *w)
{
	(void)arg;
	(void)w;
	return (uint32_t)(now / 1000);
}

/* Flows that look idle because they are carried are more than can be asked at a
 * time: it is not they who pay for that. */
START_TEST(many_are_carried)
{
	enum { ALL = 128, CARRIED = 20 };
	uint32_t i;

	setup(ALL);
	fs.last_frame = just_now;
	for (i = 1; i < ALL; i++) {
		establish(i);
		find(i)->offloaded = i <= CARRIED;
		now += i == CARRIED ? 1000 : 0;
	}
	for (; fs.stats.pushed_out == 0; i++) {
		now += 1000;
		add(i, 0, SYN);
		ck_assert_uint_lt(i, 2 * ALL);
	}
	for (i = 1; i <= CARRIED; i++)
		if (find(i) == NULL)
			ck_abort_msg("flow %u was in use", (unsigned)i);
	ck_assert_ptr_null(find(CARRIED + 1));
	dsr_flows_fini(&fs);
}
END_TEST

START_TEST(many_slabs)
{
	enum { MAX = 150000 };
	uint32_t i;

	setup(MAX);
	for (i = 0; i < 10; i++)
		establish(i);
	for (; i < MAX; i++)
		add(i, 0, SYN);
	ck_assert_uint_eq(fs.count, MAX);
	for (; i < 2 * MAX; i++)
		add(i, 0, SYN);
	ck_assert_uint_eq(fs.count, MAX);
	ck_assert_uint_eq(fs.made, MAX);
	for (i = 0; i < 10; i++)
		ck_assert_ptr_nonnull(find(i));
	dsr_flows_fini(&fs);
}
END_TEST

/* ---- chance ---- */

/* Against a plain model: whatever happens, lists, counts and the table
 * agree. */
START_TEST(anything)
{
	enum { CLIENTS = 300, MAX = 100, SERVERS = 5 };
	static const uint8_t flags[] = { SYN, ACK, ACK, ACK, FIN | ACK, RST };
	long steps = suite_amount(300000, 10000), i;
	uint64_t random_ = 1;
	uint32_t n, k, flows;

	setup(MAX);
	for (i = 0; i < steps; i++) {
		random_ = hash_mix(random_ + (uint64_t)i);
		n = (uint32_t)(random_ % CLIENTS);
		now += random_ >> 20 & 1023;
		if (find(n) != NULL)
			frame(n, flags[(random_ >> 40) % 6]);
		else
			add(n, n % SERVERS, flags[(random_ >> 40) % 6]);
		if (i % 64 == 0)
			dsr_flows_expire(&fs, now, 3);
		if (find(n) == NULL || fs.count > MAX || listed() != fs.count ||
		    fs.table.count != fs.count)
			ck_abort_msg("step %ld", i);
	}
	for (flows = k = 0; k < SERVERS; k++)
		flows += dsr_flows_of(&fs, k);
	ck_assert_uint_eq(flows, fs.count);
	dsr_flows_fini(&fs);
}
END_TEST

/* ---- speed ---- */

enum { BATCH = 32 };

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Nanoseconds of a frame among n flows, in batches as frames come. */
static double
measure(uint32_t n, size_t amount, size_t *wrong)
{
	struct dsr_key k[BATCH];
	struct dsr_flow *w[BATCH];
	uint64_t hash[BATCH], random_ = 1;
	double began;
	size_t i, j;

	setup(n);
	for (i = 0; i < n; i++)
		*wrong += add((uint32_t)i, (uint32_t)i % 16, SYN) == NULL;
	began = seconds();
	for (i = 0; i < amount; i += BATCH) {
		for (j = 0; j < BATCH; j++) {
			random_ = hash_mix(random_ + 1);
			k[j] = key((uint32_t)(random_ % n), IPPROTO_TCP);
			hash[j] = dsr_flows_hash(&fs, &k[j]);
			dsr_flows_expect(&fs, hash[j]);
		}
		for (j = 0; j < BATCH; j++)
			dsr_flows_expect_flow(&fs, hash[j]);
		now = START + i / 1000; /* a million a second */
		for (j = 0; j < BATCH; j++)
			w[j] = dsr_flows_find(&fs, &k[j], hash[j]);
		for (j = 0; j < BATCH; j++)
			if (w[j] != NULL)
				dsr_flows_on_frame(&fs, w[j], ACK, 60, now);
			else
				++*wrong;
	}
	began = seconds() - began;
	dsr_flows_fini(&fs);
	return began / (double)amount * 1e9;
}

START_TEST(look_ups)
{
	uint32_t many = (uint32_t)suite_amount(1000000, 20000);
	size_t amount = (size_t)suite_amount(4000000, 20000), wrong = 0;
	double few = measure(100, amount, &wrong);
	double all = measure(many, amount, &wrong);

	printf("a flow: %zu bytes; a frame: %.0f ns among 100 flows, %.0f ns "
	       "among %u, ratio %.2f\n",
	    sizeof(struct dsr_flow), few, all, (unsigned)many, all / few);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

SUITE(test_dsr_full)
{
	Suite *s = suite_create("dsr_full");

	SUITE_ADD(s, idlest_first, 10);
	SUITE_ADD(s, order_of_states, 10);
	SUITE_ADD(s, floods, 60);
	SUITE_ADD(s, newcomers_have_a_share, 60);
	SUITE_ADD(s, many_are_carried, 10);
	SUITE_ADD(s, many_slabs, 60);
	SUITE_ADD(s, anything, 60);
	SUITE_ADD(s, look_ups, 60);
	return s;
}
