/* row.h: a row of the one command language, and a command being carried out.
 *
 * A row is a setting or a command: its name, its arguments, its option on the
 * command line, where its value is and in which range, its level, and help. The
 * same rows drive the options, -O, the configuration file, the control socket,
 * `write`, help, completion and the check of the manual. */
#ifndef PEN_CONTROL_ROW_H
#define PEN_CONTROL_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "base/words.h"
#include "control/answer/reply.h"
#include "control/value/access.h"

struct choice;
struct defaults;
struct fields;
struct pen;
struct plan;
struct wait;

/* A switch that follows other settings until it is set itself. */
enum tristate { TRISTATE_UNSET, TRISTATE_OFF, TRISTATE_ON };

/* What a row takes and where it puts it; see value.h. */
enum command_kind {
	KIND_FLAG,	    /* NAME | no NAME; a bool */
	KIND_TRISTATE,	    /* the same; an enum tristate, unset at first */
	KIND_NUMBER,	    /* a uint64_t in min..max */
	KIND_UNSIGNED,	    /* an unsigned in min..max */
	KIND_INT,	    /* an int in min..max */
	KIND_SIZE,	    /* a uint64_t, with k, m, g */
	KIND_SECONDS,	    /* a uint64_t of ms, given in seconds */
	KIND_RATE,	    /* a struct rate_limit, as N/SEC */
	KIND_MODE,	    /* an unsigned, octal: of a file; 0: none */
	KIND_ACL,	    /* a struct acl_ref: an access list */
	KIND_TEXT,	    /* a char *, NULL when it is not set */
	KIND_FILE,	    /* the same, the name of a file or directory */
	KIND_CHOICE,	    /* an enum, by a word of `choices` */
	KIND_BITS,	    /* an unsigned, bit by bit by a word of `choices` */
	KIND_NAME,	    /* a const char *, one of `names`; NULL: `none` */
	KIND_SELF,	    /* NAME alone; a const char *, which becomes NAME */
	KIND_SOURCE,	    /* a struct sources */
	KIND_OWN_ADDRESSES, /* struct addr[2], one of each family */
	KIND_FORWARDED,	    /* a struct acl_ref, or of enum http_forwarded */
	KIND_COOKIE,	    /* a char[HTTP_COOKIE_NAME], "": none */
	KIND_OBSERVE,	    /* a struct rate_limit, as 5xx N/SEC */
	KIND_IDENTITY,	    /* a char[HTTP_IDENTITY_NAME], "": off */
	KIND_CHECK,	    /* a char *, how servers are checked, in words */
	KIND_CERTIFICATES,  /* the certificates of a struct tls_settings */
	KIND_KEYS,	    /* their keys */
	KIND_PEERS,    /* a char *, addresses and files; see value_peers.h */
	KIND_HOST,     /* a char *, the host of a server */
	KIND_PORT,     /* its port, in struct server_plan itself */
	KIND_CHANGE,   /* the handler changes the plan it is given */
	KIND_REPORT,   /* the handler reports, and changes nothing */
	KIND_ACTION,   /* the handler does it, at once */
	KIND_OBSOLETE, /* accepted, does nothing */
};

enum {
	ROW_START = 1,	  /* only before the program serves */
	ROW_NO = 2,	  /* "no NAME" is fine too */
	ROW_OPTION = 4,	  /* an option only, no command */
	ROW_COUNT = 8,	  /* the option has no argument and is repeated */
	ROW_LOOK = 16,	  /* ACCESS_LOOK is enough */
	ROW_OPERATE = 32, /* ACCESS_OPERATE is enough; else ACCESS_ADMIN */
	ROW_GROWS = 64, /* while the program serves, a smaller value is none */
	/* The same, of TLS with clients: without a certificate it is
	 * refused. */
	ROW_CLIENTS = 128 + 1024,
	/* With one argument, or none if that may be left out, it only prints:
	 * for that, ACCESS_LOOK is enough, and there is JSON. */
	ROW_PRINTS = 2048,
	ROW_DRAINING = 4096, /* also when another process serves by now */
	ROW_LOCAL = 8192, /* refused on TCP, but for the question, as all that
			   * names a file is */
	ROW_SERVICE = 524288,	/* of the service that is named, else of the
			       * first, which then must be there */
	ROW_FIRST = 4194304,	/* of a service; that of the first one is the
			      * process's */
	ROW_PREFIX = 32768,	/* "NAME SERVICE COMMAND .." is COMMAND there */
	ROW_SECRETS = 1048576,	/* prints what only operators may read: others
				* get a plan without that */
	ROW_COUNTERS = 2097152, /* prints counters, which workers have */
	/* Workers carry it out, not their leader: all of them, that of a
	 * number, the first argument, or that of a client's address. */
	ROW_WORKERS = 65536 + 131072 + 262144,
	ROW_EACH_WORKER = 65536,
	ROW_NUMBERS_WORKER = 131072,
	ROW_CLIENTS_WORKER = 262144,
	/* Of a server's settings: */
	ROW_IF_SET = 256, /* written only where it is not the default */
	ROW_BARE = 512,	  /* its word alone sets it, without NAME */
};

/* What a row is of. */
enum row_scope {
	/* A setting: of a service. A command with ROW_SERVICE, too; one without
	 * has a handler for both: with a name it is of that service, without
	 * one of the process. */
	SCOPE_SERVICE,
	SCOPE_PROCESS /* refused behind a service's name */
};

enum { SERVICE_NAME_MAX = 31 };

/* The client of a control socket. */
struct caller {
	char service[SERVICE_NAME_MAX + 1]; /* whose commands these are; "":
					     * of the first */
	enum access access;
	char who[PEER_TEXT_MAX + 8]; /* "by uid=0 pid=17", "by 10.0.0.1:99" */
	bool remote; /* on TCP: any host that reaches it */
	bool prompt; /* the session stays open; the handler of prompt sets it */
	bool quit;   /* ends with this answer */
};

/* One command being carried out. */
struct call {
	struct pen *pen;
	struct service *service; /* that is meant, or the blank one */
	/* Of the process and all services: to be changed, else in force. */
	struct plan *draft;
	/* Of the service that is meant: in the draft, else in force. */
	struct plan *plan;
	const struct command *row;
	const struct words *words; /* word[0] is the first argument */
	bool no;		   /* "no NAME" */
	const char *origin;	   /* FILE:LINE, "option -O", or NULL */
	const char *option;  /* "option -R" that it was given as, or NULL */
	unsigned depth;	     /* files within files */
	struct defaults *defaults; /* of the file; NULL: not in a file */
	struct caller *caller; /* NULL: not on the control socket */
	/* In force, for ROW_GROWS and answers; NULL: a whole plan anew, or a
	 * new service. */
	const struct plan *grows;
	/* Connections open in advance; NULL: none yet. */
	uint64_t (*preopened)(const struct service *svc);
	bool fresh;	     /* set it: look all names up again */
	bool dry; /* only the plan matters: nothing is reported or logged */
	/* The server that was changed; see wait. */
	unsigned slot;
	/* Set it: what the answer waits for, once the command is in force. */
	struct wait *wait;
	bool reloads; /* set it: this reads the whole configuration again */
	struct reply *reply; /* text for the caller */
	/* Called with each command of a line that was carried out, also those
	 * of included files; NULL: not called. */
	void (*note)(const struct call *c);
	void *noting; /* for it */
};

/* A year in ms: longer than any wait, and safe to add to any time. */
#define LONG_MS (UINT64_C(366) * 24 * 3600 * 1000)

/* Members that a row does not name are 0 or NULL. */
struct command {
	const char *name;
	enum command_kind kind;
	enum row_scope scope;
	/* Of the value: in struct config, or in struct process_plan. */
	size_t offset;
	uint64_t min, max; /* max 0: row_max() */
	unsigned flags;	    /* ROW_* */
	char letter;	    /* of the option; '\0': none */
	/* The option's long name; NULL: of a setting, its name with - for _,
	 * of a command none; "": none. See row_option(). */
	const char *option;
	/* As in help; NULL: none, or what row_args() makes of kind and
	 * choices. "[X]" may be left out; # is a server's. */
	const char *args;
	/* One line; # is the list of names or choices. "X: a, b" has the words
	 * of the argument X, for completion. */
	const char *help;
	/* Returns 0, or -1 with a short message about the arguments. Of a
	 * setting, it answers instead of the value alone. */
	int (*run)(struct call *c, struct error *e);

	/* What follows is for settings. */
	/* The answer, # being the value; NULL: that alone; "": nothing when it
	 * is set. */
	const char *reply;
	const char *noun; /* what is wanted, in errors: "a number" */
	const char *none; /* what stands for no value */
	uint64_t nothing; /* the number that this is */
	const struct choice *choices;
	const char *(*names)(unsigned i); /* the last is followed by NULL */
	/* The name that a word stands for, or the word; NULL: none does. */
	const char *(*short_for)(const char *word);
	const char *key;		  /* in JSON; NULL: the name */
	const char *alias; /* the row that shows the value; NULL: this one */
	/* Does what else follows when it has been set; `base` is what the
	 * offset is in. Returns 0, or -1 with a short message. */
	int (*after)(struct call *c, void *base, struct error *e);
	/* Of a server's setting: what besides the server depends on it,
	 * CHANGED_*. */
	uint64_t changes;
	/* Reports what is in force, where that is not the value. */
	void (*emit)(struct fields *f, const char *key, const struct plan *p);
};

/* Room for its help or arguments; see command.h. */
enum { COMMAND_TEXT_MAX = 400 };

/* Whether it only prints; see ROW_PRINTS. */
bool row_only_prints(const struct command *row, int arguments, bool no);
/* Whether it changes the plan, and so wants a draft; a setting without an
 * argument only prints. */
bool row_changes(const struct command *row, int arguments, bool no);
/* Whether it is of one service: ROW_SERVICE, or a setting of one. */
bool row_is_of_service(const struct command *row);
/* The level it takes. */
enum access row_access(const struct command *row, int arguments, bool no);
enum { ROW_OPTION_MAX = 48 };

/* The long name of its option, or NULL. */
const char *row_option(const struct command *row, char text[ROW_OPTION_MAX]);
/* The row's arguments as help shows them, but with #; NULL: none. */
const char *row_args(const struct command *row, char text[COMMAND_TEXT_MAX]);
bool row_has_args(const struct command *row);
/* The largest value of a number. */
uint64_t row_max(const struct command *row);
/* Whether its option has an argument. */
bool row_takes_argument(const struct command *row);

/* Return 0, or -1 with a short message: that the arguments are not one duration
 * or none, which leaves *ms; that the caller is on TCP, or has not the level
 * admin: files, programs and Unix sockets are not named by these. */
int call_duration(const struct call *c, uint64_t *ms, struct error *e);
int call_needs_local(const struct call *c, struct error *e);

#endif
