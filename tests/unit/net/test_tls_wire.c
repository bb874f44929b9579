/* test_tls_wire.c: what TLS receives of its socket. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/sock.h"
#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"
#include "tls/tls_private.h"
#include "tls/tls_psk.h"

/* What the far side sends. */
enum { AMOUNT = 2 * TLS_IN_MAX };

/* near --TCP-- cable -- test -- plug --socketpair-- far
 *
 * The test carries the bytes, so that it can make any of them urgent. */
static struct loop *loop;
static struct tls_memory *memory;
static struct tls_psk *key;
static struct stream near, far;
static int cable, plug, server;
static char sent[AMOUNT], got[2 * AMOUNT], wire[2 * AMOUNT];

static void
make_key(void)
{
	char path[] = "/tmp/test_tls_wire.XXXXXX";
	int fd = mkstemp(path);
	struct error e;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "0123456789abcdef0123456789abcdef", 32), 32);
	close(fd);
	memory = tls_memory_new();
	key = tls_psk_new(path, memory, &e);
	unlink(path);
	ck_assert_msg(key != NULL, "%s", e.text);
}

static void
open_near(void)
{
	struct sock_connect_options o = { .sources = NULL };
	struct endpoint endpoint;
	struct addr at;
	int fd, size = 2 * AMOUNT;

	endpoint_new(&endpoint, ENDPOINT_TCP4);
	server = endpoint_listen(&endpoint, 4);
	at.len = endpoint.len;
	memcpy(&at.u, &endpoint.addr, endpoint.len);
	fd = sock_connect(&at, &o);
	ck_assert_int_eq(
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
	cable = accept(server, NULL, NULL);
	stream_open_plain(&near, fd, true);
	ck_assert_int_eq(tls_psk_open(&near, key, true), 0);
}

static void
open_far(void)
{
	int fd[2];

	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	plug = fd[1];
	stream_open_plain(&far, fd[0], true);
	ck_assert_int_eq(tls_psk_open(&far, key, false), 0);
}

/* Carries what is there; returns the bytes. */
static size_t
carry(int from, int to)
{
	ssize_t n = recv(from, wire, sizeof(wire), MSG_DONTWAIT);

	if (n <= 0)
		return 0;
	endpoint_send(to, wire, (size_t)n);
	return (size_t)n;
}

static bool
shakes_hands(void)
{
	enum tls_step a, b;

	near.flags |= STREAM_READABLE;
	far.flags |= STREAM_READABLE;
	a = tls_handshake(&near);
	carry(cable, plug);
	b = tls_handshake(&far);
	carry(plug, cable);
	ck_assert_int_ne(a, TLS_FAILED);
	ck_assert_int_ne(b, TLS_FAILED);
	return a == TLS_DONE && b == TLS_DONE;
}

static void
begin(void)
{
	struct error e;

	loop = loop_new(NULL, &e);
	make_key();
	open_near();
	open_far();
	WAIT_FOR(shakes_hands(), 5000);
}

static void
end(void)
{
	stream_close(loop, &near, false);
	stream_close(loop, &far, false);
	close(cable);
	close(plug);
	close(server);
	tls_psk_free(key);
	tls_memory_free(memory);
	loop_free(loop);
}

/* All that is on the wire for AMOUNT bytes, and the end behind them. */
static size_t
make_records(void)
{
	size_t done, i, n = 0;
	ssize_t rc;

	for (i = 0; i < AMOUNT; i++)
		sent[i] = (char)(i * 7 + i / 251);
	for (done = 0; done < AMOUNT; done += (size_t)rc) {
		rc = stream_write(&far, sent + done, AMOUNT - done, false);
		ck_assert_int_gt(rc, 0);
		ck_assert(!stream_is_unsent(&far));
		n += (size_t)read(plug, wire + n, sizeof(wire) - n);
	}
	stream_shutdown(&far);
	while ((rc = read(plug, wire + n, sizeof(wire) - n)) > 0)
		n += (size_t)rc;
	return n;
}

/* An event has reported `at` bytes. Before they are read, urgent data comes:
 * the byte behind them. The read that takes them all ends there, and the next
 * one is made before the event for the urgent byte. */
static void
urgent_at(size_t at, size_t room)
{
	size_t n, total = 0;
	ssize_t rc;

	begin();
	n = make_records();
	ck_assert_uint_gt(n, at + 1);
	endpoint_send(cable, wire, at);
	ck_assert_int_eq(send(cable, wire + at, 1, MSG_OOB), 1);
	endpoint_send(cable, wire + at + 1, n - at - 1);
	shutdown(cable, SHUT_WR);
	WAIT_FOR(sock_has_ended(near.fd), 5000);
	near.flags |= STREAM_READABLE | STREAM_FIN;
	while ((rc = stream_read(&near, got + total, room)) > 0)
		total += (size_t)rc;
	ck_assert_msg(rc == 0, "%s, %s", strerror(errno), tls_error(&near));
	ck_assert_uint_eq(total, AMOUNT);
	ck_assert_mem_eq(got, sent, AMOUNT);
	end();
}

START_TEST(urgent_byte_behind_a_full_read)
{
	urgent_at(TLS_IN_MAX, TLS_IN_MAX);
}
END_TEST

/* Where a record is received at a time. */
START_TEST(urgent_byte_behind_a_record)
{
	urgent_at(TLS_RECORD_MAX, 1);
	urgent_at(2 * TLS_RECORD_MAX, 1000);
}
END_TEST

SUITE(test_tls_wire)
{
	Suite *suite = suite_create("tls_wire");

	SUITE_ADD(suite, urgent_byte_behind_a_full_read, 20);
	SUITE_ADD(suite, urgent_byte_behind_a_record, 20);
	return suite;
}
