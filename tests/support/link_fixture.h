/* link_fixture.h: a link at the near end of a cable (veth.h), its address for
 * frames 192.168.100.10 and 2001:db8::10, and a plain packet socket at the far
 * end.
 *
 * The frames are UDP datagrams with a number in them. */
#ifndef PEN_TEST_LINK_FIXTURE_H
#define PEN_TEST_LINK_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "dsr/link/link.h"

enum { LINK_FIXTURE_BATCH = 256 };

/* The kind "packet" with a fast path. */
#define LINK_FIXTURE_FAST "fast"

struct link_fixture {
	/* why there is no cable, or no fast path; then nothing is open */
	const char *missing;
	const char *kind;
	struct link near;
	int far;
	uint8_t far_mac[6];
	struct peer vip[8];
	struct link_filter filter;
	struct link_frame list[LINK_FIXTURE_BATCH];
};

void link_fixture_up(struct link_fixture *r, const char *kind);
void link_fixture_down(struct link_fixture *r);
/* Opens what `near` has once more, as another process would. Returns how many
 * descriptors that process takes. */
unsigned link_fixture_open_again(struct link_fixture *r, struct link *next);
bool link_fixture_is_pcap(const struct link_fixture *r);

/* Adds an address to the filter, which is not yet in force. */
void link_fixture_add(struct link_fixture *r, const char *address);
/* Writes a frame of that size to the link; returns the size. */
unsigned link_fixture_make(const struct link_fixture *r, unsigned char *f,
    const char *to, unsigned number, unsigned size);
unsigned link_fixture_number(const unsigned char *f);
void link_fixture_far_sends(
    struct link_fixture *r, const char *to, unsigned number, unsigned size);
/* What link_receive() says when there is something; it fills the list. */
int link_fixture_receive(struct link_fixture *r);
/* One frame is there, with that number. */
void link_fixture_expect(struct link_fixture *r, unsigned number);

#endif
