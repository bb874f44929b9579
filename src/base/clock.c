/* clock.c: the monotonic clock, and zones. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"

uint64_t
clock_monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t
clock_monotonic_ms(void)
{
	return clock_monotonic_us() / 1000;
}

/* strftime(3) leaves the colon out. */
void
clock_zone(const struct tm *local, char zone[CLOCK_ZONE_MAX])
{
	char text[8] = "+0000";

	(void)strftime(text, sizeof(text), "%z", local);
	snprintf(zone, CLOCK_ZONE_MAX, "%.3s:%.2s", text, text + 3);
}
