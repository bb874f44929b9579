/* test_director_vlan.c: which tag a director takes for the segment's. */
#include "config.h"

#include "unit/dsr/director_fixture.h"

enum { TRUE_TAG = 7, FALSE_TAG = 5 };

static void
ignore(void *arg, const unsigned char *frame, size_t length)
{
	(void)arg;
	(void)frame;
	(void)length;
}

static void
up(void)
{
	struct neighbors_options o = { .mac = ours, .send = ignore };

	director_fixture_up();
	ck_assert_int_eq(neighbors_init(&d.forward.hops.neighbors, &o, 1), 0);
}

static void
down(void)
{
	neighbors_fini(&d.forward.hops.neighbors);
	director_fixture_down();
}

/* The tag after frames with this one. */
static unsigned
hear(uint16_t tag, unsigned frames)
{
	struct frame f = { .vlan = tag };

	for (; frames > 0; frames--)
		director_note_vlan(&d, &f);
	return d.forward.wire.vlan;
}

/* Servers answer, or do not. */
static void
reach(bool servers)
{
	d.forward.hops.neighbors.reachable = servers ? SERVERS : 0;
}

START_TEST(the_first_frame_tells)
{
	reach(false);
	ck_assert_uint_eq(hear(TRUE_TAG, 1), TRUE_TAG);
	reach(true);
	ck_assert_uint_eq(hear(FALSE_TAG, 100), TRUE_TAG);
}
END_TEST

/* Servers answered without a tag before a client came. */
START_TEST(a_tag_that_servers_answer_to_stays)
{
	reach(true);
	ck_assert_uint_eq(hear(FALSE_TAG, 100), 0);
	ck_assert_uint_eq(hear(0, 1), 0);
	ck_assert_uint_eq(hear(FALSE_TAG, 100), 0);
}
END_TEST

/* No servers, or none that is there: one frame now and then is not enough. */
START_TEST(several_frames_in_a_row)
{
	unsigned i;

	reach(false);
	ck_assert_uint_eq(hear(TRUE_TAG, 1), TRUE_TAG);
	for (i = 0; i < 100; i++) {
		ck_assert_uint_eq(hear(FALSE_TAG, 2), TRUE_TAG);
		ck_assert_uint_eq(hear(TRUE_TAG, 1), TRUE_TAG);
		ck_assert_uint_eq(hear(FALSE_TAG, 1), TRUE_TAG);
		ck_assert_uint_eq(hear(FALSE_TAG + 1, 1), TRUE_TAG);
	}
	ck_assert_uint_eq(hear(FALSE_TAG, 3), FALSE_TAG);
}
END_TEST

/* Whoever was first with a false one does not keep it. */
START_TEST(a_false_tag_goes_again)
{
	reach(false);
	ck_assert_uint_eq(hear(FALSE_TAG, 1), FALSE_TAG);
	ck_assert_uint_eq(hear(TRUE_TAG, 3), TRUE_TAG);
	ck_assert_uint_eq(d.forward.hops.neighbors.options.vlan, TRUE_TAG);
	reach(true);
	ck_assert_uint_eq(hear(FALSE_TAG, 100), TRUE_TAG);
}
END_TEST

/* A standby gets no frame for a VIP. */
START_TEST(servers_tell_until_a_frame_does)
{
	struct peer at = { .family = AF_INET,
		.ip = { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
	struct frame f = { .vlan = TRUE_TAG };
	struct who_has m = { .sender = client, .target = client };

	ck_assert_ptr_nonnull(
	    neighbors_add(&d.forward.hops.neighbors, &at, 1));
	director_learn_vlan(&d, &f, &m);
	ck_assert_uint_eq(d.forward.wire.vlan, 0);
	m.target = at;
	director_learn_vlan(&d, &f, &m);
	ck_assert_uint_eq(d.forward.wire.vlan, TRUE_TAG);
	f.vlan = FALSE_TAG;
	m.sender = at;
	director_learn_vlan(&d, &f, &m);
	director_learn_vlan(&d, &f, &m);
	director_learn_vlan(&d, &f, &m);
	ck_assert_uint_eq(d.forward.wire.vlan, TRUE_TAG);
}
END_TEST

/* Until all servers have failed. */
static void
silence(uint64_t *now)
{
	struct neighbors *n = &d.forward.hops.neighbors;

	do
		neighbors_tick(n, *now += 1000);
	while (!neighbors_have_failed(n));
}

/* What another director reports may be right where servers are silent. */
START_TEST(a_tag_of_another_director)
{
	struct peer at = client;
	uint64_t now = 1;

	ck_assert_ptr_nonnull(
	    neighbors_add(&d.forward.hops.neighbors, &at, now));
	director_suggest_vlan(&d, TRUE_TAG);
	director_try_vlan(&d);
	ck_assert_uint_eq(d.forward.wire.vlan, 0);
	silence(&now);
	director_try_vlan(&d);
	ck_assert_uint_eq(d.forward.wire.vlan, TRUE_TAG);
	ck_assert_uint_eq(d.forward.hops.neighbors.options.vlan, TRUE_TAG);
	/* it is not known before a server answers */
	ck_assert(!director_export(&d).vlan_known);
	/* it was wrong: the servers are back on another segment */
	director_suggest_vlan(&d, TRUE_TAG);
	director_try_vlan(&d);
	ck_assert_uint_eq(d.forward.wire.vlan, TRUE_TAG);
	silence(&now);
	director_try_vlan(&d);
	ck_assert_uint_eq(d.forward.wire.vlan, 0);
	/* a frame is better */
	ck_assert_uint_eq(hear(FALSE_TAG, 1), FALSE_TAG);
	silence(&now);
	director_try_vlan(&d);
	ck_assert_uint_eq(d.forward.wire.vlan, FALSE_TAG);
}
END_TEST

SUITE(test_director_vlan)
{
	Suite *s = suite_create("director_vlan");
	TCase *t = tcase_create("director_vlan");

	tcase_add_checked_fixture(t, up, down);
	tcase_add_test(t, the_first_frame_tells);
	tcase_add_test(t, a_tag_that_servers_answer_to_stays);
	tcase_add_test(t, several_frames_in_a_row);
	tcase_add_test(t, a_false_tag_goes_again);
	tcase_add_test(t, servers_tell_until_a_frame_does);
	tcase_add_test(t, a_tag_of_another_director);
	suite_add_tcase(s, t);
	return s;
}
