/* handover.c: the state that another process hands over, or a peer: bytes as
 * they come, or records whose checks are right. */
#include "config.h"

#include <string.h>

#include "fuzz/plan.h"
#include "fuzz/state.h"

static const char start[] =
    "udp; server 0 address 10.0.0.1 port 80; server 1 address 10.0.0.2 port 80;"
    "service add web; service web server 0 address 10.0.0.3 port 80";

static void
read_all(struct pen *p, const char *bytes, size_t n, size_t step, bool peer)
{
	struct handover_state_reader state;
	struct handover_record record;
	struct handover_reader r;
	size_t i;

	handover_reader_init(&r);
	handover_state_reader_init(&state, p);
	state.from_peer = peer;
	for (i = 0; i < n; i += step) {
		FUZZ_MUST((handover_feed(&r, bytes + i,
			       step < n - i ? step : n - i) == 0) ==
		    (r.error == NULL));
		while (handover_next(&r, &record))
			handover_state_read(&state, &record);
	}
	if (peer)
		handover_state_reader_fini(&state);
	else
		handover_state_reader_end(&state);
	handover_reader_fini(&r);
}

FUZZ(handover)
{
	uint8_t how = fuzz_byte(&data, &size);
	size_t step = fuzz_step(&data, &size);
	struct pen *p = fuzz_pen(start);
	struct buffer bytes;
	uint64_t passed_on;

	buffer_init(&bytes);
	if (how & 1)
		FUZZ_MUST(buffer_append(&bytes, data, size) == 0);
	else
		fuzz_records(&bytes, data, size);
	read_all(p, buffer_bytes(&bytes), buffer_length(&bytes), step,
	    how & 2);
	passed_on = fuzz_hand_over(p, how & 2);
	FUZZ_MUST(passed_on == 0);
	buffer_fini(&bytes);
	pen_free(p);
	return 0;
}
