/* services.h: the life of a service.
 *
 *     service_new() -> participants of an apply open the rest
 *         -> service_close(): nothing is served any more
 *         -> service_free(): what the objects of the process refer to, too */
#ifndef PEN_CONTROL_SERVICES_H
#define PEN_CONTROL_SERVICES_H

#include "control/life/service.h"

/* With an empty pool, and nothing open. `plan` stays the caller's. NULL with
 * errno ENOMEM. */
struct service *service_new(struct pen *p, struct plan *plan);
void service_close(struct service *svc);
void service_free(struct service *svc);

#endif
