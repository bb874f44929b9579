/* test_who_has.c: what is written is what is read, in ARP and in NDP. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "dsr/segment/who_has.h"
#include "support/suite.h"

enum { TAG = 5 };

static const unsigned families[] = { AF_INET, AF_INET6 };
static const struct mac ours = { { 2, 0, 0, 0, 0, 1 } },
			theirs = { { 2, 0, 0, 0, 0, 2 } };
static const struct peer nobody;
static unsigned char bytes[FRAME_MADE_MAX];
static struct frame frame;
static struct mac to;

static struct peer
ip(int i, uint8_t last)
{
	struct peer p = { .family = (uint16_t)families[i] };

	p.ip[families[i] == AF_INET ? 12 : 0] =
	    families[i] == AF_INET ? 10 : 0xfd;
	if (families[i] == AF_INET)
		memset(p.ip + 10, 0xff, 2);
	p.ip[15] = last;
	return p;
}

static struct frame_head
head_to(const struct mac *m)
{
	return (struct frame_head){ .to = *m, .from = ours, .vlan = TAG };
}

static struct who_has
sent(size_t n)
{
	struct who_has m;

	ck_assert_uint_gt(n, 0);
	frame_parse(&frame, bytes, n);
	ck_assert(who_has_read(&frame, &m));
	ck_assert(who_has_is_possible(&m));
	ck_assert(mac_equal(&m.mac, &ours));
	ck_assert_uint_eq(frame.vlan, TAG);
	to = frame_mac_to(&frame);
	return m;
}

START_TEST(a_request)
{
	struct frame_head head = head_to(_i / 2 ? &theirs : &mac_broadcast);
	struct peer one = ip(_i % 2, 1), two = ip(_i % 2, 2);
	struct who_has m =
	    sent(who_has_make_request(bytes, sizeof(bytes), &head, &one, &two));

	ck_assert(m.request);
	ck_assert(!m.solicited && !m.override);
	ck_assert(who_has_same_ip(&m.sender, &one));
	ck_assert(who_has_same_ip(&m.target, &two));
	ck_assert_int_eq(mac_is_station(&to), _i / 2);
	m = sent(
	    who_has_make_request(bytes, sizeof(bytes), &head, &nobody, &two));
	ck_assert_uint_eq(m.sender.family, 0);
	ck_assert(who_has_same_ip(&m.target, &two));
	ck_assert_int_eq(
	    mac_is_station(&to), _i / 2 && families[_i % 2] == AF_INET);
}
END_TEST

START_TEST(an_answer)
{
	struct frame_head head = head_to(&theirs);
	struct who_has request = {
		.request = true, .sender = ip(_i, 1), .target = ip(_i, 2)
	};
	bool arp = families[_i] == AF_INET;
	struct who_has m = sent(
	    who_has_make_answer(bytes, sizeof(bytes), &head, &request, false));

	ck_assert(!m.request && m.solicited);
	ck_assert_int_eq(m.override, arp);
	ck_assert(who_has_same_ip(&m.sender, &request.target));
	ck_assert(
	    who_has_same_ip(&m.target, arp ? &request.sender : &m.sender));
	ck_assert(mac_equal(&to, &theirs));
	m = sent(
	    who_has_make_answer(bytes, sizeof(bytes), &head, &request, true));
	ck_assert(m.override);
	/* to a probe */
	request.sender = nobody;
	m = sent(
	    who_has_make_answer(bytes, sizeof(bytes), &head, &request, true));
	ck_assert(who_has_same_ip(&m.sender, &request.target));
	ck_assert_int_eq(m.solicited, arp);
	ck_assert_int_eq(mac_is_station(&to), arp);
}
END_TEST

START_TEST(an_announcement)
{
	struct frame_head head = head_to(&mac_broadcast);
	struct peer one = ip(_i, 1);
	struct who_has m =
	    sent(who_has_make_announcement(bytes, sizeof(bytes), &head, &one));

	ck_assert(who_has_same_ip(&m.sender, &one));
	ck_assert(who_has_same_ip(&m.target, &one));
	ck_assert_int_eq(m.request, families[_i] == AF_INET);
	ck_assert_int_eq(m.override, families[_i] == AF_INET6);
	ck_assert(!m.solicited);
	ck_assert(!mac_is_station(&to));
}
END_TEST

START_TEST(whom_a_frame_concerns)
{
	struct frame_head head = head_to(&theirs);
	struct mac group = { { 3, 0, 0, 0, 0, 9 } }, other = theirs;
	struct peer one = ip(_i, 1), two = ip(_i, 2);
	struct who_has m =
	    sent(who_has_make_request(bytes, sizeof(bytes), &head, &one, &two));

	other.byte[5]++;
	ck_assert(who_has_concerns(&m, &theirs));
	ck_assert(!who_has_concerns(&m, &other));
	ck_assert(!who_has_concerns(&m, &ours));
	m.mac = group;
	ck_assert(!who_has_is_possible(&m));
	head.from = group;
	frame_parse(&frame, bytes,
	    who_has_make_request(bytes, sizeof(bytes), &head, &one, &two));
	ck_assert(who_has_read(&frame, &m));
	m.mac = ours;
	ck_assert(!who_has_is_possible(&m));
}
END_TEST

START_TEST(a_table)
{
	struct hash_table t;
	struct who_has_entry entry[2];
	struct peer one = ip(_i, 1), scoped = one, two = ip(_i, 2);

	ck_assert_int_eq(hash_table_init(&t), 0);
	scoped.port = 80;
	scoped.scope = 7;
	who_has_add(&t, &entry[0], &scoped);
	ck_assert_ptr_eq(who_has_find(&t, &one), &entry[0]);
	ck_assert_ptr_null(who_has_find(&t, &two));
	who_has_add(&t, &entry[1], &two);
	ck_assert_ptr_eq(who_has_find(&t, &two), &entry[1]);
	ck_assert_uint_eq(entry[0].ip.port, 0);
	hash_table_fini(&t);
}
END_TEST

SUITE(test_who_has)
{
	Suite *s = suite_create("who_has");
	TCase *c = tcase_create("messages");

	tcase_add_loop_test(c, a_request, 0, 4);
	tcase_add_loop_test(c, an_answer, 0, 2);
	tcase_add_loop_test(c, an_announcement, 0, 2);
	tcase_add_loop_test(c, whom_a_frame_concerns, 0, 2);
	tcase_add_loop_test(c, a_table, 0, 2);
	suite_add_tcase(s, c);
	return s;
}
