/* readme_fixture.h: the network that the commands of README.md speak of, and
 * how a row of a test runs one of them there.
 *
 *     client 10.0.0.100 (and .101, .1) ---- front 10.0.0.9, pen's machine
 *     client 10.9.0.1 ------------ front 10.9.0.2   |
 *                                       servers 10.0.0.3 to 10.0.0.6
 *
 * The names are in /etc/hosts; servers' way to 10.9.0.1 leads by the front. */
#ifndef PEN_TEST_README_FIXTURE_H
#define PEN_TEST_README_FIXTURE_H

#include <stdbool.h>

#include "support/backend.h"
#include "support/net_fixture.h"
#include "support/suite.h"

/* The machines of servers, by their place in the network. */
enum { WEB1, WEB2, THIRD, FOURTH, MACHINES };

struct example {
	const char *line;     /* as README.md has it, in one line */
	const char *programs; /* that it needs, with a blank between */
	const char *(*lacks)(void); /* what the network cannot do, or NULL */
	void (*before)(void); /* makes what the command wants to be there */
	const char *after;    /* another one of them that runs first */
	bool stays;	      /* it does not end by itself */
	void (*check)(void); /* is it so? NULL: `elsewhere` says why not here */
	const char *elsewhere;
};

/* Rows end with a `line` of NULL. */
extern const struct example readme_web[], readme_tls[], readme_others[],
    readme_running[], readme_dsr[];

/* Runs a row from its begin to its end. What the machine lacks skips it, in the
 * name of that test. */
void readme_fixture_run(const char *test, const struct example *e);
int readme_fixture_rows(const struct example *list);

/* The suite of a file that has such a list. */
#define README_SUITE(file, list)                                            \
	START_TEST(command)                                                 \
	{                                                                   \
		readme_fixture_run(__func__, &(list)[_i]);                  \
	}                                                                   \
	END_TEST                                                            \
	SUITE(file)                                                         \
	{                                                                   \
		Suite *s = suite_create(#file);                             \
                                                                            \
		SUITE_ADD_LOOP(s, command, 120, readme_fixture_rows(list)); \
		return s;                                                   \
	}

extern struct net_fixture readme_fixture;
/* What the command has said on standard output; with `stays` so far. */
const char *readme_fixture_output(void);
/* The processes that commands left in the background and that are there. */
int readme_fixture_left(void);

/* ---- servers ---- */

/* "10.0.0.3" */
const char *machine_ip(unsigned machine);
/* Serves that way at a port of the machine, until the row is over. */
struct backend *machine_serve(
    unsigned machine, int port, backend_fn *serve, const void *arg);
/* Ends it earlier. */
void machine_stop(struct backend *b);
/* Starts a program there, which is stopped when the row is over. Arguments end
 * with NULL. */
struct child *machine_start(unsigned machine, ...) __attribute__((sentinel));
/* Is something listening at that port of the machine? */
bool machine_listens(enum net_fixture_place where, int port);

/* A web server: each page says its name, who asks, and with which header.
 * `health` is the status of /health; 0: 200. */
struct site {
	const char *name;
	atomic_int health;
};
void site_serve(struct backend *b, int fd);
/* web1 and web2 at port 80. */
extern struct backend *readme_webs[2];
extern struct site readme_sites[2];
void webs_up(void);
void webs_up_at(int port);
void webs_down(void);

/* ---- clients ---- */

/* Runs a program as a client to its end; what it printed. `status` may be
 * NULL: it must be 0. */
const char *client_run(int *status, ...) __attribute__((sentinel));
/* Gets a page; more words for curl(1) are behind the address. */
#define fetch(...)                                                    \
	client_run(NULL, "curl", "-sS", "--noproxy", "*", "-m", "60", \
	    __VA_ARGS__, NULL)
/* The names of servers of so many pages, one after another: "web1 web2 ". */
const char *fetch_names(int n, const char *url);
/* Those alternate between web1 and web2. */
void expect_turns(const char *url);
/* Connects from an address of the client, sends the text. */
int client_dial(const char *from, const char *to, int port, const char *says);
/* The same, but -1 when that is reset or ended without an answer. */
int client_try(const char *from, const char *to, int port, const char *says);
/* What is answered first; "" for an end or a reset. */
const char *client_hears(int fd);

#endif
