/* clock.c: the monotonic clock. */
#include "config.h"

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
