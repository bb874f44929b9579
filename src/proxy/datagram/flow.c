/* flow.c: datagrams of a flow go to its server, and answers back to its client.
 * Keeps no datagram but the last unanswered one, for another server to try. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/proxy_datagram.h"
#include "proxy/datagram/flow_private.h"

/* Batches in one turn; answers at a time from which on a server is one that
 * sends many. */
enum { FAIR_SHARE = 4, STREAM = 4 };
/* Bytes that pass each network in one piece: 576 (RFC 791, 3.1) without the
 * headers of IP, with options, and UDP. */
enum { WHOLE = 576 - 60 - 8 };

/* What became of a datagram. */
enum outcome { SENT, DROPPED, NOWHERE };

/* ---- to the server ---- */

static void flow_on_ready(struct watch *watch, unsigned ready);

int
flow_watch(struct flow *w)
{
	return watch_start(w->frontend->loop, &w->watch, w->fd,
	    READY_READ | WATCH_LEVEL, flow_on_ready);
}

static int
flow_open_own_socket(struct flow *w)
{
	return flow_open_socket(w) < 0 ? -1 : flow_watch(w);
}

/* Gives the flow a server, which counts it as a connection. */
static void
set_server(struct flow *w, struct server *s)
{
	struct frontend_core *f = w->frontend;

	w->server = s;
	w->generation = s->generation;
	w->addresses_tried = 0;
	w->asked = loop_now(f->loop);
	pool_opened(f->pool, s, &w->who, &w->attempts, w->asked);
}

/* Chooses the next server. Returns whether there is one. */
static bool
choose(struct flow *w)
{
	struct frontend_core *f = w->frontend;
	struct server *s =
	    pool_choose(f->pool, &w->who, &w->attempts, loop_now(f->loop));

	if (s == NULL)
		return false;
	set_server(w, s);
	return true;
}

/* The header that the datagram needs, if any. Returns its bytes. */
static size_t
flow_make_header(const struct flow *w, char header[PROXY_HEADER_DATAGRAM])
{
	enum udp_proxy when = w->frontend->options.udp.proxy;

	if (when == UDP_PROXY_OFF || (when == UDP_PROXY_FIRST && w->introduced))
		return 0;
	return proxy_datagram_header(header, &w->who, w->listener, &w->local);
}

static int
send_one(struct flow *w, const char *bytes, size_t n, unsigned segment)
{
	char header[PROXY_HEADER_DATAGRAM];
	size_t head = flow_make_header(w, header);

	if (head + n > WHOLE && !w->fragments)
		flow_permit_fragments(w);
	if (segment > 0
		? dgram_send_segments(w->fd, w->family, bytes, n, segment) < 0
		: dgram_send(w->fd, header, head, bytes, n) < 0)
		return -1;
	w->introduced = true;
	return 0;
}

/* Sends to the flow's server, or the next ones until one takes it. An error
 * that is no failure of the server costs only the datagram. NOWHERE: there is
 * no server left, or no socket. */
static enum outcome
send_up(struct flow *w, const char *bytes, size_t n, unsigned segment)
{
	struct frontend_core *f = w->frontend;

	for (;;) {
		if (w->server == NULL && !choose(w))
			return NOWHERE;
		if (w->fd < 0 && flow_open_own_socket(w) < 0) {
			if (!dgram_error_blames(errno))
				return NOWHERE;
		} else if (send_one(w, bytes, n, segment) == 0) {
			return SENT;
		} else if (!dgram_error_blames(errno)) {
			return DROPPED;
		}
		flow_refused(w, errno);
		f->stats->retries++;
	}
}

static void
note_question(struct flow *w)
{
	if (!flow_note_question(w))
		return;
	flow_server_failed(w, ETIMEDOUT);
	flow_release(w);
}

void
flow_forward(struct flow *w, const char *bytes, size_t n, unsigned segment)
{
	struct frontend_core *f = w->frontend;
	size_t count = segment > 0 ? (n + segment - 1) / segment : 1;
	size_t last = count > 1 ? (count - 1) * segment : 0;

	if (w->answered && !w->steady) {
		w->steady = true;
		pool_proven(f->pool, &w->who, &w->attempts);
		if (w->client_source != NULL)
			source_touch(&f->sources, w->client_source, true);
	}
	flow_touch(w);
	if (w->answered)
		w->asked = w->active;
	w->answered = false;
	switch (send_up(w, bytes, n, segment)) {
	case NOWHERE:
		f->stats->datagrams.no_server += count;
		flow_end(w,
		    w->server == NULL ? REASON_NO_SERVER : REASON_NO_RESOURCES);
		return;
	case DROPPED:
		f->stats->datagrams.unsent += count;
		/* a Unix server that reads nothing has no room for more */
		if (errno == EAGAIN && w->family == AF_UNIX)
			note_question(w);
		return;
	case SENT:
		break;
	}
	w->requests += count;
	w->up += n;
	f->stats->datagrams.up += count;
	f->stats->up += n;
	pool_moved(f->pool, w->server, &w->who, &w->attempts, n, 0);
	flow_question_save(
	    &f->flows->questions, &w->question, bytes + last, n - last);
	note_question(w);
}

/* The flow of an arrival, `w` or a new one, gets a server that was chosen for
 * it: only then may it take the place of another. */
struct flow *
flow_begin(struct flows *fs, const struct arrival *a, struct flow *w,
    struct server *s, const struct attempts *attempts)
{
	if (w == NULL)
		w = flow_new(fs, a);
	if (w == NULL)
		return NULL;
	flow_release(w);
	w->attempts = *attempts;
	set_server(w, s);
	return w;
}

/* ---- from the server ---- */

/* The server refuses: the last question goes to another one. */
static void
flow_on_refused(struct flow *w, int error)
{
	struct flows *fs = w->frontend->flows;
	size_t n = w->question.n;
	char *last = flow_question_take(&fs->questions, &w->question);
	bool goes_on = flow_refused(w, error);

	w->frontend->stats->retries++;
	if (w->requests > 0)
		w->requests--; /* that one does not count twice */
	w->up -= n;
	if (n == 0)
		return; /* with its next datagram */
	if (!goes_on && w->key.server != UINT32_MAX) {
		/* its flow is for that server alone: another one's */
		const struct attempts tried = w->attempts;
		struct dgram d = { .bytes = last, .n = n, .local = w->local };
		struct arrival again = { .listener = w->listener,
			.dgram = &d,
			.who = w->who,
			.key = w->key,
			.tried = &tried };

		memcpy(&d.from, w->client, addr_size(w->client));
		flow_end(w, REASON_SERVER_RESET);
		w = flow_of_each(fs, &again);
		if (w != NULL)
			flow_forward(w, last, n, 0);
	} else {
		flow_forward(w, last, n, 0);
	}
	free(last);
}

/* Whether it has had all its questions and their answers. */
static bool
is_complete(const struct flow *w)
{
	const struct frontend_options *o = &w->frontend->options;

	return o->udp.responses > 0 && w->requests >= o->udp.requests &&
	    w->responses >= o->udp.responses &&
	    w->responses >= w->requests * o->udp.responses;
}

static void
send_back(const struct flow *w, struct dgram_batch *b)
{
	const struct dgram_local *from = &w->local;
	int fd = listener_reply_fd(w->listener, &from);

	(void)dgram_send_batch(fd, b, w->client, from);
}

/* Passes a batch back. Returns whether the flow goes on. */
static bool
flow_answer(struct flow *w, struct dgram_batch *b)
{
	struct frontend_core *f = w->frontend;
	size_t bytes = 0;
	unsigned i, cut = dgram_drop_truncated(b), came = 0, gone = 0;

	flow_note_answer(w);
	flow_question_drop(&f->flows->questions, &w->question);
	send_back(w, b);
	for (i = 0; i < b->count; i++) {
		came += dgram_segments(&b->at[i]);
		if (b->at[i].unsent)
			continue;
		gone += dgram_segments(&b->at[i]);
		bytes += b->at[i].n;
	}
	if (b->count >= STREAM && !w->coalescing) {
		dgram_coalesce(w->fd, true);
		w->coalescing = true;
	}
	f->stats->datagrams.too_long += cut;
	f->stats->datagrams.unsent += came - gone;
	w->answered = true;
	w->responses += came + cut;
	w->down += bytes;
	f->stats->datagrams.down += gone;
	f->stats->down += bytes;
	pool_moved(f->pool, w->server, &w->who, &w->attempts, 0, bytes);
	flow_touch(w);
	if (!is_complete(w))
		return true;
	flow_end(w, REASON_DONE);
	return false;
}

static void
flow_on_ready(struct watch *watch, unsigned ready)
{
	struct flow *w = list_entry(watch, struct flow, watch);
	struct dgram_batch *b = w->frontend->flows->batch;
	int round, n = DGRAM_BATCH;

	(void)ready;
	if (w->answered || w->coalescing)
		w->alone = DGRAM_BATCH;
	for (round = 0; round < FAIR_SHARE && n == DGRAM_BATCH; round++) {
		n = dump_receive_answers(
		    w->frontend->options.dump, w->fd, b, &w->alone);
		if (n > 0 && !flow_answer(w, b))
			return;
	}
	if (n < 0 && dgram_error_blames(errno))
		flow_on_refused(w, errno);
}
