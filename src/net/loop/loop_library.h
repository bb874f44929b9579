/* loop_library.h: libevent's side of the loop, for what uses more of the
 * library than watches and timers: evhttp. */
#ifndef PEN_NET_LOOP_LIBRARY_H
#define PEN_NET_LOOP_LIBRARY_H

#include "net/loop/loop.h"

struct event_base;

/* The loop's. Its descriptors are watched; its times are not. */
struct event_base *loop_event_base(struct loop *l);
/* Gives the library a turn before the loop sleeps: to be called now and then
 * while it has times of its own to keep. */
void loop_poll_library(struct loop *l);

#endif
