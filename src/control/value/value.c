/* value.c: what kinds of values there are, and which one a row has. */
#include "config.h"

#include <string.h>

#include "base/words.h"
#include "control/value/value_private.h"

static const struct value_kind *const kinds[] = {
	[KIND_FLAG] = &value_kind_flag,
	[KIND_TRISTATE] = &value_kind_tristate,
	[KIND_NUMBER] = &value_kind_number,
	[KIND_UNSIGNED] = &value_kind_unsigned,
	[KIND_INT] = &value_kind_int,
	[KIND_SIZE] = &value_kind_number,
	[KIND_SECONDS] = &value_kind_seconds,
	[KIND_RATE] = &value_kind_rate,
	[KIND_MODE] = &value_kind_mode,
	[KIND_ACL] = &value_kind_acl,
	[KIND_TEXT] = &value_kind_text,
	[KIND_FILE] = &value_kind_text,
	[KIND_CHOICE] = &value_kind_choice,
	[KIND_BITS] = &value_kind_bits,
	[KIND_NAME] = &value_kind_name,
	[KIND_SELF] = &value_kind_self,
	[KIND_SOURCE] = &value_kind_source,
	[KIND_OWN_ADDRESSES] = &value_kind_own_addresses,
	[KIND_FORWARDED] = &value_kind_forwarded,
	[KIND_COOKIE] = &value_kind_cookie,
	[KIND_OBSERVE] = &value_kind_observe,
	[KIND_IDENTITY] = &value_kind_identity,
	[KIND_CHECK] = &value_kind_check,
	[KIND_CERTIFICATES] = &value_kind_certificates,
	[KIND_KEYS] = &value_kind_keys,
	[KIND_PEERS] = &value_kind_peers,
	[KIND_HOST] = &value_kind_host,
	[KIND_PORT] = &value_kind_port,
};

static const struct value_kind *
kind_of(const struct command *row)
{
	return kinds[row->kind];
}

static void *
value_in(const struct command *row, void *base)
{
	return (char *)base + row->offset;
}

static const void *
value_at(const struct command *row, const void *base)
{
	return (const char *)base + row->offset;
}

int
value_expects(const struct command *row, struct error *e)
{
	char text[COMMAND_TEXT_MAX];

	return error_set(e, "expects %s", row_args(row, text));
}

bool
value_is_there(const struct command *row)
{
	return row->kind < KIND_CHANGE;
}

int
value_set(const struct command *row, void *base, const struct words *w, bool no,
    struct error *e)
{
	const struct value_kind *kind = kind_of(row);

	if (kind->one && !no && w->count == 0)
		return value_expects(row, e);
	if (kind->one && !no && w->count > 1)
		return error_set(
		    e, "takes one argument, got \"%.100s\"", w->word[1]);
	return kind->set(row, value_in(row, base), w, no, e);
}

bool
value_words(const struct command *row, const void *base, struct buffer *out)
{
	return kind_of(row)->words(row, value_at(row, base), out);
}

void
value_print(const struct command *row, const void *base, struct buffer *out)
{
	struct buffer words;

	if (kind_of(row)->print != NULL) {
		kind_of(row)->print(row, value_at(row, base), out);
		return;
	}
	/* What is appended to the name is known only when it is there. */
	buffer_init(&words);
	if (value_words(row, base, &words)) {
		reply_add(out, "%s ", row->name);
		(void)buffer_append(
		    out, buffer_bytes(&words), buffer_length(&words));
		(void)buffer_append(out, "\n", 1);
	} else {
		reply_add(out, "no %s\n", row->name);
	}
	buffer_fini(&words);
}

void
value_answer(const struct command *row, const void *base, struct buffer *out)
{
	const char *frame =
	    row->reply != NULL && row->reply[0] != '\0' ? row->reply : "#";

	if (kind_of(row)->answer != NULL) {
		kind_of(row)->answer(row, value_at(row, base), out);
		return;
	}
	/* What stands around the value: "Idle timeout: # seconds". */
	(void)buffer_append(out, frame, strcspn(frame, "#"));
	if (!value_words(row, base, out) && row->none != NULL)
		reply_add(out, "%s", row->none);
	reply_add(out, "%s\n", strchr(frame, '#') + 1);
}

void
value_emit(struct fields *f, const char *key, const struct command *row,
    const void *base)
{
	struct buffer words;
	bool there;

	if (kind_of(row)->emit != NULL) {
		kind_of(row)->emit(f, key, row, value_at(row, base));
		return;
	}
	buffer_init(&words);
	there = value_words(row, base, &words);
	if (buffer_append(&words, "", 1) == 0)
		fields_text(f, key, there ? buffer_bytes(&words) : NULL);
	buffer_fini(&words);
}

bool
value_equal(const struct command *row, const void *a, const void *b)
{
	const struct value_kind *kind = kind_of(row);
	const void *x = value_at(row, a), *y = value_at(row, b);

	return kind->equal != NULL ? kind->equal(row, x, y)
				   : memcmp(x, y, kind->size) == 0;
}

int
value_each_text(
    const struct command *row, void *base, int (*visit)(char **text))
{
	const struct value_kind *kind = kind_of(row);

	return kind->each_text != NULL
	    ? kind->each_text(row, value_in(row, base), visit)
	    : 0;
}

bool
value_is_number(const struct command *row)
{
	return row->kind < KIND_CHANGE && kind_of(row)->number;
}

uint64_t
value_number(const struct command *row, const void *base)
{
	return value_get_number(row, value_at(row, base));
}

void
value_put_number(const struct command *row, void *base, uint64_t n)
{
	value_store_number(row, value_in(row, base), n);
}

bool
value_echoes(const struct command *row)
{
	return value_is_number(row) &&
	    (row->reply == NULL || row->reply[0] != '\0');
}
