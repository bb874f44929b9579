/* state.h: the state of a pen, for targets that get one or give one. */
#ifndef PEN_FUZZ_STATE_H
#define PEN_FUZZ_STATE_H

#include "control/handover/handover_state.h"
#include "fuzz/fuzz.h"

/* Makes records of TYPE LENGTH PAYLOAD, a byte each but the payload. */
static inline void
fuzz_records(struct buffer *out, const uint8_t *data, size_t size)
{
	struct handover_writer w;
	uint8_t type, n;

	handover_begin(&w, out);
	while (size > 0) {
		type = fuzz_byte(&data, &size);
		n = fuzz_byte(&data, &size);
		if (n > size)
			n = (uint8_t)size;
		if (type < HANDOVER_AGAIN || type > HANDOVER_PONG)
			type %= HANDOVER_DSR_VLAN + 1;
		handover_open(&w, type);
		handover_add(&w, data, n);
		handover_close(&w);
		data += n;
		size -= n;
	}
	FUZZ_MUST(!w.failed);
}

/* Hands all over. Returns how many clients a peer gets. */
static inline uint64_t
fuzz_hand_over(struct pen *p, bool to_peer)
{
	struct handover_state_writer w;
	struct buffer out;
	int rc;

	buffer_init(&out);
	handover_state_writer_init(&w, p);
	w.to_peer = to_peer;
	while ((rc = handover_state_write(&w, &out)) > 0)
		;
	FUZZ_MUST(rc == 0);
	buffer_fini(&out);
	return w.clients;
}

#endif
