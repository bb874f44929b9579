/* command.h: the one command language, as a table.
 *
 * A row is a setting or a command: its name, its arguments, its option on the
 * command line, where its value lives and in which range, who may use it, and
 * help. The same rows drive the options, -O, the configuration file, the
 * control socket, `write`, help, completion and the check of the manual. */
#ifndef PEN_CONTROL_COMMAND_H
#define PEN_CONTROL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "base/words.h"
#include "control/value/access.h"
#include "control/plan/plan.h"
#include "control/answer/reply.h"

struct choice;
struct facts;
struct pen;

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
	KIND_FORWARDED, /* a struct acl_ref, or of enum http_forwarded */
	KIND_COOKIE,	    /* a char[HTTP_COOKIE_NAME], "": none */
	KIND_CHECK,	    /* a char *, how servers are checked, in words */
	KIND_CERTIFICATES,  /* the certificates of a struct tls_settings */
	KIND_KEYS,	    /* their keys */
	KIND_HOST,	    /* a char *, the host of a server */
	KIND_PORT,	    /* its port, in struct server_plan itself */
	KIND_CHANGE,	    /* the handler changes the plan it is given */
	KIND_REPORT,	    /* the handler tells, and changes nothing */
	KIND_ACTION,	    /* the handler does it, at once */
	KIND_OBSOLETE,	    /* accepted, does nothing */
};

enum {
	ROW_START = 1,	  /* only before the program serves */
	ROW_NO = 2,	  /* "no NAME" is fine too */
	ROW_OPTION = 4,	  /* an option only, no command */
	ROW_COUNT = 8,	  /* the option has no argument and is repeated */
	ROW_LOOK = 16,	  /* ACCESS_LOOK is enough */
	ROW_OPERATE = 32, /* ACCESS_OPERATE is enough; else ACCESS_ADMIN */
	ROW_GROWS = 64, /* while the program serves, a smaller value is none */
	ROW_TLS = 128,	/* a build without TLS only says that it has none */
	/* The same, of TLS with clients: without a certificate it is
	 * refused. */
	ROW_CLIENTS = 128 + 1024,
	ROW_ASKS = 2048, /* with one argument it only asks: for that,
			  * ACCESS_LOOK is enough, and there is JSON */
	ROW_DRAINING = 4096, /* also when another process serves by now */
	ROW_LOCAL = 8192, /* refused on TCP, but for the question, as all that
			   * names a file is */
	/* Of a server's settings: */
	ROW_IF_SET = 256, /* written only where it is not the default */
	ROW_BARE = 512,	  /* its word alone sets it, without NAME */
};

/* Who asks on the control socket. */
struct asker {
	enum access access;
	char who[PEER_TEXT_MAX + 8]; /* "by uid=0 pid=17", "by 10.0.0.1:99" */
	bool remote; /* on TCP: anybody who gets there */
	bool prompt; /* the session stays open; the handler of prompt sets it */
	bool quit;   /* ends with this answer */
};

/* One command being carried out. */
struct call {
	struct pen *pen;
	struct plan *plan; /* KIND_CHANGE: a draft; else what is in force */
	const struct command *row;
	const struct words *words; /* word[0] is the first argument */
	bool no;		   /* "no NAME" */
	const char *origin;	   /* FILE:LINE, "option -O", or NULL */
	const char *option;  /* "option -R" that it was given as, or NULL */
	unsigned depth;	     /* files within files */
	struct asker *asker; /* NULL: not on the control socket */
	bool grows;	     /* ROW_GROWS counts: not a whole plan anew */
	bool fresh;	     /* set it: look all names up again */
	bool dry; /* only the plan matters: nothing is reported or logged */
	/* Set them: the answer waits until that server has no connections, at
	 * most so long, 0 being for ever. */
	bool drains;
	unsigned slot; /* of the server that was changed; see command_key() */
	uint64_t drain_ms;
	bool upgrades; /* set it: the answer waits for the end of that */
	struct reply *reply; /* text for who asked */
};

/* A year in ms: longer than anybody waits, and safe to add to any time. */
#define LONG_MS (UINT64_C(366) * 24 * 3600 * 1000)

/* Members that a row does not name are 0 or NULL. */
struct command {
	const char *name;
	enum command_kind kind;
	size_t offset; /* of the value in struct config */
	uint64_t min, max;
	unsigned flags;	    /* ROW_* */
	char letter;	    /* of the option; '\0': none */
	const char *option; /* its long name; NULL: no option */
	/* As in help; NULL: none. "[X]" may be left out; # is a server's. */
	const char *args;
	const char *help; /* one line; # is the list of names */
	/* Returns 0, or -1 with a phrase about the arguments. Of a setting, it
	 * answers instead of the value alone. */
	int (*run)(struct call *c, struct error *e);

	/* What follows is for settings. */
	/* The answer, # being the value; NULL: that alone; "": nothing when it
	 * is set. */
	const char *reply;
	const char *noun; /* what is wanted, in errors: "an access list" */
	const char *none; /* what stands for no value */
	const struct choice *choices;
	const char *(*names)(unsigned i); /* the last is followed by NULL */
	/* The name that a word stands for, or the word; NULL: none does. */
	const char *(*short_for)(const char *word);
	const char *key;		  /* in JSON; NULL: the name */
	const char *alias; /* the row that shows the value; NULL: this one */
	/* Does what else follows when it has been set; `base` is what the
	 * offset is in. Returns 0, or -1 with a phrase. */
	int (*after)(struct call *c, void *base, struct error *e);
	/* Tells what is in force, where that is not the value. */
	void (*tell)(struct facts *f, const char *key, const struct plan *p);
};

/* Rows that belong together, ended by a NULL name. */
struct command_group {
	const char *key; /* as --help takes it */
	const char *title;
	const struct command *rows;
};

/* All of them, ended by NULL. */
extern const struct command_group command_groups[];

/* The row behind `row`, group after group; NULL begins, and ends. */
const struct command *command_next(const struct command *row);
#define COMMAND_EACH(row)                               \
	for ((row) = command_next(NULL); (row) != NULL; \
	     (row) = command_next(row))

/* The title of the group that it is in. */
const char *command_group_of(const struct command *row);

/* The number of a row among all, less than ROWS_MAX; and the row of a number,
 * or NULL. */
unsigned command_index(const struct command *row);
const struct command *command_at(unsigned index);

/* The row of that name, or NULL. */
const struct command *command_find(const char *name);
/* Says that there is no such command, with the nearest name. Returns -1. */
int command_unknown(const char *name, struct error *e);

/* Whether it changes the plan, and so wants a draft; a setting without an
 * argument only asks. */
bool command_changes(const struct command *row, int arguments, bool no);
/* The level it takes. */
enum access command_access(const struct command *row, int arguments, bool no);
/* Whether it is there, or only says that it is not. */
bool command_is_there(const struct command *row);
/* Whether its option has an argument. */
bool command_takes_argument(const struct command *row);
/* Its help and arguments, with the names that # stands for. Return `text`, or
 * the row's own. */
enum { COMMAND_TEXT_MAX = 400 };
const char *command_help(
    const struct command *row, char text[COMMAND_TEXT_MAX]);
const char *command_args(
    const struct command *row, char text[COMMAND_TEXT_MAX]);

/* Splits `line`, cut in place, and finds its row and arguments; *row is NULL
 * for an empty line or a comment. *rest is what follows a ';', or NULL. Returns
 * 0, or -1 with a sentence. */
int command_parse(char *line, const struct command **row,
    struct words *arguments, bool *no, char **rest, struct error *e);
/* Carries out c->row. Returns 0, or -1 with a phrase. */
int command_run(struct call *c, struct error *e);
/* All commands of one line on c->plan, right away: c->row, words and no are its
 * own. For lines of files and -O. Returns 0, or -1 with a sentence. */
int command_run_line(struct call *c, const char *line, struct error *e);

/* ---- what handlers begin with ---- */

/* Return 0, or -1 with a phrase: that pen is not running yet; that the
 * arguments are not one duration or none, which leaves *ms. */
int call_needs_serving(const struct call *c, struct error *e);
int call_duration(const struct call *c, uint64_t *ms, struct error *e);
/* That who asks is on TCP: files, programs and Unix sockets are not named
 * there. */
int call_needs_local(const struct call *c, struct error *e);

/* ---- handlers of rows, by file ---- */

/* server_command.c */
int after_address(struct call *c, void *base, struct error *e);
int after_program(struct call *c, void *base, struct error *e);
int after_blacklist(struct call *c, void *base, struct error *e);
int after_resolver(struct call *c, void *base, struct error *e);
int run_server(struct call *c, struct error *e);
int run_servers(struct call *c, struct error *e);
int run_emergency(struct call *c, struct error *e);
int run_abuse(struct call *c, struct error *e);
/* route_command.c */
int run_route(struct call *c, struct error *e);
/* access_command.c */
int run_acl(struct call *c, struct error *e);
int run_acls(struct call *c, struct error *e);
int run_control(struct call *c, struct error *e);
int run_control_level(struct call *c, struct error *e);
int run_control_mode(struct call *c, struct error *e);
/* client_command.c */
int run_client_command(struct call *c, struct error *e);
int run_rebalance(struct call *c, struct error *e);
int run_recent(struct call *c, struct error *e);
/* connection_command.c */
int after_conn_max(struct call *c, void *base, struct error *e);
int run_conn_max(struct call *c, struct error *e);
void tell_conn_max(struct facts *f, const char *key, const struct plan *p);
int run_listen(struct call *c, struct error *e);
int run_connection(struct call *c, struct error *e);
int run_connections(struct call *c, struct error *e);
int run_close(struct call *c, struct error *e);
int run_socket(struct call *c, struct error *e);
int run_flow(struct call *c, struct error *e);
int run_flows(struct call *c, struct error *e);
int run_explain(struct call *c, struct error *e);
int run_idlers(struct call *c, struct error *e);
/* limit_command.c */
int run_top(struct call *c, struct error *e);
/* mode_command.c */
const char *balance_name(unsigned i);
const char *balance_alias(const char *word);
int after_balance(struct call *c, void *base, struct error *e);
void tell_balance(struct facts *f, const char *key, const struct plan *p);
void tell_sticky(struct facts *f, const char *key, const struct plan *p);
int run_mode(struct call *c, struct error *e);
/* process_command.c */
int run_pid(struct call *c, struct error *e);
int run_exit(struct call *c, struct error *e);
int run_shutdown(struct call *c, struct error *e);
int run_upgrade(struct call *c, struct error *e);
int run_prompt(struct call *c, struct error *e);
int run_quit(struct call *c, struct error *e);
int run_help(struct call *c, struct error *e);
int run_show(struct call *c, struct error *e);
int run_statistics(struct call *c, struct error *e);
int run_clear(struct call *c, struct error *e);
int run_status(struct call *c, struct error *e);
/* dsr_report.c */
int run_dsr(struct call *c, struct error *e);
/* check_command.c */
int after_check_address(struct call *c, void *base, struct error *e);
int run_checks(struct call *c, struct error *e);
/* tls_command.c */
int run_certs(struct call *c, struct error *e);
/* config_command.c */
int run_include(struct call *c, struct error *e);
int run_reload(struct call *c, struct error *e);
int run_diff(struct call *c, struct error *e);
/* write_command.c */
int run_write(struct call *c, struct error *e);

#endif
