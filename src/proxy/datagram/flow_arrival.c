/* flow_arrival.c: datagrams of clients: the flow of each, whether its client
 * may have one, and a listener's turn of reading. */
#include "config.h"

#include <string.h>

#include "proxy/core/limits.h"
#include "proxy/core/proxy_datagram.h"
#include "proxy/datagram/flow_private.h"

/* Batches in one turn; in a longer one. */
enum { FAIR_SHARE = 4, LONG_SHARE = 16 };

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

struct flow *
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
		    pool_permits(fs->frontend->pool, &a->who) ? REASON_NO_SERVER
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

static void flow_take(struct flows *fs, struct arrival *a);

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

static void
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
		flow_forward(
		    w, a->dgram->bytes, a->dgram->n, a->dgram->segment);
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

/* ---- from a proxy, with a header that has the client address ---- */

/* A client behind a proxy is not the same one behind another, nor behind
 * another socket of that, which wants the answers. */
static void
name_client(
    const struct flows *fs, struct arrival *a, const struct peer *who)
{
	const struct addr *from = &a->dgram->from;
	struct flow_key *key = &a->key;
	uint64_t h = hash_table_hash(&fs->table, &from->u, from->len);

	h ^= hash_mix(hash_table_hash(&fs->table, who, sizeof(*who)));
	memcpy(key->client, &h, sizeof(h));
	h = hash_mix(h ^ fs->table.key.k0);
	memcpy(key->client + sizeof(h), &h, sizeof(h));
	key->family = who->family;
	a->who = *who;
	a->hash = hash_table_hash(&fs->table, key, sizeof(*key));
}

static void
take_one(struct flows *fs, struct listener *l, struct dgram *d)
{
	struct arrival a;
	struct peer who;

	if (!proxy_datagram_accept(fs->frontend, d, &who))
		return;
	flow_meet(fs, &a, l, d);
	name_client(fs, &a, &who);
	flow_take(fs, &a);
}

/* Handles datagrams that the kernel has joined: each has a header of its
 * own. */
static void
take_pieces_named(
    struct flows *fs, struct listener *l, const struct dgram *d)
{
	size_t step = d->segment > 0 ? d->segment : d->n;
	char *at = d->bytes, *end = d->bytes + d->n;

	do {
		struct dgram piece = *d;

		piece.segment = 0;
		piece.bytes = at;
		piece.n = (size_t)(end - at) < step ? (size_t)(end - at) : step;
		at += piece.n;
		take_one(fs, l, &piece);
	} while (at < end);
}

static void
take_batch_named(
    struct flows *fs, struct listener *l, const struct dgram_batch *b)
{
	unsigned i;

	for (i = 0; i < b->count; i++)
		take_pieces_named(fs, l, &b->at[i]);
}

/* ---- a turn of reading ---- */

void
flows_on_batch(struct listener *l, struct dgram_batch *b)
{
	struct frontend_core *f = l->arg;

	if (proxy_datagrams(f))
		take_batch_named(f->flows, l, b);
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
