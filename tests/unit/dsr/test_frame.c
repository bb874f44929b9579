/* test_frame.c: what each kind of frame is, cut at any place, with one thing
 * wrong. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsr/frame/frame.h"
#include "support/framemodel.h"
#include "support/suite.h"
#include "unit/dsr/samples.h"

enum { ROOM = SAMPLE_MAX + 4, TAG = 0x6123 };

static void
check_peer(const char *name, const struct peer *p, const char *want)
{
	char text[PEER_TEXT_MAX];

	if (want == NULL)
		ck_assert_msg(p->family == 0, "%s: somebody", name);
	else if (strcmp(peer_format(p, text), want) != 0)
		ck_abort_msg("%s: %s is not %s", name, text, want);
}

static void
check_sample(const struct sample *s, bool tagged)
{
	unsigned char bytes[ROOM], *copy;
	size_t n = sample_bytes(s, bytes), more = tagged ? 4 : 0;
	struct frame f;

	if (tagged)
		n = put_tag(bytes, n, TAG);
	copy = malloc(n); /* ends where the frame does */
	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, n);
	frame_parse(&f, copy, n);
	ck_assert_msg(f.kind == s->kind, "%s: kind %d %s", s->name, (int)f.kind,
	    f.wrong == NULL ? "" : f.wrong);
	ck_assert_msg(f.wrong == NULL, "%s", s->name);
	ck_assert_uint_eq(f.net, FRAME_HEAD + more);
	ck_assert_uint_eq(f.vlan, tagged ? TAG : 0);
	ck_assert_msg(f.packet == s->packet, "%s: packet", s->name);
	if (s->packet != 0)
		ck_assert_msg(f.transport == s->transport + more,
		    "%s: transport %u", s->name, f.transport);
	ck_assert_msg(f.protocol == s->protocol, "%s: protocol", s->name);
	ck_assert_msg(f.tcp_flags == s->tcp_flags, "%s: flags", s->name);
	ck_assert_msg(f.first_fragment == s->first_fragment, "%s", s->name);
	ck_assert_msg(f.fragment_id == s->fragment_id, "%s: id", s->name);
	ck_assert_msg(
	    frame_checksum_ok(&f) == s->sum_ok, "%s: checksum", s->name);
	ck_assert_msg(f.family == f.from.family, "%s: family", s->name);
	check_peer(s->name, &f.from, s->from);
	check_peer(s->name, &f.to, s->to);
	ck_assert_ptr_eq(f.bytes, copy);
	ck_assert_mem_eq(copy, bytes, n);
	free(copy);
}

START_TEST(kinds)
{
	size_t i;

	ck_assert_uint_ge(samples_n, 50);
	for (i = 0; i < samples_n; i++) {
		check_sample(&samples[i], false);
		if (strcmp(samples[i].name, "two tags") != 0)
			check_sample(&samples[i], true);
	}
}
END_TEST

/* A tag behind a tag is not looked behind. */
START_TEST(tags)
{
	unsigned char bytes[ROOM + 4];
	size_t n = sample_bytes(sample_named("udp"), bytes);
	struct frame f;

	n = put_tag(bytes, n, 0);
	frame_parse(&f, bytes, n);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert_uint_eq(f.vlan, 0);
	ck_assert_uint_eq(f.net, FRAME_HEAD_MAX);
	n = put_tag(bytes, n, TAG);
	frame_parse(&f, bytes, n);
	ck_assert_int_eq(f.kind, FRAME_OTHER);
	ck_assert_uint_eq(f.vlan, TAG);
}
END_TEST

/* Cut at `n`: memory ends there, so that sanitizers see who reads on. */
static void
check_cut(
    const struct sample *s, const unsigned char *bytes, size_t n, size_t needed)
{
	unsigned char *copy = malloc(n == 0 ? 1 : n), out[FRAME_MADE_MAX];
	struct frame f, model;
	struct ndp ndp;
	struct arp arp;
	bool bad;

	if (copy == NULL)
		ck_abort_msg("no memory");
	memcpy(copy, bytes, n);
	frame_parse(&f, copy, n);
	framemodel_parse(&model, copy, n);
	bad = f.kind == FRAME_BAD;
	if (bad != (n < needed) || f.kind != model.kind)
		ck_abort_msg("%s: kind %d at %zu", s->name, (int)f.kind, n);
	if (bad && strcmp(f.wrong, model.wrong) != 0)
		ck_abort_msg("%s: %s at %zu", s->name, f.wrong, n);
	if (frame_checksum_ok(&f) != (!bad && s->sum_ok))
		ck_abort_msg("%s: checksum at %zu", s->name, n);
	(void)frame_read_ndp(&f, &ndp);
	(void)frame_read_arp(&f, &arp);
	(void)frame_make_too_big(out, sizeof(out), &f, NULL, 1280);
	free(copy);
}

START_TEST(cut_anywhere)
{
	size_t i, n, cut, needed;
	unsigned char bytes[ROOM];
	int tagged;

	for (i = 0; i < samples_n; i++)
		for (tagged = 0; tagged < 2; tagged++) {
			n = sample_bytes(&samples[i], bytes);
			needed = FRAME_HEAD + samples[i].packet;
			if (samples[i].kind == FRAME_ARP)
				needed = n;
			if (tagged) {
				n = put_tag(bytes, n, TAG);
				needed += 4;
			}
			for (cut = 0; cut <= n; cut++)
				check_cut(&samples[i], bytes, cut, needed);
		}
}
END_TEST

/* One thing that is wrong: bytes of a sample replaced. */
struct corrupted {
	const char *sample;
	size_t at;
	const char *hex;
	const char *wrong; /* NULL: FRAME_OTHER */
};

static const struct corrupted corrupted[] = {
	{ "udp", 14, "55", "header" }, /* version 5 */
	{ "udp", 14, "44", "header" }, /* four words */
	{ "udp", 14, "4f", "header" }, /* more than there are */
	{ "udp", 16, "0022", "length" },
	{ "udp", 16, "0013", "length" },
	{ "udp", 24, "0000", "checksum" },
	{ "udp", 26, "e0000001", "address" },
	{ "udp", 26, "ffffffff", "address" },
	{ "udp", 38, "0007", "transport" },
	{ "udp", 38, "000e", "transport" },
	{ "udp, first fragment", 38, "0007", "transport" },
	{ "udp, a middle fragment", 16, "0014", "fragment" }, /* empty */
	{ "udp, a middle fragment", 16, "0023",
	    "fragment" }, /* not of eights */
	{ "tcp, the last fragment", 20, "0001", "fragment" }, /* over flags */
	{ "tcp, the last fragment", 20, "1fff", "fragment" }, /* too far */
	{ "tcp, the last fragment", 20, "0002", "" },
	{ "tcp, the last fragment", 16, "001712341ffd", "" }, /* 65535 */
	{ "tcp, the last fragment", 16, "001812341ffd", "fragment" },
	{ "tcp, first fragment", 16, "0024", "fragment" }, /* half a header */
	{ "syn", 46, "40", "transport" },
	{ "syn", 46, "b0", "transport" },
	{ "tcp behind options", 36, "4400", "header" },
	{ "tcp behind options", 36, "4401", "header" },
	{ "tcp behind options", 36, "440f", "header" },
	{ "tcp behind options", 48, "0144", "header" },
	{ "tcp behind options", 36, "8307", "routing" },
	{ "tcp behind options", 36, "890c", "routing" },
	{ "tcp behind options", 48, "4402", "" }, /* to the last byte */
	{ "tcp behind ah", 35, "00", "header" },
	{ "tcp behind ah", 35, "ff", "header" },
	{ "syn6", 14, "4000", "header" },
	{ "syn6", 18, "0029", "length" },
	{ "syn6", 18, "0027", "transport" },
	{ "syn6", 22, "00000000000000000000ffff01020304", "address" },
	{ "syn6", 38, "00000000000000000000ffff01020304", "address" },
	{ "syn6", 22, "ff02", "address" },
	{ "tcp6 behind all", 54, "00", "header" }, /* hop by hop, not first */
	{ "tcp6 behind all, turned", 81, "01", "routing" },
	{ "tcp6 behind eight", 166, "3c", "header" }, /* the ninth */
	{ "tcp6 in one fragment", 54, "2c", "fragment" },
	{ "tcp6 in one fragment", 56, "0001", "fragment" },
	{ "tcp6 in one fragment", 55, "ff", "" }, /* reserved: fine */
	{ "udp6, a middle fragment", 64, "fff9", "fragment" },
	{ "udp6, first fragment", 18, "0018", "header" }, /* chain is cut */
	{ "tcp6, the last fragment", 56, "0008", "fragment" },
	{ "tcp6, the last fragment", 56, "fff8", "" },
	{ "solicitation", 21, "fe", "hops" },
	{ "port unreachable", 42, "65", "quote" },
	{ "port unreachable", 42, "44", "quote" },
	{ "port unreachable", 54, "c0000202", "quote" }, /* not from the VIP */
	{ "port unreachable6", 62, "40", "quote" },
	{ "port unreachable6", 70, "20010db9", "quote" },
	{ "time exceeded6", 103, "ff", "quote" },
	{ "port unreachable", 42, "4f", "quote" },
	{ "quote of four bytes", 16, "0033", "quote" },
	{ "arp request", 18, "08", "arp" },
	{ "arp request", 19, "06", "arp" },
	{ "arp request", 15, "06", NULL },
	{ "arp request", 20, "0003", NULL },
	{ "arp request", 16, "86dd", NULL },
	{ "arp request", 12, "8035", NULL },
};

START_TEST(wrong)
{
	size_t i, n;
	unsigned char bytes[ROOM];
	struct frame f;

	for (i = 0; i < sizeof(corrupted) / sizeof(*corrupted); i++) {
		const struct corrupted *s = &corrupted[i];
		const char *is;

		n = sample_bytes(sample_named(s->sample), bytes);
		unhex(bytes + s->at, n - s->at, s->hex);
		if (s->wrong == NULL || strcmp(s->wrong, "checksum") != 0)
			heal_ip4(bytes, n);
		frame_parse(&f, bytes, n);
		is = f.wrong == NULL ? "" : f.wrong;
		if (s->wrong == NULL)
			ck_assert_msg(f.kind == FRAME_OTHER, "%s %zu: %d %s",
			    s->sample, s->at, (int)f.kind, is);
		else
			ck_assert_msg(strcmp(is, s->wrong) == 0,
			    "%s %zu %s: %d %s", s->sample, s->at, s->hex,
			    (int)f.kind, is);
	}
}
END_TEST

/* Whatever byte of what it covers is another one, the sum is wrong. */
static void
check_covered(const char *name, size_t at, size_t n)
{
	unsigned char bytes[ROOM];
	size_t all = sample_bytes(sample_named(name), bytes), i;
	struct frame f;

	for (i = at; i < at + n; i++) {
		bytes[i] ^= 0x10;
		heal_ip4(bytes, all);
		frame_parse(&f, bytes, all);
		if (f.kind != FRAME_BAD && frame_checksum_ok(&f))
			ck_abort_msg("%s: byte %zu does not count", name, i);
		bytes[i] ^= 0x10;
	}
	heal_ip4(bytes, all);
	frame_parse(&f, bytes, all);
	ck_assert_msg(frame_checksum_ok(&f), "%s", name);
}

START_TEST(checksums)
{
	unsigned char bytes[ROOM];
	size_t n = sample_bytes(sample_named("udp"), bytes);
	struct frame f;

	check_covered("udp", 26, 21);
	check_covered("syn", 26, 48);
	check_covered("udp6", 22, 45);
	check_covered("syn6", 22, 72);
	check_covered("echo", 34, 12);
	check_covered("echo6", 22, 44);
	check_covered("solicitation", 22, 64);
	check_covered("port unreachable", 34, 42);
	/* without one, and with bytes behind UDP */
	bytes[40] = bytes[41] = 0;
	frame_parse(&f, bytes, n);
	ck_assert(frame_checksum_ok(&f));
	n = sample_bytes(sample_named("udp6"), bytes);
	bytes[60] = bytes[61] = 0;
	frame_parse(&f, bytes, n);
	ck_assert_int_eq(f.kind, FRAME_FLOW);
	ck_assert(!frame_checksum_ok(&f));
}
END_TEST

static void
check_mac(const char *text, const char *want)
{
	struct mac m = { { 9, 9, 9, 9, 9, 9 } }, old = m;
	char is[MAC_TEXT_MAX];

	if (want == NULL) {
		ck_assert_msg(mac_parse(&m, text) == -1, "%s", text);
		ck_assert(mac_equal(&m, &old));
	} else {
		ck_assert_msg(mac_parse(&m, text) == 0, "%s", text);
		ck_assert_str_eq(mac_format(&m, is), want);
	}
}

START_TEST(macs)
{
	unsigned char bytes[ROOM], before[ROOM];
	const struct mac one = { { 2, 4, 6, 8, 10, 12 } },
			 zero = { { 0, 0, 0, 0, 0, 0 } };
	size_t n = sample_bytes(sample_named("udp"), bytes);
	struct frame_head head;
	struct frame f;
	struct mac m;

	check_mac("02:00:5e:10:00:01", "02:00:5e:10:00:01");
	check_mac("2-0-5E-AF-0-fF", "02:00:5e:af:00:ff");
	check_mac("02:00:5e:10:00:1", "02:00:5e:10:00:01");
	check_mac("02:00:5e:10:00", NULL);
	check_mac("02:00:5e:10:00:", NULL);
	check_mac("02:00:5e:10:00:01:", NULL);
	check_mac("02:00:5e:10:00:011", NULL);
	check_mac("02005e100001", NULL);
	check_mac("02x00:5e:10:00:01", NULL);
	check_mac("02:00:5e:10:00:0g", NULL);
	check_mac("02::5e:10:00:01", NULL);
	check_mac("", NULL);
	ck_assert(mac_is_station(&one));
	ck_assert(!mac_is_station(&zero));
	ck_assert(!mac_is_station(&mac_broadcast));
	mac_of_group(&m, ndp_all_nodes);
	ck_assert_mem_eq(m.byte, "\x33\x33\0\0\0\1", 6);
	ck_assert(!mac_is_station(&m));

	memcpy(before, bytes, n);
	frame_parse(&f, bytes, n);
	frame_set_macs(&f, &one, &mac_broadcast);
	m = frame_mac_to(&f);
	ck_assert(mac_equal(&m, &one));
	m = frame_mac_from(&f);
	ck_assert(mac_equal(&m, &mac_broadcast));
	head = frame_answer_head(&f);
	ck_assert(mac_equal(&head.from, &one));
	ck_assert(mac_equal(&head.to, &mac_broadcast));
	ck_assert_mem_eq(bytes + 12, before + 12, n - 12);
}
END_TEST

SUITE(test_frame)
{
	Suite *s = suite_create("frame");

	SUITE_ADD(s, kinds, 10);
	SUITE_ADD(s, tags, 10);
	SUITE_ADD(s, cut_anywhere, 60);
	SUITE_ADD(s, wrong, 10);
	SUITE_ADD(s, checksums, 10);
	SUITE_ADD(s, macs, 10);
	return s;
}
