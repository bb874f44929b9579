/* visitors.h: clients that come and go all the time, while the test does
 * something else; each is to be served. */
#ifndef PEN_TEST_VISITORS_H
#define PEN_TEST_VISITORS_H

#include <stdbool.h>

/* So many visitors come and go, each in a thread: `visit` is its `nth` time and
 * returns whether it was served. */
void visitors_begin(int count, bool (*visit)(int visitor, int nth));
/* Waits until so many more have been served. */
void visitors_await(int more);
/* They come no more. The test fails unless all were served; returns how
 * often. */
int visitors_end(void);

#endif
