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

static void
sleep_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

void
wait_nap(void)
{
	sleep_ms(2);
}

void
wait_nap_since(long long began)
{
	long long part = (wait_now_ms() - began) / 20;

	sleep_ms(part < 1 ? 1 : part > 50 ? 50 : (long)part);
}
