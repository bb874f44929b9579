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

const char *
clock_text(int64_t seconds, char text[CLOCK_TEXT_MAX])
{
	time_t t = (time_t)seconds;
	char zone[CLOCK_ZONE_MAX];
	struct tm tm;
	size_t n;

	if (localtime_r(&t, &tm) == NULL)
		return "";
	n = strftime(text, CLOCK_TEXT_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	clock_zone(&tm, zone);
	snprintf(text + n, CLOCK_TEXT_MAX - n, "%s", zone);
	return text;
}
