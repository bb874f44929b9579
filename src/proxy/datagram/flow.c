/* flow.c: datagrams come, a server is chosen, answers go back. Keeps no
 * datagram but the last unanswered one of a flow, for another server to try. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/limits.h"
#include "proxy/core/proxy_datagram.h"
#include "proxy/datagram/flow_private.h"

/* Batches in one turn; in a longer one; answers at a time from which on a
 * server is one that sends many. */
enum { FAIR_SHARE = 4, LONG_SHARE = 16, STREAM = 4 };
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

static void
engage(struct flow *w, struct server *s)
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
	engage(w, s);
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

/* One datagram of the client, or several of one size that came as one. */
static void
forward(struct flow *w, const char *bytes, size_t n, unsigned segment)
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

/* ---- from the client ---- */

/* Whether checks have marked its server down, which does not answer the flow
 * either, and there is another one. A client that only sends would never leave
 * it. */
static bool
is_left_alone(const struct flow *w)
{
	const struct pool *pool = w->frontend->pool;

	return pool_keeps_out(w->server) && !flow_is_served(w) &&
	    !pool_has_nobody_left(pool);
}

/* A server that is in maint, or another one by now, gets nothing more; one that
 * drains keeps what it has, and so does a suspect or blacklisted one when no
 * other is left. */
static bool
may_go_on(struct flow *w)
{
	const struct frontend_core *f = w->frontend;

	return w->server != NULL && flow_is_current(w) &&
	    pool_may_stay(f->pool, w->server, loop_now(f->loop)) &&
	    (!w->server->health.down || !is_left_alone(w));
}

/* The few words of a key that differ, by one round of SipHash each: 110
 * instructions where all bytes of the key took 390, of 1,900 for a question and
 * its answer. Clients choose neither the listener nor the address of this
 * host, so these may share a word. */
static void
hash_key(const struct flows *fs, struct arrival *a)
{
	const struct flow_key *k = &a->key;
	uint64_t words[FLOW_WORDS];
	uint32_t client, local;
	size_t n = 2;

	if (k->family == AF_INET) {
		memcpy(&client, k->client + 12, sizeof(client));
		memcpy(&local, k->local + 12, sizeof(local));
		words[0] = (uint64_t)client << 32 | (uint64_t)k->port << 16;
		words[1] = k->listener ^ (uint64_t)local << 32;
	} else {
		words[0] = (uint64_t)k->family << 16 | (uint64_t)k->port << 32;
		words[1] = k->listener ^ (uint64_t)k->scope << 48;
		memcpy(words + n, k->client, 16);
		memcpy(words + n + 2, k->local, 16);
		n += 4;
	}
	words[0] ^= k->server;
	a->hash = hash_words(&fs->table.key, words, n);
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
	engage(w, s);
	return w;
}

/* The flow that a datagram of the client belongs to, or NULL. One that has had
 * its number of questions gets no other. */
static struct flow *
flow_find_client(struct flows *fs, const struct arrival *a)
{
	uint64_t most = fs->frontend->options.udp.requests;
	struct flow *w = flow_find(fs, a);

	if (w == NULL || most == 0 || w->requests < most)
		return w;
	flow_retire(w);
	return NULL;
}

/* Whether a client without a flow may have one; counts the datagram that is
 * dropped if not. */
static bool
may_come(struct flows *fs, const struct arrival *a)
{
	struct frontend_stats *st = fs->frontend->stats;

	switch (flow_may_come(fs, a)) {
	case FLOW_MAY_COME:
		return true;
	case FLOW_TOO_LATE:
		st->datagrams.no_server++;
		break;
	case FLOW_BEYOND_LIMIT:
		st->limits.dropped++;
		break;
	case FLOW_CROWDED_OUT:
		st->datagrams.flood++;
		break;
	}
	return false;
}

/* flow_begin() for a datagram, which is counted if there is no memory. */
static struct flow *
flow_begin_new(struct flows *fs, const struct arrival *a, struct flow *w,
    struct server *s, const struct attempts *attempts)
{
	w = flow_begin(fs, a, w, s, attempts);
	if (w == NULL)
		fs->frontend->stats->datagrams.no_memory++;
	return w;
}

/* The flow of a datagram; NULL: it is dropped, and counted. With udp_each the
 * server is chosen before the flow is known. */
static struct flow *
flow_of_each(struct flows *fs, struct arrival *a)
{
	struct attempts attempts =
	    a->tried != NULL ? *a->tried : (struct attempts){ .count = 0 };
	struct server *s = flow_choose(fs, a, &attempts);
	struct flow *w;

	if (s == NULL) {
		fs->frontend->stats->datagrams.no_server++;
		return NULL;
	}
	a->key.server = s->slot;
	hash_key(fs, a);
	w = flow_find_client(fs, a);
	if (w == NULL && !may_come(fs, a))
		return NULL;
	if (w == NULL || w->server != s || !may_go_on(w))
		return flow_begin_new(fs, a, w, s, &attempts);
	w->attempts = attempts;
	return w;
}

static struct flow *
flow_of(struct flows *fs, struct arrival *a)
{
	struct flow *w = flow_find_client(fs, a);
	struct attempts attempts = { .count = 0 };
	struct server *s;

	if (w != NULL && may_go_on(w)) {
		/* whatever the datagrams before it went through */
		pool_begin_round(&w->attempts);
		return w;
	}
	if (w != NULL)
		flow_release(w);
	else if (!may_come(fs, a))
		return NULL;
	s = flow_choose(fs, a, &attempts);
	if (s != NULL)
		return flow_begin_new(fs, a, w, s, &attempts);
	if (w != NULL)
		flow_end(w,
		    pool_permits(fs->frontend->pool, &a->who)
			? REASON_NO_SERVER
			: REASON_DENIED);
	fs->frontend->stats->datagrams.no_server++;
	return NULL;
}

static void
flow_make_key(const struct flows *fs, struct arrival *a)
{
	const struct dgram *d = a->dgram;
	struct flow_key *key = &a->key;
	uint64_t path;

	memset(key, 0, sizeof(*key));
	if (a->who.family == AF_UNIX) {
		path = hash_table_hash(&fs->table, &d->from.u, d->from.len);
		memcpy(key->client, &path, sizeof(path));
		path = hash_mix(path ^ fs->table.key.k0);
		memcpy(key->client + sizeof(path), &path, sizeof(path));
	} else {
		memcpy(key->client, a->who.ip, sizeof(key->client));
	}
	memcpy(key->local, d->local.ip, sizeof(key->local));
	key->listener = (uint64_t)(uintptr_t)a->listener;
	key->scope = a->who.scope;
	key->port = a->who.port;
	key->family = a->who.family;
	key->server = UINT32_MAX;
}

/* The first look at a datagram: what finds its flow. */
void
flow_meet(struct flows *fs, struct arrival *a, struct listener *l,
    const struct dgram *d)
{
	a->listener = l;
	a->dgram = d;
	a->tried = NULL;
	peer_from_addr(&a->who, &d->from);
	flow_make_key(fs, a);
	if (fs->frontend->options.udp.each)
		return; /* the key is not whole yet */
	hash_key(fs, a);
	hash_table_expect(&fs->table, a->hash);
}

/* Whether each datagram must go by itself. */
static bool
each_by_itself(const struct frontend_core *f)
{
	return f->options.udp.each || f->options.udp.requests > 0 ||
	    f->limited || f->options.udp.proxy != UDP_PROXY_OFF;
}

static void
flow_take_pieces(struct flows *fs, struct arrival *a)
{
	const struct dgram *d = a->dgram;
	struct dgram piece = *d;
	struct arrival one = *a;

	piece.segment = 0;
	one.dgram = &piece;
	for (; piece.bytes < d->bytes + d->n; piece.bytes += piece.n) {
		piece.n = (size_t)(d->bytes + d->n - piece.bytes);
		if (piece.n > d->segment)
			piece.n = d->segment;
		flow_take(fs, &one);
	}
}

void
flow_take(struct flows *fs, struct arrival *a)
{
	struct frontend_core *f = fs->frontend;
	struct flow *w;

	if (a->dgram->truncated) {
		f->stats->datagrams.too_long++;
		return;
	}
	if (a->dgram->segment > 0 && each_by_itself(f)) {
		flow_take_pieces(fs, a);
		return;
	}
	if (f->limited && !limits_pass_datagram(f, &a->who)) {
		f->stats->limits.dropped++;
		return;
	}
	w = f->options.udp.each ? flow_of_each(fs, a) : flow_of(fs, a);
	if (w != NULL)
		forward(w, a->dgram->bytes, a->dgram->n, a->dgram->segment);
}

/* Three looks at a batch, so that its flows come out of memory together and not
 * one after the other. */
static void
take_batch(struct flows *fs, struct listener *l, const struct dgram_batch *b)
{
	struct arrival a[DGRAM_BATCH];
	unsigned i;

	for (i = 0; i < b->count; i++)
		flow_meet(fs, &a[i], l, &b->at[i]);
	for (i = 0; i < b->count && !fs->frontend->options.udp.each; i++)
		hash_table_expect_link(&fs->table, a[i].hash);
	for (i = 0; i < b->count; i++)
		flow_take(fs, &a[i]);
}

void
flows_on_batch(struct listener *l, struct dgram_batch *b)
{
	struct frontend_core *f = l->arg;

	if (proxy_datagrams(f))
		flows_take_named(f->flows, l, b);
	else
		take_batch(f->flows, l, b);
}

/* A turn is to end with a socket for replies, which is opened when all
 * datagrams were read: that is worth a longer turn, but for a while only if
 * they come faster than they can be passed on. */
static int
share_of(const struct flows *fs, const struct listener *l)
{
	return dgram_reply_is_due(&l->replies) && fs->behind < LONG_SHARE
	    ? LONG_SHARE
	    : FAIR_SHARE;
}

/* The memory of the batch is shared, and nothing is received into it before all
 * of it was passed on. Returns whether that was all. */
static bool
take_from(struct flows *fs, struct listener *l, int fd, int most)
{
	struct frontend_core *f = fs->frontend;
	int rounds = share_of(fs, l), round, n = DGRAM_BATCH;

	for (round = 0; round < rounds && n == DGRAM_BATCH; round++) {
		n = dump_receive(f->options.dump, fd, fs->batch, most);
		l->alone = round == 0 && n == 1;
		if (n > 0 && !listener_take(l, fs->batch))
			return false;
	}
	return n < DGRAM_BATCH;
}

void
flows_on_datagrams(struct listener *l)
{
	struct frontend_core *f = l->arg;
	struct flows *fs = f->flows;
	bool all;
	int fd;

	fs->newcomers = 0;
	all = take_from(fs, l, l->fd, listener_most(l));
	if (l->fd < 0)
		return;
	flow_turn_over(fs, l, all);
	/* what is older than what it may have received has been read */
	fd = all ? dgram_reply_next(&l->replies, l->fd) : -1;
	if (fd >= 0)
		(void)take_from(fs, l, fd, DGRAM_BATCH);
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
		struct dgram d = {
			.bytes = last, .n = n, .local = w->local
		};
		struct arrival again = { .listener = w->listener,
			.dgram = &d,
			.who = w->who,
			.key = w->key,
			.tried = &tried };

		memcpy(&d.from, w->client, addr_size(w->client));
		flow_end(w, REASON_SERVER_RESET);
		w = flow_of_each(fs, &again);
		if (w != NULL)
			forward(w, last, n, 0);
	} else {
		forward(w, last, n, 0);
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
