/* clock.h: monotonic time. Nobody reads it twice for one event: the loop reads
 * it once per wake-up and passes it on as `now`, so tests own the time. */
#ifndef PEN_BASE_CLOCK_H
#define PEN_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed moment; never goes back. */
uint64_t clock_monotonic_ms(void);
/* The same in microseconds, for what must be measured: how long something
 * took. */
uint64_t clock_monotonic_us(void);

#endif
