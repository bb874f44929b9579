/* value_certificate.c: certificates and their keys, of which there may be
 * several. */
#include "config.h"

#include <string.h>

#include "base/words.h"
#include "control/value/value_private.h"
#include "tls/tls_settings.h"

static int
set_pair_text(char **text, const char *word, struct error *e)
{
	return text_set(text, word) == 0 ? 0
					      : error_set(e, "out of memory");
}

static void
forget_pairs(struct tls_settings *s)
{
	unsigned i;

	for (i = 0; i < TLS_PAIRS_MAX; i++) {
		(void)text_set(&s->pair[i].cert, NULL);
		(void)text_set(&s->pair[i].key, NULL);
	}
	s->pairs = 0;
}

/* The same file again is the same certificate; a key that came before its
 * certificate waits in the entry of the next. */
static int
set_certificate(const struct command *row, void *value,
    const struct words *w, bool no, struct error *e)
{
	struct tls_settings *s = value;
	unsigned i;

	if (no) {
		forget_pairs(s);
		return 0;
	}
	if (w->count == 0 || w->count > 2)
		return value_expects(row, e);
	for (i = 0; i < s->pairs; i++)
		if (strcmp(s->pair[i].cert, w->word[0]) == 0)
			break;
	if (i == TLS_PAIRS_MAX)
		return error_set(e, "at most %d", TLS_PAIRS_MAX);
	if (set_pair_text(&s->pair[i].cert, w->word[0], e) < 0 ||
	    (w->count == 2 &&
		set_pair_text(&s->pair[i].key, w->word[1], e) < 0))
		return -1;
	if (i == s->pairs)
		s->pairs++;
	return 0;
}

/* Sets the key of the certificate that was set last. */
static int
set_key(const struct command *row, void *value,
    const struct words *w, bool no, struct error *e)
{
	struct tls_settings *s = value;
	unsigned at = s->pairs > 0 ? s->pairs - 1 : 0;

	(void)no;
	if (w->count != 1)
		return value_expects(row, e);
	return set_pair_text(&s->pair[at].key, w->word[0], e);
}

/* A certificate with its key: which one belongs to which is in their order. */
static void
print_certificates(
    const struct command *row, const void *value, struct buffer *out)
{
	const struct tls_settings *s = value;
	unsigned i;

	if (row->kind == KIND_KEYS)
		return;
	reply_add(out, "no %s\n", row->name);
	for (i = 0; i < s->pairs; i++) {
		reply_command(out, row->name, s->pair[i].cert);
		if (s->pair[i].key != NULL)
			reply_command(out, "ssl_key", s->pair[i].key);
	}
}

/* ---- what certificates and keys have in common: a file for each ---- */

static const char *
file_of(const struct command *row, const struct tls_settings *s, unsigned i)
{
	return row->kind == KIND_KEYS ? s->pair[i].key : s->pair[i].cert;
}

static void
answer_files(const struct command *row, const void *value, struct buffer *out)
{
	unsigned i;

	for (i = 0; i < TLS_PAIRS_MAX; i++)
		if (file_of(row, value, i) != NULL)
			reply_line(out, file_of(row, value, i));
}

/* Emits a list with one key file for each certificate: null where the key is in
 * the certificate's file. */
static void
emit_files(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	const struct tls_settings *s = value;
	const char *list[TLS_PAIRS_MAX];
	unsigned i;

	for (i = 0; i < s->pairs; i++)
		list[i] = file_of(row, s, i);
	fields_json_texts(f, key, list, s->pairs);
}

static bool
equal_files(const struct command *row, const void *a, const void *b)
{
	unsigned i;

	for (i = 0; i < TLS_PAIRS_MAX; i++)
		if (!text_equal(file_of(row, a, i), file_of(row, b, i)))
			return false;
	return true;
}

static int
each_file(const struct command *row, void *value, int (*visit)(char **text))
{
	struct tls_settings *s = value;
	unsigned i;
	int rc = 0;

	for (i = 0; i < TLS_PAIRS_MAX; i++)
		rc |= visit(row->kind == KIND_KEYS ? &s->pair[i].key
						   : &s->pair[i].cert);
	return rc;
}

const struct value_kind value_kind_certificates = {
	.set = set_certificate,
	.print = print_certificates,
	.answer = answer_files,
	.emit = emit_files,
	.equal = equal_files,
	.each_text = each_file,
};

const struct value_kind value_kind_keys = {
	.set = set_key,
	.print = print_certificates,
	.answer = answer_files,
	.emit = emit_files,
	.equal = equal_files,
	.each_text = each_file,
};
