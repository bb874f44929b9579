/* segment.h: an Ethernet segment for tests of neighbours: what is sent is kept,
 * hosts answer it when segment_pump() is called, and the clock is ours.
 * Included once by each program. */
#ifndef PEN_TEST_SEGMENT_H
#define PEN_TEST_SEGMENT_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/segment/neighbor.h"
#include "support/suite.h"

enum { HOSTS = 1000, SENT = 4096 };

struct host {
	struct peer ip;
	struct mac mac;
	bool up;
	bool deaf;	     /* to what is sent to it alone */
	unsigned alone, all; /* requests it was asked */
};

struct sent {
	unsigned char bytes[128];
	size_t length;
};

static struct neighbors n;
static struct neighbors_options options;
static uint64_t now;
static struct host hosts[HOSTS];
static size_t hosts_n;
static struct sent sent[SENT];
static size_t sent_n;
/* What was reported. */
static unsigned ups, downs, conflicts;
static struct neighbor *last;
static struct mac last_mac;
static bool defend;

static const struct mac own = { { 2, 0, 0, 0, 0, 0xee } },
			thief = { { 2, 0x66, 0x66, 0, 0, 1 } };

static inline struct peer
ip_of(unsigned family, uint32_t i)
{
	struct peer p = { .family = (uint16_t)family };

	p.ip[family == AF_INET ? 12 : 0] = family == AF_INET ? 10 : 0xfd;
	if (family == AF_INET)
		memset(p.ip + 10, 0xff, 2);
	p.ip[13] = (uint8_t)(i >> 16);
	p.ip[14] = (uint8_t)(i >> 8);
	p.ip[15] = (uint8_t)i;
	return p;
}

static inline struct mac
mac_of(uint32_t i)
{
	return (struct mac){ { 2, 1, 0, (uint8_t)(i >> 16), (uint8_t)(i >> 8),
	    (uint8_t)i } };
}

static inline void
on_send(void *arg, const unsigned char *bytes, size_t length)
{
	ck_assert_ptr_eq(arg, &n);
	if (sent_n == SENT || length > sizeof(sent->bytes))
		ck_abort_msg("%zu frames, %zu bytes", sent_n, length);
	memcpy(sent[sent_n].bytes, bytes, length);
	sent[sent_n++].length = length;
}

static inline void
on_change(void *arg, struct neighbor *w, bool reachable)
{
	(void)arg;
	ups += reachable;
	downs += !reachable;
	last = w;
}

static inline bool
on_conflict(void *arg, const struct peer *vip, const struct mac *who)
{
	(void)arg;
	(void)vip;
	conflicts++;
	last_mac = *who;
	return defend;
}

static inline void
segment_open(void)
{
	hosts_n = sent_n = 0;
	ups = downs = conflicts = 0;
	last = NULL;
	defend = false;
	now = 100000;
	options.mac = own;
	options.send = on_send;
	options.on_change = on_change;
	options.on_conflict = on_conflict;
	options.arg = &n;
	ck_assert_int_eq(neighbors_init(&n, &options, now), 0);
}

static inline void
segment_close(void)
{
	neighbors_fini(&n);
	options = (struct neighbors_options){ .vlan = 0 };
}

static inline struct host *
host_add(struct peer ip, struct mac mac)
{
	struct host *h = &hosts[hosts_n++];

	*h = (struct host){ .ip = ip, .mac = mac, .up = true };
	return h;
}

static inline void
deliver(unsigned char *bytes, size_t length)
{
	struct frame f;
	struct who_has m;

	frame_parse(&f, bytes, length);
	if (who_has_read(&f, &m))
		neighbors_on_message(&n, &m, now);
	else
		ck_abort_msg("no such frame: kind %d, %s", (int)f.kind,
		    f.wrong != NULL ? f.wrong : "");
}

/* `who` at `mac` says to `to` that it has its address. */
static inline void
say_arp(const struct mac *to, const struct mac *mac, const struct peer *who,
    const struct peer *target, bool request)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = *to, .from = *mac, .vlan = options.vlan
	};
	struct arp a = { .sender_mac = *mac, .request = request };

	if (who != NULL)
		memcpy(a.sender, who->ip + 12, 4);
	memcpy(a.target, target->ip + 12, 4);
	deliver(bytes, frame_make_arp(bytes, sizeof(bytes), &head, &a));
}

static inline void
say_ndp(const struct mac *to, const struct mac *mac, struct ndp d)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct frame_head head = {
		.to = *to, .from = *mac, .vlan = options.vlan
	};

	deliver(bytes, frame_make_ndp(bytes, sizeof(bytes), &head, &d));
}

/* An advertisement; solicited: to the address that asked. */
static inline struct ndp
advert(const struct peer *who, const struct mac *mac, bool solicited)
{
	struct ndp d = { .advertisement = true,
		.solicited = solicited,
		.override = true,
		.has_mac = true,
		.mac = *mac };

	memcpy(d.from, who->ip, 16);
	memcpy(d.target, who->ip, 16);
	memcpy(d.to, solicited ? n.own6.ip : ndp_all_nodes, 16);
	return d;
}

/* `mac` claims who's address: to us alone, as if we had asked, or to all. */
static inline void
claim(const struct peer *who, const struct mac *mac, bool to_us)
{
	struct peer target = to_us ? options.ip4 : *who;

	if (who->family == AF_INET)
		say_arp(
		    to_us ? &own : &mac_broadcast, mac, who, &target, !to_us);
	else
		say_ndp(&own, mac, advert(who, mac, to_us));
}

/* The request in a frame of ours: whom it asks for, how. */
static inline bool
read_question(const struct sent *s, struct peer *target, bool *alone)
{
	struct frame f;
	struct arp a;
	struct ndp d;
	struct mac to;

	frame_parse(&f, (unsigned char *)(uintptr_t)s->bytes, s->length);
	to = frame_mac_to(&f);
	*alone = mac_is_station(&to);
	*target = (struct peer){ .family = f.family };
	if (frame_read_arp(&f, &a) && a.request &&
	    memcmp(a.sender, a.target, 4) != 0) {
		target->family = AF_INET;
		memset(target->ip + 10, 0xff, 2);
		memcpy(target->ip + 12, a.target, 4);
		return true;
	}
	if (!frame_read_ndp(&f, &d) || d.advertisement)
		return false;
	memcpy(target->ip, d.target, 16);
	return true;
}

static inline void
host_hear(struct host *h, bool alone)
{
	h->alone += alone;
	h->all += !alone;
	if (h->up && !(alone && h->deaf))
		claim(&h->ip, &h->mac, true);
}

/* Hosts answer what was sent since the last time. Returns how many requests it
 * were. */
static inline unsigned
segment_pump(void)
{
	struct peer target;
	unsigned requests = 0;
	size_t i, k;
	bool alone;

	for (i = 0; i < sent_n; i++) {
		if (!read_question(&sent[i], &target, &alone))
			continue;
		requests++;
		for (k = 0; k < hosts_n; k++)
			if (peer_same_host(&hosts[k].ip, &target))
				host_hear(&hosts[k], alone);
	}
	sent_n = 0;
	return requests;
}

/* Lets time pass; hosts answer. */
static inline unsigned
segment_run(uint64_t ms)
{
	uint64_t end = now + ms;
	unsigned requests = 0;

	for (;;) {
		neighbors_tick(&n, now);
		requests += segment_pump();
		if (now == end)
			return requests;
		now++;
	}
}

#endif
