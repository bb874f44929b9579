/* frame_mld.c: multicast listener discovery: queries, and reports of ours
 * (RFC 2710, 3810). */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

enum { MLD_QUERY = 130, MLD1_REPORT, MLD1_DONE, MLD2_REPORT = 143 };
enum { MLD1_SIZE = 24, MLD2_QUERY_SIZE = 28, MLD2_REPORT_SIZE = 28 };
/* A hop-by-hop header with a router alert: "this is MLD" (RFC 2711). */
enum { ALERT_SIZE = 8 };

static const unsigned char alert[ALERT_SIZE] = { IPPROTO_ICMPV6, 0, 5, 2, 0, 0,
	1, 0 };
static const uint8_t all_routers[16] = { 0xff, 2, [15] = 2 },
		     all_mld2_routers[16] = { 0xff, 2, [15] = 0x16 };

/* The option, wherever it is in the header. */
static bool
has_alert(const struct frame *f)
{
	const unsigned char *p = f->bytes + f->net + IP6_HEAD, *end;

	if (f->bytes[f->net + 6] != IPPROTO_HOPOPTS)
		return false;
	end = p + ((size_t)p[1] + 1) * 8;
	for (p += 2; end - p >= 4; p += p[0] == 0 ? 1 : p[1] + 2)
		if (memcmp(p, alert + 2, 4) == 0)
			return true;
	return false;
}

/* RFC 3810, 5.1.3: a number of milliseconds, or one with an exponent. */
static uint32_t
response_ms(unsigned code, bool v1)
{
	if (v1 || code < 0x8000)
		return code;
	return (uint32_t)((code & 0xfff) | 0x1000) << (((code >> 12) & 7) + 3);
}

bool
frame_read_mld_query(const struct frame *f, struct mld_query *q)
{
	const unsigned char *p = f->bytes + f->transport;
	size_t n;

	if (f->kind != FRAME_ICMP || f->family != AF_INET6 ||
	    p[0] != MLD_QUERY || f->first_fragment)
		return false;
	n = f->net + f->packet - f->transport;
	if ((n != MLD1_SIZE && n < MLD2_QUERY_SIZE) ||
	    f->bytes[f->net + 7] != 1 || f->from.ip[0] != 0xfe ||
	    (f->from.ip[1] & 0xc0) != 0x80 || !has_alert(f) ||
	    !frame_checksum_ok(f))
		return false;
	q->v1 = n == MLD1_SIZE;
	q->delay_ms = response_ms(get16(p + 4), q->v1);
	memcpy(q->group, p + 8, sizeof(q->group));
	return true;
}

static void
make_mld1(unsigned char *p, const struct mld_report *r)
{
	p[0] = r->state == MLD_LEAVE ? MLD1_DONE : MLD1_REPORT;
	memcpy(p + 8, r->group, 16);
}

/* Makes a report of version 2 with one record, without sources. */
static void
make_mld2(unsigned char *p, const struct mld_report *r)
{
	p[0] = MLD2_REPORT;
	p[7] = 1;
	p[8] = (unsigned char)r->state;
	memcpy(p + 12, r->group, 16);
}

size_t
frame_make_mld_report(unsigned char *out, size_t room,
    const struct frame_head *head, const struct mld_report *r)
{
	size_t size = r->v1 ? MLD1_SIZE : MLD2_REPORT_SIZE, at;
	const uint8_t *group = !r->v1	? all_mld2_routers
	    : r->state == MLD_LEAVE	? all_routers
					: r->group;
	struct frame_head real = *head;
	struct peer from, to;
	unsigned char *p;
	struct ip_fields ip = { .from = &from,
		.to = &to,
		.protocol = IPPROTO_HOPOPTS,
		.hops = 1,
		.content = ALERT_SIZE + size };

	peer_of_ip(&from, AF_INET6, r->from);
	peer_of_ip(&to, AF_INET6, group);
	mac_of_group(&real.to, group);
	at = make_start(out, room, &real, &ip);
	if (at == 0)
		return 0;
	memcpy(out + at, alert, ALERT_SIZE);
	p = out + at + ALERT_SIZE;
	memset(p, 0, size);
	if (r->v1)
		make_mld1(p, r);
	else
		make_mld2(p, r);
	put16(p + 2,
	    sum_end(sum_of(sum_icmp(AF_INET6, r->from, group, size), p, size)));
	return at + ALERT_SIZE + size;
}
