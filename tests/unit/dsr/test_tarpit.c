/* test_tarpit.c: addresses that nobody has, and when they are answered for. */
#include "config.h"

#include "unit/dsr/tarpit_fixture.h"

START_TEST(the_third_question_is_answered)
{
	begin(_i);
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(asks_for(50));
	now += 1000;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(asks_for(50));
	now += 1000;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(says_ours(50));
	ck_assert_uint_eq(t.stats.arp, 1);
	/* from then on at once, others too, and who asks us alone */
	ck_assert_uint_eq(ask_as(&other, &mac_broadcast, 3, 50), 1);
	ck_assert_uint_eq(ask_as(&caller, &own, 1, 50), 1);
	ck_assert(says_ours(50));
	/* but not what is not ours */
	ck_assert_uint_eq(ask(51), 1);
	ck_assert(asks_for(51));
	for (int i = 0; i < 5; i++, now += 1000) {
		ck_assert_uint_eq(ask(20), 0);
		ck_assert_uint_eq(ask(10000), 0);
	}
	tarpit_fini(&t);
}
END_TEST

/* Then it is asked for as by who wants to use it. */
START_TEST(without_an_address_to_ask_from)
{
	static const struct peer nobody;

	begin(_i);
	t.options.ip4 = t.options.ip6 = nobody;
	for (int i = 0; i < 2; i++, now += 1000) {
		ck_assert_uint_eq(ask(50), 1);
		ck_assert_int_eq(
		    sent.kind, family == AF_INET ? FRAME_ARP : FRAME_NDP);
		ck_assert(family == AF_INET ? arp.request : !ndp.advertisement);
		ck_assert_mem_eq(
		    family == AF_INET ? arp.sender : ndp.from, nobody.ip, 4);
		ck_assert(family == AF_INET || !ndp.has_mac);
	}
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(says_ours(50));
	/* who asks on need not be without a reply */
	ck_assert_uint_eq(ask(51), 1);
	claim(51, true);
	for (int i = 0; i < 5; i++, now += 1000)
		ck_assert_uint_eq(ask(51), 0);
	tarpit_fini(&t);
}
END_TEST

START_TEST(questions_that_do_not_count)
{
	int i;

	begin(_i);
	/* in a hurry */
	for (i = 0; i < 14; i++, now += 100) {
		ask(50);
		ck_assert(!says_ours(50));
	}
	/* now and then */
	for (i = 0; i < 5; i++, now += TARPIT_REPEAT_MS) {
		ask(51);
		ck_assert(!says_ours(51));
	}
	/* each by another machine: the first was answered */
	ask(52);
	for (i = 0; i < 4; i++, now += 1000) {
		struct mac m = { { 2, 9, 9, 9, 9, (uint8_t)i } };

		ck_assert_uint_eq(ask_as(&m, &mac_broadcast, 3, 52), 0);
	}
	/* while we may not ask ourselves */
	for (i = 0; i < 3; i++, now += 1000) {
		t.requests.full = (now + 1000 * TARPIT_REQUESTS_BURST /
				      TARPIT_REQUESTS) * 1000000;
		ck_assert_uint_eq(ask(53), 0);
	}
	ck_assert_uint_eq(t.stats.arp, 0);
	tarpit_fini(&t);
}
END_TEST

START_TEST(whoever_answers_has_it)
{
	int to_us;

	for (to_us = 0; to_us < 2; to_us++) {
		begin(_i);
		ask(50);
		ck_assert(asks_for(50));
		claim(50, to_us != 0);
		for (int i = 0; i < 10; i++, now += 1000)
			ck_assert_uint_eq(ask(50), 0);
		/* and if he comes when it is ours already */
		get(51);
		claim(51, to_us != 0);
		ck_assert_uint_eq(ask(51), 0);
		now += TARPIT_USED_MS - 1;
		ck_assert_uint_eq(ask(51), 0);
		/* gone for long */
		now += TARPIT_USED_MS;
		get(51);
		tarpit_fini(&t);
	}
}
END_TEST

/* Who asks has its own address. */
START_TEST(whoever_asks_has_one)
{
	begin(_i);
	get(50);
	ask_as(&other, &mac_broadcast, 50, 20);
	ck_assert_uint_eq(ask(50), 0);
	tarpit_fini(&t);
}
END_TEST

START_TEST(whoever_takes_it_gets_no_answer)
{
	begin(_i);
	get(50);
	for (int i = 0; i < 3; i++, now += 1000)
		ck_assert_uint_eq(ask_as(&other, &mac_broadcast, 0, 50), 0);
	ck_assert_uint_eq(ask(50), 0);
	/* also what nobody has asked for yet */
	ck_assert_uint_eq(ask_as(&other, &mac_broadcast, 0, 51), 0);
	for (int i = 0; i < 4; i++, now += 1000)
		ck_assert_uint_eq(ask(51), 0);
	tarpit_fini(&t);
}
END_TEST

START_TEST(it_must_be_silent_again_after_a_while)
{
	begin(_i);
	get(50);
	now += TARPIT_OURS_MS - 1;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(says_ours(50));
	now++;
	/* who asks us alone keeps the one from hearing who may have it */
	for (int i = 0; i < 4; i++, now += 1000)
		ck_assert_uint_eq(ask_as(&caller, &own, 1, 50), 0);
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(asks_for(50));
	now += 1000;
	ask(50);
	now += 1000;
	ask(50);
	ck_assert(says_ours(50));
	tarpit_fini(&t);
}
END_TEST

START_TEST(frames_that_are_not_for_us)
{
	struct mac group = { { 3, 0, 0, 0, 0, 1 } };
	unsigned before;

	begin(_i);
	get(50);
	before = sent_n;
	ask_as(&caller, &other, 1, 50);
	ask_as(&own, &mac_broadcast, 1, 50);
	ask_as(&group, &mac_broadcast, 1, 50);
	ck_assert_uint_eq(sent_n, before);
	ck_assert_uint_eq(ask(50), 1);
	tarpit_fini(&t);
}
END_TEST

START_TEST(memory_is_bounded)
{
	unsigned i;

	begin(_i);
	ask_as(&caller, &own, 1, 40);
	get(50);
	claim(60, false);
	for (i = 0; i < TARPIT_TRAPS - 1; i++) {
		ask(1000 + i);
		if (i == TARPIT_TRAPS / 2)
			claim(60, false);
	}
	/* the one of which nothing was heard has gone */
	ck_assert_uint_eq(ask(60), 0);
	t.requests.full = 0;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(asks_for(50));
	ck_assert_uint_eq(t.table.count, TARPIT_TRAPS);
	tarpit_fini(&t);
}
END_TEST

SUITE(test_tarpit)
{
	Suite *s = suite_create("tarpit");
	TCase *c = tcase_create("tarpit");

	tcase_set_timeout(c, 20);
	tcase_add_loop_test(c, the_third_question_is_answered, 0, 2);
	tcase_add_loop_test(c, without_an_address_to_ask_from, 0, 2);
	tcase_add_loop_test(c, questions_that_do_not_count, 0, 2);
	tcase_add_loop_test(c, whoever_answers_has_it, 0, 2);
	tcase_add_loop_test(c, whoever_asks_has_one, 0, 2);
	tcase_add_loop_test(c, whoever_takes_it_gets_no_answer, 0, 2);
	tcase_add_loop_test(c, it_must_be_silent_again_after_a_while, 0, 2);
	tcase_add_loop_test(c, frames_that_are_not_for_us, 0, 2);
	tcase_add_loop_test(c, memory_is_bounded, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
