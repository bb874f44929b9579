/* framegen.h: Ethernet frames by dice, by the same numbers the same ones, and
 * what they are: what must become of each in a director, and what a reader of
 * frames must find in it.
 *
 * Each is built whole and right first; then one thing is done to it, which is
 * known to leave it right or not. So nothing here reads frames. */
#ifndef PEN_TEST_FRAMEGEN_H
#define PEN_TEST_FRAMEGEN_H

#include "dsr/frame/frame.h"

enum {
	FRAMEGEN_MAX = 1536,
	FRAMEGEN_CLIENTS = 4,
	FRAMEGEN_PORTS = 32,
	FRAMEGEN_FLOWS = 4 * FRAMEGEN_CLIENTS * FRAMEGEN_PORTS,
	FRAMEGEN_TRAINS = 16 /* packets whose fragments are remembered */
};

/* A packet that has begun: its later fragments belong to it. */
struct framegen_train {
	bool v6, passes;
	uint8_t protocol;
	unsigned client, flow;
	uint32_t id;
};

struct framegen {
	/* Right frames from anybody to anybody, of both families, with tags,
	 * ARP and NDP; else good and bad ones from a few clients for a
	 * director: */
	bool anybody;
	bool v6;	 /* which of the two families is served */
	uint16_t port;	 /* which port of the VIP; 0: all */
	uint8_t mac[6];	 /* of the director */
	uint8_t from[6]; /* the sender's */
	uint64_t random; /* to begin with: not 0 */
	struct framegen_train train[FRAMEGEN_TRAINS];
	unsigned trains;
	uint32_t ids;
};

struct framegen_frame {
	unsigned char bytes[FRAMEGEN_MAX];
	size_t length;
	const char *what; /* its kind, for reports */
	/* For a director. */
	bool passes;   /* else nothing leaves because of it */
	unsigned flow; /* whose server it goes to; FRAMEGEN_FLOWS: any one */
	bool begins;   /* it may give the flow another server */
	/* From anybody: what frame_parse() must find, but for `bytes` and
	 * `length`, and frame_checksum_ok(). */
	struct frame is;
	bool sum_ok;
	/* Private: where things are. */
	size_t net, transport, end;
	bool v6;
	uint8_t protocol;
	unsigned client, port;
	uint64_t salt; /* of anybody's addresses */
};

/* Begins a row of frames; each number has its own. */
void framegen_seed(struct framegen *g, uint64_t number);
/* The next one. */
void framegen_next(struct framegen *g, struct framegen_frame *m);
/* One that passes, with eight bytes to know it by. */
void framegen_mark(
    struct framegen *g, struct framegen_frame *m, uint64_t number);
/* Spoils it in one way of many; returns the way's name. What `is` says is no
 * longer so. */
const char *framegen_corrupt(struct framegen *g, struct framegen_frame *m);
/* The dice: below n. */
uint32_t framegen_below(struct framegen *g, uint32_t n);

#endif
