/* service.h: what serves clients: listeners, servers, checks and TLS that
 * belong together. The process has one or more of them. */
#ifndef PEN_CONTROL_SERVICE_H
#define PEN_CONTROL_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/value/row.h"
#include "net/loop/loop.h"

struct checker;
struct director;
struct frontend;
struct http_windows;
struct pen;
struct pool;
struct tls_config;
struct trend;

struct service {
	struct pen *pen;
	uint64_t number; /* of all that there were, the same in workers */
	/* Of its counters among those of workers; 0: none. So many of its
	 * servers have one. */
	uint32_t place, places;
	char name[SERVICE_NAME_MAX + 1];
	/* In lines of the log: " service=NAME"; of the first one "". */
	char label[SERVICE_NAME_MAX + 12];
	struct service *next; /* in no order; NULL: the last one */
	struct plan *plan;    /* in force; that of the first is the pen's */
	struct pool *pool;	    /* always there */
	struct frontend *frontend;  /* from STARTING on, as those below */
	struct tls_config *tls_config;
	struct checker *checker;   /* NULL: nothing is checked */
	struct director *director; /* NULL: no direct return */
	struct timer revival;	   /* see states.h */
	size_t descriptors;	   /* its share of the process's; 0: none yet */
	bool leaves;	  /* removed: its sessions go on until they end */
	struct timer end; /* of one that leaves */
	struct trend *trend; /* NULL: not permitted; freed by the next */
	void (*forget)(struct service *svc); /* NULL: nothing */
	struct http_windows *http_windows;   /* see http_watch.h; NULL: none */
};

/* Those that leave, too. */
#define SERVICE_EACH(p, svc) \
	for ((svc) = (p)->service; (svc) != NULL; (svc) = (svc)->next)

#endif
