/* cert_store.c: the certificates of a directory, by the names they are for. The
 * files are read in cert_store_read.c. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tls/cert_store_private.h"

/* Certificates kept as OpenSSL has them. */
enum { PARSED_MAX = 1000 };

/* ---- the table ---- */

static bool
cert_store_is_name(const struct hash_table_link *l, const void *key)
{
	const struct cert_entry *n =
	    (const struct cert_entry *)(const void *)((const char *)l -
		offsetof(struct cert_entry, link));

	return strcmp(n->name, key) == 0;
}

struct cert_entry *
cert_entry_find(const struct cert_store *s, const char *name)
{
	struct hash_table_link *l = hash_table_find(&s->table,
	    hash_table_hash(&s->table, name, strlen(name)), cert_store_is_name,
	    name);

	return l != NULL ? list_entry(l, struct cert_entry, link) : NULL;
}

static void
forget_certificate(struct cert_store *s, struct cert_entry *n)
{
	if (n->certificate == NULL)
		return;
	certificate_drop(n->certificate);
	n->certificate = NULL;
	list_remove(&n->parsed);
	s->parsed_count--;
}

void
cert_entry_set(
    struct cert_store *s, struct cert_entry *n, struct certificate *c)
{
	forget_certificate(s, n);
	n->certificate = c;
	n->ends = c->ends;
	list_append(&s->parsed, &n->parsed);
	if (++s->parsed_count > PARSED_MAX)
		forget_certificate(s,
		    list_entry(
			list_first(&s->parsed), struct cert_entry, parsed));
}

void
cert_entry_free(struct cert_store *s, struct cert_entry *n)
{
	if (s->next == &n->order)
		s->next = n->order.next;
	s->walk = NULL;
	forget_certificate(s, n);
	list_remove(&n->parsed); /* of the fresh */
	list_remove(&n->unsettled);
	hash_table_remove(&s->table, &n->link);
	list_remove(&n->order);
	cert_texts_fini(&n->texts);
	s->count--;
	free(n);
}

struct cert_entry *
cert_entry_new(struct cert_store *s, const char *name)
{
	size_t n = strlen(name);
	struct cert_entry *new = calloc(1, sizeof(*new) + n + 1);

	if (new == NULL)
		return NULL;
	memcpy(new->name, name, n + 1);
	cert_texts_init(&new->texts);
	list_init(&new->unsettled);
	list_append(&s->fresh, &new->parsed);
	list_append(&s->all, &new->order);
	hash_table_add(
	    &s->table, &new->link, hash_table_hash(&s->table, name, n));
	s->count++;
	return new;
}

/* ---- for clients ---- */

static struct cert_entry *
find_good(const struct cert_store *s, const char *name)
{
	struct cert_entry *n = cert_entry_find(s, name);

	return n != NULL && n->good ? n : NULL;
}

/* The certificate of the entry, parsed again if it was dropped, with a
 * reference for the caller; NULL: it cannot be parsed. With `counts` its use is
 * counted. */
static struct certificate *
use_certificate(struct cert_store *s, struct cert_entry *n, bool counts)
{
	struct certificate *c;
	struct error e;

	if (n == NULL)
		return NULL;
	if (n->certificate != NULL) {
		list_remove(&n->parsed);
		list_append(&s->parsed, &n->parsed);
	} else if ((c = certificate_parse(&n->texts, &e)) != NULL) {
		cert_entry_set(s, n, c);
	} else {
		return NULL;
	}
	n->used += counts;
	return certificate_hold(n->certificate);
}

struct certificate *
cert_store_find(struct cert_store *s, const char *asked, bool counts)
{
	char name[CERT_NAME_MAX + 2];
	size_t n = strlen(asked), i;
	const char *dot;
	struct cert_entry *found;

	if (n == 0 || n > CERT_NAME_MAX)
		return NULL;
	for (i = 0; i <= n; i++)
		name[i] = (char)tolower((unsigned char)asked[i]);
	if (name[n - 1] == '.')
		name[n - 1] = '\0';
	found = find_good(s, name);
	dot = strchr(name, '.');
	if (found == NULL && dot != NULL && dot != name) {
		size_t skip = (size_t)(dot - name) - 1;

		name[skip] = '*';
		found = find_good(s, name + skip);
	}
	return use_certificate(s, found, counts);
}

/* ---- life ---- */

struct cert_store *
cert_store_new(const char *path, struct error *e)
{
	struct cert_store *s = calloc(1, sizeof(*s));
	struct list *link;

	if (s == NULL || (s->path = strdup(path)) == NULL ||
	    hash_table_init(&s->table) < 0) {
		if (s != NULL)
			free(s->path);
		free(s);
		error_set(e, "out of memory");
		return NULL;
	}
	s->refs = 1;
	list_init(&s->all);
	list_init(&s->parsed);
	list_init(&s->fresh);
	list_init(&s->unsettled);
	s->dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (s->dir < 0)
		error_set(e, "%s", strerror(errno));
	if (s->dir < 0 || cert_store_read(s, e) < 0) {
		cert_store_drop(s);
		return NULL;
	}
	while ((link = list_first(&s->fresh)) != NULL)
		cert_entry_read(
		    s, list_entry(link, struct cert_entry, parsed), 0);
	return s;
}

struct cert_store *
cert_store_hold(struct cert_store *s)
{
	if (s != NULL)
		s->refs++;
	return s;
}

void
cert_store_drop(struct cert_store *s)
{
	struct list *link;

	if (s == NULL || --s->refs > 0)
		return;
	while ((link = list_first(&s->all)) != NULL)
		cert_entry_free(s, list_entry(link, struct cert_entry, order));
	hash_table_fini(&s->table);
	if (s->dir >= 0)
		close(s->dir);
	free(s->path);
	free(s);
}

const char *
cert_store_path(const struct cert_store *s)
{
	return s->path;
}

/* ---- for control ---- */

static struct list *
next_good(struct cert_store *s, struct list *link)
{
	while (link != &s->all &&
	    !list_entry(link, struct cert_entry, order)->good)
		link = link->next;
	return link;
}

/* `*at` is a count. The store remembers the position in the list until an entry
 * leaves or becomes good. It does not remember the end, as entries may be added
 * after it. */
bool
cert_store_next(
    struct cert_store *s, unsigned *at, struct cert_store_info *info)
{
	const struct cert_entry *n;

	if (s->walk == NULL || s->walk_at > *at) {
		s->walk = next_good(s, s->all.next);
		s->walk_at = 0;
	}
	for (; s->walk_at < *at && s->walk != &s->all; s->walk_at++)
		s->walk = next_good(s, s->walk->next);
	if (s->walk == &s->all) {
		s->walk = NULL;
		return false;
	}
	n = list_entry(s->walk, struct cert_entry, order);
	*info = (struct cert_store_info){ n->name, n->ends, n->used };
	++*at;
	return true;
}
