/* clock.h: monotonic time. The loop reads it once per wake-up and passes it on
 * as `now`; so tests can set the time. */
#ifndef PEN_BASE_CLOCK_H
#define PEN_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed moment; never decreases. */
uint64_t clock_monotonic_ms(void);
/* The same in microseconds, for what must be measured: how long something
 * took. */
uint64_t clock_monotonic_us(void);
/* "+01:00": how far a local time is from UTC, as RFC 3339, section 5.6, writes
 * it. */
enum { CLOCK_ZONE_MAX = 8 };
struct tm;
void clock_zone(const struct tm *local, char zone[CLOCK_ZONE_MAX]);
/* A time, in seconds since 1970, in local time: RFC 3339, section 5.6. */
enum { CLOCK_TEXT_MAX = 40 };
const char *clock_text(int64_t seconds, char text[CLOCK_TEXT_MAX]);

#endif
