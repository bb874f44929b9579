/* config_lines.h: the commands of a configuration by what they set.
 *
 * A key is the name of a setting, or "server 3", "acl office", "route",
 * "control" (with levels and modes), "ssl_option no_tlsv1.2": what is set,
 * replaced and compared as one. Lines of the same key stay in their order.
 *
 * A key belongs to the service whose section it stands in. The line that begins
 * the section, its header, is one, too. */
#ifndef PEN_CONTROL_CONFIG_LINES_H
#define PEN_CONTROL_CONFIG_LINES_H

#include "control/language/command.h"

/* One command. */
struct config_line {
	const struct command *row; /* of the key */
	unsigned index;		   /* of that row, from 1 on; 0: a header */
	char service[SERVICE_NAME_MAX + 1]; /* "": the first one */
	char *key;   /* owned; "": it sets nothing, or several things */
	char *words; /* owned; in their usual form */
	uint32_t order;
	uint32_t at, end;  /* it, in the text */
	uint32_t from, to; /* the whole line, with those that continue it */
	bool mixed;	   /* which begins, or ends, in another section */
	/* How it is changed in its file; see config_edit.h. */
	const char *instead;	      /* NULL: it stays; "": it goes */
	struct buffer before, behind; /* lines around its line */
	/* Of the first line of a key that is wanted; see config_merge.c. */
	bool gone;  /* nothing is wanted, and it undoes what is there */
	bool said;  /* the file needs this line */
	bool wrong; /* the file has another line */
	enum config_way { CONFIG_KEPT, CONFIG_REPLACED, CONFIG_AT_END } way;
};

struct config_lines {
	const struct command_group *commands; /* the language */
	struct config_line *line; /* by service and key; a header comes first,
				   * then the order of the table */
	uint32_t count, room;
	uint32_t sorted; /* of them; those that were added follow */
	char *text;	 /* what was read */
	char service[SERVICE_NAME_MAX + 1]; /* that its end belongs to */
};

static inline bool
config_line_is_header(const struct config_line *x)
{
	return x->index == 0;
}

/* The lines of one key, in their order. */
struct config_range {
	struct config_line *line;
	uint32_t count;
};

/* How much of a plan. */
enum config_detail {
	CONFIG_BRIEF, /* plan_print_brief() */
	CONFIG_SET,   /* plan_print_set() */
	CONFIG_ALL    /* plan_print() */
};

/* After the last line; NULL + 0 is undefined in C11. */
static inline struct config_line *
config_lines_end(const struct config_lines *l)
{
	return l->count > 0 ? l->line + l->count : l->line;
}

static inline struct config_line *
config_range_end(struct config_range r)
{
	return r.count > 0 ? r.line + r.count : r.line;
}

/* Fills `l`, which has but the language, with the commands of a text. With a
 * c->pen they are carried out on c->plan, as config_load() does. Errors name
 * `path`. Returns 0, or -1 with a full message; config_lines_fini() is for
 * both. */
int config_lines_read(struct config_lines *l, const struct call *c,
    const char *path, const struct buffer *text, struct error *e);
void config_lines_fini(struct config_lines *l);
/* The same with the commands of a plan. Returns 0, or -1 with errno ENOMEM. */
int config_lines_of_plan(
    struct config_lines *l, const struct plan *p, enum config_detail detail);
/* Adds the lines that sections lack because they are the default, where `other`
 * has them; `plain` is made of a plan with nothing but defaults. All three are
 * sorted, and `l` is so again. Returns 0, or -1 with errno ENOMEM. */
int config_lines_add_defaults(struct config_lines *l,
    const struct config_lines *other, const struct config_lines *plain);

/* Adds a line; its key and words become the list's. Returns 0, or -1 with errno
 * ENOMEM. It is found after config_lines_sort(). */
int config_lines_add(struct config_lines *l, struct config_line one);
void config_lines_sort(struct config_lines *l);
/* They are as they were in the text, and none is found, until they are sorted
 * again. */
void config_lines_restore_order(struct config_lines *l);

/* Those with the key of line `i`, which is the first of them. */
struct config_range config_lines_at(const struct config_lines *l, uint32_t i);
/* Those with the key that `like` has. */
struct config_range config_lines_find(
    const struct config_lines *l, const struct config_line *like);
/* All of a service. */
struct config_range config_lines_of_service(
    const struct config_lines *l, const char *service);
/* That of the section of `like`; NULL: it is not there, or the first one. */
struct config_line *config_lines_header(
    const struct config_lines *l, const struct config_line *like);
bool config_range_equal(struct config_range a, struct config_range b);

#endif
