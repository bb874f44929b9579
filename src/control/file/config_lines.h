/* config_lines.h: what plans set, by key, as the lines that set it.
 *
 * A key is the name of a setting, or "server 3", "acl office", "route",
 * "control" (with levels and modes), "ssl_option no_tlsv1.2", of one service:
 * what is set, replaced and compared as one. "service" is the service. */
#ifndef PEN_CONTROL_CONFIG_LINES_H
#define PEN_CONTROL_CONFIG_LINES_H

#include "base/hash_table.h"
#include "control/language/command.h"

/* Whose lines: a new plan's, the command line's, those in force; and those that
 * a file gives to a start, one without the command line, a reload. */
enum config_of {
	CONFIG_DEFAULTS,
	CONFIG_GIVEN,
	CONFIG_RUNNING,
	CONFIG_FILE,
	CONFIG_ALONE,
	CONFIG_RELOADED,
	CONFIG_PLANS
};

enum { CONFIG_NAME_MAX = 80 };

struct config_key {
	struct hash_table_link link;
	const struct command *row;
	struct config_key *section;	 /* the key of its service */
	struct config_key *usual;	 /* of the first service; NULL: this */
	uint32_t order, index;		 /* of the plans, of its row */
	const char *lines[CONFIG_PLANS]; /* NULL: none */
	char service[SERVICE_NAME_MAX + 1], name[CONFIG_NAME_MAX];
	/* For config_merge.c. Items have numbers from 1 on. */
	uint32_t first, last; /* items that set it */
	uint32_t elsewhere; /* the last that sets it in another file, or for all
			     * servers */
	uint32_t end;	    /* of a section: its last item */
	bool included;	    /* by another file */
	bool relative;	    /* a server: set by its address, or its order */
	bool base;	    /* in "defaults": what services begin with here */
	/* Of a section: the item that the first server that is gone was set by,
	 * + 1; whether it gets another port. */
	uint32_t renumbered;
	bool moved;
};

/* Owns all of it. */
struct config_lines {
	const struct command_group *commands; /* the language */
	struct plan *plain;		      /* nothing but defaults */
	void (*print)(const struct plan *p, struct buffer *text);
	struct hash_table table;
	struct config_key **key; /* in their order; the first service first */
	uint32_t count, room;
	struct buffer text[CONFIG_PLANS];
};

/* Has CONFIG_DEFAULTS; `print` is one of plan_print_*(). Returns 0, or -1 with
 * errno ENOMEM; config_lines_fini() is for both. */
int config_lines_init(struct config_lines *l,
    const struct command_group *commands,
    void (*print)(const struct plan *p, struct buffer *text));
void config_lines_fini(struct config_lines *l);
/* Replaces the lines of a plan. Returns 0, or -1 with errno ENOMEM. */
int config_lines_read(
    struct config_lines *l, enum config_of of, const struct plan *p);

/* The key of a command of that service, which is added when it is new; that of
 * one that sets nothing has no lines. NULL with errno ENOMEM. */
struct config_key *config_lines_key(
    struct config_lines *l, const struct call *c, const char *service);
/* The key of the same name in another section; the same. */
struct config_key *config_lines_like(struct config_lines *l,
    const struct config_key *k, struct config_key *section);
/* Whether it is of a section "defaults", which is no service. */
bool config_lines_is_base(const struct config_key *k);
/* The lines of the key in plan `of`; without lines of its own, those of its
 * default, if that plan has the service. NULL: none. */
const char *config_lines_of(const struct config_key *k, enum config_of of);
/* Whether the first of its lines undoes what was set before: "no acl 1". */
bool config_lines_undo(const struct config_key *k, const char *lines);

#endif
