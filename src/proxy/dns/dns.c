/* dns.c: queries to servers and back; owns the queries. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/shortcuts.h"
#include "proxy/core/limits.h"
#include "proxy/core/proxy_datagram.h"
#include "proxy/dns/dns_private.h"
#include "proxy/log/dump.h"
#include "proxy/wire/dns_message.h"

/* Batches in one turn. */
enum { FAIR_SHARE = 4 };
/* Bytes of a query: some hundred, EDNS and its padding included (RFC 8467);
 * and of all that wait. */
enum { QUERY_MAX = 4096, KEPT_MAX = 32 * 1024 * 1024 };
/* Bytes of a block for a query of some 300 bytes at most, as nearly all are;
 * how many blocks wait for the next ones. Of 2,750 instructions for a query and
 * its answer malloc() and free() took 320, these take 40. */
enum { QUERY_BLOCK = 768, SPARES_MAX = SHORTCUT_SPARES ? 256 : 0 };
/* How many of the oldest may give way; how many do, for one that is longer; ms
 * between lines about it. */
enum { OLDEST = 16, GIVE_WAY = QUERY_MAX / DNS_HEADER, CROWDED_MS = 60 * 1000 };

static struct frontend_stats *
stats(struct dns *d)
{
	return d->frontend->stats;
}

static uint64_t
dns_now(const struct dns *d)
{
	return loop_now(d->frontend->loop);
}

/* ---- queries ---- */

/* Bytes of a message's place in the memory of its query. */
static size_t
message_room(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

static bool
fits_block(size_t n)
{
	return sizeof(struct dns_query) + message_room(n) +
	    sizeof(struct addr) <= QUERY_BLOCK;
}

static struct dns_query *
dns_allocate(struct dns *d, size_t n)
{
	return fits_block(n) ? spares_allocate(&d->spares)
			     : malloc(sizeof(struct dns_query) +
				   message_room(n) + sizeof(struct addr));
}

static void
end_query(struct dns_query *q)
{
	struct dns *d = q->dns;

	expiry_cancel(&q->expiry);
	dns_asks_end(q);
	list_remove(&q->order);
	stats(d)->dns.waiting--;
	d->kept -= q->n;
	if (fits_block(q->n))
		spares_free(&d->spares, q);
	else
		free(q);
}

static void
send_back(struct dns_query *q, char *bytes, size_t n)
{
	const struct dgram_local *from = &q->local;
	struct frontend_stats *st = stats(q->dns);
	int fd = listener_reply_fd(q->listener, &from);

	if (dgram_send_to(fd, bytes, n, q->client, from) < 0) {
		st->datagrams.unsent++;
		return;
	}
	st->datagrams.down++;
	st->down += n;
	st->dns.answers[dns_answer_of(dns_code(bytes))]++;
	duration_add(&st->durations.first_byte,
	    loop_now_us(q->dns->frontend->loop) - q->came_us);
}

/* No server answered: the client gets SERVFAIL, unless it is denied: its
 * address may be spoofed. */
static void
give_up(struct dns_query *q)
{
	if (!pool_permits(q->dns->frontend->pool, &q->who)) {
		stats(q->dns)->datagrams.no_server++;
		end_query(q);
		return;
	}
	dns_set_id(q->message, q->id);
	stats(q->dns)->dns.failed++;
	send_back(q, q->message, dns_fail(q->message, q->n, q->end));
	end_query(q);
}

static void
wait_for_answer(struct dns_query *q)
{
	struct dns *d = q->dns;
	uint64_t due = q->asked + d->retry_ms, last = q->came + d->timeout_ms;

	expiry_cancel(&q->expiry);
	timeouts_add(
	    d->waiting, &q->expiry, q->all_asked || due > last ? last : due);
}

static bool
dns_dns_ask(struct dns_query *q, struct server *s)
{
	struct dns *d = q->dns;

	while (dns_ask(q, s) < 0)
		if (!dgram_error_blames(errno) ||
		    !dns_server_refused(d, s, errno))
			return false;
	return true;
}

/* Sends the query to the next server that takes it. When no server is left that
 * could answer, the client gets SERVFAIL. */
static void
pass_on(struct dns_query *q)
{
	struct dns *d = q->dns;
	struct frontend_core *f = d->frontend;
	struct server *s;

	for (;;) {
		s = pool_choose(f->pool, &q->who, &q->attempts, dns_now(d));
		q->all_asked = s == NULL;
		if (s == NULL || dns_dns_ask(q, s))
			break;
		f->stats->retries++;
	}
	if (list_is_empty(&q->asks))
		give_up(q);
	else
		wait_for_answer(q);
}

void
dns_adjust(struct dns *d)
{
	const struct dns_options *o = &d->frontend->options.dns;
	struct list *link;

	dns_sockets_adjust(d);
	if (d->retry_ms == o->retry_ms && d->timeout_ms == o->timeout_ms)
		return;
	d->retry_ms = o->retry_ms;
	d->timeout_ms = o->timeout_ms;
	for (link = d->order.next; link != &d->order; link = link->next)
		wait_for_answer(list_entry(link, struct dns_query, order));
}

/* The query goes to the next server, too; an answer of those before it is still
 * used. What is none, as an UPDATE, may be carried out already, and is not sent
 * twice. */
static void
on_silence(struct timeouts *t, struct expiry *x)
{
	struct dns_query *q = list_entry(x, struct dns_query, expiry);
	struct dns *d = q->dns;
	struct dns_ask *newest =
	    list_entry(q->asks.prev, struct dns_ask, of_query);

	(void)t;
	if (!newest->late)
		dns_server_silent(newest->socket, newest->sent);
	newest->late = true;
	if (dns_now(d) >= q->came + d->timeout_ms) {
		give_up(q);
	} else if (dns_is_query(q->message)) {
		stats(d)->retries++;
		pass_on(q);
	} else {
		q->all_asked = true;
		wait_for_answer(q);
	}
}

/* ---- from clients ---- */

static void
log_crowd(struct dns *d)
{
	const struct frontend_core *f = d->frontend;

	if (d->crowded_ms != 0 && dns_now(d) - d->crowded_ms < CROWDED_MS)
		return;
	d->crowded_ms = dns_now(d);
	log_warn("too many DNS queries wait for responses, the oldest get "
		 "SERVFAIL%s waiting=%" PRIu64 " dns_max=%" PRIu64,
	    f->label, f->stats->dns.waiting, f->options.dns.max);
}

/* Of the queries that wait one gives way: the oldest that no other server may
 * answer, or the oldest, if a server is silent about it. Returns whether one
 * did. */
static bool
evict_one(struct dns *d)
{
	struct list *link = d->order.next;
	struct dns_query *q, *chosen = NULL;
	int i;

	for (i = 0; i < OLDEST && link != &d->order; i++, link = link->next) {
		q = list_entry(link, struct dns_query, order);
		if (q->all_asked) {
			chosen = q;
			break;
		}
		if (i == 0 && dns_now(d) - q->came >= d->retry_ms)
			chosen = q;
	}
	log_crowd(d);
	if (chosen == NULL)
		return false;
	stats(d)->dns.evicted++;
	give_up(chosen);
	return true;
}

/* Whether there is room for another query, of `n` bytes. */
static bool
has_room(struct dns *d, size_t n)
{
	int i;

	for (i = 0; stats(d)->dns.waiting >= d->frontend->options.dns.max ||
	     d->kept + n > KEPT_MAX;
	     i++)
		if (i == GIVE_WAY || !evict_one(d))
			return false;
	return true;
}

/* Keeps a query whose question ends at `end`; NULL when too much is kept. */
static struct dns_query *
dns_keep(struct dns *d, struct listener *l, const struct dgram *in, size_t end_,
    const struct peer *who)
{
	struct frontend_core *f = d->frontend;
	struct dns_query *q;

	if (!has_room(d, in->n))
		return NULL;
	q = dns_allocate(d, in->n);
	if (q == NULL)
		return NULL;
	*q = (struct dns_query){ .dns = d,
		.listener = l,
		.local = in->local,
		.who = *who,
		.n = in->n,
		.end = end_,
		.id = dns_id(in->bytes),
		.came = dns_now(d),
		.came_us = loop_now_us(f->loop),
		.client = (struct addr *)(void *)(q->message +
		    message_room(in->n)) };
	list_init(&q->asks);
	memcpy(q->message, in->bytes, in->n);
	memcpy(q->client, &in->from, addr_size(&in->from));
	expiry_init(&q->expiry);
	list_append(&d->order, &q->order);
	d->kept += in->n;
	if (++f->stats->dns.waiting > f->stats->dns.peak)
		f->stats->dns.peak = f->stats->dns.waiting;
	f->stats->dns.queries++;
	return q;
}

/* Takes a query from a client: checks it and the client's limits, and sends it
 * to a server. */
static void
dns_take(struct dns *d, struct listener *l, const struct dgram *in)
{
	struct dns_query *q;
	struct dgram named;
	struct peer who;
	size_t end_;

	peer_from_addr(&who, &in->from);
	if (proxy_datagrams(d->frontend)) {
		/* without its header; the batch keeps its memory */
		named = *in;
		in = &named;
		if (!proxy_datagram_accept(d->frontend, &named, &who))
			return;
	}
	if (in->truncated || in->n > QUERY_MAX) {
		stats(d)->datagrams.too_long++;
		return;
	}
	end_ = dns_query_end(in->bytes, in->n);
	if (end_ == 0) {
		stats(d)->dns.malformed++;
		return;
	}
	if (d->frontend->limited &&
	    !limits_pass_datagram(d->frontend, &who)) {
		stats(d)->limits.dropped++;
		return;
	}
	q = dns_keep(d, l, in, end_, &who);
	if (q == NULL)
		stats(d)->datagrams.no_memory++;
	else
		pass_on(q);
}

void
dns_on_batch(struct listener *l, struct dgram_batch *b)
{
	struct frontend_core *f = l->arg;
	unsigned i;

	for (i = 0; i < b->count; i++)
		dns_take(f->dns, l, &b->at[i]);
}

/* Returns whether it may go on. */
static bool
dns_take_from(struct dns *d, struct listener *l, int fd, int most)
{
	int round, n = DGRAM_BATCH;

	for (round = 0; round < FAIR_SHARE && n == DGRAM_BATCH; round++) {
		n = dump_receive(d->frontend->options.dump, fd, d->batch, most);
		l->alone = round == 0 && n == 1;
		if (n > 0 && !listener_take(l, d->batch))
			return false;
	}
	return true;
}

void
dns_on_datagrams(struct listener *l)
{
	struct frontend_core *f = l->arg;
	int fd;

	if (!dns_take_from(f->dns, l, l->fd, listener_most(l)))
		return;
	fd = dgram_reply_next(&l->replies, l->fd);
	if (fd >= 0)
		(void)dns_take_from(f->dns, l, fd, DGRAM_BATCH);
}

/* ---- from servers ---- */

static bool
dns_is_failure(const char *answer)
{
	unsigned code = dns_code(answer);

	return code == DNS_SERVFAIL || code == DNS_REFUSED;
}

/* Whether another server may do better. What is no query may have been carried
 * out in spite of a SERVFAIL, as by the server that it was forwarded to
 * (RFC 2136, 2.2). */
static bool
dns_is_for_another(const struct dns_query *q, const char *answer)
{
	return dns_code(answer) == DNS_REFUSED ||
	    (dns_code(answer) == DNS_SERVFAIL && dns_is_query(q->message));
}

/* Where one server fails another one may know the answer: the query goes to one
 * that is not blacklisted. Returns whether any has it; else the answer of `a`
 * is all there will be. */
static bool
await_another(struct dns_query *q, struct dns_ask *a)
{
	struct dns *d = q->dns;
	struct server *s;

	if (q->asks.next != q->asks.prev) {
		dns_ask_end(a);
		pass_on(q);
		return true;
	}
	do {
		s = pool_choose(
		    d->frontend->pool, &q->who, &q->attempts, dns_now(d));
		if (s == NULL || s->blacklisted_until != 0)
			return false;
	} while (!dns_dns_ask(q, s));
	dns_ask_end(a);
	wait_for_answer(q);
	return true;
}

/* Takes a server's answer: matches it to its query, and passes it to the
 * client, unless another server may have a better one. */
static void
take_answer(struct dns *d, struct dns_socket *s, struct dgram *in)
{
	struct dns_key key = { .socket = s->number };
	struct frontend_core *f = d->frontend;
	struct dns_query *q;
	struct dns_ask *a;

	if (in->n < DNS_HEADER || in->truncated) {
		f->stats->dns.malformed++;
		return;
	}
	key.id = dns_id(in->bytes);
	a = dns_ask_find(d, &key);
	q = a != NULL ? a->query : NULL;
	if (q == NULL || !dns_answers(in->bytes, in->n, q->message, q->end)) {
		f->stats->dns.unasked++; /* too late, or forged */
		return;
	}
	dns_server_answered(s, !dns_is_failure(in->bytes));
	pool_answered(a->server, loop_now_us(f->loop) - a->sent_us);
	pool_moved(f->pool, a->server, &q->who, &q->attempts, 0, in->n);
	if (dns_is_for_another(q, in->bytes) && await_another(q, a))
		return;
	dns_set_id(in->bytes, q->id);
	send_back(q, in->bytes, in->n);
	end_query(q);
}

/* Takes the query away from a server, or from one socket to it. Returns whether
 * it was there. */
static bool
take_back(struct dns_query *q, const struct server *from,
    const struct dns_socket *socket)
{
	struct list *link, *next;
	bool was_there = false;

	for (link = q->asks.next; link != &q->asks; link = next) {
		struct dns_ask *a = list_entry(link, struct dns_ask, of_query);

		next = link->next;
		if (socket != NULL ? a->socket != socket : a->server != from)
			continue;
		dns_ask_end(a);
		was_there = true;
	}
	return was_there;
}

/* Handles a query whose server refuses it. A query is sent elsewhere. Another
 * message, for example an UPDATE, may have been carried out already: it is sent
 * elsewhere only if it is known to be the refused one, as nothing else went to
 * the socket; else its client gets SERVFAIL. Returns whether the message is to
 * be sent elsewhere. */
static bool
move_refused(struct dns_query *q, const struct dns_socket *s, bool again)
{
	if (dns_is_query(q->message))
		return take_back(q, s->server, again ? s : NULL);
	if (!take_back(q, s->server, s))
		return false;
	if (s->sent == 1)
		return true;
	give_up(q);
	return false;
}

/* The server's system refuses: all its queries go elsewhere, or to another
 * address of it. */
static void
dns_on_refused(struct dns *d, struct dns_socket *s, int error)
{
	struct list *link, *next, moved = LIST_INIT(moved);
	bool again;

	dns_socket_hold(s); /* it must not go while we walk */
	again = dns_socket_refused(s, error);
	for (link = d->order.next; link != &d->order; link = next) {
		struct dns_query *q = list_entry(link, struct dns_query, order);

		next = link->next;
		if (!move_refused(q, s, again))
			continue;
		stats(d)->retries++;
		if (again)
			q->attempts = (struct attempts){ .count = 0 };
		list_remove(&q->order);
		list_append(&moved, &q->order);
	}
	while ((link = list_first(&moved)) != NULL) {
		list_remove(link);
		list_append(&d->order, link);
		pass_on(list_entry(link, struct dns_query, order));
	}
	dns_socket_let_go(s);
}

void
dns_on_answers(struct watch *w, unsigned ready)
{
	struct dns_socket *s = list_entry(w, struct dns_socket, watch);
	struct dns *d = s->dns;
	int round, n = DGRAM_BATCH, error = 0;
	unsigned i;

	(void)ready;
	dns_socket_hold(s); /* it must not go while it is read */
	for (round = 0; round < FAIR_SHARE && n == DGRAM_BATCH; round++) {
		n = dump_receive_answers(
		    d->frontend->options.dump, s->fd, d->batch, &s->alone);
		error = n < 0 ? errno : 0;
		for (i = 0; n > 0 && i < d->batch->count; i++)
			take_answer(d, s, &d->batch->at[i]);
	}
	if (error != 0 && dgram_error_blames(error))
		dns_on_refused(d, s, error);
	dns_socket_let_go(s);
}

/* ---- life ---- */

int
dns_init(struct dns *d, struct frontend_core *f)
{
	d->frontend = f;
	list_init(&d->order);
	spares_init(&d->spares, QUERY_BLOCK, SPARES_MAX);
	if (!f->options.dns.on)
		return 0;
	hash_key_init(&d->secret);
	d->waiting = timeouts_of_loop(f->loop, on_silence, NULL);
	d->batch = dgram_batch_new(f->share.scratch);
	return d->waiting == NULL || d->batch == NULL ||
		hash_table_init(&d->asks) < 0
	    ? -1
	    : 0;
}

void
dns_become(struct dns *d)
{
	hash_key_init(&d->secret);
	d->bits = 0;
}

void
dns_drop_listener(struct dns *d, const struct listener *l)
{
	struct list *link, *next;

	for (link = d->order.next; link != &d->order; link = next) {
		struct dns_query *q = list_entry(link, struct dns_query, order);

		next = link->next;
		if (l == NULL || q->listener == l)
			end_query(q);
	}
}

void
dns_fini(struct dns *d)
{
	dns_drop_listener(d, NULL);
	dns_sockets_retire(d);
	hash_table_fini(&d->asks);
	spares_fini(&d->spares);
	free(d->batch);
	free(d->servers);
}
