/* service_report.h: reports about services. */
#ifndef PEN_CONTROL_SERVICE_REPORT_H
#define PEN_CONTROL_SERVICE_REPORT_H

#include <stdbool.h>

#include "control/answer/reply.h"

struct fields;
struct call;
struct error;
struct service;

/* Adds the services that are shown, in pieces, a line each. */
void report_services(struct reply *r);
/* Those that leave are shown; the first one only if it listens, or is the only
 * one. */
bool service_is_shown(const struct service *svc);
/* What such a line has of a service. */
void service_fields(struct fields *f, const struct service *svc);
/* Whether it is reported to monitoring: not one that leaves, and of the first
 * only if it listens, or no other one is there to stay. */
bool service_is_reported(const struct service *svc);
/* For commands that list what a service has. Returns 0, or -1 with a short
 * message: no service is named, and the first one is not reported. */
int service_must_be_named(const struct call *c, struct error *e);
/* Whether one of its servers may get clients, or one of a service that it leads
 * to, or it needs none. */
bool service_is_ready(const struct service *svc);

#endif
