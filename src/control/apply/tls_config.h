/* tls_config.h: TLS of a plan: certificates are opened, refreshed, replaced.
 *
 *     a plan -> tls_config_prepare() -> tls_config_commit()     see apply.h
 *     a timer, HUP, reload -> tls_config_refresh()             when files do */
#ifndef PEN_CONTROL_TLS_CONFIG_H
#define PEN_CONTROL_TLS_CONFIG_H

#include <time.h>

#include "control/plan/plan.h"
#include "net/loop/loop.h"
#include "tls/tls_client.h"
#include "tls/tls_server.h"

struct apply;
struct service;

struct tls_config {
	struct service *service;
	struct tls_server *server; /* towards clients; NULL: plain */
	struct tls_client *client; /* towards servers; NULL: plain */
	struct timer refresh;
	unsigned rest_ms; /* not done yet: when to go on; 0: done */
	bool resumes;	  /* the timer continues with what is not done */
	struct timer warn;
	uint64_t warn_all; /* ms: from when on of all; 0: nothing was warned */
};

/* What was opened for a draft. */
struct tls_config_change {
	bool changed;
	struct tls_server *server;
	struct tls_client *client;
};

/* Whether TLS is to be spoken with it. */
bool tls_config_is_upstream(const struct plan *p, const struct server_plan *s);
/* Whether it is with any, or with those to come. */
bool tls_config_wants_client(const struct plan *p);
/* What TLS depends on: its settings, whether there is HTTP, and the servers and
 * checks that it is spoken with. */
#define TLS_CONFIG_ON                                                      \
	(CHANGED_TLS | CHANGED_FRONTEND | CHANGED_CHECKS | CHANGED_HOSTS | \
	    CHANGED_SERVER_TLS | CHANGED_SERVER_CHECK)
/* Reads the files of a draft. Returns 0, or -1 with a full message and nothing
 * opened. */
int tls_config_prepare(struct apply *a, struct error *e);
void tls_config_cancel(struct apply *a);
/* The draft is in force: clients and servers meet it from now on. */
void tls_config_commit(struct apply *a);
/* Reads the files of the plan in force, warns of certificates, and closes them
 * again, for --check. Returns 0, or -1 with a full message. */
int tls_config_try(struct service *svc, struct error *e);
/* Looks at all files: of HUP and reload. With many that have changed it goes on
 * in the loop, between clients. */
void tls_config_refresh(struct service *svc);
/* No TLS yet; NULL with errno ENOMEM. `p` outlives it. */
struct tls_config *tls_config_new(struct service *svc);
void tls_config_free(struct tls_config *s);

/* The `at`th certificate that is in use; false at the end. */
bool tls_config_certificate(
    const struct service *svc, unsigned at, struct tls_certificate *c);
/* Whole days until then; below 0: it is over. */
int64_t tls_config_days_left(time_t ends);

#endif
