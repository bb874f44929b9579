/* acl.c: ordered entries over clients, which lists share. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/huge.h"
#include "pool/acl/acl_private.h"
#include "pool/acl/countries.h"

/* Lists of more entries than that have an index. */
enum { WALKED = 32 };
#define NO_ENTRY UINT32_MAX

void
acl_init(struct acl *l)
{
	*l = (struct acl){ .shared = NULL };
}

static void
acl_drop_entries(struct acl_entries *s)
{
	uint32_t i;

	for (i = 0; i < s->span_count; i++)
		free(s->spans[i].path);
	acl_index_fini(&s->index);
	free(s->spans);
	free(s->country);
	free(s->entry);
	free(s);
}

void
acl_fini(struct acl *l)
{
	struct acl_entries *s = l->shared;

	acl_init(l);
	if (s != NULL && --s->users == 0)
		acl_drop_entries(s);
}

void
acl_copy(struct acl *to, const struct acl *from)
{
	*to = *from;
	to->countries = NULL;
	if (to->shared != NULL)
		to->shared->users++;
}

bool
acl_is_empty(const struct acl *l)
{
	return l->shared == NULL;
}

const struct acl_entry *
acl_at(const struct acl *l, size_t i)
{
	return &l->shared->entry[i];
}

static bool
same_files(const struct acl *a, const struct acl *b)
{
	uint32_t i;

	if (a->spans != b->spans)
		return false;
	for (i = 0; i < a->spans; i++) {
		const struct acl_span *x = &a->shared->spans[i],
				      *y = &b->shared->spans[i];

		if (x->first != y->first || x->count != y->count ||
		    x->verb != y->verb || strcmp(x->path, y->path) != 0)
			return false;
	}
	return true;
}

bool
acl_equal(const struct acl *a, const struct acl *b)
{
	size_t i;

	if (a->count != b->count || a->spans != b->spans ||
	    acl_is_empty(a) != acl_is_empty(b))
		return false;
	if (a->shared == b->shared)
		return true;
	if (!same_files(a, b))
		return false;
	for (i = 0; i < a->count; i++)
		if (!acl_entry_equal(acl_at(a, i), acl_at(b, i)))
			return false;
	return true;
}

/* ---- countries ---- */

static int
note_country(struct acl_entries *s, size_t n)
{
	const uint8_t *code = s->entry[n].ip; /* two capital letters */
	unsigned i;
	unsigned number =
	    (unsigned)(code[0] - 'A') * 26 + (unsigned)(code[1] - 'A');

	if (s->country == NULL) {
		s->country = malloc(ACL_COUNTRIES * sizeof(*s->country));
		if (s->country == NULL)
			return -1;
		for (i = 0; i < ACL_COUNTRIES; i++)
			s->country[i] = NO_ENTRY;
		s->first_country = (uint32_t)n;
	}
	if (s->country[number] == NO_ENTRY)
		s->country[number] = (uint32_t)n;
	return 0;
}

static int
note_countries(struct acl_entries *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->entry[i].family == ACL_COUNTRY &&
		    note_country(s, i) < 0)
			return -1;
	return 0;
}

/* ---- adding ---- */

static int
acl_build_index(struct acl_entries *s, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (acl_index_add(&s->index, s->entry, (uint32_t)i) < 0) {
			acl_index_fini(&s->index);
			return -1;
		}
	return 0;
}

static int
append_span(struct acl_entries *s, const struct acl_span *span)
{
	struct acl_span *spans = array_grow(
	    s->spans, &s->span_room, sizeof(*spans), s->span_count);

	if (spans == NULL)
		return -1;
	s->spans = spans;
	spans[s->span_count] = *span;
	spans[s->span_count].path = strdup(span->path);
	if (spans[s->span_count].path == NULL)
		return -1;
	s->span_count++;
	return 0;
}

static int
copy_spans(struct acl_entries *s, const struct acl *l)
{
	uint32_t i;

	for (i = 0; i < l->spans; i++)
		if (append_span(s, &l->shared->spans[i]) < 0)
			return -1;
	return 0;
}

/* Copies the entries of a list to memory of its own, with room for more. */
static struct acl_entries *
acl_copy_entries(const struct acl *l)
{
	struct acl_entries *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->users = 1;
	s->count = l->count;
	s->room = l->count > 0 ? 2 * l->count : 8;
	s->entry = malloc(s->room * sizeof(*s->entry));
	if (s->entry != NULL && l->count > 0)
		memcpy(s->entry, acl_at(l, 0), l->count * sizeof(*s->entry));
	if (s->entry == NULL || copy_spans(s, l) < 0 ||
	    (l->shared != NULL && l->shared->country != NULL &&
		note_countries(s) < 0) ||
	    (s->count > WALKED && acl_build_index(s, s->count) < 0)) {
		acl_drop_entries(s);
		return NULL;
	}
	return s;
}

/* Prepares the list for new entries: if another list has appended to the
 * entries that both share, this one gets a copy of its own. */
int
acl_detach(struct acl *l)
{
	struct acl own = *l;

	if (l->shared != NULL && l->shared->count == l->count &&
	    l->shared->span_count == l->spans)
		return 0;
	own.shared = acl_copy_entries(l);
	if (own.shared == NULL)
		return -1;
	acl_fini(l);
	*l = own;
	return 0;
}

static int
acl_append(struct acl_entries *s, const struct acl_entry *e)
{
	size_t room = 2 * s->room, n = s->count;

	if (n == s->room) {
		struct acl_entry *new =
		    huge_grow(s->entry, n * sizeof(*new), room * sizeof(*new));

		if (new == NULL)
			return -1;
		s->entry = new;
		s->room = room;
	}
	s->entry[n] = *e;
	if (e->family == ACL_COUNTRY && note_country(s, n) < 0)
		return -1;
	if (n == WALKED && acl_build_index(s, n) < 0)
		return -1;
	if (n >= WALKED && acl_index_add(&s->index, s->entry, (uint32_t)n) < 0)
		return -1;
	s->count++;
	return 0;
}

void
acl_share(struct acl *l, const struct acl *like)
{
	if (l->shared == NULL) {
		l->shared = like->shared;
		l->shared->users++;
	}
}

/* The list goes on as `like` does, if that is its beginning so far. */
static bool
acl_follow(
    struct acl *l, const struct acl_entry *entry, const struct acl *like)
{
	size_t count = l->count;
	uint32_t spans = l->spans;

	if (like == NULL || count >= like->count ||
	    (l->shared != NULL && l->shared != like->shared) ||
	    (spans < like->spans &&
		like->shared->spans[spans].first == count) ||
	    !acl_entry_equal(acl_at(like, count), entry))
		return false;
	acl_share(l, like);
	l->count = count + 1;
	l->spans = spans;
	return true;
}

int
acl_add_entry(
    struct acl *l, const struct acl_entry *entry, const struct acl *like)
{
	if (!acl_follow(l, entry, like)) {
		if (acl_detach(l) < 0 || acl_append(l->shared, entry) < 0)
			return -1;
		l->count++;
	}
	l->rest_denied = entry->permit;
	l->has_unix |= entry->family == AF_UNIX;
	l->asks_owner |= acl_entry_needs_owner(entry);
	return 0;
}

int
acl_add_span(struct acl *l, const char *path, const struct file_id *id,
    size_t count, enum acl_verb verb, uint64_t digest)
{
	struct acl_span span = { .id = *id,
		.first = l->count - count,
		.count = count,
		.digest = digest,
		.verb = verb,
		.has_unix = l->has_unix,
		.asks_owner = l->asks_owner };

	span.path = (char *)(uintptr_t)path; /* append_span() copies it */
	if (append_span(l->shared, &span) < 0)
		return -1;
	l->spans++;
	return 0;
}

/* ---- matching ---- */

bool
acl_has_countries(const struct acl *l)
{
	return l->shared != NULL && l->shared->country != NULL &&
	    l->shared->first_country < l->count;
}

/* The first entry that matches is `best`, or one of the client's country before
 * it. That is looked up only if such an entry is there. */
static size_t
find_country(const struct acl *l, const struct peer *who, size_t best)
{
	const struct acl_entries *s = l->shared;
	int number;

	if (s->first_country >= best || l->countries == NULL)
		return best;
	number = countries_of(l->countries, who);
	if (number >= 0 && s->country[number] < best)
		return s->country[number];
	return best;
}

size_t
acl_find(const struct acl *l, const struct peer *who)
{
	const struct acl_entry *entry;
	size_t i = 0;

	if (l->count == 0)
		return 0;
	entry = l->shared->entry;
	if (l->count > WALKED)
		i = acl_index_find(
		    &l->shared->index, entry, (uint32_t)l->count, who);
	else
		while (i < l->count && !acl_matches(&entry[i], who))
			i++;
	return l->shared->country == NULL ? i : find_country(l, who, i);
}

/* Whether an entry matches all clients that the other one matches. */
static bool
includes(const struct acl_entry *all, const struct acl_entry *some)
{
	uint64_t ip[2], mask[2], at[2], of[2];
	int i;

	memcpy(ip, all->ip, sizeof(ip));
	memcpy(mask, all->mask, sizeof(mask));
	memcpy(at, some->ip, sizeof(at));
	memcpy(of, some->mask, sizeof(of));
	for (i = 0; i < 2; i++)
		if ((mask[i] & ~of[i]) != 0 || (at[i] & mask[i]) != ip[i])
			return false;
	return all->family == some->family;
}

const struct acl_entry *
acl_overruling(const struct acl *l, const struct acl_entry *entry)
{
	const struct acl_entry *e;
	size_t i, n = l->count < ACL_COMPARED ? l->count : ACL_COMPARED;

	for (i = l->count - n; i < l->count; i++) {
		e = acl_at(l, i);
		if (e->permit != entry->permit && includes(e, entry))
			return e;
	}
	return NULL;
}

bool
acl_permits(const struct acl *l, const struct peer *who)
{
	size_t i;

	if (l->shared == NULL)
		return true;
	i = acl_find(l, who);
	return i < l->count ? acl_at(l, i)->permit : !l->rest_denied;
}
