/* check.h: one health check of one server, and what a kind of check is.
 *
 *     start --> ... --> check_end() --------------------> stop
 *        '------------> timeout, removed, pen ends ----> stop
 *
 * The checker (checker.h) starts the check, limits its time, and ends it
 * exactly once: a kind calls check_end() when it has the result, and frees and
 * closes only in its stop(), which is called once for each start().
 *
 * To add a kind X: a file check_x.c with a row
 *
 *     const struct check_kind check_x = { .name = "x", .args = "NAME", ... };
 *
 * the row's name in the table of check_spec.c and below; a unit test; a
 * transcript and the manual. A kind whose server is a stream of bytes uses
 * check_stream.h. No kind blocks, and what it keeps of an answer is bounded. */
#ifndef PEN_PROXY_CHECK_H
#define PEN_PROXY_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/error.h"
#include "base/words.h"
#include "net/loop/loop.h"
#include "pool/pool.h"

struct check;
struct check_spec;
struct check_tls;
struct checker;
struct frontend_core;
struct programs;

enum check_result {
	CHECK_NONE, /* nothing is known of the server: we were short of memory,
		     * descriptors, ports or processes */
	CHECK_GOOD,
	CHECK_BAD
};

/* With the NUL. */
enum { CHECK_REASON_MAX = 128 };
/* Checks start no program while so many run, whosever they are; others do. */
enum { CHECK_PROGRAMS_MAX = 256 };

struct check_kind {
	const char *name;
	const char *args; /* as in help; NULL: none */

	/* The arguments of all checks of one setting, compiled. `settings` has
	 * `settings_size` zero bytes; parse() takes the words after the name,
	 * which are gone after the call, and returns 0, or -1 with a short
	 * message. fini() frees what parse() allocated, also when that failed.
	 * Each may be NULL: no arguments, nothing to free. */
	size_t settings_size;
	int (*parse)(
	    void *settings, const struct words *arguments, struct error *e);
	void (*fini)(void *settings);
	/* Whether it needs an address with a port; else it works without. */
	bool needs_port;
	/* Whether it sends datagrams, so that a Unix server needs a socket for
	 * these; NULL: never. */
	bool (*sends_datagrams)(const void *settings);
	/* Whether it may talk TLS, and where in the settings its struct
	 * check_tls (check_stream.h) is, which states it. */
	bool has_tls;
	size_t tls_at;
	/* The program that it runs, of the settings, and its arguments, in
	 * which {address} and {port} stand for the server's; a list that ends
	 * with NULL. NULL: it runs none. */
	char *const *(*program)(const void *settings);

	/* A check has `state_size` zero bytes of its own, check->state. start()
	 * may call check_end() before it returns. It starts another check of
	 * the server's next address when this one was bad before
	 * check_reached(). A kind without start() is carried out elsewhere:
	 * "dsr" by the director, which has the frames. */
	size_t state_size;
	void (*start)(struct check *c);
	void (*stop)(struct check *c);
};

extern const struct check_kind check_connect, check_dns, check_dsr, check_exec,
    check_expect, check_http, check_https, check_send, check_tls, check_udp;

/* The values of "dsr [PORT]", for the prober. */
struct check_dsr_settings {
	uint16_t port; /* of listening addresses that have none; 0: not given */
};

struct check {
	/* For kinds to read. */
	const void *settings; /* compiled by the kind's parse() */
	void *state;
	struct loop *loop;
	struct frontend_core *frontend; /* how servers are reached */
	struct programs *programs;	/* that checks run; NULL: none can */
	const struct server *server;	/* present while the check runs */
	struct addr at; /* where to check, with its port; a Unix path has
			 * none */
	uint64_t timeout_ms;
	bool ended; /* check_end() was called: do nothing more */
	/* What the check waits for at the moment, a constant, for its result
	 * when it times out: "timed out waiting for ...". NULL: for its turn,
	 * which is no failure of the server. */
	const char *waiting;
	/* Only the rest of a good answer is still waited for: the time's end is
	 * a good result. */
	bool good;

	/* Private. */
	struct checker *checker;
	struct check_spec *spec;
	unsigned slot;
	unsigned first;	  /* of the server's addresses, and how many were */
	unsigned tried;	  /* tried before this one */
	bool reached;
	enum check_result result; /* of check_end() */
	uint64_t began_us;
	struct task free_task;
};

/* The server's host, as its certificate names it. */
const char *check_host(const struct check *c);
/* Whether the check uses the port of clients, or one only for checks, without a
 * PROXY header. A server without a port serves clients on those that they
 * connect to. */
bool check_is_where_clients_go(const struct check *c);
/* The server has answered at this address: what is bad from now on is its
 * answer, and no other address is tried. */
void check_reached(struct check *c);
/* The check has waited for its turn, and begins now: its time does, too. */
void check_begins(struct check *c);
/* Ends the check; `fmt` makes a short text for the operator: "status 503". What
 * in it is no printable ASCII becomes '?'. May stop and free: the last that a
 * callback does. */
void check_end(struct check *c, enum check_result result, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of a system call: NONE when we are short of something,
 * else BAD. */
void check_end_errno(struct check *c, int error);

#endif
