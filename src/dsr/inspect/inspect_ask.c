/* inspect_ask.c: resolves all addresses on the segment, at once. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dsr/inspect/inspect.h"
#include "dsr/inspect/inspect_linux.h"
#include "dsr/link/link.h"
#include "dsr/open/link_open.h"

/* An address without an answer is requested every half second, after a second
 * from our own address. VIPs get LEAST_MS to be claimed: a director waits as
 * long for a server. */
enum {
	ROUNDS = 6,
	ROUND_MS = 500,
	LEAST_MS = 1200,
	OPEN_ROUND = 2, /* the first one that names us */
	BATCH = 64
};

/* ---- the link ---- */

/* With an address of IPv6 in it, the filter passes all of NDP: one such server
 * is enough. */
static struct link_filter
filter_of(const struct inspect_segment *s, struct peer *list)
{
	struct link_filter f = { .address = list };
	bool v6 = false;
	unsigned i;

	for (i = 0; i < s->questions; i++) {
		const struct inspect_question *q = &s->question[i];

		if (q->role == INSPECT_SERVER &&
		    (v6 || q->ip.family != AF_INET6))
			continue;
		v6 = v6 || q->ip.family == AF_INET6;
		list[f.count++] = q->ip;
	}
	return f;
}

/* Opens the link as a director would, and closes it again. */
static int
try_link(struct inspect_segment *s, const struct inspect_request *w,
    const struct link_filter *f)
{
	const char *best = w->link == NULL ? link_kind(0) : w->link;
	struct link l;

	s->error.text[0] = '\0';
	if (link_try(&l, w->link, w->interface, f, &s->error) < 0)
		return -1;
	s->link = l.ops->name;
	s->mac = l.mac;
	s->fast = l.fast != NULL;
	if (best != NULL && strcmp(best, s->link) != 0)
		s->better = best;
	link_close(&l);
	return 0;
}

/* ---- requests ---- */

/* The source of requests: our address, if no other host has it. */
static const struct peer *
own_of(const struct inspect_segment *s, unsigned family)
{
	unsigned i;

	for (i = 0; i < s->questions; i++)
		if (s->question[i].role == INSPECT_OWN &&
		    s->question[i].macs == 0 &&
		    s->question[i].ip.family == family)
			return &s->question[i].ip;
	return NULL;
}

static void
inspect_ask_round(
    struct link *l, const struct inspect_segment *s, unsigned round)
{
	unsigned char bytes[FRAME_MADE_MAX];
	struct link_frame f = { .bytes = bytes };
	unsigned i;

	for (i = 0; i < s->questions; i++) {
		const struct inspect_question *q = &s->question[i];

		if (q->macs > 0)
			continue;
		f.length = (unsigned)inspect_make(bytes, sizeof(bytes), s, q,
		    q->role == INSPECT_SERVER && round >= OPEN_ROUND
			? own_of(s, q->ip.family)
			: NULL);
		if (f.length > 0)
			(void)link_send(l, &f, 1);
	}
}

/* Returns false when the link has ended. */
static bool
inspect_receive(struct link *l, struct inspect_segment *s)
{
	struct link_frame list[BATCH];
	struct frame f;
	int i, n;

	do {
		n = link_receive(l, list, BATCH);
		for (i = 0; i < n; i++) {
			frame_parse(&f, list[i].bytes, list[i].length);
			inspect_hear(s, &f);
		}
		link_release(l);
	} while (n == BATCH);
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Servers are probed until all have answered; others get LEAST_MS. */
static bool
is_done(const struct inspect_segment *s, uint64_t passed)
{
	unsigned i;

	for (i = 0; i < s->questions; i++)
		if (s->question[i].role == INSPECT_SERVER &&
		    s->question[i].macs == 0)
			return false;
	return passed >= LEAST_MS;
}

static void
ask_all(struct link *l, struct inspect_segment *s)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	uint64_t start = clock_monotonic_ms(), passed = 0;
	unsigned round = 0;

	while (passed < ROUNDS * ROUND_MS && !is_done(s, passed)) {
		if (passed >= (uint64_t)round * ROUND_MS)
			inspect_ask_round(l, s, round++);
		/* Short: the rounds begin and end by the clock. */
		(void)poll(&p, 1, 50);
		if (!inspect_receive(l, s))
			return;
		passed = clock_monotonic_ms() - start;
	}
	s->asked = true;
}

/* A director may be running: it must not lose a frame by this. */
void
inspect_ask(struct inspect_segment *s, const struct inspect_request *w)
{
	struct error e;
	struct peer *list = calloc((size_t)s->questions + 1, sizeof(*list));
	struct link_filter f;
	struct link l;

	if (list == NULL) {
		error_set(&s->error, "out of memory");
		return;
	}
	f = filter_of(s, list);
	f.fast_flows = w->fast ? 1 : 0;
	f.shared = w->others.there;
	/* The best link may take all frames of the interface: link_listen()
	 * opens one that gets copies. */
	if (try_link(s, w, &f) == 0) {
		if (link_listen(&l, w->interface, &f, &e) == 0) {
			ask_all(&l, s);
			link_close(&l);
		} else {
			s->link = NULL;
			s->error = e;
		}
	}
	free(list);
#ifdef HAVE_LINK_PACKET
	inspect_linux_read_routes(s);
#endif
}
