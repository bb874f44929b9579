/* services.h: the services of the process. The first one is "default", which is
 * always there.
 *
 *     service_new() -> participants of an apply open the rest
 *         -> service_retire(): no new clients; frees itself after the last one
 *         -> service_close(): nothing is served any more
 *         -> service_free(): the same, and what objects of the process refer
 *            to */
#ifndef PEN_CONTROL_SERVICES_H
#define PEN_CONTROL_SERVICES_H

#include "base/error.h"
#include "control/life/service.h"

struct plan;

/* A service with an empty pool and nothing open, which is not in the list of
 * the process yet. `plan` is the caller's; NULL: a plan without servers. NULL
 * with errno ENOMEM. */
struct service *service_new(struct pen *p, const char *name, struct plan *plan);
void service_close(struct service *svc);
void service_free(struct service *svc); /* NULL is fine */
/* Adds the service at the end of the list. */
void service_add(struct service *svc);
/* Servers that are new are counted with other processes, if there are some;
 * none is any more. */
void services_join(struct pen *p);
void services_part(struct pen *p);
/* Pauses, or resumes, the listeners of services that stay: here, or in the
 * workers that serve them. A service that leaves goes on with the clients that
 * it has. */
void services_pause(struct pen *p, bool pause);
/* Clients of those that stay are dealt out to the workers from now on. */
void services_steer(struct pen *p);
/* The same of datagrams alone, before it is certain. */
void services_steer_datagrams(struct pen *p);
/* Certificates and the database of countries are read again where their files
 * have changed, and socket files and a pid file that were removed are reported:
 * of HUP and reload. */
void services_refresh(struct pen *p);
/* Lets the service leave: it accepts no more clients, and is freed when the
 * last one has gone; at once if it has not begun to serve. */
void service_retire(struct service *svc);
/* Takes clients from now on. Returns 0, or -1 with a full message. */
int service_start(struct service *svc, struct error *e);
/* The plan of the draft is in force, which is that of the process for the first
 * one. */
void service_take_plan(struct service *svc, struct plan *plan);

/* The service of that name, or NULL; one that leaves is not found. */
struct service *service_find(const struct pen *p, const char *name);
/* The same, tried first with the one after `svc`, or with the first if that is
 * NULL: for walks over names in the same order. */
struct service *service_find_behind(
    const struct pen *p, const struct service *svc, const char *name);
/* Stands for one that is only in a draft yet: it has no servers, and nothing is
 * open. NULL with errno ENOMEM. */
struct service *service_blank(struct pen *p);
/* Whether routes of a service that leaves lead to this one, which leaves, too:
 * clients that have not sent their first bytes are passed on to it. */
bool service_is_led_to(const struct service *svc);
/* Number `number` in the list, those that leave, too; NULL after the last. For
 * walks that pause: services in front of it may be gone when they go on. */
const struct service *service_at(const struct pen *p, uint64_t number);
bool service_is_first(const struct service *svc);
/* Whether there is more than the first one. */
bool service_has_others(const struct pen *p);
/* Whether it is reported to monitoring: not if it leaves, and the first one
 * only if plan_first_is_there(). */
bool service_is_reported(const struct service *svc);
/* For commands that list what a service has. Returns 0, or -1 with a short
 * message: no service is named, and the first one is not reported. */
int service_must_be_named(
    const struct service *svc, const char *command, struct error *e);

#endif
