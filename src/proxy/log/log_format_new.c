/* log_format_new.c: a format, of words or a template, made and freed. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/log/log_format_private.h"

/* ---- templates ---- */

static struct piece *
add_piece(struct log_format *f, const char *text, size_t length)
{
	struct piece *more =
	    realloc(f->pieces, (f->count + 1) * sizeof(*f->pieces));

	if (more == NULL)
		return NULL;
	f->pieces = more;
	f->pieces[f->count] = (struct piece){ text, length, NULL };
	return &f->pieces[f->count++];
}

/* Refuses an unknown field, with a list of those that exist, as many as fit;
 * the manual has all. */
static void
refuse_unknown(const char *name, size_t n, enum record_scope scope,
    struct error *e)
{
	const struct record_field *f;
	char list[300];
	size_t at = 0;

	for (f = record_fields;
	     f->name != NULL && at + strlen(f->name) + 8 < sizeof(list); f++)
		if (record_field_is_of(f, scope))
			at += (size_t)snprintf(list + at, sizeof(list) - at,
			    "%s%s", at > 0 ? ", " : "", f->name);
	error_set(e, "no field \"%.*s\" (there are %s%s)",
	    (int)(n < 40 ? n : 40), name, list, f->name != NULL ? ", .." : "");
}

/* Refuses a field that the format cannot have; if the other log has it, the
 * message names that one. */
static void
refuse_field(
    const struct log_format *f, const char *name, size_t n, struct error *e)
{
	bool session = f->scope == RECORD_SESSION;

	if (record_field_find(
		name, n, session ? RECORD_REQUEST : RECORD_SESSION) == NULL)
		refuse_unknown(name, n, f->scope, e);
	else
		error_set(e, "field \"%.*s\" is of %s", (int)n, name,
		    session ? "requests: request_format has it"
			    : "sessions: log_format has it");
}

/* The piece up to the next brace, or the end. Returns what follows, NULL with a
 * short message. */
static const char *
split_piece(struct log_format *f, const char *at, struct error *e)
{
	size_t n = strcspn(at, "{"), name;
	bool brace = at[n] == '{' && at[n + 1] == '{';
	struct piece *p = add_piece(f, at, n + brace);

	if (p == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	at += n;
	if (brace || *at == '\0')
		return at + 2 * brace;
	name = strcspn(++at, "}");
	if (at[name] == '\0') {
		error_set(e, "\"{%s\" has no }", at);
		return NULL;
	}
	p->field = record_field_find(at, name, f->scope);
	if (p->field == NULL) {
		refuse_field(f, at, name, e);
		return NULL;
	}
	f->has_tls |= p->field->is_tls;
	return at + name + 1;
}

/* ---- lines of all fields ---- */

/* What stands around a name. */
struct style {
	const char *before, *behind;
	bool upper, quotes; /* a quote after that, unless it is a number */
};

static const struct style style_logfmt = { " ", "=", false, false };
static const struct style style_json = { ",\"", "\":", false, true };
static const struct style style_journal = { "\nPEN_", "=", true, false };

static void
print_name(char text[PIECE_MAX], const struct style *s,
    const struct record_field *field)
{
	char name[RECORD_NAME_MAX + 1];
	size_t i;

	for (i = 0; field->name[i] != '\0' && i < RECORD_NAME_MAX; i++)
		name[i] = s->upper
		    ? (char)toupper((unsigned char)field->name[i])
		    : field->name[i];
	name[i] = '\0';
	snprintf(text, PIECE_MAX, "%s%s%s%s", s->before, name, s->behind,
	    s->quotes && !field->is_number ? "\"" : "");
}

static int
list_fields(struct log_format *f, const struct style *s)
{
	const struct record_field *field;
	struct piece *p;
	char *at;

	for (field = record_fields; field->name != NULL; field++)
		f->count++;
	f->text = calloc(f->count + 1, PIECE_MAX); /* they are read beyond */
	f->pieces = calloc(f->count, sizeof(*f->pieces));
	if (f->text == NULL || f->pieces == NULL)
		return -1;
	p = f->pieces;
	at = f->text;
	for (field = record_fields; field->name != NULL; field++) {
		if (field->on_request || !record_field_is_of(field, f->scope))
			continue;
		f->has_tls |= field->is_tls;
		print_name(at, s, field);
		*p++ = (struct piece){ at, strlen(at), field };
		if (!field->is_tls)
			f->without_tls = (size_t)(p - f->pieces);
		at += PIECE_MAX;
	}
	f->count = (size_t)(p - f->pieces);
	return 0;
}

/* ---- life ---- */

static const struct word {
	const char *name;
	enum record_scope scope;
	void (*write)(const struct log_format *f,
	    const struct session_record *r, bool timed, struct line *l);
	const struct style *style; /* NULL: the template */
	const char *template;
} formats[] = {
	{ "logfmt", RECORD_BOTH, log_format_write_logfmt, &style_logfmt, NULL },
	{ "jsonl", RECORD_BOTH, log_format_write_json, &style_json, NULL },
	{ "json", RECORD_BOTH, log_format_write_json, &style_json, NULL },
	{ "journal", RECORD_BOTH, log_format_write_journal, &style_journal,
	    NULL },
	{ "common", RECORD_SESSION, log_format_write_template, NULL,
	    "{clf_host} - - [{clf_time}] \"CONNECT {server} HTTP/1.1\" "
	    "{status} {down} {reason} {port}" },
	{ "common", RECORD_REQUEST, log_format_write_template, NULL,
	    "{clf_host} - - [{clf_time}] \"{request}\" {status} {body}" },
	{ "combined", RECORD_REQUEST, log_format_write_template, NULL,
	    "{clf_host} - - [{clf_time}] \"{request}\" {status} {body} "
	    "\"{referer}\" \"{user_agent}\"" },
	/* any other text is one */
	{ NULL, RECORD_BOTH, log_format_write_template, NULL, NULL },
};

static const struct word *
find_word(const char *text, enum record_scope scope)
{
	const struct word *w = formats;

	while (w->name != NULL &&
	    (strcmp(w->name, text) != 0 ||
		(w->scope != RECORD_BOTH && w->scope != scope)))
		w++;
	return w;
}

static void
set_special(struct log_format *f)
{
	bool utf8 = f->write == log_format_write_logfmt ||
	    f->write == log_format_write_json;
	int c;

	for (c = 0; c <= UCHAR_MAX; c++)
		f->special[c] =
		    !log_format_is_safe((unsigned char)c) || (utf8 && c > 0x7f);
	f->special[' '] = f->special['='] = f->write == log_format_write_logfmt;
}

static int
compile_template(struct log_format *f, struct error *e)
{
	const char *at = f->text;

	if (strcspn(at, "\r\n") != strlen(at))
		return error_set(e, "a template is one line");
	if (strchr(at, '{') == NULL)
		return error_set(e, "expects %s or a template with {fields}",
		    f->scope == RECORD_SESSION
			? "logfmt, jsonl, journal, common"
			: "common, combined, logfmt, json");
	while (*at != '\0')
		if ((at = split_piece(f, at, e)) == NULL)
			return -1;
	return 0;
}

static int
compile(struct log_format *f, const char *text, struct error *e)
{
	const struct word *word = find_word(text, f->scope);
	bool journal;

	f->write = word->write;
	journal = f->write == log_format_write_journal;
	set_special(f);
	if (word->style != NULL) {
		if (list_fields(f, word->style) < 0)
			return error_set(e, "%s", strerror(ENOMEM));
		if (journal)
			f->message = log_format_new("logfmt", f->scope, e);
		return journal && f->message == NULL ? -1 : 0;
	}
	f->text = strdup(word->template != NULL ? word->template : text);
	if (f->text == NULL)
		return error_set(e, "%s", strerror(ENOMEM));
	return compile_template(f, e);
}

struct log_format *
log_format_new(const char *text, enum record_scope scope, struct error *e)
{
	struct log_format *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	f->scope = scope;
	f->uses = 1;
	list_init(&f->link);
	if (compile(f, text, e) == 0)
		return f;
	log_format_free(f);
	return NULL;
}

static struct log_format *
find_shared(struct list *all, const char *text, enum record_scope scope)
{
	struct log_format *f;
	struct list *at;

	for (at = all->next; at != all; at = at->next) {
		f = list_entry(at, struct log_format, link);
		if (f->scope == scope && strcmp(f->given, text) == 0)
			return f;
	}
	return NULL;
}

struct log_format *
log_format_share(struct list *all, const char *text, enum record_scope scope,
    struct error *e)
{
	struct log_format *f = find_shared(all, text, scope);

	if (f != NULL) {
		f->uses++;
		return f;
	}
	f = log_format_new(text, scope, e);
	if (f == NULL)
		return NULL;
	f->given = strdup(text);
	if (f->given == NULL) {
		log_format_free(f);
		error_set(e, "%s", strerror(ENOMEM));
		return NULL;
	}
	list_prepend(all, &f->link);
	return f;
}

bool
log_format_has_tls(const struct log_format *f)
{
	return f->has_tls;
}

void
log_format_free(struct log_format *f)
{
	if (f == NULL || --f->uses > 0)
		return;
	list_remove(&f->link);
	free(f->given);
	log_format_free(f->message);
	free(f->pieces);
	free(f->text);
	free(f);
}
