/* value_acl.c: references to access lists, by number or name; and what refers
 * to one or is append or replace. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/value/plan_acls.h"
#include "control/value/value_private.h"
#include "proxy/frontend/frontend.h"

static int
set_acl(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	struct acl_ref *ref = value;
	const char *word = w->word[0];
	char *name = NULL;
	int number = -1;

	if (w->count != !no)
		return value_expects(row, e);
	if (!no && acl_name_is_valid(word)) {
		name = strdup(word);
		if (name == NULL)
			return error_set(e, "out of memory");
	} else if (!no && !(row->flags & ROW_NO && strcmp(word, "-1") == 0) &&
	    acl_word_parse(word, &number, e) < 0) {
		return -1;
	}
	free(ref->name);
	*ref = (struct acl_ref){ .number = number, .name = name };
	return 0;
}

static bool
acl_words(const struct command *row, const void *value, struct buffer *out)
{
	const struct acl_ref *ref = value;
	char word[ACL_WORD_MAX];

	(void)row;
	if (ref->name == NULL && ref->number < 0)
		return false;
	reply_add(out, "%s", acl_ref_word(ref, word));
	return true;
}

static void
value_acl_emit_acl(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	const struct acl_ref *ref = value;

	(void)row;
	if (ref->name != NULL)
		fields_text(f, key, ref->name);
	else
		fields_integer(f, key, ref->number);
}

static bool
equal_acl(const struct command *row, const void *a, const void *b)
{
	(void)row;
	return acl_ref_equal(a, b);
}

static int
each_text_of_acl(
    const struct command *row, void *value, int (*visit)(char **text))
{
	struct acl_ref *ref = value;

	(void)row;
	return visit(&ref->name);
}

const struct value_kind value_kind_acl = {
	.set = set_acl,
	.words = acl_words,
	.emit = value_acl_emit_acl,
	.equal = equal_acl,
	.size = sizeof(struct acl_ref),
	.each_text = each_text_of_acl,
	.number = true,
};

/* ---- append, replace, trust LIST ---- */

static int
set_policy(struct acl_ref *ref, int policy)
{
	free(ref->name);
	*ref = (struct acl_ref){ .number = policy };
	return 0;
}

static int
set_forwarded(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	const char *word = w->count > 0 ? w->word[0] : "";
	struct words list = { .count = 1 };

	if (!no && w->count == 1 && strcmp(word, "append") == 0)
		return set_policy(value, HTTP_FORWARDED_APPEND);
	if (!no && w->count == 1 && strcmp(word, "replace") == 0)
		return set_policy(value, HTTP_FORWARDED_REPLACE);
	/* an option has both words in one */
	if (!no && w->count == 1 && strncmp(word, "trust ", 6) == 0)
		list.word[0] = w->word[0] + 6;
	else if (!no && w->count == 2 && strcmp(word, "trust") == 0)
		list.word[0] = w->word[1];
	else
		return error_set(e, "expects append, replace or trust LIST");
	return set_acl(row, value, &list, false, e);
}

static bool
forwarded_words(
    const struct command *row, const void *value, struct buffer *out)
{
	const struct acl_ref *ref = value;
	char word[ACL_WORD_MAX];

	(void)row;
	if (ref->name == NULL && ref->number < 0)
		reply_add(out, "%s",
		    ref->number == HTTP_FORWARDED_REPLACE ? "replace"
							  : "append");
	else
		reply_add(out, "trust %s", acl_ref_word(ref, word));
	return true;
}

const struct value_kind value_kind_forwarded = {
	.set = set_forwarded,
	.words = forwarded_words,
	.equal = equal_acl,
	.size = sizeof(struct acl_ref),
	.each_text = each_text_of_acl,
};
