/* top_text.c: servers as lines of a given width. */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tools/top_table.h"

/* 999, 1.2k, 34k, 5.6M: four characters. */
static void
tell_amount(char *to, size_t room, double value)
{
	static const char units[] = " kMGTPE";
	unsigned unit = 0;

	for (; value >= 999.5 && unit < sizeof(units) - 2; value /= 1000)
		unit++;
	if (unit == 0)
		snprintf(to, room, value < 9.95 && value > 0 ? "%.1f" : "%.0f",
		    value);
	else
		snprintf(to, room, value < 9.95 ? "%.1f%c" : "%.0f%c", value,
		    units[unit]);
}

static void
tell_age(char *to, size_t room, uint64_t s)
{
	static const struct {
		uint64_t below, unit;
		char name;
	} units[] = { { 60, 1, 's' }, { 3600, 60, 'm' },
		{ 48 * 3600, 3600, 'h' }, { 0, 86400, 'd' } };
	unsigned i = 0;

	while (i < 3 && s >= units[i].below)
		i++;
	snprintf(to, room, "%" PRIu64 "%c", s / units[i].unit, units[i].name);
}

/* The columns after the name, which has the rest of the width; shown from this
 * width of the terminal on. */
static const struct column {
	const char *title;
	int width; /* negative: to the left */
	unsigned from;
	enum { TEXT, COUNT, AMOUNT, RATE, AGE } kind;
	size_t at; /* of the member */
} table[] = {
	{ "ADDRESS", -22, 110, TEXT, offsetof(struct top_server, at) },
	{ "STATE", -11, 0, TEXT, offsetof(struct top_server, state) },
	{ "SESSIONS", 8, 0, COUNT, offsetof(struct top_server, sessions) },
	{ "NEW/S", 6, 50, RATE, offsetof(struct top_server, rate) },
	{ "UP/S", 6, 70, RATE, offsetof(struct top_server, up_s) },
	{ "DOWN/S", 6, 70, RATE, offsetof(struct top_server, down_s) },
	{ "FAILED", 6, 50, AMOUNT, offsetof(struct top_server, failures) },
	{ "FOR", 5, 70, AGE, offsetof(struct top_server, age_s) },
	{ "REASON", -26, 110, TEXT, offsetof(struct top_server, reason) },
};
enum { COLUMNS = sizeof(table) / sizeof(table[0]), NAME_MIN = 8 };

static void
tell_member(
    char *to, size_t room, const struct column *c, const struct top_server *s)
{
	const void *member = (const char *)s + c->at;

	switch (c->kind) {
	case TEXT:
		snprintf(to, room, "%s", (const char *)member);
		break;
	case COUNT:
		snprintf(to, room, "%" PRIu64, *(const uint64_t *)member);
		break;
	case AMOUNT:
		tell_amount(to, room, (double)*(const uint64_t *)member);
		break;
	case RATE:
		tell_amount(to, room, *(const double *)member);
		break;
	case AGE:
		tell_age(to, room, *(const uint64_t *)member);
		break;
	}
}

static unsigned
width_of(const struct column *c)
{
	return (unsigned)(c->width < 0 ? -c->width : c->width);
}

static unsigned
name_width(unsigned columns)
{
	unsigned rest = columns, i;

	for (i = 0; i < COLUMNS; i++)
		if (columns >= table[i].from)
			rest -= rest > width_of(&table[i])
			    ? width_of(&table[i]) + 1
			    : rest;
	return rest < NAME_MIN ? NAME_MIN
	    : rest < TOP_TEXT  ? rest
			       : TOP_TEXT;
}

/* `s` NULL: the headings. */
static const char *
top_text_tell(char line[TOP_LINE], const struct top_server *s, unsigned columns)
{
	unsigned width = name_width(columns), i;
	char text[TOP_TEXT];
	size_t n;

	n = (size_t)snprintf(line, TOP_LINE, "%-*.*s", (int)width, (int)width,
	    s != NULL ? s->name : "NAME");
	for (i = 0; i < COLUMNS; i++) {
		const struct column *c = &table[i];

		if (columns < c->from)
			continue;
		if (s != NULL)
			tell_member(text, sizeof(text), c, s);
		else
			snprintf(text, sizeof(text), "%s", c->title);
		n += (size_t)snprintf(line + n, TOP_LINE - n, " %*.*s",
		    c->width, (int)width_of(c), text);
	}
	if (n > columns)
		n = columns;
	while (n > 0 && line[n - 1] == ' ')
		n--;
	line[n] = '\0';
	return line;
}

const char *
top_table_headings(char line[TOP_LINE], unsigned columns)
{
	return top_text_tell(line, NULL, columns);
}

const char *
top_table_line(
    char line[TOP_LINE], const struct top_server *s, unsigned columns)
{
	return top_text_tell(line, s, columns);
}

const char *
top_table_sums(char line[TOP_LINE], const struct top_table *t, unsigned pens)
{
	char rate[16], up[16], down[16];
	struct top_server sum = { .sessions = 0 };
	uint32_t i, well = 0;

	for (i = 0; i < t->count; i++) {
		const struct top_server *s = &t->list[i];

		sum.sessions += s->sessions;
		sum.rate += s->rate;
		sum.up_s += s->up_s;
		sum.down_s += s->down_s;
		well += strcmp(s->state, "up") == 0;
	}
	tell_amount(rate, sizeof(rate), sum.rate);
	tell_amount(up, sizeof(up), sum.up_s);
	tell_amount(down, sizeof(down), sum.down_s);
	snprintf(line, TOP_LINE,
	    "%u of %u up, %" PRIu64 " sessions, %s/s, up %sB/s, down %sB/s%s",
	    well, t->count, sum.sessions, rate, up, down,
	    pens > 1 ? ", several pens" : "");
	return line;
}
