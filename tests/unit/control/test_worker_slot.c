/* test_worker_slot.c: what a leader gets of a worker that sends while the
 * leader does, that cannot make a change, or that has ended; and what a worker
 * makes of the changes of its leader. Most workers here are children that only
 * do that. */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/pen.h"
#include "control/socket/request.h"
#include "control/workers/change.h"
#include "control/workers/worker_private.h"
#include "control/workers/workers.h"
#include "control/workers/workers_private.h"
#include "support/ask.h"
#include "support/suite.h"
#include "support/wait.h"

enum { LONG = 3 * 1000 * 1000, MS = 10000 };

static struct pen *pen;
static struct error e;

/* A leader, whose first worker does that, and then is over. */
static struct worker_slot *
begin(void (*work)(struct channel *leader))
{
	struct channel end;
	struct worker_slot *s;

	pen = ask_start();
	ck_assert_msg(workers_open(pen, 2, &e) == 0, "%s", e.text);
	s = pen->role.workers->slots;
	ck_assert_int_eq(channel_open_pair(&s->channel, &end), 0);
	s->pid = fork();
	if (s->pid == 0) {
		channel_close(&s->channel);
		work(&end);
		_exit(0);
	}
	channel_close(&end);
	ck_assert_int_gt(s->pid, 0);
	return s;
}

static bool woken;

static void
on_wake(struct request *q)
{
	(void)q;
	woken = true;
}

static void
answer_last(struct channel *leader)
{
	(void)channel_post(leader, MESSAGE_CANNOT, "it is full", 10);
	(void)channel_post(leader, MESSAGE_GATHERED_ALL, NULL, 0);
	(void)channel_wait(leader, MESSAGE_END, MESSAGE_END, MS);
}

/* What comes before the answer that is awaited is handled later: no event will
 * report it. */
START_TEST(says_more_than_is_awaited)
{
	struct worker_slot *s = begin(answer_last);
	struct message *m;

	m = worker_slot_wait(s, MESSAGE_GATHERED, MESSAGE_GATHERED_ALL, MS);
	ck_assert_ptr_nonnull(m);
	free(m);
	ck_assert(!s->workers->is_stale);
	WAIT_FOR((ask_turn(pen), s->workers->is_stale), MS);
	pen_free(pen);
}
END_TEST

/* It stops, and reads what was sent meanwhile when it goes on. */
static void
stop_and_read(struct channel *leader)
{
	struct message *m;

	(void)raise(SIGSTOP);
	m = channel_wait(leader, MESSAGE_STATE, MESSAGE_STATE, MS);
	if (m != NULL && m->length == LONG)
		(void)channel_post(leader, MESSAGE_PONG, NULL, 0);
	(void)channel_wait(leader, MESSAGE_END, MESSAGE_END, MS);
}

static void
listen_to(struct worker_slot *s)
{
	ck_assert_int_eq(watch_start(pen->loop, &s->watch, s->channel.fd,
			     READY_READ | WATCH_LEVEL, worker_slot_on_messages),
	    0);
}

/* More than the socket takes is kept for it, and sent by the loop. */
START_TEST(stands_still_while_it_is_sent_to)
{
	struct worker_slot *s = begin(stop_and_read);
	char *bytes = calloc(1, LONG);
	int status;

	listen_to(s);
	ck_assert_int_eq(waitpid(s->pid, &status, WUNTRACED), s->pid);
	ck_assert(WIFSTOPPED(status));
	worker_slot_post(s, MESSAGE_STATE, bytes, LONG);
	ck_assert_int_gt(s->pid, 0);
	ck_assert_uint_gt(buffer_length(&s->channel.out), 0);
	ck_assert_int_eq(kill(s->pid, SIGCONT), 0);
	WAIT_FOR((ask_turn(pen), s->last_message > 0), MS);
	ck_assert_uint_eq(buffer_length(&s->channel.out), 0);
	free(bytes);
	pen_free(pen);
}
END_TEST

/* What is kept for one that never takes it has an end. */
START_TEST(never_takes_anything)
{
	struct worker_slot *s = begin(stop_and_read);
	char *bytes = calloc(1, LONG);
	int i;

	listen_to(s);
	for (i = 0; i < 10 && s->pid != 0; i++)
		worker_slot_post(s, MESSAGE_STATE, bytes, LONG);
	ck_assert_int_eq(s->pid, 0);
	ck_assert_int_gt(i, 5);
	free(bytes);
	pen_free(pen);
}
END_TEST

static void
stay(struct channel *leader)
{
	(void)channel_wait(leader, MESSAGE_END, MESSAGE_END, MS);
}

static void
go(struct channel *leader)
{
	struct pollfd p = { .fd = leader->fd, .events = POLLIN };

	(void)poll(&p, 1, MS);
	(void)poll(NULL, 0, 50);
}

/* One that ends within a message is not stuck. */
START_TEST(ends_while_it_is_sent_to)
{
	struct worker_slot *s = begin(go);
	char *bytes = calloc(1, LONG);

	ck_assert_ptr_nonnull(freopen(scratch("log"), "w", stderr));
	listen_to(s);
	worker_slot_post(s, MESSAGE_STATE, bytes, LONG);
	WAIT_FOR((ask_turn(pen), s->pid == 0), MS);
	ck_assert(file_has(scratch("log"), "worker ended worker=1"));
	ck_assert(!file_has(scratch("log"), "stuck"));
	free(bytes);
	pen_free(pen);
}
END_TEST

/* That it has ended may be noticed in the middle of a change: what waits for
 * its answer, and may be followed by another change, goes on later. */
START_TEST(ends_while_its_answer_is_awaited)
{
	struct worker_slot *s = begin(stay);
	struct request q;

	request_init(&q, pen, NULL, on_wake);
	ck_assert_int_eq(request_begin(&q, "connections"), 0);
	ck_assert_int_eq(request_run(&q), REQUEST_WAITS);
	worker_slot_kill(s, "for the test");
	ck_assert(!woken);
	WAIT_FOR((ask_turn(pen), woken), MS);
	ck_assert_int_eq(request_run(&q), REQUEST_DONE);
	ck_assert(q.failed);
	request_fini(&q);
	pen_free(pen);
}
END_TEST

/* ---- a change ---- */

static void
cannot(struct channel *leader)
{
	free(channel_wait(leader, MESSAGE_CHANGE, MESSAGE_END, MS));
	(void)channel_post(leader, MESSAGE_CANNOT, "it is full", 10);
	(void)channel_wait(leader, MESSAGE_END, MESSAGE_END, MS);
}

/* A worker that cannot make a change is replaced, with its set; one of a set
 * that has just begun in a while, as the next one might not be able to,
 * either. */
START_TEST(one_cannot_make_a_change)
{
	struct worker_slot *s = begin(cannot);
	struct workers *w = s->workers;

	ck_assert_ptr_nonnull(freopen(scratch("log"), "w", stderr));
	w->slots[0].due = w->slots[1].due = false;
	if (_i == 0)
		s->started = loop_now(pen->loop);
	listen_to(s);
	worker_slot_post(s, MESSAGE_CHANGE, NULL, 0);
	WAIT_FOR((ask_turn(pen), w->is_stale), MS);
	ck_assert(file_has(scratch("log"), "error=\"it is full\""));
	ck_assert_int_eq(workers_are_due(pen), _i);
	WAIT_FOR((ask_turn(pen), workers_are_due(pen)), MS);
	ck_assert_int_gt(s->pid, 0);
	pen_free(pen);
}
END_TEST

/* Those of a set that is on its way out are not replaced. */
START_TEST(one_of_the_past_cannot)
{
	struct worker_slot *s = begin(cannot);

	listen_to(s);
	s->workers->leaves = true;
	s->last_message = 0;
	worker_slot_post(s, MESSAGE_CHANGE, NULL, 0);
	WAIT_FOR((ask_turn(pen), s->last_message > 0), MS);
	ck_assert(!s->workers->is_stale);
	pen_free(pen);
}
END_TEST

/* What a worker reports of a server that had the slot before is not of the
 * one that has it now. */
START_TEST(a_report_of_a_server_that_is_gone)
{
	struct server *server;
	struct state_record r;

	(void)begin(stay);
	server = pool_server(pen->service->pool, 0);
	memset(&r, 0, sizeof(r));
	memcpy(r.service, pen->service->name, sizeof(r.service));
	r.slot = server->slot;
	r.generation = server->generation + 1;
	pool_describe(server, &r.server, loop_now(pen->loop));
	r.server.blacklisted_ms = 5000;
	states_sync_receive(pen, (const char *)&r, sizeof(r));
	ck_assert_uint_eq(server->blacklisted_until, 0);
	r.generation = server->generation;
	states_sync_receive(pen, (const char *)&r, sizeof(r));
	ck_assert_uint_gt(server->blacklisted_until, 0);
	pen_free(pen);
}
END_TEST

/* Numbers of servers that are gone are not given again: before there are none
 * left, a new set of workers begins with all. */
START_TEST(a_share_that_is_used_up)
{
	struct workers *w = begin(stay)->workers;
	struct request q;

	w->slots[0].due = w->slots[1].due = false;
	ck_assert(!workers_are_due(pen));
	w->share.used = 1 << 20;
	ck_assert(pool_share_is_used_up(&w->share, 1));
	ck_assert(!pool_share_is_used_up(&w->share, 1 << 19));
	kill(w->slots[0].pid, SIGKILL);
	request_init(&q, pen, NULL, on_wake);
	ck_assert_int_eq(request_begin(&q, "workers 2"), 0);
	ck_assert_int_eq(request_run(&q), REQUEST_DONE);
	ck_assert_msg(!q.failed, "%s", q.error.text);
	w->slots[0].due = false;
	ck_assert(workers_are_due(pen));
	request_fini(&q);
	pen_free(pen);
}
END_TEST

/* ---- the worker ---- */

static bool says_much = true;

/* Becomes one, sends more than a socket holds, and serves until its leader is
 * gone. */
static void
become(struct worker_slot *s, struct channel *end)
{
	char *bytes = calloc(1, LONG);

	if (worker_become(s, end, &e) < 0)
		_exit(1);
	if (says_much)
		worker_send(pen, MESSAGE_STATE, bytes, LONG);
	free(bytes);
	_exit(pen_run(pen, &e) < 0);
}

/* A real one, which is the child of a leader; only its channel is there. */
static pid_t
begin_worker(struct channel *leader)
{
	struct channel end;
	struct worker_slot *s;
	pid_t pid;

	pen = ask_start();
	ck_assert_msg(workers_open(pen, 2, &e) == 0, "%s", e.text);
	s = pen->role.workers->slots;
	ck_assert_int_eq(channel_open_pair(leader, &end), 0);
	ck_assert_int_eq(channel_post(leader, MESSAGE_PING, NULL, 0), 0);
	pid = fork();
	if (pid == 0) {
		channel_close(leader);
		become(s, &end);
	}
	channel_close(&end);
	return pid;
}

static void
end_worker(struct channel *leader, pid_t pid)
{
	channel_close(leader);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	pen_free(pen);
}

/* What has come while it was sending is not forgotten; nor is half of what it
 * sent left out when the leader is busy for long. */
START_TEST(hears_what_comes_while_it_sends)
{
	long long began = wait_now_ms();
	struct channel leader;
	struct message *m;
	pid_t pid = begin_worker(&leader);

	if (_i > 0)
		WAIT_FOR(wait_now_ms() - began > 6000, 2 * MS);
	m = channel_wait(&leader, MESSAGE_PONG, MESSAGE_PONG, MS);
	ck_assert_ptr_nonnull(m);
	free(m);
	end_worker(&leader, pid);
}
END_TEST

static void
post_change(struct channel *leader, uint32_t number)
{
	struct change_head head;

	memset(&head, 0, sizeof(head));
	head.number = number;
	ck_assert_int_eq(
	    channel_post(leader, MESSAGE_CHANGE, &head, sizeof(head)), 0);
}

static void
pongs(struct channel *leader)
{
	struct message *m;

	ck_assert_int_eq(channel_post(leader, MESSAGE_PING, NULL, 0), 0);
	m = channel_wait(leader, MESSAGE_PONG, MESSAGE_CANNOT, MS);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->type, MESSAGE_PONG);
	free(m);
}

/* Names that were looked up again, of which there are none; then one is lost.
 * It makes no further ones, and serves on. */
START_TEST(a_change_that_is_lost)
{
	struct channel leader;
	struct message *m;
	pid_t pid;

	says_much = false;
	pid = begin_worker(&leader);
	free(channel_wait(&leader, MESSAGE_PONG, MESSAGE_PONG, MS));
	post_change(&leader, 1);
	pongs(&leader);
	post_change(&leader, 3);
	m = channel_wait(&leader, MESSAGE_CANNOT, MESSAGE_CANNOT, MS);
	ck_assert_ptr_nonnull(m);
	ck_assert_str_eq(m->bytes, "an earlier change is missing");
	free(m);
	post_change(&leader, 2);
	pongs(&leader);
	end_worker(&leader, pid);
}
END_TEST

SUITE(test_worker_slot)
{
	Suite *s = suite_create("worker_slot");
	TCase *c = tcase_create("hears_what_comes_while_it_sends");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, hears_what_comes_while_it_sends, 0, 2);
	suite_add_tcase(s, c);
	SUITE_ADD_LOOP(s, one_cannot_make_a_change, 30, 2);
	SUITE_ADD(s, one_of_the_past_cannot, 30);
	SUITE_ADD(s, a_change_that_is_lost, 30);
	SUITE_ADD(s, a_share_that_is_used_up, 30);
	SUITE_ADD(s, a_report_of_a_server_that_is_gone, 30);
	SUITE_ADD(s, says_more_than_is_awaited, 30);
	SUITE_ADD(s, stands_still_while_it_is_sent_to, 30);
	SUITE_ADD(s, never_takes_anything, 30);
	SUITE_ADD(s, ends_while_it_is_sent_to, 30);
	SUITE_ADD(s, ends_while_its_answer_is_awaited, 30);
	return s;
}
