/* setting.c: one parser and one printer for all settings. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "control/pen.h"
#include "control/setting.h"

static void *
place_of(struct pen *p, const struct command *row)
{
	return (char *)&p->config + row->place;
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
	return error_set(e, "\"%.100s\" is no %s", text,
	    row->kind == KIND_SECONDS	 ? "number of seconds"
		: row->kind == KIND_SIZE ? "size"
					 : "number");
}

static void
answer(struct call *c, uint64_t value)
{
	const struct command *row = c->row;
	unsigned long long shown = (unsigned long long)value;

	if (row->kind == KIND_SECONDS && row->reply == NULL &&
	    value % 1000 != 0) {
		reply_add(
		    c->reply, "%llu.%03llu\n", shown / 1000, shown % 1000);
		return;
	}
	if (row->kind == KIND_SECONDS)
		shown /= 1000;
	if (row->reply != NULL)
		reply_add(c->reply, "%.*s%llu%s\n",
		    (int)strcspn(row->reply, "#"), row->reply, shown,
		    strchr(row->reply, '#') + 1);
	else
		reply_add(c->reply, "%llu\n", shown);
}

static int
set_number(struct call *c, struct error *e)
{
	const struct command *row = c->row;
	void *place = place_of(c->pen, row);
	uint64_t old = get(place, row->kind), value;

	if (c->words->count > 0) {
		if (parse(row, c->words->word[0], &value, e) < 0)
			return -1;
		put(place, row->kind, value);
		if (pen_apply(c->pen, e) < 0) {
			put(place, row->kind, old);
			return -1;
		}
	}
	answer(c, get(place, row->kind));
	return 0;
}

int
setting_run(struct call *c, struct error *e)
{
	void *place = place_of(c->pen, c->row);
	bool old;

	if (c->words->count > 1)
		return error_set(e, "one argument is enough, got \"%.100s\"",
		    c->words->word[1]);
	if (c->row->kind == KIND_TEXT) {
		*(const char **)place = c->words->word[0];
		return 0;
	}
	if (c->row->kind != KIND_FLAG)
		return set_number(c, e);
	old = *(bool *)place;
	*(bool *)place = !c->no;
	if (pen_apply(c->pen, e) == 0)
		return 0;
	*(bool *)place = old;
	return -1;
}
