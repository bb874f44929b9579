/* value_word.c: values that are a text or a word of a list. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "control/value/choices.h"
#include "control/value/spec_mistake.h"
#include "control/value/value_private.h"
#include "proxy/check/check_spec.h"
#include "proxy/http/http_identity.h"
#include "proxy/http/http_sticky.h"

enum { NAMES_TEXT_MAX = 200, BITS_MAX = 32 };

/* ---- texts ---- */

static int
set_text(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	(void)row;
	if (no && w->count > 0)
		return error_set(e, "takes no argument");
	if (text_set(value, no ? NULL : w->word[0]) < 0)
		return error_set(e, "out of memory");
	return 0;
}

static bool
text_words(const struct command *row, const void *value, struct buffer *out)
{
	const char *text = *(char *const *)value;

	(void)row;
	if (text == NULL)
		return false;
	words_append(out, text);
	return true;
}

static void
answer_text(const struct command *row, const void *value, struct buffer *out)
{
	const char *text = *(char *const *)value;

	(void)row;
	if (text != NULL)
		reply_line(out, text);
}

static void
emit_text(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	(void)row;
	fields_text(f, key, *(char *const *)value);
}

bool
value_equal_texts(const struct command *row, const void *a, const void *b)
{
	(void)row;
	return text_equal(*(char *const *)a, *(char *const *)b);
}

int
value_each_of_text(
    const struct command *row, void *value, int (*visit)(char **text))
{
	(void)row;
	return visit(value);
}

/* The host of a server: a name, an address or the path of a Unix socket. */
static int
value_word_set_host(const struct command *row, void *value,
    const struct words *w, bool no, struct error *e)
{
	const char *word = w->word[0];
	struct addr a;

	(void)row, (void)no;
	if (addr_is_unix_text(word) && addr_parse_unix(&a, word) < 0)
		return error_set(
		    e, "\"%.150s\": not a path of a Unix socket", word);
	if (word[0] == '\0')
		return error_set(e, "no host");
	if (spec_check_host(word, e) < 0)
		return -1;
	if (text_set(value, word) < 0)
		return error_set(e, "out of memory");
	return 0;
}

/* ---- the words of a check of servers, as check_spec.h has them ---- */

/* "off" or "default", of a server; else NULL. */
static const struct choice *
word_of_server(const struct command *row, const struct words *w)
{
	return row->choices != NULL && w->count == 1
	    ? choice_find(row->choices, w->word[0])
	    : NULL;
}

static int
set_check(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	const struct choice *own = word_of_server(row, w);
	struct check_spec *s;
	int rc;

	if (no != (w->count == 0))
		return value_expects(row, e);
	if (no || own != NULL)
		return text_set(
		    value, own != NULL && own->value ? own->word : NULL);
	s = check_spec_new(w, e);
	if (s == NULL)
		return -1;
	rc = text_set(value, check_spec_text(s));
	check_spec_drop(s);
	return rc == 0 ? 0 : error_set(e, "out of memory");
}

static bool
check_words(const struct command *row, const void *value, struct buffer *out)
{
	const char *text = *(char *const *)value;

	(void)row;
	if (text != NULL)
		(void)buffer_append(out, text, strlen(text));
	return text != NULL;
}

static void
emit_check(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	const char *text = *(char *const *)value;

	fields_text(f, key, text != NULL ? text : row->none);
}

/* ---- the name of a cookie ---- */

static int
set_cookie(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	(void)row;
	if (no && w->count > 0)
		return error_set(e, "takes no argument");
	if (!no && !http_cookie_name_is_valid(w->word[0]))
		return error_set(e,
		    "expects the name of a cookie: at most %d letters, digits "
		    "and any of !#$%%&'*+-.^_`|~",
		    HTTP_COOKIE_NAME - 1);
	memset(value, 0, HTTP_COOKIE_NAME);
	if (!no)
		memcpy(value, w->word[0], strlen(w->word[0]));
	return 0;
}

static bool
cookie_words(const struct command *row, const void *value, struct buffer *out)
{
	(void)row;
	if (*(const char *)value != '\0')
		words_append(out, value);
	return *(const char *)value != '\0';
}

static void
answer_cookie(
    const struct command *row, const void *value, struct buffer *out)
{
	(void)row;
	if (*(const char *)value != '\0')
		reply_line(out, value);
}

static void
emit_cookie(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	(void)row;
	fields_text(f, key, *(const char *)value != '\0' ? value : NULL);
}

/* ---- the field that identifies requests ---- */

static int
set_identity(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	const char *name = w->count > 0 ? w->word[0] : "off";

	(void)row;
	if (no && w->count > 0)
		return error_set(e, "takes no argument");
	if (strcmp(name, "off") == 0)
		name = "";
	else if (strcmp(name, "on") == 0)
		name = "X-Request-ID";
	else if (!http_identity_name_is_valid(name))
		return error_set(e,
		    "expects on, off or the name of a header field: at most "
		    "%d letters, digits and any of !#$%%&'*+-.^_`|~, and none "
		    "that pen itself reads",
		    HTTP_IDENTITY_NAME - 1);
	memset(value, 0, HTTP_IDENTITY_NAME);
	memcpy(value, name, strlen(name));
	return 0;
}

/* ---- words of a list ---- */

static int
get_choice(const void *value)
{
	int i;

	memcpy(&i, value, sizeof(i));
	return i;
}

/* The list as the row's arguments show it, if they show all, or as a full
 * message. */
static const char *
list_of(const struct command *row, char text[CHOICES_TEXT_MAX])
{
	const struct choice *c;
	const char *bar = row->args;

	for (c = row->choices + 1; bar != NULL && c->word != NULL; c++)
		bar = strchr(bar + 1, '|');
	return bar != NULL && row->args[0] != '['
	    ? row->args
	    : choices_sentence(row->choices, text);
}

static int
set_choice(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	char list[CHOICES_TEXT_MAX];
	const struct choice *found;

	(void)no;
	if (w->count != 1)
		return error_set(e, "expects %s", list_of(row, list));
	found = choice_find(row->choices, w->word[0]);
	if (found == NULL)
		return error_set(e, "expects %s, got \"%.100s\"",
		    list_of(row, list), w->word[0]);
	if (found->refused != NULL)
		return error_set(e, "%s", found->refused);
	memcpy(value, &found->value, sizeof(found->value));
	return 0;
}

static bool
choice_words(const struct command *row, const void *value, struct buffer *out)
{
	reply_add(out, "%s", choice_name(row->choices, get_choice(value)));
	return true;
}

/* Any of them: each is a bit, given and taken back one by one. */
static int
set_bit(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	const struct choice *found =
	    w->count == 1 ? choice_find(row->choices, w->word[0]) : NULL;
	char list[CHOICES_TEXT_MAX];
	unsigned *set = value;

	if (found == NULL)
		return error_set(
		    e, "expects %s", choices_sentence(row->choices, list));
	if (no && found->value == 0)
		return error_set(e, "%s cannot be turned off", found->word);
	*set =
	    no ? *set & ~(unsigned)found->value : *set | (unsigned)found->value;
	return 0;
}

static void
print_bits(const struct command *row, const void *value, struct buffer *out)
{
	const struct choice *c;

	for (c = row->choices; c->word != NULL; c++)
		if (c->value != 0)
			reply_add(out, "%s%s %s\n",
			    get_choice(value) & c->value ? "" : "no ",
			    row->name, c->word);
}

static void
emit_bits(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	const char *list[BITS_MAX];
	const struct choice *c;
	unsigned n = 0;

	for (c = row->choices; c->word != NULL && n < BITS_MAX; c++)
		if (get_choice(value) & c->value)
			list[n++] = c->word;
	fields_json_texts(f, key, list, n);
}

/* ---- names of things that stand elsewhere ---- */

/* The name that another program's word, or a mistyped one, stands for; NULL:
 * none. */
static const char *
nearest_name(const struct command *row, const char *word)
{
	static const char *const habits[][2] = { { "ip_hash", "hash" },
		{ "source", "hash" }, { "random", "p2c" },
		{ "rr", "roundrobin" }, { "least_request", "leastconn" } };
	struct words_nearest n = words_nearest_to(word, true);
	const char *name;
	size_t k;
	unsigned i;

	for (i = 0; (name = row->names(i)) != NULL; i++) {
		for (k = 0; k < sizeof(habits) / sizeof(habits[0]); k++)
			if (strcmp(habits[k][0], word) == 0 &&
			    strcmp(habits[k][1], name) == 0)
				return name;
		words_nearest_offer(&n, name);
	}
	return n.best;
}

static int
value_word_refuse_name(
    const struct command *row, const char *word, struct error *e)
{
	char list[NAMES_TEXT_MAX] = "";
	const char *name;
	size_t n = 0;
	unsigned i;

	for (i = 0; (name = row->names(i)) != NULL && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
		    i > 0 ? ", " : "", name);
	name = nearest_name(row, word);
	return error_set(e, "unknown %s \"%.100s\"%s%s%s; expected %s or %s",
	    row->noun, word, name != NULL ? " (did you mean " : "",
	    name != NULL ? name : "", name != NULL ? "?)" : "", list,
	    row->none);
}

static int
value_word_set_name(const struct command *row, void *value,
    const struct words *w, bool no, struct error *e)
{
	const char *name, *wanted = w->count > 0 ? w->word[0] : NULL;
	unsigned i;

	(void)no;
	if (w->count != 1)
		return value_expects(row, e);
	if (row->short_for != NULL)
		wanted = row->short_for(wanted);
	if (strcmp(w->word[0], row->none) == 0) {
		*(const char **)value = NULL;
		return 0;
	}
	for (i = 0; (name = row->names(i)) != NULL; i++)
		if (strcmp(wanted, name) == 0) {
			*(const char **)value = name;
			return 0;
		}
	return value_word_refuse_name(row, w->word[0], e);
}

/* Prints two lines: the first one also undoes settings that may depend on the
 * name. */
static void
value_word_print_name(
    const struct command *row, const void *value, struct buffer *out)
{
	reply_add(out, "%s %s\n", row->name, row->none);
	if (*(const char *const *)value != NULL)
		reply_add(
		    out, "%s %s\n", row->name, *(const char *const *)value);
}

/* Rows that stand for themselves, of which one is chosen. */
static int
set_self(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	(void)w, (void)no, (void)e;
	*(const char **)value = row->name;
	return 0;
}

static bool
is_self(const struct command *row, const void *value)
{
	return text_equal(*(const char *const *)value, row->name);
}

static bool
self_words(const struct command *row, const void *value, struct buffer *out)
{
	(void)out;
	return is_self(row, value);
}

static void
print_self(const struct command *row, const void *value, struct buffer *out)
{
	if (is_self(row, value))
		reply_add(out, "%s\n", row->name);
}

static bool
equal_selves(const struct command *row, const void *a, const void *b)
{
	return is_self(row, a) == is_self(row, b);
}

const struct value_kind value_kind_text = {
	.set = set_text,
	.one = true,
	.words = text_words,
	.answer = answer_text,
	.emit = emit_text,
	.equal = value_equal_texts,
	.each_text = value_each_of_text,
	.size = sizeof(char *),
};

const struct value_kind value_kind_choice = {
	.set = set_choice,
	.words = choice_words,
	.size = sizeof(int),
};

const struct value_kind value_kind_bits = {
	.set = set_bit,
	.print = print_bits,
	.emit = emit_bits,
	.size = sizeof(unsigned),
};

const struct value_kind value_kind_name = {
	.set = value_word_set_name,
	.words = text_words,
	.print = value_word_print_name,
	.emit = emit_text,
	.equal = value_equal_texts,
};

const struct value_kind value_kind_self = {
	.set = set_self,
	.words = self_words,
	.print = print_self,
	.emit = emit_text,
	.equal = equal_selves,
	.size = sizeof(const char *),
};

const struct value_kind value_kind_host = {
	.set = value_word_set_host,
	.words = text_words,
	.answer = answer_text,
	.emit = emit_text,
	.equal = value_equal_texts,
	.each_text = value_each_of_text,
};

const struct value_kind value_kind_cookie = {
	.set = set_cookie,
	.one = true,
	.words = cookie_words,
	.answer = answer_cookie,
	.emit = emit_cookie,
	.size = HTTP_COOKIE_NAME,
};

/* Printed as the other name. */
const struct value_kind value_kind_identity = {
	.set = set_identity,
	.one = true,
	.words = cookie_words,
	.answer = answer_cookie,
	.emit = emit_cookie,
	.size = HTTP_IDENTITY_NAME,
};

const struct value_kind value_kind_check = {
	.set = set_check,
	.words = check_words,
	.emit = emit_check,
	.equal = value_equal_texts,
	.each_text = value_each_of_text,
};
