/* guide_programs.h: what tests of the guide have behind pen, with the lines
 * that the guide has for these programs, and clients that ask pen for it.
 *
 * `i` is a server, 0 or 1. What starts a program returns when it listens; the
 * child is the caller's, who stops it. */
#ifndef PEN_TEST_GUIDE_PROGRAMS_H
#define PEN_TEST_GUIDE_PROGRAMS_H

#include "support/guide.h"
#include "support/nginx.h"

enum { GUIDE_SERVERS = 2 };

/* The address of a server, and that with a port. */
const char *guide_ip(int i);
void guide_at(struct endpoint *at, int i, int port);

/* Programs that check their user see through the root of a user's namespace. */
#define NEED_ROOT()                                                \
	do {                                                       \
		if (geteuid() != 0)                                \
			SKIP("root of a namespace is not enough"); \
	} while (0)

/* ---- nginx ---- */

/* Its page is "server I client=.. for=.. proto=.."; `listen` is lines with
 * "listen" and whatever it needs besides. */
void guide_nginx_up(
    struct guide *g, struct nginx *n, int i, const char *listen);

/* ---- Postfix and Dovecot ---- */

/* Why they cannot run here, or NULL: see postfix_lacks(), dovecot_lacks(). */
void guide_postfix_up(struct guide *g, struct child *c, int i);
void guide_postfix_down(struct guide *g, struct child *c, int i);
/* Sends mail with these words; the file where server `i` keeps what it gets. */
void guide_send_mail(struct guide *g, const char *words);
const char *guide_mailbox(int i);

/* IMAP and, where the tests have OpenSSL, IMAP over TLS, with one mail that
 * has these words. */
void guide_dovecot_up(
    struct guide *g, struct child *c, int i, const char *words);
/* What a client gets who reads that mail; "imap" or "imaps". */
const char *guide_read_mail(struct guide *g, const char *scheme);

/* ---- slapd ---- */

/* Why it cannot run here, or NULL. */
const char *guide_slapd_lacks(void);
void guide_slapd_up(struct guide *g, struct child *c, int i);
/* Prints an entry with "o: server I". */
const char *guide_ldapsearch(struct guide *g);

/* ---- unbound ---- */

/* It has the names of system/nameserver.h. */
void guide_unbound_up(struct guide *g, struct child *c, int i);
const char *guide_dig(
    struct guide *g, const char *name, const char *type, const char *option);

/* ---- rsyslogd ---- */

void guide_rsyslogd_up(struct guide *g, struct child *c, int i);
/* The file where it writes what it gets. */
const char *guide_syslog(int i);
void guide_logger(struct guide *g, const char *words);

/* ---- PostgreSQL ---- */

/* Why it cannot run here, or NULL. */
const char *guide_postgres_lacks(void);
/* The primary is server 0, and server 1 a standby, as a copy of it. They end
 * with postgres_down() and postgres_standby_down(). */
void guide_postgres_up(struct guide *g);
const char *guide_psql(struct guide *g, const char *sql);

/* ---- Redis ---- */

/* A replica of server 0, or with `replica` false a master. */
void guide_redis_up(struct guide *g, struct child *c, int i, bool replica);
/* The words may end early, with NULL. */
const char *guide_redis_cli(struct guide *g, const char *host, const char *a,
    const char *b, const char *c);

/* ---- ssh ---- */

/* Server 0 is the first one to start; the other one has the same keys. */
void guide_sshd_up(struct guide *g, struct child *c, int i);
/* Runs a command at port 2222. */
const char *guide_ssh(struct guide *g, const char *command);

#endif
