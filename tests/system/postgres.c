/* postgres.c: its configuration, its user, its life. */
#include "config.h"

#include <check.h>
#include <glob.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/nginx.h"
#include "support/suite.h"
#include "support/udp.h"
#include "system/postgres.h"

static const struct passwd *user; /* NULL: who runs the test */
static const char *bin, *data, *copy;

static void
find_user(void)
{
	if (geteuid() == 0)
		user = getpwnam("postgres");
	if (geteuid() == 0 && user == NULL)
		user = getpwnam("nobody");
}

/* Debian keeps its programs where PATH does not lead. NULL: not installed. */
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
	const char *line = text(
	    "cd %s && PATH=%s:$PATH && %s", data, bin, command);

	if (user != NULL)
		(void)run_program(60000, "su", "-s", "/bin/sh", user->pw_name,
		    "-c", line, NULL);
	else
		(void)run_program(60000, "sh", "-c", line, NULL);
}

const char *
postgres_lacks(void)
{
	bin = find_bin();
	if (bin == NULL)
		return "initdb is not installed";
	find_user();
	return user != NULL && child_find("su") == NULL ? "su is not installed"
							: NULL;
}

/* Lines of its configuration; the certificate is its own, with the key. */
static const char *
talk_tls(const char *certificate)
{
	if (certificate == NULL)
		return "";
	write_file(text("%s/server.pem", data), contents(certificate));
	give(text("%s/server.pem", data), 0600);
	return "ssl = on\nssl_cert_file = 'server.pem'\n"
	       "ssl_key_file = 'server.pem'\n";
}

void
postgres_again(void)
{
	as_user(text("pg_ctl -D %s -l %s/log -t 60 -w start", data, data));
}

/* It has no socket but the port's. */
static void
listen_at(const char *directory, const struct endpoint *at, const char *more)
{
	write_file(text("%s/postgresql.conf", directory),
	    text("listen_addresses = '%s'\nport = %d\n"
		 "unix_socket_directories = ''\nfsync = off\n"
		 "max_connections = 10\nshared_buffers = 16MB\n%s",
		udp_host(at), at->port, more));
}

void
postgres_up(
    const struct endpoint *at, const char *access, const char *certificate)
{
	data = scratch("data");
	ck_assert_int_eq(mkdir(data, 0700), 0);
	give(data, 0700);
	as_user(
	    text("initdb -N -A trust -E UTF8 --locale=C -U pen -D %s", data));
	write_file(text("%s/pg_hba.conf", data), access);
	listen_at(data, at, talk_tls(certificate));
	postgres_again();
}

void
postgres_down(const char *how)
{
	as_user(text("pg_ctl -D %s -m %s -t 60 -w stop", data, how));
}

/* ---- the standby ---- */

void
postgres_standby_up(const struct endpoint *at)
{
	copy = scratch("copy");
	ck_assert_int_eq(mkdir(copy, 0700), 0);
	give(copy, 0700);
	as_user(text("cp -R . %s", copy));
	as_user(text("touch %s/standby.signal", copy));
	listen_at(copy, at, "");
	as_user(text("pg_ctl -D %s -l %s/log -t 60 -w start", copy, copy));
}

void
postgres_promote(void)
{
	as_user(text("pg_ctl -D %s -t 60 -w promote", copy));
}

void
postgres_standby_down(void)
{
	as_user(text("pg_ctl -D %s -m fast -t 60 -w stop", copy));
}
