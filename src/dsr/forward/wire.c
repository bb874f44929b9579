/* wire.c: see wire.h. */
#include "config.h"

#include "dsr/forward/wire.h"

const char *
director_drop_name(enum director_drop why)
{
	static const char *const names[DIRECTOR_DROPS] = {
		[DIRECTOR_BAD] = "malformed",
		[DIRECTOR_OTHER] = "not_local",
		[DIRECTOR_NO_SERVER] = "no_server",
		[DIRECTOR_NEIGHBOR] = "neighbor",
		[DIRECTOR_FRAGMENT] = "fragment",
		[DIRECTOR_LOOP] = "loop",
		[DIRECTOR_SEND] = "send",
	};

	return names[why];
}

void
wire_drop(struct wire *w, enum director_drop why, size_t bytes)
{
	frame_count_add(&w->stats.dropped[why], 1, bytes);
}

void
wire_flush(struct wire *w)
{
	int sent;
	unsigned i;

	if (w->out_n == 0)
		return;
	sent = link_send(&w->link, w->out, w->out_n);
	if (sent < 0)
		sent = 0;
	for (i = (unsigned)sent; i < w->out_n; i++)
		wire_drop(w, DIRECTOR_SEND, w->out[i].length);
	w->out_n = 0;
}

void
wire_send_own(struct wire *w, const unsigned char *bytes, size_t length)
{
	struct link_frame l = { .bytes = (unsigned char *)(uintptr_t)bytes,
		.length = (unsigned)length };

	if (link_send(&w->link, &l, 1) == 1)
		w->stats.answered++;
	else
		wire_drop(w, DIRECTOR_SEND, length);
}
