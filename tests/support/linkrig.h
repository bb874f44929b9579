/* linkrig.h: a link at the near end of a cable (veth.h), its address for frames
 * 192.168.100.10 and 2001:db8::10, and a plain packet socket at the far end.
 *
 * The frames are UDP datagrams with a number in them. */
#ifndef PEN_TEST_LINKRIG_H
#define PEN_TEST_LINKRIG_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/link/link.h"

enum { LINKRIG_BATCH = 256 };

struct linkrig {
	/* why there is no cable, or no right to the kind; then nothing is
	 * open */
	const char *missing;
	const char *kind;
	struct link near;
	int far;
	uint8_t far_mac[6];
	struct peer vip[8];
	struct link_filter filter;
	struct link_frame list[LINKRIG_BATCH];
};

void linkrig_up(struct linkrig *r, const char *kind);
void linkrig_down(struct linkrig *r);
bool linkrig_is_pcap(const struct linkrig *r);

/* Adds an address to the filter, which is not yet in force. */
void linkrig_add(struct linkrig *r, const char *address);
/* Writes a frame of that size to the link; returns the size. */
unsigned linkrig_make(const struct linkrig *r, unsigned char *f, const char *to,
    unsigned number, unsigned size);
unsigned linkrig_number(const unsigned char *f);
void linkrig_far_sends(
    struct linkrig *r, const char *to, unsigned number, unsigned size);
/* What link_receive() says when there is something; it fills the list. */
int linkrig_receive(struct linkrig *r);
/* One frame is there, with that number. */
void linkrig_expect(struct linkrig *r, unsigned number);

#endif
