/* config_text.h: the text of a configuration file as commands that can be taken
 * out or replaced, while comments, blank lines and order stay.
 *
 *     chunk   # the shop                          a comment
 *     chunk   timeout 4; blacklist 9   # slow     two commands, a comment
 *     chunk   server 0 \                          one command
 *               address web1
 *
 * A chunk of which nothing was changed is written as it was, byte for byte.
 * Another one is written with what is left of its commands verbatim, and with
 * the comment at its end. */
#ifndef PEN_CONTROL_CONFIG_TEXT_H
#define PEN_CONTROL_CONFIG_TEXT_H

#include "control/language/command.h"

struct config_item {
	const struct command *row;
	char *key;   /* what it sets; NULL: nothing, or several things */
	char *words; /* it in its usual form; NULL: without a key */
	uint32_t chunk;
	uint32_t at, length; /* of it in the line of its chunk */
	bool gone;
	char *instead; /* NULL: it stays */
};

struct config_chunk {
	uint32_t at, length; /* in the file */
	unsigned number;     /* of its first line */
	char *line;	     /* its lines joined */
	uint32_t comment;    /* where that at its end begins in the line */
	uint32_t first;	     /* of its items; the next chunk has the others */
	bool changed;
	struct buffer before, after; /* lines that are added */
};

struct config_text {
	char *file; /* the bytes, a string */
	struct config_item *item;
	struct config_chunk *chunk;
	uint32_t items, chunks, item_room, chunk_room;
	struct buffer tail; /* lines that are added at the end */
};

/* Takes a text apart. Returns 0, or -1 with a sentence that names the line, of
 * which `path` is the file; config_text_fini() is for both. */
int config_text_init(struct config_text *t, const char *path,
    const struct buffer *file, struct error *e);
void config_text_fini(struct config_text *t);

/* Carries all of it out on c->plan, as config_load() does, without reports,
 * and finds out what the items set: `key` and `words`. Returns 0, or -1 with a
 * sentence. */
int config_text_run(
    struct config_text *t, struct call *c, const char *path, struct error *e);

/* Changes to one item. The lines behind the first of `lines` are added behind
 * its chunk. Return 0, or -1 with errno ENOMEM. */
int config_text_replace(
    struct config_text *t, uint32_t item, const char *lines);
void config_text_remove(struct config_text *t, uint32_t item);
/* Adds lines before its chunk, or behind it. Return 0, or -1 with errno
 * ENOMEM. */
int config_text_add_before(
    struct config_text *t, uint32_t item, const char *lines);
int config_text_add_behind(
    struct config_text *t, uint32_t item, const char *lines);
/* Forgets all changes. */
void config_text_undo(struct config_text *t);

/* Appends what has become of it. Returns 0, or -1 with errno ENOMEM. */
int config_text_write(const struct config_text *t, struct buffer *out);

#endif
