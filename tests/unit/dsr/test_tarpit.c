/* test_tarpit.c: addresses that nobody has: when they are answered for, and what
 * clients hear. */
#include "config.h"

#include <check.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/tarpit.h"
#include "support/suite.h"

enum { TAG = 0x2005 };

static const unsigned families[] = { AF_INET, AF_INET6 };
static const struct mac own = { { 2, 0, 0, 0, 0, 0xee } },
			asker = { { 2, 1, 0, 0, 0, 1 } },
			other = { { 2, 1, 0, 0, 0, 2 } };

static struct tarpit t;
static struct tarpit_options options;
static uint64_t now;
static unsigned family;
static unsigned sent_n;
/* The last frame that was sent, and what is in it. */
static unsigned char bytes[FRAME_MADE_MAX];
static struct frame sent;
static struct arp arp;
static struct ndp ndp;
static struct segment segment;

/* 10.0.x.x, fd00::x. */
static struct peer
at(uint32_t i)
{
	struct peer p = { .family = (uint16_t)family };

	p.ip[family == AF_INET ? 12 : 0] = family == AF_INET ? 10 : 0xfd;
	if (family == AF_INET)
		memset(p.ip + 10, 0xff, 2);
	p.ip[14] = (uint8_t)(i >> 8);
	p.ip[15] = (uint8_t)i;
	return p;
}

/* 40 to 10000 are nobody's: those who ask are below, others above. */
static bool
is_wanted(void *arg, const struct peer *ip)
{
	unsigned i = (unsigned)ip->ip[14] << 8 | ip->ip[15];

	ck_assert_ptr_eq(arg, &t);
	return i >= 40 && i < 10000;
}

static void
on_send(void *arg, const unsigned char *b, size_t length)
{
	(void)arg;
	memcpy(bytes, b, length);
	frame_parse(&sent, bytes, length);
	(void)frame_read_arp(&sent, &arp);
	(void)frame_read_ndp(&sent, &ndp);
	(void)frame_read_tcp(&sent, &segment);
	sent_n++;
}

static void
begin(int i)
{
	family = families[i];
	now = 100000;
	sent_n = 0;
	options = (struct tarpit_options){
		.mac = own, .is_wanted = is_wanted, .send = on_send, .arg = &t
	};
	options.ip4 = options.ip6 = at(2);
	ck_assert_int_eq(tarpit_init(&t, &options, now), 0);
}

static void
hear(unsigned char *b, size_t length)
{
	struct frame f;

	frame_parse(&f, b, length);
	ck_assert(f.kind == FRAME_ARP || f.kind == FRAME_NDP);
	tarpit_on_neighbor(&t, &f, now);
}

/* `who` (0: without an address) at `mac` asks for `target`. Returns how many frames
 * that made. */
static unsigned
ask_as(
    const struct mac *mac, const struct mac *to, uint32_t who, uint32_t target)
{
	unsigned char b[FRAME_MADE_MAX];
	struct frame_head head = { .to = *to, .from = *mac, .vlan = TAG };
	struct peer from = at(who), wanted = at(target);
	struct arp a = { .sender_mac = *mac, .request = true };
	struct ndp d = { .has_mac = who != 0, .mac = *mac };
	unsigned before = sent_n;

	if (who != 0) {
		memcpy(a.sender, from.ip + 12, 4);
		memcpy(d.from, from.ip, 16);
	}
	memcpy(a.target, wanted.ip + 12, 4);
	memcpy(d.target, wanted.ip, 16);
	if (mac_equal(to, &mac_broadcast))
		ndp_group(d.to, wanted.ip);
	else
		memcpy(d.to, wanted.ip, 16);
	hear(b,
	    family == AF_INET ? frame_make_arp(b, sizeof(b), &head, &a)
			      : frame_make_ndp(b, sizeof(b), &head, &d));
	return sent_n - before;
}

static unsigned
ask(uint32_t target)
{
	return ask_as(&asker, &mac_broadcast, 1, target);
}

/* The host with that address says so, as an answer to us or to all. */
static void
claim(uint32_t who, bool to_us)
{
	unsigned char b[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = to_us ? own : mac_broadcast, .from = other, .vlan = TAG
	};
	struct peer from = at(who), to = at(2);
	struct arp a = { .sender_mac = other, .request = !to_us };
	struct ndp d = { .advertisement = true,
		.solicited = to_us,
		.has_mac = true,
		.mac = other };

	memcpy(a.sender, from.ip + 12, 4);
	memcpy(a.target, (to_us ? to : from).ip + 12, 4);
	memcpy(d.from, from.ip, 16);
	memcpy(d.target, from.ip, 16);
	memcpy(d.to, to_us ? to.ip : ndp_all_nodes, 16);
	hear(b,
	    family == AF_INET ? frame_make_arp(b, sizeof(b), &head, &a)
			      : frame_make_ndp(b, sizeof(b), &head, &d));
}

/* Whether the last frame says that we have that address. */
static bool
says_ours(uint32_t target)
{
	struct peer p = at(target);
	struct mac to = frame_mac_to(&sent), from = frame_mac_from(&sent);
	bool right = mac_equal(&to, &asker) && mac_equal(&from, &own) &&
	    sent.vlan == TAG;

	if (family == AF_INET)
		return right && sent.kind == FRAME_ARP && !arp.request &&
		    mac_equal(&arp.sender_mac, &own) &&
		    mac_equal(&arp.target_mac, &asker) &&
		    memcmp(arp.sender, p.ip + 12, 4) == 0;
	return right && sent.kind == FRAME_NDP && ndp.advertisement &&
	    ndp.solicited && !ndp.override && !ndp.router && ndp.has_mac &&
	    mac_equal(&ndp.mac, &own) && memcmp(ndp.target, p.ip, 16) == 0 &&
	    memcmp(ndp.from, p.ip, 16) == 0;
}

/* Whether it is our own question for it, to all. */
static bool
asks_for(uint32_t target)
{
	struct peer p = at(target), two = at(2);

	if (sent.vlan != TAG || (sent.bytes[0] & 1) == 0)
		return false;
	if (family == AF_INET)
		return sent.kind == FRAME_ARP && arp.request &&
		    memcmp(arp.sender, two.ip + 12, 4) == 0 &&
		    memcmp(arp.target, p.ip + 12, 4) == 0;
	return sent.kind == FRAME_NDP && !ndp.advertisement &&
	    memcmp(ndp.from, two.ip, 16) == 0 &&
	    memcmp(ndp.target, p.ip, 16) == 0;
}

/* Asked as hosts do, each second; ours at the end. */
static void
get(uint32_t target)
{
	ask(target);
	now += 1000;
	ask(target);
	now += 1000;
	ck_assert_uint_eq(ask(target), 1);
	ck_assert(says_ours(target));
}

/* ---- who has it ---- */

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
	ck_assert_uint_eq(ask_as(&asker, &own, 1, 50), 1);
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

START_TEST(without_an_address_to_ask_from)
{
	begin(_i);
	t.options.ip4.family = t.options.ip6.family = 0;
	ck_assert_uint_eq(ask(50), 0);
	now += 1000;
	ck_assert_uint_eq(ask(50), 0);
	now += 1000;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(says_ours(50));
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
	t.questions.cost = t.questions.most + 1;
	for (i = 0; i < 3; i++, now += 1000)
		ck_assert_uint_eq(ask(53), 0);
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
	now += TARPIT_HOLD_MS - 1;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(says_ours(50));
	now++;
	/* who asks us alone keeps the one from hearing who may have it */
	for (int i = 0; i < 4; i++, now += 1000)
		ck_assert_uint_eq(ask_as(&asker, &own, 1, 50), 0);
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
	ask_as(&asker, &other, 1, 50);
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
	ask_as(&asker, &own, 1, 40);
	get(50);
	claim(60, false);
	for (i = 0; i < TARPIT_TRAPS - 1; i++) {
		ask(1000 + i);
		if (i == TARPIT_TRAPS / 2)
			claim(60, false);
	}
	/* the one of which nothing was heard has gone */
	ck_assert_uint_eq(ask(60), 0);
	t.questions.credit = t.questions.most;
	ck_assert_uint_eq(ask(50), 1);
	ck_assert(asks_for(50));
	ck_assert_uint_eq(t.table.count, TARPIT_TRAPS);
	tarpit_fini(&t);
}
END_TEST

/* ---- connections ---- */

static struct segment
seg(uint8_t flags, uint32_t seq, uint32_t ack)
{
	return (struct segment){
		.flags = flags, .seq = seq, .ack = ack, .window = 1000
	};
}

/* The client 1:port says that to port 80 of `to`. Returns whether it was answered;
 * then the answer is right but for numbers and flags. */
static bool
say_to(const struct mac *mac, uint32_t to, uint16_t port, struct segment s)
{
	unsigned char b[FRAME_MADE_MAX];
	struct frame_head head = { .to = *mac, .from = asker, .vlan = TAG };
	struct peer from = at(1), dest = at(to);
	unsigned before = sent_n;
	struct mac m;
	struct frame f;
	bool known;

	from.port = port;
	dest.port = 80;
	frame_parse(
	    &f, b, frame_make_tcp(b, sizeof(b), &head, &from, &dest, &s));
	known = tarpit_on_flow(&t, &f, now);
	if (sent_n == before)
		return false;
	ck_assert(known);
	m = frame_mac_to(&sent);
	ck_assert(mac_equal(&m, &asker));
	ck_assert_int_eq(sent.kind, FRAME_FLOW);
	ck_assert(frame_checksum_ok(&sent));
	ck_assert_uint_eq(sent.vlan, TAG);
	ck_assert_mem_eq(sent.to.ip, from.ip, 16);
	ck_assert_mem_eq(sent.from.ip, dest.ip, 16);
	ck_assert_uint_eq(sent.to.port, port);
	ck_assert_uint_eq(sent.from.port, 80);
	ck_assert_uint_eq(segment.window, 0);
	return true;
}

static bool
say(uint32_t to, struct segment s)
{
	return say_to(&own, to, 1234, s);
}

/* Begins at `first`; returns our first number. */
static uint32_t
open_from(uint32_t first)
{
	ck_assert(say(50, seg(FRAME_SYN, first, 0)));
	ck_assert_uint_eq(segment.flags, FRAME_SYN | FRAME_ACK);
	ck_assert_uint_eq(segment.ack, first + 1);
	return segment.seq;
}

static void
is_held(uint32_t first, uint32_t ours)
{
	ck_assert_uint_eq(segment.flags, FRAME_ACK);
	ck_assert_uint_eq(segment.seq, ours + 1);
	ck_assert_uint_eq(segment.ack, first + 1);
}

START_TEST(a_client_is_held)
{
	static const uint32_t firsts[] = { 0, 1000, UINT32_MAX, 0x80000000 };

	begin(_i);
	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++) {
		uint32_t first = firsts[i], ours = open_from(first);

		/* the same when it asks again */
		ck_assert_uint_eq(open_from(first), ours);
		ck_assert(say(50, seg(FRAME_ACK, first + 1, ours + 1)));
		is_held(first, ours);
		/* about the window: Linux; BSD, with a byte; all it has */
		now += UINT64_C(10) * 24 * 3600 * 1000;
		ck_assert(say(50, seg(FRAME_ACK, first, ours + 1)));
		is_held(first, ours);
		ck_assert(
		    say(50, seg(FRAME_ACK | FRAME_PSH, first + 1, ours + 1)));
		is_held(first, ours);
		ck_assert(say(50, seg(FRAME_ACK, first + 1460, ours + 1)));
		is_held(first, ours);
	}
	ck_assert_uint_eq(t.stats.syn, 8);
	ck_assert_uint_eq(t.stats.ack, 16);
	tarpit_fini(&t);
}
END_TEST

START_TEST(nothing_else_is_answered)
{
	static const uint8_t flags[] = { 0, FRAME_RST, FRAME_RST | FRAME_ACK,
		FRAME_FIN, FRAME_FIN | FRAME_ACK, FRAME_SYN | FRAME_ACK,
		FRAME_SYN | FRAME_RST, FRAME_SYN | FRAME_FIN };
	uint32_t ours;

	begin(_i);
	ours = open_from(1000);
	for (size_t i = 0; i < sizeof(flags); i++)
		ck_assert(!say(50, seg(flags[i], 1001, ours + 1)));
	/* not of this connection */
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours + 3)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours - 70000)));
	ck_assert(!say(50, seg(FRAME_ACK, 999, ours + 1)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001 + 70000, ours + 1)));
	ck_assert(!say(51, seg(FRAME_ACK, 1001, ours + 1)));
	ck_assert(!say_to(&own, 50, 1235, seg(FRAME_ACK, 1001, ours + 1)));
	/* not ours */
	ck_assert(!say(20, seg(FRAME_SYN, 1, 0)));
	ck_assert(!say_to(&other, 50, 1234, seg(FRAME_SYN, 1, 0)));
	ck_assert(!say_to(&mac_broadcast, 50, 1234, seg(FRAME_SYN, 1, 0)));
	ck_assert(say(50, seg(FRAME_ACK, 1001, ours + 1)));
	ck_assert_uint_eq(t.stats.syn + t.stats.ack, 2);
	ck_assert_uint_eq(sent_n, 2);
	tarpit_fini(&t);
}
END_TEST

START_TEST(what_is_in_use_is_left_alone)
{
	uint32_t ours;

	begin(_i);
	ours = open_from(1000);
	claim(50, false);
	ck_assert(!say(50, seg(FRAME_SYN, 1000, 0)));
	ck_assert(!say(50, seg(FRAME_ACK, 1001, ours + 1)));
	now += TARPIT_USED_MS;
	ck_assert(say(50, seg(FRAME_ACK, 1001, ours + 1)));
	tarpit_fini(&t);
}
END_TEST

/* Whoever sees the answer to one port cannot tell that to another. */
START_TEST(numbers_differ)
{
	enum { PORTS = 200 };
	uint32_t seen[PORTS];

	begin(_i);
	for (unsigned i = 0; i < PORTS; i++) {
		ck_assert(say_to(
		    &own, 50, (uint16_t)(5000 + i), seg(FRAME_SYN, 7, 0)));
		seen[i] = segment.seq;
		for (unsigned k = 0; k < i; k++)
			if (seen[k] == seen[i])
				ck_abort_msg("%u and %u", k, i);
	}
	tarpit_fini(&t);
}
END_TEST

START_TEST(no_more_than_the_rate)
{
	unsigned i;

	begin(_i);
	get(50);
	for (i = 0; i < TARPIT_BURST - 1; i++)
		if (!say(50, seg(FRAME_SYN, i, 0)))
			ck_abort_msg("%u", i);
	ck_assert(!say(50, seg(FRAME_SYN, i, 0)));
	ck_assert_uint_eq(ask(50), 0);
	ck_assert_uint_eq(t.stats.limited, 2);
	now += 500;
	for (i = 0; say(50, seg(FRAME_SYN, i, 0));)
		i++;
	ck_assert_uint_eq(i, TARPIT_RATE / 2);
	tarpit_fini(&t);
}
END_TEST

int
main(void)
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
	tcase_add_loop_test(c, a_client_is_held, 0, 2);
	tcase_add_loop_test(c, nothing_else_is_answered, 0, 2);
	tcase_add_loop_test(c, what_is_in_use_is_left_alone, 0, 2);
	tcase_add_loop_test(c, numbers_differ, 0, 2);
	tcase_add_loop_test(c, no_more_than_the_rate, 0, 2);
	suite_add_tcase(s, c);
	return suite_main(s);
}
