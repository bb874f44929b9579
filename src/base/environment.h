/* environment.h: the environment of a program that pen runs: a list of
 * NAME=VALUE that ends with NULL, as execve(2) takes it. */
#ifndef PEN_BASE_ENVIRONMENT_H
#define PEN_BASE_ENVIRONMENT_H

#include <stdbool.h>

struct environment {
	char **list; /* owned, as its strings; ends with NULL */
	unsigned count, size;
	bool failed; /* memory was short: the list is not complete */
};

/* Begins with what is usual of pen's own environment: PATH, HOME, USER,
 * LOGNAME, SHELL, LANG, LC_..., TZ and TMPDIR. What else there is may be a
 * secret, or is for pen alone, as sd_notify(3) and sd_listen_fds(3). */
void environment_init(struct environment *e);
/* Adds a variable, which is not in the list yet. */
void environment_add(struct environment *e, const char *name, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));
void environment_fini(struct environment *e);

/* Pen's environment with one or two more variables; NULL is none. The caller
 * frees only the list. NULL with errno ENOMEM. */
char **environment_with(char *word, char *more);

#endif
