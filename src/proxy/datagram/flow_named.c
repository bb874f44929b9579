/* flow_named.c: datagrams of clients behind proxies (accept_proxy): a header of
 * each has the client address, the answers go to the proxy. */
#include "config.h"

#include <string.h>

#include "proxy/core/proxy_datagram.h"
#include "proxy/datagram/flow_private.h"

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

/* What the kernel joined is several, each with a header. */
static void
flow_named_take_pieces(
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

void
flows_take_named(
    struct flows *fs, struct listener *l, const struct dgram_batch *b)
{
	unsigned i;

	for (i = 0; i < b->count; i++)
		flow_named_take_pieces(fs, l, &b->at[i]);
}
