/* top_text.c: servers as lines of a given width. */
#include "config.h"

#include <inttypes.h>
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
tell_server_state(char *to, size_t room, const struct top_server *s)
{
	snprintf(to, room, "%s", s->state);
}

static void
tell_sessions(char *to, size_t room, const struct top_server *s)
{
	snprintf(to, room, "%" PRIu64, s->sessions);
}

static void
tell_server_rate(char *to, size_t room, const struct top_server *s)
{
	tell_amount(to, room, s->rate);
}

static void
tell_up(char *to, size_t room, const struct top_server *s)
{
	tell_amount(to, room, s->up_s);
}

static void
tell_down(char *to, size_t room, const struct top_server *s)
{
	tell_amount(to, room, s->down_s);
}

static void
tell_server_failures(char *to, size_t room, const struct top_server *s)
{
	tell_amount(to, room, (double)s->failures);
}

static void
tell_since(char *to, size_t room, const struct top_server *s)
{
	uint64_t n = s->age_s;

	if (n < 60)
		snprintf(to, room, "%" PRIu64 "s", n);
	else if (n < 3600)
		snprintf(to, room, "%" PRIu64 "m", n / 60);
	else if (n < 48 * 3600)
		snprintf(to, room, "%" PRIu64 "h", n / 3600);
	else
		snprintf(to, room, "%" PRIu64 "d", n / 86400);
}

static void
tell_server_address(char *to, size_t room, const struct top_server *s)
{
	snprintf(to, room, "%s", s->at);
}

static void
tell_reason(char *to, size_t room, const struct top_server *s)
{
	snprintf(to, room, "%s", s->reason);
}

/* The columns behind the name, which has the rest of the width; shown from this
 * width of the terminal on. */
static const struct column {
	const char *title;
	int width; /* negative: to the left */
	unsigned from;
	void (*tell)(char *to, size_t room, const struct top_server *s);
} table[] = {
	{ "ADDRESS", -22, 110, tell_server_address },
	{ "STATE", -11, 0, tell_server_state },
	{ "SESSIONS", 8, 0, tell_sessions },
	{ "NEW/S", 6, 50, tell_server_rate },
	{ "UP/S", 6, 70, tell_up },
	{ "DOWN/S", 6, 70, tell_down },
	{ "FAILED", 6, 50, tell_server_failures },
	{ "FOR", 5, 70, tell_since },
	{ "REASON", -26, 110, tell_reason },
};
enum { COLUMNS = sizeof(table) / sizeof(table[0]), NAME_MIN = 8 };

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
			c->tell(text, sizeof(text), s);
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
	tell_server_rate(rate, sizeof(rate), &sum);
	tell_up(up, sizeof(up), &sum);
	tell_down(down, sizeof(down), &sum);
	snprintf(line, TOP_LINE,
	    "%u of %u up, %" PRIu64 " sessions, %s/s, up %sB/s, down %sB/s%s",
	    well, t->count, sum.sessions, rate, up, down,
	    pens > 1 ? ", several pens" : "");
	return line;
}
