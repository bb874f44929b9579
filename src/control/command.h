/* command.h: the one command language, as a table.
 *
 * A row is a setting or a command: its name, its arguments, its option on the
 * command line, where its value lives and in which range, and help. The same
 * rows drive the options, -O, --help and the check of the manual. */
#ifndef PEN_CONTROL_COMMAND_H
#define PEN_CONTROL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/words.h"
#include "control/reply.h"

struct pen;

/* What a row takes and where it puts it. */
enum command_kind {
	KIND_FLAG,     /* NAME | no NAME; a bool */
	KIND_NUMBER,   /* a uint64_t in min..max */
	KIND_UNSIGNED, /* an unsigned in min..max */
	KIND_INT,      /* an int in min..max */
	KIND_SIZE,     /* a uint64_t, with k, m, g */
	KIND_SECONDS,  /* a uint64_t of ms, given in seconds */
	KIND_TEXT,     /* a const char *, kept as given */
	KIND_RUN,      /* the handler does it */
	KIND_OBSOLETE, /* accepted, does nothing */
	KIND_LATER,    /* its feature is not there yet */
	KIND_TLS,      /* the same, and needs a build with TLS */
};

enum {
	ROW_START = 1,	/* only before the program serves */
	ROW_NO = 2,	/* KIND_RUN: "no NAME" is fine too */
	ROW_OPTION = 4, /* an option only, no command */
	ROW_COUNT = 8,	/* the option has no argument and is repeated */
};

/* One command being carried out. */
struct call {
	struct pen *pen;
	const struct command *row;
	const struct words *words; /* word[0] is the first argument */
	bool no;		   /* "no NAME" */
	struct buffer *reply;	   /* text for who asked */
};

struct command {
	const char *name;
	char letter;	    /* of the option; '\0': none */
	const char *option; /* its long name; NULL: no option */
	const char *args;   /* as in help; NULL: none. "[X]" may be left out */
	const char *help;   /* one line */
	enum command_kind kind;
	unsigned flags; /* ROW_* */
	size_t place;	/* of the value in struct config */
	uint64_t min, max;
	const char *reply; /* of a setting, # its number; NULL: that alone */
	/* Returns 0, or -1 with a phrase about the arguments. */
	int (*run)(struct call *c, struct error *e);
};

/* All rows, ended by a NULL name. */
extern const struct command command_table[];

/* The row of that name, or NULL. */
const struct command *command_find(const char *name);

/* Carries out one line, as -O gives it. Empty lines and comments do nothing.
 * What it answers is appended to `reply`. Returns 0, or -1 with a sentence. */
int command_run_line(
    struct pen *p, const char *line, struct buffer *reply, struct error *e);
/* Carries out a row with its arguments already split. */
int command_run_row(struct pen *p, const struct command *row,
    const struct words *arguments, bool no, struct buffer *reply,
    struct error *e);

/* ---- handlers of rows, by file ---- */

/* server_command.c */
int run_server(struct call *c, struct error *e);
int run_servers(struct call *c, struct error *e);
int run_emergency(struct call *c, struct error *e);
int run_abuse(struct call *c, struct error *e);
int run_acl(struct call *c, struct error *e);
int run_source(struct call *c, struct error *e);
/* mode_command.c */
int run_balance(struct call *c, struct error *e);
int run_sticky(struct call *c, struct error *e);
int run_mode(struct call *c, struct error *e);
int run_method(struct call *c, struct error *e);
int run_fastclose(struct call *c, struct error *e);
/* process_command.c */
int run_debug(struct call *c, struct error *e);
int run_pid(struct call *c, struct error *e);
int run_control(struct call *c, struct error *e);
int run_exit(struct call *c, struct error *e);

#endif
