/* sshd.h: a real sshd with keys of its own, and ssh as its client. */
#ifndef PEN_TEST_SSHD_H
#define PEN_TEST_SSHD_H

#include <stdbool.h>

#include "support/child.h"
#include "support/endpoint.h"

/* Starts it at an address and port, and makes the keys of a client; needs sshd,
 * ssh and ssh-keygen. One of a test. */
void sshd_up(struct child *c, const struct endpoint *at);
/* Starts another one with the same keys, on a machine of its own. */
void sshd_again(struct child *c, const struct endpoint *at);
/* The configuration of ssh with the client's key, for its option -F. */
const char *sshd_client(void);
/* Whether a client gets in there: a user without a shell, say, has no use for
 * sshd, with pen or without. */
bool sshd_lets_in(const struct endpoint *at);
/* Runs a command there, at any address that leads to it; returns what it
 * printed. */
const char *sshd_run(const char *host, int port, const char *command);

#endif
