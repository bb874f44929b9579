/* pieces.h: long work that is done in pieces: a fixed number in a turn of the
 * loop, for all owners of such work together, one each in the order of their
 * requests. Other events are served between two turns, however many have
 * work. */
#ifndef PEN_NET_PIECES_H
#define PEN_NET_PIECES_H

#include "net/loop/loop.h"

struct pieces {
	struct loop *loop;
	unsigned budget; /* pieces in a turn */
	struct list waiting;
	struct task turn;
};

/* Does `budget` pieces a turn, at least 1. The loop refers to it while any
 * wait. */
void pieces_init(struct pieces *p, struct loop *l, unsigned budget);
/* Runs `t` once, when all earlier ones have had their piece: in this turn if
 * its budget lasts, as loop_soon() does. It may be added again then. One that
 * waits already keeps its position; list_remove() of its link takes it out. */
void pieces_soon(struct pieces *p, struct task *t);

#endif
