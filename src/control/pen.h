/* pen.h: the one context of the program: its settings and the rooms it owns.
 *
 * Life: pen_new() -> options and commands fill it -> pen_start() opens
 * everything -> loop_run() -> pen_free(). */
#ifndef PEN_CONTROL_PEN_H
#define PEN_CONTROL_PEN_H

#include <stdbool.h>

#include "base/error.h"
#include "control/socket.h"
#include "control/spec.h"
#include "pool/pool.h"
#include "proxy/frontend.h"

/* How the process runs; see process.h. Strings belong to argv. */
struct process_options {
	bool foreground;
	const char *user;
	const char *directory; /* to chroot into */
	const char *pid_file;
};

/* Pen's modes; together they pick the algorithm (see pen_apply()). */
struct mode_options {
	bool hash, roundrobin, stubborn, weight, prio;
	const char *balance;	 /* an algorithm by name, or NULL */
	bool sticky_set, sticky; /* said so explicitly, and what */
};

struct config {
	struct pool_options pool;
	struct frontend_options frontend;
	struct process_options process;
	struct mode_options mode;
	const char *method; /* of the event loop; NULL: the best */
	uint64_t debug;
	bool ascii;
	bool abort_on_error;
	bool allow_exit;
};

struct pen {
	struct config config;
	struct listen_list listen;
	struct listen_list control_at;	  /* control sockets */
	char control_text[ADDR_TEXT_MAX]; /* the last one as given */
	struct loop *loop;		  /* NULL until pen_start() */
	struct pool *pool;
	struct frontend *frontend; /* NULL until pen_start() */
	struct control *control;   /* the same */
};

/* A context with default settings and an empty pool, or NULL (ENOMEM). */
struct pen *pen_new(void);
/* Stops and frees everything; NULL is fine. */
void pen_free(struct pen *p);

/* Hands the settings to the rooms that exist. Returns 0, or -1 with a sentence;
 * then the old ones stay in force. */
int pen_apply(struct pen *p, struct error *e);

/* Opens the loop and the listeners, catches signals. Nothing is accepted until
 * pen_run(). Returns 0, or -1 with a sentence. */
int pen_start(struct pen *p, struct error *e);
/* Serves until told to stop. Returns 0, or -1 when the loop failed. */
int pen_run(struct pen *p);

#endif
