/* udp.c: blocking sockets with deadlines. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/suite.h"
#include "support/udp.h"
#include "support/wait.h"

enum { DATAGRAM = 65536 };

static int
open_at(struct endpoint *s)
{
	int fd = socket(s->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_msg(bind(fd, (struct sockaddr *)&s->addr, s->len) == 0,
	    "bind %s: %s", s->text, strerror(errno));
	return fd;
}

/* The first port that the kernel may give to a socket that names none. */
static int
kernels_first_port(void)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");
	int first = 0;

	if (f != NULL) {
		(void)!fscanf(f, "%d", &first);
		fclose(f);
	}
	return first > 8192 ? first : 32768;
}

/* A port below those, another one at each call: a port that the kernel has just
 * given and got back is soon the one of another test's client, and clients of
 * datagrams take theirs of all addresses of this machine. */
static int
next_port(void)
{
	enum { FIRST = 1024, OF_A_PROCESS = 37 };
	static unsigned count;
	unsigned n = (unsigned)getpid() * OF_A_PROCESS + count++;

	return FIRST + (int)(n % (unsigned)(kernels_first_port() - FIRST));
}

static bool
is_free(const struct endpoint *s, int type)
{
	int fd = socket(s->addr.ss_family, type, 0);
	bool is;

	ck_assert_int_ge(fd, 0);
	is = bind(fd, (const struct sockaddr *)&s->addr, s->len) == 0;
	close(fd);
	return is;
}

void
udp_endpoint(struct endpoint *s, enum endpoint_kind kind)
{
	unsigned pid = (unsigned)getpid();
	struct endpoint any = { .port = 0 };
	const char *host = kind == ENDPOINT_TCP6
	    ? "::1"
	    : text("127.%u.%u.%u", 1 + pid / 62500 % 250,
		  pid / 250 % 250, 1 + pid % 250);

	if (kind != ENDPOINT_TCP4 && kind != ENDPOINT_TCP6) {
		endpoint_new(s, kind);
		return;
	}
	do {
		any.port = next_port();
		endpoint_at_host(s, &any, host);
	} while (!is_free(s, SOCK_DGRAM) || !is_free(s, SOCK_STREAM));
}

const char *
udp_host(const struct endpoint *s)
{
	return text("%.*s", (int)strcspn(s->text, ":"), s->text);
}

/* ---- servers ---- */

static void
answer(struct udp_server *u, char *bytes, size_t name, ssize_t n,
    const struct sockaddr_storage *from, socklen_t len)
{
	int i,
	    times = u->replies >= 0 ? u->replies
	    : n > 0		    ? bytes[name] - '0'
				    : 0;

	atomic_fetch_add(&u->received, 1);
	for (i = 0; i < times; i++)
		(void)!sendto(u->fd, bytes, name + (size_t)n, 0,
		    (const struct sockaddr *)from, len);
}

static void *
serve(void *arg)
{
	struct udp_server *u = arg;
	struct pollfd p = { .fd = u->fd, .events = POLLIN };
	size_t name = strlen(u->name);
	char *bytes = malloc(DATAGRAM);

	if (bytes == NULL)
		abort();
	memcpy(bytes, u->name, name);
	while (!atomic_load(&u->stopping)) {
		struct sockaddr_storage from;
		socklen_t len = sizeof(from);
		ssize_t n;

		if (poll(&p, 1, 20) <= 0)
			continue;
		while (
		    (n = recvfrom(u->fd, bytes + name, DATAGRAM - name,
			 MSG_DONTWAIT, (struct sockaddr *)&from, &len)) >= 0) {
			answer(u, bytes, name, n, &from, len);
			len = sizeof(from);
		}
	}
	free(bytes);
	return NULL;
}

void
udp_server_start_at(
    struct udp_server *u, const struct endpoint *at, const char *name)
{
	struct endpoint copy = *at;
	int size = 1 << 22;

	memset(u, 0, sizeof(*u));
	u->at = copy;
	u->name = name;
	u->replies = 1;
	u->fd = open_at(&u->at);
	setsockopt(u->fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	ck_assert_int_eq(pthread_create(&u->thread, NULL, serve, u), 0);
}

void
udp_server_start(
    struct udp_server *u, enum endpoint_kind kind, const char *name)
{
	struct endpoint at;

	udp_endpoint(&at, kind);
	udp_server_start_at(u, &at, name);
}

void
udp_server_stop(struct udp_server *u)
{
	atomic_store(&u->stopping, true);
	pthread_join(u->thread, NULL);
	close(u->fd);
	if (u->at.port == 0)
		unlink(u->at.text);
}

/* ---- clients ---- */

int
udp_client(const struct endpoint *to)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int fd = socket(to->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	if (to->port == 0) /* the kernel makes a name up */
		ck_assert_int_eq(
		    bind(fd, (struct sockaddr *)&own, sizeof(own.sun_family)),
		    0);
	ck_assert_msg(
	    connect(fd, (const struct sockaddr *)&to->addr, to->len) == 0,
	    "connect %s: %s", to->text, strerror(errno));
	endpoint_set_deadline(fd, 10000);
	return fd;
}

const char *
udp_try(int fd, const char *what, int ms)
{
	static char got[DATAGRAM];
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;

	ck_assert_int_eq(send(fd, what, strlen(what), 0), strlen(what));
	if (poll(&p, 1, ms) != 1)
		return "";
	n = recv(fd, got, sizeof(got) - 1, 0);
	got[n > 0 ? n : 0] = '\0';
	return text("%s", got);
}

const char *
udp_ask(int fd, const char *what, int ms)
{
	return udp_try(fd, what, (int)wait_scaled(ms));
}

/* ---- floods ---- */

enum { AT_ONCE = 32, MADE_UP = 0x7f400000 /* 127.64.0.0 and on */ };

static struct iovec spoof = { (char[]){ "spoof" }, 5 };

/* One of them: where to, and from which address. */
struct made_up {
	struct in_pktinfo from;
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct in_pktinfo))];
	} control;
};

static void
make_up(struct made_up *u, struct msghdr *m, struct endpoint *to, int number)
{
	memset(u, 0, sizeof(*u));
	u->from.ipi_spec_dst.s_addr = htonl((uint32_t)(MADE_UP + number));
	u->control.header.cmsg_level = IPPROTO_IP;
	u->control.header.cmsg_type = IP_PKTINFO;
	u->control.header.cmsg_len = CMSG_LEN(sizeof(u->from));
	memcpy(CMSG_DATA(&u->control.header), &u->from, sizeof(u->from));
	m->msg_name = &to->addr;
	m->msg_namelen = to->len;
	m->msg_iov = &spoof;
	m->msg_iovlen = 1;
	m->msg_control = &u->control;
	m->msg_controllen = sizeof(u->control);
}

static void *
pour(void *arg)
{
	struct udp_flood *f = arg;
	struct mmsghdr m[AT_ONCE];
	struct made_up u[AT_ONCE];
	int fd = socket(AF_INET, SOCK_DGRAM, 0), sent = 0, n = 0, i;

	memset(m, 0, sizeof(m));
	for (; sent < f->amount && n >= 0; sent += n) {
		for (i = 0; i < AT_ONCE; i++)
			make_up(
			    &u[i], &m[i].msg_hdr, &f->to, f->first + sent + i);
		n = sendmmsg(fd, m,
		    (unsigned)(f->amount - sent < AT_ONCE ? f->amount - sent
							  : AT_ONCE),
		    0);
	}
	close(fd);
	f->amount = n >= 0 ? sent : -errno;
	f->over = true;
	return NULL;
}

void
udp_flood_start(
    struct udp_flood *f, const struct endpoint *to, int first, int amount)
{
	f->to = *to;
	f->first = first;
	f->amount = amount;
	f->over = false;
	f->ms = (int)wait_now_ms();
	ck_assert_int_eq(pthread_create(&f->thread, NULL, pour, f), 0);
}

void
udp_flood_stop(struct udp_flood *f)
{
	pthread_join(f->thread, NULL);
	f->ms = (int)wait_now_ms() - f->ms;
	ck_assert_msg(f->amount > 0, "flood: %s", strerror(-f->amount));
}
