/* config_print.c: the text of a file with what has become of its items; all the
 * rest stays, byte for byte: see config_merge_private.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "control/file/config_file.h"
#include "control/file/config_merge_private.h"

static const char blanks[] = " \t\r";

static void
print_bytes(struct merge *m, const char *from, const char *to)
{
	if (buffer_append(m->out, from, (size_t)(to - from)) < 0)
		m->failed = true;
}

static void
print_lines(struct merge *m, const struct buffer *lines)
{
	const char *bytes = buffer_bytes(lines);

	if (buffer_length(lines) > 0)
		print_bytes(m, bytes, bytes + buffer_length(lines));
}

/* The last line of a file may lack its end. */
static void
print_after(struct merge *m, const struct buffer *lines)
{
	size_t n = buffer_length(m->out);

	if (buffer_length(lines) > 0 && n > 0 &&
	    buffer_bytes(m->out)[n - 1] != '\n')
		print_bytes(m, m->end, strchr(m->end, '\0'));
	print_lines(m, lines);
}

/* Where byte `n` of a line is, whose continuations are not joined yet. */
static const char *
find_byte(const char *line, size_t n)
{
	for (line += text_bom(line);; line++, n--) {
		while (line[0] == '\\' && line[1] == '\n')
			line += 2;
		if (n == 0)
			return line;
	}
}

/* The items of the line from `at` to `end`, which is cut joined; when none of
 * them is left it goes, with its comment. */
static void
print_items(struct merge *m, const struct item *i, const char *at,
    const char *end, char *joined)
{
	const char *line = at, *first = NULL, *from, *to;
	char *rest = joined;
	struct words w;
	bool some = false;

	for (; rest != NULL; i++) {
		from = find_byte(
		    line, (size_t)(rest - joined) + strspn(rest, blanks));
		(void)words_split(&w, rest, &rest);
		if (w.count == 0) {
			i--;
			continue;
		}
		to = find_byte(line, (size_t)(w.end - joined) - 1) + 1;
		while (strchr(blanks, to[-1]) != NULL)
			to--;
		first = first != NULL ? first : from;
		if (!i->replaced || buffer_length(&i->instead) > 0) {
			print_bytes(m, at, some ? from : first);
			print_lines(m, &i->instead);
			print_bytes(m, from, i->replaced ? from : to);
			some = true;
		}
		at = some ? to : at;
	}
	if (some)
		print_bytes(m, at, end);
}

void
config_print(struct merge *m)
{
	const struct item *i = m->item, *end;
	char *copy = strdup(m->text), *rest = copy, *line;
	unsigned lines = 0, number;
	const char *from, *to;
	bool changed;

	m->failed = m->failed || copy == NULL;
	while (rest != NULL) {
		from = m->text + (rest - copy);
		number = lines + 1;
		line = config_next_line(&rest, &lines);
		to =
		    rest != NULL ? m->text + (rest - copy) : strchr(from, '\0');
		changed = false;
		for (end = i; end < m->item + m->count && end->line == number;
		     end++)
			changed = changed || end->replaced ||
			    buffer_length(&end->instead) > 0;
		if (changed)
			print_items(m, i, from, to, line);
		else
			print_bytes(m, from, to);
		for (; i < end; i++)
			print_after(m, &i->after);
	}
	print_after(m, &m->tail);
	free(copy);
}
