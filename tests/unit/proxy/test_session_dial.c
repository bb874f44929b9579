/* test_session_dial.c: what a server sees of how its connection begins. */
#include "config.h"

#include <check.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/tcp.h>
#include <netinet/in.h>
#endif

#include "base/shortcuts.h"
#include "net/sock.h"
#include "support/fixture.h"
#include "support/suite.h"

#ifdef TCP_QUICKACK

/* A busy machine may be late some times, but not always. */
enum { TRIES = 20, LATE_MS = 30 };

static atomic_int segments, quick;

static int
segments_of(int fd)
{
	struct tcp_info info;
	socklen_t n = sizeof(info);

	memset(&info, 0, sizeof(info));
	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n);
	return (int)info.tcpi_segs_in;
}

/* Reads once, answers in a piece whose ACK is waited for, as Nagle's delay
 * would, and in another one. */
static void
answers_in_two(struct backend *b, int fd)
{
	char bytes[16];
	long long began;

	if (b->arg == NULL && recv(fd, bytes, sizeof(bytes), 0) <= 0)
		return;
	atomic_store(&segments, segments_of(fd));
	began = wait_now_ms();
	if (!backend_send(fd, "1", 1))
		return;
	while (sock_unsent(fd) > 0 && wait_now_ms() - began < 1000)
		wait_nap();
	if (wait_now_ms() - began < LATE_MS)
		atomic_fetch_add(&quick, 1);
	(void)backend_send(fd, "2", 1);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		; /* unread bytes would make the end a reset */
}

static void
ends(int fd)
{
	char byte;

	RUN_UNTIL(fixture_tells(fd));
	ck_assert_int_eq(recv(fd, &byte, 1, 0), 1);
	RUN_UNTIL(fixture_tells(fd));
	close(fd);
	RUN_UNTIL(fixture_stats()->sessions == 0);
}

/* What the client says at first is there when it is accepted. */
static void
begins(void)
{
	int fd = endpoint_connect(&fixture.front);

	endpoint_send(fd, "hello", 5);
	ends(fd);
}

/* From the second client on the server gets no ACK without data; what it
 * answers is acknowledged at once all the same. */
START_TEST(ack_goes_with_first_bytes)
{
	int i, first;

	if (!SHORTCUT_EARLY_SEND || !SHORTCUT_ACK_WITH_BYTES)
		SKIP("built without shortcuts");
	fixture_begin();
	fixture_with(answers_in_two, NULL);
	begins();
	first = atomic_load(&segments);
	for (i = 0; i < TRIES && atomic_load(&segments) == first; i++)
		begins();
	ck_assert_int_eq(first, 3); /* SYN, ACK, bytes */
	ck_assert(atomic_load(&segments) == 2);
	atomic_store(&quick, 0);
	for (i = 0; i < TRIES && atomic_load(&quick) == 0; i++)
		begins();
	ck_assert(atomic_load(&quick) == 1);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

/* A client of a server that begins, after those of one that does not: the
 * handshake does not wait for it. */
START_TEST(ack_waits_for_nobody)
{
	long long took = LLONG_MAX, began;
	int i, fd;

	fixture_begin();
	fixture_with(answers_in_two, "begins");
	for (i = 0; i < 5 && took >= 100; i++) {
		begins();
		began = wait_now_ms();
		fd = endpoint_connect(&fixture.front);
		RUN_UNTIL(fixture_tells(fd));
		took = wait_now_ms() - began;
		ends(fd);
	}
	ck_assert_int_lt(took, 100);
	fixture_end();
	backend_stop(&fixture.backend);
}
END_TEST

#endif

SUITE(test_session_dial)
{
	Suite *s = suite_create("session_dial");

#ifdef TCP_QUICKACK
	SUITE_ADD(s, ack_goes_with_first_bytes, 60);
	SUITE_ADD(s, ack_waits_for_nobody, 30);
#endif
	return s;
}
