/* plan.h: what the operator wants: every setting, address, server and access
 * list, as words and numbers. Pure data: it owns its strings and nothing else,
 * opens nothing and looks no name up.
 *
 *     options, file, command --> draft (a copy) --> apply_plan() --> running
 *
 * Changes are made to a draft; only one that is right as a whole becomes the
 * running plan, so what is refused changes nothing.
 *
 * A plan is that of the first service, "default"; the plan of the process, and
 * those of the other services, hang from it. */
#ifndef PEN_CONTROL_PLAN_H
#define PEN_CONTROL_PLAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "control/plan/changed.h"
#include "control/plan/process_plan.h"
#include "control/value/route_plan.h"
#include "control/value/row.h"
#include "control/value/spec.h"
#include "tls/tls_settings.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

/* Pen's modes; together they pick the algorithm (see derive.h). */
struct mode_options {
	bool hash, roundrobin, stubborn, weight, prio;
	const char *balance;  /* an algorithm by name, or NULL */
	enum tristate sticky; /* unset: by the modes */
};

/* Direct server return; see dsr/director/director.h. */
struct dsr_settings {
	char *interface; /* NULL: off */
	char *link;	 /* kind; NULL: the best */
	struct addr ip[2];
	uint64_t flows;
	/* Without a frame; 0: none. See dsr_flows.h. */
	uint64_t tcp_timeout_ms, fin_timeout_ms, udp_timeout_ms;
	bool announce;
	uint64_t refresh_ms;	     /* of announcements; 0: none */
	bool standby;		     /* at the start */
	int fast;		     /* enum dsr_fast */
	enum server_forward forward; /* for servers without a setting of their
				      * own */
	char *gateway;		     /* of tunnels: IP or MAC; NULL: none */
	struct acl_ref tarpit_acl;   /* list of addresses to hold */
};

/* How servers without a check of their own are checked. */
struct check_settings {
	char *text;    /* in words, see check_spec.h; NULL: not at all */
	unsigned port; /* instead of the servers' own; 0: these */
	uint64_t interval_ms, timeout_ms;
	uint64_t interval_down_ms; /* of a server that is down; 0: longer and
				    * longer */
	uint64_t running_max; /* checks at a time */
	bool lazy;	      /* not while servers answer clients */
	enum server_initial initial;
};

/* A line for each request of HTTP; see proxy/log/sessionlog.h. */
struct request_log_settings {
	char *to;     /* NULL or "off": nowhere */
	char *format; /* NULL: combined */
};

/* Where the first service has it, too: 1. */
#define LOG_SAMPLE_AUTO UINT64_MAX

/* The settings of a service, which rows of the table point into. Strings are
 * its own. */
struct config {
	unsigned plans; /* that share it; see plan_config.c */
	struct pool_options pool;
	struct frontend_options frontend;
	struct mode_options mode;
	struct tls_settings tls;
	struct dsr_settings dsr;
	struct check_settings checks;
	bool start_unresolved; /* servers may wait for an address */
	/* As the operator wants them; `frontend` has what is in force. */
	uint64_t conn_max; /* 0: as many as descriptors allow */
	uint64_t idlers;
	bool udp;
	struct acl_ref client_acl;  /* the list that clients must pass */
	struct acl_ref client_exempt_acl; /* unlimited clients */
	struct acl_ref forwarded; /* of KIND_FORWARDED */
	struct rate_limit observe; /* errors of a server; count 0: off */
	unsigned http_errors;	  /* percent of responses; 0: not reported */
	struct acl_ref accept_proxy; /* of proxies, which name clients */
	/* A line for each session that is over; see proxy/log/sessionlog.h.
	 * NULL or "off": nowhere; "auto": as the first service has it, whose
	 * own is the program's log in the foreground, else nowhere. */
	char *session_log;
	char *log_format;	     /* of sessions; NULL: logfmt */
	uint64_t log_sample;	     /* LOG_SAMPLE_AUTO: as the first has it */
	struct request_log_settings request_log;
	char *fit_file; /* is there while the process is fit, or a service
			 * besides the first; NULL: none */
};

enum { SERVERS_MAX = 4096 /* of a service */ };

/* Where a setting was set; see origin.h. */
struct setting_origin {
	const char *name; /* of the row */
	char *text;
	bool inherited; /* from "defaults": another value may follow */
};

/* Where a certificate and its key were set; see origin.h. */
struct pair_origin {
	char *cert, *key;
};

/* The servers of a plan, which plans share; see plan_servers.c. */
struct shared_server;
struct plan_servers {
	struct shared_server **slot; /* NULL: empty; `room` of them */
	uint32_t room;
	unsigned slots; /* as in the pool's list (pool/server/server.h) */
};

enum { SERVICES_MAX = 10000 };

struct plan {
	struct process_plan *process; /* NULL in the plans of the others */
	char *name;		/* of the service; NULL: "default" */
	unsigned owners;	/* of a service's, besides the first one */
	struct plan **services; /* the others, in the order of the file */
	uint64_t *service_hashes; /* of their names: thousands are searched */
	uint32_t service_count, service_room, hash_room;
	const struct config *config; /* shared: plan_edit_config() */
	char *listen_text; /* as given, or NULL */
	struct listen_list listen;
	struct plan_servers servers;
	struct route_plans *routes; /* NULL: none */
	struct setting_origin *origins; /* see origin.h */
	uint32_t origin_count, origin_room;
	struct pair_origin pair_origin[TLS_PAIRS_MAX];
	bool flawed; /* lacks what lines of its section wanted, see error.h */
	bool derived; /* has what follows from settings: was in force */
};

/* Where `-F -` reads: it can be read once. */
#define PLAN_STDIN "/dev/stdin"
/* Whether that is the configuration file. */
bool plan_is_from_stdin(const struct plan *p);

/* A plan with all defaults and no server. NULL with errno ENOMEM. */
struct plan *plan_new(void);
/* The same of a service besides the first: without a plan of the process. */
struct plan *plan_new_service(const char *name);
/* The settings, to be changed: `p` has them alone from now on. NULL with errno
 * ENOMEM. */
struct config *plan_edit_config(struct plan *p);
/* Makes `c`, a copy of the settings with other numbers, the settings; if the
 * numbers are the same they stay shared. Returns 0, or -1 with errno ENOMEM and
 * `p` as it was. */
int plan_set_config(struct plan *p, const struct config *c);
/* If `p` has the same settings as another plan they have them together from now
 * on. Returns whether it has. */
bool plan_share_config(struct plan *p, const struct plan *other);
/* For plan.c: settings with all defaults, for one plan. NULL with errno
 * ENOMEM. */
const struct config *config_new(void);
/* The same settings, for one more plan. */
const struct config *config_hold(const struct config *c);
void config_drop(const struct config *c); /* NULL is fine */
/* The plan of the process, to be changed: `p` has it alone from now on. NULL
 * with errno ENOMEM. */
struct process_plan *plan_edit_process(struct plan *p);
/* The same of the draft that a command changes; NULL with a short message. */
struct process_plan *call_edit_process(const struct call *c, struct error *e);
/* If the draft's plan of the process is equal to that of the running plan, the
 * draft shares the running one. */
void plan_share_process(struct plan *p, const struct plan *now);
struct plan *plan_copy(const struct plan *p);
void plan_free(struct plan *p); /* NULL is fine */
/* Makes `p` the same as `from`. Returns 0, or -1 with errno ENOMEM and `p`
 * as it was. */
int plan_become(struct plan *p, const struct plan *from);

/* ---- services (plan_services.c) ---- */

/* The first is 0, which is `p` itself; NULL after the last one. */
const struct plan *plan_service_at(const struct plan *p, unsigned i);
/* The number of the service; without one of that name, the number after the
 * last. */
unsigned plan_service_number(const struct plan *p, const char *name);
/* NULL: there is none of that name. */
const struct plan *plan_service(const struct plan *p, const char *name);
/* The same, tried first at `i`: for walks over names in the same order. */
const struct plan *plan_service_near(
    const struct plan *p, unsigned i, const char *name);
const char *plan_service_name(const struct plan *service);
/* The first service with a route that leads to that one; NULL: none has. */
const struct plan *plan_service_leading_to(
    const struct plan *p, const char *name);
/* Whether the first service is there: it listens, a route leads to it, or there
 * is no other one. */
bool plan_first_is_there(const struct plan *p);
/* Whether it needs no server: it is the dummy server, or redirects all clients
 * to HTTPS. */
bool plan_service_answers(const struct plan *service);
/* Whether its clients get somewhere: to servers or other services, if they need
 * any. */
bool plan_service_leads_somewhere(const struct plan *service);
/* DNS does, beside datagrams. */
bool plan_service_takes_connections(const struct plan *service);
/* Puts the name of a service in front of a full message, but that of the first
 * one. Returns -1, for `return plan_service_blame(...)`. */
int plan_service_blame(const struct plan *service, struct error *e);
/* The same of the errors from number `from` on; and *e, if rc < 0, is kept with
 * them. Returns 0, or -1 if it cannot be. */
int plan_service_errors(const struct plan *service, struct errors *all,
    unsigned from, int rc, struct error *e);
/* Whether a word can name a service: a letter, then letters, digits and ".-_";
 * "add", "json" and "defaults" are other words. */
bool plan_service_is_name(const char *word);
/* The plan of a service, to be changed: `p` has it alone from now on. One that
 * is not there is added. NULL with errno ENOMEM, or E2BIG: there are
 * SERVICES_MAX. */
struct plan *plan_service_edit(struct plan *p, const char *name);
/* Returns 0, or -1 with errno ENOENT. */
int plan_service_remove(struct plan *p, const char *name);
/* A reference for callers that keep the plan of a service longer than `p`.
 * plan_drop(NULL) is fine. */
struct plan *plan_hold(struct plan *service);
void plan_drop(struct plan *service);
/* Services of `p` that are equal to those of the plan in force become those, so
 * that nothing of them changes. */
void plan_share_services(struct plan *p, const struct plan *now);
/* For plan.c: gives another plan the same services. Returns 0, or -1 with errno
 * ENOMEM. */
int plan_services_copy(struct plan *to, const struct plan *from);
void plan_services_fini(struct plan *p);

/* ---- servers ---- */

/* The server that is meant for a slot of the pool (pool/server/server.h), for
 * reading; one without a host is none. NULL after the last slot, so that a
 * walk over all servers, the two special ones included, is
 *
 *     for (slot = 0; (s = plan_slot(p, slot)) != NULL; slot++)
 */
const struct server_plan *plan_slot(const struct plan *p, unsigned slot);
/* Whether its host is one to be looked up, neither address nor path; of an
 * address with an interface the number of that may change. */
bool plan_server_has_name(const struct server_plan *s);
/* The same for a regular server, by number; NULL after the last one. */
const struct server_plan *plan_server(const struct plan *p, unsigned number);
unsigned plan_slots(const struct plan *p);
/* How many regular servers there are, empty slots included. */
unsigned plan_count(const struct plan *p);
/* Returns -1, with the short message that a number from SERVERS_MAX on gets. */
int plan_refuse_server(struct error *e);
/* Whether there is any. */
bool plan_has_server(const struct plan *p);
/* The same server, to be changed: this plan has it alone from now on. The list
 * grows to hold it, slots between being empty. Valid until the plan is copied.
 * NULL with errno ENOMEM. */
struct server_plan *plan_edit(struct plan *p, unsigned slot);
/* The first slot from `slot` on whose server is another one in `b` than in `a`,
 * or is to be taken out at once; after the last slot of both when there is
 * none. Servers that both plans share are not compared. */
unsigned plan_next_change(
    const struct plan *a, const struct plan *b, unsigned slot);
/* Which settings of servers differ in two plans; see changed.h. */
uint64_t plan_servers_changed(const struct plan *a, const struct plan *b);

/* Whether any of its servers has one of these. */
bool plan_any_server(const struct plan *p, unsigned traits);
enum {
	TRAIT_CHECKED = 1,	/* by a check of its own */
	TRAIT_CHECK_TLS = 2,	/* and that talks TLS */
	TRAIT_CHECK_VERIFY = 4, /* and may verify certificates */
	TRAIT_TLS = 8,		/* "tls on" */
	TRAIT_PATH = 16		/* a Unix socket */
};
void server_plan_clear(struct server_plan *s);
/* Makes `s` the same as `from`. Returns 0, or -1 with errno ENOMEM and `s` as
 * it was. */
int server_plan_become(struct server_plan *s, const struct server_plan *from);
bool server_plan_equal(
    const struct server_plan *a, const struct server_plan *b);

/* For plan.c: the list of a new plan, and of a copy. Copying returns 0, or -1
 * with errno ENOMEM and what plan_servers_fini() takes. */
void plan_servers_init(struct plan_servers *l);
int plan_servers_copy(struct plan_servers *to, const struct plan_servers *from);
void plan_servers_fini(struct plan_servers *l);

/* ---- as text ---- */

/* Prints the plan without the other services as commands, a line each, that
 * give the same plan when read back. */
void plan_print(const struct plan *p, struct buffer *text);
/* The same, but of services after the first without what each new one has. */
void plan_print_set(const struct plan *p, struct buffer *text);
/* As plan_print_set(), but of servers and control sockets without values that
 * are the default. */
void plan_print_brief(const struct plan *p, struct buffer *text);

#endif
