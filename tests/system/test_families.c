/* test_families.c: listeners on all IPv6 addresses beside those of IPv4: of the
 * same service, of another one, of another program. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/backend.h"
#include "support/suite.h"
#include "support/udp.h"
#include "support/upgrading.h"
#include "support/wait.h"

enum { SOON = 20000 };

static struct backend other; /* the program, or the server, for IPv4 */
static struct endpoint v4, v6, ctl;
static struct pen pen;

/* A program that listens for IPv4; and the same port for IPv6. */
static void
begin(backend_fn *serve)
{
	backend_start(&other, ENDPOINT_TCP4, serve, "other");
	v4 = other.at;
	endpoint_at_host(&v6, &v4, "::1");
	endpoint_new(&ctl, ENDPOINT_UNIX);
}

static const char *
wildcard(const char *host)
{
	return text("%s:%d", host, v4.port);
}

#define NEEDS_IPV6()                                   \
	do {                                           \
		if (!endpoint_has_kind(ENDPOINT_TCP6)) \
			SKIP("no IPv6 here");          \
	} while (0)

/* As an adapter of families, at one port. */
START_TEST(another_program_has_ipv4)
{
	NEEDS_IPV6();
	begin(backend_say);
	pen_up(&pen, &v6, "-C", ctl.text, wildcard("[::]"), v4.text, NULL);
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	ck_assert(child_has_said(&pen.child,
	    text("listen [::]:%d: takes IPv6 only", v4.port)));
	/* it stays so, whatever changes */
	pen_answers(&ctl, "server 1 address 127.0.0.1 port 9", "");
	ck_assert_str_eq(pen_ask(&ctl, "listen"),
	    text("%s\n", wildcard("[::]")));
	pen_down(&pen);
	backend_stop(&other);
}
END_TEST

/* The next process has the socket as it is. */
START_TEST(another_program_has_ipv4_in_an_upgrade)
{
	const char *path;
	pid_t old;

	NEEDS_IPV6();
	path = upgrading_install();
	NEED_UPGRADES(path);
	begin(backend_say);
	pen_up(&pen, &v6, "-C", ctl.text, wildcard("[::]"), v4.text, NULL);
	old = pen.child.pid;
	upgrading_replace(path, NULL);
	old = upgrading_go(&ctl, old);
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	upgrading_end(old);
	child_wait(&pen.child, SOON);
	backend_stop(&other);
}
END_TEST

START_TEST(another_program_has_ipv4_and_workers)
{
	NEEDS_IPV6();
	begin(backend_say);
	pen_up(&pen, &v6, "-C", ctl.text, "--workers", "2", wildcard("[::]"),
	    v4.text, NULL);
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	ck_assert_str_eq(pen_ask(&ctl, "workers 3"), "3\n");
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	pen_down(&pen);
	backend_stop(&other);
}
END_TEST

/* By the list: nothing is found out, and no warning is due. */
START_TEST(only_ipv6_is_wanted)
{
	const char *list;
	struct child c;
	const char *argv[] = { getenv("PEN"), "--check", "", "", NULL };

	NEEDS_IPV6();
	begin(backend_say);
	list = text("%s,v6only", wildcard("[::]"));
	pen_up(&pen, &v6, "-C", ctl.text, list, v4.text, NULL);
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	ck_assert_ptr_null(strstr(child_err(&pen.child), "IPv6 only"));
	ck_assert_str_eq(pen_ask(&ctl, "listen"), text("%s\n", list));
	argv[2] = list;
	argv[3] = v4.text;
	child_start(&c, argv);
	ck_assert_int_eq(child_wait(&c, SOON), 0);
	ck_assert_str_eq(child_err(&c), "");
	pen_answers(&ctl, "listen 127.0.0.1:9,v6only", "v6only needs all IPv6");
	pen_down(&pen);
	backend_stop(&other);
}
END_TEST

/* Two services at one port, one for each family, from the start on; a reload
 * and the end of the other one keep it so. */
START_TEST(another_service_has_ipv4)
{
	const char *conf = scratch("conf"), *six, *four;

	NEEDS_IPV6();
	begin(backend_say);
	endpoint_new(&v4, ENDPOINT_TCP4);
	endpoint_at_host(&v6, &v4, "::1");
	six = text("service six\nlisten %s\nserver 0 address 127.0.0.1 "
		   "port %d\n",
	    wildcard("[::]"), other.at.port);
	four = text("service four\nlisten %s\nserver 0 address 127.0.0.1 "
		    "port %d\n",
	    wildcard("0.0.0.0"), other.at.port);
	write_file(conf, text("%s%s", six, four));
	pen_up(&pen, &v6, "-C", ctl.text, "-F", conf, NULL);
	ck_assert_str_eq(endpoint_hear(&v4), "other");
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	ck_assert_str_eq(pen_ask(&ctl, "diff"), "");
	ck_assert_str_eq(pen_ask(&ctl, "reload"), "");
	ck_assert_str_eq(pen_ask(&ctl, "service four remove"), "");
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	pen_down(&pen);
	/* one that listens for both stays so: the second one is refused */
	write_file(conf, six);
	pen_up(&pen, &v6, "-C", ctl.text, "-F", conf, NULL);
	ck_assert_str_eq(endpoint_hear(&v4), "other");
	write_file(conf, text("%s%s", six, four));
	pen_answers(&ctl, "reload", "address already in use");
	ck_assert_str_eq(endpoint_hear(&v4), "other");
	ck_assert_str_eq(endpoint_hear(&v6), "other");
	pen_down(&pen);
	backend_stop(&other);
}
END_TEST

/* Datagrams have ports of their own. */
START_TEST(datagrams)
{
	struct udp_server server;
	struct endpoint at;
	int fd;

	NEEDS_IPV6();
	udp_server_start(&server, ENDPOINT_TCP4, "other ");
	endpoint_at_host(&at, &server.at, "::1");
	endpoint_new(&ctl, ENDPOINT_UNIX);
	pen_up(&pen, &ctl, "-U", "-C", ctl.text,
	    text("[::]:%d", server.at.port), server.at.text, NULL);
	fd = udp_client(&at);
	ck_assert_str_eq(udp_ask(fd, "x", SOON), "other x");
	ck_assert(child_has_said(&pen.child, "takes IPv6 only"));
	close(fd);
	pen_down(&pen);
	udp_server_stop(&server);
}
END_TEST

SUITE(test_families)
{
	Suite *s = suite_create("families");

	SUITE_ADD(s, another_program_has_ipv4, 60);
	SUITE_ADD(s, another_program_has_ipv4_in_an_upgrade, 60);
	SUITE_ADD(s, another_program_has_ipv4_and_workers, 60);
	SUITE_ADD(s, only_ipv6_is_wanted, 60);
	SUITE_ADD(s, another_service_has_ipv4, 60);
	SUITE_ADD(s, datagrams, 60);
	return s;
}
