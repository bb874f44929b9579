/* test_sock.c: what sockets are made like, and what happens to socket files. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/dgram.h"
#include "net/sock.h"
#include "net/sock_nonlocal.h"
#include "net/sock_try.h"
#include "support/suite.h"

static const struct sock_listen_options plain = { .backlog = 8 };
static struct error e;

static struct addr
ip(const char *host, uint16_t port)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_ip(&a, host, port), 0);
	return a;
}

static struct peer
peer(const char *host)
{
	struct addr a = ip(host, 0);
	struct peer p;

	peer_from_addr(&p, &a);
	return p;
}

static struct addr
path_of(const char *path)
{
	struct addr a;

	ck_assert_int_eq(addr_parse_unix(&a, path), 0);
	return a;
}

static int
opens(const struct addr *at)
{
	int fd = sock_listen(at, &plain, NULL, &e);

	ck_assert_msg(fd >= 0, "%s", e.text);
	return fd;
}

static void
refuses(const struct addr *at, const char *why)
{
	char name[ADDR_TEXT_MAX];

	ck_assert_int_eq(sock_listen(at, &plain, NULL, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL &&
		strstr(e.text, addr_format(at, name)) != NULL,
	    "%s", e.text);
}

static bool
becomes(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 10000) == 1 && (p.revents & events) != 0;
}

static void
is_ours(int fd)
{
	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static int
option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

/* A listener, a connected client and the accepted end. */
struct trio {
	int listener, client, accepted;
	struct peer who;
};

static void
meet(struct trio *t, const struct addr *at, const struct sock_listen_options *o,
    const struct sock_connect_options *c)
{
	struct addr bound;

	t->listener = sock_listen(at, o, NULL, &e);
	ck_assert_msg(t->listener >= 0, "%s", e.text);
	is_ours(t->listener);
	ck_assert_int_eq(sock_accept(t->listener, &t->who), -1);
	ck_assert(errno == EAGAIN || errno == EWOULDBLOCK);
	ck_assert_int_eq(sock_local_addr(t->listener, &bound), 0);
	t->client = sock_connect(&bound, c);
	ck_assert_int_ge(t->client, 0);
	is_ours(t->client);
	ck_assert(becomes(t->client, POLLOUT));
	ck_assert_int_eq(sock_error(t->client), 0);
	ck_assert(becomes(t->listener, POLLIN));
	t->accepted = sock_accept(t->listener, &t->who);
	ck_assert_int_ge(t->accepted, 0);
	is_ours(t->accepted);
}

static void
part(struct trio *t)
{
	close(t->listener);
	close(t->client);
	close(t->accepted);
}

START_TEST(tcp_meets)
{
	struct sock_listen_options o = { .backlog = 8, .nodelay = true };
	struct addr at = ip("127.0.0.1", 0), own;
	struct sources from = { 2, { peer("::1"), peer("127.0.0.9") } };
	unsigned turn = 0;
	struct sock_connect_options c = { .sources = &from, .turn = &turn };
	char name[PEER_TEXT_MAX];
	struct trio t;

	meet(&t, &at, &o, &c);
	ck_assert_str_eq(peer_format_host(&t.who, name), "127.0.0.9");
	ck_assert_int_eq(sock_local_addr(t.client, &own), 0);
	ck_assert_uint_eq(addr_port(&own), t.who.port);
#ifdef IP_BIND_ADDRESS_NO_PORT
	/* the port of a given source is chosen with the other end in mind */
	ck_assert_int_ne(
	    option(t.client, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT), 0);
#endif
	ck_assert_int_ne(option(t.accepted, IPPROTO_TCP, TCP_NODELAY), 0);
	ck_assert_int_ne(option(t.accepted, SOL_SOCKET, SO_KEEPALIVE), 0);
	ck_assert_int_eq(option(t.client, SOL_SOCKET, SO_KEEPALIVE), 0);
	sock_set_keepalive(t.client, &(struct sock_keepalive){ .on = true });
	ck_assert_int_ne(option(t.client, SOL_SOCKET, SO_KEEPALIVE), 0);
	ck_assert_int_eq(option(t.client, IPPROTO_TCP, TCP_NODELAY), 0);
	sock_set_nodelay(t.client);
	ck_assert_int_ne(option(t.client, IPPROTO_TCP, TCP_NODELAY), 0);
	part(&t);
}
END_TEST

START_TEST(options_are_optional)
{
	struct addr at = ip("127.0.0.1", 0);
	/* a source of another family says nothing about this server */
	struct sources other = { 1, { peer("::1") } };
	unsigned turn = 0;
	struct sock_connect_options c = { .sources = &other, .turn = &turn };
	struct trio t;

	meet(&t, &at, &plain, &c);
	ck_assert_int_eq(option(t.accepted, IPPROTO_TCP, TCP_NODELAY), 0);
	ck_assert_int_eq(option(t.client, SOL_SOCKET, SO_KEEPALIVE), 0);
	part(&t);
}
END_TEST

/* Which servers see which clients as they are. */
START_TEST(who_may_be_seen)
{
	static const struct {
		const char *client, *server;
		bool may;
	} cases[] = {
		{ "192.0.2.1", "10.0.0.1", true },
		{ "::ffff:192.0.2.1", "10.0.0.1", true },
		{ "2001:db8::1", "fd00::1", true },
		{ "192.0.2.1", "fd00::1", false },
		{ "2001:db8::1", "10.0.0.1", false },
		{ "127.0.0.1", "10.0.0.1", false },
		{ "192.0.2.1", "127.0.0.1", false },
		{ "127.0.0.1", "127.0.0.1", true },
		{ "::1", "fd00::1", false },
		{ "10.0.0.1", "10.0.0.1", false },
		/* as a PROXY header may say; those of one link come by
		 * themselves */
		{ "0.0.0.0", "10.0.0.1", false },
		{ "0.1.2.3", "10.0.0.1", false },
		{ "224.0.0.1", "10.0.0.1", false },
		{ "255.255.255.255", "10.0.0.1", false },
		{ "::", "fd00::1", false },
		{ "ff02::1", "fd00::1", false },
		{ "fe80::1", "fd00::1", false },
		{ "fe80::1", "fe80::2", false },
	};
	struct peer unix_client = { .family = AF_UNIX }, p;
	struct addr to = ip("10.0.0.1", 80), from;
	size_t i;

	ck_assert(!sock_may_pose(&unix_client, &to));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		from = ip(cases[i].client, 5000);
		peer_from_addr(&p, &from);
		to = ip(cases[i].server, 80);
		ck_assert_msg(sock_may_pose(&p, &to) == cases[i].may, "%s %s",
		    cases[i].client, cases[i].server);
	}
	ck_assert_int_eq(addr_parse_unix(&to, "/x"), 0);
	ck_assert(!sock_may_pose(&p, &to));
}
END_TEST

/* An address that this host does not have (RFC 5737). */
START_TEST(free_addresses)
{
	struct sock_listen_options o = { .backlog = 8 };
	struct addr at = ip("192.0.2.1", 0);
	int fd;

	if (!HAVE_DECL_IP_FREEBIND && sock_try_transparent() < 0 &&
	    errno == ENOPROTOOPT)
		SKIP("this system has no freebind");
	ck_assert_int_eq(sock_try_listen(&at, false, false, &e), -1);
	ck_assert_int_eq(sock_listen(&at, &o, NULL, &e), -1);
	o.freebind = true;
	ck_assert_int_eq(sock_try_listen(&at, false, true, &e), 0);
	fd = sock_listen(&at, &o, NULL, &e);
	ck_assert_msg(fd >= 0, "%s", e.text);
	close(fd);
	at = ip("2001:db8::1", 0);
	fd = sock_listen(&at, &o, NULL, &e);
	ck_assert_msg(
	    fd >= 0 || strstr(e.text, "family") != NULL, "%s", e.text);
	close(fd);
}
END_TEST

/* What a listener is told counts for whom it accepts. */
START_TEST(tuned_sockets)
{
	struct sock_listen_options o = { .backlog = 8,
		.tuning = { .sndbuf = 30000, .rcvbuf = 20000, .rate = 5000 } };
	struct sock_tuning up = {
		.sndbuf = 10000, .rcvbuf = 40000, .rate = 7000
	};
	struct addr at = ip("127.0.0.1", 0);
	struct sock_connect_options c = { .tuning = &up };
	struct trio t;

	meet(&t, &at, &o, &c);
	/* Linux doubles them, for its own needs (socket(7)) */
	ck_assert_int_ge(option(t.accepted, SOL_SOCKET, SO_SNDBUF), 30000);
	ck_assert_int_le(option(t.accepted, SOL_SOCKET, SO_SNDBUF), 60000);
	ck_assert_int_ge(option(t.accepted, SOL_SOCKET, SO_RCVBUF), 20000);
	ck_assert_int_le(option(t.accepted, SOL_SOCKET, SO_RCVBUF), 40000);
	ck_assert_int_ge(option(t.client, SOL_SOCKET, SO_SNDBUF), 10000);
	ck_assert_int_le(option(t.client, SOL_SOCKET, SO_SNDBUF), 20000);
	ck_assert_int_ge(option(t.client, SOL_SOCKET, SO_RCVBUF), 40000);
	ck_assert_int_le(option(t.client, SOL_SOCKET, SO_RCVBUF), 80000);
#ifdef SO_MAX_PACING_RATE
	ck_assert_int_eq(
	    option(t.accepted, SOL_SOCKET, SO_MAX_PACING_RATE), 5000);
	ck_assert_int_eq(
	    option(t.client, SOL_SOCKET, SO_MAX_PACING_RATE), 7000);
#endif
	part(&t);
}
END_TEST

/* The first port of a web server is one of those. */
START_TEST(refusals_in_words)
{
	struct addr low = ip("0.0.0.0", 80), high = ip("0.0.0.0", 8080), path;
	const char *denied = strerror(EACCES);

	ck_assert_int_eq(addr_parse_unix(&path, "/run/x"), 0);
	ck_assert_ptr_nonnull(strstr(sock_bind_error(&low, EACCES),
	    "Permission denied: ports below 1024 need root"));
	ck_assert_str_eq(sock_bind_error(&high, EACCES), denied);
	ck_assert_str_eq(sock_bind_error(&path, EACCES), denied);
	ck_assert_str_eq(sock_bind_error(&low, EPERM), strerror(EPERM));
	ck_assert_str_eq(sock_bind_error(&low, EINVAL), strerror(EINVAL));
	low = ip("fe80::1", 80);
	ck_assert_ptr_nonnull(
	    strstr(sock_bind_error(&low, EINVAL), "needs its interface"));
}
END_TEST

START_TEST(tcp_refusals)
{
	struct addr at = ip("127.0.0.1", 0), bound, far = ip("192.0.2.1", 80);
	struct sources none = { 1, { peer("192.0.2.1") } };
	unsigned turn = 0;
	struct sock_connect_options c = { .sources = NULL };
	int fd = opens(&at), client;

	ck_assert_int_eq(sock_local_addr(fd, &bound), 0);
	refuses(&bound, "address already in use");
	refuses(&far, "not an address of this host");
	close(fd);
	client = sock_connect(&bound, &c);
	if (client >= 0) {
		ck_assert(becomes(client, POLLOUT));
		ck_assert_int_eq(sock_error(client), ECONNREFUSED);
		ck_assert_int_eq(sock_error(client), 0);
		close(client);
	} else {
		ck_assert_int_eq(errno, ECONNREFUSED);
	}
	c.sources = &none;
	c.turn = &turn;
	fd = dup(STDERR_FILENO);
	close(fd);
	ck_assert_int_eq(sock_connect(&bound, &c), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
	ck_assert_int_eq(dup(STDERR_FILENO), fd); /* none is left open */
	close(fd);
}
END_TEST

/* An IPv6 wildcard takes IPv4 too, unless it was told not to. */
START_TEST(wildcard_families)
{
	struct sock_listen_options only = { .backlog = 8, .v6_only = true };
	struct addr at = ip("::", 0), bound, four;
	int both, fd;

	both = sock_listen(&at, &plain, NULL, &e);
	if (both < 0)
		SKIP("no IPv6");
	ck_assert_int_eq(sock_local_addr(both, &bound), 0);
	four = ip("0.0.0.0", addr_port(&bound));
	refuses(&four, "already in use");
	close(both);
	fd = sock_listen(&bound, &only, NULL, &e);
	ck_assert_msg(fd >= 0, "%s", e.text);
	both = opens(&four);
	close(both);
	close(fd);
}
END_TEST

START_TEST(unix_meets)
{
	struct sock_listen_options o = { .backlog = 8, .unix_mode = 0620 };
	struct addr at = path_of(scratch("s"));
	struct sock_connect_options c = { .sources = NULL };
	struct stat st;
	struct trio t;

	meet(&t, &at, &o, &c);
	ck_assert_int_eq(t.who.family, AF_UNIX);
	ck_assert_int_eq(lstat(at.u.un.sun_path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0620);
	sock_set_nodelay(t.client);
	part(&t);
}
END_TEST

/* Nobody listens at a file that was left behind; somebody may at another. */
START_TEST(stale_socket_is_taken_over)
{
	struct addr at = path_of(scratch("s"));
	int fd = opens(&at);

	refuses(&at, "already in use");
	close(fd);
	ck_assert_int_eq(access(at.u.un.sun_path, F_OK), 0);
	fd = opens(&at);
	refuses(&at, "already in use");
	close(fd);
}
END_TEST

START_TEST(files_are_left_alone)
{
	const char *file = scratch("file"), *link_ = scratch("link");
	struct addr at = path_of(file), through = path_of(link_);
	struct sock_file mark;

	write_file(file, "precious");
	ck_assert_int_eq(symlink(file, link_), 0);
	refuses(&at, "exists and is not a socket");
	refuses(&through, "exists and is not a socket");
	sock_file_mark(&mark, &at);
	ck_assert_uint_eq(mark.inode, 0);
	sock_file_remove(&mark, &at);
	ck_assert_str_eq(contents(file), "precious");
	ck_assert_int_eq(access(link_, F_OK), 0);
	at = path_of(scratch("no/such/directory"));
	refuses(&at, "No such file");
}
END_TEST

/* Only the file that the listener made is removed, not its successor's. */
START_TEST(own_file_is_removed)
{
	struct addr at = path_of(scratch("s")), other = path_of(scratch("o"));
	struct sock_file mark, successor;
	int fd = opens(&at), next;

	sock_file_mark(&mark, &at);
	ck_assert_uint_ne(mark.inode, 0);
	/* the old file keeps its inode busy under another name */
	ck_assert_int_eq(rename(at.u.un.sun_path, other.u.un.sun_path), 0);
	next = opens(&at);
	sock_file_mark(&successor, &at);
	sock_file_remove(&mark, &at);
	ck_assert_int_eq(access(at.u.un.sun_path, F_OK), 0);
	sock_file_remove(&successor, &at);
	ck_assert_int_eq(access(at.u.un.sun_path, F_OK), -1);
	sock_file_remove(&successor, &at);
	ck_assert_int_eq(access(other.u.un.sun_path, F_OK), 0);
	close(fd);
	close(next);
}
END_TEST

#ifdef __linux__
START_TEST(abstract_names)
{
	struct addr at = path_of(text("@pen-test-%ld", (long)getpid()));
	struct sock_connect_options c = { .sources = NULL };
	struct sock_file mark;
	struct trio t;

	meet(&t, &at, &plain, &c);
	refuses(&at, "already in use");
	sock_file_mark(&mark, &at);
	ck_assert_uint_eq(mark.inode, 0);
	sock_file_remove(&mark, &at);
	part(&t);
	close(opens(&at));
}
END_TEST
#endif

/* A full queue of a Unix listener is worth another try. */
START_TEST(full_unix_queue)
{
	struct sock_listen_options o = { .backlog = 1 };
	struct addr at = path_of(scratch("s"));
	struct sock_connect_options c = { .sources = NULL };
	int fd = sock_listen(&at, &o, NULL, &e), queued[16], n = 0;

	ck_assert_int_ge(fd, 0);
	while (n < 16 && (queued[n] = sock_connect(&at, &c)) >= 0)
		n++;
	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, 16);
	ck_assert_int_eq(errno, EAGAIN);
	while (n > 0)
		close(queued[--n]);
	close(fd);
}
END_TEST

START_TEST(reset_and_unsent)
{
	struct addr at = ip("127.0.0.1", 0);
	struct sock_connect_options c = { .sources = NULL };
	static char bytes[1 << 16];
	struct trio t;

	meet(&t, &at, &plain, &c);
	ck_assert_uint_eq(sock_unsent(t.client), 0);
	while (sock_send(t.client, bytes, sizeof(bytes), false) > 0)
		continue;
	ck_assert_int_eq(errno, EAGAIN);
#ifdef __linux__
	ck_assert_uint_gt(sock_unsent(t.client), 0);
#endif
	while (sock_send(t.accepted, bytes, sizeof(bytes), false) > 0)
		continue;
	sock_close_reset(t.client);
	ck_assert(becomes(t.accepted, POLLERR | POLLHUP));
	/* none of it will ever be */
	ck_assert_uint_eq(sock_unsent(t.accepted), 0);
	while (read(t.accepted, bytes, sizeof(bytes)) > 0)
		continue;
	ck_assert_int_eq(errno, ECONNRESET);
	/* and no signal on what is dead */
	ck_assert_int_eq(sock_send(t.accepted, "x", 1, false), -1);
	ck_assert_int_eq(errno, EPIPE);
	close(t.accepted);
	close(t.listener);
	ck_assert_uint_eq(sock_unsent(-1), 0);
}
END_TEST

#ifdef SO_PEERNAME
/* Logs name it when all is over. */
START_TEST(peer_that_has_gone)
{
	struct addr at = ip(_i == 0 ? "127.0.0.1" : "::1", 0), is, was;
	struct sock_connect_options c = { .sources = NULL };
	struct trio t;

	meet(&t, &at, &plain, &c);
	ck_assert_int_eq(sock_peer_addr(t.client, &is), 0);
	ck_assert_int_eq(sock_local_addr(t.listener, &at), 0);
	ck_assert(addr_equal(&is, &at));
	sock_close_reset(t.accepted);
	ck_assert(becomes(t.client, POLLERR | POLLHUP));
	ck_assert_int_eq(sock_peer_addr(t.client, &was), 0);
	ck_assert(addr_equal(&was, &at));
	close(t.client);
	ck_assert_int_eq(sock_peer_addr(t.listener, &was), -1);
	close(t.listener);
}
END_TEST
#endif

/* "more" may wait for its end, but no longer. */
START_TEST(more_is_not_lost)
{
	struct addr at = ip("127.0.0.1", 0);
	struct sock_connect_options c = { .sources = NULL };
	struct trio t;
	char bytes[8];

	meet(&t, &at, &plain, &c);
	ck_assert_int_eq(sock_send(t.client, "last", 4, true), 4);
	ck_assert_int_eq(shutdown(t.client, SHUT_WR), 0);
	ck_assert(becomes(t.accepted, POLLIN));
	ck_assert_uint_eq(sock_unread(t.accepted), 4);
	ck_assert_int_eq(read(t.accepted, bytes, sizeof(bytes)), 4);
	ck_assert(becomes(t.accepted, POLLIN));
	ck_assert(sock_has_input(t.accepted));
	ck_assert_uint_eq(sock_unread(t.accepted), 0);
	ck_assert_int_eq(read(t.accepted, bytes, sizeof(bytes)), 0);
	part(&t);
}
END_TEST

#ifdef TCP_USER_TIMEOUT

static void
expect_accepted_with(int listener, const struct sock_listen_options *o)
{
	struct sock_connect_options c = { .sources = NULL };
	struct addr at;
	struct peer who;
	int near, far;

	ck_assert_int_eq(sock_local_addr(listener, &at), 0);
	near = sock_connect(&at, &c);
	ck_assert_int_ge(near, 0);
	ck_assert(becomes(listener, POLLIN));
	far = sock_accept(listener, &who);
	ck_assert_int_ge(far, 0);
	ck_assert_int_eq(option(far, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(
	    option(far, IPPROTO_TCP, TCP_KEEPIDLE), (int)o->keepalive.idle_s);
	ck_assert_int_eq(option(far, IPPROTO_TCP, TCP_KEEPINTVL),
	    (int)o->keepalive.interval_s);
	ck_assert_int_eq(
	    option(far, IPPROTO_TCP, TCP_KEEPCNT), (int)o->keepalive.count);
	ck_assert_int_eq(option(far, IPPROTO_TCP, TCP_USER_TIMEOUT),
	    (int)o->keepalive.user_ms);
	ck_assert_int_eq(option(far, IPPROTO_TCP, TCP_NODELAY), o->nodelay);
	close(near);
	close(far);
}

/* What a listener is set to, at its start or later, costs no call for each
 * connection. Towards clients keep-alive is always on. */
START_TEST(accepted_sockets_inherit)
{
	struct sock_listen_options o = { .backlog = 8,
		.nodelay = true,
		.keepalive = { false, 7, 3, 2, 9000 } };
	struct addr at = ip("127.0.0.1", 0);
	int fd = sock_listen(&at, &o, NULL, &e);

	ck_assert_msg(fd >= 0, "%s", e.text);
	expect_accepted_with(fd, &o);
	o.nodelay = false;
	o.keepalive = (struct sock_keepalive){ true, 70, 30, 20, 0 };
	sock_tune_listener(fd, &o);
	expect_accepted_with(fd, &o);
	close(fd);
}
END_TEST

#endif

/* Tells by its exit status whether it got the path; holds it until `go` is
 * closed. */
static void
compete(const struct addr *at, int ready, int go, int told)
{
	struct error mine;
	char byte = 'n';
	int fd;

	if (read(ready, &(char){ 0 }, 1) != 0) /* the end: all are there */
		_exit(1);
	fd = sock_listen(at, &plain, NULL, &mine);
	if (fd >= 0)
		byte = 'y';
	_exit(write(told, &byte, 1) != 1 || read(go, &(char){ 0 }, 1) != 0);
}

/* Of several who find a dead socket at the same time one gets the path, and is
 * whom clients reach. */
START_TEST(one_takes_over)
{
	enum { SEVERAL = 4 };
	int rounds = suite_rounds(100);
	struct addr at = path_of(scratch("contested"));
	int round, i, ready[2], go[2], told[2], got, fd;
	char byte;

	for (round = 0; round < rounds; round++) {
		ck_assert_int_ge(fd = sock_listen(&at, &plain, NULL, &e), 0);
		close(fd); /* and the file stays */
		ck_assert_int_eq(pipe(ready) | pipe(go) | pipe(told), 0);
		for (i = 0; i < SEVERAL; i++)
			if (fork() == 0) {
				close(ready[1]);
				close(go[1]);
				compete(&at, ready[0], go[0], told[1]);
			}
		close(ready[1]);
		for (got = i = 0; i < SEVERAL; i++) {
			ck_assert_int_eq(read(told[0], &byte, 1), 1);
			got += byte == 'y';
		}
		fd = sock_connect(&at, &(struct sock_connect_options){ 0 });
		ck_assert_int_ge(fd, 0);
		close(fd);
		ck_assert_int_eq(got, 1);
		close(go[1]);
		while (wait(NULL) > 0)
			;
		close(ready[0]);
		close(go[0]);
		close(told[0]);
		close(told[1]);
	}
}
END_TEST

START_TEST(pipes_and_limits)
{
	struct rlimit r;
	size_t limit;
	int fd[2];
	char byte;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	r.rlim_cur = r.rlim_max < 64 ? r.rlim_max : 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &r), 0);
	limit = sock_raise_fd_limit(SIZE_MAX);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
	ck_assert_uint_eq(r.rlim_cur, r.rlim_max);
	if (r.rlim_max != RLIM_INFINITY)
		ck_assert_uint_eq(limit, r.rlim_max);
	if (r.rlim_max > 40) {
		ck_assert_uint_eq(sock_raise_fd_limit(40), 40);
		ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &r), 0);
		ck_assert_uint_eq(r.rlim_cur, 40);
	}
	/* a size the kernel refuses still gives a pipe */
	ck_assert_int_eq(sock_pipe(fd, (size_t)1 << 30), 0);
	is_ours(fd[0]);
	is_ours(fd[1]);
	ck_assert_int_eq(read(fd[0], &byte, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_eq(read(fd[0], &byte, 1), 1);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

#ifdef F_GETPIPE_SZ

/* 0: the kernel had enough in the end, and none before was small; else how it
 * went wrong. */
static int
make_pipes_as(uid_t user)
{
	enum { MOST = 2000 };
	int fd[2], i;

	(void)sock_raise_fd_limit(SIZE_MAX);
	if (setgid(user) < 0 || setuid(user) < 0)
		return 77;
	for (i = 0; i < MOST; i++) {
		if (sock_pipe(fd, 256 * 1024) < 0)
			return errno == EPERM || errno == EMFILE ? 0 : 2;
		if (fcntl(fd[1], F_GETPIPE_SZ) < SOCK_PIPE_MIN)
			return 1;
	}
	return 0;
}

/* A user other than root who has many pipes is given tiny ones, in which a long
 * flow crawls: none is better. */
START_TEST(no_tiny_pipes)
{
	pid_t pid;
	int status;

	if (getuid() != 0)
		SKIP("only root can be a user who has no pipes yet");
	pid = fork();
	if (pid == 0) /* that nobody else is */
		_exit(make_pipes_as(100000 + (uid_t)getpid() % 50000));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		SKIP("this root may be no other user");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

#endif

#ifdef CLONE_NEWNET

enum { FIRST_PORT = 30000, LAST_PORT = 30003 };

/* Enters a network of our own, whose system chooses from these ports only. */
static bool
has_network_with(int first, int last)
{
	const char *range = text("%d %d", first, last);
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	close(fd);
	fd = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY);
	if (fd < 0)
		return false;
	if (write(fd, range, strlen(range)) < 0)
		range = NULL;
	close(fd);
	return range != NULL;
}

/* All local ports of an address are taken, in a network of our own: connections
 * may still come from it, as their ports may be shared, and a further source,
 * which is what the operator sets then, must not be refused because of the
 * first one. */
START_TEST(a_source_whose_ports_are_taken)
{
	struct addr at = ip("127.0.0.1", 0);
	unsigned i;
	int fd;

	if (!has_network_with(FIRST_PORT, LAST_PORT))
		SKIP("no network of our own here, or no right to its ports");
	for (i = 0; i < 4; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		ck_assert_int_eq(bind(fd, &at.u.sa, at.len), 0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fd, &at.u.sa, at.len), -1);
	ck_assert_int_eq(errno, EADDRINUSE);
	ck_assert_int_eq(sock_try_source(&at), 0);
	/* another machine's address is none */
	at = ip("192.0.2.1", 0);
	ck_assert_int_eq(sock_try_source(&at), -1);
	ck_assert_int_eq(errno, EADDRNOTAVAIL);
}
END_TEST

static bool
is_joined_to_itself(int fd)
{
	struct addr near, far;

	return sock_local_addr(fd, &near) == 0 &&
	    sock_peer_addr(fd, &far) == 0 && addr_equal(&near, &far);
}

/* Also of one that is only being made. */
static void
expect_another(int fd, int *refused)
{
	if (fd >= 0) {
		ck_assert(!is_joined_to_itself(fd));
		close(fd);
	} else {
		ck_assert_int_eq(errno, ECONNREFUSED);
		++*refused;
	}
}

/* Nothing listens at a port that the system gives out: sooner or later a socket
 * that connects to it gets it as its own port, and what it sends comes back. */
START_TEST(never_to_itself)
{
	static const char *const hosts[] = { "127.0.0.1", "::1", "0.0.0.0" };
	struct sock_connect_options o = { .sources = NULL };
	int fd, i, tcp = 0, udp = 0, lines = 0;

	if (!has_network_with(FIRST_PORT, LAST_PORT))
		SKIP("no network of our own here, or no right to its ports");
	for (i = 0; i < 300; i++) {
		struct addr to = ip(hosts[i % 3], (uint16_t)(30000 + i % 4));

		o.near_ports = i < 150 ? 0 : 30000;
		expect_another(sock_connect(&to, &o), &tcp);
		expect_another(dgram_connect(&to, NULL), &udp);
		expect_another(sock_connect_datagram(&to), &lines);
	}
	ck_assert_int_gt(tcp, 0);
	ck_assert_int_gt(udp, 0);
	ck_assert_int_gt(lines, 0);
	/* the server can begin: no port is left in TIME_WAIT */
	for (i = 0; i < 4; i++) {
		struct addr at = ip("127.0.0.1", (uint16_t)(30000 + i));

		fd = socket(AF_INET, SOCK_STREAM, 0);
		ck_assert_int_eq(bind(fd, &at.u.sa, at.len), 0);
	}
}
END_TEST

static void
give_loopback(int fd, const char *alias, const char *host)
{
	struct ifreq lo;
	struct addr a = ip(host, 0);

	memset(&lo, 0, sizeof(lo));
	snprintf(lo.ifr_name, sizeof(lo.ifr_name), "%s", alias);
	memcpy(&lo.ifr_addr, &a.u.in, sizeof(a.u.in));
	ck_assert_int_eq(ioctl(fd, SIOCSIFADDR, &lo), 0);
}

/* Also the second address of a network, whatever may be bound. */
START_TEST(local_addresses)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct addr second = ip("10.9.0.2", 80), other = ip("192.0.2.1", 80),
		    group = ip("224.0.0.5", 80);
	int fd, i;

	if (unshare(CLONE_NEWNET) < 0)
		SKIP("no network of our own here");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ck_assert_int_eq(ioctl(fd, SIOCSIFFLAGS, &lo), 0);
	give_loopback(fd, "lo:1", "10.9.0.1");
	give_loopback(fd, "lo:2", "10.9.0.2");
	for (i = 0; i < 2; i++) {
		ck_assert(sock_is_local(&second));
		ck_assert(!sock_is_local(&other));
		ck_assert(!sock_is_local(&group));
		fd = open("/proc/sys/net/ipv4/ip_nonlocal_bind", O_WRONLY);
		if (fd < 0 || write(fd, "1", 1) < 0)
			break;
	}
}
END_TEST

#endif

SUITE(test_sock)
{
	Suite *s = suite_create("sock");

	SUITE_ADD(s, tcp_meets, 20);
	SUITE_ADD(s, options_are_optional, 20);
	SUITE_ADD(s, tuned_sockets, 10);
	SUITE_ADD(s, refusals_in_words, 20);
	SUITE_ADD(s, tcp_refusals, 20);
	SUITE_ADD(s, wildcard_families, 20);
	SUITE_ADD(s, who_may_be_seen, 20);
	SUITE_ADD(s, free_addresses, 20);
	SUITE_ADD(s, unix_meets, 20);
	SUITE_ADD(s, stale_socket_is_taken_over, 20);
	SUITE_ADD(s, files_are_left_alone, 20);
	SUITE_ADD(s, own_file_is_removed, 20);
#ifdef __linux__
	SUITE_ADD(s, abstract_names, 20);
#endif
	SUITE_ADD(s, full_unix_queue, 20);
#ifdef SO_PEERNAME
	SUITE_ADD_LOOP(s, peer_that_has_gone, 20, 2);
#endif
	SUITE_ADD(s, reset_and_unsent, 20);
	SUITE_ADD(s, more_is_not_lost, 20);
#ifdef TCP_USER_TIMEOUT
	SUITE_ADD(s, accepted_sockets_inherit, 20);
#endif
	SUITE_ADD(s, one_takes_over, 30);
	SUITE_ADD(s, pipes_and_limits, 20);
#ifdef F_GETPIPE_SZ
	SUITE_ADD(s, no_tiny_pipes, 20);
#endif
#ifdef CLONE_NEWNET
	SUITE_ADD(s, a_source_whose_ports_are_taken, 10);
	SUITE_ADD(s, never_to_itself, 20);
	SUITE_ADD(s, local_addresses, 10);
#endif
	return s;
}
