/* config_text.c: see config_text.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "control/file/config_file.h"
#include "control/file/config_lines.h"
#include "control/file/config_text.h"
#include "control/registry.h"

/* ---- taken apart ---- */

static int
out_of_memory(struct error *e)
{
	return error_set(e, "out of memory");
}

static struct config_chunk *
add_chunk(struct config_text *t)
{
	struct config_chunk *list =
	    array_grow(t->chunk, &t->chunk_room, sizeof(*list), t->chunks);

	if (list == NULL)
		return NULL;
	t->chunk = list;
	list[t->chunks] = (struct config_chunk){ .first = t->items };
	buffer_init(&list[t->chunks].before);
	buffer_init(&list[t->chunks].after);
	return &list[t->chunks++];
}

static struct config_item *
add_item(struct config_text *t, const struct command *row)
{
	struct config_item *list =
	    array_grow(t->item, &t->item_room, sizeof(*list), t->items);

	if (list == NULL)
		return NULL;
	t->item = list;
	list[t->items] =
	    (struct config_item){ .row = row, .chunk = t->chunks - 1 };
	return &list[t->items++];
}

/* Notes the command that begins at `start` of a line. */
static int
note_item(struct config_text *t, const char *line, size_t start, size_t end,
    const struct command *row, struct error *e)
{
	struct config_item *item = add_item(t, row);

	if (item == NULL)
		return out_of_memory(e);
	start += strspn(line + start, " \t\r\n");
	while (end > start && strchr(" \t\r\n", line[end - 1]) != NULL)
		end--;
	item->at = (uint32_t)start;
	item->length = (uint32_t)(end - start);
	return 0;
}

/* The commands of the last chunk; `copy` is its line, to be cut. */
static int
note_items(struct config_text *t, char *copy, struct error *e)
{
	struct config_chunk *chunk = &t->chunk[t->chunks - 1];
	const struct command *row;
	char *at = copy, *rest;
	struct words w;
	bool no;

	for (; at != NULL; at = rest) {
		if (command_parse(
			command_groups, at, &row, &w, &no, &rest, e) < 0)
			return -1;
		chunk->comment = (uint32_t)(w.end - copy);
		if (row != NULL &&
		    note_item(t, chunk->line, (size_t)(at - copy),
			chunk->comment, row, e) < 0)
			return -1;
	}
	return 0;
}

static int
note_line(struct config_text *t, const char *line, struct error *e)
{
	struct config_chunk *chunk = &t->chunk[t->chunks - 1];
	char *copy = strdup(line);
	int rc;

	chunk->line = strdup(line);
	rc = copy == NULL || chunk->line == NULL ? out_of_memory(e)
						 : note_items(t, copy, e);
	free(copy);
	return rc;
}

/* The chunks, their lines cut out of `text`, which becomes useless. */
static int
cut(struct config_text *t, char *text, const char *path, struct error *e)
{
	struct config_chunk *chunk;
	char *rest = text, *from;
	unsigned lines = 0;
	struct error why;
	char *line;

	while (rest != NULL && *rest != '\0') {
		chunk = add_chunk(t);
		if (chunk == NULL)
			return out_of_memory(e);
		from = rest;
		chunk->number = lines + 1;
		line = config_next_line(&rest, &lines);
		chunk->at = (uint32_t)(from - text);
		chunk->length = rest != NULL
		    ? (uint32_t)(rest - from)
		    : (uint32_t)strlen(t->file + chunk->at);
		if (note_line(t, line, &why) < 0)
			return error_set(e, "%.300s:%u: %.200s", path,
			    chunk->number, why.text);
	}
	return 0;
}

int
config_text_init(struct config_text *t, const char *path,
    const struct buffer *file, struct error *e)
{
	size_t n = buffer_length(file);
	char *copy;
	int rc;

	memset(t, 0, sizeof(*t));
	buffer_init(&t->tail);
	t->file = calloc(1, n + 1);
	copy = calloc(1, n + 1);
	if (t->file == NULL || copy == NULL) {
		free(copy);
		return out_of_memory(e);
	}
	if (n > 0) {
		memcpy(t->file, buffer_bytes(file), n);
		memcpy(copy, t->file, n);
	}
	rc = cut(t, copy, path, e);
	free(copy);
	return rc;
}

void
config_text_fini(struct config_text *t)
{
	uint32_t i;

	config_text_undo(t);
	for (i = 0; i < t->items; i++) {
		free(t->item[i].key);
		free(t->item[i].words);
	}
	for (i = 0; i < t->chunks; i++)
		free(t->chunk[i].line);
	free(t->item);
	free(t->chunk);
	free(t->file);
}

/* ---- carried out ---- */

static int
run_words(struct config_item *item, struct call *c, char *text, struct error *e)
{
	struct words arguments;
	struct error why;
	char *rest;

	if (command_parse(command_groups, text, &c->row, &arguments, &c->no,
		&rest, e) < 0)
		return -1;
	c->words = &arguments;
	c->slot = 0;
	if (command_run(c, &why) < 0)
		return error_set(e, "%s%s: %.400s", c->no ? "no " : "",
		    c->row->name, why.text);
	free(item->key);
	free(item->words);
	return config_line_of(c, &item->key, &item->words) == 0
	    ? 0
	    : out_of_memory(e);
}

static int
run_item(struct config_text *t, struct config_item *item, struct call *c,
    const char *path, struct error *e)
{
	const struct config_chunk *chunk = &t->chunk[item->chunk];
	char origin[400], *text = strndup(chunk->line + item->at, item->length);
	struct error why;
	int rc;

	if (text == NULL)
		return out_of_memory(e);
	snprintf(origin, sizeof(origin), "%.380s:%u", path, chunk->number);
	c->origin = origin;
	rc = run_words(item, c, text, &why);
	free(text);
	return rc == 0 ? 0 : error_set(e, "%.380s: %.500s", origin, why.text);
}

int
config_text_run(
    struct config_text *t, struct call *c, const char *path, struct error *e)
{
	struct call mine = *c;
	uint32_t i;

	mine.dry = true;
	mine.depth++;
	for (i = 0; i < t->items; i++)
		if (run_item(t, &t->item[i], &mine, path, e) < 0)
			return -1;
	return 0;
}

/* ---- changed ---- */

void
config_text_remove(struct config_text *t, uint32_t item)
{
	t->item[item].gone = true;
	t->chunk[t->item[item].chunk].changed = true;
}

int
config_text_replace(struct config_text *t, uint32_t item, const char *lines)
{
	struct config_item *i = &t->item[item];
	struct config_chunk *chunk = &t->chunk[i->chunk];
	size_t n = strcspn(lines, "\n");

	i->instead = strndup(lines, n);
	if (i->instead == NULL)
		return -1;
	chunk->changed = true;
	lines += lines[n] == '\n' ? n + 1 : n;
	return buffer_append(&chunk->after, lines, strlen(lines));
}

int
config_text_add_before(struct config_text *t, uint32_t item, const char *lines)
{
	return buffer_append(
	    &t->chunk[t->item[item].chunk].before, lines, strlen(lines));
}

int
config_text_add_behind(struct config_text *t, uint32_t item, const char *lines)
{
	return buffer_append(
	    &t->chunk[t->item[item].chunk].after, lines, strlen(lines));
}

void
config_text_undo(struct config_text *t)
{
	uint32_t i;

	for (i = 0; i < t->items; i++) {
		free(t->item[i].instead);
		t->item[i].instead = NULL;
		t->item[i].gone = false;
	}
	for (i = 0; i < t->chunks; i++) {
		buffer_fini(&t->chunk[i].before);
		buffer_fini(&t->chunk[i].after);
		t->chunk[i].changed = false;
	}
	buffer_fini(&t->tail);
}

/* ---- written ---- */

static int
add(struct buffer *out, const char *text, size_t n)
{
	return buffer_append(out, text, n);
}

/* What is left of a line whose commands have changed; without any it goes, and
 * so does the comment that was about them. */
static int
write_changed(const struct config_text *t, const struct config_chunk *chunk,
    uint32_t end, struct buffer *out)
{
	const char *comment = chunk->line + chunk->comment, *text;
	const struct config_item *i;
	size_t before = buffer_length(out), n;
	uint32_t at;
	int rc = add(out, chunk->line, strspn(chunk->line, " \t"));
	bool some = false;

	for (at = chunk->first; rc == 0 && at < end; at++) {
		i = &t->item[at];
		if (i->gone)
			continue;
		text = i->instead != NULL ? i->instead : chunk->line + i->at;
		n = i->instead != NULL ? strlen(text) : i->length;
		rc =
		    (some ? add(out, "; ", 2) : 0) < 0 ? -1 : add(out, text, n);
		some = true;
	}
	if (rc == 0 && !some) {
		buffer_cut(out, before);
		return 0;
	}
	if (rc == 0 && *comment != '\0') {
		while (strchr(" \t", comment[-1]) != NULL)
			comment--;
		rc = add(out, comment, strlen(comment));
	}
	return rc == 0 ? add(out, "\n", 1) : rc;
}

/* The last line of a file may lack its end. */
static int
add_lines(struct buffer *out, const struct buffer *lines)
{
	size_t n = buffer_length(out);

	if (buffer_length(lines) == 0)
		return 0;
	if (n > 0 && buffer_bytes(out)[n - 1] != '\n' && add(out, "\n", 1) < 0)
		return -1;
	return add(out, buffer_bytes(lines), buffer_length(lines));
}

static int
write_chunk(const struct config_text *t, uint32_t number, struct buffer *out)
{
	const struct config_chunk *chunk = &t->chunk[number];
	uint32_t end = number + 1 < t->chunks ? chunk[1].first : t->items;

	if (add_lines(out, &chunk->before) < 0)
		return -1;
	if ((chunk->changed ? write_changed(t, chunk, end, out)
			    : add(out, t->file + chunk->at, chunk->length)) < 0)
		return -1;
	return add_lines(out, &chunk->after);
}

int
config_text_write(const struct config_text *t, struct buffer *out)
{
	uint32_t i;

	for (i = 0; i < t->chunks; i++)
		if (write_chunk(t, i, out) < 0)
			return -1;
	return add_lines(out, &t->tail);
}
