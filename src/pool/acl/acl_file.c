/* acl_file.c: entries of access lists that stand in files. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/words.h"
#include "pool/acl/acl_private.h"

enum { FILE_MAX = 256 * 1024 * 1024, LINE_WORDS = 4, LINE_MAX_BYTES = 200 };

/* ---- lines ---- */

struct acl_reader {
	struct acl list;
	char *path;
	enum acl_verb verb;
	struct file_id id;
	struct buffer text; /* what is left of it */
	unsigned line;
	uint64_t digest; /* of the lines before */
	struct acl_file_facts facts;
};

static int
acl_file_refuse(const struct acl_reader *r, const char *why, struct error *e)
{
	return error_set(e, "%.300s:%u: %.180s", r->path, r->line, why);
}

/* Splits a line, in place, up to a comment. Returns how many words it has, at
 * most LINE_WORDS. */
static int
acl_file_split(char *line, char *word[LINE_WORDS])
{
	char *at = line;
	int n = 0;

	line[strcspn(line, "#;\r")] = '\0';
	for (;;) {
		at += strspn(at, " \t");
		if (*at == '\0' || n == LINE_WORDS)
			return n;
		word[n++] = at;
		at += strcspn(at, " \t");
		if (*at != '\0')
			*at++ = '\0';
	}
}

static int
acl_file_add_line(struct acl_reader *r, char *line, struct error *e)
{
	char *word[LINE_WORDS];
	struct acl_entry entry;
	struct error why;
	int n = acl_file_split(line, word), at = 0;
	bool permit = r->verb != ACL_DENY;

	if (n == 0)
		return 0;
	if (strcmp(word[0], "permit") == 0 || strcmp(word[0], "deny") == 0) {
		permit = word[0][0] == 'p';
		at = 1;
	}
	if (n == at)
		return acl_file_refuse(
		    r, "missing address after permit or deny", e);
	if (n > at + 2)
		return acl_file_refuse(r, "more than one entry in a line", e);
	if (acl_entry_parse(&entry, permit, word[at],
		n > at + 1 ? word[at + 1] : NULL, &why) < 0)
		return acl_file_refuse(r, why.text, e);
	entry.line = r->line;
	if (acl_add_entry(&r->list, &entry, NULL) < 0)
		return acl_file_refuse(r, "out of memory", e);
	r->facts.entries++;
	if (entry.was_cut && r->facts.cut++ == 0)
		r->facts.first_cut = r->line;
	return 0;
}

/* A line is copied, so that it ends with a NUL and may be cut. Of a long one
 * the rest is a comment, or it is no entry. */
static int
acl_file_add_next(struct acl_reader *r, struct error *e)
{
	const char *at = buffer_bytes(&r->text), *end;
	size_t left = buffer_length(&r->text), n, fits;
	char line[LINE_MAX_BYTES];

	r->line++;
	end = memchr(at, '\n', left);
	n = end != NULL ? (size_t)(end - at) : left;
	if (memchr(at, '\0', n) != NULL)
		return acl_file_refuse(r, "contains a NUL byte", e);
	fits = n < sizeof(line) ? n : sizeof(line) - 1;
	memcpy(line, at, fits);
	line[fits] = '\0';
	if (fits < n && strpbrk(line, "#;") == NULL)
		return acl_file_refuse(r, "is too long", e);
	buffer_consume(&r->text, n + (end != NULL));
	r->digest = hash_mix(r->digest + hash_stable(line, fits));
	return acl_file_add_line(
	    r, line + (r->line == 1 ? text_bom(line) : 0), e);
}

/* ---- files that have not changed ---- */

static struct file_id
id_of(const char *path)
{
	struct file_id id;

	file_id_read(&id, AT_FDCWD, path);
	return id;
}

/* A file that has changed just now may change again within the same tick of its
 * clock: its ID is not relied on. */
static bool
take_unchanged(struct acl *l, const char *path, const struct file_id *id,
    enum acl_verb verb, const struct acl *like)
{
	static const struct file_id unknown;
	const struct acl_span *s;

	if (like == NULL || like->shared == NULL ||
	    (l->shared != NULL && l->shared != like->shared) ||
	    l->spans >= like->spans || file_id_equal(id, &unknown))
		return false;
	s = &like->shared->spans[l->spans];
	if (s->first != l->count || s->verb != verb ||
	    strcmp(s->path, path) != 0 || !file_id_equal(&s->id, id))
		return false;
	acl_share(l, like);
	l->count = s->first + s->count;
	l->spans++;
	l->has_unix = s->has_unix;
	l->asks_owner = s->asks_owner;
	return true;
}

/* ---- files ---- */

/* Where the file has no entry, the list denies all that a file of entries of
 * its verb would not match: no client is let in because a file was emptied. */
static bool
is_rest_denied(const struct acl *l, size_t entries, enum acl_verb verb)
{
	if (entries > 0)
		return acl_at(l, l->count - 1)->permit;
	return verb != ACL_DENY;
}

bool
acl_file_is_unchanged(struct acl *l, const char *path, enum acl_verb verb,
    const struct acl *like, struct acl_file_facts *facts)
{
	struct file_id id = id_of(path);
	const struct acl_span *s;

	*facts = (struct acl_file_facts){ .entries = 0 };
	if (!take_unchanged(l, path, &id, verb, like))
		return false;
	s = &l->shared->spans[l->spans - 1];
	facts->entries = s->count;
	facts->unchanged = true;
	l->rest_denied = is_rest_denied(l, s->count, verb);
	return true;
}

struct acl_reader *
acl_reader_new(const struct acl *before, const char *path, enum acl_verb verb,
    struct error *e)
{
	struct acl_reader *r = calloc(1, sizeof(*r));

	if (r == NULL || (r->path = strdup(path)) == NULL) {
		free(r);
		error_set(e, "out of memory");
		return NULL;
	}
	acl_copy(&r->list, before);
	r->verb = verb;
	r->id = id_of(path);
	if (file_id_is_recent(&r->id))
		r->id = (struct file_id){ .size = 0 };
	buffer_init(&r->text);
	if (file_read(path, FILE_MAX, false, &r->text, e) == 0) {
		r->facts.has_no_end = buffer_length(&r->text) > 0 &&
		    buffer_bytes(&r->text)[buffer_length(&r->text) - 1] != '\n';
		return r;
	}
	error_of(e, "\"%.300s\"", path);
	acl_reader_free(r);
	return NULL;
}

void
acl_reader_free(struct acl_reader *r)
{
	if (r == NULL)
		return;
	acl_fini(&r->list);
	buffer_fini(&r->text);
	free(r->path);
	free(r);
}

int
acl_reader_read(struct acl_reader *r, unsigned lines, struct error *e)
{
	size_t entries;

	while (buffer_length(&r->text) > 0) {
		if (lines-- == 0)
			return 1;
		if (acl_file_add_next(r, e) < 0)
			return -1;
	}
	entries = r->facts.entries;
	if (acl_detach(&r->list) < 0 ||
	    acl_add_span(
		&r->list, r->path, &r->id, entries, r->verb, r->digest) < 0)
		return error_set(e, "out of memory");
	r->list.rest_denied = is_rest_denied(&r->list, entries, r->verb);
	return 0;
}

void
acl_reader_take(
    const struct acl_reader *r, struct acl *l, struct acl_file_facts *facts)
{
	acl_fini(l);
	acl_copy(l, &r->list);
	*facts = r->facts;
}

int
acl_add_file(struct acl *l, const char *path, enum acl_verb verb,
    const struct acl *like, struct acl_file_facts *facts, struct error *e)
{
	struct acl_reader *r;
	int rc;

	if (acl_file_is_unchanged(l, path, verb, like, facts))
		return 0;
	r = acl_reader_new(l, path, verb, e);
	if (r == NULL)
		return -1;
	rc = acl_reader_read(r, UINT_MAX, e);
	if (rc == 0)
		acl_reader_take(r, l, facts);
	acl_reader_free(r);
	return rc;
}

/* ---- what a list is made of ---- */

bool
acl_next(const struct acl *l, struct acl_item *item)
{
	const struct acl_span *s;

	*item = (struct acl_item){ .next = item->next, .span = item->span };
	if (item->span < l->spans &&
	    l->shared->spans[item->span].first == item->next) {
		s = &l->shared->spans[item->span++];
		item->path = s->path;
		item->verb = s->verb;
		item->entries = s->count;
		item->next += s->count;
		return true;
	}
	if (item->next == l->count)
		return false;
	item->entry = acl_at(l, item->next++);
	return true;
}

const char *
acl_verb_word(enum acl_verb verb)
{
	return verb == ACL_PERMIT ? "permit "
	    : verb == ACL_DENY	  ? "deny "
				  : "";
}

const char *
acl_file_of(const struct acl *l, size_t i)
{
	uint32_t n;

	for (n = 0; n < l->spans; n++) {
		const struct acl_span *s = &l->shared->spans[n];

		if (i >= s->first && i - s->first < s->count)
			return s->path;
	}
	return NULL;
}

uint64_t
acl_digest(const struct acl *l)
{
	uint64_t sum = 0;
	uint32_t n;

	for (n = 0; n < l->spans; n++)
		sum = hash_mix(sum + l->shared->spans[n].digest);
	return sum;
}
