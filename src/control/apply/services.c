/* services.c: see services.h. */
#include "config.h"

#include <stdlib.h>

#include "control/apply/checks.h"
#include "control/apply/services.h"
#include "control/life/states.h"
#include "control/plan/server_index.h"
#include "dsr/director/director.h"

struct service *
service_new(struct pen *p, struct plan *plan)
{
	struct service *svc = calloc(1, sizeof(*svc));

	if (svc == NULL)
		return NULL;
	svc->pen = p;
	svc->plan = plan;
	svc->pool = pool_new();
	svc->index = server_index_new();
	svc->tls_config = tls_config_new(svc);
	if (svc->pool == NULL || svc->index == NULL ||
	    svc->tls_config == NULL) {
		service_close(svc);
		service_free(svc);
		return NULL;
	}
	states_watch(svc);
	return svc;
}

void
service_close(struct service *svc)
{
	if (svc == NULL)
		return;
	checks_free(svc);
	frontend_free(svc->frontend);
	director_free(svc->director);
	tls_config_free(svc->tls_config);
}

void
service_free(struct service *svc)
{
	if (svc == NULL)
		return;
	if (svc->pool != NULL)
		states_unwatch(svc);
	pool_free(svc->pool);
	server_index_free(svc->index);
	free(svc);
}
