/* config_merge_private.h: what the parts of config_merge share: the commands of
 * a file, and what becomes of each. */
#ifndef PEN_CONTROL_CONFIG_MERGE_PRIVATE_H
#define PEN_CONTROL_CONFIG_MERGE_PRIVATE_H

#include <string.h>

#include "control/file/config_lines.h"
#include "control/life/context.h"

/* A command of the file. */
struct item {
	struct config_key *key;
	uint32_t line, next; /* its line; the number of the key's next one */
	bool replaced;
	struct buffer instead; /* before it, or for it; nothing: it goes */
	struct buffer after;   /* lines after its line */
};

struct merge {
	struct pen start; /* what commands of a start have: no server */
	const char *path, *text;
	const char *end; /* of a line */
	bool all, failed;
	bool alone; /* the file can be read without the command line */
	struct config_lines keys;
	struct item *item; /* number 1 is item[0] */
	uint32_t count, room;
	struct buffer *out, tail;   /* lines at the end of the file */
	struct config_key *section; /* which these are in */
	const char *title;	    /* of the group that these are in */
};

static inline bool
config_is_server(const struct config_key *k)
{
	return strcmp(k->row->name, "server") == 0;
}

/* Whether the key belongs to a service of which no item has been seen yet. */
bool config_is_new_section(const struct merge *m, const struct config_key *k);
/* A service begins in the file, with what "defaults" has set: as if its section
 * included that. Nothing of it is in the section of the service. */
void config_inherit(struct merge *m, struct config_key *section);
/* Reads the text as a start does, with the command line and, where `alone` is
 * still true, without; the first text is noted item by item. Returns 0, or -1
 * with a full message. */
int config_read(
    struct merge *m, struct pen *p, const char *text, struct error *e);

/* Appends the file to `out`, with what has become of its items. */
void config_print(struct merge *m);

#endif
