/* service_report.h: what the program says about its services. */
#ifndef PEN_CONTROL_SERVICE_REPORT_H
#define PEN_CONTROL_SERVICE_REPORT_H

#include <stdbool.h>

#include "control/answer/reply.h"

struct service;

/* Adds the services in pieces, a line each. Those that leave are among them;
 * the first one only if it serves anybody, or is the only one. */
void report_services(struct reply *r);
/* Whether monitoring hears of it: not of one that leaves, and of the first only
 * if it listens, or no other one is there to stay. */
bool service_is_reported(const struct service *svc);
/* Whether one of its servers may get clients. */
bool service_is_ready(const struct service *svc);

#endif
