/* samples.h: one frame of each kind, byte by byte, and what it is. */
#ifndef PEN_TEST_DSR_SAMPLES_H
#define PEN_TEST_DSR_SAMPLES_H

#include "dsr/frame/frame.h"

struct sample {
	const char *name;
	enum frame_kind kind;
	const char *hex;
	const char *from, *to; /* as peer_format() prints them; NULL: nobody */
	uint32_t packet;
	uint16_t transport;
	uint8_t protocol;
	/* the rest by name */
	uint8_t tcp_flags;
	bool first_fragment;
	uint32_t fragment_id;
	bool sum_ok;
};

extern const struct sample samples[];
extern const size_t samples_n;

enum { SAMPLE_MAX = 256 };

const struct sample *sample_named(const char *name);
/* Its bytes; returns how many. */
size_t sample_bytes(const struct sample *s, unsigned char out[SAMPLE_MAX]);
/* Bytes that are written in hexadecimal; returns how many. */
size_t unhex(unsigned char *out, size_t room, const char *hex);
/* Puts a tag into a frame of n bytes; returns n + 4. */
size_t put_tag(unsigned char *bytes, size_t n, uint16_t tag);
/* Makes the sum of an IPv4 header right; nothing when there is none. */
void heal_ip4(unsigned char *bytes, size_t n);

#endif
