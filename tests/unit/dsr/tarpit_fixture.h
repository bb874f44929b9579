/* tarpit_fixture.h: a tarpit whose segment and clock are ours: who asks, who
 * answers, and the last frame it sent. Included once by each program. */
#ifndef PEN_TEST_TARPIT_FIXTURE_H
#define PEN_TEST_TARPIT_FIXTURE_H

#include <check.h>
#include <netinet/in.h>
#include <string.h>

#include "dsr/segment/tarpit.h"
#include "support/suite.h"

enum { TAG = 0x2005 };

static const unsigned families[] = { AF_INET, AF_INET6 };
static const struct mac own = { { 2, 0, 0, 0, 0, 0xee } },
			caller = { { 2, 1, 0, 0, 0, 1 } },
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
static struct tcp_segment segment;

/* 10.0.x.x, fd00::x. */
static inline struct peer
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
static inline bool
is_wanted(void *arg, const struct peer *ip)
{
	unsigned i = (unsigned)ip->ip[14] << 8 | ip->ip[15];

	ck_assert_ptr_eq(arg, &t);
	return i >= 40 && i < 10000;
}

static inline void
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

static inline void
begin(int i)
{
	family = families[i];
	now = 100000;
	sent_n = 0;
	options = (struct tarpit_options){
		.mac = own, .is_wanted = is_wanted, .send = on_send, .arg = &t
	};
	options.ip4 = options.ip6 = at(2);
	ck_assert_int_eq(tarpit_init(&t, &options), 0);
}

static inline void
hear(unsigned char *b, size_t length)
{
	struct frame f;
	struct who_has m;

	frame_parse(&f, b, length);
	ck_assert(f.kind == FRAME_ARP || f.kind == FRAME_NDP);
	if (who_has_read(&f, &m))
		tarpit_on_message(&t, &m, now);
}

/* `who` (0: without an address) at `mac` asks for `target`. Returns how many
 * frames that made. */
static inline unsigned
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

static inline unsigned
ask(uint32_t target)
{
	return ask_as(&caller, &mac_broadcast, 1, target);
}

/* The host with that address says so, as a reply to us or to all. */
static inline void
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
static inline bool
says_ours(uint32_t target)
{
	struct peer p = at(target);
	struct mac to = frame_mac_to(&sent), from = frame_mac_from(&sent);
	bool right = mac_equal(&to, &caller) && mac_equal(&from, &own) &&
	    sent.vlan == TAG;

	if (family == AF_INET)
		return right && sent.kind == FRAME_ARP && !arp.request &&
		    mac_equal(&arp.sender_mac, &own) &&
		    mac_equal(&arp.target_mac, &caller) &&
		    memcmp(arp.sender, p.ip + 12, 4) == 0;
	return right && sent.kind == FRAME_NDP && ndp.advertisement &&
	    ndp.solicited && !ndp.override && !ndp.router && ndp.has_mac &&
	    mac_equal(&ndp.mac, &own) && memcmp(ndp.target, p.ip, 16) == 0 &&
	    memcmp(ndp.from, p.ip, 16) == 0;
}

/* Whether it is our own request for it, to all. */
static inline bool
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
static inline void
get(uint32_t target)
{
	ask(target);
	now += 1000;
	ask(target);
	now += 1000;
	ck_assert_uint_eq(ask(target), 1);
	ck_assert(says_ours(target));
}

#endif
