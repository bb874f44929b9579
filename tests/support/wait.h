/* wait.h: waiting for a condition with a deadline, never for a fixed time.
 *
 * Deadlines grow with CK_TIMEOUT_MULTIPLIER, the variable Check itself reads,
 * so that slow builds (valgrind, sanitizers) need one knob. */
#ifndef PEN_TEST_WAIT_H
#define PEN_TEST_WAIT_H

#include <check.h>

/* Monotonic milliseconds. */
long long wait_now_ms(void);
/* `ms` times CK_TIMEOUT_MULTIPLIER. */
long long wait_scaled(long long ms);
/* The short breath between two looks at a condition. */
void wait_nap(void);
/* The same for who has looked since then, in ms: a twentieth of that time, from
 * 1 to 50 ms. A look may cost more than what is waited for. */
void wait_nap_since(long long began);

/* Fails the test when `expr` stays false for `ms`. */
#define WAIT_FOR(expr, ms)                                            \
	do {                                                          \
		long long wait_began = wait_now_ms();                 \
		long long wait_end = wait_began + wait_scaled(ms);    \
		while (!(expr)) {                                     \
			if (wait_now_ms() > wait_end)                 \
				ck_abort_msg("timed out: %s", #expr); \
			wait_nap_since(wait_began);                   \
		}                                                     \
	} while (0)

#endif
