/* test_guide_data.c: the files of examples/guide for PostgreSQL, Redis, ssh and
 * the processes of an application, with the programs themselves behind pen. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "net/guide_programs.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/postgres.h"
#include "system/sshd.h"

enum { SOON = 30000 };

/* A command for a server of ssh. */
#define CONNECTION "echo $SSH_CONNECTION"

static struct guide guide;
static struct child service[GUIDE_SERVERS];

/* ---- PostgreSQL ---- */

/* Programs get to the primary, and to the other one when that has become it. */
START_TEST(postgresql)
{
	const char *lacks = guide_postgres_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	NEED_ROOT();
	NEED_GUIDE(&guide, "postgresql");
	guide_postgres_up(&guide);
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	ck_assert_ptr_nonnull(
	    strstr(guide_ask(&guide, "checks"), "division by zero"));
	ck_assert_str_eq(
	    guide_psql(&guide, "select inet_server_addr()"), "192.0.2.21\n");
	postgres_down("fast");
	postgres_promote();
	guide_wait_server(&guide, 1, "up result ok");
	ck_assert_str_eq(
	    guide_psql(&guide, "select inet_server_addr()"), "192.0.2.22\n");
	ck_assert_str_eq(
	    guide_psql(&guide, "create table t ()"), "CREATE TABLE\n");
	guide_end(&guide);
	postgres_standby_down();
}
END_TEST

/* ---- Redis ---- */

START_TEST(redis)
{
	NEED_PROGRAM("redis-server");
	NEED_PROGRAM("redis-cli");
	NEED_GUIDE(&guide, "redis");
	guide_redis_up(&guide, &service[0], 0, false);
	guide_redis_up(&guide, &service[1], 1, true);
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	ck_assert_str_eq(
	    guide_redis_cli(&guide, GUIDE_PEN, "set", "a", "1"), "OK\n");
	ck_assert_str_eq(
	    guide_redis_cli(&guide, GUIDE_PEN, "get", "a", NULL), "1\n");
	child_stop(&service[0], SIGKILL);
	guide_redis_cli(&guide, "192.0.2.22", "replicaof", "no", "one");
	guide_wait_server(&guide, 1, "up result ok");
	ck_assert_str_eq(
	    guide_redis_cli(&guide, GUIDE_PEN, "set", "a", "2"), "OK\n");
	guide_end(&guide);
	child_stop(&service[1], SIGTERM);
}
END_TEST

/* ---- ssh ---- */

/* A command line of the guide for ssh, with the keys of this test, and with
 * more words at its end. */
static const char *
ssh_line(const char *heading, const char *more)
{
	return text("ssh() { exec %s -F %s \"$@\" %s; }\n%s", child_find("ssh"),
	    sshd_client(), more, guide_quote("ssh.conf", heading));
}

/* The tunnel to the second server. */
static void
open_tunnel(struct child *tunnel)
{
	net_fixture_start(&guide.fixture, NET_FIXTURE_DIRECTOR, tunnel,
	    (const char *[]){ "sh", "-c",
		ssh_line("service with Restart=always", ""), NULL });
	WAIT_FOR(child_has_ended(tunnel) ||
		endpoint_path_listens(guide_path("/run/pen-ssh/login2")),
	    SOON);
	ck_assert_msg(tunnel->running, "ssh: %s", child_err(tunnel));
}

static const char *
ssh_by_socket(void)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_DIRECTOR, SOON, "sh",
	    "-c", ssh_line("who connect with", "'" CONNECTION "'"), NULL);
}

/* The end of a connection that ssh names: at the server itself, or behind the
 * tunnel. */
static bool
is_first(const char *connection)
{
	if (strstr(connection, " 192.0.2.21 22\n") != NULL)
		return true;
	ck_assert_msg(
	    strstr(connection, " 127.0.0.1 22\n") != NULL, "%s", connection);
	return false;
}

START_TEST(ssh)
{
	struct child tunnel;
	bool first;
	int i;

	NEED_PROGRAM("sshd");
	NEED_PROGRAM("ssh");
	NEED_PROGRAM("ssh-keygen");
	NEED_PROGRAM("nc");
	NEED_ROOT();
	NEED_GUIDE(&guide, "ssh");
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_sshd_up(&guide, &service[i], i);
	open_tunnel(&tunnel);
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "up result ok");
	/* a client goes back to its server; who comes by the socket is new */
	first = is_first(guide_ssh(&guide, CONNECTION));
	ck_assert_int_eq(is_first(guide_ssh(&guide, CONNECTION)), first);
	first = is_first(ssh_by_socket());
	ck_assert_int_ne(is_first(ssh_by_socket()), first);
	guide_end(&guide);
	child_stop(&tunnel, SIGTERM);
	for (i = 0; i < GUIDE_SERVERS; i++)
		child_stop(&service[i], SIGTERM);
}
END_TEST

/* ---- an application ---- */

START_TEST(app)
{
	bool seen[GUIDE_SERVERS] = { false, false };
	struct nginx process[GUIDE_SERVERS];
	const char *page;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "app");
	for (i = 0; i < GUIDE_SERVERS; i++)
		nginx_up_with(&process[i],
		    text("process %d for=$http_x_forwarded_for", i), "",
		    guide_path(text("listen unix:/run/app/%d.sock;", i + 1)));
	guide_start(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
		guide_wait_server(&guide, i, "up result ok");
	for (i = 0; i < 6; i++) {
		page = net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON,
		    "curl", "-sS", "-H", "X-Forwarded-For: 198.51.100.7",
		    "http://" GUIDE_PEN "/", NULL);
		ck_assert_int_eq(strncmp(page, "process ", 8), 0);
		ck_assert_str_eq(page + 9, " for=" GUIDE_CLIENT);
		seen[page[8] - '0'] = true;
	}
	ck_assert(seen[0] && seen[1]);
	guide_end(&guide);
	for (i = 0; i < GUIDE_SERVERS; i++)
		nginx_down(&process[i]);
}
END_TEST

SUITE(test_guide_data)
{
	Suite *s = suite_create("guide_data");

	SUITE_ADD(s, postgresql, 120);
	SUITE_ADD(s, redis, 60);
	SUITE_ADD(s, ssh, 60);
	SUITE_ADD(s, app, 60);
	return s;
}
