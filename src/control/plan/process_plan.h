/* process_plan.h: the plan of the process, beside those of its services: each
 * setting of it, the access lists, which all services share, and the control
 * sockets. Pure data, as plan.h has it.
 *
 * The plan in force and drafts share one that neither has changed, so that the
 * same pointer means that nothing of the process changes. */
#ifndef PEN_CONTROL_PROCESS_PLAN_H
#define PEN_CONTROL_PROCESS_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/value/access.h"
#include "control/value/plan_acls.h"
#include "control/value/sandbox_mode.h"
#include "control/value/spec.h"
#include "net/sock_group.h"

/* How the process runs; see process.h. */
struct process_options {
	bool foreground;
	char *user;
	char *directory; /* to chroot into */
	char *pid_file;
};

struct control_plan {
	char *text;   /* the address as given */
	char *origin; /* where; see origin.h */
	struct listen_list at;
	enum access level;  /* of root and the user pen runs as */
	enum access others; /* of other users that the file's mode lets in */
	mode_t mode;
};

#define CONTROL_PLAN_NEW                                                   \
	{                                                                  \
		.level = ACCESS_ADMIN, .others = ACCESS_LOOK, .mode = 0600 \
	}

enum { CONTROLS_MAX = 16 };

/* Rows of the table point into it. Strings are the plan's own. */
struct process_plan {
	unsigned owners; /* plans that share it */
	bool derived;	 /* lists have numbers: it was in force */
	struct process_options run;
	unsigned workers; /* processes that serve; 0: one for each processor */
	enum sock_group_by workers_by;
	uint64_t worker_watchdog_ms; /* 0: none */
	int spin;		     /* whether the loop may, see spin.h */
	enum sandbox_mode sandbox;
	const char *method; /* of the event loop; NULL: the best */
	uint64_t debug;
	bool ascii;
	bool abort_on_error;
	bool allow_exit;
	bool check;	       /* --check */
	bool print;	       /* --print */
	bool print_all;	       /* --print-all */
	char *explain;	       /* --explain: a client; NULL: none */
	char *file;	       /* the configuration file */
	uint64_t conn_max_all; /* of all services; 0: no limit */
	uint64_t drain_ms;     /* of sessions that are left; see frontend.h */
	uint64_t resolve_interval_ms; /* 0: a name is never looked up again */
	char *resolver;		      /* IP[:PORT]; NULL: the system's */
	char *geoip;		      /* the database of countries */
	char *log;		      /* of requests: a path or HOST:PORT */
	int syslog_facility; /* of syslog.h */
	int log_lines;	     /* of pen's own log: 1: JSON */
	char *web;	     /* where the pages are: [ADDRESS:]PORT or /PATH */
	char *web_host; /* more names of this host, with commas; NULL: none */
	unsigned web_mode;	/* of a socket file; 0: by the umask */
	struct acl_ref web_acl; /* their access list */
	char *web_stats;	/* where USR1 writes the status page */
	char *on_state;	   /* program, run when a server's state changes */
	char *peers;	   /* of KIND_PEERS; NULL: none */
	char *peer_listen; /* the same: where peers connect to */
	struct acl_ref control_acl; /* of control clients on TCP */

	struct control_plan controls[CONTROLS_MAX];
	unsigned control_count;
	struct control_plan next_control; /* levels and mode of the next one */
	struct plan_acls acls;
};

/* A plan of the process with all defaults and one reference. NULL with errno
 * ENOMEM. */
struct process_plan *process_plan_new(void);
/* A copy of one owner. NULL with errno ENOMEM. */
struct process_plan *process_plan_copy(const struct process_plan *p);
struct process_plan *process_plan_hold(struct process_plan *p);
/* The last owner frees it. NULL is fine: the plan of a service has none. */
void process_plan_drop(struct process_plan *p);
/* Whether they have the same control sockets. */
bool process_plan_controls_equal(
    const struct process_plan *a, const struct process_plan *b);
/* How the bytes of sessions are dumped: frontend_options has the numbers. */
unsigned process_plan_dump(const struct process_plan *p);

#endif
