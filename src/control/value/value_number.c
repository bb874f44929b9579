/* value_number.c: values that are a switch or a number. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/rate_limit.h"
#include "control/value/value_private.h"

/* ---- switches, of which one may be left to another setting ---- */

static int
set_flag(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	enum tristate state = no ? TRISTATE_OFF : TRISTATE_ON;

	(void)w, (void)e;
	if (row->kind == KIND_FLAG)
		*(bool *)value = !no;
	else
		memcpy(value, &state, sizeof(state));
	return 0;
}

static enum tristate
get_flag(const struct command *row, const void *value)
{
	enum tristate state;

	if (row->kind == KIND_FLAG)
		return *(const bool *)value ? TRISTATE_ON : TRISTATE_OFF;
	memcpy(&state, value, sizeof(state));
	return state;
}

static bool
flag_words(const struct command *row, const void *value, struct buffer *out)
{
	(void)out;
	return get_flag(row, value) == TRISTATE_ON;
}

static void
print_flag(const struct command *row, const void *value, struct buffer *out)
{
	enum tristate state = get_flag(row, value);

	if (state != TRISTATE_UNSET)
		reply_add(out, "%s%s\n", state == TRISTATE_ON ? "" : "no ",
		    row->name);
}

static void
emit_flag(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	fields_flag(f, key, get_flag(row, value) == TRISTATE_ON);
}

const struct value_kind value_kind_flag = {
	.set = set_flag,
	.words = flag_words,
	.print = print_flag,
	.emit = emit_flag,
	.size = sizeof(bool),
};

const struct value_kind value_kind_tristate = {
	.set = set_flag,
	.words = flag_words,
	.print = print_flag,
	.emit = emit_flag,
	.size = sizeof(enum tristate),
};

/* ---- modes of files ---- */

int
value_parse_mode(const char *word, unsigned *mode, struct error *e)
{
	unsigned long m;
	char *end;

	m = strtoul(word, &end, 8);
	if (*end != '\0' || end == word || m == 0 || m > 0777)
		return error_set(
		    e, "\"%.100s\" is not an octal mode such as 0660", word);
	*mode = (unsigned)m;
	return 0;
}

static int
set_mode(const struct command *row, void *value, const struct words *w, bool no,
    struct error *e)
{
	(void)row;
	if (!no)
		return value_parse_mode(w->word[0], value, e);
	*(unsigned *)value = 0;
	return 0;
}

static bool
mode_words(const struct command *row, const void *value, struct buffer *out)
{
	unsigned mode = *(const unsigned *)value;

	(void)row;
	if (mode != 0)
		reply_add(out, "%04o", mode);
	return mode != 0;
}

static void
answer_mode(
    const struct command *row, const void *value, struct buffer *out)
{
	if (mode_words(row, value, out))
		reply_add(out, "\n");
}

const struct value_kind value_kind_mode = {
	.set = set_mode,
	.words = mode_words,
	.answer = answer_mode,
	.size = sizeof(unsigned),
	.one = true,
};

/* ---- numbers ---- */

uint64_t
value_get_number(const struct command *row, const void *value)
{
	unsigned u;
	int i;

	switch (row->kind) {
	case KIND_UNSIGNED:
	case KIND_CHOICE:
		memcpy(&u, value, sizeof(u));
		return u;
	case KIND_INT:
	case KIND_ACL:
		memcpy(&i, value, sizeof(i));
		return (uint64_t)i;
	default:
		return *(const uint64_t *)value;
	}
}

void
value_store_number(const struct command *row, void *value, uint64_t n)
{
	switch (row->kind) {
	case KIND_UNSIGNED:
		*(unsigned *)value = (unsigned)n;
		break;
	case KIND_INT:
	case KIND_ACL:
		*(int *)value = (int)n;
		break;
	default:
		*(uint64_t *)value = n;
	}
}

static int
refuse_number(const struct command *row, const char *word, struct error *e)
{
	uint64_t unit = row->kind == KIND_SECONDS ? 1000 : 1;

	if (row->noun != NULL)
		return error_set(e, "\"%.100s\" is not %s from %llu to %llu",
		    word, row->noun, (unsigned long long)row->min,
		    (unsigned long long)row_max(row));
	if (errno == ERANGE)
		return error_set(e, "%s out of range %g..%llu", word,
		    (double)row->min / (double)unit,
		    (unsigned long long)(row_max(row) / unit));
	return error_set(e, "\"%.100s\" is not a valid %s", word,
	    row->kind == KIND_SECONDS	 ? "duration (5, 0.5, 200ms, 5m, 2h)"
		: row->kind == KIND_SIZE ? "size (512, 64k, 4m)"
					 : "number");
}

static int
set_number(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	const char *word = w->word[0];
	uint64_t n;
	int rc;

	(void)no;
	if (row->none != NULL && strcmp(word, row->none) == 0) {
		value_store_number(row, value, row->nothing);
		return 0;
	}
	if (row->kind == KIND_SECONDS)
		rc = number_parse_ms(word, row->min, row_max(row), &n);
	else if (row->kind == KIND_SIZE)
		rc = number_parse_size(word, row->min, row_max(row), &n);
	else
		rc = number_parse(word, row->min, row_max(row), &n);
	if (rc < 0)
		return refuse_number(row, word, e);
	value_store_number(row, value, n);
	return 0;
}

static bool
number_words(const struct command *row, const void *value, struct buffer *out)
{
	uint64_t n = value_get_number(row, value);

	if (n == row->nothing && row->none != NULL)
		reply_add(out, "%s", row->none);
	else if (row->kind == KIND_INT)
		reply_add(out, "%d", (int)n);
	else
		reply_add(out, "%llu", (unsigned long long)n);
	return true;
}

static void
emit_number(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	uint64_t n = value_get_number(row, value);

	if (n == row->nothing && row->none != NULL)
		fields_text(f, key, row->none);
	else
		fields_integer(f, key, (int64_t)n);
}

static const char *
seconds_text(uint64_t ms, char text[32])
{
	unsigned long long s = ms / 1000;
	unsigned part = (unsigned)(ms % 1000);

	if (part != 0)
		snprintf(text, 32, "%llu.%03u", s, part);
	else
		snprintf(text, 32, "%llu", s);
	return text;
}

static bool
seconds_words(const struct command *row, const void *value, struct buffer *out)
{
	char text[32];

	reply_add(out, "%s", seconds_text(value_get_number(row, value), text));
	return true;
}

static void
emit_seconds(struct fields *f, const char *key, const struct command *row,
    const void *value)
{
	char text[32];

	fields_decimal(
	    f, key, seconds_text(value_get_number(row, value), text));
}

/* Sets a rate: N in a second, N/SEC, or 0 for no limit. */
static int
set_rate(const struct command *row, void *value,
    const struct words *w, bool no, struct error *e)
{
	struct rate_limit l = { .period_ms = 1000 };
	const char *word = w->word[0], *slash;
	char count[32];

	(void)no;
	slash = strchr(word, '/');
	snprintf(count, sizeof(count), "%.*s",
	    (int)(slash != NULL ? slash - word : 31), word);
	if (number_parse(count, 0, row_max(row), &l.count) < 0 ||
	    (slash != NULL &&
		number_parse_ms(
		    slash + 1, 1, RATE_LIMIT_PERIOD, &l.period_ms) < 0))
		return error_set(e,
		    "\"%.100s\" is not a rate (100, 100/10), from 0 to %llu "
		    "in up to a day",
		    word, (unsigned long long)row_max(row));
	if (l.count == 0)
		l.period_ms = 0;
	*(struct rate_limit *)value = l;
	return 0;
}

static bool
rate_words(const struct command *row, const void *value, struct buffer *out)
{
	const struct rate_limit *l = value;
	char seconds[32];

	(void)row;
	if (l->count == 0)
		reply_add(out, "0");
	else
		reply_add(out, "%llu/%s", (unsigned long long)l->count,
		    seconds_text(l->period_ms, seconds));
	return true;
}

/* The same of errors that servers answer. */
static int
set_observe(const struct command *row, void *value, const struct words *w,
    bool no, struct error *e)
{
	const char *word = w->count > 0 ? w->word[0] : "";
	struct words rate = { .count = 1 };

	if ((no && w->count == 0) ||
	    (!no && w->count == 1 && strcmp(word, "off") == 0)) {
		*(struct rate_limit *)value = (struct rate_limit){ 0, 0 };
		return 0;
	}
	/* an option has both words in one */
	if (!no && w->count == 1 && strncmp(word, "5xx ", 4) == 0)
		rate.word[0] = w->word[0] + 4;
	else if (!no && w->count == 2 && strcmp(word, "5xx") == 0)
		rate.word[0] = w->word[1];
	else
		return error_set(e, "expects off or 5xx N/SEC");
	return set_rate(row, value, &rate, false, e);
}

static bool
observe_words(const struct command *row, const void *value, struct buffer *out)
{
	const struct rate_limit *l = value;

	if (l->count == 0) {
		reply_add(out, "off");
		return true;
	}
	reply_add(out, "5xx ");
	return rate_words(row, value, out);
}

const struct value_kind value_kind_observe = {
	.set = set_observe,
	.words = observe_words,
	.size = sizeof(struct rate_limit),
};

const struct value_kind value_kind_number = {
	.set = set_number,
	.words = number_words,
	.emit = emit_number,
	.size = sizeof(uint64_t),
	.one = true,
	.number = true,
};

const struct value_kind value_kind_unsigned = {
	.set = set_number,
	.words = number_words,
	.emit = emit_number,
	.size = sizeof(unsigned),
	.one = true,
	.number = true,
};

const struct value_kind value_kind_int = {
	.set = set_number,
	.words = number_words,
	.emit = emit_number,
	.size = sizeof(int),
	.one = true,
	.number = true,
};

const struct value_kind value_kind_seconds = {
	.set = set_number,
	.words = seconds_words,
	.emit = emit_seconds,
	.size = sizeof(uint64_t),
	.one = true,
	.number = true,
};

const struct value_kind value_kind_rate = {
	.set = set_rate,
	.words = rate_words,
	.size = sizeof(struct rate_limit),
	.one = true,
	.number = true, /* the count comes first */
};
