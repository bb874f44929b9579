/* learned_private.h: what learned.c, which writes, and learned_read.c have in
 * common. */
#ifndef PEN_CONTROL_LEARNED_PRIVATE_H
#define PEN_CONTROL_LEARNED_PRIVATE_H

#include <stddef.h>

/* The counters that are handed over, by number: the name of one, by which the
 * reader finds it, and its offset in struct frontend_stats; NULL behind the
 * last. */
const char *learned_counter(unsigned i, size_t *offset);

#endif
