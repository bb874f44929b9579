/* sshd.h: a real sshd with keys of its own, and ssh as its client. */
#ifndef PEN_TEST_SSHD_H
#define PEN_TEST_SSHD_H

#include <stdbool.h>

#include "support/child.h"
#include "support/spot.h"

/* Starts it at a port of 127.0.0.1, and makes the keys of a client; needs sshd,
 * ssh and ssh-keygen. One of a test. */
void sshd_up(struct child *c, const struct spot *at);
void sshd_down(struct child *c);
/* Whether a client gets in there: a user without a shell, say, has no use for
 * sshd, with pen or without. */
bool sshd_lets_in(const struct spot *at);
/* Runs a command there, at any address that leads to it; returns what it
 * printed. */
const char *sshd_run(const char *host, int port, const char *command);

#endif
