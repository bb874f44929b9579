/* cert_store.c: the files of a directory, and a table of the names they are for.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/table.h"
#include "base/file.h"
#include "base/watched.h"
#include "net/cert_store.h"

/* Longer names are none (RFC 1035); certificates kept as OpenSSL has them. */
enum { NAME_LENGTH = 255, PARSED_MAX = 1000 };

enum part { PART_PEM, PART_CRT, PART_KEY, PART_CA, PART_OCSP, PARTS };

static const char *const suffix[PARTS] = { ".pem", ".crt", ".key", ".ca",
	".ocsp" };

struct entry {
	struct table_link link;
	struct list order; /* of all */
	struct list
	    parsed; /* of those with a certificate, the last used last */
	struct cert_texts texts;
	struct certificate *certificate; /* NULL: to be made from the texts */
	struct stamp seen[PARTS];
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
	struct list all, parsed;
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
	list_init(&new->parsed);
	list_append(&s->all, &new->order);
	table_add(&s->table, &new->link, table_hash(&s->table, name, n));
	s->count++;
	return new;
}

/* ---- files ---- */

/* The file of a name; a wildcard's may begin with '_' as well as with '*'. */
static void
file_of(const struct cert_store *s, const struct entry *n, enum part part,
    char file[NAME_LENGTH + 16])
{
	struct stamp there;

	snprintf(file, NAME_LENGTH + 16, "%s%s", n->name, suffix[part]);
	if (n->name[0] != '*')
		return;
	stamp_take(&there, s->dir, file);
	if (there.inode == 0)
		file[0] = '_';
}

static void
take_stamps(const struct cert_store *s, const struct entry *n,
    struct stamp stamps[PARTS])
{
	char file[NAME_LENGTH + 16];
	int i;

	for (i = 0; i < PARTS; i++) {
		file_of(s, n, (enum part)i, file);
		stamp_take(&stamps[i], s->dir, file);
	}
}

static int
read_part(const struct cert_store *s, const struct entry *n, enum part part,
    const struct stamp stamps[PARTS], struct buffer *text, struct error *e)
{
	char file[NAME_LENGTH + 16];
	struct error why;

	if (stamps[part].inode == 0)
		return 0;
	file_of(s, n, part, file);
	if (file_read_at(s->dir, file, CERT_FILE_MAX, false, text, &why) == 0)
		return 0;
	return error_set(e, "%.300s: %.150s", file, why.text);
}

static int
read_parts(const struct cert_store *s, const struct entry *n,
    const struct stamp stamps[PARTS], struct cert_texts *t, struct error *e)
{
	enum part cert = stamps[PART_PEM].inode != 0 ? PART_PEM : PART_CRT;

	if (stamps[cert].inode == 0)
		return error_set(e, "no file of that name in small letters");
	return read_part(s, n, cert, stamps, &t->cert, e) < 0 ||
		read_part(s, n, PART_KEY, stamps, &t->key, e) < 0 ||
		read_part(s, n, PART_CA, stamps, &t->chain, e) < 0 ||
		read_part(s, n, PART_OCSP, stamps, &t->ocsp, e) < 0
	    ? -1
	    : 0;
}

/* Reads the files of a name anew. If they are broken it stays as it was, and they
 * are read again when they change. */
static void
read_entry(struct cert_store *s, struct entry *n)
{
	struct cert_texts new;
	struct certificate *c = NULL;
	struct stamp stamps[PARTS];
	struct error e;

	take_stamps(s, n, stamps);
	memcpy(n->seen, stamps, sizeof(n->seen));
	cert_texts_init(&new);
	if (read_parts(s, n, stamps, &new, &e) == 0)
		c = certificate_parse(&new, &e);
	if (c == NULL) {
		log_error("certificate %s path=%s name=%s error=\"%s\"",
		    n->good ? "not replaced" : "left out", s->path, n->name,
		    e.text);
		cert_texts_fini(&new);
		return;
	}
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

/* The name that a file is for. Returns false when it is for none. */
static bool
name_of(const char *file, char name[NAME_LENGTH + 1])
{
	size_t n = strlen(file), i;

	if (n < 5 || n - 4 > NAME_LENGTH || file[0] == '.' ||
	    (strcmp(file + n - 4, ".pem") != 0 &&
		strcmp(file + n - 4, ".crt") != 0))
		return false;
	n -= 4;
	for (i = 0; i < n; i++)
		name[i] = (char)tolower((unsigned char)file[i]);
	name[n] = '\0';
	if (name[0] == '_' && name[1] == '.')
		name[0] = '*';
	return true;
}

static void
read_file(struct cert_store *s, const char *file)
{
	char name[NAME_LENGTH + 1];
	struct entry *n;

	if (!name_of(file, name))
		return;
	n = find(s, name);
	if (n == NULL) {
		n = add_entry(s, name);
		if (n == NULL) {
			log_error(
			    "out of memory path=%s name=%s", s->path, name);
			return;
		}
		read_entry(s, n);
	}
	n->wanted = true;
}

/* All names of the directory: new ones are read, those gone forgotten. */
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
		read_file(s, file->d_name);
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

static void
look_at(struct cert_store *s, struct entry *n)
{
	struct stamp now[PARTS];
	int i;

	take_stamps(s, n, now);
	for (i = 0; i < PARTS; i++)
		if (!stamp_equal(&now[i], &n->seen[i])) {
			if (now[PART_PEM].inode == 0 &&
			    now[PART_CRT].inode == 0)
				return; /* gone: the directory tells */
			read_entry(s, n);
			return;
		}
}

void
cert_store_look(struct cert_store *s, unsigned most)
{
	struct stamp now;
	struct error e;

	stamp_take(&now, s->dir, NULL);
	if ((s->unsure || !stamp_equal(&now, &s->seen)) &&
	    read_directory(s, &e) < 0)
		log_error("certificates not read path=%s error=\"%s\"", s->path,
		    e.text);
	if (most > s->count)
		most = s->count;
	while (most-- > 0) {
		if (s->next == NULL || s->next == &s->all)
			s->next = s->all.next;
		if (s->next == &s->all)
			return;
		look_at(s, list_entry(s->next, struct entry, order));
		s->next = s->next->next;
	}
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
	char name[NAME_LENGTH + 2];
	size_t n = strlen(asked), i;
	const char *dot;
	struct entry *found;

	if (n == 0 || n > NAME_LENGTH)
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
	s->dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
	if (s->dir < 0)
		error_set(e, "%s", strerror(errno));
	if (s->dir < 0 || read_directory(s, e) < 0) {
		cert_store_drop(s);
		return NULL;
	}
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
