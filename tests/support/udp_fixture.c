/* udp_fixture.c: datagrams to a frontend in this process. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>

#include "support/udp.h"
#include "support/udp_fixture.h"

/* id, flags, one question: a.test A IN */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
static char got[512];

struct addr udp_fixture_from;

void
udp_fixture_begin(bool dns)
{
	fixture_begin();
	fixture.options.udp.on = true;
	fixture.options.dns.on = dns;
	fixture.options.dns.retry_ms = 60000;
	udp_endpoint(&fixture.front, ENDPOINT_TCP4);
}

void
udp_fixture_front(void)
{
	struct frontend_address at = { .at = fixture_addr(&fixture.front),
		.datagram = true };

	fixture.frontend = frontend_new(
	    fixture.loop, fixture.pool, &fixture.options, &fixture.e);
	ck_assert_ptr_nonnull(fixture.frontend);
	ck_assert_int_eq(
	    frontend_relisten(fixture.frontend, &at, 1, &fixture.e), 0);
	frontend_start(fixture.frontend);
}

int
udp_fixture_serve(const struct endpoint *at)
{
	int fd = socket(at->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&at->addr, at->len), 0);
	return fd;
}

int
udp_fixture_server(unsigned index, struct endpoint *at)
{
	udp_endpoint(at, ENDPOINT_TCP4);
	fixture_add_server(index, at);
	return udp_fixture_serve(at);
}

void
udp_fixture_ask(int fd)
{
	ck_assert_int_eq(
	    send(fd, query, UDP_FIXTURE_QUERY, 0), UDP_FIXTURE_QUERY);
}

void
udp_fixture_ask_long(int fd, size_t n)
{
	static char bytes[8192];

	ck_assert_uint_le(n, sizeof(bytes));
	memcpy(bytes, query, UDP_FIXTURE_QUERY);
	ck_assert_int_eq(send(fd, bytes, n, 0), (int)n);
}

void
udp_fixture_arrives(int fd)
{
	udp_fixture_from.len = sizeof(udp_fixture_from.u);
	RUN_UNTIL(fixture_tells(fd));
	ck_assert_int_eq(recvfrom(fd, got, sizeof(got), 0,
			     &udp_fixture_from.u.sa, &udp_fixture_from.len),
	    UDP_FIXTURE_QUERY);
}

void
udp_fixture_answer(int server_fd, int client_fd)
{
	char bytes[UDP_FIXTURE_QUERY];

	got[2] |= (char)0x80;
	ck_assert_int_eq(sendto(server_fd, got, UDP_FIXTURE_QUERY, 0,
			     &udp_fixture_from.u.sa, udp_fixture_from.len),
	    UDP_FIXTURE_QUERY);
	RUN_UNTIL(fixture_tells(client_fd));
	ck_assert_int_eq(
	    recv(client_fd, bytes, sizeof(bytes), 0), UDP_FIXTURE_QUERY);
	ck_assert_int_eq(bytes[2] & 0x80, 0x80);
}
