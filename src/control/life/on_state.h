/* on_state.h: the program of the operator that is run when the state of a
 * server changes: the setting on_state.
 *
 *     change -> queue --.-> program, one of a server at a time
 *                       '-> dropped, counted and logged, when the queue is full
 *
 * The programs of a server run in the order of its changes; those of several
 * servers may run at a time. Each gets in its environment: PEN_SERVICE, the
 * name of the service, PEN_SERVER, the number, PEN_NAME, PEN_ADDRESS, PEN_PORT,
 * PEN_STATE, the new state, PEN_WAS, the one before, PEN_REASON. Serving
 * clients waits for none of them. */
#ifndef PEN_CONTROL_ON_STATE_H
#define PEN_CONTROL_ON_STATE_H

#include "net/program/program.h"
#include "pool/pool.h"

/* Changes that wait; programs at a time; how long one may take. */
enum { ON_STATE_WAITING = 256, ON_STATE_RUNNING = 4 };
enum { ON_STATE_LIMIT_MS = 60 * 1000 };

struct on_state;

/* Loop and programs outlive it. NULL with errno ENOMEM. */
struct on_state *on_state_new(struct loop *l, struct programs *programs);
/* Programs that run are killed, those that wait are not run. NULL is fine. */
void on_state_free(struct on_state *o);
/* The state of a server has changed: `program` (an absolute path) is run soon,
 * never from inside of this call. */
void on_state_add(struct on_state *o, const char *program, const char *service,
    const struct server *s, const struct server_change *c);

#endif
