/* loop_private.h: what the loop has for the few files of this room that know
 * libevent themselves. */
#ifndef PEN_NET_LOOP_PRIVATE_H
#define PEN_NET_LOOP_PRIVATE_H

#include "net/loop.h"

struct event_base;

struct event_base *loop_event_base(struct loop *l);

#endif
