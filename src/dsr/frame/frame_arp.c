/* frame_arp.c: ARP (RFC 826). */
#include "config.h"

#include <string.h>

#include "dsr/frame/frame_bytes.h"

bool
frame_read_arp(const struct frame *f, struct arp *a)
{
	const unsigned char *p = f->bytes + f->net;

	if (f->kind != FRAME_ARP)
		return false;
	a->request = get16(p + 6) == 1;
	memcpy(a->sender_mac.byte, p + 8, 6);
	memcpy(a->sender, p + 14, 4);
	memcpy(a->target_mac.byte, p + 18, 6);
	memcpy(a->target, p + 24, 4);
	return true;
}

size_t
frame_make_arp(unsigned char *out, size_t room, const struct frame_head *head,
    const struct arp *a)
{
	unsigned char *p;

	if (room < head_size(head) + ARP_SIZE)
		return 0;
	p = out + make_head(out, head, TYPE_ARP);
	put16(p, 1);
	put16(p + 2, TYPE_IP4);
	p[4] = 6;
	p[5] = 4;
	put16(p + 6, a->request ? 1 : 2);
	memcpy(p + 8, a->sender_mac.byte, 6);
	memcpy(p + 14, a->sender, 4);
	memcpy(p + 18, a->target_mac.byte, 6);
	memcpy(p + 24, a->target, 4);
	return head_size(head) + ARP_SIZE;
}
