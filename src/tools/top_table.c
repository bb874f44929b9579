/* top_table.c: see top_table.h. */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/words.h"
#include "tools/top_table.h"

void
top_table_init(struct top_table *t)
{
	*t = (struct top_table){ .list = NULL };
}

void
top_table_fini(struct top_table *t)
{
	free(t->list);
	top_table_init(t);
}

/* The columns behind the name, which has the rest of the width; shown from this
 * width of the terminal on. Those with a key are fields of the line of a
 * server: of several pens TEXT and AGE are those of the worst state, others
 * are added up. */
static const struct column {
	const char *title;
	int width; /* negative: to the left */
	unsigned from;
	enum { TEXT, COUNT, AMOUNT, AGE } kind;
	size_t at, size; /* of the member */
	const char *key;
} table[] = {
#define MEMBER(m)                    \
	offsetof(struct top_server, m), \
	    sizeof(((const struct top_server *)NULL)->m)
	{ "ADDRESS", -22, 110, TEXT, MEMBER(at), NULL },
	{ "STATE", -11, 0, TEXT, MEMBER(state), "state" },
	{ "SESSIONS", 8, 0, COUNT, MEMBER(sessions), "conn" },
	{ "NEW/S", 6, 50, AMOUNT, MEMBER(rate), "rate" },
	{ "UP/S", 6, 70, AMOUNT, MEMBER(up_s), NULL },
	{ "DOWN/S", 6, 70, AMOUNT, MEMBER(down_s), NULL },
	{ "FAILED", 6, 50, AMOUNT, MEMBER(failures), "failures" },
	{ "FOR", 5, 70, AGE, MEMBER(age_s), "age_s" },
	{ "REASON", -26, 110, TEXT, MEMBER(reason), "reason" },
};
enum { COLUMNS = sizeof(table) / sizeof(table[0]), NAME_MIN = 8 };

/* ---- a line ---- */

const char *
top_value_of(const struct words *w, const char *key)
{
	int i;

	for (i = 1; i + 1 < w->count; i += 2)
		if (strcmp(w->word[i], key) == 0)
			return w->word[i + 1];
	return "";
}

static double
number_of(const struct words *w, const char *key)
{
	return strtod(top_value_of(w, key), NULL);
}

/* Copies a text, which may be from a stranger, without bytes that a terminal
 * would obey. */
static void
copy_text(char *to, size_t room, const char *from)
{
	size_t n;

	for (n = 0; n + 1 < room && from[n] != '\0'; n++)
		to[n] = from[n] < ' ' || from[n] > '~' ? '?' : from[n];
	to[n] = '\0';
}

static void
read_member(
    struct top_server *s, const struct column *c, const struct words *w)
{
	void *member = (char *)s + c->at;

	if (c->kind == TEXT)
		copy_text(member, c->size, top_value_of(w, c->key));
	else
		*(double *)member = number_of(w, c->key);
}

static void
top_server_read(struct top_server *s, unsigned pen, const char *service,
    const struct words *w)
{
	char at[2 * TOP_TEXT], name[2 * TOP_TEXT];
	const char *addr = top_value_of(w, "addr");
	bool ip6 = strchr(addr, ':') != NULL && addr[0] != '/';
	unsigned i;

	memset(s, 0, sizeof(*s));
	copy_text(s->service, sizeof(s->service), service);
	snprintf(name, sizeof(name), "%s%s%.90s", s->service,
	    *service != '\0' ? "/" : "", top_value_of(w, "name"));
	copy_text(s->name, sizeof(s->name), name);
	snprintf(at, sizeof(at), "%s%.90s%s:%.20s", ip6 ? "[" : "", addr,
	    ip6 ? "]" : "", top_value_of(w, "port"));
	copy_text(s->at, sizeof(s->at), at);
	s->up = number_of(w, "sx");
	s->down = number_of(w, "rx");
	s->errors = number_of(w, "http_errors");
	for (i = 0; i < COLUMNS; i++)
		if (table[i].key != NULL)
			read_member(s, &table[i], w);
	for (i = 0; i < TOP_PENS; i++)
		s->number[i] = -1;
	s->number[pen] = (int)strtol(w->word[0], NULL, 10);
}

int
top_table_add(
    struct top_table *t, unsigned pen, const char *service, const char *line)
{
	char *copy = strdup(line), *rest;
	struct top_server *list;
	struct words w;
	int rc = -1;

	if (copy == NULL)
		return -1;
	if (words_split(&w, copy, &rest) < 0 || w.count < 3 ||
	    w.word[0][strspn(w.word[0], "0123456789")] != '\0' ||
	    strcmp(w.word[1], "name") != 0) {
		rc = 0;
	} else if ((list = array_grow(t->list, &t->room, sizeof(*list),
			t->count)) != NULL) {
		t->list = list;
		top_server_read(&list[t->count++], pen, service, &w);
		rc = 0;
	}
	free(copy);
	return rc;
}

/* ---- several pens, and the time before ---- */

static int
compare_identity(const void *a, const void *b)
{
	const struct top_server *x = a, *y = b;
	int rc = strcmp(x->name, y->name);

	return rc != 0 ? rc : strcmp(x->at, y->at);
}

static unsigned
severity_of(const char *state)
{
	static const char *const states[] = { "up", "drain", "maint", "suspect",
		"blacklisted", "down" };
	unsigned i;

	for (i = 0; i < 6; i++)
		if (strcmp(state, states[i]) == 0)
			return i;
	return i;
}

/* The same server may be in the list of one pen twice. */
static bool
is_of_another_pen(const struct top_server *x, const struct top_server *y)
{
	unsigned i;

	for (i = 0; i < TOP_PENS; i++)
		if (x->number[i] >= 0 && y->number[i] >= 0)
			return false;
	return compare_identity(x, y) == 0;
}

static void
add_member(struct top_server *to, const struct column *c,
    const struct top_server *s, bool worse)
{
	const void *member = (const char *)s + c->at;
	void *sum = (char *)to + c->at;

	if (c->kind != TEXT && c->kind != AGE)
		*(double *)sum += *(const double *)member;
	else if (worse)
		memcpy(sum, member, c->size);
}

static void
add_up(struct top_server *to, const struct top_server *s)
{
	bool worse = severity_of(s->state) > severity_of(to->state);
	unsigned i;

	for (i = 0; i < COLUMNS; i++)
		if (table[i].key != NULL)
			add_member(to, &table[i], s, worse);
	to->up += s->up;
	to->down += s->down;
	if (to->errors < s->errors)
		to->errors = s->errors;
	for (i = 0; i < TOP_PENS; i++)
		if (s->number[i] >= 0)
			to->number[i] = s->number[i];
}

static double
per_second(double now, double before, uint64_t ms)
{
	return now > before && ms > 0 ? (now - before) * 1000 / (double)ms : 0;
}

void
top_table_settle(
    struct top_table *t, const struct top_table *before, uint64_t now)
{
	uint64_t ms = now - before->taken_ms;
	uint32_t i, kept = 0, k = 0;

	if (t->count > 1)
		qsort(t->list, t->count, sizeof(*t->list), compare_identity);
	for (i = 0; i < t->count; i++)
		if (kept > 0 &&
		    is_of_another_pen(&t->list[kept - 1], &t->list[i]))
			add_up(&t->list[kept - 1], &t->list[i]);
		else
			t->list[kept++] = t->list[i];
	t->count = kept;
	t->taken_ms = now;
	for (i = 0; i < t->count; i++) {
		struct top_server *s = &t->list[i];

		while (k < before->count &&
		    compare_identity(&before->list[k], s) < 0)
			k++;
		/* no rate of one that is new, nor when a pen has come back
		 * with all its bytes */
		if (k == before->count ||
		    compare_identity(&before->list[k], s) != 0 ||
		    memcmp(before->list[k].number, s->number,
			sizeof(s->number)) != 0)
			continue;
		s->up_s = per_second(s->up, before->list[k].up, ms);
		s->down_s = per_second(s->down, before->list[k].down, ms);
		s->bytes_s = s->up_s + s->down_s;
		k++;
	}
}

/* ---- order ---- */

static int
first_number(const struct top_server *s)
{
	unsigned i;

	for (i = 0; i < TOP_PENS && s->number[i] < 0; i++)
		;
	return i < TOP_PENS ? s->number[i] : -1;
}

static int
by_number(const void *a, const void *b)
{
	int x = first_number(a), y = first_number(b);
	int rc = strcmp(((const struct top_server *)a)->service,
	    ((const struct top_server *)b)->service);

	return rc != 0 ? rc
	    : x != y   ? (x > y) - (x < y)
		       : compare_identity(a, b);
}

static int
by_state(const void *a, const void *b)
{
	unsigned x = severity_of(((const struct top_server *)a)->state),
		 y = severity_of(((const struct top_server *)b)->state);

	return x != y ? (x < y) - (x > y) : by_number(a, b);
}

#define GREATEST_FIRST(name, value)                                   \
	static int name(const void *a, const void *b)                 \
	{                                                             \
		const struct top_server *x = a, *y = b;               \
                                                                      \
		return x->value != y->value                           \
		    ? (x->value < y->value) - (x->value > y->value)   \
		    : by_number(a, b);                                \
	}
GREATEST_FIRST(by_sessions, sessions)
GREATEST_FIRST(by_rate, rate)
GREATEST_FIRST(by_bytes, bytes_s)
GREATEST_FIRST(by_failures, failures)

static const struct {
	const char *name;
	int (*compare)(const void *a, const void *b);
} orders[TOP_ORDERS] = {
	[TOP_BY_NUMBER] = { "number", by_number },
	[TOP_BY_NAME] = { "name", compare_identity },
	[TOP_BY_STATE] = { "state", by_state },
	[TOP_BY_SESSIONS] = { "sessions", by_sessions },
	[TOP_BY_RATE] = { "rate", by_rate },
	[TOP_BY_BYTES] = { "bytes", by_bytes },
	[TOP_BY_FAILURES] = { "failures", by_failures },
};

const char *
top_order_name(enum top_order order)
{
	return orders[order].name;
}

int
top_table_arrange(struct top_table *view, const struct top_table *t,
    enum top_order order, const char *filter)
{
	struct top_server *list =
	    array_grow(view->list, &view->room, sizeof(*list), t->count);
	uint32_t i;

	if (list == NULL)
		return -1;
	view->list = list;
	view->count = 0;
	for (i = 0; i < t->count; i++)
		if (strstr(t->list[i].name, filter) != NULL ||
		    strstr(t->list[i].at, filter) != NULL ||
		    strstr(t->list[i].state, filter) != NULL)
			list[view->count++] = t->list[i];
	if (view->count > 1)
		qsort(list, view->count, sizeof(*list), orders[order].compare);
	return 0;
}

/* ---- as text ---- */

void
top_format_amount(char *to, size_t room, double value)
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
format_age(char *to, size_t room, uint64_t s)
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

static void
format_member(
    char *to, size_t room, const struct column *c, const struct top_server *s)
{
	const void *member = (const char *)s + c->at;

	if (member == s->state && s->errors > 0 && strcmp(s->state, "up") == 0)
		snprintf(to, room, "up %.0f%% 5xx", s->errors);
	else if (c->kind == TEXT)
		snprintf(to, room, "%s", (const char *)member);
	else if (c->kind == COUNT)
		snprintf(to, room, "%.0f", *(const double *)member);
	else if (c->kind == AMOUNT)
		top_format_amount(to, room, *(const double *)member);
	else
		format_age(to, room, (uint64_t)*(const double *)member);
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

/* Where there is no column for addresses the name has the port, by which
 * servers of one host differ; a name that is too long loses its end. */
static void
name_server(char *to, const struct top_server *s, unsigned columns)
{
	const char *colon = strrchr(s->at, ':');
	const char *port = columns < table[0].from && colon != NULL &&
		strcmp(colon, ":0") != 0
	    ? colon
	    : "";
	size_t width = name_width(columns), n = strlen(port);
	size_t room = strlen(s->name) + n <= width || n + NAME_MIN <= width
	    ? width - n
	    : width;

	snprintf(to, TOP_TEXT + 1, "%.*s%s", (int)room, s->name,
	    room < width ? port : "");
}

/* `s` NULL: the headings. */
static const char *
format_line(char line[TOP_LINE], const struct top_server *s, unsigned columns)
{
	unsigned width = name_width(columns), i;
	char text[TOP_TEXT + 1] = "NAME";
	size_t n;

	if (s != NULL)
		name_server(text, s, columns);
	n = (size_t)snprintf(
	    line, TOP_LINE, "%-*.*s", (int)width, (int)width, text);
	for (i = 0; i < COLUMNS; i++) {
		const struct column *c = &table[i];

		if (columns < c->from)
			continue;
		if (s != NULL)
			format_member(text, sizeof(text), c, s);
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
	return format_line(line, NULL, columns);
}

const char *
top_table_line(
    char line[TOP_LINE], const struct top_server *s, unsigned columns)
{
	return format_line(line, s, columns);
}

const char *
top_table_sums(char line[TOP_LINE], const struct top_table *t, unsigned pens)
{
	char rate[16], up[16], down[16], with[40] = "";
	struct top_server sum = { .sessions = 0 };
	uint32_t i, well = 0, errors = 0;

	for (i = 0; i < t->count; i++) {
		const struct top_server *s = &t->list[i];

		sum.sessions += s->sessions;
		sum.rate += s->rate;
		sum.up_s += s->up_s;
		sum.down_s += s->down_s;
		well += strcmp(s->state, "up") == 0;
		errors += s->errors > 0;
	}
	if (errors > 0)
		snprintf(with, sizeof(with), "%u with errors (5xx), ", errors);
	top_format_amount(rate, sizeof(rate), sum.rate);
	top_format_amount(up, sizeof(up), sum.up_s);
	top_format_amount(down, sizeof(down), sum.down_s);
	snprintf(line, TOP_LINE,
	    "%u of %u up, %s%.0f sessions, %s/s, up %sB/s, down %sB/s%s", well,
	    t->count, with, sum.sessions, rate, up, down,
	    pens > 1 ? ", several pens" : "");
	return line;
}
