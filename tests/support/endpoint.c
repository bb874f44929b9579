/* endpoint.c: addresses and blocking sockets of the tests. */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/endpoint.h"
#include "support/suite.h"
#include "support/wait.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

static void
set_reuse(int fd)
{
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

void
endpoint_at_host(
    struct endpoint *s, const struct endpoint *from, const char *host)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int port = from->port;

	ck_assert_int_eq(getaddrinfo(host, NULL, &hints, &found), 0);
	memset(s, 0, sizeof(*s));
	memcpy(&s->addr, found->ai_addr, found->ai_addrlen);
	s->len = found->ai_addrlen;
	s->port = port;
	freeaddrinfo(found);
	if (s->addr.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&s->addr)->sin6_port =
		    htons((uint16_t)port);
	else
		((struct sockaddr_in *)&s->addr)->sin_port =
		    htons((uint16_t)port);
	snprintf(s->text, sizeof(s->text),
	    strchr(host, ':') != NULL ? "[%s]:%d" : "%s:%d", host, port);
}

/* Binds every address at once, so that the port is free on each. The socket
 * stays open on purpose: it is the reservation. */
static int
reserve_port(void)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr *sa = (struct sockaddr *)&six;
	socklen_t len = sizeof(six);
	int off = 0, fd = socket(AF_INET6, SOCK_STREAM, 0);

	if (fd >= 0)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (fd < 0 || bind(fd, sa, len) < 0) {
		if (fd >= 0)
			close(fd);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		sa = (struct sockaddr *)&four;
		len = sizeof(four);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(bind(fd, sa, len), 0);
	}
	ck_assert_int_eq(getsockname(fd, sa, &len), 0);
	set_reuse(fd);
	return ntohs(
	    sa == (struct sockaddr *)&six ? six.sin6_port : four.sin_port);
}

void
endpoint_at_path(struct endpoint *s, const char *path)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&s->addr;
	size_t n = strlen(path);

	memset(s, 0, sizeof(*s));
	ck_assert_uint_lt(n, sizeof(un->sun_path));
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n);
	snprintf(s->text, sizeof(s->text), "%s", path);
	s->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
}

static void
new_abstract(struct endpoint *s, const char *name)
{
	endpoint_at_path(s, name);
	((struct sockaddr_un *)&s->addr)->sun_path[0] = '\0';
	s->len--;
}

void
endpoint_new(struct endpoint *s, enum endpoint_kind kind)
{
	static int count;
	struct endpoint any = { .port = 0 };

	memset(s, 0, sizeof(*s));
	if (kind == ENDPOINT_UNIX) {
		endpoint_at_path(s, scratch(text("s%d", ++count)));
		return;
	}
	if (kind == ENDPOINT_ABSTRACT) {
		new_abstract(
		    s, text("@pen-test-%ld-%d", (long)getpid(), ++count));
		return;
	}
	any.port = reserve_port();
	endpoint_at_host(s, &any, kind == ENDPOINT_TCP6 ? "::1" : "127.0.0.1");
}

const char *
endpoint_kind_name(enum endpoint_kind kind)
{
	static const char *const names[] = { "tcp4", "tcp6", "unix",
		"abstract" };

	return names[kind];
}

bool
endpoint_has_kind(enum endpoint_kind kind)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd;
	bool has = true;

	if (kind == ENDPOINT_TCP6) {
		fd = socket(AF_INET6, SOCK_STREAM, 0);
		has = fd >= 0 &&
		    bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0;
		if (fd >= 0)
			close(fd);
	}
#ifndef __linux__
	if (kind == ENDPOINT_ABSTRACT)
		has = false;
#endif
	return has;
}

#ifdef __linux__
/* Whether an address as /proc/net/tcp prints it, in words of the machine's
 * byte order, is this one or a wildcard. */
static bool
is_or_covers(const char *hex, const struct endpoint *s)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&s->addr;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&s->addr;
	char want[33] = "";
	uint32_t word[4];
	int i;

	if (strspn(hex, "0") == strlen(hex))
		return true;
	if (s->addr.ss_family == AF_INET) {
		snprintf(want, sizeof(want), "%08X", four->sin_addr.s_addr);
	} else {
		memcpy(word, &six->sin6_addr, sizeof(word));
		for (i = 0; i < 4; i++)
			snprintf(want + 8 * i, 9, "%08X", word[i]);
	}
	return strcmp(hex, want) == 0;
}

/* Listening sockets come first in the file, so that the thousands of others
 * need not be read. */
static bool
find_listening_port(const char *path, const struct endpoint *s)
{
	FILE *f = fopen(path, "r");
	char line[512], host[33];
	unsigned port, state;
	bool found = false;

	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, " %*[^:]: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x",
			host, &port, &state) != 3)
			continue;
		if (state != 0x0a)
			break;
		found = port == (unsigned)s->port && is_or_covers(host, s);
	}
	fclose(f);
	return found;
}

static bool
find_listening_path(const char *name)
{
	FILE *f = fopen("/proc/net/unix", "r");
	char line[512], path[256];
	unsigned flags;
	bool found = false;

	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %*d %255s",
			    &flags, path) == 2 &&
		    flags == 0x10000 && strcmp(path, name) == 0;
	fclose(f);
	return found;
}
#endif

bool
endpoint_is_listening(const struct endpoint *s)
{
#ifdef __linux__
	if (s->port == 0)
		return find_listening_path(s->text);
	return find_listening_port("/proc/net/tcp", s) ||
	    find_listening_port("/proc/net/tcp6", s);
#else
	int fd = endpoint_try_connect(s);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
#endif
}

bool
endpoint_path_listens(const char *path)
{
	struct endpoint at;
	int fd;

	endpoint_at_path(&at, path);
	fd = endpoint_try_connect(&at);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

unsigned
endpoint_mode(const struct endpoint *s)
{
	struct stat st;

	ck_assert_int_eq(stat(s->text, &st), 0);
	return st.st_mode & 0777;
}

int
endpoint_listen(const struct endpoint *s, int backlog)
{
	int fd = socket(s->addr.ss_family, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	if (s->port != 0)
		set_reuse(fd);
	ck_assert_msg(bind(fd, (const struct sockaddr *)&s->addr, s->len) == 0,
	    "bind %s: %s", s->text, strerror(errno));
	ck_assert_int_eq(listen(fd, backlog), 0);
	return fd;
}

void
endpoint_set_deadline(int fd, int ms)
{
	long long scaled = wait_scaled(ms);
	struct timeval t = { .tv_sec = (time_t)(scaled / 1000),
		.tv_usec = (suseconds_t)(scaled % 1000 * 1000) };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

int
endpoint_try_connect_from(const struct endpoint *s, const char *host)
{
	int fd = socket(s->addr.ss_family, SOCK_STREAM, 0);
	struct endpoint any = { .port = 0 }, from;
	int error;

	ck_assert_int_ge(fd, 0);
	endpoint_set_deadline(fd, 10000);
	if (host != NULL) {
		endpoint_at_host(&from, &any, host);
		ck_assert_int_eq(
		    bind(fd, (struct sockaddr *)&from.addr, from.len), 0);
	}
	if (connect(fd, (const struct sockaddr *)&s->addr, s->len) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
endpoint_try_connect(const struct endpoint *s)
{
	return endpoint_try_connect_from(s, NULL);
}

int
endpoint_connect_from(const struct endpoint *s, const char *host)
{
	int fd = endpoint_try_connect_from(s, host);

	ck_assert_msg(
	    fd >= 0, "connect %s from %s: %s", s->text, host, strerror(errno));
	return fd;
}

int
endpoint_connect(const struct endpoint *s)
{
	int fd = endpoint_try_connect(s);

	ck_assert_msg(fd >= 0, "connect %s: %s", s->text, strerror(errno));
	return fd;
}

void
endpoint_send(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = send(fd, p, n, MSG_NOSIGNAL);
		ck_assert_msg(k > 0, "send: %s", strerror(errno));
	}
}

void
endpoint_recv(int fd, void *bytes, size_t n)
{
	char *p = bytes;
	ssize_t k;

	for (; n > 0; p += k, n -= (size_t)k) {
		k = recv(fd, p, n, 0);
		ck_assert_msg(k >= 0, "recv: %s", strerror(errno));
		ck_assert_msg(k > 0, "end of stream, %zu bytes missing", n);
	}
}

const char *
endpoint_recv_all(int fd)
{
	char buf[128 * 1024];
	size_t n = 0;
	ssize_t k;

	while ((k = recv(fd, buf + n, sizeof(buf) - 1 - n, 0)) > 0) {
		n += (size_t)k;
		ck_assert_uint_lt(n, sizeof(buf) - 1);
	}
	ck_assert_msg(k == 0, "recv: %s", strerror(errno));
	buf[n] = '\0';
	return text("%s", buf);
}

void
endpoint_expect_end(int fd)
{
	char c;
	ssize_t k = recv(fd, &c, 1, 0);

	ck_assert_msg(
	    k == 0, "wanted the end, got %s", k > 0 ? "data" : strerror(errno));
}

void
endpoint_expect_page(int fd, const char *status)
{
	const char *page = endpoint_recv_all(fd);

	ck_assert_msg(
	    strncmp(page, text("HTTP/1.1 %s ", status), 13) == 0, "%s", page);
	ck_assert_ptr_nonnull(strstr(page, "Connection: close\r\n"));
	ck_assert_ptr_nonnull(strstr(page, text("\r\n\r\n%s ", status)));
}

void
endpoint_expect_reset(int fd)
{
	char c;
	ssize_t k = recv(fd, &c, 1, 0);
	int error = errno;

	ck_assert_msg(k < 0 && error == ECONNRESET, "wanted a reset, got %s",
	    k > 0	 ? "data"
		: k == 0 ? "the end"
			 : strerror(error));
}

void
endpoint_expect_echo(int fd, const char *what)
{
	char buf[256];
	size_t n = strlen(what);

	ck_assert_uint_lt(n, sizeof(buf));
	endpoint_send(fd, what, n);
	endpoint_recv(fd, buf, n);
	buf[n] = '\0';
	ck_assert_str_eq(buf, what);
}

const char *
endpoint_hear_after(const struct endpoint *s, const char *what)
{
	int fd = endpoint_connect(s);
	const char *answer;

	endpoint_send(fd, what, strlen(what));
	answer = endpoint_recv_all(fd);
	close(fd);
	return answer;
}

const char *
endpoint_hear(const struct endpoint *s)
{
	return endpoint_hear_after(s, "");
}

const char *
endpoint_ask(const struct endpoint *s, const char *what)
{
	int fd = endpoint_try_connect(s);
	const char *answer;

	/* pen opens its control sockets after its ports */
	if (fd < 0) {
		WAIT_FOR(endpoint_is_listening(s), 5000);
		fd = endpoint_connect(s);
	}
	endpoint_send(fd, what, strlen(what));
	shutdown(fd, SHUT_WR);
	answer = endpoint_recv_all(fd);
	close(fd);
	return answer;
}

void
endpoint_reset(int fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
}
