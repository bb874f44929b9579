/* plan_acls.h: the access lists of a plan: classic Pen's ten, which have a
 * number, and those with a name.
 *
 * What refers to a list keeps the word that the operator used. When the plan
 * comes into force each name gets a number, the same as long as it is in the
 * plan, and what serves clients uses only numbers. */
#ifndef PEN_CONTROL_PLAN_ACLS_H
#define PEN_CONTROL_PLAN_ACLS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "pool/acl/acl.h"

struct plan;

/* A reference: the value of a setting of KIND_ACL. */
struct acl_ref {
	int number; /* -1: none; of a name, the list's when it is in force */
	char *name; /* owned; NULL: a number */
};
#define ACL_REF_NONE { .number = -1 }

enum { ACL_NAME_MAX = 31, ACL_WORD_MAX = ACL_NAME_MAX + 1 };

struct named_acl {
	char *name;
	int number; /* ACL_LISTS or more; not known before the plan applies */
	struct acl list;
};

struct plan_acls {
	struct acl numbered[ACL_LISTS];
	struct named_acl *named; /* in the order of their names */
	uint32_t count, room;
};

/* After the last of the named lists; NULL + 0 is undefined in C11. */
static inline struct named_acl *
plan_acls_end(const struct plan_acls *l)
{
	return l->count > 0 ? l->named + l->count : l->named;
}

void plan_acls_init(struct plan_acls *l);
void plan_acls_fini(struct plan_acls *l);
/* Makes `to`, which is not initialised, the same as `from`. Returns 0, or -1
 * with errno ENOMEM and no lists. */
int plan_acls_copy(struct plan_acls *to, const struct plan_acls *from);

/* Whether both have the same lists; numbers of names do not matter. */
bool plan_acls_equal(const struct plan_acls *a, const struct plan_acls *b);

/* Whether a word can name a list: a letter, then letters, digits and ".-_". */
bool acl_name_is_valid(const char *word);
/* Finds out whether the word is the number of a list: sets *number to it, or to
 * -1 for a name. Returns 0, or -1 with a short message if it is neither. */
int acl_word_parse(const char *word, int *number, struct error *e);

/* The list of that word, to be changed; a name that is new gets an empty one.
 * NULL with a short message. Valid until another list is named. */
struct acl *plan_acls_edit(
    struct plan_acls *l, const char *word, struct error *e);
/* The list of that name, or NULL. */
struct named_acl *plan_acls_find(const struct plan_acls *l, const char *name);
/* The list that is referred to; NULL if there is none. */
const struct acl *plan_acls_of(
    const struct plan_acls *l, const struct acl_ref *ref);
/* List `i` of all, the numbered ones first, and in `word` what it is called;
 * NULL after the last one. */
const struct acl *plan_acls_at(
    const struct plan_acls *l, unsigned i, char word[ACL_WORD_MAX]);
/* The acl_digest() of all of them. */
uint64_t plan_acls_digest(const struct plan_acls *l);
/* Prints the warning that lists have entries for countries without geoip. */
void plan_acls_print_countries(const struct plan_acls *l, struct buffer *text);
/* Prints one thing that a list is made of, as "acl LIST" takes it. */
void acl_print_item(const struct acl_item *item, struct buffer *out);
void plan_acls_remove(struct plan_acls *l, const char *name);

/* The word of a reference, which is not none. Returns `word`. */
const char *acl_ref_word(const struct acl_ref *ref, char word[ACL_WORD_MAX]);
/* Whether both refer to the same list. */
bool acl_ref_equal(const struct acl_ref *a, const struct acl_ref *b);

#endif
