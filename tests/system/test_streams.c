/* test_streams.c: many long random streams at once, each byte compared. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/pattern.h"
#include "support/penrun.h"
#include "support/stream.h"
#include "support/suite.h"
#include "support/wait.h"

enum { STREAMS = 64 };

struct client {
	pthread_t thread;
	const struct endpoint *front;
	struct stream_plan plan;
	const char *wrong;
};

static _Atomic(const char *) server_wrong;
static atomic_int servers_done;

/* The client's plan seen from the other end. */
static struct stream_plan
mirrored(const struct stream_plan *p)
{
	return (struct stream_plan){ .out_seed = p->in_seed,
		.in_seed = p->out_seed,
		.out_bytes = p->in_bytes,
		.in_bytes = p->out_bytes,
		.pause_ms = p->pause_ms };
}

/* The plan comes as the first bytes of the connection. */
static void
serve_stream(struct backend *b, int fd)
{
	struct stream_plan theirs, ours;
	const char *wrong = "no plan came";

	if (recv(fd, &theirs, sizeof(theirs), MSG_WAITALL) ==
	    (ssize_t)sizeof(theirs)) {
		ours = mirrored(&theirs);
		ours.end_last = b->arg != NULL;
		wrong = stream_run(fd, &ours);
	}
	if (wrong != NULL)
		atomic_store(&server_wrong, wrong);
	atomic_fetch_add(&servers_done, 1);
}

static void *
run_client(void *arg)
{
	struct client *c = arg;
	int fd = endpoint_try_connect(c->front);

	c->wrong = "cannot connect";
	if (fd < 0)
		return NULL;
	if (backend_send(fd, &c->plan, sizeof(c->plan)))
		c->wrong = stream_run(fd, &c->plan);
	close(fd);
	return NULL;
}

static void
run_streams(const struct endpoint *fronts, int fronts_n, int streams,
    uint64_t bytes, unsigned pause_ms)
{
	struct client clients[STREAMS];
	int i;

	memset(clients, 0, sizeof(clients));
	servers_done = 0;
	server_wrong = NULL;
	for (i = 0; i < streams; i++) {
		clients[i].front = &fronts[i % fronts_n];
		clients[i].plan = (struct stream_plan){
			.out_seed = (uint64_t)i * 2 + 1,
			.in_seed = (uint64_t)i * 2 + 2,
			/* some one-sided, some empty */
			.out_bytes = i % 8 == 1 ? 0 : bytes + (uint64_t)i,
			.in_bytes = i % 8 == 2 ? 0 : bytes - (uint64_t)i,
			.pause_ms = i % 2 == 0 ? pause_ms : 0,
		};
		ck_assert_int_eq(pthread_create(&clients[i].thread, NULL,
				     run_client, &clients[i]),
		    0);
	}
	for (i = 0; i < streams; i++)
		pthread_join(clients[i].thread, NULL);
	WAIT_FOR(servers_done == streams, 20000);
	for (i = 0; i < streams; i++)
		ck_assert_msg(clients[i].wrong == NULL, "client %d: %s", i,
		    clients[i].wrong);
	ck_assert_msg(
	    server_wrong == NULL, "a server: %s", (const char *)server_wrong);
}

/* Listeners and servers of every kind this machine has. */
static void
run_everywhere(const char *option, const char *server_last, uint64_t bytes)
{
	struct backend b[ENDPOINT_KINDS];
	struct endpoint fronts[ENDPOINT_KINDS];
	const char *at[ENDPOINT_KINDS + 1], *all = "";
	struct pen pen;
	int kind, n = 0;

	for (kind = 0; kind < ENDPOINT_KINDS; kind++) {
		if (!endpoint_has_kind(kind))
			continue;
		endpoint_new(&fronts[n], kind);
		backend_start(&b[n], kind, serve_stream, server_last);
		all = text("%s%s%s", all, n > 0 ? "," : "", fronts[n].text);
		at[n] = b[n].at.text;
		n++;
	}
	at[n] = NULL;
	pen_up(&pen, &fronts[n - 1], "-r", "-O", option, all, at[0], at[1],
	    n > 2 ? at[2] : NULL, n > 3 ? at[3] : NULL, NULL);
	run_streams(fronts, n, STREAMS, bytes, 20);
	pen_down(&pen);
	while (n-- > 0)
		backend_stop(&b[n]);
}

START_TEST(streams_both_ways)
{
	run_everywhere(
	    "tcp_nodelay", NULL, (uint64_t)suite_amount(4 << 20, 256 << 10));
}
END_TEST

/* With a buffer a server that has ended may be let go before its client has,
 * so here the servers end last. */
START_TEST(streams_through_a_buffer)
{
	run_everywhere("buffer 4m", "the server ends last",
	    (uint64_t)suite_amount(2 << 20, 256 << 10));
}
END_TEST

/* The bulk path: few, long, without pauses. */
START_TEST(long_streams)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;

	backend_start(&b, ENDPOINT_TCP4, serve_stream, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-r", front.text, b.at.text, NULL);
	run_streams(
	    &front, 1, 4, (uint64_t)suite_amount(128 << 20, 8 << 20), 0);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

SUITE(test_streams)
{
	Suite *s = suite_create("streams");

	SUITE_ADD(s, streams_both_ways, 60);
	SUITE_ADD(s, streams_through_a_buffer, 60);
	SUITE_ADD(s, long_streams, 60);
	return s;
}
