/* frame.c: frames of strangers, against a reader of another kind
 * (support/framemodel.h); and what is made of them: answers, tunnels,
 * fragments, errors, which must be right themselves. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/frame/frame.h"
#include "fuzz/fuzz.h"
#include "support/framemodel.h"

static const struct peer ends[2] = {
	{ .ip = { [10] = 0xff, 0xff, 192, 0, 2, 1 }, .family = AF_INET },
	{ .ip = { 0x20, 1, 0xd, 0xb8, [15] = 1 }, .family = AF_INET6 }
};

static bool
same(const struct frame *a, const struct frame *b)
{
	if (a->kind != b->kind || a->kind == FRAME_BAD)
		return a->kind == b->kind && strcmp(a->wrong, b->wrong) == 0;
	return a->wrong == NULL && b->wrong == NULL && a->vlan == b->vlan &&
	    a->net == b->net && a->transport == b->transport &&
	    a->packet == b->packet && a->family == b->family &&
	    a->protocol == b->protocol && a->tcp_flags == b->tcp_flags &&
	    a->first_fragment == b->first_fragment &&
	    a->fragment_id == b->fragment_id &&
	    memcmp(&a->from, &b->from, sizeof(a->from)) == 0 &&
	    memcmp(&a->to, &b->to, sizeof(a->to)) == 0;
}

/* What was made is a frame, of the same segment; 0: it may not be made. */
static struct frame
check_made(const struct frame *f, unsigned char *out, size_t n)
{
	struct frame made = { .kind = FRAME_OTHER }, model;

	if (n == 0)
		return made;
	frame_parse(&made, out, n);
	framemodel_parse(&model, out, n);
	FUZZ_MUST(same(&made, &model));
	FUZZ_MUST(made.kind != FRAME_BAD && made.vlan == f->vlan);
	return made;
}

static bool
is_group(const struct peer *p)
{
	struct addr a;

	addr_from_peer(&a, p);
	return addr_is_group(&a);
}

/* The report that answers a query is no query. */
static void
check_groups(const struct frame *f, unsigned char *out, size_t room)
{
	struct frame_head head = frame_answer_head(f);
	struct mld_report r = { .state = MLD_JOIN };
	struct mld_query q;
	struct frame made;

	if (!frame_read_mld_query(f, &q))
		return;
	FUZZ_MUST(is_group(&f->to) || f->to.family == AF_INET6);
	FUZZ_MUST(q.delay_ms <= 0x1fff << 10);
	memcpy(r.group, q.group, 16);
	r.v1 = q.v1;
	r.group[0] = 0xff;
	made = check_made(f, out, frame_make_mld_report(out, room, &head, &r));
	FUZZ_MUST(made.kind == FRAME_ICMP && frame_checksum_ok(&made) &&
	    !frame_read_mld_query(&made, &q));
}

static void
check_segment(const struct frame *f, unsigned char *out, size_t room)
{
	struct frame_head head = frame_answer_head(f);
	struct tcp_segment s;
	struct frame made;
	struct arp arp, arp2;
	struct ndp ndp, ndp2;

	if (frame_read_arp(f, &arp)) {
		made =
		    check_made(f, out, frame_make_arp(out, room, &head, &arp));
		FUZZ_MUST(frame_read_arp(&made, &arp2) &&
		    memcmp(&arp, &arp2, sizeof(arp)) == 0);
	}
	if (frame_read_ndp(f, &ndp)) {
		made =
		    check_made(f, out, frame_make_ndp(out, room, &head, &ndp));
		FUZZ_MUST(frame_read_ndp(&made, &ndp2) &&
		    memcmp(ndp.target, ndp2.target, 16) == 0 &&
		    ndp.advertisement == ndp2.advertisement &&
		    ndp.has_mac == ndp2.has_mac);
	}
	check_groups(f, out, room);
	if (!is_group(&f->to) && frame_read_tcp(f, &s))
		(void)check_made(f, out,
		    frame_make_tcp(out, room, &head, &f->to, &f->from, &s));
}

static void
check_packet(
    const struct frame *f, unsigned char *out, size_t room, unsigned mtu)
{
	bool outer6 = mtu & 1;
	struct tunnel t = { .from = ends[outer6], .to = ends[outer6] };
	struct frame_head head = frame_answer_head(f);
	struct tunnel_error e;
	struct frame made;
	size_t n;

	(void)frame_read_tunnel_error(f, &e);
	made = check_made(f, out, frame_make_too_big(out, room, f, NULL, mtu));
	FUZZ_MUST(made.kind == FRAME_OTHER || frame_checksum_ok(&made));
	n = frame_make_tunnel(out, room, &head, f, &t);
	made = check_made(f, out, n);
	FUZZ_MUST(n == 0 ||
	    made.packet == f->packet + frame_tunnel_adds(t.from.family));
}

static void
check_fragments(const struct frame *f, unsigned char *out, unsigned mtu)
{
	size_t done = 0, before = 0, n, room = f->length + 64;

	while ((n = frame_fragment(out, room, f, mtu, 7, &done)) > 0) {
		FUZZ_MUST(done > before && done <= f->packet);
		FUZZ_MUST(n - f->net <= mtu);
		before = done;
	}
}

FUZZ(frame)
{
	unsigned mtu = (unsigned)fuzz_byte(&data, &size) * 8 + 1;
	unsigned char *bytes = fuzz_copy(data, size), *out;
	size_t room = size + FRAME_MADE_MAX + 64;
	struct frame f, model;

	frame_parse(&f, bytes, size);
	framemodel_parse(&model, bytes, size);
	FUZZ_MUST(same(&f, &model));
	FUZZ_MUST(frame_checksum_ok(&f) == framemodel_checksum_ok(&f));
	out = malloc(room);
	FUZZ_MUST(out != NULL);
	if (f.kind != FRAME_BAD) {
		check_segment(&f, out, room);
		check_packet(&f, out, room, mtu);
		if (frame_may_fragment(&f))
			check_fragments(&f, out, mtu);
	}
	FUZZ_MUST(memcmp(bytes, data, size) == 0);
	free(out);
	free(bytes);
	return 0;
}
