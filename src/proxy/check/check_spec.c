/* check_spec.c: the kinds of checks, and specs made of words. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/check/check_spec.h"
#include "proxy/check/check_stream.h"

static const struct check_kind *const kinds[] = {
	&check_connect,
	&check_tls,
	&check_http,
	&check_https,
	&check_send,
	&check_expect,
	&check_dns,
	&check_udp,
	&check_exec,
	&check_dsr,
	NULL,
};

struct check_spec {
	unsigned references;
	const struct check_kind *kind;
	char *text;
	void *settings;
};

static const struct check_kind *
find_kind(const char *name)
{
	const struct check_kind *const *k = kinds;

	while (*k != NULL && strcmp((*k)->name, name) != 0)
		k++;
	return *k;
}

const char *
check_spec_kind_name(unsigned i)
{
	return kinds[i] != NULL ? kinds[i]->name : NULL;
}

static int
refuse_kind(const char *name, struct error *e)
{
	char list[256] = "";
	const struct check_kind *const *k;
	size_t n = 0;

	for (k = kinds; *k != NULL && n < sizeof(list); k++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
		    k == kinds	       ? ""
			: k[1] == NULL ? " or "
				       : ", ",
		    (*k)->name);
	return error_set(
	    e, "unknown kind \"%.100s\" (expected %s)", name, list);
}

/* ---- making ---- */

/* The short message names the kind, as what is wrong may be an argument of
 * it. */
static int
check_spec_parse(struct check_spec *s, const struct words *w, struct error *e)
{
	if (s->kind->parse != NULL)
		return s->kind->parse(s->settings, w, e) == 0
		    ? 0
		    : error_of(e, "%s", s->kind->name);
	if (w->count == 0)
		return 0;
	return error_set(e, "%s takes no argument, got \"%.100s\"",
	    s->kind->name, w->word[0]);
}

/* Returns 0, or -1 without memory. */
static int
note_text(struct check_spec *s, const struct words *w)
{
	struct buffer out;
	int i, rc;

	buffer_init(&out);
	rc = words_append(&out, s->kind->name);
	for (i = 0; i < w->count; i++)
		rc |= buffer_append(&out, " ", 1) |
		    words_append(&out, w->word[i]);
	rc |= buffer_append(&out, "", 1);
	if (rc == 0)
		s->text = strdup(buffer_bytes(&out));
	buffer_fini(&out);
	return s->text != NULL ? 0 : -1;
}

struct check_spec *
check_spec_of(
    const struct check_kind *kind, const struct words *w, struct error *e)
{
	struct check_spec *s = calloc(1, sizeof(*s));
	void *settings = calloc(1, kind->settings_size + 1);

	if (s == NULL || settings == NULL) {
		free(s);
		free(settings);
		error_set(e, "out of memory");
		return NULL;
	}
	*s = (struct check_spec){
		.references = 1, .kind = kind, .settings = settings
	};
	if (note_text(s, w) < 0)
		error_set(e, "out of memory");
	else if (check_spec_parse(s, w, e) == 0)
		return s;
	check_spec_drop(s);
	return NULL;
}

static struct check_spec *
spec_of_words(const struct words *w, struct error *e)
{
	const struct check_kind *kind = find_kind(w->word[0]);
	struct words arguments = { .count = w->count - 1 };

	if (kind == NULL) {
		refuse_kind(w->word[0], e);
		return NULL;
	}
	memcpy(
	    arguments.word, w->word + 1, sizeof(w->word[0]) * (size_t)w->count);
	return check_spec_of(kind, &arguments, e);
}

struct check_spec *
check_spec_read(const char *text, struct error *e)
{
	char *line = strdup(text), *rest = NULL;
	struct check_spec *s = NULL;
	struct words w;

	if (line == NULL)
		error_set(e, "out of memory");
	else if (words_split(&w, line, &rest) < 0 || rest != NULL)
		error_set(e,
		    "\"%.100s\": expects one command: its quotes "
		    "closed, without ; and with fewer words",
		    text);
	else if (w.count == 0)
		error_set(e, "expects a kind of check");
	else
		s = spec_of_words(&w, e);
	free(line);
	return s;
}

struct check_spec *
check_spec_new(const struct words *w, struct error *e)
{
	if (w->count == 1 && strpbrk(w->word[0], " \t") != NULL)
		return check_spec_read(w->word[0], e);
	return spec_of_words(w, e);
}

struct check_spec *
check_spec_hold(struct check_spec *s)
{
	s->references++;
	return s;
}

void
check_spec_drop(struct check_spec *s)
{
	if (s == NULL || --s->references > 0)
		return;
	if (s->kind->fini != NULL)
		s->kind->fini(s->settings);
	free(s->settings);
	free(s->text);
	free(s);
}

/* ---- questions ---- */

bool
check_spec_may_talk_tls(const char *text)
{
	size_t n = strcspn(text, " ");
	const struct check_kind *const *k;

	for (k = kinds; *k != NULL; k++)
		if (strlen((*k)->name) == n &&
		    memcmp((*k)->name, text, n) == 0)
			return (*k)->has_tls;
	return false;
}

const char *
check_spec_text(const struct check_spec *s)
{
	return s->text;
}

const struct check_kind *
check_spec_kind(const struct check_spec *s)
{
	return s->kind;
}

const void *
check_spec_settings(const struct check_spec *s)
{
	return s->settings;
}

char *const *
check_spec_program(const struct check_spec *s)
{
	return s->kind->program != NULL ? s->kind->program(s->settings) : NULL;
}

bool
check_spec_sends_datagrams(const struct check_spec *s)
{
	return s->kind->sends_datagrams != NULL &&
	    s->kind->sends_datagrams(s->settings);
}

const struct check_tls *
check_spec_tls(const struct check_spec *s)
{
	const struct check_tls *t =
	    (const void *)((const char *)s->settings + s->kind->tls_at);

	return s->kind->has_tls && t->on ? t : NULL;
}

bool
check_spec_equal(const struct check_spec *a, const struct check_spec *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a->text, b->text) == 0;
}
