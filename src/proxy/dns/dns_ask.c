/* dns_ask.c: queries at servers, found again by socket and id. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/core/proxy_datagram.h"
#include "proxy/dns/dns_private.h"
#include "proxy/wire/dns_message.h"

/* Ids tried before a socket counts as full. */
enum { DRAWS = 8 };

static bool
dns_ask_is_key(const struct hash_table_link *l, const void *key)
{
	const struct dns_ask *a =
	    (const struct dns_ask *)(const void *)((const char *)l -
		offsetof(struct dns_ask, link));

	return memcmp(&a->key, key, sizeof(a->key)) == 0;
}

/* No secret is needed for it: the keys in the table are drawn, not chosen by
 * others. */
static uint64_t
hash_of(const struct dns_key *key)
{
	return hash_mix(key->socket << 16 ^ key->id);
}

struct dns_ask *
dns_ask_find(struct dns *d, const struct dns_key *key)
{
	struct hash_table_link *l =
	    hash_table_find(&d->asks, hash_of(key), dns_ask_is_key, key);

	return l != NULL ? list_entry(l, struct dns_ask, link) : NULL;
}

/* An id that is free on this socket: of that number, or of others. */
static bool
draw_id(struct dns *d, const struct dns_socket *s, uint32_t drawn,
    struct dns_key *key)
{
	int i;

	for (i = 0; i < DRAWS; i++, drawn = dns_draw(d)) {
		*key = (struct dns_key){ s->number,
			drawn >> (DNS_DRAWN - DNS_ID_BITS) };
		if (dns_ask_find(d, key) == NULL)
			return true;
	}
	return false;
}

static int
send_to(struct dns_query *q, const struct dns_socket *s,
    const struct dns_key *key)
{
	char header[PROXY_HEADER_DATAGRAM];
	size_t head = 0;

	/* each query is the first, and the only one, of its client */
	if (q->dns->frontend->options.udp.proxy != UDP_PROXY_OFF)
		head = proxy_datagram_header(
		    header, &q->who, q->listener, &q->local);
	dns_set_id(q->message, (uint16_t)key->id);
	return dgram_send(s->fd, header, head, q->message, q->n);
}

/* Most queries need one. */
static struct dns_ask *
new_ask(struct dns_query *q)
{
	if (q->first.socket == NULL)
		return &q->first;
	return calloc(1, sizeof(struct dns_ask));
}

int
dns_ask(struct dns_query *q, struct server *server)
{
	struct dns *d = q->dns;
	struct frontend_core *f = d->frontend;
	uint32_t drawn = dns_draw(d);
	struct dns_socket *s = dns_socket_to(d, server, drawn);
	struct dns_key key;
	struct dns_ask *a;

	if (s == NULL)
		return -1;
	if (!draw_id(d, s, drawn, &key)) {
		errno = ENOBUFS;
		return -1;
	}
	if (send_to(q, s, &key) < 0 || (a = new_ask(q)) == NULL)
		return -1;
	q->asked = loop_now(f->loop);
	*a = (struct dns_ask){ .key = key,
		.query = q,
		.socket = s,
		.server = server,
		.sent = q->asked,
		.sent_us = loop_now_us(f->loop) };
	list_append(&q->asks, &a->of_query);
	hash_table_add(&d->asks, &a->link, hash_of(&key));
	s->sent++;
	dns_socket_hold(s);
	pool_opened(f->pool, server, &q->who, &q->attempts, q->asked);
	pool_moved(f->pool, server, &q->who, &q->attempts, q->n, 0);
	f->stats->datagrams.up++;
	f->stats->up += q->n;
	return 0;
}

void
dns_ask_end(struct dns_ask *a)
{
	struct dns_query *q = a->query;
	struct dns *d = q->dns;
	struct dns_socket *s = a->socket;

	hash_table_remove(&d->asks, &a->link);
	list_remove(&a->of_query);
	a->socket = NULL;
	pool_closed(
	    d->frontend->pool, a->server, &q->who, &q->attempts, 0, 0);
	dns_socket_let_go(s);
	if (a != &q->first)
		free(a);
}

void
dns_asks_end(struct dns_query *q)
{
	struct list *link;

	while ((link = list_first(&q->asks)) != NULL)
		dns_ask_end(list_entry(link, struct dns_ask, of_query));
}
