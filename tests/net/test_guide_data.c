/* test_guide_data.c: the files of examples/guide for PostgreSQL, Redis, ssh and
 * the processes of an application, with the programs themselves behind pen. */
#include "config.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "support/guide.h"
#include "support/nginx.h"
#include "support/suite.h"
#include "support/wait.h"
#include "system/postgres.h"
#include "system/sshd.h"

enum { SOON = 30000, SERVERS = 2 };

static struct guide guide;
static struct child service[SERVERS];

static void
endpoint_at(struct endpoint *at, const char *host, int port)
{
	struct endpoint any = { .port = port };

	endpoint_at_host(at, &any, host);
}

/* PostgreSQL and sshd see through the root of a user's namespace. */
#define NEED_ROOT()                                                \
	do {                                                       \
		if (geteuid() != 0)                                \
			SKIP("root of a namespace is not enough"); \
	} while (0)

/* ---- PostgreSQL ---- */

static const char *
query(const char *sql)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON, "psql",
	    "-X", "-At", "-h", GUIDE_PEN, "-U", "pen", "-d", "postgres", "-c",
	    sql, NULL);
}

/* The primary and a standby, as a copy of it. */
static void
postgres_pair(void)
{
	struct endpoint primary, standby;

	endpoint_at(&primary, "192.0.2.21", 5432);
	endpoint_at(&standby, "192.0.2.22", 5432);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	postgres_up(&primary,
	    guide_quote("postgresql.conf", "In pg_hba.conf of each server"),
	    NULL);
	postgres_down("fast");
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + 1);
	postgres_standby_up(&standby);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	postgres_again();
	net_fixture_leave(&guide.fixture);
}

/* Programs get to the primary, and to the other one when that has become it. */
START_TEST(postgresql)
{
	const char *lacks = postgres_lacks();

	if (lacks != NULL)
		SKIP(lacks);
	if (access("/usr/bin/psql", X_OK) < 0)
		SKIP("psql is not installed");
	NEED_ROOT();
	NEED_GUIDE(&guide, "postgresql");
	postgres_pair();
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	ck_assert_ptr_nonnull(
	    strstr(guide_ask(&guide, "checks"), "division by zero"));
	ck_assert_str_eq(query("select inet_server_addr()"), "192.0.2.21\n");
	postgres_down("fast");
	postgres_promote();
	guide_wait_server(&guide, 1, "up result ok");
	ck_assert_str_eq(query("select inet_server_addr()"), "192.0.2.22\n");
	ck_assert_str_eq(query("create table t ()"), "CREATE TABLE\n");
	guide_end(&guide);
	postgres_standby_down();
}
END_TEST

/* ---- Redis ---- */

static void
redis_start(int i, const char *master)
{
	const char *ip = text("192.0.2.%d", 21 + i);

	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + i);
	child_start(&service[i],
	    (const char *[]){ "redis-server", "--port", "6379", "--bind", ip,
		"--save", "", "--dir", scratch("."), "--protected-mode", "no",
		master != NULL ? "--replicaof" : NULL, master, "6379", NULL });
	guide_wait_listen(&service[i], ip, 6379);
	net_fixture_leave(&guide.fixture);
}

static const char *
redis_say(const char *host, const char *a, const char *b, const char *c)
{
	return net_fixture_run(&guide.fixture, NET_FIXTURE_CLIENT, SOON,
	    "redis-cli", "-h", host, a, b, c, NULL);
}

START_TEST(redis)
{
	NEED_PROGRAM("redis-server");
	NEED_PROGRAM("redis-cli");
	NEED_GUIDE(&guide, "redis");
	redis_start(0, NULL);
	redis_start(1, "192.0.2.21");
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "down result failed");
	ck_assert_str_eq(redis_say(GUIDE_PEN, "set", "a", "1"), "OK\n");
	ck_assert_str_eq(redis_say(GUIDE_PEN, "get", "a", NULL), "1\n");
	child_stop(&service[0], SIGKILL);
	redis_say("192.0.2.22", "replicaof", "no", "one");
	guide_wait_server(&guide, 1, "up result ok");
	ck_assert_str_eq(redis_say(GUIDE_PEN, "set", "a", "2"), "OK\n");
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

/* Two servers with the same keys, and the tunnel to the second one. */
static void
ssh_servers(struct child *tunnel)
{
	struct endpoint at;

	endpoint_at(&at, "0.0.0.0", 22);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER);
	sshd_up(&service[0], &at);
	net_fixture_enter(&guide.fixture, NET_FIXTURE_SERVER + 1);
	sshd_again(&service[1], &at);
	net_fixture_leave(&guide.fixture);
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
	    "-c", ssh_line("who connect with", "'echo $SSH_CONNECTION'"), NULL);
}

static const char *
ssh_by_port(void)
{
	const char *said;

	net_fixture_enter(&guide.fixture, NET_FIXTURE_CLIENT);
	said = sshd_run(GUIDE_PEN, 2222, "echo $SSH_CONNECTION");
	net_fixture_leave(&guide.fixture);
	return said;
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
	struct endpoint at;
	bool first;

	NEED_PROGRAM("sshd");
	NEED_PROGRAM("ssh");
	NEED_PROGRAM("ssh-keygen");
	NEED_PROGRAM("nc");
	NEED_ROOT();
	NEED_GUIDE(&guide, "ssh");
	ssh_servers(&tunnel);
	endpoint_at(&at, "192.0.2.21", 22);
	guide_start(&guide);
	guide_wait_server(&guide, 0, "up result ok");
	guide_wait_server(&guide, 1, "up result ok");
	/* a client goes back to its server; who comes by the socket is new */
	first = is_first(ssh_by_port());
	ck_assert_int_eq(is_first(ssh_by_port()), first);
	first = is_first(ssh_by_socket());
	ck_assert_int_ne(is_first(ssh_by_socket()), first);
	guide_end(&guide);
	child_stop(&tunnel, SIGTERM);
	child_stop(&service[1], SIGTERM);
	sshd_down(&service[0]);
}
END_TEST

/* ---- an application ---- */

START_TEST(app)
{
	bool seen[SERVERS] = { false, false };
	struct nginx process[SERVERS];
	const char *page;
	int i;

	NEED_PROGRAM("nginx");
	NEED_PROGRAM("curl");
	NEED_GUIDE(&guide, "app");
	for (i = 0; i < SERVERS; i++)
		nginx_up_with(&process[i],
		    text("process %d for=$http_x_forwarded_for", i), "",
		    guide_path(text("listen unix:/run/app/%d.sock;", i + 1)));
	guide_start(&guide);
	for (i = 0; i < SERVERS; i++)
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
	for (i = 0; i < SERVERS; i++)
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
