/* test_tls_postgres.c: TLS that pen only passes on: a client of PostgreSQL
 * checks the server's certificate against the host name it uses for pen. */
#include "config.h"

#include <check.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/identity.h"
#include "support/nginx.h"
#include "support/penrun.h"
#include "support/suite.h"

/* It refuses to run as root. */
static const struct passwd *user;
static const char *bin, *data;
static struct identity id;
static struct spot at, front;
static struct pen pen;

static void
find_user(void)
{
	if (geteuid() == 0)
		user = getpwnam("postgres");
	if (geteuid() == 0 && user == NULL)
		user = getpwnam("nobody");
}

/* Debian keeps its programs out of the usual places. NULL: not installed. */
static const char *
find_bin(void)
{
	const char *initdb = child_find("initdb"), *dir = NULL;
	glob_t g;

	if (initdb != NULL)
		return text(
		    "%.*s", (int)(strrchr(initdb, '/') - initdb), initdb);
	if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g) == 0) {
		initdb = g.gl_pathv[g.gl_pathc - 1];
		dir =
		    text("%.*s", (int)(strrchr(initdb, '/') - initdb), initdb);
	}
	globfree(&g);
	return dir;
}

static void
give(const char *path, mode_t mode)
{
	ck_assert_int_eq(chmod(path, mode), 0);
	if (user != NULL)
		ck_assert_int_eq(chown(path, user->pw_uid, user->pw_gid), 0);
}

/* Runs a command line as the server's user. */
static void
as_user(const char *command)
{
	const char *line = text("cd %s && %s/%s", data, bin, command);

	if (user != NULL)
		(void)run_program(60000, "su", "-s", "/bin/sh", user->pw_name,
		    "-c", line, NULL);
	else
		(void)run_program(60000, "sh", "-c", line, NULL);
}

/* Only TLS is let in, and it has no socket but the port's. */
static void
postgres_up(void)
{
	data = scratch("data");
	ck_assert_int_eq(mkdir(data, 0700), 0);
	give(data, 0700);
	as_user(
	    text("initdb -N -A trust -E UTF8 --locale=C -U pen -D %s", data));
	write_file(text("%s/pg_hba.conf", data),
	    "hostssl all all 127.0.0.1/32 trust\n");
	write_file(text("%s/server.pem", data), contents(id.ec));
	give(text("%s/server.pem", data), 0600);
	write_file(text("%s/postgresql.conf", data),
	    text("listen_addresses = '127.0.0.1'\nport = %d\n"
		 "unix_socket_directories = ''\nfsync = off\n"
		 "max_connections = 10\nshared_buffers = 16MB\n"
		 "ssl = on\nssl_cert_file = 'server.pem'\n"
		 "ssl_key_file = 'server.pem'\n",
		at.port));
	as_user(text("pg_ctl -D %s -l %s/log -t 60 -w start", data, data));
}

/* What psql needs to trust `ca` and expect `host` at the front. */
static const char *
to(const char *host, const char *ca)
{
	return text("host=%s hostaddr=127.0.0.1 port=%d dbname=postgres"
		    " user=pen sslmode=verify-full sslrootcert=%s"
		    " connect_timeout=10",
	    host, front.port, ca);
}

static const char *
query(const char *sql)
{
	return run_program(
	    60000, "psql", "-XAtwqc", sql, "-d", to("localhost", id.ca), NULL);
}

static void
expect_refusal(const char *where, const char *says)
{
	struct child c;

	child_start(&c,
	    (const char *[]){
		"psql", "-XAtwqc", "select 1", "-d", where, NULL });
	ck_assert_int_eq(child_wait(&c, 20000), 2);
	ck_assert_msg(child_has_said(&c, says), "%s", child_err(&c));
	ck_assert_str_eq(child_out(&c), "");
}

START_TEST(psql_verifies_the_server)
{
	struct identity stranger;

	bin = find_bin();
	if (bin == NULL)
		SKIP("initdb is not installed");
	NEED_PROGRAM("psql");
	find_user();
	if (user != NULL)
		NEED_PROGRAM("su");
	spot_new(&at, SPOT_TCP4);
	spot_new(&front, SPOT_TCP4);
	identity_new(&id, "localhost");
	identity_new(&stranger, "localhost");
	postgres_up();
	pen_up(&pen, &front, "-r", front.text, at.text, NULL);
	ck_assert_str_eq(query("select ssl, version from pg_stat_ssl"
			       " where pid = pg_backend_pid()"),
	    "t|TLSv1.3\n");
	ck_assert_uint_eq(
	    strlen(query("select repeat('x', 1000000)")), 1000001);
	expect_refusal(to("other.test", id.ca), "does not match host name");
	expect_refusal(
	    to("localhost", stranger.ca), "certificate verify failed");
	pen_down(&pen);
	as_user(text("pg_ctl -D %s -m fast -t 60 -w stop", data));
}
END_TEST

SUITE(test_tls_postgres)
{
	Suite *s = suite_create("tls_postgres");

	SUITE_ADD(s, psql_verifies_the_server, 120);
	return s;
}
