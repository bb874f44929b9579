/* model.h: a run of the model: a seed, which is printed when a test fails, and
 * what the tests of this directory have in common. */
#ifndef PEN_TEST_MODEL_MODEL_H
#define PEN_TEST_MODEL_MODEL_H

#include "model/kernel.h"
#include "net/loop/loop.h"
#include "pool/pool.h"
#include "proxy/frontend/frontend.h"

enum { MODEL_SERVERS = 4, MODEL_PORT = 80, MODEL_SERVER_PORT = 8000 };
/* What a server does, where a test knows no more than that. */
enum { MODEL_ANSWERS, MODEL_REFUSES, MODEL_HANGS, MODEL_MODES };

struct model {
	struct loop *loop;
	struct pool *pool;
	struct frontend *frontend;
	struct frontend_options options;
	unsigned modes[MODEL_SERVERS]; /* by model_operate() */
	bool paused;
	struct task operator; /* does something when the loop has woken */
	struct error e;
};
extern struct model model;

/* The number of seeds, and the seed of the test's `i`-th run: that of the
 * environment, PEN_MODEL_SEED, if it is there. */
int model_runs(int few, int many);
uint64_t model_seed(int i);
/* A kernel, a loop, a pool with servers, an operator; then a frontend. */
void model_begin(uint64_t seed, void (*operate)(struct task *task));
void model_front(void);
void model_end(void);
/* In on_sleep(): the operator comes; the loop ends. */
void model_wake_operator(void);
void model_stop(void);

void model_add_server(unsigned number);
/* One of two values, or of these settings of the pool. */
uint64_t model_some(uint64_t a, uint64_t b);
void model_draw_pool_options(void);
/* Something that an operator does, or servers do: other options, drawn by that
 * function, addresses, modes; a pause; a server is removed, comes back, drains,
 * fails or is checked. */
void model_operate(void (*draw_options)(void));
/* Lets time pass while nothing happens: until the alarm, or not so far. */
void model_wait(void);

#endif
