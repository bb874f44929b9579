/* server_setting.c: settings of one server: set, printed, reported. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "control/value/choices.h"
#include "control/answer/fields.h"
#include "control/plan/server_setting.h"
#include "control/plan/table.h"
#include "control/value/value.h"

/* ---- setting ---- */

/* The row that the word names, or, where the word alone sets it, stands for. */
static const struct command *
find_row(const char *word)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (row->flags & ROW_BARE
			? choice_find(row->choices, word) != NULL
			: strcmp(row->name, word) == 0)
			return row;
	return NULL;
}

/* "expected acl, address ... up, drain, down or remove" */
static int
server_setting_refuse(const char *word, struct error *e)
{
	char list[COMMAND_TEXT_MAX];
	const struct choice *choice;
	const struct command *row;
	size_t n = 0, room = sizeof(list);

	for (row = rows_server; row->name != NULL && n < room; row++) {
		if (!(row->flags & ROW_BARE))
			n += (size_t)snprintf(
			    list + n, room - n, "%s, ", row->name);
		for (choice = row->choices;
		     row->flags & ROW_BARE && choice->word != NULL && n < room;
		     choice++)
			n += (size_t)snprintf(list + n, room - n, "%s%s",
			    choice->word, choice[1].word != NULL ? ", " : " ");
	}
	return error_set(e, "\"%.100s\": expected %sor remove", word, list);
}

/* The words of the value from word[at] on: all that are left for a check, else
 * one. */
static void
value_words_at(struct words *value, const struct command *row,
    const struct words *w, int at)
{
	value->count = row->kind == KIND_CHECK ? w->count - at : 1;
	memcpy(value->word, w->word + at,
	    (size_t)value->count * sizeof(value->word[0]));
	value->word[value->count] = NULL;
}

static int
server_setting_set_one(struct call *c, struct server_plan *s,
    const struct command *row, const struct words *value, struct error *e)
{
	bool named = row->kind == KIND_CHOICE || row->kind == KIND_CHECK;
	struct error why;

	if (value_set(row, s, value, false, &why) < 0)
		return error_set(e, "%s%s%.400s", named ? row->name : "",
		    named ? " " : "", why.text);
	return row->after != NULL ? row->after(c, s, e) : 0;
}

int
server_setting_run(struct call *c, struct server_plan *s, struct error *e)
{
	const struct words *w = c->words;
	const struct command *row;
	struct words value;
	int k;

	for (k = 1; k < w->count; k++) {
		if (strcmp(w->word[k], "remove") == 0) {
			server_plan_clear(s);
			continue;
		}
		row = find_row(w->word[k]);
		if (row == NULL)
			return server_setting_refuse(w->word[k], e);
		if (!(row->flags & ROW_BARE) && ++k == w->count)
			return error_set(
			    e, "\"%.100s\" needs a value", row->name);
		value_words_at(&value, row, w, k);
		if (server_setting_set_one(c, s, row, &value, e) < 0)
			return -1;
		k += value.count - 1;
	}
	return 0;
}

/* ---- printing ---- */

static void
print_one(
    const struct command *row, const struct server_plan *s, struct buffer *out)
{
	struct buffer words;

	buffer_init(&words);
	if (value_words(row, s, &words)) {
		if (!(row->flags & ROW_BARE))
			reply_add(out, " %s", row->name);
		(void)buffer_append(out, " ", 1);
		(void)buffer_append(
		    out, buffer_bytes(&words), buffer_length(&words));
	}
	buffer_fini(&words);
}

static bool
server_setting_is_address(const struct command *row)
{
	return row->kind == KIND_HOST || row->kind == KIND_PORT;
}

/* Prints the settings with these flags that are not the default. */
static void
print_if_set(const struct server_plan *s, unsigned flags, bool checks,
    struct buffer *out)
{
	const struct command *row;
	struct server_plan empty;

	server_plan_init(&empty);
	for (row = rows_server; row->name != NULL; row++)
		if ((row->flags & ROW_IF_SET) == flags &&
		    !server_setting_is_address(row) &&
		    checks == (row->kind == KIND_CHECK) &&
		    !value_equal(row, s, &empty))
			print_one(row, s, out);
}

/* First those that are always there. */
void
server_setting_print(const struct server_plan *s, struct buffer *out)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (!(row->flags & ROW_IF_SET))
			print_one(row, s, out);
	print_if_set(s, ROW_IF_SET, false, out);
}

void
server_setting_print_short(const struct server_plan *s, struct buffer *out)
{
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (server_setting_is_address(row))
			print_one(row, s, out);
	print_if_set(s, 0, false, out);
	print_if_set(s, ROW_IF_SET, false, out);
}

void
server_setting_print_check(const struct server_plan *s, struct buffer *out)
{
	print_if_set(s, ROW_IF_SET, true, out);
}

void
server_setting_report(struct fields *f, const struct server_settings *s,
    const struct acl_ref *acl)
{
	const struct server_plan of = { .acl = *acl };
	const struct command *row;

	for (row = rows_server; row->name != NULL; row++)
		if (row->kind == KIND_ACL)
			value_emit(f, row->name, row, &of);
		else if (row->kind != KIND_PORT && row->offset < sizeof(*s))
			value_emit(f, row->name, row, s);
}
