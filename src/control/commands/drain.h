/* drain.h: waits until a server has no connections left: what "server N drain
 * wait" answers. Polled by a timer of its own; nobody else waits. */
#ifndef PEN_CONTROL_DRAIN_H
#define PEN_CONTROL_DRAIN_H

#include "base/buffer.h"
#include "base/error.h"
#include "net/loop.h"
#include "pool/server.h"

struct pen;

enum drain_result { DRAIN_WAITS, DRAIN_DONE, DRAIN_FAILED };

/* Embedded in who waits; all zero waits for nothing. */
struct drain {
	struct loop *loop; /* NULL: nothing is waited for */
	const struct server *server;
	unsigned number, generation;
	uint64_t ms;	/* at most; 0: no limit */
	uint64_t until; /* the loop's ms */
	uint64_t next;	/* line about how many are left */
	struct timer tick;
};

/* `on_tick` is the timer's: whoever waits calls drain_go_on() then. */
void drain_init(struct drain *d, void (*on_tick)(struct timer *t));
void drain_fini(struct drain *d);

/* Waits for the server in the slot, at most `ms`, 0 being for ever. */
void drain_begin(
    struct drain *d, const struct pen *p, unsigned slot, uint64_t ms);
static inline bool
drain_is_on(const struct drain *d)
{
	return d->loop != NULL;
}
/* Ends the wait, or starts the timer and waits on. Adds lines about how many
 * connections are left. DRAIN_FAILED comes with a phrase. */
enum drain_result drain_go_on(
    struct drain *d, struct buffer *out, struct error *e);

#endif
