/* cert_store_read.c: reads the files of a directory of certificates, at the
 * start and when they have changed. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "tls/cert_store_private.h"

/* What one call does at most, so that clients do not wait: names whose files
 * are checked, and names whose files are read, which takes half a millisecond
 * each. */
enum { CHECKS_AT_ONCE = 500, READS_AT_ONCE = 10, GO_ON_MS = 2 };

/* Whether clients may request the name: they send ASCII, with "xn--" for other
 * letters (RFC 5890), and no final dot (RFC 6066, 3). */
static bool
is_server_name(const char *name)
{
	const char *last = name + strlen(name) - 1;

	if (*last == '.')
		return false;
	while (*name > ' ' && *name < 0x7f)
		name++;
	return *name == '\0';
}

static void
become_good(struct cert_store *s, struct cert_entry *n)
{
	if (n->good)
		return;
	n->good = true;
	s->walk = NULL;
	if (!is_server_name(n->name))
		log_warn("certificate has no effect path=%s name=%s "
			 "error=\"clients request names in ASCII (xn--), "
			 "without spaces or a final dot\"",
		    s->path, n->name);
}

void
cert_entry_read(struct cert_store *s, struct cert_entry *n, uint64_t now)
{
	struct cert_texts new;
	struct certificate *c = NULL;
	const char *what;
	struct error e;
	bool bad;

	if (n->certificate == NULL)
		list_remove(&n->parsed); /* of the fresh */
	list_remove(&n->unsettled);
	cert_file_ids_take(&n->seen, s->dir, n->name);
	cert_texts_init(&new);
	if (cert_files_read(s->dir, n->name, &n->seen, &new, &e) == 0)
		c = certificate_parse(&new, &e);
	bad = c == NULL || (c->ocsp == NULL && buffer_length(&new.ocsp) > 0);
	what = c != NULL ? "OCSP response not stapled"
	    : n->good	 ? "certificate not replaced"
			 : "certificate not loaded";
	/* Not logged while they may still be settling: files are seen half
	 * written while they are copied. A name without files has nothing to
	 * settle. */
	if (!cert_file_ids_suffice(&n->seen))
		n->settling.until = 0;
	if (settling_read(&n->settling, !bad, now))
		log_error("%s path=%s name=%s error=\"%s\"", what, s->path,
		    n->name, e.text);
	else if (bad)
		list_append(&s->unsettled, &n->unsettled);
	if (c == NULL) {
		cert_texts_fini(&new);
		return;
	}
	cert_texts_fini(&n->texts);
	cert_texts_tighten(&new);
	n->texts = new;
	cert_entry_set(s, n, c);
	become_good(s, n);
}

int
cert_store_read(struct cert_store *s, struct error *e)
{
	DIR *d = file_list_at(s->dir, e);
	char name[CERT_NAME_MAX + 1];
	struct list *link, *next;
	struct cert_entry *n;
	struct dirent *file;
	int bad;

	if (d == NULL)
		return -1;
	file_id_read(&s->seen, s->dir, NULL);
	while (errno = 0, (file = readdir(d)) != NULL) {
		if (!cert_files_name(file->d_name, name))
			continue;
		n = cert_entry_find(s, name);
		if (n == NULL)
			n = cert_entry_new(s, name);
		if (n == NULL)
			log_error(
			    "out of memory path=%s name=%s", s->path, name);
		else
			n->wanted = true;
	}
	bad = errno;
	s->unsure = bad != 0 || file_id_is_recent(&s->seen);
	closedir(d);
	for (link = s->all.next; link != &s->all; link = next) {
		n = list_entry(link, struct cert_entry, order);
		next = link->next;
		if (!n->wanted && bad == 0)
			cert_entry_free(s, n);
		else
			n->wanted = false;
	}
	return bad == 0 ? 0 : error_set(e, "%s", strerror(bad));
}

/* An error may last: it is logged when it begins or changes. */
static void
list_again(struct cert_store *s)
{
	struct error e = { .text = "" };

	if (cert_store_read(s, &e) < 0 && strcmp(e.text, s->unlisted.text) != 0)
		log_error("certificates not read path=%s error=\"%s\"", s->path,
		    e.text);
	s->unlisted = e;
}

/* Checks the files of a name. Returns whether it has read them. */
static bool
refresh_entry(struct cert_store *s, struct cert_entry *n, uint64_t now)
{
	struct cert_file_ids there;

	cert_file_ids_take(&there, s->dir, n->name);
	if (!cert_file_ids_suffice(&there) ||
	    !settling_is_due(
		&n->settling, !cert_file_ids_equal(&there, &n->seen), now))
		return false; /* a name that is gone is found by listing */
	cert_entry_read(s, n, now);
	return true;
}

/* Reads the first name that was never read. Returns whether there was one. */
static bool
read_fresh(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->fresh);
	struct cert_entry *n;

	if (link == NULL)
		return false;
	n = list_entry(link, struct cert_entry, parsed);
	(void)settling_is_due(&n->settling, true, now);
	cert_entry_read(s, n, now);
	return true;
}

/* Milliseconds until the next unsettled name is to be read once more; 0:
 * none. */
static unsigned
unsettled_wait_ms(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->unsettled);

	return link != NULL
	    ? settling_wait_ms(
		  &list_entry(link, struct cert_entry, unsettled)->settling,
		  now)
	    : 0;
}

/* Reads the first unsettled name if it is due. Returns whether it was. */
static bool
refresh_unsettled(struct cert_store *s, uint64_t now)
{
	struct list *link = list_first(&s->unsettled);
	struct cert_entry *n;

	if (link == NULL)
		return false;
	n = list_entry(link, struct cert_entry, unsettled);
	if (!settling_is_due(&n->settling, false, now))
		return false;
	list_remove(link);
	(void)refresh_entry(s, n, now);
	return true;
}

static bool
refresh_next(struct cert_store *s, uint64_t now)
{
	struct cert_entry *n;

	s->due--;
	if (s->next == NULL || s->next == &s->all)
		s->next = s->all.next;
	if (s->next == &s->all)
		return false;
	n = list_entry(s->next, struct cert_entry, order);
	s->next = s->next->next;
	return refresh_entry(s, n, now);
}

unsigned
cert_store_refresh(struct cert_store *s, unsigned most, uint64_t now)
{
	unsigned checks = CHECKS_AT_ONCE, reads = READS_AT_ONCE;
	struct file_id dir;

	if (most > 0) {
		if (dir_follow(&s->dir, s->path))
			s->due = UINT_MAX; /* another one: check all names */
		file_id_read(&dir, s->dir, NULL);
		if (s->unsure || !file_id_equal(&dir, &s->seen))
			list_again(s);
	}
	if (s->due < most)
		s->due = most;
	if (s->due > s->count)
		s->due = s->count;
	while (reads > 0 && (read_fresh(s, now) || refresh_unsettled(s, now)))
		reads--;
	while (checks-- > 0 && reads > 0 && s->due > 0)
		reads -= refresh_next(s, now);
	return s->due > 0 || !list_is_empty(&s->fresh)
	    ? GO_ON_MS
	    : unsettled_wait_ms(s, now);
}
