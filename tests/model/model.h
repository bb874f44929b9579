/* model.h: a run of the model: a seed, which is printed when a test fails, and
 * what the tests of this directory have in common. */
#ifndef PEN_TEST_MODEL_MODEL_H
#define PEN_TEST_MODEL_MODEL_H

#include "model/kernel.h"
#include "net/loop/loop.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

enum { MODEL_SERVERS = 4, MODEL_PORT = 80, MODEL_SERVER_PORT = 8000 };

struct model {
	struct loop *loop;
	struct pool *pool;
	struct frontend *frontend;
	struct frontend_options options;
	bool paused;
	struct error e;
};
extern struct model model;

/* The number of seeds, and the seed of the test's `i`-th run: that of the
 * environment, PEN_MODEL_SEED, if it is there. */
int model_runs(int few, int many);
uint64_t model_seed(int i);
/* A kernel, a loop, a pool with servers; then a frontend. */
void model_begin(uint64_t seed);
void model_front(void);
void model_end(void);

void model_add_server(unsigned number);
/* One of them is removed, comes back, drains, fails or is checked. */
void model_change_servers(void);
/* One of two values, or of these settings of the pool. */
uint64_t model_some(uint64_t a, uint64_t b);
void model_draw_pool_options(void);
/* Listens at MODEL_PORT, or at the next one, or both. */
void model_relisten(bool datagram);
/* The frontend is paused, or resumed. */
void model_pause(void);
struct addr model_addr(uint16_t port);
/* Lets time pass while nothing happens: until the alarm, or not so far. */
void model_wait(void);

#endif
