/* test_http_server.c: a C library that cannot print the address of a client on
 * a Unix socket, for which libevent would end the program. Pages are tested in
 * system/test_web. */
#include "config.h"

#include <check.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

#include "net/http_server.h"
#include "net/loop/loop.h"
#include "support/endpoint.h"
#include "support/suite.h"

static bool like_musl;

/* The linker puts it between pen and getnameinfo(3). */
int __real_getnameinfo(const struct sockaddr *a, socklen_t n, char *host,
    socklen_t host_size, char *port, socklen_t port_size, int flags);
int __wrap_getnameinfo(const struct sockaddr *a, socklen_t n, char *host,
    socklen_t host_size, char *port, socklen_t port_size, int flags);

int
__wrap_getnameinfo(const struct sockaddr *a, socklen_t n, char *host,
    socklen_t host_size, char *port, socklen_t port_size, int flags)
{
	if (like_musl && a->sa_family == AF_UNIX)
		return EAI_FAMILY;
	return __real_getnameinfo(
	    a, n, host, host_size, port, port_size, flags);
}

static bool
opens(struct loop *l, enum endpoint_kind kind, struct error *e)
{
	static const struct http_pages none;
	static const struct sock_listen_options plain;
	struct endpoint at;
	struct addr addr = { .len = 0 };
	struct http_server *s;

	endpoint_new(&at, kind);
	addr.len = at.len;
	memcpy(&addr.u, &at.addr, at.len);
	s = http_server_open(l, &addr, &plain, NULL, &none, e);
	http_server_close(s);
	return s != NULL;
}

START_TEST(clients_without_a_name)
{
	struct error e;
	struct loop *l = loop_new(NULL, &e);

	ck_assert(opens(l, ENDPOINT_UNIX, &e));
	like_musl = true;
	ck_assert(!opens(l, ENDPOINT_UNIX, &e));
	ck_assert_ptr_nonnull(strstr(e.text, ": use a port"));
	ck_assert(opens(l, ENDPOINT_TCP4, &e));
	loop_free(l);
}
END_TEST

SUITE(test_http_server)
{
	Suite *s = suite_create("http_server");

	SUITE_ADD(s, clients_without_a_name, 10);
	return s;
}
