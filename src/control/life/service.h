/* service.h: what serves clients: listeners, servers, checks and TLS that belong
 * together. The process has one of them. */
#ifndef PEN_CONTROL_SERVICE_H
#define PEN_CONTROL_SERVICE_H

#include "net/loop/loop.h"

struct checker;
struct director;
struct frontend;
struct pen;
struct plan;
struct pool;
struct server_index;
struct tls_config;

struct service {
	struct pen *pen;
	struct plan *plan;	    /* in force */
	struct pool *pool;	    /* always there, as is the next */
	struct server_index *index; /* of the servers in force */
	struct frontend *frontend;  /* from STARTING on, as those below */
	struct tls_config *tls_config;
	struct checker *checker;   /* NULL: nothing is checked */
	struct director *director; /* NULL: no direct return */
	struct timer revival;	   /* see states.h */
};

#endif
