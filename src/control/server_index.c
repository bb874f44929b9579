/* server_index.c: see server_index.h. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "control/server_index.h"

/* A key of a server. */
struct key {
	struct hash_table_link link;
	struct key *next; /* of the same server */
	unsigned slot;
};

struct server_index {
	struct hash_table table;
	struct key **keys; /* by slot */
	unsigned room;
};

struct server_index *
server_index_new(void)
{
	struct server_index *x = calloc(1, sizeof(*x));

	if (x != NULL && hash_table_init(&x->table) < 0) {
		free(x);
		return NULL;
	}
	return x;
}

static void
forget(struct server_index *x, unsigned slot)
{
	struct key *k;

	while (slot < x->room && (k = x->keys[slot]) != NULL) {
		x->keys[slot] = k->next;
		hash_table_remove(&x->table, &k->link);
		free(k);
	}
}

void
server_index_free(struct server_index *x)
{
	unsigned slot;

	if (x == NULL)
		return;
	for (slot = 0; slot < x->room; slot++)
		forget(x, slot);
	free(x->keys);
	hash_table_fini(&x->table);
	free(x);
}

/* ---- keys ---- */

/* Longer ones are cut: then too much is found, never too little. */
enum { KEY_MAX = 256 };

static uint64_t
hash_of(const struct server_index *x, const char *text)
{
	char lower[KEY_MAX];
	size_t n;

	for (n = 0; n < KEY_MAX && text[n] != '\0'; n++)
		lower[n] = (char)tolower((unsigned char)text[n]);
	return hash_table_hash(&x->table, lower, n);
}

static int
add(struct server_index *x, unsigned slot, const char *text)
{
	uint64_t hash = hash_of(x, text);
	struct key *k;

	for (k = x->keys[slot]; k != NULL; k = k->next)
		if (k->link.hash == hash)
			return 0;
	k = malloc(sizeof(*k));
	if (k == NULL)
		return -1;
	*k = (struct key){ .slot = slot, .next = x->keys[slot] };
	x->keys[slot] = k;
	hash_table_add(&x->table, &k->link, hash);
	return 0;
}

int
server_index_set(struct server_index *x, const struct server *s)
{
	char ip[ADDR_TEXT_MAX];
	struct key **keys;
	unsigned i;
	int rc;

	forget(x, s->slot);
	if (!s->present || s->role != SERVER_REGULAR)
		return 0;
	keys = array_grow(x->keys, &x->room, sizeof(struct key *), s->slot);
	if (keys == NULL)
		return -1;
	x->keys = keys;
	rc = add(x, s->slot, s->name);
	for (i = 0; i < s->addrs.count; i++)
		rc |= add(x, s->slot, addr_format_host(&s->addrs.addr[i], ip));
	return rc;
}

/* ---- finding ---- */

struct visitor {
	void (*visit)(void *arg, unsigned slot);
	void *arg;
};

/* None is the one: all of them are visited. */
static bool
visit_all(const struct hash_table_link *l, const void *key)
{
	const struct visitor *v = key;

	v->visit(v->arg,
	    list_entry((struct hash_table_link *)(uintptr_t)l, struct key, link)
		->slot);
	return false;
}

void
server_index_each(const struct server_index *x, const char *key,
    void (*visit)(void *arg, unsigned slot), void *arg)
{
	struct visitor v = { visit, arg };

	(void)hash_table_find(&x->table, hash_of(x, key), visit_all, &v);
}
