/* framegen_corrupt.c: what becomes of a frame on the way, or by somebody's
 * will: any byte may be another one, and the end may be missing. */
#include "config.h"

#include <string.h>

#include "support/framegen_private.h"

/* Spoiled headers are read on only when their sum is right again. */
static void
sum_again(struct framegen_frame *m)
{
	const unsigned char *p = m->bytes + m->net;
	size_t head;

	if (m->length < m->net + IP4 || p[-2] != 8 || p[-1] != 0)
		return;
	head = (size_t)(p[0] & 15) * 4;
	if (head >= IP4 && m->net + head <= m->length)
		sum_header(m);
}

/* A group, or the address of an IPv4 client in IPv6. */
static void
corrupt_sender(struct framegen *g, struct framegen_frame *m)
{
	unsigned char *p = m->bytes + m->net + (m->v6 ? 8 : 12);

	if (m->is.kind == FRAME_ARP)
		return;
	memset(
	    p, !m->v6 || framegen_below(g, 2) == 0 ? 0xff : 0, m->v6 ? 10 : 4);
	if (m->v6)
		p[10] = p[11] = 0xff;
	else if (framegen_below(g, 2) == 0)
		p[0] = 0xe0;
}

static void
cut(struct framegen *g, struct framegen_frame *m)
{
	m->length = framegen_below(g, (uint32_t)m->length);
}

static void
cut_and_say_so(struct framegen *g, struct framegen_frame *m)
{
	cut(g, m);
	if (m->length >= m->net + IP6)
		set16(m->bytes + m->net + (m->v6 ? 4 : 2),
		    (unsigned)(m->length - m->net - (m->v6 ? IP6 : 0)));
}

static void
corrupt_word(struct framegen *g, struct framegen_frame *m)
{
	static const unsigned char words[] = { 2, 4, 6, 16, 18, 20, 22, 40, 42,
		44, 46 };
	size_t at = m->net + words[framegen_below(g, sizeof(words))];

	if (at + 2 <= m->length)
		set16(m->bytes + at,
		    framegen_below(g, framegen_below(g, 2) == 0 ? 64 : 65536));
}

static void
corrupt_bytes(struct framegen *g, struct framegen_frame *m)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		m->bytes[framegen_below(g, (uint32_t)m->length)] =
		    (unsigned char)framegen_below(g, 256);
}

static void
corrupt_byte(struct framegen *g, struct framegen_frame *m)
{
	size_t head = m->net + 64 < m->length ? m->net + 64 : m->length;
	unsigned char *p = m->bytes +
	    framegen_below(
		g, (uint32_t)(framegen_below(g, 2) == 0 ? m->length : head));

	if (framegen_below(g, 2) == 0)
		*p ^= (unsigned char)(1 << framegen_below(g, 8));
	else
		*p = (unsigned char)framegen_below(g, 64);
}

const char *
framegen_corrupt(struct framegen *g, struct framegen_frame *m)
{
	static const struct {
		const char *name;
		void (*corrupt)(struct framegen *g, struct framegen_frame *m);
	} ways[] = { { "cut", cut }, { "cut, and says so", cut_and_say_so },
		{ "a word", corrupt_word }, { "some bytes", corrupt_bytes },
		{ "the sender", corrupt_sender }, { "a byte", corrupt_byte },
		{ "a byte", corrupt_byte } };
	unsigned way = framegen_below(g, sizeof(ways) / sizeof(ways[0]));

	ways[way].corrupt(g, m);
	if (framegen_below(g, 4) != 0)
		sum_again(m);
	return ways[way].name;
}
