/* config_lines.h: the lines of a configuration by what they set.
 *
 * A key is the name of a setting, or "server 3", "acl office", "route",
 * "control" (with levels and modes): what is set, replaced and compared as one.
 * Lines of the same key stay in their order. */
#ifndef PEN_CONTROL_CONFIG_LINES_H
#define PEN_CONTROL_CONFIG_LINES_H

#include "control/language/command.h"

struct config_line {
	char *key;   /* owned */
	char *words; /* owned; the command in its usual form */
	const struct command *row;
	uint32_t order; /* in the configuration */
};

struct config_lines {
	struct config_line *line; /* by key, then by order */
	uint32_t count, room;
};

/* The lines of one key, in their order. */
struct config_range {
	const struct config_line *line;
	uint32_t count;
};

/* The key of a command that was carried out, or whose server is a number, and
 * its words; both NULL if it sets nothing, or several things. They are the
 * caller's to free. Returns 0, or -1 with errno ENOMEM. */
int config_line_of(const struct call *c, char **key, char **words);

void config_lines_init(struct config_lines *l);
void config_lines_fini(struct config_lines *l);
/* Adds one behind the others; key and words become the list's, also when it
 * fails. Returns 0, or -1 with errno ENOMEM. config_lines_sort() follows. */
int config_lines_add(struct config_lines *l, const struct config_line *one);
void config_lines_sort(struct config_lines *l);
/* Adds those of a plan, as plan_print() has them, but for those that only empty
 * a list, and sorts them. Returns 0, or -1 with errno ENOMEM. */
int config_lines_of_plan(struct config_lines *l, struct plan *p);

struct config_range config_lines_find(
    const struct config_lines *l, const char *key);
bool config_range_equal(struct config_range a, struct config_range b);

#endif
