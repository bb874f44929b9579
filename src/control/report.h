/* report.h: what the program says about itself: servers and counters. */
#ifndef PEN_CONTROL_REPORT_H
#define PEN_CONTROL_REPORT_H

#include "control/facts.h"

struct pen;
struct server;

/* Adds the servers in pieces, a line each:
 * 0 addr 127.0.0.1 port 9001 conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0 */
void report_servers(struct reply *r);
/* The name of its state. */
const char *report_server_state(const struct server *s);
/* All counters: "NAME VALUE" with FACTS_LINES. */
void report_counters(
    const struct pen *p, struct reply *r, enum facts_style style);
/* Servers and counters to the log, as SIGUSR1 asks. */
void report_log(struct pen *p);

#endif
