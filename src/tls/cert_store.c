/* cert_store.c: the files of a directory, and a table of the names they are for.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/table.h"
#include "base/watched.h"
#include "tls/cert_files.h"
#include "tls/cert_store.h"

/* Certificates kept as OpenSSL has them. */
enum { PARSED_MAX = 1000 };
/* What is done in one go, not to hold up clients: names looked at, and read, which
 * takes half a millisecond each. */
enum { LOOKS_AT_ONCE = 500, READS_AT_ONCE = 10, GO_ON_MS = 2 };

struct entry {
	struct table_link link;
	struct list order; /* of all */
	struct list
	    parsed; /* of those with a certificate, the last used last; or of
		     * those never read */
	struct list unsettled;
	struct settling settling;
	struct cert_texts texts;
	struct certificate *certificate; /* NULL: to be made from the texts */
	struct cert_stamps seen;
	time_t ends;
	uint64_t used;
	bool wanted; /* its file was there at the last reading */
	bool good;   /* else none of its files could be used so far */
	char name[]; /* as clients send it */
};

struct cert_store {
	unsigned refs;
	char *path;
	int dir;
	struct stamp seen;
	struct table table;
	struct list all, parsed, fresh;
	struct list unsettled; /* by the time when they are read once more */
	unsigned due; /* of all, still to be looked at */
	unsigned count, good_count, parsed_count;
	bool unsure;	   /* more may have come since, and `seen` not tell */
	struct list *next; /* of all, to be looked at */
	struct list *walk; /* where cert_store_next() was; NULL: lost */
	unsigned walk_at;
};

/* ---- the table ---- */

static bool
is_name(const struct table_link *l, const void *key)
{
	const struct entry *n =
	    (const struct entry *)(const void *)((const char *)l -
		offsetof(struct entry, link));

	return strcmp(n->name, key) == 0;
}

static struct entry *
find(const struct cert_store *s, const char *name)
{
	struct table_link *l = table_find(&s->table,
	    table_hash(&s->table, name, strlen(name)), is_name, name);

	return l != NULL ? list_entry(l, struct entry, link) : NULL;
}

static void
forget_certificate(struct cert_store *s, struct entry *n)
{
	if (n->certificate == NULL)
		return;
	certificate_drop(n->certificate);
	n->certificate = NULL;
	list_remove(&n->parsed);
	s->parsed_count--;
}

static void
keep_certificate(struct cert_store *s, struct entry *n, struct certificate *c)
{
	forget_certificate(s, n);
	n->certificate = c;
	n->ends = c->ends;
	list_append(&s->parsed, &n->parsed);
	if (++s->parsed_count > PARSED_MAX)
		forget_certificate(s,
		    list_entry(list_first(&s->parsed), struct entry, parsed));
}

static void
remove_entry(struct cert_store *s, struct entry *n)
{
	if (s->next == &n->order)
		s->next = n->order.next;
	s->walk = NULL;
	forget_certificate(s, n);
	list_remove(&n->parsed); /* of the fresh */
	list_remove(&n->unsettled);
	table_remove(&s->table, &n->link);
	list_remove(&n->order);
	cert_texts_fini(&n->texts);
	s->count--;
	s->good_count -= n->good;
	free(n);
}

static struct entry *
add_entry(struct cert_store *s, const char *name)
{
	size_t n = strlen(name);
	struct entry *new = calloc(1, sizeof(*new) + n + 1);

	if (new == NULL)
		return NULL;
	memcpy(new->name, name, n + 1);
	cert_texts_init(&new->texts);
	list_init(&new->unsettled);
	list_append(&s->fresh, &new->parsed);
	list_append(&s->all, &new->order);
	table_add(&s->table, &new->link, table_hash(&s->table, name, n));
	s->count++;
	return new;
}

/* ---- files ---- */

/* The files of a name are broken: that is said, unless they may yet be settling; a
 * name without files has nothing that could. */
static void
on_broken(struct cert_store *s, struct entry *n, uint64_t now, const char *why)
{
	if (!cert_stamps_suffice(&n->seen))
		n->settling.until = 0;
	if (settling_read(&n->settling, false, now))
		log_error("certificate %s path=%s name=%s error=\"%s\"",
		    n->good ? "not replaced" : "left out", s->path, n->name,
		    why);
	else
		list_append(&s->unsettled, &n->unsettled);
}

/* Reads the files of a name anew. If they are broken it stays as it was, and they
 * are read again when they change or have settled. */
static void
read_entry(struct cert_store *s, struct entry *n, uint64_t now)
{
	struct cert_texts new;
	struct certificate *c = NULL;
	struct error e;

	if (n->certificate == NULL)
		list_remove(&n->parsed); /* of the fresh */
	list_remove(&n->unsettled);
	cert_stamps_take(&n->seen, s->dir, n->name);
	cert_texts_init(&new);
	if (cert_files_read(s->dir, n->name, &n->seen, &new, &e) == 0)
		c = certificate_parse(&new, &e);
	if (c == NULL) {
		on_broken(s, n, now, e.text);
		cert_texts_fini(&new);
		return;
	}
	(void)settling_read(&n->settling, true, now);
	cert_texts_fini(&n->texts);
	cert_texts_tighten(&new);
	n->texts = new;
	keep_certificate(s, n, c);
	if (n->good)
		return;
	n->good = true;
	s->good_count++;
	s->walk = NULL;
}

static void
note_file(struct cert_store *s, const char *file)
{
	char name[CERT_NAME_MAX + 1];
	struct entry *n;

	if (!cert_files_name(file, name))
		return;
	n = find(s, name);
	if (n == NULL)
		n = add_entry(s, name);
	if (n == NULL)
		log_error("out of memory path=%s name=%s", s->path, name);
	else
		n->wanted = true;
}

/* All names of the directory: new ones are to be read, those gone forgotten. */
static int
read_directory(struct cert_store *s, struct error *e)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct list *link, *next;
	struct dirent *file;

	if (d == NULL) {
		error_set(e, "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	stamp_take(&s->seen, s->dir, NULL);
	s->unsure = stamp_is_young(&s->seen);
	while ((file = readdir(d)) != NULL)
		note_file(s, file->d_name);
	closedir(d);
	for (link = s->all.next; link != &s->all; link = next) {
		struct entry *n = list_entry(link, struct entry, order);

		next = link->next;
		if (!n->wanted)
			remove_entry(s, n);
		else
			n->wanted = false;
	}
	return 0;
}

/* Returns whether it has read something. */
static bool
look_at(struct cert_store *s, struct entry *n, uint64_t now)
{
	struct cert_stamps there;

	cert_stamps_take(&there, s->dir, n->name);
	if (!cert_stamps_suffice(&there) ||
	    !settling_is_due(
		&n->settling, !cert_stamps_equal(&there, &n->seen), now))
		return false; /* of those gone the directory tells */
	read_entry(s, n, now);
	return true;
}

/* Returns whether there was one. */
static bool
read_fresh(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->fresh);
	struct entry *n;

	if (link == NULL)
		return false;
	n = list_entry(link, struct entry, parsed);
	(void)settling_is_due(&n->settling, true, now);
	read_entry(s, n, now);
	return true;
}

/* In how many milliseconds the next one is to be read once more; 0: none is. */
static unsigned
unsettled_wait_ms(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->unsettled);

	return link != NULL
	    ? settling_wait_ms(
		  &list_entry(link, struct entry, unsettled)->settling, now)
	    : 0;
}

/* Returns whether one was due. */
static bool
look_at_unsettled(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->unsettled);
	struct entry *n;

	if (link == NULL)
		return false;
	n = list_entry(link, struct entry, unsettled);
	if (!settling_is_due(&n->settling, false, now))
		return false;
	list_remove(link);
	(void)look_at(s, n, now);
	return true;
}

static bool
look_at_next(struct cert_store *s, uint64_t now)
{
	struct entry *n;

	s->due--;
	if (s->next == NULL || s->next == &s->all)
		s->next = s->all.next;
	if (s->next == &s->all)
		return false;
	n = list_entry(s->next, struct entry, order);
	s->next = s->next->next;
	return look_at(s, n, now);
}

static void
look_at_directory(struct cert_store *s)
{
	struct stamp now;
	struct error e;

	if (dir_follow(&s->dir, s->path))
		s->due = UINT_MAX; /* all of them are others */
	stamp_take(&now, s->dir, NULL);
	if ((s->unsure || !stamp_equal(&now, &s->seen)) &&
	    read_directory(s, &e) < 0)
		log_error("certificates not read path=%s error=\"%s\"", s->path,
		    e.text);
}

unsigned
cert_store_look(struct cert_store *s, unsigned most, uint64_t now)
{
	unsigned looks = LOOKS_AT_ONCE, reads = READS_AT_ONCE;

	if (most > 0)
		look_at_directory(s);
	if (s->due < most)
		s->due = most;
	if (s->due > s->count)
		s->due = s->count;
	while (reads > 0 && (read_fresh(s, now) || look_at_unsettled(s, now)))
		reads--;
	while (looks-- > 0 && reads > 0 && s->due > 0)
		reads -= look_at_next(s, now);
	return s->due > 0 || !list_is_empty(&s->fresh)
	    ? GO_ON_MS
	    : unsettled_wait_ms(s, now);
}

/* ---- for clients ---- */

static struct entry *
find_good(const struct cert_store *s, const char *name)
{
	struct entry *n = find(s, name);

	return n != NULL && n->good ? n : NULL;
}

static struct certificate *
use(struct cert_store *s, struct entry *n)
{
	struct certificate *c;
	struct error e;

	if (n == NULL)
		return NULL;
	if (n->certificate != NULL) {
		list_remove(&n->parsed);
		list_append(&s->parsed, &n->parsed);
	} else if ((c = certificate_parse(&n->texts, &e)) != NULL) {
		keep_certificate(s, n, c);
	} else {
		return NULL;
	}
	n->used++;
	return certificate_hold(n->certificate);
}

struct certificate *
cert_store_find(struct cert_store *s, const char *asked)
{
	char name[CERT_NAME_MAX + 2];
	size_t n = strlen(asked), i;
	const char *dot;
	struct entry *found;

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
	return use(s, found);
}

/* ---- life ---- */

struct cert_store *
cert_store_new(const char *path, struct error *e)
{
	struct cert_store *s = calloc(1, sizeof(*s));
	struct list *link;

	if (s == NULL || (s->path = strdup(path)) == NULL ||
	    table_init(&s->table) < 0) {
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
	if (s->dir < 0 || read_directory(s, e) < 0) {
		cert_store_drop(s);
		return NULL;
	}
	while ((link = list_first(&s->fresh)) != NULL)
		read_entry(s, list_entry(link, struct entry, parsed), 0);
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
		remove_entry(s, list_entry(link, struct entry, order));
	table_fini(&s->table);
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

/* ---- what control asks ---- */

static struct list *
next_good(struct cert_store *s, struct list *link)
{
	while (link != &s->all && !list_entry(link, struct entry, order)->good)
		link = link->next;
	return link;
}

/* `at` counts; where that was in the list is remembered until somebody leaves it, or
 * becomes good; the end is not remembered, as others may come after it. */
bool
cert_store_next(
    struct cert_store *s, unsigned *at, struct cert_store_info *info)
{
	const struct entry *n;

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
	n = list_entry(s->walk, struct entry, order);
	*info = (struct cert_store_info){ n->name, n->ends, n->used };
	++*at;
	return true;
}

unsigned
cert_store_count(const struct cert_store *s)
{
	return s->good_count;
}
