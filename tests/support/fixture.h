/* fixture.h: a frontend in a real loop of this process, with servers behind it,
 * for unit tests: no other process, real sockets. */
#ifndef PEN_TEST_FIXTURE_H
#define PEN_TEST_FIXTURE_H

#include "net/loop/loop.h"
#include "proxy/frontend/frontend.h"
#include "support/backend.h"
#include "support/endpoint.h"
#include "support/wait.h"

struct fixture {
	struct loop *loop;
	struct pool *pool;
	struct frontend *frontend;
	struct frontend_options options;
	struct backend backend; /* of fixture_with() */
	struct endpoint front;
	struct error e;
	struct timer tick;
};
extern struct fixture fixture;

/* A loop and a pool without servers; fixture.options may be changed before
 * fixture_front(), which opens the frontend at fixture.front and starts it. */
void fixture_begin(void);
void fixture_front(void);
/* The same with fixture.backend as server 0. */
void fixture_with(backend_fn *serve, const void *arg);
/* Frees all but the backend. */
void fixture_end(void);

void fixture_add_server(unsigned index, const struct endpoint *at);
struct addr fixture_addr(const struct endpoint *s);
const struct frontend_stats *fixture_stats(void);

/* Runs the loop for a moment. */
void fixture_breathe(void);
/* Runs the loop until it holds. */
#define RUN_UNTIL(expr)                                                 \
	do {                                                            \
		long long run_end = wait_now_ms() + wait_scaled(10000); \
		while (!(expr)) {                                       \
			if (wait_now_ms() > run_end)                    \
				ck_abort_msg("never: %s", #expr);       \
			fixture_breathe();                              \
		}                                                       \
	} while (0)

/* Something is to be read, or the end, or a reset. */
bool fixture_tells(int fd);
bool fixture_holds(int fd, int n);
/* Exactly that is read next. */
void fixture_hears(int fd, const char *what);
/* All sessions are over, each for one reason, `n` of them for this one. */
void fixture_ended(enum reason why, uint64_t n);
/* A client that has said hello and got it back. */
int fixture_talks(void);

#endif
