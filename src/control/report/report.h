/* report.h: reports of servers and counters. */
#ifndef PEN_CONTROL_REPORT_H
#define PEN_CONTROL_REPORT_H

#include "control/answer/fields.h"
#include "control/value/row.h"

struct director;
struct pen;
struct server_view;
struct service;

/* Adds the servers in pieces, a line each:
 * 0 addr 127.0.0.1 port 9001 conn 0 max 0 hard 0 weight 0 prio 0 sx 0 rx 0 */
void report_servers(struct reply *r);
/* The same with all that is known of each server, its state and history, times
 * and rates, and the two special servers after the others. As JSON the objects
 * are the same. */
void report_servers_long(struct reply *r);
/* The same fields but for the check, as the rows of an HTML table; nothing if
 * there are no servers. */
void report_servers_table(const struct service *svc, struct reply *r);
enum { REPORT_TEXT_MAX = 40 };
/* "1.5", of 15. */
const char *report_tenths(uint64_t tenths, char text[REPORT_TEXT_MAX]);
/* The loop's ms; before there is a loop, the clock's. */
uint64_t report_now(const struct pen *p);
/* Reports all counters; "NAME VALUE" with FIELDS_LINES. */
void report_counters(
    const struct service *svc, struct reply *r, enum fields_style style);
/* Servers and counters to the log, by SIGUSR1; those of several services each
 * under its name. */
void report_log(struct pen *p);
/* Logs that pen has started: its process, the numbers of servers and services,
 * and their addresses, as many as fit in the line. */
void report_log_start(const struct pen *p);

/* A field of servers: the check, its last result, how long that took, and how
 * many results in a row of how many stand against the server's state. */
void report_check(const struct server_view *v);
/* Reports queries, SERVFAIL and times of answers of a service with `dns`;
 * nothing of others. */
void report_dns(struct fields *f, const struct service *svc);
/* The role of a director, who else has claimed a VIP, and the rates of
 * frames. */
void report_dsr(struct fields *f, const struct director *d);
/* The commands dsr and checks. */
extern const struct command dsr_commands[], check_commands[];

#endif
