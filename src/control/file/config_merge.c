/* config_merge.c: see config_merge.h. Lines that memory has no room for are
 * missing, which is found when the result is read. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/apply/services.h"
#include "control/file/config_merge.h"
#include "control/file/config_merge_private.h"

/* ---- what differs ---- */

static bool
same(const struct config_key *k, enum config_of a, enum config_of b)
{
	return text_equal(config_lines_of(k, a), config_lines_of(k, b));
}

static bool
differs(const struct merge *m, const struct config_key *k)
{
	return !same(k, CONFIG_RUNNING, CONFIG_FILE) ||
	    !same(k, CONFIG_RUNNING, CONFIG_RELOADED) ||
	    (m->alone && !same(k, CONFIG_RUNNING, CONFIG_ALONE));
}

/* Whether the key belongs to a service that the running plan no longer has. */
static bool
is_gone(const struct merge *m, const struct config_key *k)
{
	return k->section->lines[CONFIG_RUNNING] == NULL &&
	    k->section != m->keys.key[0]->section && !config_lines_is_base(k);
}

/* Whether the command line sets the key, and not to its default. */
static bool
is_given(const struct config_key *k)
{
	return config_lines_of(k, CONFIG_GIVEN) != NULL &&
	    !same(k, CONFIG_GIVEN, CONFIG_DEFAULTS);
}

/* Whether what it sets depends on the port that changes, or on the servers
 * before it. */
static bool
is_shifted(const struct config_key *k)
{
	static const char *const names[] = { "server", "emergency", "abuse" };
	unsigned i = 0;

	while (i < 3 && strcmp(k->row->name, names[i]) != 0)
		i++;
	return k->first > 0 && i < 3 &&
	    (k->section->moved ||
		(k->relative && k->section->renumbered > 0 &&
		    k->first + 1 >= k->section->renumbered));
}

/* ---- where lines go ---- */

static void
put(const struct merge *m, struct buffer *to, const char *lines)
{
	size_t n;

	for (; *lines != '\0'; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		(void)buffer_append(to, lines, n);
		reply_add(to, "%s", m->end);
	}
}

/* At the end of the file, in its section. In a file without commands, groups
 * have titles. */
static struct buffer *
find_tail(struct merge *m, struct config_key *k)
{
	const char *title = command_group_of(m->keys.commands, k->row)->title;
	const char *gap =
	    m->text[0] != '\0' || buffer_length(&m->tail) > 0 ? m->end : "";

	if (m->section != k->section)
		reply_add(&m->tail, "%sservice %s%s", gap, k->service, m->end);
	m->section = k->section;
	if (m->count == 0 && k->section == m->keys.key[0]->section &&
	    title != m->title)
		reply_add(&m->tail, "%s# %s%s", gap, title, m->end);
	m->title = title;
	return &m->tail;
}

/* The place of a new line: after the line of item `number`, if that comes after
 * the items that set the key elsewhere, and the section of the key is open
 * there; else at the end of the file. */
static struct buffer *
find_place(struct merge *m, struct config_key *k, uint32_t number)
{
	uint32_t i = number;

	if (number == 0 || number < k->elsewhere)
		return find_tail(m, k);
	while (i < m->count && m->item[i].line == m->item[number - 1].line)
		i++;
	return m->item[i - 1].key->section == k->section
	    ? &m->item[number - 1].after
	    : find_tail(m, k);
}

/* ---- what they are ---- */

static void
print_undo(const struct config_key *k, struct buffer *out)
{
	if (k == k->section)
		reply_add(out, "service %s remove\n", k->service);
	else if (config_is_server(k))
		reply_add(out, "%s remove\n", k->name);
	else
		reply_add(out, "no %s\n", k->name);
}

/* Whether a server that the command line sets would keep more of that than is
 * wanted: what `want` does not name. */
static bool
keeps_more(const char *given, const char *want)
{
	char name[CONFIG_NAME_MAX];
	size_t n;

	for (; *given != '\0'; given += n + (given[n] != '\0')) {
		n = strcspn(given, " ");
		snprintf(name, sizeof(name), " %.*s ", (int)n, given);
		if (n > 0 &&
		    strspn(given, "_abcdefghijklmnopqrstuvwxyz") == n &&
		    strncmp(given, want, n) != 0 && strstr(want, name) == NULL)
			return true;
	}
	return false;
}

/* Writes the lines that the file needs for a key, so that reading it gives the
 * running value. In front of them goes what undoes an earlier value, if the key
 * is also set elsewhere: by another item, by "defaults", or by the command
 * line. `undone`: the file has the undoing line already. */
static void
print_wanted(const struct config_key *k, bool undone, struct buffer *out)
{
	const char *want = config_lines_of(k, CONFIG_RUNNING);
	bool over = k->elsewhere > 0 || is_given(k);

	if (want == NULL && (k->included || is_given(k)))
		print_undo(k, out);
	if (want == NULL || (!over && same(k, CONFIG_RUNNING, CONFIG_DEFAULTS)))
		return;
	if (over && config_is_server(k) &&
	    (k->elsewhere > 0 ||
		keeps_more(config_lines_of(k, CONFIG_GIVEN), want)))
		reply_add(out, "%s remove; ", k->name);
	else if (over && strcmp(k->name, "control") == 0)
		reply_add(out, "control_level admin read\ncontrol_mode 0600\n");
	else if (!over && !undone && config_lines_undo(k, want))
		want = strchr(want, '\n') + 1;
	reply_line(out, want);
}

static uint32_t
count_lines(const char *lines)
{
	uint32_t n = 0;

	for (; *lines != '\0'; lines++)
		n += *lines == '\n';
	return n;
}

/* The lines of the plan that `n` items set, if that is one each. Returns
 * whether the first of them undoes the rest. */
static bool
print_read(const struct config_key *k, uint32_t n, struct buffer *out)
{
	const char *is = config_lines_of(k, CONFIG_FILE);
	uint32_t lines;

	if (is == NULL || is_shifted(k) || config_is_server(k))
		return false;
	lines = count_lines(is) + 1;
	if (lines == n + 1 && config_lines_undo(k, is))
		is = strchr(is, '\n') + 1;
	else if (lines != n)
		return false;
	reply_line(out, is);
	return lines == n && config_lines_undo(k, is);
}

/* Replaces `n` items of a key from number `i` on, which set the lines `is` if
 * that is known. What both have in front and at the end stays; what is between
 * is replaced one by one, as far as there is something to replace. The rest
 * follows, or is put before what stays. */
static void
align(struct merge *m, uint32_t i, uint32_t n, const char *is, char *want)
{
	const char *a = is + strlen(is);
	char *end = strchr(want, '\0'), *b = end;
	uint32_t last = 0, stay = 0;
	struct item *one;
	size_t length;

	for (; a > is && b > want && a[-1] == b[-1]; a--, b--)
		if (a[-1] == '\n')
			end = b;
	if (a == is && (b == want || b[-1] == '\n'))
		end = b;
	n -= count_lines(end);
	*end = '\0';
	for (a = is, b = want; stay < n && *a != '\0' && *a == *b; a++, b++)
		if (*a == '\n')
			want = b + 1, stay++;
	for (; n > 0; n--, last = i, i = one->next) {
		one = &m->item[i - 1];
		if (stay > 0) {
			stay--;
			continue;
		}
		length = strcspn(want, "\n");
		(void)buffer_append(&one->instead, want, length);
		want += length + (want[length] == '\n');
		one->replaced = true;
	}
	put(m,
	    last == 0 ? &m->item[i - 1].instead
		      : find_place(m, m->item[last - 1].key, last),
	    want);
}

/* Items that are overridden stay, unless they would do something else then. */
static void
edit_key(struct merge *m, struct config_key *k)
{
	struct buffer is = { .data = NULL }, want = { .data = NULL };
	bool gone = config_lines_of(k, CONFIG_RUNNING) == NULL;
	uint32_t first = k->first, i, n = 0;

	for (; first > 0 && first <= k->elsewhere;
	     first = m->item[first - 1].next)
		m->item[first - 1].replaced = gone || is_shifted(k);
	for (i = first; i > 0; i = m->item[i - 1].next)
		n++;
	print_wanted(k, print_read(k, n, &is), &want);
	if (buffer_append(&is, "", 1) < 0 || buffer_append(&want, "", 1) < 0)
		m->failed = true;
	else if (n > 0)
		align(m, first, n, is.data, want.data);
	else if (want.data[0] != '\0')
		put(m, find_place(m, k, k->section->end), want.data);
	buffer_fini(&is);
	buffer_fini(&want);
}

/* ---- the file ---- */

/* Sorts keys by service, then in the order of the table. */
static int
compare_keys(const void *a, const void *b)
{
	const struct config_key *x = *(void *const *)a, *y = *(void *const *)b;
	uint32_t i = x->section->order, k = y->section->order;

	if (i == k)
		i = x->index, k = y->index;
	if (i == k)
		i = x->order, k = y->order;
	return (i > k) - (i < k);
}

/* Marks the items of removed services as replaced. Then notes which services
 * have another port, and from which server number on the numbers have moved. */
static void
edit_items(struct merge *m)
{
	struct config_key *k;
	uint32_t i;

	m->section = m->keys.key[0];
	for (i = 0; i < m->count; i++) {
		m->item[i].replaced = is_gone(m, m->item[i].key);
		if (!m->item[i].replaced)
			m->section = m->item[i].key->section;
	}
	for (i = 0; i < m->keys.count; i++) {
		k = m->keys.key[i];
		if (!differs(m, k))
			continue;
		if (strcmp(k->row->name, "listen") == 0)
			k->section->moved = true;
		else if (config_lines_of(k, CONFIG_RUNNING) == NULL &&
		    (k->section->renumbered == 0 ||
			k->first + 1 < k->section->renumbered))
			k->section->renumbered = k->first + 1;
	}
}

/* Sections at the end of the file are for services that have none yet. */
static void
inherit_at_end(struct merge *m)
{
	uint32_t i, n = m->keys.count;
	struct config_key *k;

	for (i = 0; i < n; i++) {
		k = m->keys.key[i];
		if (config_is_new_section(m, k) && !is_gone(m, k))
			config_inherit(m, k);
	}
}

static void
edit_keys(struct merge *m)
{
	struct config_key *k;
	uint32_t i;

	edit_items(m);
	inherit_at_end(m);
	qsort(m->keys.key, m->keys.count, sizeof(k), compare_keys);
	for (i = 0; i < m->keys.count; i++) {
		k = m->keys.key[i];
		if (config_lines_is_base(k))
			continue;
		if (k == k->section && differs(m, k) && !is_gone(m, k) &&
		    k->end == 0)
			(void)find_tail(m, k);
		else if (k == k->section && differs(m, k) && is_gone(m, k) &&
		    (k->included || is_given(k)))
			print_undo(k, &m->tail);
		else if (k == k->section || is_gone(m, k))
			continue;
		else if (differs(m, k) || is_shifted(k))
			edit_key(m, k);
		else if (m->all && k->first == 0 && k->row->kind < KIND_CHANGE)
			put(m, find_place(m, k, k->section->end),
			    config_lines_of(k, CONFIG_RUNNING));
	}
}

/* ---- all of it ---- */

/* Makes the new text of the file, and reads it back: it must give the running
 * plan. */
static int
merge_file(struct merge *m, struct pen *p, struct error *e)
{
	const struct config_key *k;
	uint32_t i;

	if (config_read(m, p, m->text, e) < 0)
		return -1;
	edit_keys(m);
	config_print(m);
	if (m->failed || buffer_append(m->out, "", 1) < 0)
		return error_set(e, "out of memory");
	if (config_read(m, p, buffer_bytes(m->out), e) < 0)
		return -1;
	buffer_cut(m->out, buffer_length(m->out) - 1);
	for (i = 0; i < m->keys.count; i++) {
		k = m->keys.key[i];
		if (differs(m, k))
			return error_set(e,
			    "service %s: %s: no command reproduces the "
			    "running value",
			    k->service, k->name);
	}
	return 0;
}

static void
merge_fini(struct merge *m)
{
	for (; m->count > 0; m->count--) {
		buffer_fini(&m->item[m->count - 1].instead);
		buffer_fini(&m->item[m->count - 1].after);
	}
	free(m->item);
	buffer_fini(&m->tail);
	config_lines_fini(&m->keys);
	service_free(m->start.blank);
	service_free(m->start.service);
}

int
config_merge(struct pen *p, const char *path, const struct buffer *old,
    bool all, struct buffer *out, struct error *e)
{
	size_t n = buffer_length(old);
	char *text = strndup(n > 0 ? buffer_bytes(old) : "", n);
	const char *line = text != NULL ? strchr(text, '\n') : NULL;
	struct merge m = { .start = { .commands = p->commands,
			       .phase = p->phase,
			       .plan = p->plan },
		.path = path,
		.text = text,
		.end = line != NULL && line > text && line[-1] == '\r' ? "\r\n"
								       : "\n",
		.all = all,
		.alone = true,
		.out = out };
	int rc = -1;

	m.item = array_grow(NULL, &m.room, sizeof(*m.item), 0);
	m.start.service = service_new(&m.start, "default", NULL);
	if (config_lines_init(&m.keys, p->commands,
		all ? plan_print : plan_print_brief) < 0 ||
	    text == NULL || m.item == NULL || m.start.service == NULL ||
	    config_lines_read(&m.keys, CONFIG_GIVEN, p->given) < 0 ||
	    config_lines_read(&m.keys, CONFIG_RUNNING, p->plan) < 0)
		error_set(e, "out of memory");
	else
		rc = merge_file(&m, p, e);
	merge_fini(&m);
	free(text);
	return rc;
}
