/* wait.c: the clock and the patience of the tests. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "support/wait.h"

long long
wait_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

long long
wait_scaled(long long ms)
{
	const char *s = getenv("CK_TIMEOUT_MULTIPLIER");
	double k = s != NULL ? strtod(s, NULL) : 1;

	return k > 1 ? (long long)((double)ms * k) : ms;
}

void
wait_nap(void)
{
	struct timespec t = { 0, 2000000 };

	nanosleep(&t, NULL);
}
