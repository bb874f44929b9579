/* handover.c: the state that another process hands over, or a peer: bytes as
 * they come, or records whose checks are right; with or without flows of direct
 * server return. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dsr/director/director_private.h"
#include "fuzz/plan.h"
#include "fuzz/state.h"

enum { FLOWS = 8 };

static const char start[] =
    "udp; server 0 address 10.0.0.1 port 80; server 1 address 10.0.0.2 port 80;"
    "service add web; service web server 0 address 10.0.0.3 port 80";

/* A director of the first service, without a link. */
static void
add_director(struct pen *p)
{
	struct director *d = calloc(1, sizeof(*d));

	FUZZ_MUST(d != NULL);
	director_join(d, p->loop, p->service->pool);
	timer_init(&d->tick, NULL);
	FUZZ_MUST(dsr_flows_init(&d->dispatch.flows, FLOWS) == 0);
	dispatch_open(&d->dispatch);
	p->service->director = d;
}

/* Each flow is in one list, and one server's. */
static void
check_flows(const struct service *svc)
{
	const struct dsr_flows *fs = &svc->director->dispatch.flows;
	uint32_t listed = 0, i;

	FUZZ_MUST(fs->count <= FLOWS);
	for (i = 0; i < DSR_STATES; i++)
		listed += fs->lists[i].count;
	FUZZ_MUST(listed == fs->count);
	for (i = 0; i < pool_slots(svc->pool); i++)
		listed -= dsr_flows_of(fs, i);
	FUZZ_MUST(listed == 0);
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

FUZZ(handover)
{
	uint8_t how = fuzz_byte(&data, &size);
	size_t step = fuzz_step(&data, &size);
	struct pen *p = fuzz_pen(start);
	struct buffer bytes;
	uint64_t passed_on;

	if (how & 4)
		add_director(p);
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
	if (p->service->director != NULL) {
		check_flows(p->service);
		director_free(p->service->director);
		p->service->director = NULL;
	}
	pen_free(p);
	return 0;
}
