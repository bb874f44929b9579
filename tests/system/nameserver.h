/* nameserver.h: real name servers of four kinds, each in a scratch directory,
 * all with the same zone "test.":
 *
 *     a.test    A    10.0.0.1
 *     who.test  TXT  "server" and the server's number
 *     big.test  TXT  NAMESERVER_BIG records of 54 characters: too much for one
 *                    packet of Ethernet, not for 4,096 bytes */
#ifndef PEN_TEST_NAMESERVER_H
#define PEN_TEST_NAMESERVER_H

#include "support/child.h"
#include "support/endpoint.h"

enum nameserver {
	NAMESERVER_UNBOUND,
	NAMESERVER_NSD,
	NAMESERVER_KNOTD,
	NAMESERVER_DNSMASQ,
	NAMESERVER_KINDS
};

enum { NAMESERVER_BIG = 40 };

/* The program's name, for NEED_PROGRAM. */
const char *nameserver_program(enum nameserver kind);
/* Starts one at an IPv4 place, UDP and TCP, and returns when it answers. Each
 * of one test has a number of its own. It needs no privileges and stays in the
 * foreground: child_stop() with SIGTERM ends it and its helper processes, while
 * SIGKILL would leave those of nsd to the end of the tests. */
void nameserver_up(struct child *c, enum nameserver kind,
    const struct endpoint *where, int number);
/* The same with lines at the end of its configuration. */
void nameserver_up_with(struct child *c, enum nameserver kind,
    const struct endpoint *where, int number, const char *more);

#endif
