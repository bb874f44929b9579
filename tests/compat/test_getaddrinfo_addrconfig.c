/* test_getaddrinfo_addrconfig.c: numeric addresses work on a machine that has
 * no address but those of its loopback interface. */
#include "config.h"

#include <check.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/penrun.h"
#include "support/suite.h"

/* A network of our own with nothing but a loopback interface. */
static bool
enter_bare_network(void)
{
#ifdef CLONE_NEWNET
	struct ifreq r;
	int fd;
	bool up;

	if (unshare(CLONE_NEWNET) < 0)
		return false;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	memset(&r, 0, sizeof(r));
	memcpy(r.ifr_name, "lo", 3);
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	up = ioctl(fd, SIOCSIFFLAGS, &r) == 0;
	close(fd);
	return up;
#else
	return false;
#endif
}

static void
try_kind(enum endpoint_kind kind)
{
	struct backend b;
	struct endpoint front;
	struct pen pen;

	if (!endpoint_has_kind(kind))
		return;
	backend_start(&b, kind, backend_say, "reached");
	endpoint_new(&front, kind);
	pen_up(&pen, &front, "-r", front.text, b.at.text, NULL);
	ck_assert_str_eq(endpoint_hear(&front), "reached");
	pen_down(&pen);
	backend_stop(&b);
}

START_TEST(getaddrinfo_addrconfig)
{
	if (!enter_bare_network())
		SKIP("may not make a network namespace");
	try_kind(ENDPOINT_TCP4);
	try_kind(ENDPOINT_TCP6);
}
END_TEST

SUITE(test_getaddrinfo_addrconfig)
{
	Suite *s = suite_create("getaddrinfo_addrconfig");

	SUITE_ADD(s, getaddrinfo_addrconfig, 15);
	return s;
}
