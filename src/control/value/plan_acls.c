/* plan_acls.c: see plan_acls.h. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/words.h"
#include "control/value/plan_acls.h"
#include "control/answer/reply.h"

void
plan_acls_init(struct plan_acls *l)
{
	*l = (struct plan_acls){ .named = NULL };
}

void
plan_acls_fini(struct plan_acls *l)
{
	uint32_t i;

	for (i = 0; i < ACL_LISTS; i++)
		acl_fini(&l->numbered[i]);
	for (i = 0; i < l->count; i++) {
		acl_fini(&l->named[i].list);
		free(l->named[i].name);
	}
	free(l->named);
	plan_acls_init(l);
}

static int
copy_named(struct plan_acls *to, const struct plan_acls *from)
{
	const struct named_acl *n;

	for (n = from->named; n != plan_acls_end(from); n++) {
		struct named_acl *mine = &to->named[to->count];

		mine->name = strdup(n->name);
		if (mine->name == NULL)
			return -1;
		mine->number = n->number;
		acl_copy(&mine->list, &n->list);
		to->count++;
	}
	return 0;
}

int
plan_acls_copy(struct plan_acls *to, const struct plan_acls *from)
{
	unsigned i;

	plan_acls_init(to);
	for (i = 0; i < ACL_LISTS; i++)
		acl_copy(&to->numbered[i], &from->numbered[i]);
	if (from->count == 0)
		return 0;
	to->named = calloc(from->count, sizeof(*to->named));
	if (to->named == NULL || copy_named(to, from) < 0) {
		plan_acls_fini(to);
		errno = ENOMEM;
		return -1;
	}
	to->room = from->count;
	return 0;
}

bool
plan_acls_equal(const struct plan_acls *a, const struct plan_acls *b)
{
	uint32_t i;

	for (i = 0; i < ACL_LISTS; i++)
		if (!acl_equal(&a->numbered[i], &b->numbered[i]))
			return false;
	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (strcmp(a->named[i].name, b->named[i].name) != 0 ||
		    !acl_equal(&a->named[i].list, &b->named[i].list))
			return false;
	return true;
}

/* ---- words ---- */

bool
acl_name_is_valid(const char *word)
{
	size_t n = strlen(word);

	return isalpha((unsigned char)word[0]) && n <= ACL_NAME_MAX &&
	    strcmp(word, "json") != 0 &&
	    strspn(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789.-_") == n;
}

int
acl_word_parse(const char *word, int *number, struct error *e)
{
	uint64_t n;

	*number = -1;
	if (acl_name_is_valid(word))
		return 0;
	if (number_parse(word, 0, ACL_LISTS - 1, &n) == 0) {
		*number = (int)n;
		return 0;
	}
	if (isdigit((unsigned char)word[0]))
		return error_set(e, "\"%.100s\" is not a number from 0 to %d",
		    word, ACL_LISTS - 1);
	return error_set(e,
	    "\"%.100s\" is not an access list: a number from 0 to %d, or a "
	    "name of at most %d letters, digits and .-_",
	    word, ACL_LISTS - 1, ACL_NAME_MAX);
}

/* ---- lists ---- */

/* Where the name is, or would be. */
static uint32_t
plan_acls_position(const struct plan_acls *l, const char *name, bool *there)
{
	uint32_t low = 0, high = l->count, middle;
	int order;

	*there = false;
	while (low < high && !*there) {
		middle = low + (high - low) / 2;
		order = strcmp(name, l->named[middle].name);
		*there = order == 0;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *there ? high : low;
}

struct named_acl *
plan_acls_find(const struct plan_acls *l, const char *name)
{
	bool there;
	uint32_t i = plan_acls_position(l, name, &there);

	return there ? &l->named[i] : NULL;
}

/* The access list of that name, added if there is none. */
static struct acl *
add_named(struct plan_acls *l, const char *name, struct error *e)
{
	struct named_acl *all, *mine;
	bool there;
	uint32_t at = plan_acls_position(l, name, &there);
	char *own;

	if (there)
		return &l->named[at].list;
	if (l->count == ACL_MAX - ACL_LISTS) {
		error_set(e, "more than %d named access lists",
		    ACL_MAX - ACL_LISTS);
		return NULL;
	}
	all = array_grow(l->named, &l->room, sizeof(*all), l->count);
	if (all != NULL)
		l->named = all;
	own = all != NULL ? strdup(name) : NULL;
	if (own == NULL) {
		error_set(e, "out of memory");
		return NULL;
	}
	mine = &all[at];
	memmove(mine + 1, mine, (l->count - at) * sizeof(*mine));
	*mine = (struct named_acl){ .name = own };
	l->count++;
	return &mine->list;
}

struct acl *
plan_acls_edit(struct plan_acls *l, const char *word, struct error *e)
{
	int number;

	if (acl_word_parse(word, &number, e) < 0)
		return NULL;
	return number >= 0 ? &l->numbered[number] : add_named(l, word, e);
}

const struct acl *
plan_acls_of(const struct plan_acls *l, const struct acl_ref *ref)
{
	const struct named_acl *n;

	if (ref->name == NULL)
		return ref->number >= 0 ? &l->numbered[ref->number] : NULL;
	n = plan_acls_find(l, ref->name);
	return n != NULL ? &n->list : NULL;
}

const struct acl *
plan_acls_at(const struct plan_acls *l, unsigned i, char word[ACL_WORD_MAX])
{
	if (i < ACL_LISTS) {
		snprintf(word, ACL_WORD_MAX, "%u", i);
		return &l->numbered[i];
	}
	i -= ACL_LISTS;
	if (i >= l->count)
		return NULL;
	snprintf(word, ACL_WORD_MAX, "%s", l->named[i].name);
	return &l->named[i].list;
}

void
plan_acls_remove(struct plan_acls *l, const char *name)
{
	bool there;
	uint32_t i = plan_acls_position(l, name, &there);
	struct named_acl *gone = &l->named[i];

	if (!there)
		return;
	acl_fini(&gone->list);
	free(gone->name);
	l->count--;
	memmove(gone, gone + 1, (l->count - i) * sizeof(*gone));
}

uint64_t
plan_acls_digest(const struct plan_acls *all)
{
	char list[ACL_WORD_MAX];
	const struct acl *l;
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; (l = plan_acls_at(all, i, list)) != NULL; i++)
		if (l->spans > 0)
			sum = hash_mix(sum + acl_digest(l));
	return sum;
}

void
plan_acls_print_countries(const struct plan_acls *all, struct buffer *text)
{
	char list[ACL_WORD_MAX];
	const struct acl *l;
	unsigned i;

	for (i = 0; (l = plan_acls_at(all, i, list)) != NULL; i++)
		if (acl_has_countries(l))
			reply_add(text,
			    "countries in access list %s match no client "
			    "without geoip\n",
			    list);
}

/* ---- references ---- */

const char *
acl_ref_word(const struct acl_ref *ref, char word[ACL_WORD_MAX])
{
	if (ref->name != NULL)
		snprintf(word, ACL_WORD_MAX, "%s", ref->name);
	else
		snprintf(word, ACL_WORD_MAX, "%d", ref->number);
	return word;
}

bool
acl_ref_equal(const struct acl_ref *a, const struct acl_ref *b)
{
	if (a->name != NULL && b->name != NULL)
		return strcmp(a->name, b->name) == 0;
	return a->name == b->name && a->number == b->number;
}

void
acl_print_item(const struct acl_item *item, struct buffer *out)
{
	char text[ACL_TEXT_MAX];

	if (item->entry != NULL) {
		reply_add(out, "%s\n", acl_format_entry(item->entry, text));
		return;
	}
	reply_add(out, "%sfile ", acl_verb_word(item->verb));
	words_append(out, item->path);
	(void)buffer_append(out, "\n", 1);
}
