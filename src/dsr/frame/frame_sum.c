/* frame_sum.c: the checksum of the internet (RFC 1071). */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "dsr/frame/frame_bytes.h"

/* Words are added as they are in memory, in the byte order of this machine: the
 * sum of swapped words is the swapped sum (RFC 1071, 2 B). Two sums, because
 * one addition need not wait for the other then. */
uint32_t
sum_of(uint32_t sum, const unsigned char *p, size_t n)
{
	uint64_t wide = 0, more = 0;
	uint32_t word[4];
	uint16_t half;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(word, p, sizeof(word));
		wide += (uint64_t)word[0] + word[1];
		more += (uint64_t)word[2] + word[3];
	}
	for (; n >= 2; n -= 2, p += 2) {
		memcpy(&half, p, 2);
		more += half;
	}
	/* An odd byte counts as if a zero followed. */
	if (n > 0) {
		half = 0;
		memcpy(&half, p, 1);
		more += half;
	}
	wide = (uint64_t)sum + ntohs(sum_fold(wide + more));
	return (uint32_t)(wide & 0xffff) + (uint32_t)(wide >> 16);
}

uint16_t
sum_end(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

uint32_t
sum_pseudo(unsigned family, const unsigned char *from, const unsigned char *to,
    unsigned protocol, size_t n)
{
	size_t width = family == AF_INET ? 4 : 16;
	uint32_t sum;

	sum = sum_of(0, from, width);
	sum = sum_of(sum, to, width);
	return sum + protocol + (uint32_t)n;
}

uint32_t
sum_icmp(unsigned family, const unsigned char *from, const unsigned char *to,
    size_t n)
{
	/* ICMP of IPv4 has no pseudo-header. */
	return family == AF_INET
	    ? 0
	    : sum_pseudo(family, from, to, IPPROTO_ICMPV6, n);
}

/* A datagram of UDP may be shorter than the packet; the rest does not count. */
static bool
sum_of_flow_ok(const struct frame *f, const unsigned char *ip, size_t n)
{
	const unsigned char *p = f->bytes + f->transport;
	bool ip4 = f->family == AF_INET;

	if (f->protocol == IPPROTO_UDP) {
		if (get16(p + 6) == 0)
			return ip4;
		n = get16(p + 4);
	}
	return sum_end(sum_of(sum_pseudo(f->family, ip + (ip4 ? 12 : 8),
				  ip + (ip4 ? 16 : 24), f->protocol, n),
		   p, n)) == 0;
}

bool
frame_checksum_ok(const struct frame *f)
{
	const unsigned char *ip = f->bytes + f->net;
	size_t n;

	if (f->first_fragment)
		return false;
	switch (f->kind) {
	case FRAME_FLOW:
	case FRAME_ERROR:
	case FRAME_ICMP:
	case FRAME_NDP:
		break;
	default:
		return false;
	}
	n = f->net + f->packet - f->transport;
	if (f->kind == FRAME_FLOW)
		return sum_of_flow_ok(f, ip, n);
	return sum_end(sum_of(sum_icmp(f->family, ip + 8, ip + 24, n),
		   f->bytes + f->transport, n)) == 0;
}
