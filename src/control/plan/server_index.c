/* server_index.c: see server_index.h. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "control/plan/server_index.h"

/* A key, and the servers that have it, which may be thousands at one address: a
 * chain of the table must not be as long. */
struct group {
	struct hash_table_link link;
	struct list keys; /* never empty */
};

/* A key of a server. */
struct key {
	struct list same; /* in its group */
	struct group *group;
	struct key *next; /* of the same server */
	unsigned slot;
};

struct server_index {
	struct hash_table table; /* groups */
	struct key **keys;	 /* by slot */
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
server_index_forget(struct server_index *x, unsigned slot)
{
	struct key *k;

	while (slot < x->room && (k = x->keys[slot]) != NULL) {
		x->keys[slot] = k->next;
		list_remove(&k->same);
		if (list_is_empty(&k->group->keys)) {
			hash_table_remove(&x->table, &k->group->link);
			free(k->group);
		}
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
		server_index_forget(x, slot);
	free(x->keys);
	hash_table_fini(&x->table);
	free(x);
}

/* ---- keys ---- */

/* Longer ones are cut: then too much is found, never too little. */
enum { KEY_MAX = 256 };

static uint64_t
server_index_hash_of(const struct server_index *x, const char *text)
{
	char lower[KEY_MAX];
	size_t n;

	for (n = 0; n < KEY_MAX && text[n] != '\0'; n++)
		lower[n] = (char)tolower((unsigned char)text[n]);
	return hash_table_hash(&x->table, lower, n);
}

static struct group *
server_index_group_of(const struct hash_table_link *l)
{
	return list_entry(
	    (struct hash_table_link *)(uintptr_t)l, struct group, link);
}

static bool
is_any(const struct hash_table_link *l, const void *key)
{
	(void)l;
	(void)key;
	return true;
}

/* The group of the key, perhaps a new one, without servers; NULL if memory is
 * short. */
static struct group *
find_group(struct server_index *x, uint64_t hash)
{
	struct hash_table_link *l =
	    hash_table_find(&x->table, hash, is_any, NULL);
	struct group *g;

	if (l != NULL)
		return server_index_group_of(l);
	g = malloc(sizeof(*g));
	if (g == NULL)
		return NULL;
	list_init(&g->keys);
	hash_table_add(&x->table, &g->link, hash);
	return g;
}

static int
server_index_add(struct server_index *x, unsigned slot, const char *text)
{
	uint64_t hash = server_index_hash_of(x, text);
	struct key *k;

	for (k = x->keys[slot]; k != NULL; k = k->next)
		if (k->group->link.hash == hash)
			return 0;
	k = malloc(sizeof(*k));
	if (k == NULL)
		return -1;
	*k = (struct key){ .slot = slot, .next = x->keys[slot] };
	k->group = find_group(x, hash);
	if (k->group == NULL) {
		free(k);
		return -1;
	}
	list_append(&k->group->keys, &k->same);
	x->keys[slot] = k;
	return 0;
}

int
server_index_set(struct server_index *x, const struct server *s)
{
	char ip[ADDR_TEXT_MAX];
	struct key **keys;
	unsigned i;
	int rc;

	server_index_forget(x, s->slot);
	if ((!s->present && !s->unresolved) || s->role != SERVER_REGULAR)
		return 0;
	keys = array_grow(x->keys, &x->room, sizeof(struct key *), s->slot);
	if (keys == NULL)
		return -1;
	x->keys = keys;
	rc = server_index_add(x, s->slot, s->name);
	for (i = 0; i < s->addrs.count; i++)
		rc |= server_index_add(
		    x, s->slot, addr_format_host(&s->addrs.addr[i], ip));
	return rc;
}

/* ---- finding ---- */

void
server_index_each(const struct server_index *x, const char *key,
    void (*visit)(void *arg, unsigned slot), void *arg)
{
	const struct hash_table_link *l = hash_table_find(
	    &x->table, server_index_hash_of(x, key), is_any, NULL);
	const struct list *head, *at;

	if (l == NULL)
		return;
	head = &server_index_group_of(l)->keys;
	for (at = head->next; at != head; at = at->next)
		visit(arg,
		    list_entry((struct list *)(uintptr_t)at, struct key, same)
			->slot);
}
