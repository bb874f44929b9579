/* config_lines.c: see config_lines.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/apply/apply.h"
#include "control/apply/derive.h"
#include "control/file/config_file.h"
#include "control/file/config_lines.h"
#include "pool/acl/acl.h"
#include "pool/server/server.h"

/* ---- what a command sets ---- */

enum { KEY_MAX = 80 };

static const char blanks[] = " \t\r\n";

/* Rows that set a part of what another one sets, or the same. */
static const char *const kin[][2] = {
	{ "control_level", "control" },
	{ "control_mode", "control" },
	{ "ssl_key", "ssl_cert" },
	{ "kqueue", "epoll" },
	{ "poll", "epoll" },
	{ "select", "epoll" },
};

static const struct command *
row_of_key(const struct config_lines *l, const struct command *row)
{
	size_t i;

	for (i = 0; i < sizeof(kin) / sizeof(kin[0]); i++)
		if (strcmp(row->name, kin[i][0]) == 0)
			return command_find(l->commands, kin[i][1]);
	if (row->alias != NULL)
		return command_find(l->commands, row->alias);
	return row;
}

static bool
is_row(const struct call *c, const char *name)
{
	return strcmp(c->row->name, name) == 0;
}

/* Whether it begins a section, not what removes a service. */
static bool
is_header(const struct call *c)
{
	const struct words *w = c->words;

	return c->row->flags & ROW_PREFIX &&
	    (w->count == 1 ||
		(w->count == 2 && strcmp(w->word[0], "add") == 0));
}

/* What a command sets that was carried out, or whose server is a number. */
static void
find_key(const struct config_lines *l, const struct call *c, char key[KEY_MAX])
{
	const char *word = c->words->count > 0 ? c->words->word[0] : "";
	const char *name = row_of_key(l, c->row)->name;
	unsigned long number;

	key[0] = '\0';
	if (is_header(c) && l->service[0] != '\0')
		snprintf(key, KEY_MAX, "%s", name);
	if (!row_changes(c->row, c->words->count, c->no) ||
	    c->row->flags & ROW_PREFIX || is_row(c, "include") ||
	    is_row(c, "reload") ||
	    (is_row(c, "server") && strcmp(word, "all") == 0))
		return;
	number = word[strspn(word, "0123456789")] == '\0'
	    ? strtoul(word, NULL, 10)
	    : server_number(c->slot);
	if (is_row(c, "server"))
		snprintf(key, KEY_MAX, "server %lu", number);
	else if (is_row(c, "acl") || c->row->kind == KIND_BITS)
		snprintf(key, KEY_MAX, "%s %.60s", name, word);
	else
		snprintf(key, KEY_MAX, "%s", name);
}

/* An entry of an access list can be written in several forms. */
static bool
append_entry(const struct call *c, struct buffer *out)
{
	const struct words *w = c->words;
	char text[ACL_TEXT_MAX];
	struct acl_entry entry;
	struct error e;

	if (!is_row(c, "acl") || w->count < 3 ||
	    strcmp(w->word[1], "file") == 0 ||
	    strcmp(w->word[2], "file") == 0 ||
	    acl_entry_parse(&entry, strcmp(w->word[1], "permit") == 0,
		w->word[2], w->word[3], &e) < 0)
		return false;
	reply_add(out, "acl %s %s", w->word[0], acl_format_entry(&entry, text));
	return true;
}

static char *
format_words(const struct call *c)
{
	struct buffer out;
	char *text = NULL;
	int i;

	buffer_init(&out);
	if (!append_entry(c, &out)) {
		reply_add(&out, "%s%s", c->no ? "no " : "", c->row->name);
		for (i = 0; i < c->words->count; i++) {
			(void)buffer_append(&out, " ", 1);
			words_append(&out, c->words->word[i]);
		}
	}
	if (buffer_append(&out, "", 1) == 0)
		text = strdup(buffer_bytes(&out));
	buffer_fini(&out);
	return text;
}

/* ---- lists ---- */

int
config_lines_add(struct config_lines *l, struct config_line one)
{
	struct config_line *list =
	    array_grow(l->line, &l->room, sizeof(*list), l->count);

	if (list == NULL || one.key == NULL || one.words == NULL) {
		free(one.key);
		free(one.words);
		return -1;
	}
	one.index = one.row->flags & ROW_PREFIX && one.key[0] != '\0'
	    ? 0
	    : 1 + command_index(l->commands, one.row);
	one.order = l->count;
	l->line = list;
	list[l->count++] = one;
	return 0;
}

void
config_lines_fini(struct config_lines *l)
{
	struct config_line *i;

	for (i = l->line; l->count > 0; i++, l->count--) {
		free(i->key);
		free(i->words);
		buffer_fini(&i->before);
		buffer_fini(&i->behind);
	}
	free(l->line);
	free(l->text);
	*l = (struct config_lines){ .commands = l->commands };
}

/* Short keys first, so that server 2 comes before server 10. */
static int
compare_keys(const void *a, const void *b)
{
	const struct config_line *x = a, *y = b;
	size_t n = strlen(x->key), m = strlen(y->key);
	int services = strcmp(x->service, y->service);

	if (services != 0)
		return services;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return n != m ? (n > m) - (n < m) : strcmp(x->key, y->key);
}

static int
compare_order(const void *a, const void *b)
{
	const struct config_line *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static int
compare_both(const void *a, const void *b)
{
	int keys = compare_keys(a, b);

	return keys != 0 ? keys : compare_order(a, b);
}

void
config_lines_sort(struct config_lines *l)
{
	if (l->sorted < l->count)
		qsort(l->line, l->count, sizeof(*l->line), compare_both);
	l->sorted = l->count;
}

void
config_lines_restore_order(struct config_lines *l)
{
	if (l->count > 0)
		qsort(l->line, l->count, sizeof(*l->line), compare_order);
	l->sorted = 0;
}

struct config_range
config_lines_at(const struct config_lines *l, uint32_t i)
{
	struct config_line *from = &l->line[i], *to = from + 1;

	while (to < config_lines_end(l) && compare_keys(to, from) == 0)
		to++;
	return (struct config_range){ from, (uint32_t)(to - from) };
}

struct config_range
config_lines_find(const struct config_lines *l, const struct config_line *like)
{
	struct config_line *from = l->sorted == 0
	    ? NULL
	    : bsearch(like, l->line, l->sorted, sizeof(*like), compare_keys);
	struct config_line *to = from;

	if (from == NULL)
		return (struct config_range){ NULL, 0 };
	while (from > l->line && compare_keys(from - 1, like) == 0)
		from--;
	while (to < l->line + l->sorted && compare_keys(to, like) == 0)
		to++;
	return (struct config_range){ from, (uint32_t)(to - from) };
}

/* Lines of services with smaller names; with `same`, also of that one. */
static uint32_t
count_lines_before(const struct config_lines *l, const char *service, bool same)
{
	uint32_t low = 0, high = l->sorted, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (strcmp(l->line[mid].service, service) < same)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct config_range
config_lines_of_service(const struct config_lines *l, const char *service)
{
	uint32_t from = count_lines_before(l, service, false);
	uint32_t to = count_lines_before(l, service, true);

	return (struct config_range){ from < to ? &l->line[from] : NULL,
		to - from };
}

struct config_line *
config_lines_header(
    const struct config_lines *l, const struct config_line *like)
{
	struct config_line header = { .key = (char[]){ "service" } };

	memcpy(header.service, like->service, sizeof(header.service));
	return config_lines_find(l, &header).line;
}

bool
config_range_equal(struct config_range a, struct config_range b)
{
	uint32_t i;

	for (i = 0; i < a.count && i < b.count; i++)
		if (strcmp(a.line[i].words, b.line[i].words) != 0)
			return false;
	return a.count == b.count;
}

static int
add_copy(struct config_lines *l, const struct config_line *from,
    const struct config_line *like)
{
	struct config_line one = { .row = from->row };

	one.key = strdup(from->key);
	one.words = strdup(from->words);
	memcpy(one.service, like->service, sizeof(one.service));
	return config_lines_add(l, one);
}

int
config_lines_add_defaults(struct config_lines *l,
    const struct config_lines *other, const struct config_lines *plain)
{
	const struct config_line *header;
	struct config_line like;
	struct config_range is, set;
	uint32_t i, k;

	for (i = 0; i < other->count; i += is.count) {
		is = config_lines_at(other, i);
		header = config_lines_header(l, is.line);
		if (header == NULL || header->gone ||
		    config_lines_find(l, is.line).count > 0)
			continue;
		like = *is.line;
		like.service[0] = '\0';
		set = config_lines_find(plain, &like);
		for (k = 0; k < set.count; k++)
			if (add_copy(l, &set.line[k], is.line) < 0)
				return -1;
	}
	config_lines_sort(l);
	return 0;
}

/* ---- a text ---- */

/* A line, its continuations joined, ends where it does in the text: finds what
 * is `n` bytes before that end. */
static uint32_t
offset_of(const char *text, const struct config_line *line, size_t n)
{
	const char *end = text + line->end;
	unsigned joined = 0;

	if (line->at == line->from) /* none: not even a byte order mark */
		return line->end - (uint32_t)n;
	while (n > 0)
		if (*--end == '\n')
			joined++;
		else if (joined > 0)
			joined--;
		else
			n--;
	return (uint32_t)(end - text);
}

/* Adds the command that stands from `at` to `end` in a line of which `rest`
 * bytes follow `at`. Of a plan, one without a key only empties it. */
static int
add_command(struct config_lines *l, const struct call *c,
    const struct config_line *line, const char *at, const char *end,
    size_t rest)
{
	struct config_line one = *line;
	const struct words *w = c->words;
	const char *name;
	char key[KEY_MAX];

	/* What follows the command is of that service. */
	if (is_header(c)) {
		name = w->word[w->count - 1];
		snprintf(l->service, sizeof(l->service), "%s",
		    strcmp(name, "default") != 0 ? name : "");
	} else if (c->row->flags & ROW_PREFIX && w->count == 2 &&
	    strcmp(w->word[0], l->service) == 0) {
		l->service[0] = '\0'; /* it is removed */
	}
	find_key(l, c, key);
	if (key[0] == '\0' && c->pen == NULL)
		return 0;
	while (strchr(blanks, end[-1]) != NULL) /* or cut there */
		end--;
	one.at = offset_of(l->text, line, rest);
	one.end = 1 + offset_of(l->text, line, rest - (size_t)(end - 1 - at));
	one.row = row_of_key(l, c->row);
	one.key = strdup(key);
	one.words = format_words(c);
	memcpy(one.service, l->service, sizeof(one.service));
	return config_lines_add(l, one);
}

/* Carries out the commands of a line, which is cut, and adds them. A section
 * that one begins goes on. */
static int
lines_read_line(struct config_lines *l, struct call *like,
    const struct config_line *one, char *line, struct error *e)
{
	const char *end = line + strlen(line);
	struct call c = *like;
	struct words w;
	char *rest;

	c.words = &w;
	for (; line != NULL; line = rest) {
		line += strspn(line, blanks);
		if (command_parse(
			l->commands, line, &c.row, &w, &c.no, &rest, e) < 0)
			return -1;
		if (c.row == NULL)
			continue;
		c.slot = 0;
		if (c.pen != NULL && command_run(&c, e) < 0)
			return error_of(
			    e, "%s%s", c.no ? "no " : "", c.row->name);
		if (add_command(l, &c, one, line, w.end, (size_t)(end - line)) <
		    0)
			return error_set(e, "out of memory");
	}
	like->plan = c.plan;
	like->service = c.service;
	return 0;
}

static int
read_line(struct config_lines *l, struct call *c, const struct config_line *one,
    char *line, struct error *e)
{
	char before[sizeof(l->service)];
	uint32_t first = l->count;
	int rc;

	memcpy(before, l->service, sizeof(before));
	rc = lines_read_line(l, c, one, line, e);
	if (first < l->count) {
		struct config_line *i;

		/* Of the line whose commands are those from `first` on, and
		 * which began in the section `before`. */
		for (i = l->line + first; i < config_lines_end(l); i++)
			i->mixed = strcmp(i->service, l->service) != 0 ||
			    (!config_line_is_header(i) &&
				strcmp(i->service, before) != 0);
	}
	return rc;
}

int
config_lines_read(struct config_lines *l, const struct call *like,
    const char *path, const struct buffer *text, struct error *e)
{
	size_t n = buffer_length(text);
	struct config_line one = { .to = 0 };
	char origin[400], *copy, *rest, *line;
	struct call c = *like;
	unsigned lines = 0;
	int rc = 0;

	l->text = strndup(n > 0 ? buffer_bytes(text) : "", n);
	copy = rest = l->text != NULL ? strdup(l->text) : NULL;
	if (copy == NULL)
		return error_set(e, "out of memory");
	c.origin = origin;
	while (rc == 0 && rest != NULL && *rest != '\0') {
		snprintf(origin, sizeof(origin), "%.380s:%u", path, lines + 1);
		line = config_next_line(&rest, &lines);
		one.from = one.to;
		one.to = (uint32_t)(rest != NULL ? (size_t)(rest - copy) : n);
		one.at = (uint32_t)(line - copy);
		one.end = one.to - (rest != NULL);
		rc = read_line(l, &c, &one, line, e);
	}
	if (rc < 0)
		error_of(e, "%.380s", origin);
	free(copy);
	config_lines_sort(l);
	return rc;
}

int
config_lines_of_plan(
    struct config_lines *l, const struct plan *p, enum config_detail detail)
{
	static void (*const print[])(const struct plan *,
	    struct buffer *) = { plan_print_brief, plan_print_set, plan_print };
	struct plan *copy = plan_copy(p);
	struct call c = { .plan = copy };
	struct buffer text;
	struct error e;
	int rc;

	if (copy == NULL)
		return -1;
	buffer_init(&text);
	derive_settings(copy, 0, 1, 0);
	apply_acls_forget(copy);
	print[detail](copy, &text);
	rc = config_lines_read(l, &c, "", &text, &e);
	buffer_fini(&text);
	plan_free(copy);
	return rc;
}
