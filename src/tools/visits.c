/* visits.c: see visits.h.
 *
 *     table of requests per server ----> its visits in the order of time
 *     list of all visits, the oldest first, which is forgotten first */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/list.h"
#include "tools/visits.h"

struct asked {
	struct hash_table_link link;
	struct list visits; /* in the order of time */
	char text[];	    /* "SERVER REQUEST" */
};

struct visit {
	struct list in_asked, by_age;
	struct asked *asked;
	int64_t time;
	char client[];
};

struct visits {
	struct hash_table table;
	struct list by_age; /* the oldest first */
	size_t count, most;
	char *key; /* the text of what is looked for */
	size_t key_room;
};

struct visits *
visits_new(size_t most)
{
	struct visits *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->most = most;
	list_init(&v->by_age);
	if (hash_table_init(&v->table) == 0)
		return v;
	free(v);
	errno = ENOMEM;
	return NULL;
}

static struct visit *
of_age(struct list *link)
{
	return list_entry(link, struct visit, by_age);
}

static struct visit *
of_asked(struct list *link)
{
	return list_entry(link, struct visit, in_asked);
}

static void
visits_remove(struct visits *v, struct visit *visit)
{
	struct asked *w = visit->asked;

	list_remove(&visit->in_asked);
	list_remove(&visit->by_age);
	free(visit);
	v->count--;
	if (list_first(&w->visits) != NULL)
		return;
	hash_table_remove(&v->table, &w->link);
	free(w);
}

void
visits_free(struct visits *v)
{
	if (v == NULL)
		return;
	while (v->count > 0)
		visits_remove(v, of_age(list_first(&v->by_age)));
	hash_table_fini(&v->table);
	free(v->key);
	free(v);
}

/* ---- requests ---- */

static bool
visit_is_asked(const struct hash_table_link *l, const void *key)
{
	const char *text = (const char *)l + offsetof(struct asked, text) -
	    offsetof(struct asked, link);

	return strcmp(text, key) == 0;
}

/* Makes the key. Returns its length, or 0 with errno ENOMEM. */
static size_t
visits_set_key(struct visits *v, const char *server, const char *request)
{
	size_t room = strlen(server) + strlen(request) + 2;

	if (room > v->key_room) {
		char *key = realloc(v->key, 2 * room);

		if (key == NULL)
			return 0;
		v->key = key;
		v->key_room = 2 * room;
	}
	return (size_t)snprintf(v->key, v->key_room, "%s %s", server, request);
}

static struct asked *
find_asked(struct visits *v, uint64_t hash)
{
	struct hash_table_link *l =
	    hash_table_find(&v->table, hash, visit_is_asked, v->key);

	return l != NULL ? list_entry(l, struct asked, link) : NULL;
}

static struct asked *
add_asked(struct visits *v, uint64_t hash, size_t length)
{
	struct asked *w = malloc(sizeof(*w) + length + 1);

	if (w == NULL)
		return NULL;
	list_init(&w->visits);
	memcpy(w->text, v->key, length + 1);
	hash_table_add(&v->table, &w->link, hash);
	return w;
}

/* ---- visits ---- */

/* Whether there is one of the same second. Those that come late are rare, and
 * nearly in order: the search begins at the end. Sets *before to the visit
 * before it, or to the head. */
static bool
find_second(struct asked *w, int64_t time, struct list **before)
{
	struct list *at = w->visits.prev;

	while (at != &w->visits && of_asked(at)->time > time)
		at = at->prev;
	*before = at;
	return at != &w->visits && of_asked(at)->time == time;
}

int
visits_add(struct visits *v, int64_t time, const char *client,
    const char *server, const char *request)
{
	size_t length = visits_set_key(v, server, request),
	       n = strlen(client) + 1;
	struct visit *new = malloc(sizeof(*new) + n);
	struct list *before;
	struct asked *w;
	uint64_t hash;

	if (new == NULL || length == 0) {
		free(new);
		return -1;
	}
	hash = hash_table_hash(&v->table, v->key, length);
	w = find_asked(v, hash);
	if ((w == NULL && (w = add_asked(v, hash, length)) == NULL) ||
	    find_second(w, time, &before)) {
		free(new);
		return w != NULL ? 0 : -1;
	}
	new->asked = w;
	new->time = time;
	memcpy(new->client, client, n);
	list_insert_after(before, &new->in_asked);
	list_append(&v->by_age, &new->by_age);
	if (++v->count > v->most)
		visits_remove(v, of_age(list_first(&v->by_age)));
	return 0;
}

/* Visits before the newest one of `time` or earlier are nearest to nothing that
 * is still to come. */
static void
forget_old(struct visits *v, struct asked *w, int64_t time)
{
	struct list *first = w->visits.next;

	struct list *next;

	for (; (next = first->next) != &w->visits; first = next) {
		if (of_asked(next)->time > time)
			return;
		visits_remove(v, of_asked(first));
	}
}

const char *
visits_find(struct visits *v, int64_t time, int64_t slack, const char *server,
    const char *request)
{
	size_t length = visits_set_key(v, server, request);
	struct visit *visit, *best = NULL;
	struct list *link;
	struct asked *w;

	if (length == 0)
		return NULL;
	w = find_asked(v, hash_table_hash(&v->table, v->key, length));
	if (w == NULL)
		return NULL;
	forget_old(v, w, time - slack);
	for (link = w->visits.next; link != &w->visits; link = link->next) {
		visit = of_asked(link);
		if (best == NULL ||
		    llabs(visit->time - time) < llabs(best->time - time))
			best = visit;
	}
	return best->client;
}
