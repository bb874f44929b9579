/* test_flows.c: flows of datagrams on a kernel of the test's own: clients,
 * servers and an operator do anything in any order. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "model/model.h"
#include "net/loop/loop_private.h"
#include "proxy/datagram/flow_private.h"
#include "proxy/frontend/frontend_private.h"
#include "support/pattern.h"
#include "support/suite.h"

enum { CLIENTS = 30, QUESTIONS = 2000, STEPS_MAX = 200 * 1000, LONGEST = 300 };

/* Of each datagram, both ways. */
struct said {
	uint32_t client, answers; /* which one of a client's; 0: a question */
	char more[LONGEST];
};

static struct run {
	unsigned steps, questions;
	unsigned made[CLIENTS], got[CLIENTS]; /* answers */
	uint64_t up, down, up_bytes, down_bytes;
	bool over;
} run;

static struct sockaddr_in
address_of(unsigned client)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	at.sin_addr.s_addr = htonl(0x7f000100 + client / 3);
	at.sin_port = htons((uint16_t)(1024 + client));
	return at;
}

static size_t
write_said(struct said *s, unsigned client, unsigned answers)
{
	size_t n = kernel_below(LONGEST);

	s->client = client;
	s->answers = answers;
	pattern_fill(client, answers, s->more, n);
	return offsetof(struct said, more) + n;
}

static void
read_said(struct said *s, const char *bytes, size_t n)
{
	size_t more = n - offsetof(struct said, more);

	MUST(n >= offsetof(struct said, more) && n <= sizeof(*s));
	memcpy(s, bytes, n);
	MUST(s->client < CLIENTS);
	MUST(pattern_differs(s->client, s->answers, s->more, more) == more);
}

/* ---- datagrams of the program ---- */

static void
to_server(int fd, const struct sockaddr_in *to, struct said *s, size_t n)
{
	unsigned i = (unsigned)ntohs(to->sin_port) - MODEL_SERVER_PORT, k;
	unsigned mode = model.modes[i];

	MUST(s->answers == 0);
	run.up++;
	run.up_bytes += n;
	if (mode == MODEL_REFUSES)
		kernel_refuse(fd);
	for (k = kernel_below(3); mode == MODEL_ANSWERS && k > 0; k--) {
		struct said answer;

		n = write_said(&answer, s->client, run.made[s->client] + 1);
		if (kernel_datagram(to, 0, fd, &answer, n))
			run.made[s->client]++;
	}
}

static void
to_client(const struct sockaddr_in *from, const struct sockaddr_in *to,
    const struct said *s, size_t n)
{
	struct sockaddr_in at = address_of(s->client);

	MUST(ntohs(from->sin_port) - MODEL_PORT < 2);
	MUST(to->sin_port == at.sin_port);
	MUST(to->sin_addr.s_addr == at.sin_addr.s_addr);
	MUST(s->answers > 0);
	MUST(++run.got[s->client] <= run.made[s->client]);
	run.down++;
	run.down_bytes += n;
}

static void
on_datagram(int fd, const struct sockaddr_in *from,
    const struct sockaddr_in *to, const char *bytes, size_t n)
{
	struct said s;

	read_said(&s, bytes, n);
	if (ntohs(to->sin_port) >= MODEL_SERVER_PORT &&
	    ntohs(to->sin_port) < MODEL_SERVER_PORT + MODEL_SERVERS)
		to_server(fd, to, &s, n);
	else
		to_client(from, to, &s, n);
}

/* ---- what holds ---- */

struct counted {
	unsigned all, descriptors, of_server[64];
	uint64_t kept;
	bool used[KERNEL_DESCRIPTORS];
};

static void
count_order(struct counted *n, struct list *order)
{
	uint64_t before = 0;
	struct list *l;

	for (l = order->next; l != order; l = l->next) {
		const struct flow *w = list_entry(l, struct flow, order);

		MUST(w->active >= before);
		before = w->active;
		n->all++;
		n->kept += w->question.n;
		if (w->server != NULL)
			n->of_server[w->server->slot]++;
		MUST(w->fd < 0 || w->server != NULL);
		MUST((w->fd >= 0) == (w->watch.fd >= 0));
		if (w->fd < 0)
			continue;
		MUST(kernel_is_open(w->fd) && !n->used[w->fd - KERNEL_FIRST]);
		n->used[w->fd - KERNEL_FIRST] = true;
		n->descriptors++;
	}
}

static unsigned
listeners(const struct frontend *f)
{
	const struct list *l;
	unsigned n = 0;

	for (l = f->listeners.next; l != &f->listeners; l = l->next)
		n++;
	return n;
}

static void
invariants(struct frontend *f)
{
	const struct frontend_stats *st = f->core.stats;
	struct counted n;
	unsigned i;

	memset(&n, 0, sizeof(n));
	count_order(&n, &f->flows.young);
	count_order(&n, &f->flows.steady);
	MUST(st->flows.now == n.all);
	MUST(st->flows.now <= st->flows.peak);
	MUST(f->flows.questions.kept == n.kept);
	MUST(kernel.open == n.descriptors + listeners(f) + 1);
	for (i = 0; i < pool_slots(model.pool); i++)
		MUST(pool_slot(model.pool, i)->connections == n.of_server[i]);
	MUST(st->datagrams.up == run.up && st->up == run.up_bytes);
	MUST(st->datagrams.down == run.down && st->down == run.down_bytes);
}

/* No datagram waits that could be had; no flow is there for too long. */
static void
invariants_asleep(struct frontend *f)
{
	uint64_t limit = f->core.options.udp.timeout_ms, now;
	struct list *orders[] = { &f->flows.young, &f->flows.steady }, *l;
	int i;

	now = loop_now(model.loop);
	for (l = f->listeners.next; l != &f->listeners; l = l->next) {
		const struct listener *at =
		    &list_entry(l, struct frontend_listener, link)->listener;

		MUST(at->paused || at->starved || kernel_queued(at->fd) == 0);
		MUST(at->paused == model.paused);
	}
	for (i = 0; i < 2; i++)
		for (l = orders[i]->next; l != orders[i]; l = l->next) {
			struct flow *w = list_entry(l, struct flow, order);

			MUST(w->fd < 0 || kernel_queued(w->fd) == 0);
			MUST(now - w->active <= limit + 2000);
		}
}

/* ---- the world ---- */

static void
draw_options(void)
{
	struct frontend_options *o = &model.options;

	o->sessions_max = model_some(50, 5);
	o->udp.each = kernel_one_in(4);
	o->udp.timeout_ms = model_some(2000, 300);
	o->udp.responses = model_some(0, 1 + kernel_below(2));
	o->udp.requests = model_some(0, 3);
	o->udp.fail = model_some(0, 3);
}

static void
operate(struct task *task)
{
	(void)task;
	if (!run.over) {
		model_operate(draw_options);
		return;
	}
	frontend_resume(model.frontend);
	frontend_drain(model.frontend);
}

static void
ask(void)
{
	unsigned client = kernel_below(CLIENTS);
	struct sockaddr_in from = address_of(client);
	struct said s;
	size_t n = write_said(&s, client, 0);

	run.questions++;
	(void)kernel_datagram(
	    &from, (uint16_t)(MODEL_PORT + kernel_below(2)), -1, &s, n);
}

static void
on_sleep(bool idle)
{
	unsigned what = kernel_below(100);

	MUST(run.steps++ < STEPS_MAX);
	invariants(model.frontend);
	if (idle)
		invariants_asleep(model.frontend);
	if (run.questions < QUESTIONS && what < 60)
		ask();
	else if (idle || what < 70)
		model_wait();
	if (what >= 98 || (run.questions == QUESTIONS && !run.over)) {
		model.paused &= run.questions < QUESTIONS;
		run.over = run.questions == QUESTIONS;
		model_wake_operator();
	}
	if (run.over && frontend_left(model.frontend) == 0 && idle)
		model_stop();
}

static int
trouble(const char *call)
{
	return strcmp(call, "timerfd_create") != 0 && !run.over &&
		kernel_one_in(20)
	    ? ENOBUFS
	    : 0;
}

START_TEST(any_order)
{
	memset(&run, 0, sizeof(run));
	model_begin(model_seed(_i), operate);
	kernel.on_datagram = on_datagram;
	kernel.on_sleep = on_sleep;
	model.options.udp.on = true;
	draw_options();
	model_front();
	if (kernel_one_in(5))
		kernel.trouble = trouble;
	ck_assert_int_eq(loop_run(model.loop), 0);
	model_end();
}
END_TEST

SUITE(test_flows)
{
	Suite *s = suite_create("flows");

	SUITE_ADD_LOOP(s, any_order, 60, model_runs(20, 2000));
	return s;
}
