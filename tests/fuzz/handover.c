/* handover.c: the state that another process hands over, or a peer: bytes as
 * they come, or records whose checks are right. */
#include "config.h"

#include <string.h>

#include "control/pen.h"
#include "control/socket/request.h"
#include "control/handover/handover_state.h"
#include "fuzz/fuzz.h"

static const char start[] =
    "udp; server 0 address 10.0.0.1 port 80; server 1 address 10.0.0.2 port 80;"
    "service add web; service web server 0 address 10.0.0.3 port 80";

static void
on_wake(struct request *q)
{
	(void)q;
}

static struct pen *
begin(void)
{
	struct pen *p = pen_new();
	struct request q;
	struct error e;

	fuzz_silence_log();
	FUZZ_MUST(p != NULL);
	request_init(&q, p, NULL, on_wake);
	FUZZ_MUST(request_begin(&q, start) == 0);
	while (request_run(&q) != REQUEST_DONE)
		;
	FUZZ_MUST(!q.failed);
	request_fini(&q);
	FUZZ_MUST(pen_start(p, &e) == 0);
	return p;
}

/* Records of TYPE LENGTH PAYLOAD, a byte each but the payload. */
static void
make_records(struct buffer *out, const uint8_t *data, size_t size)
{
	struct handover_writer w;
	uint8_t type, n;

	handover_begin(&w, out);
	while (size > 0) {
		type = fuzz_byte(&data, &size);
		n = fuzz_byte(&data, &size);
		if (n > size)
			n = (uint8_t)size;
		handover_open(&w, type % (HANDOVER_SERVICE + 2));
		handover_add(&w, data, n);
		handover_close(&w);
		data += n;
		size -= n;
	}
	FUZZ_MUST(!w.failed);
}

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

/* What was taken over can be handed over. */
static void
write_again(struct pen *p, bool peer)
{
	struct handover_state_writer w;
	struct buffer out;
	int rc;

	buffer_init(&out);
	handover_state_writer_init(&w, p);
	w.to_peer = peer;
	while ((rc = handover_state_write(&w, &out)) > 0)
		;
	FUZZ_MUST(rc == 0);
	FUZZ_MUST(!peer || w.clients == 0);
	buffer_fini(&out);
}

FUZZ(handover)
{
	uint8_t how = fuzz_byte(&data, &size);
	size_t step = fuzz_step(&data, &size);
	struct pen *p = begin();
	struct buffer bytes;

	buffer_init(&bytes);
	if (how & 1)
		FUZZ_MUST(buffer_append(&bytes, data, size) == 0);
	else
		make_records(&bytes, data, size);
	read_all(p, buffer_bytes(&bytes), buffer_length(&bytes), step,
	    how & 2);
	write_again(p, how & 2);
	buffer_fini(&bytes);
	pen_free(p);
	return 0;
}
