/* config_file.h: configuration files: the same commands as everywhere, a line
 * each.
 *
 * A backslash at the end of a line joins the next one to it. Files are read at
 * the start, for a reload and by `include`; each changes a draft only. */
#ifndef PEN_CONTROL_CONFIG_FILE_H
#define PEN_CONTROL_CONFIG_FILE_H

#include "control/language/command.h"

/* Cuts the next line off *rest, a string, in place; its continuations are
 * joined to it. *rest becomes NULL after the last one; *lines counts those of
 * the file. */
char *config_next_line(char **rest, unsigned *lines);

/* Carries out all lines on c->plan (the rest of `c` as for a single command).
 * The errors of wrong lines, "FILE:LINE: ...", are kept in c->pen->errors, if
 * that is there. Returns 0, or -1 with a full message. */
int config_load(struct call *c, const char *path, struct error *e);

/* The same with the text of the file, which is changed. */
int config_load_text(
    struct call *c, const char *path, char *text, struct error *e);

/* Whether the services after the first could be read from a file: each listens
 * and has a server. Returns 0, or -1 with a full message. */
int config_check_services(
    const struct plan *p, struct errors *all, struct error *e);

/* A draft from the command line and the configuration file, if there is one:
 * what a restart would give; but files of access lists that the command line
 * names are read again only for a reload. Replies of its commands are dropped.
 * If errors were kept in p->errors, the draft lacks what these lines wanted.
 * NULL with a full message. */
struct plan *config_draft(struct pen *p, bool reload, struct error *e);
/* The same, with that file instead of the configuration file. */
struct plan *config_draft_of(struct pen *p, const char *path, struct error *e);
/* The same with the text of a file, which is changed; errors name it "-". */
struct plan *config_draft_of_text(struct pen *p, char *text, struct error *e);

#endif
