/* pen.h: the life of the program.
 *
 *     PLANNING   pen_new(): options and files make a draft; apply_plan()
 *        |       checks it and sets its servers, and opens nothing
 *     STARTING   pen_start(): the first apply, which opens everything;
 *        |       pen_begin(): workers
 *        |
 *     SERVING    pen_run(): commands and reloads make drafts, apply_plan()
 *        |
 *     DRAINING   stopping_begin(): the same without new clients; left out when
 *        |       the program ends at once
 *        |
 *     STOPPING   stopping_end(): the loop ends, pen_free() */
#ifndef PEN_CONTROL_PEN_H
#define PEN_CONTROL_PEN_H

#include "base/error.h"
#include "control/life/context.h"

/* A context with default settings and an empty pool, or NULL (ENOMEM). */
struct pen *pen_new(void);
/* Stops and frees everything; NULL is fine. */
void pen_free(struct pen *p);

/* Opens the loop and everything that the plan in force wants, and catches
 * signals. Nothing is accepted until pen_run(). Returns 0, or -1 with a full
 * message. */
int pen_start(struct pen *p, struct error *e);
/* With workers: forks them, which serve. Returns 0 in each of them and in their
 * leader, or -1 with a full message. */
int pen_begin(struct pen *p, struct error *e);
/* Serves until it is stopped. Returns 0, or -1 with a full message if the loop
 * has failed or the director's interface was removed. */
int pen_run(struct pen *p, struct error *e);

#endif
