/* mail.h: Postfix and Dovecot with all their files below the test's scratch
 * directory, without sockets but the port's. One of each at an address; both
 * need root, and the users that their packages make. */
#ifndef PEN_TEST_MAIL_H
#define PEN_TEST_MAIL_H

#include "support/child.h"
#include "support/endpoint.h"

/* Why it cannot run here, or NULL. */
const char *postfix_lacks(void);
const char *dovecot_lacks(void);

/* Starts it as mail.test, an IPv4 address and port; `more` is lines of main.cf.
 * It has the daemons to take mail and to write it to files (virtual). */
void postfix_up(struct child *c, const struct endpoint *at, const char *more);
/* Starts it again. */
void postfix_again(struct child *c, const struct endpoint *at);
void postfix_down(struct child *c, const struct endpoint *at);

/* IMAP without TLS, for every user and password; `more` is lines of its
 * configuration. */
void dovecot_up(struct child *c, const struct endpoint *at, const char *more);
/* The directory with "mail", the Maildir of all users. */
const char *dovecot_home(const struct endpoint *at);

#endif
