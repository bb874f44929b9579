/* dsrnet.c: sockets of servers and their clients, around a director. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/dsrnet.h"
#include "support/pattern.h"
#include "support/suite.h"
#include "support/wait.h"

enum { DATAGRAM = 65536, PIECE = 65536 };

void
dsrnet_open(
    struct dsrnet *n, struct net_fixture *fixture, const char *vip, int type)
{
	const char *option = n->option;
	unsigned i;

	memset(n, 0, sizeof(*n));
	n->option = option;
	n->fixture = fixture;
	n->vip = vip;
	n->type = type;
	for (i = 0; i < fixture->is.servers; i++)
		n->at[i] = net_fixture_listen(
		    fixture, NET_FIXTURE_SERVER + i, type, vip, DSRNET_PORT);
}

void
dsrnet_begin(
    struct dsrnet *n, struct net_fixture *fixture, const char *vip, int type)
{
	bool v6 = strchr(vip, ':') != NULL;
	const char *where = v6 ? text("[%s]:0", vip) : text("%s:0", vip);
	const char *w[NET_FIXTURE_SERVERS + 2] = { NULL };
	unsigned i, used = 0;

	dsrnet_open(n, fixture, vip, type);
	if (n->option != NULL)
		w[used++] = n->option;
	w[used++] = where;
	for (i = 0; i < fixture->is.servers; i++)
		w[used++] =
		    v6 ? net_fixture_server6(i) : net_fixture_server4(i);
	/* The first NULL ends the words. */
	dsrpen_up(&n->pen, fixture, NET_FIXTURE_DIRECTOR, vip,
	    type == SOCK_DGRAM ? "-rU" : "-r", w[0], w[1], w[2], w[3], w[4],
	    w[5], NULL);
}

void
dsrnet_end(struct dsrnet *n)
{
	unsigned i;

	dsrpen_down(&n->pen);
	for (i = 0; i < n->fixture->is.servers; i++)
		close(n->at[i]);
	net_fixture_down(n->fixture);
}

int
dsrnet_dial(const struct dsrnet *n)
{
	return net_fixture_dial(
	    n->fixture, NET_FIXTURE_CLIENT, n->type, n->vip, DSRNET_PORT);
}

static unsigned
who_has_got(const struct dsrnet *n)
{
	unsigned i = 0;

	while (i < n->fixture->is.servers && !net_fixture_is_readable(n->at[i]))
		i++;
	return i;
}

unsigned
dsrnet_wait(const struct dsrnet *n)
{
	WAIT_FOR(who_has_got(n) < n->fixture->is.servers, 10000);
	return who_has_got(n);
}

unsigned
dsrnet_connect(const struct dsrnet *n, int *near, int *far)
{
	unsigned i;

	*near = dsrnet_dial(n);
	WAIT_FOR(net_fixture_is_connected(*near), 10000);
	i = dsrnet_wait(n);
	*far = accept4(n->at[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ck_assert_int_ge(*far, 0);
	return i;
}

void
dsrnet_pass(int from, int to, size_t bytes)
{
	static char piece[PIECE];
	size_t sent = 0, got = 0, k;
	long long end = wait_now_ms() + wait_scaled(30000);
	ssize_t n = 0;

	while (got < bytes) {
		k = bytes - sent < PIECE ? bytes - sent : PIECE;
		if (k > 0) {
			pattern_fill(1, sent, piece, k);
			n = send(from, piece, k, 0);
			sent += n > 0 ? (size_t)n : 0;
		}
		n = recv(to, piece, PIECE, 0);
		if (n > 0) {
			pattern_check(1, got, piece, (size_t)n);
			got += (size_t)n;
			continue;
		}
		if (n == 0 || errno != EAGAIN || wait_now_ms() > end)
			ck_abort_msg("%zu of %zu bytes arrived: %s", got, bytes,
			    n == 0 ? "the end" : strerror(errno));
		wait_nap();
	}
}

/* A busy machine may lose a datagram, or a piece of one: one in a test. */
static unsigned
ask_again(const struct dsrnet *n, int near, const void *bytes, size_t size)
{
	static bool lost;
	long long end = wait_now_ms() + wait_scaled(5000);

	ck_assert_int_eq(send(near, bytes, size, 0), (int)size);
	while (!lost && who_has_got(n) == n->fixture->is.servers) {
		if (wait_now_ms() > end) {
			lost = true;
			ck_assert_int_eq(
			    send(near, bytes, size, 0), (int)size);
		}
		wait_nap();
	}
	return dsrnet_wait(n);
}

unsigned
dsrnet_echo(const struct dsrnet *n, int near, size_t ask, size_t answer)
{
	static char bytes[DATAGRAM];
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	unsigned i;

	pattern_fill(2, 0, bytes, ask);
	i = ask_again(n, near, bytes, ask);
	ck_assert_int_eq(recvfrom(n->at[i], bytes, DATAGRAM, 0,
			     (struct sockaddr *)&from, &len),
	    (int)ask);
	pattern_check(2, 0, bytes, ask);
	pattern_fill(3, 0, bytes, answer);
	ck_assert_int_eq(
	    sendto(n->at[i], bytes, answer, 0, (struct sockaddr *)&from, len),
	    (int)answer);
	/* A connected socket hears nobody but the VIP. */
	WAIT_FOR(net_fixture_is_readable(near), 10000);
	ck_assert_int_eq(recv(near, bytes, DATAGRAM, 0), (int)answer);
	pattern_check(3, 0, bytes, answer);
	return i;
}
