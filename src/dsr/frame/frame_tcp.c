/* frame_tcp.c: segments without data, for probes and the tarpit. */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

enum { OPTION_MSS = 2, OPTION_SIZE = 4 };

bool
frame_read_tcp(const struct frame *f, struct tcp_segment *s)
{
	const unsigned char *p = f->bytes + f->transport;

	if (f->kind != FRAME_FLOW || f->protocol != IPPROTO_TCP)
		return false;
	memset(s, 0, sizeof(*s));
	s->seq = get32(p + 4);
	s->ack = get32(p + 8);
	s->flags = p[13];
	s->window = get16(p + 14);
	return true;
}

size_t
frame_make_tcp(unsigned char *out, size_t room, const struct frame_head *head,
    const struct peer *from, const struct peer *to, const struct tcp_segment *s)
{
	struct ip_fields ip = { .from = from,
		.to = to,
		.protocol = IPPROTO_TCP,
		.hops = FRAME_HOPS,
		.content = TCP_HEAD + (s->mss != 0 ? OPTION_SIZE : 0) };
	size_t at = make_start(out, room, head, &ip);
	unsigned char *p = out + at;

	if (at == 0)
		return 0;
	memset(p, 0, ip.content);
	put16(p, from->port);
	put16(p + 2, to->port);
	put32(p + 4, s->seq);
	put32(p + 8, s->ack);
	p[12] = (unsigned char)(ip.content / 4 << 4);
	p[13] = s->flags;
	put16(p + 14, s->window);
	if (s->mss != 0) {
		p[TCP_HEAD] = OPTION_MSS;
		p[TCP_HEAD + 1] = OPTION_SIZE;
		put16(p + TCP_HEAD + 2, s->mss);
	}
	put16(p + 16,
	    sum_end(sum_of(sum_pseudo(from->family, ip_of_peer(from),
			       ip_of_peer(to), IPPROTO_TCP, ip.content),
		p, ip.content)));
	return at + ip.content;
}
