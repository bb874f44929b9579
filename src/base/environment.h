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

/* Begins with pen's own environment, but for what a service manager says to
 * pen alone: NOTIFY_SOCKET, LISTEN_..., WATCHDOG_... (sd_notify(3),
 * sd_listen_fds(3)), and variables of the names that pen sets, PEN_... */
void environment_init(struct environment *e);
/* Adds a variable, which is not in the list yet. */
void environment_add(struct environment *e, const char *name, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));
void environment_fini(struct environment *e);

#endif
