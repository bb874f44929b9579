/* service_report.h: reports about services. */
#ifndef PEN_CONTROL_SERVICE_REPORT_H
#define PEN_CONTROL_SERVICE_REPORT_H

#include <stdbool.h>

#include "control/answer/reply.h"

struct fields;
struct pen;
struct service;

/* Adds the services that are shown, in pieces, a line each. */
void report_services(struct reply *r);
/* Whether monitoring gets reports of the service; one that leaves is
 * included. */
bool service_is_shown(const struct service *svc);
/* Adds the fields that such a line has of a service. */
void service_fields(struct fields *f, const struct service *svc);
/* The columns of a table of services, of which each has all: the same, but for
 * DNS and direct server return, and responses by class. */
void service_columns(struct fields *f, const struct service *svc);
/* "up", "degraded", "down": its state in a word. */
const char *service_state_name(const struct service *svc);
/* Whether one of its servers may get clients, or one of a service that it leads
 * to, or it needs none. */
bool service_is_ready(const struct service *svc);
/* Whether clients come to it: it listens, or is the only one. */
bool service_has_clients(const struct service *svc);
/* A service of those that is not ready, or NULL; and whether any is ready. */
const struct service *service_not_ready(const struct pen *p);
bool service_any_is_ready(const struct pen *p);

#endif
