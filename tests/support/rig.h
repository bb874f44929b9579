/* rig.h: a frontend in a real loop of this process, with servers behind it, for
 * unit tests: no other process, real sockets. */
#ifndef PEN_TEST_RIG_H
#define PEN_TEST_RIG_H

#include "net/loop/loop.h"
#include "proxy/frontend/frontend.h"
#include "support/backend.h"
#include "support/spot.h"
#include "support/wait.h"

struct rig {
	struct loop *loop;
	struct pool *pool;
	struct frontend *frontend;
	struct frontend_options options;
	struct backend backend; /* of rig_with() */
	struct spot front;
	struct error e;
	struct timer tick;
};
extern struct rig rig;

/* A loop and a pool without servers; rig.options may be changed before
 * rig_front(), which opens the frontend at rig.front and starts it. */
void rig_begin(void);
void rig_front(void);
/* The same with rig.backend as server 0. */
void rig_with(backend_fn *serve, const void *arg);
/* Frees all but the backend. */
void rig_end(void);

void rig_add_server(unsigned index, const struct spot *at);
struct addr rig_addr(const struct spot *s);
const struct frontend_stats *rig_stats(void);

/* Runs the loop for a moment. */
void rig_breathe(void);
/* Runs the loop until it holds. */
#define RUN_UNTIL(expr)                                                 \
	do {                                                            \
		long long run_end = wait_now_ms() + wait_scaled(10000); \
		while (!(expr)) {                                       \
			if (wait_now_ms() > run_end)                    \
				ck_abort_msg("never: %s", #expr);       \
			rig_breathe();                                  \
		}                                                       \
	} while (0)

/* Something is to be read, or the end, or a reset. */
bool rig_tells(int fd);
bool rig_holds(int fd, int n);
/* Exactly that is read next. */
void rig_hears(int fd, const char *what);
/* All sessions are over, each for one reason, `n` of them for this one. */
void rig_ended(enum reason why, uint64_t n);
/* A client that has said hello and got it back. */
int rig_talks(void);

#endif
