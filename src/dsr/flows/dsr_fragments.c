/* dsr_fragments.c: a ring of packets, with a table to find them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "dsr/flows/dsr_fragments.h"

struct dsr_fragment {
	struct hash_table_link link;
	struct dsr_fragment_key key;
	uint64_t due; /* ms; 0: not in the table */
	uint32_t server;
};

_Static_assert(sizeof(struct dsr_fragment_key) == 40, "a key has no holes");

int
dsr_fragments_init(struct dsr_fragments *fr, uint32_t size)
{
	memset(fr, 0, sizeof(*fr));
	if (hash_table_init(&fr->table) < 0)
		return -1;
	fr->size = size;
	fr->ring = calloc(size, sizeof(*fr->ring));
	if (fr->ring == NULL) {
		hash_table_fini(&fr->table);
		return -1;
	}
	return 0;
}

void
dsr_fragments_fini(struct dsr_fragments *fr)
{
	hash_table_fini(&fr->table);
	free(fr->ring);
	memset(fr, 0, sizeof(*fr));
}

void
dsr_fragment_key_make(struct dsr_fragment_key *key, const struct peer *from,
    const struct peer *to, uint8_t protocol, uint32_t id)
{
	memcpy(key->from, from->ip, sizeof(key->from));
	memcpy(key->to, to->ip, sizeof(key->to));
	key->id = id;
	key->protocol = from->family == AF_INET ? protocol : 0;
	key->family = (uint8_t)from->family;
	key->zero = 0;
}

static bool
dsr_fragment_is_key(const struct hash_table_link *l, const void *key)
{
	const struct dsr_fragment *x =
	    (const struct dsr_fragment *)(const void *)((const char *)l -
		offsetof(struct dsr_fragment, link));

	return memcmp(&x->key, key, sizeof(x->key)) == 0;
}

static struct dsr_fragment *
dsr_fragment_of(const struct dsr_fragments *fr,
    const struct dsr_fragment_key *key, uint64_t hash)
{
	struct hash_table_link *l =
	    hash_table_find(&fr->table, hash, dsr_fragment_is_key, key);

	return l != NULL ? list_entry(l, struct dsr_fragment, link) : NULL;
}

static void
dsr_fragments_drop(struct dsr_fragments *fr, struct dsr_fragment *x)
{
	hash_table_remove(&fr->table, &x->link);
	x->due = 0;
}

void
dsr_fragments_add(struct dsr_fragments *fr, const struct dsr_fragment_key *key,
    uint32_t server, uint64_t now)
{
	uint64_t hash = hash_table_hash(&fr->table, key, sizeof(*key));
	struct dsr_fragment *x = dsr_fragment_of(fr, key, hash);

	/* The ring is in the order of time, so that an older entry of the same
	 * packet leaves a gap. */
	if (x != NULL)
		dsr_fragments_drop(fr, x);
	x = &fr->ring[fr->next];
	fr->next = (fr->next + 1) % fr->size;
	if (x->due != 0)
		dsr_fragments_drop(fr, x);
	x->key = *key;
	x->due = now + DSR_FRAGMENT_MS;
	x->server = server;
	hash_table_add(&fr->table, &x->link, hash);
}

bool
dsr_fragments_find(const struct dsr_fragments *fr,
    const struct dsr_fragment_key *key, uint64_t now, uint32_t *server)
{
	uint64_t hash = hash_table_hash(&fr->table, key, sizeof(*key));
	const struct dsr_fragment *x = dsr_fragment_of(fr, key, hash);

	if (x == NULL || x->due <= now)
		return false;
	*server = x->server;
	return true;
}
