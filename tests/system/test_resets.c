/* test_resets.c: who breaks off is noticed at once, whatever else is going on,
 * and so are servers that were there and broke off. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_LINUX_SOCKIOS_H
#include <linux/sockios.h>
#endif

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static struct endpoint front, ctl;
static struct pen pen;

/* With so long a time to connect. */
static void
up_for(const char *seconds, const char *const servers[])
{
	const char *argv[32] = { "-f", "-r", "-t", seconds, "-C" };
	int n = 5, i;

	endpoint_new(&front, ENDPOINT_TCP4);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	argv[n++] = ctl.text;
	argv[n++] = front.text;
	for (i = 0; servers[i] != NULL; i++)
		argv[n++] = servers[i];
	argv[n] = NULL;
	pen_up_words(&pen, &front, argv);
	WAIT_FOR(endpoint_is_listening(&ctl), 5000);
}

static void
up(const char *const servers[])
{
	up_for("20", servers);
}

/* A number of `statistics`. Keeps nothing, for use while waiting. */
static long
count(const char *name)
{
	char all[8192] = "\n", line[64];
	int fd = endpoint_connect(&ctl);
	const char *at;
	size_t n = 1;
	ssize_t k;

	endpoint_send(fd, "statistics\n", 11);
	while ((k = recv(fd, all + n, sizeof(all) - 1 - n, 0)) > 0)
		n += (size_t)k;
	all[n] = '\0';
	close(fd);
	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(all, line);
	ck_assert_msg(at != NULL, "no %s in %s", name, all);
	return strtol(at + strlen(line), NULL, 10);
}

/* As much as goes at once. */
static size_t
stuff(int fd)
{
	static const char zeros[65536];
	size_t at = 0;
	ssize_t k;

	while ((k = send(
		    fd, zeros, sizeof(zeros), MSG_NOSIGNAL | MSG_DONTWAIT)) > 0)
		at += (size_t)k;
	return at;
}

/* ---- clients ---- */

/* A server hangs, and its client gives up. */
START_TEST(reset_noticed_while_bytes_are_stuck)
{
	struct backend b;
	size_t more;
	int fd;

	backend_start(&b, ENDPOINT_TCP4, backend_hang, NULL);
	up((const char *const[]){ b.at.text, NULL });
	endpoint_ask(&ctl, "half_timeout 1\n");
	fd = endpoint_connect(&front);
	/* until pen takes no more, either */
	while ((more = stuff(fd)) > 0)
		wait_nap();
	ck_assert_int_eq(count("sessions"), 1);
	endpoint_reset(fd);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_client_reset") == 1, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* No server has answered yet: nothing is for it. */
START_TEST(reset_noticed_while_connecting)
{
	struct endpoint silent;
	int fd, fill[4], listener, i;

	endpoint_new(&silent, ENDPOINT_TCP4);
	listener = endpoint_listen(&silent, 0);
	for (i = 0; i < 4; i++) {
		fill[i] = socket(AF_INET, SOCK_STREAM, 0);
		fcntl(fill[i], F_SETFL, O_NONBLOCK);
		connect(
		    fill[i], (const struct sockaddr *)&silent.addr, silent.len);
	}
	up((const char *const[]){ silent.text, NULL });
	fd = endpoint_connect(&front);
	WAIT_FOR(count("connecting") == 1, 5000);
	endpoint_reset(fd);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_client_reset") == 1, 5000);
	pen_down(&pen);
	for (i = 0; i < 4; i++)
		close(fill[i]);
	close(listener);
}
END_TEST

/* What it had said by then is for the server, if that answers. */
START_TEST(words_before_a_reset_while_connecting)
{
	struct endpoint busy;
	int fd, fill, listener, server;
	char words[6] = "";

	endpoint_new(&busy, ENDPOINT_TCP4);
	listener = endpoint_listen(&busy, 0);
	fill = endpoint_connect(&busy);
	up((const char *const[]){ busy.text, NULL });
	fd = endpoint_connect(&front);
	endpoint_send(fd, "hello", 5);
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "connections\n"), "pending_up 5") != NULL,
	    5000);
	endpoint_reset(fd);
	ck_assert_int_eq(count("sessions"), 1);
	close(accept(listener, NULL, NULL));
	server = accept(listener, NULL, NULL);
	ck_assert_int_ge(server, 0);
	endpoint_set_deadline(server, 10000);
	endpoint_recv(server, words, 5);
	ck_assert_str_eq(words, "hello");
	endpoint_expect_reset(server);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_client_reset") == 1, 5000);
	pen_down(&pen);
	close(server);
	close(fill);
	close(listener);
}
END_TEST

static atomic_int saw;
enum { NOTHING, SAW_END, SAW_RESET };

/* ---- what came before ---- */

enum { UPLOAD = 3000000 };

/* Reads slowly: a client's reset is there long before its last bytes are. */
static void
slow_reader(struct backend *b, int fd)
{
	static char some[50000];
	ssize_t k;

	while ((k = recv(fd, some, sizeof(some), 0)) > 0) {
		atomic_fetch_add(&b->received, k);
		wait_nap();
	}
	saw = k == 0 ? SAW_END : SAW_RESET;
}

static void
upload_and_reset(int in, int out)
{
	static const char zeros[UPLOAD];
	struct backend b;
	int fd, left = 1;

	saw = NOTHING;
	backend_start(&b, out, slow_reader, NULL);
	endpoint_new(&front, in);
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &front, "-f", "-r", "-C", ctl.text, front.text, b.at.text,
	    NULL);
	fd = endpoint_connect(&front);
	endpoint_send(fd, zeros, sizeof(zeros));
#ifdef SIOCOUTQ
	while (left > 0 && ioctl(fd, SIOCOUTQ, &left) == 0)
		wait_nap();
#else
	WAIT_FOR(b.received == UPLOAD, 30000);
#endif
	endpoint_reset(fd);
	WAIT_FOR(saw != NOTHING, 30000);
	ck_assert_int_eq(b.received, UPLOAD);
	ck_assert_int_eq(saw, SAW_RESET);
	pen_down(&pen);
	backend_stop(&b);
}

START_TEST(words_of_a_client_that_resets)
{
	upload_and_reset(ENDPOINT_TCP4, ENDPOINT_TCP4);
	upload_and_reset(ENDPOINT_TCP6, ENDPOINT_TCP4);
}
END_TEST

static void
read_to_the_end(struct backend *b, int fd)
{
	char c;
	ssize_t k;

	while ((k = recv(fd, &c, 1, 0)) > 0)
		atomic_fetch_add(&b->received, 1);
	saw = k == 0 ? SAW_END : SAW_RESET;
	/* no end of ours: whoever waits for it waits for ever */
	backend_hang(b, fd);
}

START_TEST(end_and_reset_in_one_wakeup)
{
	struct backend b;
	int fd;

	NEEDS_EPOLL();
	saw = NOTHING;
	backend_start(&b, ENDPOINT_TCP4, read_to_the_end, NULL);
	up((const char *const[]){ b.at.text, NULL });
	fd = endpoint_connect(&front);
	endpoint_send(fd, "1", 1);
	WAIT_FOR(b.received == 1, 5000);
	pen_freeze(&pen);
	endpoint_send(fd, "23", 2);
	shutdown(fd, SHUT_WR);
	endpoint_reset(fd);
	pen_thaw(&pen);
	WAIT_FOR(saw != NOTHING, 5000);
	ck_assert_int_eq(saw, SAW_RESET);
	ck_assert_int_eq(b.received, 3);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_client_reset") == 1, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* ---- clients that write on ---- */

static void
greet_and_close(struct backend *b, int fd)
{
	const char *greeting = b->arg;
	char line[8];

	endpoint_send(fd, greeting, strlen(greeting));
	(void)recv(fd, line, sizeof(line), 0);
	atomic_fetch_add(&b->received, 1);
}

/* Its server has closed, and a client that never reads does not see that: the
 * line after the one that was lost is an error. */
static void
writes_on(const char *greeting, const char *setting, int out)
{
	struct backend b;
	int fd, lost = 0;

	backend_start(&b, out, greet_and_close, (void *)(uintptr_t)greeting);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-f", "-r", "-O", setting, front.text, b.at.text,
	    NULL);
	fd = endpoint_connect(&front);
	endpoint_send(fd, "line", 4);
	WAIT_FOR(b.received == 1 && b.open == 0, 5000);
	WAIT_FOR(lost++ > 100 || send(fd, "line", 4, MSG_NOSIGNAL) != 4, 9000);
	ck_assert_int_lt(lost, 100);
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}

START_TEST(client_that_only_writes_gets_an_error)
{
	writes_on("", "tcp_nodelay", ENDPOINT_TCP4);
	writes_on("", "poll", ENDPOINT_TCP4);
	writes_on("", "buffer 1m", ENDPOINT_TCP4);
	writes_on("hello", "tcp_nodelay", ENDPOINT_TCP4);
	writes_on("hello", "buffer 1m", ENDPOINT_TCP4);
	writes_on("", "tcp_nodelay", ENDPOINT_UNIX);
}
END_TEST

static void
say_much_and_end(struct backend *b, int fd)
{
	static const char answer[400000];
	char c;

	backend_send(fd, answer, sizeof(answer));
	shutdown(fd, SHUT_WR);
	while (recv(fd, &c, 1, 0) > 0)
		atomic_fetch_add(&b->received, 1);
}

/* It takes longer than `linger` to take its answer, and talks all the time. */
START_TEST(linger_begins_with_the_last_bytes)
{
	long long began = wait_now_ms();
	struct backend b;
	size_t got = 0, talks = 0;
	int fd, small = 20000;
	char some[4000];
	ssize_t k;

	backend_start(&b, ENDPOINT_TCP4, say_much_and_end, NULL);
	endpoint_new(&front, ENDPOINT_TCP4);
	pen_up(&pen, &front, "-f", "-r", "-O", "linger 2;buffer 1m", front.text,
	    b.at.text, NULL);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	endpoint_set_deadline(fd, 10000);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&front.addr, front.len), 0);
	endpoint_send(fd, "GET / HTTP/1.0\r\n\r\n", 18);
	while ((k = recv(fd, some, sizeof(some), 0)) > 0) {
		got += (size_t)k;
		if (got / 20000 > talks && ++talks)
			endpoint_send(fd, "more", 4);
		WAIT_FOR(wait_now_ms() - began > (long long)(got / 60), 9000);
	}
	ck_assert_int_eq(k, 0);
	ck_assert_uint_eq(got, 400000);
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* ---- servers that break off while their clients lag behind ---- */

#ifdef SIOCOUTQ
/* In one piece, which is out before the reset. */
static void
answer_and_reset(struct backend *b, int fd)
{
	static const char answer[40000];
	int left = 1;

	backend_send(fd, answer, sizeof(answer));
	while (left > 0 && ioctl(fd, SIOCOUTQ, &left) == 0)
		wait_nap();
	backend_reset(b, fd);
}

/* How often pen went to sleep. */
static long
naps(void)
{
	const char *status = contents(text("/proc/%d/status", pen.child.pid));
	const char *at = strstr(status, "\nvoluntary_ctxt_switches:");

	ck_assert_ptr_nonnull(at);
	return strtol(strchr(at, ':') + 1, NULL, 10);
}

/* Returns a client that takes its answer slowly, and whose server is gone. */
static int
lagging_client(struct backend *b)
{
	int fd, small = 2048;

	backend_start(b, ENDPOINT_TCP4, answer_and_reset, NULL);
	up((const char *const[]){ b->at.text, NULL });
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	endpoint_set_deadline(fd, 10000);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&front.addr, front.len), 0);
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "connections\n"), "draining") != NULL,
	    5000);
	return fd;
}

static void
down_after_the_reset(struct backend *b, int fd)
{
	WAIT_FOR(count("closed_server_reset") == 1, 5000);
	close(fd);
	pen_down(&pen);
	backend_stop(b);
}

/* The reset waits until the client has its bytes, and is looked after less and
 * less often. */
START_TEST(lagging_client_is_looked_at_less_and_less)
{
	struct backend b;
	char some[8192];
	long long began;
	size_t got = 0;
	ssize_t k;
	long before;
	int fd = lagging_client(&b);

	before = naps();
	began = wait_now_ms();
	WAIT_FOR(wait_now_ms() - began > 2000, 5000);
	/* 5, 10, 20 ... 640, 1000 ms: not each 5 ms, which is 400 times */
	ck_assert_int_lt(naps() - before, 40);
	ck_assert_int_eq(count("sessions"), 1);
	while ((k = recv(fd, some, sizeof(some), 0)) > 0)
		got += (size_t)k;
	ck_assert_int_eq(errno, ECONNRESET);
	ck_assert_uint_eq(got, 40000);
	down_after_the_reset(&b, fd);
}
END_TEST

/* The limit is one without progress: a client that takes some each time before
 * it is reached may take longer in all. */
START_TEST(lagging_client_that_moves_gets_all)
{
	enum { PAUSE_MS = 2200, PAUSES = 3 };
	static char rest[40000];
	struct backend b;
	long long began;
	int fd = lagging_client(&b), i;

	endpoint_ask(&ctl, "half_timeout 3\n");
	for (i = 0; i < PAUSES; i++) {
		began = wait_now_ms();
		WAIT_FOR(wait_now_ms() - began > PAUSE_MS, 5000);
		endpoint_recv(fd, rest, 3000);
	}
	ck_assert_int_eq(count("sessions"), 1);
	endpoint_recv(fd, rest, sizeof(rest) - PAUSES * 3000);
	endpoint_expect_reset(fd);
	down_after_the_reset(&b, fd);
}
END_TEST

/* One that takes nothing gets its reset then. */
START_TEST(lagging_client_that_stands_still_is_reset)
{
	struct backend b;
	int fd = lagging_client(&b);

	endpoint_ask(&ctl, "half_timeout 1\n");
	WAIT_FOR(count("sessions") == 0, 5000);
	down_after_the_reset(&b, fd);
}
END_TEST

static void
expect_answer(int fd)
{
	static char answer[40000];

	endpoint_recv(fd, answer, sizeof(answer));
}

/* A reset would cut the answer off, so it is the end for one who talks on. */
START_TEST(client_that_talks_on_gets_the_end)
{
	struct backend b;
	int fd = lagging_client(&b);

	endpoint_send(fd, "more", 4);
	expect_answer(fd);
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_server_reset") == 1, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* Its own end comes while the answer is under way. */
START_TEST(client_that_ends_gets_all_of_the_answer)
{
	struct backend b;
	int fd = lagging_client(&b);

	endpoint_send(fd, "more", 4);
	shutdown(fd, SHUT_WR);
	WAIT_FOR(count("sessions") == 0, 5000);
	expect_answer(fd);
	endpoint_expect_end(fd);
	close(fd);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

static void
hear_answer_and_reset(struct backend *b, int fd)
{
	char c;

	if (recv(fd, &c, 1, 0) != 1)
		return;
	atomic_fetch_add(&b->received, 1);
	WAIT_FOR(atomic_load(&b->stopping) || saw == SAW_END, 5000);
	answer_and_reset(b, fd);
	saw = SAW_RESET;
}

/* A client that goes on, and does not close, is not the cause of the end. */
START_TEST(server_reset_is_the_reason_after_linger)
{
	struct backend b;
	int fd = lagging_client(&b);

	endpoint_ask(&ctl, "linger 200ms\n");
	endpoint_send(fd, "more", 4);
	expect_answer(fd);
	endpoint_expect_end(fd);
	WAIT_FOR(count("sessions") == 0, 10000);
	down_after_the_reset(&b, fd);
}
END_TEST

static void
answer_and_reset_when_told(struct backend *b, int fd)
{
	static const char answer[40000];

	backend_send(fd, answer, sizeof(answer));
	WAIT_FOR(atomic_load(&b->stopping) || saw == SAW_END, 5000);
	backend_reset(b, fd);
	saw = SAW_RESET;
}

/* The session has nobody left, though its bytes were not all out. */
START_TEST(both_reset_in_one_wakeup)
{
	struct backend b;
	int fd, small = 2048;

	saw = NOTHING;
	backend_start(&b, ENDPOINT_TCP4, answer_and_reset_when_told, NULL);
	up((const char *const[]){ b.at.text, NULL });
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&front.addr, front.len), 0);
	WAIT_FOR(
	    strstr(endpoint_ask(&ctl, "connections\n"), "rx 40000") != NULL,
	    5000);
	pen_freeze(&pen);
	saw = SAW_END;
	WAIT_FOR(saw == SAW_RESET, 5000);
	endpoint_reset(fd);
	pen_thaw(&pen);
	WAIT_FOR(count("sessions") == 0, 10000);
	ck_assert_int_eq(
	    count("closed_client_reset") + count("closed_server_reset"), 1);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST

/* What the client says reaches pen's kernel after the server's reset, but
 * before pen sees that. */
START_TEST(client_that_talks_at_the_reset_gets_the_end)
{
	struct backend b;
	int fd;

	saw = NOTHING;
	backend_start(&b, ENDPOINT_TCP4, hear_answer_and_reset, NULL);
	up((const char *const[]){ b.at.text, NULL });
	fd = endpoint_connect(&front);
	endpoint_send(fd, "1", 1);
	WAIT_FOR(b.received == 1, 5000);
	pen_freeze(&pen);
	saw = SAW_END;
	WAIT_FOR(saw == SAW_RESET, 5000);
	endpoint_send(fd, "more", 4);
	pen_thaw(&pen);
	expect_answer(fd);
	endpoint_expect_end(fd);
	close(fd);
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_server_reset") == 1, 5000);
	pen_down(&pen);
	backend_stop(&b);
}
END_TEST
#endif

/* A server has no room for its client, who goes on talking. */
START_TEST(busy_server_times_out_while_client_talks)
{
	long long began = wait_now_ms();
	struct endpoint busy;
	int listener, fill, fd;

	endpoint_new(&busy, ENDPOINT_UNIX);
	listener = endpoint_listen(&busy, 0);
	fill = endpoint_connect(&busy);
	up_for("1", (const char *const[]){ busy.text, NULL });
	fd = endpoint_connect(&front);
	while (send(fd, "x", 1, MSG_NOSIGNAL) == 1) {
		wait_nap();
		ck_assert_int_lt(wait_now_ms() - began, wait_scaled(8000));
	}
	WAIT_FOR(count("sessions") == 0, 5000);
	WAIT_FOR(count("closed_no_server") == 1, 5000);
	close(fd);
	close(fill);
	close(listener);
	pen_down(&pen);
}
END_TEST

/* ---- servers that accept and break off ---- */

/* A server's queue is full as pen connects, and pen does not run from then on
 * until the server has accepted, said that and reset. */
static void
accept_and_reset(int listener, const char *says)
{
	int filler, fd;

	WAIT_FOR(count("connecting") == 1, 5000);
	pen_freeze(&pen);
	filler = accept(listener, NULL, NULL);
	/* pen's kernel asks once more within a second or two */
	fd = accept(listener, NULL, NULL);
	ck_assert(filler >= 0 && fd >= 0);
	endpoint_send(fd, says, strlen(says));
	endpoint_reset(fd);
	close(filler);
	pen_thaw(&pen);
}

static void
expect_nobody_blamed(void)
{
	ck_assert(!child_has_said(&pen.child, "server blacklisted"));
	WAIT_FOR(count("closed_server_reset") == 1, 5000);
	ck_assert_int_eq(count("retries"), 0);
}

/* What the server says and its reset are the client's, and no other server's;
 * without a word only if there is no other server. */
static void
refusal(const char *client_says, const char *server_says)
{
	struct endpoint busy, other;
	int listener, fill, fd;
	char heard[16];
	size_t n = strlen(server_says);

	endpoint_new(&busy, ENDPOINT_TCP4);
	endpoint_new(&other, ENDPOINT_TCP4);
	listener = endpoint_listen(&busy, 0);
	fill = endpoint_connect(&busy);
	up((const char *const[]){ busy.text, n > 0 ? other.text : NULL, NULL });
	fd = endpoint_connect(&front);
	endpoint_send(fd, client_says, strlen(client_says));
	accept_and_reset(listener, server_says);
	endpoint_recv(fd, heard, n);
	ck_assert_mem_eq(heard, server_says, n);
	endpoint_expect_reset(fd);
	expect_nobody_blamed();
	close(fd);
	close(fill);
	close(listener);
	pen_down(&pen);
}

START_TEST(words_before_a_reset_are_passed_on)
{
	refusal("", "421 busy");
}
END_TEST

START_TEST(accept_and_reset_is_an_answer)
{
	refusal("", "");
	refusal("hello", "");
}
END_TEST

static void *
close_at_once(void *arg)
{
	int fd, listener = *(int *)arg;

	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	return NULL;
}

/* Mostly before the client's first bytes have been written. */
START_TEST(unix_server_that_closes_at_once)
{
	struct endpoint at;
	pthread_t t;
	int i, fd, listener;
	char c;

	endpoint_new(&at, ENDPOINT_UNIX);
	listener = endpoint_listen(&at, 128);
	ck_assert_int_eq(pthread_create(&t, NULL, close_at_once, &listener), 0);
	up((const char *const[]){ at.text, NULL });
	for (i = 0; i < 200; i++) {
		fd = endpoint_connect(&front);
		(void)send(fd, "hello", 5, MSG_NOSIGNAL);
		ck_assert_int_le(recv(fd, &c, 1, 0), 0);
		close(fd);
	}
	ck_assert(!child_has_said(&pen.child, "server blacklisted"));
	WAIT_FOR(count("closed_no_server") == 0, 5000);
	pen_down(&pen);
	shutdown(listener, SHUT_RDWR);
	pthread_join(t, NULL);
	close(listener);
}
END_TEST

SUITE(test_resets)
{
	Suite *s = suite_create("resets");

	SUITE_ADD(s, reset_noticed_while_bytes_are_stuck, 20);
	SUITE_ADD(s, reset_noticed_while_connecting, 20);
	SUITE_ADD(s, words_before_a_reset_while_connecting, 20);
	SUITE_ADD(s, words_of_a_client_that_resets, 60);
	SUITE_ADD(s, end_and_reset_in_one_wakeup, 20);
	SUITE_ADD(s, client_that_only_writes_gets_an_error, 40);
	SUITE_ADD(s, linger_begins_with_the_last_bytes, 30);
#ifdef SIOCOUTQ
	SUITE_ADD(s, lagging_client_is_looked_at_less_and_less, 20);
	SUITE_ADD(s, lagging_client_that_moves_gets_all, 30);
	SUITE_ADD(s, lagging_client_that_stands_still_is_reset, 20);
	SUITE_ADD(s, client_that_talks_on_gets_the_end, 20);
	SUITE_ADD(s, client_that_ends_gets_all_of_the_answer, 20);
	SUITE_ADD(s, server_reset_is_the_reason_after_linger, 20);
	SUITE_ADD(s, both_reset_in_one_wakeup, 20);
	SUITE_ADD(s, client_that_talks_at_the_reset_gets_the_end, 20);
#endif
	SUITE_ADD(s, busy_server_times_out_while_client_talks, 20);
	SUITE_ADD(s, words_before_a_reset_are_passed_on, 20);
	SUITE_ADD(s, accept_and_reset_is_an_answer, 30);
	SUITE_ADD(s, unix_server_that_closes_at_once, 20);
	return s;
}
