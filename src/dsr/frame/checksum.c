/* checksum.c: completes checksums that were left to do.
 *
 * Of most frames only the type, the protocol and the field are read. Sums of
 * RFC 1071 do not depend on the order of bytes, so that no word is swapped. */
#include "config.h"

#include <netinet/in.h>
#include <string.h>

#include "dsr/frame/checksum.h"
#include "dsr/frame/frame_bytes.h"

struct summed {
	unsigned char *from; /* TCP or UDP header */
	size_t length;	     /* of it and what is behind */
	size_t field;	     /* in it */
	uint64_t pseudo;     /* sum, as it stands in memory */
};

static uint64_t
sum_words(const unsigned char *p, unsigned n)
{
	uint64_t sum = 0;
	uint32_t word;

	for (; n > 0; n--, p += 4) {
		memcpy(&word, p, 4);
		sum += word;
	}
	return sum;
}

/* Finds the checksum of TCP or UDP, if the header and the length that it names
 * are within the packet. */
static bool
checksum_find_field(struct summed *s, unsigned protocol)
{
	if (protocol == IPPROTO_UDP && s->length >= UDP_HEAD) {
		size_t n = get16(s->from + 4);

		s->field = 6;
		if (n < UDP_HEAD || n > s->length)
			return false;
		s->length = n;
	} else if (protocol == IPPROTO_TCP && s->length >= TCP_HEAD)
		s->field = 16;
	else
		return false;
	s->pseudo += htons((uint16_t)s->length);
	s->pseudo += htons((uint16_t)protocol);
	return true;
}

static bool
find4(struct summed *s, unsigned char *ip, size_t n)
{
	size_t head = (size_t)(ip[0] & 0xf) * 4, all = get16(ip + 2);

	if (n < IP4_HEAD || head < IP4_HEAD || head > all || all > n ||
	    (get16(ip + 6) & (IP4_MORE | IP4_OFFSET)) != 0)
		return false;
	s->from = ip + head;
	s->length = all - head;
	s->pseudo = sum_words(ip + 12, 2);
	return checksum_find_field(s, ip[9]);
}

/* After extension headers: those are frame_parse()'s to follow. */
static bool
find6_behind(struct summed *s, unsigned char *bytes, size_t length)
{
	struct frame f;

	frame_parse(&f, bytes, length);
	if (f.kind != FRAME_FLOW || f.first_fragment)
		return false;
	s->from = bytes + f.transport;
	s->length = f.net + f.packet - f.transport;
	s->pseudo = sum_words(bytes + f.net + 8, 8);
	return checksum_find_field(s, f.protocol);
}

static bool
find6(struct summed *s, unsigned char *ip, size_t n)
{
	size_t all = IP6_HEAD + (size_t)get16(ip + 4);

	if (n < all)
		return false;
	s->from = ip + IP6_HEAD;
	s->length = all - IP6_HEAD;
	s->pseudo = sum_words(ip + 8, 8);
	return checksum_find_field(s, ip[6]);
}

static bool
checksum_find(struct summed *s, unsigned char *bytes, size_t length)
{
	size_t net = FRAME_HEAD;
	unsigned type = get16(bytes + 12);

	if (type == TYPE_VLAN && length >= FRAME_HEAD_MAX) {
		type = get16(bytes + 16);
		net = FRAME_HEAD_MAX;
	}
	if (type == TYPE_IP4 && length >= net + IP4_HEAD)
		return find4(s, bytes + net, length - net);
	if (type != TYPE_IP6 || length < net + IP6_HEAD)
		return false;
	switch (bytes[net + 6]) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
		return find6(s, bytes + net, length - net);
	case IPPROTO_ICMPV6:
		return false;
	default:
		return find6_behind(s, bytes, length);
	}
}

bool
checksum_complete(unsigned char *bytes, size_t length)
{
	struct summed s = { .from = NULL };
	uint16_t field, partial, sum;

	if (length < FRAME_HEAD_MAX || !checksum_find(&s, bytes, length))
		return false;
	memcpy(&field, s.from + s.field, 2);
	partial = sum_fold(s.pseudo);
	if (field != partial)
		return false;
	/* The value may also be the right checksum, by chance: then it
	 * stays. */
	sum = sum_end(sum_of(0, s.from, s.length));
	if (sum_end(sum_of(ntohs(partial), s.from, s.length)) == 0)
		return false;
	/* 0 would mean that UDP has no checksum (RFC 768). */
	put16(s.from + s.field, sum == 0 ? 0xffff : sum);
	return true;
}
