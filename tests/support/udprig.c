/* udprig.c: datagrams to a frontend in this process. */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>

#include "support/udp.h"
#include "support/udprig.h"

/* id, flags, one question: a.test A IN */
static const char query[] = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
			    "\x01"
			    "a\x04test\x00\x00\x01\x00\x01";
static char got[512];

struct addr udprig_from;

void
udprig_begin(bool dns)
{
	rig_begin();
	rig.options.udp.on = true;
	rig.options.dns.on = dns;
	rig.options.dns.retry_ms = 60000;
	udp_spot(&rig.front, SPOT_TCP4);
}

void
udprig_front(void)
{
	struct frontend_address at = { .at = rig_addr(&rig.front),
		.datagram = true };

	rig.frontend = frontend_new(rig.loop, rig.pool, &rig.options, &rig.e);
	ck_assert_ptr_nonnull(rig.frontend);
	ck_assert_int_eq(frontend_relisten(rig.frontend, &at, 1, &rig.e), 0);
	ck_assert_int_eq(frontend_start(rig.frontend), 0);
}

int
udprig_serve(const struct spot *at)
{
	int fd = socket(at->addr.ss_family, SOCK_DGRAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    bind(fd, (const struct sockaddr *)&at->addr, at->len), 0);
	return fd;
}

int
udprig_server(unsigned index, struct spot *at)
{
	udp_spot(at, SPOT_TCP4);
	rig_add_server(index, at);
	return udprig_serve(at);
}

void
udprig_ask(int fd)
{
	ck_assert_int_eq(send(fd, query, UDPRIG_QUERY, 0), UDPRIG_QUERY);
}

void
udprig_ask_long(int fd, size_t n)
{
	static char bytes[8192];

	ck_assert_uint_le(n, sizeof(bytes));
	memcpy(bytes, query, UDPRIG_QUERY);
	ck_assert_int_eq(send(fd, bytes, n, 0), (int)n);
}

void
udprig_arrives(int fd)
{
	udprig_from.len = sizeof(udprig_from.u);
	RUN_UNTIL(rig_tells(fd));
	ck_assert_int_eq(recvfrom(fd, got, sizeof(got), 0, &udprig_from.u.sa,
			     &udprig_from.len),
	    UDPRIG_QUERY);
}

void
udprig_answer(int server_fd, int client_fd)
{
	char bytes[UDPRIG_QUERY];

	got[2] |= (char)0x80;
	ck_assert_int_eq(sendto(server_fd, got, UDPRIG_QUERY, 0,
			     &udprig_from.u.sa, udprig_from.len),
	    UDPRIG_QUERY);
	RUN_UNTIL(rig_tells(client_fd));
	ck_assert_int_eq(
	    recv(client_fd, bytes, sizeof(bytes), 0), UDPRIG_QUERY);
	ck_assert_int_eq(bytes[2] & 0x80, 0x80);
}
