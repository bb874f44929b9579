/* setting.c: one parser and one printer for all settings. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "control/facts.h"
#include "control/setting.h"
#include "control/special.h"

static const void *
place_of(const struct plan *p, const struct command *row)
{
	return (const char *)&p->config + row->offset;
}

static void *
place_in(struct plan *p, const struct command *row)
{
	return (char *)&p->config + row->offset;
}

static uint64_t
get(const void *place, enum command_kind kind)
{
	switch (kind) {
	case KIND_UNSIGNED:
		return *(const unsigned *)place;
	case KIND_INT:
		return (uint64_t) * (const int *)place;
	default:
		return *(const uint64_t *)place;
	}
}

static void
put(void *place, enum command_kind kind, uint64_t value)
{
	switch (kind) {
	case KIND_UNSIGNED:
		*(unsigned *)place = (unsigned)value;
		break;
	case KIND_INT:
		*(int *)place = (int)value;
		break;
	default:
		*(uint64_t *)place = value;
	}
}

static int
parse(const struct command *row, const char *text, uint64_t *value,
    struct error *e)
{
	uint64_t unit = row->kind == KIND_SECONDS ? 1000 : 1;
	int rc;

	if (row->kind == KIND_SECONDS)
		rc = number_parse_ms(text, row->min, row->max, value);
	else if (row->kind == KIND_SIZE)
		rc = number_parse_size(text, row->min, row->max, value);
	else
		rc = number_parse(text, row->min, row->max, value);
	if (rc == 0)
		return 0;
	if (errno == ERANGE)
		return error_set(e, "%.100s out of range %llu..%llu", text,
		    (unsigned long long)((row->min + unit - 1) / unit),
		    (unsigned long long)(row->max / unit));
	return error_set(e, "\"%.100s\" is not a valid %s", text,
	    row->kind == KIND_SECONDS	 ? "duration (5, 0.5, 200ms)"
		: row->kind == KIND_SIZE ? "size (512, 64k, 4m)"
					 : "number");
}

bool
setting_is_number(const struct command *row)
{
	return row->kind >= KIND_NUMBER && row->kind <= KIND_SECONDS;
}

const char *
setting_text(const struct plan *p, const struct command *row,
    char text[SETTING_TEXT_MAX])
{
	unsigned long long value = get(place_of(p, row), row->kind);
	unsigned part = (unsigned)(value % 1000);

	if (row->kind == KIND_SECONDS && part != 0)
		snprintf(
		    text, SETTING_TEXT_MAX, "%llu.%03u", value / 1000, part);
	else
		snprintf(text, SETTING_TEXT_MAX, "%llu",
		    row->kind == KIND_SECONDS ? value / 1000 : value);
	return text;
}

bool
setting_flag(const struct plan *p, const struct command *row)
{
	return *(const bool *)place_of(p, row);
}

const char *
setting_string(const struct plan *p, const struct command *row)
{
	return *(char *const *)place_of(p, row);
}

bool
setting_equal(
    const struct plan *a, const struct plan *b, const struct command *row)
{
	const struct special *special;

	if (row->kind == KIND_FLAG)
		return setting_flag(a, row) == setting_flag(b, row);
	if (setting_is_number(row))
		return get(place_of(a, row), row->kind) ==
		    get(place_of(b, row), row->kind);
	if (row->kind == KIND_CHANGE) {
		special = special_find(row->name);
		return special == NULL || special_equal(special, a, b);
	}
	if (row->kind != KIND_TEXT)
		return true;
	return text_equal(setting_string(a, row), setting_string(b, row));
}

void
setting_tell(struct facts *f, const char *key, const struct plan *p,
    const struct command *row)
{
	char text[SETTING_TEXT_MAX];

	if (row->kind == KIND_FLAG)
		facts_flag(f, key, setting_flag(p, row));
	else if (row->kind == KIND_TEXT)
		facts_text(f, key, setting_string(p, row));
	else if (row->kind == KIND_SECONDS)
		facts_decimal(f, key, setting_text(p, row, text));
	else
		facts_number(f, key, get(place_of(p, row), row->kind));
}

/* ---- as commands ---- */

/* What is answered: "Idle timeout: # seconds", or the value alone. */
static int
answer(struct call *c, struct error *e)
{
	const struct command *row = c->row;
	char text[SETTING_TEXT_MAX];
	struct facts f;

	if (row->run != NULL)
		return row->run(c, e);
	if (c->reply->json) {
		facts_begin(&f, c->reply, FACTS_SILENT);
		setting_tell(&f, row->name, c->plan, row);
		facts_end(&f);
		return 0;
	}
	if (row->kind == KIND_TEXT) {
		if (setting_string(c->plan, row) != NULL)
			reply_line(
			    &c->reply->out, setting_string(c->plan, row));
		return 0;
	}
	setting_text(c->plan, row, text);
	if (row->reply != NULL && row->reply[0] != '\0')
		reply_add(&c->reply->out, "%.*s%s%s\n",
		    (int)strcspn(row->reply, "#"), row->reply, text,
		    strchr(row->reply, '#') + 1);
	else
		reply_add(&c->reply->out, "%s\n", text);
	return 0;
}

static int
set_text(struct call *c, struct error *e)
{
	char **place = place_in(c->plan, c->row);
	const char *text = c->no ? NULL : c->words->word[0];

	if (c->no && c->words->count > 0)
		return error_set(e, "takes no argument");
	if (plan_set_text(place, text) < 0)
		return error_set(e, "out of memory");
	return 0;
}

static int
set_number(struct call *c, struct error *e)
{
	uint64_t value;

	if (parse(c->row, c->words->word[0], &value, e) < 0)
		return -1;
	if (c->row->flags & ROW_GROWS && c->grows &&
	    value < get(place_of(c->plan, c->row), c->row->kind))
		return 0;
	put(place_in(c->plan, c->row), c->row->kind, value);
	return 0;
}

/* Whether it says nothing when it is set, as in classic Pen. */
static bool
is_silent(const struct command *row)
{
	return row->kind == KIND_TEXT ||
	    (row->reply != NULL && row->reply[0] == '\0');
}

int
setting_run(struct call *c, struct error *e)
{
	const struct command *row = c->row;
	int rc;

	if (c->words->count > 1)
		return error_set(e, "one argument is enough, got \"%.100s\"",
		    c->words->word[1]);
	if (row->kind == KIND_FLAG) {
		*(bool *)place_in(c->plan, row) = !c->no;
		return 0;
	}
	if (!command_changes(row, c->words->count, c->no))
		return answer(c, e);
	rc = row->kind == KIND_TEXT ? set_text(c, e) : set_number(c, e);
	return rc < 0 || is_silent(row) ? rc : answer(c, e);
}
